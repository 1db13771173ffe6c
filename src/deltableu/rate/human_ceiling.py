"""Ratings in, how well people agree with people out: the most that a metric can be asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.rate.rater_rows import Ratings, rater_rows
from deltableu.stats import Method, check_method, correlate, percentile_interval, stream

AgreementFunction = Callable[[Array, Array], float]
SplitBy = Literal["rater", "unit"]

#: Means are known no better, relative to the largest.
_DIGITS = 12
_HALVES, _ONE = 0, 1  # keys of random streams


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Many values of an agreement, and where they lie.

    Attributes
    ----------
    values : array
        One a split (or a rater); NaN where the agreement was undefined.
    mean, deviation : float
        Of those that are defined.
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

    `units` counts those that two raters or more rated.
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
    units : int
        That two raters or more rated.
    by : "rater" or "unit"
    """

    one: Spread
    halves: Spread
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
    Brown's formula, 2r / (1 + r).

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs), or raters x units with NaN where a rater did not rate.
    method
        Such as "pearson", "spearman" or "kendall-b".
    by
        "rater": each rater goes to one half with everything they rated; units that only one half
        rated are left out of that split. "unit": each unit's own ratings are halved, as it must
        be where every unit has other raters.
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
    rows = _checked(ratings, by, shuffles)

    def agreement(x: Array, y: Array) -> float:
        return float(correlate(x, y, method))

    found = _spread(_halves(rows, by, shuffles, seed), agreement, by)
    values = found.values
    reliability = np.full(len(values), np.nan)
    np.divide(2.0 * values, 1.0 + values, out=reliability, where=values > -1.0)
    return SplitHalf(found, _summary(reliability, by), rows.shape[1], method, by)


def human_ceiling(
    ratings: Ratings,
    agreement: AgreementFunction,
    *,
    by: SplitBy = "rater",
    shuffles: int = 100,
    seed: int = 0,
) -> HumanCeiling:
    """How well one rater agrees with the others, and one half of the raters with the other.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs), or raters x units with NaN where a rater did not rate.
    agreement
        What a metric is judged by: takes the numbers of two sides, one a unit, and returns how well
        they agree, NaN where it cannot say.
    by
        "rater": each rater in turn against the others, and halves of the raters. "unit": one random
        rating of each unit against its others, and halves of each unit's ratings, as it must be
        where every unit has other raters.
    shuffles, seed
        Number of random splits, and the seed that repeats them.

    Examples
    --------
    >>> table = [[1, 2, 3, 5], [2, 2, 4, 5], [1, 3, 3, 4], [2, 1, 4, 4]]
    >>> found = human_ceiling(table, lambda x, y: float(correlate(x, y, "kendall-b")))
    >>> found.one.values.round(3).tolist(), round(found.halves.mean, 3)
    ([1.0, 0.913, 0.8, 0.548], 0.863)
    """
    rows = _checked(ratings, by, shuffles)
    ones = _one_rater(rows) if by == "rater" else _one_rating(rows, shuffles, seed)
    return HumanCeiling(
        _spread(ones, agreement, by),
        _spread(_halves(rows, by, shuffles, seed), agreement, by),
        rows.shape[1],
        by,
    )


def _checked(ratings: Ratings, by: SplitBy, shuffles: int) -> Array:
    """Raters x units, of units that two raters or more rated."""
    check_choice("by", by, get_args(SplitBy))
    check_at_least("shuffles", shuffles, 1)
    _, rows = rater_rows(ratings)
    rows = rows[:, (~np.isnan(rows)).sum(axis=0) >= 2]
    if rows.shape[1] < 2:
        raise InputError("fewer than 2 units were rated by two raters: nobody can be compared")
    return rows


def _halves(rows: Array, by: SplitBy, shuffles: int, seed: int) -> Iterator[tuple[Array, Array]]:
    """Means of the units over two random halves of the raters, or of each unit's ratings."""
    if by == "unit":
        packed, sizes = _packed(rows)
        for number in range(shuffles):
            order = _shuffled(packed, stream(seed, _HALVES, number))
            first = np.arange(packed.shape[1]) < (sizes // 2)[:, None]
            yield _mean(order.T, first.T), _mean(order.T, ~first.T)
        return
    size = len(rows)
    for number in range(shuffles):
        chosen = stream(seed, _HALVES, number).permutation(size)
        yield _mean(rows[chosen[: size // 2]]), _mean(rows[chosen[size // 2 :]])


def _one_rater(rows: Array) -> Iterator[tuple[Array, Array]]:
    for number, row in enumerate(rows):
        yield row, _mean(np.delete(rows, number, axis=0))


def _one_rating(rows: Array, shuffles: int, seed: int) -> Iterator[tuple[Array, Array]]:
    packed, _ = _packed(rows)
    for number in range(shuffles):
        order = _shuffled(packed, stream(seed, _ONE, number))
        yield order[:, 0], _mean(order[:, 1:].T)


def _packed(rows: Array) -> tuple[Array, Any]:
    """Units x ratings, those that are there first, and how many there are."""
    missing = np.isnan(rows.T)
    sizes = (~missing).sum(axis=1)
    order = np.argsort(missing, axis=1, kind="stable")[:, : sizes.max()]
    return np.take_along_axis(rows.T, order, axis=1), sizes


def _shuffled(packed: Array, rng: np.random.Generator) -> Array:
    """Each unit's ratings in random order, still before what is missing."""
    keys = np.where(np.isnan(packed), 2.0, rng.random(packed.shape))
    return np.take_along_axis(packed, np.argsort(keys, axis=1), axis=1)


def _mean(rows: Array, chosen: Bools | None = None) -> Array:
    """Means over raters of what they rated, NaN where nobody did."""
    present = ~np.isnan(rows) if chosen is None else ~np.isnan(rows) & chosen
    counts = present.sum(axis=0)
    means = np.full(rows.shape[1], np.nan)
    sums = np.where(present, rows, 0.0).sum(axis=0)
    return np.asarray(np.divide(sums, counts, out=means, where=counts > 0))


def _spread(
    sides: Iterator[tuple[Array, Array]], agreement: AgreementFunction, by: SplitBy
) -> Spread:
    values = []
    for x, y in sides:
        both = ~np.isnan(x) & ~np.isnan(y)
        # Means of the same ratings in another order must stay ties.
        value = agreement(_rounded(x[both]), _rounded(y[both])) if both.sum() >= 2 else np.nan
        values.append(float(value))
    return _summary(np.array(values), by)


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
