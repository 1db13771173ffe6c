"""Several metrics and people in; which metrics nothing beats, and how they rank, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Steps
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError, check_choice, check_share
from deltableu.io import Cell, Column, Table, field_record
from deltableu.stats import (
    Correction,
    Method,
    adjust,
    best_first,
    greedy_ranks,
    rank,
    williams_metrics,
    williams_test,
)
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import Level, Undefined, agreement
from deltableu.validate.permutation import permutation_test

MetricTest = Literal[
    "perm-both",
    "perm-systems",
    "perm-items",
    "bootstrap-both",
    "bootstrap-systems",
    "bootstrap-items",
    "williams",
]


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
        any of the current rank starts the next.
    cluster : int
        All metrics of a cluster are significantly better than all of the next.
    rank_range : (int, int)
        Best and worst rank that the significant differences leave possible.
    letters : str
        Metrics that share a letter do not differ significantly.
    """

    metric: str
    agreement: float
    winner: bool
    rank: int
    cluster: int
    rank_range: tuple[int, int]
    letters: str


@dataclass(frozen=True, slots=True, eq=False)
class MetricComparison:
    """Metrics, best first, and the p-values of every pair.

    Attributes
    ----------
    p_values, adjusted : array
        Of the row's metric being better than the column's, in the order of `metrics`; NaN on the
        diagonal. `adjusted` for the number of tests, and what decides.
    """

    metrics: tuple[RankedMetric, ...]
    p_values: Array
    adjusted: Array
    correction: Correction
    significance: float
    test: MetricTest | None = None
    method: Method | None = None
    level: Level | None = None

    @property
    def winners(self) -> tuple[str, ...]:
        """Metrics that no other significantly outperforms, best first."""
        return tuple(metric.metric for metric in self.metrics if metric.winner)

    def p_value(self, better: str, worse: str) -> float:
        """Of the first metric being better than the second, before correction."""
        names = [metric.metric for metric in self.metrics]
        for name in (better, worse):
            if name not in names:
                raise InputError(f"there is no metric {name!r}; there are {', '.join(names)}")
        return float(self.p_values[names.index(better), names.index(worse)])

    def table(self) -> Table:
        """One-sided p-values of the row's metric agreeing better than the column's."""
        rows = [
            (
                Cell(metric.metric, note=f"rank {metric.rank}", best=metric.winner),
                *(Cell(p_value, best=p_value < self.significance) for p_value in p_values),
            )
            for metric, p_values in zip(self.metrics, self.adjusted.tolist(), strict=True)
        ]
        what = ", ".join(filter(None, (self.test, self.method)))
        caption = f"p-values, row better than column{f' ({what})' if what else ''}"
        columns = (Column("metric"), *(Column(metric.metric, "p") for metric in self.metrics))
        return Table(columns, rows, f"{self.level}: {caption}" if self.level else caption)

    def record(self) -> dict[str, Any]:
        """All of it, and the winners."""
        return {**field_record(self), "winners": list(self.winners)}


def default_test(level: Level) -> MetricTest:
    """Exchanged systems speak about other systems; below that level items are the sample."""
    return "perm-systems" if level == "system" else "perm-both"


def compare_metrics(
    scores: ScoreTable | Mapping[str, ArrayLike],
    human: ArrayLike,
    *,
    test: MetricTest | Literal["auto"] = "auto",
    method: Method = "pearson",
    level: Level = "system",
    correction: Correction = "none",
    significance: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
    undefined: Undefined = "zero",
    threshold: float = 25.0,
    threads: int | None = None,
    progress: Steps | None = None,
) -> MetricComparison:
    """Test every pair of metrics, and find those that no other outperforms.

    Parameters
    ----------
    scores
        Systems x items of every metric; arrays turned so that higher is better. A metric of whole
        systems (corpus BLEU) has one item.
    human
        Systems x items; NaN where an output was not rated, and then no metric's score of it counts.
    test
        `perm-...` and `bootstrap-...` say what is exchanged or drawn again; `williams` compares
        Pearson or Spearman correlations at the system or pooled level. `auto` is `perm-systems`
        at level system and `perm-both` at the others.
    method, level, undefined, threshold
        How agreement is measured: see `agreement`.
    correction
        For the number of tests, every pair being tested both ways: `holm`, `bh` or `none` (the
        custom at WMT).
    significance
        A p-value below it makes one metric better than another.
    resamples, seed, threads
        As in `permutation_test`.
    progress
        Called with pairs done and pairs in all.

    References
    ----------
    Bojar et al. 2017, "Results of the WMT17 Metrics Shared Task" (winners); Freitag et al. 2022,
    "Results of WMT22 Metrics Shared Task" (ranks); Deutsch et al. 2021.

    Examples
    --------
    >>> human = np.arange(60.0).reshape(6, 10) * 7 % 11
    >>> noise = np.cos(np.arange(60.0)).reshape(6, 10)
    >>> scores = {"good": human + noise, "fair": human + 4 * noise, "poor": noise}
    >>> result = compare_metrics(scores, human, level="pooled")
    >>> result.winners, [metric.rank for metric in result.metrics]
    (('good',), [1, 2, 3])
    """
    if test == "auto":
        test = default_test(level)
    check_choice("test", test, get_args(MetricTest))
    names, tables, people = _tables(scores, human)
    options: dict[str, Any] = {
        "method": method,
        "level": level,
        "undefined": undefined,
        "threshold": threshold,
    }
    agreements = [float(agreement(table, people, **options)) for table in tables]
    for name, value in zip(names, agreements, strict=True):
        if np.isnan(value):
            raise InputError(f"{name} has no {method} agreement with people at level {level!r}")
    points = _points([*tables, people], level, method) if test == "williams" else []
    p_values = np.full((len(names), len(names)), np.nan)
    pairs = list(combinations(range(len(names)), 2))
    options.update(resamples=resamples, seed=seed, threads=threads)
    kind, _, units = test.partition("-")
    tested = permutation_test if kind == "perm" else bootstrap_difference
    options["swap" if kind == "perm" else "resample"] = units
    for done, (one, two) in enumerate(pairs, start=1):
        if test == "williams":
            found = _williams(points[-1], points[one], points[two], method)
        else:
            found = tested(tables[one], tables[two], people, **options).p_values()
        p_values[one, two], p_values[two, one] = found
        if progress is not None:
            progress(done, len(pairs))
    return rank_metrics(
        names,
        agreements,
        p_values,
        correction=correction,
        significance=significance,
        test=test,
        method=method,
        level=level,
    )


