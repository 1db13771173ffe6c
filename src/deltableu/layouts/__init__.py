"""Files as other people lay them out in, studies out; a layout is one small class."""

from deltableu.layouts.importing import Imported, import_study, study_from
from deltableu.layouts.layout import (
    Layout,
    Request,
    Understanding,
    layout_names,
    load_layout,
)
from deltableu.layouts.mapping import MEANINGS, ColumnMap
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Part, Place
from deltableu.layouts.plain import TextLayout, expanded
from deltableu.layouts.table import TableLayout

__all__ = [
    "MEANINGS",
    "ColumnMap",
    "FoundItem",
    "FoundOutput",
    "FoundReference",
    "Imported",
    "Layout",
    "Part",
    "Place",
    "Request",
    "TableLayout",
    "TextLayout",
    "Understanding",
    "expanded",
    "import_study",
    "layout_names",
    "load_layout",
    "study_from",
]
