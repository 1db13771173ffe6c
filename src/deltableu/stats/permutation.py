"""Resampled differences in, p-values out: one rule of counting for all permutation tests.

Numbers that differ by no more than rounding are equal; what could not be computed (NaN) speaks
against a difference; and a random part of all permutations counts the observed one with it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_at_least
from deltableu.stats.groups import sum_groups
from deltableu.stats.resampling import all_choices, chosen_sums, in_threads

Alternative = Literal["two-sided", "greater", "less"]
Ties = Literal["half", "whole"]

#: Scores of the same rows summed in another order differ by rounding, by less than this part of
#: them: such differences are equal.
_ROUNDING = 1e-12
#: Differences of scores held in memory at once, and at least so many pairs of systems.
_NUMBERS, _LEAST = 500_000, 32


def permutation_p_value(
    distribution: ArrayLike,
    observed: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    exact: bool = False,
    scale: ArrayLike = 0.0,
    ties: Ties = "whole",
) -> Array:
    """The share of permutations at least as extreme as what was observed.

    Parameters
    ----------
    distribution
        What each permutation gives, on the first axis; other axes are tests of their own.
    observed
    alternative
    exact
        Whether these are all permutations: c / n. Else they are a random part of them and the
        observed one is counted with them: (c + 1) / (n + 1), never 0.
    scale
        Size of the numbers whose differences these are: what their rounding can do is no
        difference.
    ties
        Permutations that only equal what was observed count `whole`, or `half` (mid-p: its mean is
        1/2 where nothing differs, so it says how sure an order is, and is no test's).

    References
    ----------
    Noreen 1989, "Computer-Intensive Methods for Testing Hypotheses"; Phipson and Smyth 2010,
    "Permutation P-values Should Never Be Zero"; Lancaster 1961, "Significance Tests in Discrete
    Distributions" (mid-p).

    Examples
    --------
    >>> float(permutation_p_value([0.1, -0.4, 0.2], 0.3))
    0.5
    >>> float(permutation_p_value([0.3, -0.1, 0.1, -0.3], 0.3, exact=True))
    0.5
    """
    given: Array = np.asarray(distribution, dtype=np.float64)
    found: Array = np.asarray(observed, dtype=np.float64)
    if alternative == "two-sided":
        given, found = np.abs(given), np.abs(found)
    elif alternative == "less":
        given, found = -given, -found
    # Written so that a comparison with NaN counts.
    slack = rounding(given, found, scale)
    count: Array = np.asarray((~(given < found - slack)).sum(axis=0), dtype=np.float64)
    if ties == "half":
        count -= 0.5 * (np.abs(given - found) <= slack).sum(axis=0)
    return np.asarray(count / len(given) if exact else (count + 1) / (len(given) + 1))


def sign_p_value(
    distribution: ArrayLike, *, alternative: Alternative = "two-sided", scale: float = 0.0
) -> float:
    """How often resampled differences are not on one side of 0, by inversion of their interval.

    `greater` is that the difference is above 0; two-sided is twice the smaller. A difference of no
    more than rounding is on neither side.

    Examples
    --------
    >>> sign_p_value([0.1, 0.2, -0.1, 0.3], alternative="greater")
    0.4
    """
    given: Array = np.asarray(distribution, dtype=np.float64)
    slack = rounding(given, 0.0, scale)
    size = len(given) + 1
    greater = (int((given <= slack).sum()) + 1) / size
    less = (int((given >= -slack).sum()) + 1) / size
    both = min(1.0, 2.0 * min(greater, less))
    return {"greater": greater, "less": less, "two-sided": both}[alternative]


def rounding(distribution: Array, observed: ArrayLike, scale: ArrayLike = 0.0) -> Array:
    """How far apart rounding can have brought equal differences; infinite ones not at all."""
    sizes = np.where(np.isfinite(distribution), np.abs(distribution), 0.0)
    largest = np.maximum(np.abs(observed), np.maximum(scale, sizes.max(axis=0, initial=0.0)))
    return np.asarray(_ROUNDING * np.where(np.isinf(largest), 0.0, largest))


def pairwise_p_values(
    scores: ArrayLike,
    *,
    permutations: int = 1000,
    seed: int = 0,
    ties: Ties = "half",
    codes: Ints | None = None,
    threads: int | None = None,
) -> Array:
    """One-sided paired permutation p-values of system i being better than j, for i < j.

    Parameters
    ----------
    scores
        Systems x items; NaN where missing: a pair is compared on the items both have.
    permutations
        Where there are no more ways to exchange two systems' scores than this, all are taken. The
        same are used for all pairs. As in soft pairwise accuracy, which these are made for, the
        observed scores are not counted with random ones.
    ties
        Exchanges that only equal the observed difference count `half`, so that p of i over j and
        p of j over i add up to 1, or `whole`.
    codes
        The number of each item's group, from 0; a group's scores are exchanged together.
    seed, threads
        Equal seeds give equal results, whatever the number of threads (None is one per core).

    Returns
    -------
    array
        Systems x systems; NaN on and below the diagonal, and for two without a common item.

    Examples
    --------
    >>> float(pairwise_p_values([[3, 4, 5], [2, 2, 4]])[0, 1])
    0.0625
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or table.shape[1] < 1:
        raise InputError(f"scores must be at least 2 systems x 1 item, got shape {table.shape}")
    if np.isinf(table).any():
        raise InputError("scores must be finite, or NaN where they are missing")
    check_at_least("permutations", permutations, 1)
    first, second = np.triu_indices(len(table), 1)
    items = table.shape[1] if codes is None else int(codes.max()) + 1
    exact = enumerable(items, permutations)

    def among(place: int) -> Array:
        some = slice(place * step, (place + 1) * step)
        differences = (table[first[some]] - table[second[some]]).T
        missing = np.isnan(differences)
        rows = np.where(missing, 0.0, differences)
        if codes is not None:
            rows = sum_groups(rows, codes)
        kept = all_choices(rows) if exact else chosen_sums(rows, permutations, seed, threads=1)
        # Items outside the subset change sign. The difference, subset minus rest, is then at least
        # the observed sum where the subset alone is.
        found = permutation_p_value(
            kept,
            rows.sum(axis=0),
            alternative="greater",
            exact=True,
            scale=np.abs(rows).sum(axis=0),
            ties=ties,
        )
        return np.where(missing.all(axis=0), np.nan, found)

    # Some pairs at a time, few enough for the memory.
    step = max(_LEAST, _NUMBERS // table.shape[1])
    found = np.concatenate(in_threads(among, -(-len(first) // step), threads))
    values = np.full((len(table), len(table)), np.nan)
    values[first, second] = found
    return values


def enumerable(units: int, permutations: int) -> bool:
    """Whether trying every exchange of so many units takes no more permutations than asked for."""
    return units < 63 and 2**units <= permutations
