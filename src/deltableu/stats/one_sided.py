"""Exchanged rows in; one-sided bounds of a difference that may be skewed out.

A difference over its standard error leans to one side where a few units decide it, or where the
score bends. A test of two sides errs less on one of them and more on the other; a test of one side
has nothing to balance. So the statistic is set upright first, with the sample's own skewness, and
its exchanges are set upright likewise: under exchangeable systems the test stays exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deltableu._types import Array, Bools, Bytes, Steps
from deltableu.stats.permutation import enumerable
from deltableu.stats.resampling import all_subsets, choose_subsets, in_chunks
from deltableu.stats.studentized import NOTHING, TIED, Exchange, critical_value

#: Influences of units held in the cache at once, per thread, and computed at most in all.
_CELLS = 60_000
_MOST_CELLS = 200_000_000
_FEWEST_TRIALS = 2_000
_LARGEST_ENUMERATION = 16
#: A bound is read off exchanges where so many of them lie beyond it, else Student's takes over.
_BEYOND = 20


class Leaning(NamedTuple):
    """A difference over its error, and how its distribution leans.

    Attributes
    ----------
    ratio : array
        Of difference and standard error.
    bend, shift : array
        Coefficients of the squared ratio, and of 1, in the first term of its Edgeworth expansion.
    """

    ratio: Array
    bend: Array
    shift: Array

    def upright(self) -> Array:
        """The ratios, free of skewness to first order; see `upright`."""
        return upright(self.ratio, self.bend, self.shift)


def upright(ratio: Array, bend: Array, shift: Array) -> Array:
    """t + A t^2 + A^2 t^3 / 3 + B: grows with t whatever A is, and has no skewness to first order.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation" (of a mean: A = skewness / (3 sqrt n),
    B = A / 2).

    Examples
    --------
    >>> upright(np.array([-2.0, 0.0, 2.0]), np.array(0.3), np.array(0.0)).round(2)
    array([-1.04,  0.  ,  3.44])
    """
    with np.errstate(invalid="ignore", over="ignore"):
        made = ratio + bend * ratio**2 + bend**2 * ratio**3 / 3.0 + shift
    return np.asarray(np.where(np.isinf(ratio), ratio, made))


def leaning_again(value: float, bend: float, shift: float) -> float:
    """The ratio that `upright` makes this value of.

    Examples
    --------
    >>> round(leaning_again(3.44, 0.3, 0.0), 6), leaning_again(1.5, 0.0, 0.5)
    (2.0, 1.0)
    """
    straight = value - shift
    if abs(bend * straight) < 1e-9 or math.isinf(straight):
        return straight
    return (math.cbrt(1.0 + 3.0 * bend * straight) - 1.0) / bend


class Reach(NamedTuple):
    """How far one-sided bounds lie below and above a difference; infinite where there are none."""

    below: float
    above: float


def one_sided_reach(
    exchange: Exchange,
    first: int,
    second: int,
    significance: float,
    *,
    trials: int,
    seed: int,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Reach:
    """How far bounds of the difference of two scores reach, each at a one-sided significance.

    Parameters
    ----------
    exchange : Exchange
        The rows of the systems.
    first, second : int
        Numbers of the systems.
    significance : float
        Of each bound.
    trials : int
        Random exchanges, at most: fewer are drawn of very many units. All are tried where there
        are no more of them than that.
    seed : int

    References
    ----------
    Hall 1992 (above); Janssen 1997, "Studentized permutation tests for non-i.i.d. hypotheses and
    the generalized Behrens-Fisher problem".

    Examples
    --------
    >>> from deltableu.stats.studentized import mean_score, mean_score_gradient
    >>> scores = np.array([[3.0, 4.0, 6.0, 5.0, 9.0, 4.0, 2.0, 3.0], [1.0, 3.0] * 4])
    >>> rows = np.stack((scores, np.ones_like(scores)), axis=-1)
    >>> found = Exchange(rows, mean_score, mean_score_gradient)
    >>> reach = one_sided_reach(found, 0, 1, 0.05, trials=1000, seed=0)
    >>> round(reach.below, 2), round(reach.above, 2)
    (1.61, 8.24)
    """
    units, differing = exchange.rows.shape[1], exchange.differing(first, second)
    if significance * 2.0 ** min(differing, 1000) <= 1.0:
        return Reach(math.inf, math.inf)
    exact = enumerable(differing, min(trials, 2**_LARGEST_ENUMERATION))
    chunk = max(16, min(1024, _CELLS // units))
    if exact:
        apart = (exchange.rows[first] != exchange.rows[second]).any(axis=1)

        def choose(number: int, begin: int, end: int) -> Bools:
            swapped = np.zeros((end - begin, units), bool)
            swapped[:, apart] = _bits(all_subsets(differing, begin, end), differing)
            return swapped

        trials, readable = 1 << differing, significance
    else:
        trials = min(trials, max(_FEWEST_TRIALS, _MOST_CELLS // units))
        readable = max(significance, _BEYOND / (2.0 * trials))

        def choose(number: int, begin: int, end: int) -> Bools:
            return _bits(choose_subsets(units, end - begin, seed, number), units)

    def work(number: int, begin: int, end: int) -> Array:
        return leaning(exchange, first, second, choose(number, begin, end)).upright()

    found = in_chunks(work, trials, chunk, threads, progress)
    critical = critical_value(found, 1.0 - 2.0 * readable, exact=exact) * (1.0 + TIED)
    critical *= _farther(units, significance, readable)
    (_,), (bend,), (shift,) = leaning(exchange, first, second, np.zeros((1, units), bool))
    error = exchange.error(first, second)
    if error == 0.0:
        return Reach(*((0.0, 0.0) if critical < math.inf else (math.inf, math.inf)))
    return Reach(
        max(0.0, error * leaning_again(critical, float(bend), float(shift))),
        max(0.0, -error * leaning_again(-critical, float(bend), float(shift))),
    )


def leaning(exchange: Exchange, first: int, second: int, swapped: Bools) -> Leaning:
    """Of the difference of two systems after exchanges, a trial a row, a unit a column.

    With influences U of the units on the difference, the skewness is g = sum U^3 / (sum U^2)^1.5,
    and the curvature c what the difference bends by where all units move it by one standard error,
    over that error. A = g / 3 + c / 2 and B = g / 6 + c / 2 are the Edgeworth expansion's but for
    the bias of the difference, which exchanges balance.
    """
    own, other = exchange.rows[first], exchange.rows[second]
    aggregate, gradient = exchange.aggregate, exchange.gradient
    units = len(own)
    chosen = swapped.astype(np.float64)
    moved = chosen @ (other - own)
    ours, theirs = own.sum(axis=0) + moved, other.sum(axis=0) - moved
    by_ours, by_theirs = gradient(ours), gradient(theirs)
    one = np.where(swapped, by_ours @ other.T, by_ours @ own.T)
    two = np.where(swapped, by_theirs @ own.T, by_theirs @ other.T)
    squares = np.einsum("tu,tu->t", one, one) + np.einsum("tu,tu->t", two, two)
    influences = one - two
    influences -= influences.mean(axis=1, keepdims=True)
    squared = influences * influences
    variance = squared.sum(axis=1)
    there = variance > NOTHING * squares
    error = np.sqrt(np.where(there, variance, 1.0))
    skewness = np.einsum("tu,tu->t", squared, influences) / error**3
    steps = influences / error[:, None]
    swapped_steps = chosen * steps
    kept_steps = steps - swapped_steps
    step = kept_steps @ own + swapped_steps @ other
    their_step = kept_steps @ other + swapped_steps @ own
    score, their_score = aggregate(ours), aggregate(theirs)
    bent = aggregate(ours + step) - 2.0 * score + aggregate(ours - step)
    bent -= aggregate(theirs + their_step) - 2.0 * their_score + aggregate(theirs - their_step)
    curvature = bent / error
    scale = np.abs(exchange.scores[[first, second]]).max()
    apart = score - their_score
    apart = np.where(np.abs(apart) > 1e-12 * scale, apart, 0.0)
    error = np.where(there, error * math.sqrt(units / (units - 1)), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = apart / error
    return Leaning(
        ratio,
        np.where(there, skewness / 3.0 + curvature / 2.0, 0.0),
        np.where(there, skewness / 6.0 + curvature / 2.0, 0.0),
    )


def _bits(subsets: Bytes, size: int) -> Bools:
    return np.unpackbits(subsets, axis=1, count=size, bitorder="little").astype(bool)


def _farther(units: int, significance: float, readable: float) -> float:
    """How much farther a bound reaches than the last that can be read off: as Student's would."""
    if readable == significance:
        return 1.0
    from scipy.special import stdtrit

    ratio = stdtrit(units - 1, 1.0 - significance) / stdtrit(units - 1, 1.0 - readable)
    return float(ratio)
