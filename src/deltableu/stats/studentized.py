"""Summed rows of several systems in; differences over their standard errors out.

A score is a function of the sum of a system's rows. The infinitesimal jackknife gives its standard
error from the gradient at that sum, and after any exchange of two systems' rows the same needs no
row again: only their sums, and the sums of their products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deltableu._types import Array, Bytes, Steps
from deltableu.stats.resampling import all_subsets, choose_subsets, in_chunks, sum_subsets

#: Sums of rows, columns on the last axis, to numbers of the same shape without that axis.
Aggregate = Callable[[Array], Array]
#: The same to the derivative by each column.
Gradient = Callable[[Array], Array]

#: A variance below this part of what it is the difference of is the rounding of none.
NOTHING = 1e-11
#: Statistics that differ by less than this part of them are equal, in tests and intervals alike.
TIED = 1e-9
_CHUNK = 1024


def numerical_gradient(aggregate: Aggregate, sums: Array) -> Array:
    """The derivative by each column, from central differences.

    Examples
    --------
    >>> numerical_gradient(lambda sums: sums[..., 0] / sums[..., 1], np.array([6.0, 2.0])).round(6)
    array([ 0.5, -1.5])
    """
    steps = np.cbrt(np.finfo(np.float64).eps) * np.maximum(np.abs(sums), 1.0)
    found = np.empty_like(sums)
    for column in range(sums.shape[-1]):
        up, down = sums.copy(), sums.copy()
        up[..., column] += steps[..., column]
        down[..., column] -= steps[..., column]
        found[..., column] = (aggregate(up) - aggregate(down)) / (2.0 * steps[..., column])
    return found


def mean_score(sums: Array) -> Array:
    """Means, from sums and how many were added up."""
    means: Array = sums[..., 0] / sums[..., 1]
    return means


def mean_score_gradient(sums: Array) -> Array:
    """Derivatives of `mean_score`."""
    total, size = sums[..., 0], sums[..., 1]
    return np.stack((1.0 / size, -total / size**2), axis=-1)


@dataclass(frozen=True, eq=False)
class Exchange:
    """Systems whose rows are exchanged, unit by unit, two systems at a time.

    Attributes
    ----------
    rows : array
        Systems x units x columns. A unit is an item, or a group of items that belong together.
    aggregate : callable
        Sums to scores.
    gradient : callable
        The gradient of the scores.

    References
    ----------
    Jaeckel 1972, "The infinitesimal jackknife" (the standard error); Janssen 1997, "Studentized
    permutation tests for non-i.i.d. hypotheses and the generalized Behrens-Fisher problem"; Chung
    and Romano 2013, "Exact and asymptotically robust permutation tests"; Konietschko and Pauly
    2014, "Bootstrapping and permuting paired t-test type statistics".

    Examples
    --------
    >>> scores = np.array([[3.0, 4.0, 6.0, 5.0], [1.0, 3.0, 3.0, 4.0]])
    >>> rows = np.stack((scores, np.ones_like(scores)), axis=-1)
    >>> found = Exchange(rows, mean_score, mean_score_gradient)
    >>> round(found.statistic(0, 1), 3), found.all_statistics(0, 1).shape
    (3.656, (16,))
    """

    rows: Array
    aggregate: Aggregate
    gradient: Gradient

    @cached_property
    def totals(self) -> Array:
        """Systems x columns."""
        return np.asarray(self.rows.sum(axis=1))

    @cached_property
    def scores(self) -> Array:
        """The score of each system."""
        return self.aggregate(self.totals)

    @cached_property
    def centre(self) -> Array:
        """The mean row: products of rows less this one lose little to rounding."""
        return np.asarray(self.rows.mean(axis=(0, 1)))

    @cached_property
    def _basis(self) -> tuple[Array, Array]:
        """Columns of centred rows that the others follow from, and how they do.

        N-grams of a text are as many as its words, or one fewer, two fewer: half of BLEU's columns
        differ from others by a constant, and their products need not be summed.
        """
        centred = self.rows - self.centre
        every = centred.reshape(-1, centred.shape[2])
        spread = np.sqrt((every**2).sum(axis=0))
        if not spread.any():
            return centred, np.eye(centred.shape[2])
        spread = np.where(spread > 0.0, spread, 1.0)
        products = every.T @ every / np.outer(spread, spread)
        kept = _independent(products)
        follow = np.linalg.solve(products[np.ix_(kept, kept)], products[kept])
        follow *= spread / spread[kept][:, None]
        follow[:, kept] = np.eye(len(kept))
        if np.abs(every[:, kept] @ follow - every).max() > 1e-9 * np.abs(every).max():
            return centred, np.eye(centred.shape[2])
        return centred[..., kept], np.asarray(follow)

    @cached_property
    def influences(self) -> Array:
        """Systems x units: by how much each unit moves the score."""
        return np.asarray(np.einsum("suc,sc->su", self.rows, self.gradient(self.totals)))

    def error(self, first: int, second: int) -> float:
        """The standard error of the difference of two scores."""
        return float(self._after_none(first, second)[1][0])

    def statistic(self, first: int, second: int) -> float:
        """The difference over its standard error."""
        return float(self._ratio(first, second, *self._after_none(first, second))[0])

    def differing(self, first: int, second: int) -> int:
        """Units on which the two systems differ."""
        return int((self.rows[first] != self.rows[second]).any(axis=1).sum())

    def statistics(
        self,
        pairs: Sequence[tuple[int, int]],
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Array:
        """Trials x pairs: the statistic after random exchanges, the same for all pairs."""
        systems = sorted({system for pair in pairs for system in pair})
        moments = {system: self._moments(system) for system in systems}

        def work(number: int, first: int, last: int) -> Array:
            choices = choose_subsets(len(self.rows[0]), last - first, seed, number)
            chosen = {system: sum_subsets(moments[system], choices) for system in systems}
            made = np.empty((last - first, len(pairs)))
            for place, (one, two) in enumerate(pairs):
                mixed = sum_subsets(self._mixed(one, two), choices)
                moved = chosen[two] - chosen[one]
                apart, error = self._exchanged(one, two, moved, mixed)
                made[:, place] = self._ratio(one, two, apart, error)
            return made

        return in_chunks(work, trials, _CHUNK, threads, progress)

    def all_statistics(self, first: int, second: int) -> Array:
        """The statistic after every exchange of the units on which the two systems differ."""
        apart = (self.rows[first] != self.rows[second]).any(axis=1)
        moves = (self._moments(second) - self._moments(first))[apart]
        mixes = self._mixed(first, second)[apart]

        def work(number: int, begin: int, end: int) -> Array:
            choices: Bytes = all_subsets(len(moves), begin, end)
            moved, mixed = sum_subsets(moves, choices), sum_subsets(mixes, choices)
            return self._ratio(first, second, *self._exchanged(first, second, moved, mixed))

        return in_chunks(work, 1 << len(moves), _CHUNK, 1)

    def _after_none(self, first: int, second: int) -> tuple[Array, Array]:
        """The observed difference and its error, by the sums that exchanges have theirs from."""
        rank = len(self._basis[1])
        moved = np.zeros((1, self.rows.shape[2] + rank * (rank + 1) // 2))
        mixed = np.zeros((1, rank * (rank - 1) // 2))
        return self._exchanged(first, second, moved, mixed)

    def _exchanged(
        self, first: int, second: int, moved: Array, mixed: Array
    ) -> tuple[Array, Array]:
        """Difference and error where `moved` went to the first system's sums from the second's."""
        columns, units = self.rows.shape[2], self.rows.shape[1]
        basis, follow = self._basis
        own, other = self._sums[first] + moved, self._sums[second] - moved
        own_sums, other_sums = own[:, :columns], other[:, :columns]
        apart = self.aggregate(own_sums) - self.aggregate(other_sums)
        g, h = self.gradient(own_sums), self.gradient(other_sums)
        middle = units * self.centre
        sums = np.einsum("tp,tp->t", own_sums - middle, g)
        sums -= np.einsum("tp,tp->t", other_sums - middle, h)
        g, h = g @ follow.T, h @ follow.T
        upper, cross = np.triu_indices(len(follow)), np.triu_indices(len(follow), 1)
        squares = np.einsum("tp,tp->t", own[:, columns:], g[:, upper[0]] * g[:, upper[1]])
        squares += np.einsum("tp,tp->t", other[:, columns:], h[:, upper[0]] * h[:, upper[1]])
        turned = g[:, cross[0]] * h[:, cross[1]] - g[:, cross[1]] * h[:, cross[0]]
        both = basis[first].T @ basis[second]
        shared = np.einsum("tp,tp->t", g @ both, h) + np.einsum("tp,tp->t", mixed, turned)
        variance = squares - 2.0 * shared - sums**2 / units
        variance = np.where(variance > NOTHING * squares, variance, 0.0)
        return apart, np.sqrt(units / (units - 1) * variance)

    def _ratio(self, first: int, second: int, apart: Array, error: Array) -> Array:
        """A difference over its error; NaN where neither is there, which speaks for nothing."""
        scale = np.abs(self.scores[[first, second]]).max()
        apart = np.where(np.abs(apart) > 1e-12 * scale, apart, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(apart / error)

    @cached_property
    def _sums(self) -> Array:
        """Systems x sums of moments."""
        return np.stack([self._moments(system).sum(axis=0) for system in range(len(self.rows))])

    def _moments(self, system: int) -> Array:
        """Each row's columns, then products of its basis, of two columns for both orders."""
        basis = self._basis[0][system]
        one, two = np.triu_indices(basis.shape[1])
        products = basis[:, one] * basis[:, two] * np.where(one == two, 1.0, 2.0)
        return np.concatenate((self.rows[system], products), axis=1)

    def _mixed(self, first: int, second: int) -> Array:
        """What an exchange adds to the products of the first system's basis with the second's."""
        own, other = self._basis[0][first], self._basis[0][second]
        one, two = np.triu_indices(own.shape[1], 1)
        return np.asarray(other[:, one] * own[:, two] - own[:, one] * other[:, two])


