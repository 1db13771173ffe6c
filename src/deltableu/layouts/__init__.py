"""Files as other people lay them out in, studies out; a layout is one small class."""

from typing import TYPE_CHECKING

from deltableu._lazy import at_first_use

if TYPE_CHECKING:
    from deltableu.layouts.appraise import AppraiseLayout
    from deltableu.layouts.dialogues import DialogueLayout
    from deltableu.layouts.esa import EsaLayout
    from deltableu.layouts.importing import Imported, import_study, study_from
    from deltableu.layouts.label_studio import LabelStudioLayout
    from deltableu.layouts.layout import (
        Layout,
        Request,
        Understanding,
        layout_names,
        load_layout,
    )
    from deltableu.layouts.lm_eval import LmEvalLayout
    from deltableu.layouts.mapping import MEANINGS, ColumnMap
    from deltableu.layouts.markup import SgmLayout, WmtXmlLayout
    from deltableu.layouts.mqm import MqmLayout
    from deltableu.layouts.mturk import MTurkLayout
    from deltableu.layouts.openai_chat import OpenAILayout
    from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Part, Place
    from deltableu.layouts.plain import TextLayout, expanded
    from deltableu.layouts.prolific import ProlificLayout
    from deltableu.layouts.table import TableLayout
    from deltableu.layouts.wmt import MtmeLayout, SacrebleuLayout, WmtLayout
    from deltableu.layouts.wmt_da import WmtDaLayout

__all__ = [
    "MEANINGS",
    "AppraiseLayout",
    "ColumnMap",
    "DialogueLayout",
    "EsaLayout",
    "FoundItem",
    "FoundOutput",
    "FoundReference",
    "Imported",
    "LabelStudioLayout",
    "Layout",
    "LmEvalLayout",
    "MTurkLayout",
    "MqmLayout",
    "MtmeLayout",
    "OpenAILayout",
    "Part",
    "Place",
    "ProlificLayout",
    "Request",
    "SacrebleuLayout",
    "SgmLayout",
    "TableLayout",
    "TextLayout",
    "Understanding",
    "WmtDaLayout",
    "WmtLayout",
    "WmtXmlLayout",
    "expanded",
    "import_study",
    "layout_names",
    "load_layout",
    "study_from",
]

__getattr__, __dir__ = at_first_use(__name__)
