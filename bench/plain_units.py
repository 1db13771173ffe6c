"""Section 5 of the delta-BLEU paper in plain Python, one sentence and one assignment at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scipy import stats

__all__ = ["plain_correlations", "plain_observations"]

Row = Sequence[float]
#: The score of a set of sentences from the sums of their rows.
Aggregate = Callable[[list[float]], float]


def plain_observations(
    first: Sequence[Row],
    second: Sequence[Row],
    aggregate: Aggregate,
    units: Sequence[int],
    signs: Sequence[float],
) -> list[float]:
    """The difference of two systems on each unit, given the unit of each of their sentences."""
    observed = []
    for unit, sign in enumerate(signs):
        inside = [place for place, its in enumerate(units) if its == unit]
        scores = []
        for rows in (first, second):
            sums = [0.0] * len(rows[0])
            for place in inside:
                for column, value in enumerate(rows[place]):
                    sums[column] += value
            scores.append(aggregate(sums))
        observed.append(sign * (scores[0] - scores[1]))
    return observed


def plain_correlations(metric: Sequence[float], people: Sequence[float]) -> tuple[float, float]:
    """Spearman's and Kendall's, by scipy."""
    rho, tau = stats.spearmanr(metric, people), stats.kendalltau(metric, people)
    return float(rho.statistic), float(tau.statistic)
