"""Ratings in; how well people agree with people, and how well a perfect metric would, out.

A perfect metric gives each output its true mean rating: what ever more raters of that kind would
say on average. The averaged ratings of a study are noisy, so that even this metric correlates with
them by the square root of their reliability only. That is the ceiling, and it is higher than
people's agreement with people, who are noisy on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.rate.rater_rows import Ratings, rater_rows
from deltableu.stats import Method, check_method, correlate, percentile_interval, stream

AgreementFunction = Callable[[Array, Array], float]
#: Means and numbers of ratings of two sides.
Sides = Iterator[tuple[Array, Array, Ints, Ints]]
SplitBy = Literal["rater", "unit"]

#: Means are known no better, relative to the largest.
_DIGITS = 12
_HALVES, _ONE = 0, 1  # keys of random streams
_CORRELATIONS = np.linspace(-1.0, 1.0, 2001)


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Many values of an agreement, and where they lie.

    Attributes
    ----------
    values : array
        One a split (or a rater); NaN where the agreement was undefined.
    mean, deviation : float
        Mean and standard deviation of those that are defined.
    low, high : float
        The central 95% of them. Splits share the ratings: this is no confidence interval.
    undefined : int
    """

    values: Array
    mean: float
    deviation: float
    low: float
    high: float
    undefined: int


@dataclass(frozen=True, slots=True, eq=False)
class SplitHalf:
    """Agreement of two halves of the raters, and the reliability of all of them together.

    `units` counts those that two raters or more rated. The reliability is that of the mean of as
    many ratings as units have, with units that have one rating counted in.
    """

    correlation: Spread
    reliability: Spread
    units: int
    method: Method
    by: SplitBy


@dataclass(frozen=True, slots=True, eq=False)
class HumanCeiling:
    """Agreement of people with people, by the function that a metric is judged by.

    Attributes
    ----------
    one : Spread
        One rater and the mean of the others.
    halves : Spread
        Means of two halves of the raters.
    perfect : float
        The ceiling, estimated from the halves: what a metric that gives each unit its true mean
        rating reaches with the averaged ratings. NaN where halves do not agree at all.
    units : int
        That two raters or more rated, which all of this rests on.
    by : "rater" or "unit"
    """

    one: Spread
    halves: Spread
    perfect: float
    units: int
    by: SplitBy


def split_half_reliability(
    ratings: Ratings,
    *,
    method: Method = "pearson",
    by: SplitBy = "rater",
    shuffles: int = 1000,
    seed: int = 0,
) -> SplitHalf:
    """Correlate the means of two random halves of the raters, again and again.

    The reliability of all raters together is larger than what halves of them show: Spearman and
    Brown's formula, 2r / (1 + r), or what corresponds to it where halves are not equally large.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs), or raters x units with NaN where a rater did not rate.
    method
        Such as "pearson", "spearman" or "kendall-b".
    by
        "rater": each rater goes to one half with everything they rated; units that only one half
        rated are left out of that split. "unit": each unit's own ratings are halved, as it must
        be where every unit has other raters; raters keep to one side as far as that lets them.
    shuffles, seed
        Number of random splits, and the seed that repeats them.

    References
    ----------
    Spearman 1910, "Correlation calculated from faulty data"; Brown 1910, "Some experimental results
    in the correlation of mental abilities".

    Examples
    --------
    >>> found = split_half_reliability([[1, 2, 3, 5], [2, 2, 4, 5], [1, 3, 3, 4], [2, 1, 4, 4]])
    >>> round(found.correlation.mean, 3), round(found.reliability.mean, 3)
    (0.9, 0.945)
    """
    check_method(method)
    rows, _, inverse = _checked(ratings, by, shuffles)

    def agreement(x: Array, y: Array) -> float:
        return float(correlate(x, y, method))

    found, sizes = _agreements(_halves(rows, by, shuffles, seed), agreement)
    reliability = _reliability(found, *(sizes / inverse))
    return SplitHalf(_summary(found, by), _summary(reliability, by), rows.shape[1], method, by)