def rank_metrics(
    names: Sequence[str],
    agreements: Sequence[float] | Array,
    p_values: ArrayLike,
    *,
    correction: Correction = "none",
    significance: float = 0.05,
    test: MetricTest | None = None,
    method: Method | None = None,
    level: Level | None = None,
) -> MetricComparison:
    """Winners and ranks from a table of p-values, whatever test they come from.

    Parameters
    ----------
    names, agreements
        Of the metrics.
    p_values
        Of the row's metric being better than the column's; the diagonal is ignored.
    correction, significance
        As in `compare_metrics`.

    Examples
    --------
    >>> p_values = [[1, 0.2, 0.01], [0.8, 1, 0.04], [0.99, 0.96, 1]]
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
    check_choice("correction", correction, get_args(Correction))
    check_share("significance", significance)
    order = list(best_first(names, values))
    table = table[np.ix_(order, order)]
    pairs = ~np.eye(size, dtype=bool)
    if not ((table[pairs] >= 0.0) & (table[pairs] <= 1.0)).all():
        raise InputError("p-values must lie between 0 and 1")
    table[~pairs] = np.nan
    adjusted = table.copy()
    adjusted[pairs] = adjust(table[pairs], correction)
    better: Bools = np.nan_to_num(adjusted, nan=1.0) < significance
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


def _tables(
    scores: ScoreTable | Mapping[str, ArrayLike], human: ArrayLike
) -> tuple[list[str], list[Array], Array]:
    people = np.asarray(human, dtype=np.float64)
    if people.ndim != 2:
        raise InputError(f"human must be systems x items, got {people.ndim} axes")
    named: Mapping[str, ArrayLike]
    if isinstance(scores, ScoreTable):
        named = dict(zip(scores.metrics, scores.turned().values, strict=True))
    else:
        named = scores
    if not named:
        raise InputError("there are no metrics to compare")
    rated = ~np.isnan(people)
    if not rated.any(axis=1).all():
        place = int(np.flatnonzero(~rated.any(axis=1))[0])
        raise InputError(f"system {place} has no human scores: leave it out")
    tables = []
    for name, given in named.items():
        table = np.asarray(given, dtype=np.float64)
        if table.shape != people.shape:
            raise InputError(f"{name} is {table.shape}, but human is {people.shape}")
        lacking = rated & ~np.isfinite(table)
        if lacking.any():
            system, item = np.argwhere(lacking)[0].tolist()
            raise InputError(
                f"{name} has no score for system {system}, item {item}, which people rated"
            )
        tables.append(np.where(rated, table, np.nan))
    return list(named), tables, people


def _points(tables: list[Array], level: Level, method: Method) -> list[Array]:
    """One vector a metric, and people's last: what Williams' test correlates."""
    if method not in ("pearson", "spearman") or level == "item":
        raise InputError(
            "Williams' test compares pearson or spearman correlations at the system or pooled level"
        )
    if level == "system":
        return [np.nanmean(table, axis=1) for table in tables]
    return [table[~np.isnan(table)] for table in tables]


def _williams(people: Array, first: Array, second: Array, method: Method) -> tuple[float, float]:
    ranks = cast(Literal["pearson", "spearman"], method)
    found = williams_metrics(people, first, second, method=ranks)
    other = williams_test(found.r12, found.r13, found.r23, found.n, "less")
    return found.p_value, other.p_value
