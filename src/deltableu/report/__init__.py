"""Results come in; pages, plots and explanations for people go out."""

from deltableu.report.agreement_plots import agreement_figure, scatter_figure
from deltableu.report.buckets import Bucketing, bucket_table, bucketings
from deltableu.report.cases import explained_case
from deltableu.report.changes import Change, Changes, changed_outputs
from deltableu.report.difference_plot import difference_figure
from deltableu.report.examples import OutputExample, OutputExamples, chosen_examples
from deltableu.report.examples_page import examples_page
from deltableu.report.explain import Answer, Case
from deltableu.report.explain_page import explain_page
from deltableu.report.explain_terminal import terminal_view
from deltableu.report.failures import ShownFailure, shown_failures
from deltableu.report.files import (
    check_report_files,
    report_figures,
    report_tables,
    write_report_files,
)
from deltableu.report.gate_files import gate_summary, junit_xml
from deltableu.report.history_plot import history_page, history_plot
from deltableu.report.methods import methods_paragraph
from deltableu.report.page import Setting, StudyReport, leading, study_page
from deltableu.report.plots import check_plotting, svg
from deltableu.report.power_plot import power_plot
from deltableu.report.preference_plot import preference_figure, preference_plot
from deltableu.report.rater_plots import rater_figure, rater_plot
from deltableu.report.result_plot import plot
from deltableu.report.sweep_charts import sweep_figure
from deltableu.report.validation_plots import (
    consistency_figure,
    kinds_figure,
    significance_figure,
    violin_figure,
)
from deltableu.report.verdicts import verdict

__all__ = [
    "Answer",
    "Bucketing",
    "Case",
    "Change",
    "Changes",
    "OutputExample",
    "OutputExamples",
    "Setting",
    "ShownFailure",
    "StudyReport",
    "agreement_figure",
    "bucket_table",
    "bucketings",
    "changed_outputs",
    "check_plotting",
    "check_report_files",
    "chosen_examples",
    "consistency_figure",
    "difference_figure",
    "examples_page",
    "explain_page",
    "explained_case",
    "gate_summary",
    "history_page",
    "history_plot",
    "junit_xml",
    "kinds_figure",
    "leading",
    "methods_paragraph",
    "plot",
    "power_plot",
    "preference_figure",
    "preference_plot",
    "rater_figure",
    "rater_plot",
    "report_figures",
    "report_tables",
    "scatter_figure",
    "shown_failures",
    "significance_figure",
    "study_page",
    "svg",
    "sweep_figure",
    "terminal_view",
    "verdict",
    "violin_figure",
    "write_report_files",
]
