"""Pairs of observations in, the Kendall family out.

Every member is a ratio of the same four counts of pairs; they differ in what they do with ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deltableu import _kernels
from deltableu._types import Array, Ints
from deltableu.errors import InputError

KendallMethod = Literal["kendall-b", "kendall-c", "kendall-wei", "kendall-like"]

#: Up to this length comparing all pairs beats sorting.
SHORT = 40
#: Observations sorted at once: few enough for the cache.
_CHUNK = 65_536

_kernel = _kernels.load("stats._ranks")


class KendallCounts(NamedTuple):
    """How many pairs of observations there are of each kind, for each of many columns.

    Attributes
    ----------
    balance
        Concordant minus discordant pairs.
    decided
        Concordant plus discordant pairs.
    apart_x, apart_y
        Pairs that differ in x, and in y (by the threshold or more, where there is one).
    """

    balance: Ints
    decided: Ints
    apart_x: Ints
    apart_y: Ints


@dataclass(frozen=True, slots=True)
class KendallLike:
    """WMT's Kendall-like tau and the pairs that it was counted from."""

    tau: float
    pairs: int
    concordant: int
    discordant: int


def tau(
    method: KendallMethod, counts: KendallCounts, size: ArrayLike = 0, distinct: ArrayLike = 0
) -> Array:
    """The ratio that a method makes of the counts; NaN where it is 0/0.

    Parameters
    ----------
    method
        `kendall-b` and `kendall-c` as scipy has them; `kendall-wei` drops pairs tied on either
        side (Wei); `kendall-like` counts a tie of x as discordant (WMT's daRR).
    counts
        Counts of all pairs, y being the human side.
    size, distinct
        Observations, and distinct values of the side that has fewer of them: for `kendall-c`.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if method == "kendall-wei":
            return np.asarray(counts.balance / counts.decided)
        if method == "kendall-like":
            # A pair that x ties is in `apart_y` but not in `decided`: it turns discordant.
            lost = counts.apart_y - counts.decided
            return np.asarray((counts.balance - lost) / counts.apart_y)
        if method == "kendall-b":
            values = counts.balance / np.sqrt(counts.apart_x * counts.apart_y.astype(np.float64))
        else:
            classes = np.asarray(distinct, dtype=np.float64)
            square = np.asarray(size, dtype=np.float64) ** 2
            values = 2.0 * counts.balance / (square * (classes - 1.0) / classes)
            values = np.where(classes > 1.0, values, np.nan)
    return np.asarray(np.clip(values, -1.0, 1.0))


def column_counts(x: Array, y: Array, threshold: float = 0.0) -> KendallCounts:
    """Counts of all pairs of rows within each column of tables [batch, rows, columns].

    An observation that is NaN in both tables is in no pair. `y` may be a batch of one.
    """
    counts = np.zeros((len(x), 4, x.shape[2]), np.int64)
    _kernel.pair_counts(
        np.ascontiguousarray(x), np.ascontiguousarray(y), pair_limit(threshold), counts
    )
    return KendallCounts(*np.moveaxis(counts, 1, 0))


def sign_sums(x: Array) -> Array:
    """Rows below minus rows above each row, in each column of tables [batch, rows, columns].

    These are twice the average ranks about their mean; a missing observation (NaN) has 0.
    """
    sums = np.zeros(x.shape)
    _kernel.sign_sums(np.ascontiguousarray(x), sums)
    return sums


def row_counts(x: Array, y: Array, threshold: float = 0.0) -> KendallCounts:
    """Counts of all pairs within each row of `x` and of `y`, which has as many rows or one."""
    rows, size = x.shape
    if size <= SHORT:
        other = np.broadcast_to(y, x.shape)
        counts = column_counts(x.T[np.newaxis], other.T[np.newaxis], threshold)
        return KendallCounts(*(one[0] for one in counts))
    ones = np.ones((1, size), np.int64)
    step = max(1, _CHUNK // size)
    parts = [
        weighted_counts(x[i : i + step], y if len(y) == 1 else y[i : i + step], ones, threshold)
        for i in range(0, rows, step)
    ]
    return KendallCounts(*(np.concatenate(kind) for kind in zip(*parts, strict=True)))


def weighted_counts(x: Array, y: Array, weights: Ints, threshold: float = 0.0) -> KendallCounts:
    """Counts within rows where an observation is there as often as its weight says.

    Each of the three has as many rows as the longest, or one. Time grows as n log n.
    """
    rows, size = max(len(x), len(y), len(weights)), x.shape[1]
    order = np.argsort(y, axis=1, kind="stable")
    # Where one of two has a single row, it is taken for every row of the other.
    ranks = dense_ranks(np.take_along_axis(x, order, axis=1))
    sorted_weights = np.take_along_axis(weights, order, axis=1)
    counts = np.zeros((rows, 4), np.int64)
    _kernel.ordered_counts(
        ranks,
        np.take_along_axis(y, order, axis=1),
        np.ascontiguousarray(sorted_weights),
        pair_limit(threshold),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.int64),
        counts,
    )
    return KendallCounts(*counts.T)


def tie_gains(x: Array, y: Array, edges: Array) -> tuple[Ints, Ints]:
    """Pairs tied in y, and concordant pairs, by the bin of their difference in x, which is sorted.

    Bin k holds differences above edge k - 1 up to edge k; the last edge is the largest difference
    or more. The first bin is for pairs tied in x, none of which is concordant.
    """
    tied, concordant = np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    _kernel.tie_gains(x, y, edges, tied, concordant)
    return tied, concordant


def moving_pairs(x: Array, y: Array, shares: Array, noise: float) -> tuple[Array, Array, float]:
    """Pairs of rows within a column that are tied in y but not in x, or concordant.

    Returns the differences of their x, what each adds to the right ones if x were tied (its
    column's share, negative where it is concordant), and the shares of those that are right as they
    are: concordant, or tied on both sides. Differences of x up to `noise` are ties; a missing
    observation (NaN) is in no pair.

    Examples
    --------
    >>> x, y = np.array([[1.0], [2.0], [4.0]]), np.array([[1.0], [1.0], [3.0]])
    >>> distances, gains, right = moving_pairs(x, y, np.array([1.0]), 0.0)
    >>> distances.tolist(), gains.tolist(), right
    ([1.0, 3.0, 2.0], [1.0, -1.0, -1.0], 2.0)
    """
    rows, columns = x.shape
    places = rows * (rows - 1) // 2 * columns + 1
    distances, gains, found = np.empty(places), np.empty(places), np.zeros(2)
    tables = (np.ascontiguousarray(one) for one in (x, y, shares))
    _kernel.moving_pairs(*tables, noise, distances, gains, found)
    count = int(found[0])
    return distances[:count], gains[:count], float(found[1])


def dense_ranks(x: Array) -> Ints:
    """Ranks from 1 within rows; equal values share one and leave no gap."""
    order = np.argsort(x, axis=1)
    values = np.take_along_axis(x, order, axis=1)
    steps = np.ones(x.shape, np.int64)
    steps[:, 1:] = values[:, 1:] != values[:, :-1]
    ranks = np.empty(x.shape, np.int64)
    np.put_along_axis(ranks, order, np.cumsum(steps, axis=1), axis=1)
    return ranks


def kendall_like(metric: ArrayLike, human: ArrayLike, threshold: float = 25.0) -> KendallLike:
    """WMT's Kendall-like tau: pairs that people hold clearly apart, metric ties discordant.

    Parameters
    ----------
    metric, human
        Scores of as many outputs: every two are a pair. Or tables systems x items: every two
        systems are a pair within each item, and the pairs of all items are counted together, as
        WMT's daRR does. A pair with a missing score (NaN) does not count.
    threshold
        The least human difference that makes a pair count: 25 on the raw 0-100 scale in WMT.
        A pair that people tie never counts.

    References
    ----------
    Ma et al. 2019, Results of the WMT19 Metrics Shared Task; Graham et al. 2015.

    Examples
    --------
    >>> kendall_like([2, 1, 4, 3], [10, 11, 100, 150])
    KendallLike(tau=0.6, pairs=5, concordant=4, discordant=1)
    """
    x = np.asarray(metric, dtype=np.float64)
    y = np.asarray(human, dtype=np.float64)
    if x.shape != y.shape or x.ndim not in (1, 2):
        raise InputError(
            "metric and human scores must be two lists, or two tables of systems x items, of the "
            f"same size; got {x.shape} and {y.shape}"
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise InputError("metric and human scores must be finite")
    if not threshold >= 0.0:
        raise InputError(f"threshold must be 0 or more, got {threshold:g}")
    missing = np.isnan(x) | np.isnan(y)
    if x.ndim == 1:
        counts = row_counts(x[~missing][np.newaxis], y[~missing][np.newaxis], threshold)
    else:
        x, y = np.where(missing, np.nan, x), np.where(missing, np.nan, y)
        counts = column_counts(x[np.newaxis], y[np.newaxis], threshold)
    pairs = int(counts.apart_y.sum())
    concordant = int((counts.decided + counts.balance).sum()) // 2
    return _kendall_like(concordant, pairs)


def kendall_like_pairs(better: ArrayLike, worse: ArrayLike) -> KendallLike:
    """WMT's Kendall-like tau of ready pairs: metric scores of the better and the worse output.

    Examples
    --------
    >>> kendall_like_pairs([0.8, 0.5, 0.3], [0.2, 0.5, 0.1])
    KendallLike(tau=0.3333333333333333, pairs=3, concordant=2, discordant=1)
    """
    won = np.asarray(better, dtype=np.float64)
    lost = np.asarray(worse, dtype=np.float64)
    if won.shape != lost.shape or won.ndim != 1:
        raise InputError(
            f"give one score for each better and each worse output; got {won.shape} and "
            f"{lost.shape}"
        )
    if not (np.isfinite(won).all() and np.isfinite(lost).all()):
        raise InputError("scores of pairs must be finite")
    return _kendall_like(int((won > lost).sum()), len(won))


def _kendall_like(concordant: int, pairs: int) -> KendallLike:
    discordant = pairs - concordant
    value = (concordant - discordant) / pairs if pairs else float("nan")
    return KendallLike(value, pairs, concordant, discordant)


def pair_limit(threshold: float) -> float:
    """What a difference must exceed to reach the threshold; one of 0 never does."""
    return float(np.nextafter(threshold, 0.0)) if threshold > 0.0 else 0.0
