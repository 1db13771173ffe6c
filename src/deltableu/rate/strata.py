"""A metric on all outputs in; strata of outputs that it takes for about equally good, out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array, Bools, Ints

#: Strata, and outputs that each should have.
_MOST, _FEWEST = 4, 10
#: Ratings that a stratum needs for its spread to be known.
FEWEST_RATED = 2


def metric_strata(metric: Array) -> Ints:
    """The stratum of each output: up to four of about equal size, by the metric.

    Equal scores are in one stratum, so that strata depend on nothing but the metric on all outputs:
    neither on the order of items, which may tell something, nor on who was rated.

    Examples
    --------
    >>> metric_strata(np.linspace(0, 1, 24)).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> metric_strata(np.array([0.0] * 15 + [1.0, 2.0] * 10)).tolist()[12:19]
    [0, 0, 0, 1, 2, 1, 2]
    """
    size = len(metric)
    number = int(np.clip(size // _FEWEST, 1, _MOST))
    _, places, counts = np.unique(metric, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - counts / 2.0
    strata = (middles[places] * number / max(size, 1)).astype(np.int64)
    while True:
        there, strata, sizes = np.unique(strata, return_inverse=True, return_counts=True)
        small = np.flatnonzero(sizes < min(_FEWEST, size))
        if not len(small) or len(there) == 1:
            return strata
        strata[strata == small[0]] = _smaller_neighbour(int(small[0]), sizes)


def _smaller_neighbour(place: int, sizes: Ints) -> int:
    if place in (0, len(sizes) - 1):
        return 1 if place == 0 else place - 1
    return place - 1 if sizes[place - 1] <= sizes[place + 1] else place + 1


def joined_strata(strata: Ints, rated: Bools) -> Ints:
    """The same, strata with too few ratings joined to a neighbour."""
    joined = strata.copy()
    while True:
        numbers, counts = np.unique(joined, return_counts=True)
        known = np.array([np.count_nonzero(rated & (joined == one)) for one in numbers])
        poor = np.flatnonzero((known < FEWEST_RATED) & (known < counts))
        if not len(poor) or len(numbers) == 1:
            return np.unique(joined, return_inverse=True)[1]
        place = int(poor[0])
        neighbour = place - 1 if place else 1
        joined[joined == numbers[place]] = numbers[neighbour]


def rated_shares(metric: Array, rated: Bools) -> Array:
    """Which share of each stratum's outputs is rated, strata with too few ratings joined.

    Examples
    --------
    >>> rated_shares(np.arange(20.0), np.arange(20) % 5 == 0).tolist()
    [0.2, 0.2]
    """
    strata = joined_strata(metric_strata(metric), rated)
    shares: Array = np.bincount(strata[rated]) / np.bincount(strata)
    return shares