def _independent(products: Array) -> list[int]:
    """Columns that no others follow from, given products of all: Cholesky's with pivots."""
    kept: list[int] = []
    left = products
    most = int(np.argmax(np.diag(left)))
    while len(kept) < len(left) and left[most, most] > 1e-10:
        kept.append(most)
        left = left - np.outer(left[most], left[most]) / left[most, most]
        most = int(np.argmax(np.diag(left)))
    return sorted(kept)


def critical_value(statistics: Array, confidence: float, *, exact: bool = False) -> float:
    """How large a statistic must be to be significant beside those of exchanges.

    A difference plus and minus so many standard errors is the interval that holds 0 if and
    only if the test does not reject at 1 - `confidence`. It is infinite where no statistic would be
    significant.

    Parameters
    ----------
    statistics : array
        After exchanges.
    confidence : float
        The confidence of the interval.
    exact : bool
        Whether these are all exchanges, the observed one among them.

    Examples
    --------
    >>> critical_value(np.arange(100.0), 0.9), critical_value(np.arange(4.0), 0.95, exact=True)
    (90.0, inf)
    """
    sizes = np.where(np.isnan(statistics), np.inf, np.abs(statistics))
    total = len(sizes) if exact else len(sizes) + 1
    # Among all exchanges, the observed one is as extreme as itself, and so is the full one.
    most = math.ceil((1.0 - confidence) * total - 1e-9) - (1 if exact else 2)
    if most < (2 if exact else 0):
        return math.inf
    return float(np.partition(sizes, len(sizes) - 1 - most)[len(sizes) - 1 - most])
