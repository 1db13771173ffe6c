"""A metric on all outputs in; strata of outputs that it takes for about equally good, out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array, Bools, Ints

#: Strata, and outputs that each should have.
_MOST, _FEWEST = 4, 10
#: Ratings that a stratum needs for its spread to be known.
FEWEST_RATED = 2


def metric_strata(metric: Array) -> Ints:
    """The stratum of each output: up to four of equal size, by the metric; ties by their place.

    Whoever has the metric on all outputs has the strata, before and after any rating.

    Examples
    --------
    >>> metric_strata(np.linspace(0, 1, 24)).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    size = len(metric)
    number = int(np.clip(size // _FEWEST, 1, _MOST))
    strata = np.empty(size, dtype=np.int64)
    strata[np.argsort(metric, kind="stable")] = np.arange(size) * number // max(size, 1)
    return strata


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
