"""Ratings in; how strict, how noisy and how much like the others each rater is, out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.mixed_effects import fit_mixed_model
from deltableu.rate.rater_rows import of_one_criterion

#: Raters from which on a mixed model takes too long for what it adds.
_MANY = 600
#: Units that a rater must share with others for a noise or a correlation.
_SHARED = 3


@dataclass(frozen=True, slots=True)
class RaterUse:
    """How one rater uses the scale.

    Attributes
    ----------
    rater : str
    ratings, shared : int
        Units rated, and those of them that somebody else rated, too.
    mean, deviation : float
        Of the rater's own values.
    severity : float
        How much lower than others this rater rates the same units: positive is strict. NaN where
        nothing is shared.
    noise : float
        Standard deviation of what is left: how far single ratings fall from what the others say,
        severity taken out, and without the others' own noise.
    correlation : float
        Of this rater's values with the mean of the others'.
    """

    rater: str
    ratings: int
    shared: int
    mean: float
    deviation: float
    severity: float
    noise: float
    correlation: float


def rater_use(ratings: RatingTable) -> tuple[RaterUse, ...]:
    """How each rater uses the scale, in the order of the table's raters.

    A rating is taken for what all raters would say, less the rater's severity, plus noise whose
    variance is the rater's own. Severities are the predictions of a mixed model, or, where that
    cannot be fitted or raters are very many, mean differences from others. The variance of a
    rater's differences from the mean of others is the rater's own, plus the others' over their
    number: these equations are solved together.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "b", "c"] * 4, items=[n for n in "1234" for _ in "abc"],
    ...     systems=["A"] * 12, values=[5, 5, 3, 4, 4, 2, 2, 2, 1, 3, 3, 2],
    ... )
    >>> [round(one.severity, 1) for one in rater_use(made)]
    [-0.5, -0.5, 1.0]
    """
    table = of_one_criterion(ratings)
    cells = table.scored().without_repeats()
    size = len(table.raters)
    rater = cells.rater
    _, unit = np.unique(cells.system * len(cells.items) + cells.item, return_inverse=True)
    counts = np.bincount(unit)[unit]
    shared = counts >= 2
    given = np.bincount(rater, minlength=size)
    numbers = np.bincount(rater[shared], minlength=size)
    means, deviations = _moments(cells.values, rater, size)
    others = _mean_of_others(cells.values, unit, counts)
    correlations = _correlations(cells.values[shared], others[shared], rater[shared], size)
    severity = _severity(table, cells.values, others, rater, shared, numbers)
    noise = np.full(size, np.nan)
    if shared.any():
        fair = cells.values + np.nan_to_num(severity)[rater]
        apart = fair - _mean_of_others(fair, unit, counts)
        noise = _noise(apart[shared], rater[shared], unit[shared], counts[shared], numbers)
    rows = (given, numbers, means, deviations, severity, noise, correlations)
    return tuple(
        RaterUse(name, *row)
        for name, *row in zip(table.raters, *(one.tolist() for one in rows), strict=True)
        if row[0] > 0
    )


def _moments(values: Array, rater: Ints, size: int) -> tuple[Array, Array]:
    """Each rater's mean and standard deviation; NaN where there is too little."""
    counts = np.bincount(rater, minlength=size)
    means = np.full(size, np.nan)
    np.divide(np.bincount(rater, values, minlength=size), counts, out=means, where=counts > 0)
    squares = np.bincount(rater, (values - means[rater]) ** 2, minlength=size)
    deviations = np.full(size, np.nan)
    np.divide(squares, counts - 1, out=deviations, where=counts > 1)
    return means, np.sqrt(deviations)


def _mean_of_others(values: Array, unit: Ints, counts: Ints) -> Array:
    """What the others say of the same unit, on average; NaN where there are none."""
    sums = np.bincount(unit, values)[unit]
    means = np.full(len(values), np.nan)
    np.divide(sums - values, counts - 1, out=means, where=counts > 1)
    return means


def _correlations(values: Array, others: Array, rater: Ints, size: int) -> Array:
    """Pearson's, by rater; NaN with fewer than three units, or where a side does not vary."""
    counts = np.maximum(np.bincount(rater, minlength=size), 1)
    x, y = (
        one - (np.bincount(rater, one, minlength=size) / counts)[rater] for one in (values, others)
    )
    top = max(float(np.abs(values).max(initial=0.0)), 1e-300)
    sums = [np.bincount(rater, one, minlength=size) for one in (x * y, x * x, y * y)]
    floor = counts * (1e-12 * top) ** 2
    known = (counts >= _SHARED) & (sums[1] > floor) & (sums[2] > floor)
    found = np.full(size, np.nan)
    np.divide(sums[0], np.sqrt(sums[1] * sums[2]), out=found, where=known)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _severity(
    table: RatingTable, values: Array, others: Array, rater: Ints, shared: Bools, numbers: Ints
) -> Array:
    size = len(table.raters)
    known = numbers > 0
    if known.sum() <= _MANY:
        try:
            effects = fit_mixed_model(table, tastes=False).rater_effects
            return np.where(known, -effects, np.nan)
        except InputError:
            pass  # such as systems that had a rater each
    lower = np.bincount(rater[shared], (others - values)[shared], minlength=size)
    found = np.full(size, np.nan)
    np.divide(lower, numbers, out=found, where=known)
    return found


def _noise(apart: Array, rater: Ints, unit: Ints, counts: Ints, numbers: Ints) -> Array:
    """Standard deviations, from variances of differences from the mean of others."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import lsqr

    size = len(numbers)
    _, deviations = _moments(apart, rater, size)
    known = (numbers >= _SHARED) & ~np.isnan(deviations)
    found = np.full(size, np.nan)
    if not known.any():
        return found
    observed = np.where(known, deviations**2, 0.0)
    # Sums over the other raters of a unit: all its raters, less the rater's own.
    there = csr_array((np.ones(len(rater)), (rater, unit)), shape=(size, int(unit.max()) + 1))
    scaled = csr_array((1.0 / (counts - 1.0) ** 2, (rater, unit)), shape=there.shape)
    per_rating = diags_array(1.0 / np.maximum(numbers, 1))
    own = np.bincount(rater, 1.0 / (counts - 1.0) ** 2, minlength=size) / np.maximum(numbers, 1)
    shares = csr_array(per_rating @ (scaled @ there.T)) - diags_array(own)
    matrix = csr_array(shares + diags_array(np.ones(size)))
    # Whoever shares too little is taken for an average rater.
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    typical = float(observed[known].sum() / totals[known].sum())
    strangers = np.where(known, 0.0, typical)
    weights = np.sqrt(numbers[known])
    left = diags_array(weights) @ matrix[np.flatnonzero(known)][:, np.flatnonzero(known)]
    right = weights * (observed - matrix @ strangers)[known]
    # Where equations leave it open who of two is noisy, the least departure from all alike.
    start = np.full(int(known.sum()), typical)
    solved = lsqr(left, right - left @ start, atol=1e-12, btol=1e-12, iter_lim=2000)[0] + start
    found[known] = np.sqrt(np.maximum(solved, 0.0))
    return found
