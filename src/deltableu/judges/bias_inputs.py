"""Ratings and studies in; values, lengths and intervals as checks of a judge need them, out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_known
from deltableu.stats import ConfidenceInterval

#: An item, and what of it was rated.
Key = tuple[str, str]


def of_criterion(ratings: RatingTable, criterion: str | None) -> RatingTable:
    """Ratings by one criterion, which must be named where there are several."""
    there = [ratings.criteria[place] for place in np.unique(ratings.criterion).tolist()]
    if not there:
        raise InputError("there are no ratings, but perhaps of controls")
    if criterion is None:
        if len(there) > 1:
            raise InputError(f"ratings are by several criteria: choose one of {', '.join(there)}")
        return ratings
    check_known("criterion", criterion, there)
    return ratings[ratings.criterion == ratings.criteria.index(criterion)]


def means_by_target(ratings: RatingTable) -> dict[Key, float]:
    """The mean of each text's ratings, as the raters gave them."""
    values: dict[Key, list[float]] = defaultdict(list)
    for one in ratings:
        values[one.item, one.target].append(one.value)
    return {key: sum(some) / len(some) for key, some in values.items()}


def standardised(values: Sequence[float]) -> Array:
    """Values with mean 0 and standard deviation 1."""
    array = np.array(values)
    spread = float(array.std())
    if spread == 0.0:
        raise InputError("all ratings are equal")
    return np.asarray((array - array.mean()) / spread)


def mean_interval(
    values: Sequence[float], confidence: float
) -> tuple[int, float, ConfidenceInterval]:
    """Student's interval of a mean."""
    from scipy.special import stdtrit

    array = np.array(values)
    mean, error = float(array.mean()), float(array.std(ddof=1)) / math.sqrt(len(array))
    reach = float(stdtrit(len(array) - 1, (1.0 + confidence) / 2.0)) * error
    return len(array), mean, ConfidenceInterval(mean - reach, mean + reach, confidence, "t")
