"""Results come in; pages, plots and explanations for people go out."""

from deltableu.report.explain import Answer, Case
from deltableu.report.explain_page import explain_page
from deltableu.report.explain_terminal import terminal_view
from deltableu.report.page import Setting, study_page
from deltableu.report.power_plot import check_plotting, power_plot

__all__ = [
    "Answer",
    "Case",
    "Setting",
    "check_plotting",
    "explain_page",
    "power_plot",
    "study_page",
    "terminal_view",
]
