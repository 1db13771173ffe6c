"""Results come in; tables and pages for people go out."""

from deltableu.report.comparisons import (
    comparison_notes,
    comparison_records,
    matrix_table,
    pair_table,
    system_table,
)
from deltableu.report.explain import Answer, Case
from deltableu.report.explain_page import explain_page
from deltableu.report.explain_terminal import terminal_view
from deltableu.report.logs import logs_record, logs_tables
from deltableu.report.mining import leak_warning, mining_notes, mining_record, mining_table
from deltableu.report.page import Setting, study_page
from deltableu.report.power import (
    check_plotting,
    power_notes,
    power_plot,
    power_record,
    power_table,
)
from deltableu.report.rating import (
    model_record,
    model_tables,
    rating_notes,
    rating_record,
    rating_table,
)
from deltableu.report.scores import score_records, score_table, segment_table, signatures
from deltableu.report.study import contents_table, systems_table
from deltableu.report.validation import (
    agreement_table,
    human_table,
    metric_matrix,
    rater_table,
    validation_notes,
    validation_records,
)

__all__ = [
    "Answer",
    "Case",
    "Setting",
    "agreement_table",
    "check_plotting",
    "comparison_notes",
    "comparison_records",
    "contents_table",
    "explain_page",
    "human_table",
    "leak_warning",
    "logs_record",
    "logs_tables",
    "matrix_table",
    "metric_matrix",
    "mining_notes",
    "mining_record",
    "mining_table",
    "model_record",
    "model_tables",
    "pair_table",
    "power_notes",
    "power_plot",
    "power_record",
    "power_table",
    "rater_table",
    "rating_notes",
    "rating_record",
    "rating_table",
    "score_records",
    "score_table",
    "segment_table",
    "signatures",
    "study_page",
    "system_table",
    "systems_table",
    "terminal_view",
    "validation_notes",
    "validation_records",
]