def human_ceiling(
    ratings: Ratings,
    agreement: AgreementFunction,
    *,
    method: Method = "pearson",
    compared: int | None = None,
    averaged: bool = False,
    by: SplitBy = "rater",
    shuffles: int = 100,
    seed: int = 0,
) -> HumanCeiling:
    """How well one rater, half of the raters, and a perfect metric agree with other ratings.

    A perfect metric follows from the halves. By Pearson's correlation it is the square root of the
    reliability that Spearman and Brown's formula gives. Rank correlations, and any over a few
    units, are turned into Pearson's over many and back as if scores were normal: ties and skew
    make that an approximation. Units with one rating count as if they differed as the others do.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs), or raters x units with NaN where a rater did not rate.
    agreement
        What a metric is judged by: takes the numbers of two sides, one a unit, and returns how well
        they agree, NaN where it cannot say.
    method, compared, averaged
        How the ceiling follows from the halves. What kind of correlation the agreement is; over how
        many (None: all units), such as the systems within an item; and whether these are units, or
        means of many units, such as systems.
    by
        "rater": each rater in turn against the others, and halves of the raters. "unit": one random
        rating of each unit against its others, and halves of each unit's ratings, as it must be
        where every unit has other raters.
    shuffles, seed
        Number of random splits, and the seed that repeats them.

    References
    ----------
    Spearman 1904, "The Proof and Measurement of Association between Two Things"; Moran 1948, "Rank
    Correlation and Product-Moment Correlation", Biometrika 35 (for normal scores).

    Examples
    --------
    >>> table = [[1, 2, 3, 5], [2, 2, 4, 5], [1, 3, 3, 4], [2, 1, 4, 4]]
    >>> found = human_ceiling(table, lambda x, y: float(correlate(x, y, "pearson")))
    >>> found.one.values.round(3).tolist(), round(found.halves.mean, 3), round(found.perfect, 3)
    ([0.948, 0.978, 0.751, 0.767], 0.902, 0.974)
    """
    check_method(method)
    rows, rated, inverse = _checked(ratings, by, shuffles)
    ones = _one_rater(rows) if by == "rater" else _one_rating(rows, shuffles, seed)
    one, _ = _agreements(ones, agreement)
    halves, sizes = _agreements(_halves(rows, by, shuffles, seed), agreement)
    known = _summary(halves, by)
    # Averaged before they are turned, as single splits may disagree by chance.
    n, share = compared or rated, rows.shape[1] / rated
    seen = _expected(_CORRELATIONS, method, n if averaged else n * share)
    true = np.interp(known.mean, seen, _CORRELATIONS)
    sizes = np.nanmean(sizes, axis=1) / inverse
    reliability = float(_reliability(true, *(sizes / share if averaged else sizes)))
    perfect = math.nan
    if reliability > 0.0:
        expected = _expected(_CORRELATIONS, method, n)
        perfect = float(np.interp(math.sqrt(reliability), _CORRELATIONS, expected))
    return HumanCeiling(_summary(one, by), known, perfect, rows.shape[1], by)


def _expected(rho: Array, method: Method, n: float) -> Array:
    """The mean correlation of samples of n normal pairs whose true correlation is rho."""
    if method == "pearson":
        return np.asarray(rho * (1.0 - (1.0 - rho**2) / (2.0 * n)))
    tau = 2.0 / math.pi * np.arcsin(rho)
    if method != "spearman":
        return np.asarray(tau)
    whole = 6.0 / math.pi * np.arcsin(rho / 2.0)
    return np.asarray((3.0 * tau + (n - 2) * whole) / (n + 1))


def _reliability(halves: Any, first: Any, second: Any) -> Any:
    """The reliability of all ratings, from the correlation of two halves of them.

    `first` and `second` are the halves' error variances over that of all ratings: 2 where halves
    are equally large, when this is Spearman and Brown's 2r / (1 + r).
    """
    squared = np.square(halves)
    mean = squared * (first + second) / 2.0
    root = np.sqrt(mean**2 + (1.0 - squared) * squared * first * second)
    true = mean + np.copysign(root, halves)
    with np.errstate(invalid="ignore", divide="ignore"):
        return true / (1.0 - squared + true)


def _checked(ratings: Ratings, by: SplitBy, shuffles: int) -> tuple[Array, int, float]:
    """Raters x units that two rated; how many were rated at all, and their mean of 1 / ratings."""
    check_choice("by", by, get_args(SplitBy))
    check_at_least("shuffles", shuffles, 1)
    _, rows = rater_rows(ratings)
    counts = (~np.isnan(rows)).sum(axis=0)
    rows = rows[:, counts >= 2]
    if rows.shape[1] < 2:
        raise InputError("fewer than 2 units were rated by two raters: nobody can be compared")
    counts = counts[counts > 0]
    return rows, len(counts), float((1.0 / counts).mean())


