"""Correlations of one pair of columns under many weightings: the bootstrap without copies.

A resample counts each observation as often as it was drawn; sorting is done once for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints, Ints32
from deltableu.stats.correlation import Method, centred
from deltableu.stats.kendall import KendallCounts, pair_limit, tau

#: A variance below this share of the mean square is the rounding of none.
_NOTHING = 1e-13
#: Weightings that the kernels take at once.
_LANES = 16

_kernel = _kernels.load("stats._weighted")


def weighted_correlate(
    x: Array, y: Array, weights: Ints, method: Method, threshold: float = 25.0
) -> Array:
    """Correlation of x and y for each row of weights: how often each observation counts.

    Equal to `correlate` of the observations repeated so often; NaN where that is.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])
    >>> weighted_correlate(x, y, np.array([[1, 1, 1], [2, 1, 0]]), "kendall-b").round(3)
    array([0.333, 1.   ])
    """
    return WeightedPair(x, y).correlate(weights, np.arange(len(x)), method, threshold)


class WeightedPair:
    """Two columns of the same observations, sorted once for all weightings."""

    def __init__(self, x: Array, y: Array) -> None:
        self.x, self.y = _Column(x), _Column(y)

    def correlate(
        self, weights: Ints, units: Ints, method: Method, threshold: float = 25.0
    ) -> Array:
        """As `weighted_correlate`, of rows of weights of units, such as items.

        `units` has the unit of each observation, which counts as often as its unit does.
        """
        if method == "pearson":
            return _pearson(self.x.values, self.y.values, weights[:, units])
        if method == "spearman":
            return self._spearman(weights, units)
        counts = self._pairs(weights, units, threshold if method == "kendall-like" else 0.0)
        size: Any = 0
        distinct: Any = 0
        if method == "kendall-c":
            each = weights[:, units]
            size = each.sum(axis=1)
            distinct = np.minimum(*(side.distinct(each) for side in (self.x, self.y)))
        return tau(method, counts, size, distinct)

    def _spearman(self, weights: Ints, units: Ints) -> Array:
        sides = [(side, side.sorted(units)) for side in (self.x, self.y)]
        order = self.x.order
        groups, others = self.x.groups[order], self.y.groups[order]
        values = np.empty(len(weights))
        observations = np.bincount(units, minlength=weights.shape[1])
        for first, lanes in _lanes(weights):
            totals = (observations @ lanes).astype(np.int32)
            ranks, squares = [], []
            for side, own in sides:
                ranks.append(np.empty((len(side.starts) - 1, _LANES), np.int32))
                squares.append(np.zeros(_LANES))
                _kernel.middle_ranks(side.starts, own, lanes, totals, ranks[-1], squares[-1])
            sums = np.zeros(_LANES)
            _kernel.rank_products(groups, others, sides[0][1], lanes, *ranks, sums)
            with np.errstate(divide="ignore", invalid="ignore"):
                rho = sums / np.sqrt(squares[0] * squares[1])
            values[first : first + _LANES] = rho[: len(weights) - first]
        return np.asarray(np.clip(values, -1.0, 1.0))

    def _pairs(self, weights: Ints, units: Ints, threshold: float) -> KendallCounts:
        """Counts of pairs, for each row of weights."""
        x, y = self.x, self.y
        # Without a threshold the sides can change places: the fewer values, the smaller the tree.
        turned = threshold == 0.0 and len(y.starts) < len(x.starts)
        if turned:
            x, y = y, x
        ranks = x.groups[y.order] + np.int32(1)
        values, own = y.values[y.order], y.sorted(units)
        counts = np.empty((4, len(weights)))
        for first, lanes in _lanes(weights):
            found = np.empty((4, _LANES))
            tree, groups = np.zeros((2, len(x.starts), _LANES), np.int32)
            _kernel.ordered_pairs(
                ranks, values, own, lanes, pair_limit(threshold), tree, groups, found
            )
            counts[:, first : first + _LANES] = found[:, : len(weights) - first]
        balance, decided, apart_x, apart_y = counts.astype(np.int64)
        if turned:
            apart_x, apart_y = apart_y, apart_x
        return KendallCounts(balance, decided, apart_x, apart_y)


class _Column:
    """Observations by value: which group of equal ones each is in, lowest first."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.order = np.argsort(values, kind="stable")
        ordered = values[self.order]
        new = np.append(True, ordered[1:] != ordered[:-1])
        self.starts: Ints32 = np.append(np.flatnonzero(new), len(values)).astype(np.int32)
        self.groups: Ints32 = np.empty(len(values), np.int32)
        self.groups[self.order] = np.cumsum(new, dtype=np.int32) - np.int32(1)

    def sorted(self, units: Ints) -> Ints32:
        """The units of the observations, the lowest first."""
        return units[self.order].astype(np.int32)

    def distinct(self, weights: Ints) -> Ints:
        """How many different values count, for each row of weights of the observations."""
        totals = np.add.reduceat(weights[:, self.order], self.starts[:-1], axis=1)
        return np.asarray((totals > 0).sum(axis=1))


def _lanes(weights: Ints) -> Iterator[tuple[int, Ints32]]:
    """Rows of weights, some at once, as columns; 0 in those that are too many."""
    for first in range(0, len(weights), _LANES):
        rows = weights[first : first + _LANES]
        lanes = np.zeros((weights.shape[1], _LANES), np.int32)
        lanes[:, : len(rows)] = rows.T
        yield first, lanes


def _pearson(x: Array, y: Array, weights: Ints) -> Array:
    a, b = centred(np.stack([x, y]))
    columns = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1)
    total, sum_a, sum_b, sum_aa, sum_bb, sum_ab = (weights.astype(np.float64) @ columns).T
    with np.errstate(divide="ignore", invalid="ignore"):
        var_a = _variance(sum_a / total, sum_aa / total)
        var_b = _variance(sum_b / total, sum_bb / total)
        shared = sum_ab / total - sum_a / total * (sum_b / total)
        values = np.where((var_a > 0.0) & (var_b > 0.0), shared / np.sqrt(var_a * var_b), np.nan)
    return np.asarray(np.clip(values, -1.0, 1.0))


def _variance(mean: Array, mean_square: Array) -> Array:
    found = mean_square - mean**2
    return np.asarray(np.where(found > _NOTHING * mean_square, found, 0.0))
