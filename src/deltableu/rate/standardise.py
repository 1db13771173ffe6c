"""Ratings in, each rater's use of the scale taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import RatingTable
from deltableu.rate.rater_rows import of_one_criterion


@dataclass(frozen=True, slots=True)
class DroppedRater:
    """Somebody whose values cannot be standardised, and why."""

    rater: str
    judgements: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class RaterScales:
    """How each rater uses the scale.

    Attributes
    ----------
    raters : tuple of str
    means, deviations : arrays
        Mean and sample standard deviation (n - 1) of all that a rater said, controls included;
        the deviation is NaN for a single judgement.
    judgements : array of int
    """

    raters: tuple[str, ...]
    means: Array
    deviations: Array
    judgements: Ints


def rater_scales(ratings: RatingTable) -> RaterScales:
    """Mean and sample standard deviation of each rater, over all that they rated.

    Examples
    --------
    >>> made = RatingTable.of(raters=["a"] * 3, items=["1", "2", "3"], systems=["A"] * 3,
    ...                      values=[10, 20, 60])
    >>> scales = rater_scales(made)
    >>> scales.means.tolist(), scales.deviations.round(3).tolist()
    ([30.0], [26.458])
    """
    ratings = of_one_criterion(ratings)
    size = len(ratings.raters)
    counts = np.bincount(ratings.rater, minlength=size)
    sums = np.bincount(ratings.rater, weights=ratings.values, minlength=size)
    means = sums / np.maximum(counts, 1)
    squares = (ratings.values - means[ratings.rater]) ** 2
    spread = np.bincount(ratings.rater, weights=squares, minlength=size)
    deviations = np.full(size, np.nan)
    np.divide(spread, counts - 1, out=deviations, where=counts > 1)
    deviations = np.sqrt(deviations)
    # The mean of equal values may be off by a rounding error, which is no deviation.
    deviations[_constant(ratings) & (counts > 1)] = 0.0
    return RaterScales(ratings.raters, np.where(counts > 0, means, np.nan), deviations, counts)


def standardise(ratings: RatingTable) -> tuple[RatingTable, tuple[DroppedRater, ...]]:
    """Ratings as deviations from their rater's mean, in that rater's standard deviations.

    Mean and deviation are over all ratings of a rater by the criterion, bad references and all.
    Raters who gave one value only are dropped: there is nothing to divide by.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel 2017, "Can machine translation systems be evaluated by the
    crowd alone", Natural Language Engineering 23(1).
    """
    ratings = of_one_criterion(ratings)
    scales = rater_scales(ratings)
    dropped = tuple(
        DroppedRater(
            name, int(count), "gave a single rating" if count == 1 else "gave the same value always"
        )
        for name, count, deviation in zip(
            scales.raters, scales.judgements, scales.deviations, strict=True
        )
        if count > 0 and not deviation > 0.0
    )
    usable = scales.deviations[ratings.rater] > 0.0
    kept = ratings[usable]
    values = (kept.values - scales.means[kept.rater]) / scales.deviations[kept.rater]
    return kept.with_values(values), dropped


def _constant(ratings: RatingTable) -> Bools:
    """Which raters gave one value only."""
    size = len(ratings.raters)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, ratings.rater, ratings.values)
    np.maximum.at(highest, ratings.rater, ratings.values)
    return lowest >= highest