def _halves(rows: Array, by: SplitBy, shuffles: int, seed: int) -> Sides:
    """Two random halves of the raters, or of each unit's ratings."""
    packed, raters = _packed(rows)
    sizes = (~np.isnan(packed)).sum(axis=1)
    first = np.arange(packed.shape[1]) < (sizes // 2)[:, None]
    for number in range(shuffles):
        rng = stream(seed, _HALVES, number)
        if by == "unit":
            order = _shuffled(packed, raters, rng)
            sides = np.where(first, order, np.nan).T, np.where(first, np.nan, order).T
        else:
            chosen = np.array_split(rng.permutation(len(rows))[::-1], 2)
            sides = rows[chosen[1]], rows[chosen[0]]
        yield from _means(sides)


def _one_rater(rows: Array) -> Sides:
    for number, row in enumerate(rows):
        yield from _means((row[np.newaxis], np.delete(rows, number, axis=0)))


def _one_rating(rows: Array, shuffles: int, seed: int) -> Sides:
    packed, raters = _packed(rows)
    for number in range(shuffles):
        order = _shuffled(packed, raters, stream(seed, _ONE, number))
        yield from _means((order[:, :1].T, order[:, 1:].T))


def _packed(rows: Array) -> tuple[Array, Any]:
    """Units x ratings, those that are there first, and whose they are."""
    missing = np.isnan(rows.T)
    order = np.argsort(missing, axis=1, kind="stable")[:, : (~missing).sum(axis=1).max()]
    return np.take_along_axis(rows.T, order, axis=1), order


def _shuffled(packed: Array, raters: Any, rng: np.random.Generator) -> Array:
    """Each unit's ratings in a random order of the raters, still before what is missing.

    One order for all units: where all raters rated all units they are halved as a whole, so that
    what a rater thinks of everything (or of one system) is not taken for agreement.
    """
    keys = np.where(np.isnan(packed), np.inf, rng.permutation(int(raters.max()) + 1)[raters])
    return np.take_along_axis(packed, np.argsort(keys, axis=1), axis=1)


def _means(sides: tuple[Array, Array]) -> Sides:
    """Means over raters of what they rated, NaN where nobody did, and how many did."""
    counts = [(~np.isnan(side)).sum(axis=0) for side in sides]
    with np.errstate(invalid="ignore"):
        x, y = (np.nansum(side, axis=0) / n for side, n in zip(sides, counts, strict=True))
    yield x, y, counts[0], counts[1]


def _agreements(sides: Sides, agreement: AgreementFunction) -> tuple[Array, Array]:
    """The agreement of each two sides, and for either the mean of 1 / ratings over units."""
    values, sizes = [], []
    for x, y, *counts in sides:
        both = ~np.isnan(x) & ~np.isnan(y)
        enough = both.sum() >= 2
        # Means of the same ratings in another order must stay ties.
        value = agreement(_rounded(x[both]), _rounded(y[both])) if enough else np.nan
        values.append(float(value))
        sizes.append([(1.0 / side[both]).mean() if enough else np.nan for side in counts])
    return np.array(values), np.array(sizes).T


def _summary(values: Array, by: SplitBy) -> Spread:
    defined = values[~np.isnan(values)]
    if len(defined) == 0:
        hint = "; where each unit has raters of its own, split by unit" if by == "rater" else ""
        raise InputError(f"the agreement is undefined for every split of the ratings{hint}")
    deviation = float(defined.std(ddof=1)) if len(defined) > 1 else float("nan")
    low, high = percentile_interval(defined, 0.95)
    undefined = len(values) - len(defined)
    return Spread(values, float(defined.mean()), deviation, low, high, undefined)


def _rounded(means: Array) -> Array:
    """To 12 digits of the largest: whole numbers stay whole."""
    top = float(np.abs(means).max(initial=0.0))
    digits = _DIGITS - 1 - math.floor(math.log10(top)) if top > 0.0 else 0
    return np.round(means, min(digits, 300))
