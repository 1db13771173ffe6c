"""Any result in, a matplotlib figure out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from deltableu.compare import Comparison, PowerPlan
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError, check_choice
from deltableu.rate import PreferenceRanking, RaterAgreement
from deltableu.report.agreement_plots import agreement_figure, validation_scatter
from deltableu.report.difference_plot import difference_figure
from deltableu.report.power_plot import power_figure
from deltableu.report.preference_plot import preference_figure
from deltableu.report.rater_plots import rater_figure
from deltableu.report.score_plots import scores_figure
from deltableu.score import Scoring
from deltableu.validate import Validation

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    result: Scoring
    | ScoreTable
    | Comparison
    | Sequence[Comparison]
    | Validation
    | PowerPlan
    | PreferenceRanking
    | Sequence[RaterAgreement],
    *,
    kind: Literal["intervals", "scatter"] = "intervals",
) -> Figure:
    """Draw a result.

    Parameters
    ----------
    result
        What `score_systems`, `compare_systems` (one comparison, or all of them), `validate_metrics`
        or `plan_comparison` give: scores with intervals, differences with intervals, agreement with
        intervals, or power by the number of items; or `rank_by_preference` or `rater_agreements`:
        strengths with intervals, or how many raters are enough and how each of them rates.
    kind : {"intervals", "scatter"}
        "scatter" draws the systems of a validation as points, people's scores above the metric's.

    Returns
    -------
    matplotlib.figure.Figure
        A notebook shows it; `savefig` writes it.

    Examples
    --------
    >>> from deltableu import compare_systems
    >>> found = compare_systems({"A": [3, 4, 6, 5, 7, 6], "B": [2, 2, 5, 3, 6, 4]})
    >>> len(plot(found).axes)
    1
    """
    check_choice("kind", kind, ("intervals", "scatter"))
    figure: Figure = _figure(result, kind)
    return figure


def _figure(result: Any, kind: str) -> Any:
    if kind == "scatter":
        if not isinstance(result, Validation):
            raise InputError("kind='scatter' is for a Validation, which knows people's scores too")
        return validation_scatter(result)
    if isinstance(result, Validation):
        return agreement_figure(result)
    if isinstance(result, Scoring | ScoreTable):
        return scores_figure(result)
    if isinstance(result, PowerPlan):
        return power_figure(result)
    if isinstance(result, PreferenceRanking):
        return preference_figure(result)
    several = result if isinstance(result, list | tuple) else (result,)
    if several and all(isinstance(one, Comparison) for one in several):
        return difference_figure(several)
    if several and all(isinstance(one, RaterAgreement) for one in several):
        return rater_figure(several)
    raise InputError(
        "result must be a Scoring, ScoreTable, Comparison (or several), Validation, PowerPlan, "
        f"PreferenceRanking or RaterAgreement (or several), got {result!r:.80}"
    )
