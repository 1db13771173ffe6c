"""What one rater said, in order, in; how likely an honest rater is to have said it, out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deltableu._types import Array, Ints

#: Pairings of repeats that are drawn.
_PAIRINGS = 1999
#: Differences of sums that are rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ValueRun:
    """The longest run of one value, and how likely one as long is by chance.

    Attributes
    ----------
    length : int
    value : float
    chance : float
        At most: the expected number of runs as long, of any value, if the same values came in a
        random order.
    """

    length: int
    value: float
    chance: float


def longest_run(values: Array) -> ValueRun:
    """The longest run of equal values, and the chance of one as long in a random order.

    Of n values, c of which are equal, a random order has on average (n - c + 1) C(n - L, c - L) /
    C(n, c) runs of at least L of them: it begins, or one of the n - c others stands before it. The
    probability that there is any such run is no larger.

    Examples
    --------
    >>> found = longest_run(np.array([3.0, 3, 3, 1, 2, 3]))
    >>> found.length, found.value, round(found.chance, 3)
    (3, 3.0, 0.6)
    """
    if len(values) == 0:
        return ValueRun(0, math.nan, 1.0)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1))
    lengths = np.diff(np.concatenate((starts, [len(values)])))
    best = int(np.argmax(lengths))
    longest, size = int(lengths[best]), len(values)
    expected = 0.0
    for count in np.unique(values, return_counts=True)[1].tolist():
        if count >= longest:
            expected += (size - count + 1) * math.exp(
                math.lgamma(count + 1)
                - math.lgamma(count - longest + 1)
                - math.lgamma(size + 1)
                + math.lgamma(size - longest + 1)
            )
    return ValueRun(longest, float(values[starts[best]]), min(1.0, expected))


def constant_chance(ratings: int, others: Array) -> float:
    """How likely so many draws from what others said are all equal; 0 where there are no others.

    Examples
    --------
    >>> constant_chance(3, np.array([1.0, 2.0]))
    0.25
    """
    if len(others) == 0:
        return 0.0
    _, counts = np.unique(others, return_counts=True)
    return float(((counts / len(others)) ** ratings).sum())


@dataclass(frozen=True, slots=True)
class Repeats:
    """How alike a rater rated the same texts twice.

    Attributes
    ----------
    pairs : int
    ratio : float
        Mean absolute difference of repeats, as a share of that of two different texts: 0 is the
        same each time, 1 is chance; NaN where all values are equal.
    p_value : float
        Of differences as small, if the second ratings had nothing to do with the first; NaN where
        even the best match could not be told from chance.
    """

    pairs: int
    ratio: float
    p_value: float


def repeat_consistency(first: Array, second: Array, *, attainable: float = 0.05) -> Repeats:
    """Compare differences of repeats with those of ratings that are paired at random.

    Parameters
    ----------
    first, second
        Ratings of the same texts.
    attainable
        The p-value that the best match must be able to reach.

    Examples
    --------
    >>> found = repeat_consistency(np.arange(8.0), np.arange(8.0) + 1)
    >>> round(found.ratio, 2), found.p_value < 0.01
    (0.33, True)
    """
    size = len(first)
    if size < 2:
        return Repeats(size, math.nan, math.nan)
    apart = np.abs(first[:, None] - second)
    same = float(np.trace(apart))
    crossed = (float(apart.sum()) - same) / (size * (size - 1))
    if crossed <= _ROUNDING * max(1.0, float(np.abs(first).max())):
        return Repeats(size, math.nan, math.nan)
    sums = apart[np.arange(size), _pairings(size)].sum(axis=1)
    slack = _ROUNDING * max(1.0, same)
    best = float(np.abs(np.sort(first) - np.sort(second)).sum())
    reach = (1 + int((sums <= best + slack).sum())) / (_PAIRINGS + 1)
    p_value = (1 + int((sums <= same + slack).sum())) / (_PAIRINGS + 1)
    ratio = same / size / crossed
    return Repeats(size, ratio, p_value if reach <= attainable else math.nan)


@lru_cache(maxsize=64)
def _pairings(size: int) -> Ints:
    """Random orders; always the same, so that the same ratings have the same p-value."""
    return np.argsort(np.random.default_rng(0).random((_PAIRINGS, size)), axis=1)
