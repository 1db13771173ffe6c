"""Ratings in, how raters correlate with each other and a metric with each of them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_at_least
from deltableu.io import Column, Table, Tabular, written
from deltableu.rate.rater_rows import Ratings, rater_rows
from deltableu.stats import Method, check_method, correlate


@dataclass(frozen=True, slots=True, eq=False)
class RaterCorrelations(Tabular):
    """Correlations of each rater with each other one.

    Attributes
    ----------
    raters : tuple of str
    method : str
    values : array
        Raters x raters; NaN on the diagonal, where two raters have too few units in common, and
        where one of them gave these the same value throughout.
    common : array of int
        Raters x raters: units that both rated.
    mean, highest, lowest : float
        Over pairs of raters.
    pairs : int
        That have a correlation.
    undefined : int
        Pairs with enough units in common, but a constant side.
    """

    raters: tuple[str, ...]
    method: Method
    values: Array
    common: Ints
    mean: float
    highest: float
    lowest: float
    pairs: int
    undefined: int

    def table(self, *, digits: int = 3) -> Table:
        """Raters by raters."""
        columns = (Column("", key="rater"), *(Column(name, f".{digits}r") for name in self.raters))
        rows = ((name, *row) for name, row in zip(self.raters, self.values.tolist(), strict=True))
        caption = f"{self.method}: mean {written(self.mean, f'.{digits}r')} of {self.pairs} pairs"
        return Table(columns, rows, caption)


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorCorrelations(Tabular):
    """Correlations of one metric with each rater.

    Attributes
    ----------
    raters : tuple of str
    method : str
    values : array
        One a rater; NaN for raters with too few units or the same value throughout.
    units : array of int
        That the rater rated and the metric scored.
    mean, highest, lowest : float
        Over the raters that have a correlation.
    """

    raters: tuple[str, ...]
    method: Method
    values: Array
    units: Ints
    mean: float
    highest: float
    lowest: float

    def table(self, *, digits: int = 3) -> Table:
        """A row for each rater."""
        rows = zip(self.raters, self.values.tolist(), self.units.tolist(), strict=True)
        columns = (Column("rater"), Column(self.method, f".{digits}r"), Column("units"))
        return Table(columns, rows, f"mean {written(self.mean, f'.{digits}r')}")


def inter_rater_correlations(
    ratings: Ratings, *, method: Method = "pearson", min_common: int = 3
) -> RaterCorrelations:
    """Correlate each rater with each other one over the units that both rated.

    Mean, highest and lowest are what a metric's correlations with single raters compare with: the
    `human` row of Tsuta et al. (2020), Table 3.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs, a rater's repeats are averaged), or raters x units with
        NaN where a rater did not rate.
    method
        Such as "pearson", "spearman" or "kendall-b".
    min_common
        Pairs of raters with fewer units in common are left out.

    References
    ----------
    Tsuta, Yoshinaga and Toyoda 2020, "uBLEU: Uncertainty-Aware Automatic Evaluation Method for
    Open-Domain Dialogue Systems", ACL student research workshop.

    Examples
    --------
    >>> found = inter_rater_correlations([[1, 2, 3, 4], [1, 2, 4, 3], [4, 2, 3, 1]])
    >>> found.pairs, round(found.highest, 3), round(found.lowest, 3), round(found.mean, 3)
    (3, 0.8, -0.8, -0.133)
    """
    check_method(method)
    check_at_least("min_common", min_common, 2)
    names, rows = rater_rows(ratings)
    if len(rows) < 2:
        raise InputError("correlations between raters need at least 2 raters")
    present = ~np.isnan(rows)
    common = present.astype(np.int64) @ present.T.astype(np.int64)
    enough = np.triu(common >= min_common, 1)
    if not enough.any():
        raise InputError(f"no two raters have {min_common} units in common")
    values = np.full(common.shape, np.nan)
    for first, others in ((place, np.flatnonzero(row)) for place, row in enumerate(enough)):
        values[first, others] = _with_others(rows, present, first, others, method)
    values = np.fmax(values, values.T)
    found = values[np.triu_indices(len(rows), 1)]
    found = found[~np.isnan(found)]
    if len(found) == 0:
        raise InputError("every pair of raters has one who gave the same value throughout")
    return RaterCorrelations(
        names,
        method,
        values,
        common,
        float(found.mean()),
        float(found.max()),
        float(found.min()),
        len(found),
        int(enough.sum()) - len(found),
    )


def annotator_correlations(
    scores: Sequence[Any] | Array,
    ratings: Ratings,
    *,
    method: Method = "pearson",
    min_common: int = 3,
) -> AnnotatorCorrelations:
    """Correlate a metric with each rater by themselves; the highest and the lowest say how stable.

    Parameters
    ----------
    scores
        The metric's, one a unit: systems x items (`ScoreTable.only(metric)`) where ratings are
        a `RatingTable`. NaN where there is none.
    ratings, method, min_common
        As in `inter_rater_correlations`.

    References
    ----------
    Tsuta, Yoshinaga and Toyoda 2020, Tables 2 and 3.

    Examples
    --------
    >>> found = annotator_correlations([0.1, 0.2, 0.4], [[1, 2, 3], [3, 1, 2]])
    >>> found.values.round(3).tolist(), round(found.highest, 3)
    ([0.982, -0.327], 0.982)
    """
    check_method(method)
    check_at_least("min_common", min_common, 2)
    names, rows = rater_rows(ratings)
    metric = np.asarray(scores, dtype=np.float64)
    if isinstance(ratings, RatingTable) and metric.ndim > 1:
        shape = (len(ratings.systems), len(ratings.items))
        if metric.shape != shape:
            raise InputError(f"scores must be systems x items {shape}, got shape {metric.shape}")
    metric = metric.reshape(-1)
    if len(metric) != rows.shape[1]:
        raise InputError(f"there are {len(metric)} scores, but {rows.shape[1]} units were rated")
    if np.isinf(metric).any():
        raise InputError("scores must be finite, or NaN where there is none")
    values, units = np.full(len(rows), np.nan), np.zeros(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        both = ~np.isnan(row) & ~np.isnan(metric)
        units[place] = both.sum()
        if units[place] >= min_common:
            values[place] = correlate(row[both], metric[both], method)
    found = values[~np.isnan(values)]
    if len(found) == 0:
        raise InputError(
            f"no rater has a correlation with the metric: each needs {min_common} units, and "
            "neither side may be constant"
        )
    return AnnotatorCorrelations(
        names, method, values, units, float(found.mean()), float(found.max()), float(found.min())
    )


def _with_others(rows: Array, present: Any, first: int, others: Ints, method: Method) -> Array:
    """Correlations of one rater with others; at once with those who rated all of the same."""
    own = present[first]
    values = np.full(len(others), np.nan)
    whole = present[np.ix_(others, own)].all(axis=1)
    if whole.any():
        values[whole] = correlate(rows[np.ix_(others[whole], own)], rows[first, own], method)
    for place in np.flatnonzero(~whole).tolist():
        both = own & present[others[place]]
        values[place] = correlate(rows[first, both], rows[others[place], both], method)
    return values
