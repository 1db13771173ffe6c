"""Agreements and p-values of metrics in; which metrics nothing beats, and how they rank, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_choice, check_known, check_share
from deltableu.io import Cell, Column, Table, Tabular, field_record
from deltableu.stats import Correction, Method, adjust, best_first, greedy_ranks, rank
from deltableu.validate.levels import AccuracyMethod, Level

MetricTest = Literal[
    "perm-both",
    "perm-systems",
    "perm-items",
    "bootstrap-both",
    "bootstrap-systems",
    "bootstrap-items",
    "williams",
]
#: How p-values of pairs decide: two-sided, corrected for their number or not, or as at WMT:
#: one-sided, each pair both ways, without correction.
MetricCorrection = Literal[Correction, "wmt"]

#: Metrics that know nothing of quality: what a metric must beat, and what never wins.
SENTINELS = ("length", "message-overlap", "random", "constant")


@dataclass(frozen=True, slots=True)
class RankedMetric:
    """One metric among those compared.

    Attributes
    ----------
    agreement : float
        With people.
    winner : bool
        No other metric is significantly better.
    rank : int
        WMT22's greedy rank: going down from the best, a metric that is significantly worse than
        any of the current rank starts the next; 0 where metrics cannot be ranked.
    cluster : int
        All metrics of a cluster are significantly better than all of the next.
    rank_range : (int, int)
        Best and worst rank that the significant differences leave possible.
    letters : str
        Metrics that share a letter do not differ significantly.
    """

    metric: str
    agreement: float
    winner: bool = False
    rank: int = 0
    cluster: int = 0
    rank_range: tuple[int, int] = (0, 0)
    letters: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class MetricComparison(Tabular):
    """Metrics, best first, and the p-values of every pair.

    Attributes
    ----------
    p_values, adjusted : array
        That two metrics differ, two-sided, in the order of `metrics`; as at WMT, that the row's
        is better than the column's. NaN on the diagonal. `adjusted` is what decides.
    correction : str
    resamples : int or None
        Exchanges or draws of each test: as many as the correction needs.
    unranked : str or None
        Why no metric can win: so few systems have no p-value that survives the correction. There
        are no p-values then.
    sentinels : tuple of str
        Metrics that know nothing of quality. They neither win nor count as tests to correct for.
    beats : array
        One-sided p-values of each metric agreeing better than each sentinel, not corrected.
    """

    metrics: tuple[RankedMetric, ...]
    p_values: Array
    adjusted: Array
    correction: MetricCorrection
    significance: float
    test: MetricTest | None = None
    method: Method | AccuracyMethod | None = None
    level: Level | None = None
    resamples: int | None = None
    unranked: str | None = None
    sentinels: tuple[str, ...] = ()
    beats: Array = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def winners(self) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms, best first."""
        return tuple(metric.metric for metric in self.metrics if metric.winner)

    def p_value(self, better: str, worse: str) -> float:
        """That two metrics differ, before correction; as at WMT, that the first is better."""
        names = [metric.metric for metric in self.metrics]
        for name in (better, worse):
            check_known("metric", name, names)
        return float(self.p_values[names.index(better), names.index(worse)])

    def table(self) -> Table:
        """p-values of the row's metric agreeing better than the column's, and than sentinels."""
        both_ways = self.correction == "wmt"
        names = [] if self.unranked else [metric.metric for metric in self.metrics]
        rows = []
        for place, metric in enumerate(self.metrics):
            shown = [
                Cell(p, best=p < self.significance) if both_ways or place < other else None
                for other, p in enumerate(self.adjusted[place].tolist()[: len(names)])
            ]
            shown += [Cell(p, best=p < self.significance) for p in self.beats[place].tolist()]
            note = "" if self.unranked else f"rank {metric.rank}"
            rows.append((Cell(metric.metric, note=note, best=metric.winner), *shown))
        how = "one-sided" if both_ways else f"two-sided, {self.correction}"
        what = ", ".join(filter(None, (self.test, self.method, how)))
        caption = f"p-values, row better than column ({what})"
        if self.unranked:
            caption = self.unranked.partition(":")[0]
        columns = (
            Column("metric"),
            *(Column(name, "p") for name in names),
            *(Column(f"{name} (sentinel)", "p") for name in self.sentinels),
        )
        return Table(columns, rows, f"{self.level}: {caption}" if self.level else caption)

    def record(self) -> dict[str, Any]:
        """All of it, and the winners."""
        return {**field_record(self), "winners": list(self.winners)}


def rank_metrics(
    names: Sequence[str],
    agreements: Sequence[float] | Array,
    p_values: ArrayLike,
    *,
    correction: MetricCorrection = "holm",
    significance: float = 0.05,
    test: MetricTest | None = None,
    method: Method | AccuracyMethod | None = None,
    level: Level | None = None,
) -> MetricComparison:
    """Winners and ranks from a table of p-values, whatever test they come from.

    Parameters
    ----------
    names, agreements
        Names of the metrics, and how they agree with people.
    p_values
        That the two metrics differ, two-sided, so that the table is symmetric; with
        `correction="wmt"`, that the row's metric is better than the column's. The diagonal is
        ignored.
    correction, significance
        As in `compare_metrics`.

    Examples
    --------
    >>> p_values = [[1, 0.2, 0.01], [0.2, 1, 0.04], [0.01, 0.04, 1]]
    >>> rank_metrics(["a", "b", "c"], [0.9, 0.8, 0.3], p_values).winners
    ('a', 'b')
    """
    size = len(names)
    values, table = np.asarray(agreements, np.float64), np.array(p_values, np.float64)
    if size == 0 or len(set(names)) != size:
        raise InputError("give at least one metric, and each a name of its own")
    if values.shape != (size,) or table.shape != (size, size):
        raise InputError(
            f"{size} metrics need {size} agreements and {size} x {size} p-values, got "
            f"{values.shape} and {table.shape}"
        )
    if np.isnan(values).any():
        name = names[int(np.argmax(np.isnan(values)))]
        raise InputError(f"{name} has no agreement to rank it by")
    check_choice("correction", correction, get_args(MetricCorrection))
    check_share("significance", significance)
    order = list(best_first(names, values))
    table = table[np.ix_(order, order)]
    pairs = ~np.eye(size, dtype=bool)
    if not ((table[pairs] >= 0.0) & (table[pairs] <= 1.0)).all():
        raise InputError("p-values must lie between 0 and 1")
    table[~pairs] = np.nan
    adjusted = table.copy()
    if correction != "wmt":
        if not np.array_equal(table, table.T, equal_nan=True):
            raise InputError(
                'two-sided p-values are the same both ways; correction="wmt" takes one-sided ones'
            )
        above = np.triu_indices(size, 1)
        adjusted[above] = adjust(table[above], correction)
        adjusted[above[::-1]] = adjusted[above]
    better: Bools = np.nan_to_num(adjusted, nan=1.0) < significance
    if correction != "wmt":
        better = np.triu(better)
    sorted_names = [names[place] for place in order]
    ranking = rank(sorted_names, values[order], better)
    metrics = tuple(
        map(
            RankedMetric,
            sorted_names,
            values[order].tolist(),
            np.logical_not(better.any(axis=0)).tolist(),
            greedy_ranks(better),
            ranking.clusters,
            ranking.ranks,
            ranking.letters,
        )
    )
    return MetricComparison(metrics, table, adjusted, correction, significance, test, method, level)
