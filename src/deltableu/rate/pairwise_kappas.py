"""Ratings in, Cohen's kappa of every two raters out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_at_least
from deltableu.rate.rater_rows import Ratings, rater_rows


@dataclass(frozen=True, slots=True, eq=False)
class PairwiseKappas:
    """Cohen's kappas of all pairs of raters who have enough in common.

    Attributes
    ----------
    raters : tuple of str
    values, quadratic : arrays
        Raters x raters: the plain kappa, and the one by which near misses count as partial
        agreement (by squared differences). NaN on the diagonal, where two have too little in
        common, and where both gave one and the same value only.
    common : array of int
        Raters x raters: units that both rated.
    mean, mean_quadratic : float
        Over pairs (Light's kappa).
    pairs : int
    undefined : int
        Pairs with enough in common, but one value only.
    """

    raters: tuple[str, ...]
    values: Array
    quadratic: Array
    common: Ints
    mean: float
    mean_quadratic: float
    pairs: int
    undefined: int


def pairwise_kappas(ratings: Ratings, *, min_common: int = 3) -> PairwiseKappas:
    """Cohen's kappa of every two raters at once: the same numbers as `cohen_kappa` gives.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs, a rater's first rating of each counts), or raters x
        units with NaN where a rater did not rate. Values are categories.
    min_common
        Pairs of raters with fewer units in common are left out.

    References
    ----------
    Cohen 1960 and 1968; Light 1971, "Measures of Response Agreement for Qualitative Data: Some
    Generalizations and Alternatives", Psychological Bulletin 76 (the mean over pairs).

    Examples
    --------
    >>> found = pairwise_kappas([[1, 1, 2, 3], [1, 2, 2, 3]])
    >>> round(found.mean, 3), round(found.mean_quadratic, 3)
    (0.636, 0.8)
    """
    check_at_least("min_common", min_common, 1)
    names, rows = rater_rows(ratings, "first")
    if len(names) < 2:
        raise InputError("kappas of two raters need at least 2 raters")
    values, places, rater, unit = _long(rows)
    shape = rows.shape
    there = _sparse(np.ones(len(rater)), rater, unit, shape)
    common = (there @ there.T).toarray()
    enough = np.triu(common >= min_common, 1)
    if not enough.any():
        raise InputError(f"no two raters have {min_common} units in common")
    number = np.where(common > 0, common, np.nan)
    agreed, expected = np.zeros(common.shape), np.zeros(common.shape)
    for place in range(int(places.max()) + 1):
        mine = places == place
        own = _sparse(np.ones(int(mine.sum())), rater[mine], unit[mine], shape)
        agreed += (own @ own.T).toarray()
        # How often the one of a row chose this, on what both rated.
        chosen = (own @ there.T).toarray()
        expected += chosen * chosen.T
    agreed, expected = agreed / number, expected / number**2
    away = _sparse(values - values.mean(), rater, unit, shape)
    squares = ((away * away) @ there.T).toarray()
    products, sums = (away @ away.T).toarray(), (away @ there.T).toarray()
    apart = (squares + squares.T - 2.0 * products) / number
    by_chance = (squares + squares.T) / number - 2.0 * sums * sums.T / number**2
    # What rounding leaves of no difference is none.
    varied = enough & (by_chance > 1e-12 * max(float(np.nanmax(by_chance)), 1e-300))
    if not varied.any():
        raise InputError("both raters of every pair use one category only: kappa is undefined")
    plain, quadratic = np.full(common.shape, np.nan), np.full(common.shape, np.nan)
    np.divide(agreed - expected, 1.0 - expected, out=plain, where=varied)
    np.divide(apart, by_chance, out=quadratic, where=varied)
    quadratic = 1.0 - quadratic
    means = float(plain[varied].mean()), float(quadratic[varied].mean())
    return PairwiseKappas(
        names,
        np.fmax(plain, plain.T),
        np.fmax(quadratic, quadratic.T),
        common.astype(np.int64),
        *means,
        int(varied.sum()),
        int(enough.sum()) - int(varied.sum()),
    )


def _long(rows: Array) -> tuple[Array, Ints, Ints, Ints]:
    """Values, their places among all values, raters and units of all ratings."""
    rater, unit = np.nonzero(~np.isnan(rows))
    values = rows[rater, unit]
    _, places = np.unique(values, return_inverse=True)
    return values, places, rater, unit


def _sparse(values: Array, rater: Ints, unit: Ints, shape: tuple[int, ...]) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, (rater, unit)), shape=shape)
