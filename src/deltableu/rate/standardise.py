"""Judgements in, each rater's use of the scale taken out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.rate.judgements import Judgements

__all__ = ["DroppedRater", "RaterScales", "rater_scales", "standardise"]


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


def rater_scales(judgements: Judgements) -> RaterScales:
    """Mean and sample standard deviation of each rater, over all that they judged.

    Examples
    --------
    >>> made = Judgements.of(raters=["a"] * 3, items=["1", "2", "3"], systems=["A"] * 3,
    ...                      values=[10, 20, 60])
    >>> scales = rater_scales(made)
    >>> scales.means.tolist(), scales.deviations.round(3).tolist()
    ([30.0], [26.458])
    """
    size = len(judgements.raters)
    counts = np.bincount(judgements.rater, minlength=size)
    sums = np.bincount(judgements.rater, weights=judgements.values, minlength=size)
    means = sums / np.maximum(counts, 1)
    squares = (judgements.values - means[judgements.rater]) ** 2
    spread = np.bincount(judgements.rater, weights=squares, minlength=size)
    deviations = np.full(size, np.nan)
    np.divide(spread, counts - 1, out=deviations, where=counts > 1)
    deviations = np.sqrt(deviations)
    # The mean of equal values may be off by a rounding error, which is no deviation.
    deviations[_constant(judgements) & (counts > 1)] = 0.0
    return RaterScales(judgements.raters, np.where(counts > 0, means, np.nan), deviations, counts)


def standardise(judgements: Judgements) -> tuple[Judgements, tuple[DroppedRater, ...]]:
    """Judgements as deviations from their rater's mean, in that rater's standard deviations.

    Mean and deviation are over all judgements of a rater, bad references and all. Raters who gave
    one value only are dropped: there is nothing to divide by.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel 2017, "Can machine translation systems be evaluated by the
    crowd alone", Natural Language Engineering 23(1).
    """
    scales = rater_scales(judgements)
    dropped = tuple(
        DroppedRater(
            name, int(count), "gave a single rating" if count == 1 else "gave the same value always"
        )
        for name, count, deviation in zip(
            scales.raters, scales.judgements, scales.deviations, strict=True
        )
        if count > 0 and not deviation > 0.0
    )
    usable = scales.deviations[judgements.rater] > 0.0
    kept = judgements[usable]
    values = (kept.values - scales.means[kept.rater]) / scales.deviations[kept.rater]
    return replace(kept, values=values), dropped


def _constant(judgements: Judgements) -> Bools:
    """Which raters gave one value only."""
    size = len(judgements.raters)
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lowest, judgements.rater, judgements.values)
    np.maximum.at(highest, judgements.rater, judgements.values)
    return lowest >= highest
