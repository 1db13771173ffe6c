"""Correlations of one pair of columns under many weightings: the bootstrap without copies.

A resample counts each observation as often as it was drawn; sorting is done once for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.stats.correlation import Method, centred
from deltableu.stats.kendall import tau, weighted_counts

#: A variance below this share of the mean square is the rounding of none.
_NOTHING = 1e-13


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
    if method == "pearson":
        return _pearson(x, y, weights)
    if method == "spearman":
        return _spearman(x, y, weights)
    limit = threshold if method == "kendall-like" else 0.0
    counts = weighted_counts(x[np.newaxis], y[np.newaxis], weights, limit)
    size: Any = 0
    distinct: Any = 0
    if method == "kendall-c":
        size = weights.sum(axis=1)
        distinct = np.minimum(*((_Groups(v).totals(weights) > 0).sum(axis=1) for v in (x, y)))
    return tau(method, counts, size, distinct)


class _Groups:
    """Observations by value: which group each is in, lowest first."""

    def __init__(self, values: Array) -> None:
        self.order = np.argsort(values, kind="stable")
        ordered = values[self.order]
        new = np.append(True, ordered[1:] != ordered[:-1])
        self.starts = np.flatnonzero(new)
        self.places = np.empty(len(values), np.int64)
        self.places[self.order] = np.cumsum(new) - 1

    def totals(self, weights: Ints) -> Ints:
        """The weight of each group, for each row of weights."""
        return np.asarray(np.add.reduceat(weights[:, self.order], self.starts, axis=1))


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


def _spearman(x: Array, y: Array, weights: Ints) -> Array:
    middle = (weights.sum(axis=1, keepdims=True) + 1.0) / 2.0
    ranks, squares = [], []
    for values in (x, y):
        groups = _Groups(values)
        totals = groups.totals(weights)
        # A group's rank: all before it, then the middle of its own.
        centred = np.cumsum(totals, axis=1) - totals + (totals + 1.0) / 2.0 - middle
        squares.append((totals * centred**2).sum(axis=1))
        ranks.append(centred[:, groups.places])
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (weights * ranks[0] * ranks[1]).sum(axis=1) / np.sqrt(squares[0] * squares[1])
    return np.asarray(np.clip(values, -1.0, 1.0))


def _variance(mean: Array, mean_square: Array) -> Array:
    found = mean_square - mean**2
    return np.asarray(np.where(found > _NOTHING * mean_square, found, 0.0))
