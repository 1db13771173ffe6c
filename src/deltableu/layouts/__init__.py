"""Files as other people lay them out in, studies out; a layout is one small class."""

from deltableu.layouts.dialogues import DialogueLayout
from deltableu.layouts.importing import Imported, import_study, study_from
from deltableu.layouts.layout import (
    Layout,
    Request,
    Understanding,
    layout_names,
    load_layout,
)
from deltableu.layouts.mapping import MEANINGS, ColumnMap
from deltableu.layouts.markup import SgmLayout, WmtXmlLayout
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Part, Place
from deltableu.layouts.plain import TextLayout, expanded
from deltableu.layouts.table import TableLayout
from deltableu.layouts.wmt import MtmeLayout, SacrebleuLayout, WmtLayout

__all__ = [
    "MEANINGS",
    "ColumnMap",
    "DialogueLayout",
    "FoundItem",
    "FoundOutput",
    "FoundReference",
    "Imported",
    "Layout",
    "MtmeLayout",
    "Part",
    "Place",
    "Request",
    "SacrebleuLayout",
    "SgmLayout",
    "TableLayout",
    "TextLayout",
    "Understanding",
    "WmtLayout",
    "WmtXmlLayout",
    "expanded",
    "import_study",
    "layout_names",
    "load_layout",
    "study_from",
]
