"""Ratings in, which raters noticed the bad references out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_choice, check_share
from deltableu.rate.rater_rows import of_one_criterion

ControlRule = Literal["paired-t", "rank-sum"]

_LEVELS = {"paired-t": 0.05, "rank-sum": 0.01}


@dataclass(frozen=True, slots=True)
class RaterVerdict:
    """Whether a rater gave bad references lower values than what they were made from.

    Attributes
    ----------
    rater : str
    pairs : int
        Bad references whose good counterpart the rater judged too.
    difference : float
        Mean of good minus bad; NaN without pairs.
    p_value : float
        NaN where the test cannot be made.
    passed : bool or None
        None where there is no pair, so that nothing is known.
    reason : str or None
        Why there is no p-value.
    """

    rater: str
    pairs: int
    difference: float
    p_value: float
    passed: bool | None
    reason: str | None = None


def bad_reference_control(
    ratings: RatingTable, *, rule: ControlRule = "paired-t", significance: float | None = None
) -> tuple[RaterVerdict, ...]:
    """Test of each rater that bad references got lower values than their counterparts.

    The counterpart of a damaged output is the same rater's rating of that output; of a damaged
    reference, which belongs to no system, the rating of the item's reference. Several ratings
    of the same are averaged.

    Parameters
    ----------
    ratings
        Those of kinds item, reference and bad-reference are used; raw or standardised, the tests
        are the same.
    rule
        "paired-t": one-sided paired t-test, as the Direct Assessment code has it. A rater whose
        differences are all equal (or who has a single pair) fails, as there. "rank-sum": one-sided
        Mann-Whitney test, as Appraise has it, which also asks for a minimum of working time that is
        not looked at here.
    significance
        The p-value up to which a rater passes: .05 for "paired-t" and .01 for "rank-sum" if None.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel 2017, "Can machine translation systems be evaluated by the
    crowd alone", Natural Language Engineering 23(1). Federmann 2018, "Appraise Evaluation Framework
    for Machine Translation", COLING.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["ann"] * 6, items=["1", "2", "3"] * 2, systems=["A"] * 6,
    ...     kinds=["item"] * 3 + ["bad-reference"] * 3, values=[90, 70, 80, 40, 30, 35],
    ... )
    >>> verdict, = bad_reference_control(made)
    >>> verdict.pairs, round(verdict.p_value, 4), verdict.passed
    (3, 0.002, True)
    """
    check_choice("rule", rule, get_args(ControlRule))
    limit = _LEVELS[rule] if significance is None else significance
    check_share("significance", limit)
    ratings = of_one_criterion(ratings)
    bad = ratings.of_kind("bad-reference")
    if not bad.any():
        raise InputError("there are no bad references: no rating has the kind bad-reference")
    # Damaged references have no system; their counterparts are references that have none either.
    good = np.where(ratings.system < 0, ratings.of_kind("reference"), ratings.of_kind("item"))
    bad_keys, bad_means = _means(ratings[bad])
    good_keys, good_means = _means(ratings[good])
    keys, places, counterparts = np.intersect1d(
        bad_keys, good_keys, assume_unique=True, return_indices=True
    )
    lower, higher = bad_means[places], good_means[counterparts]
    owners = keys // _width(ratings)
    test = _paired_t if rule == "paired-t" else _rank_sum
    return tuple(
        _verdict(name, lower[owners == number], higher[owners == number], test, limit)
        for number, name in enumerate(ratings.raters)
    )


def _width(ratings: RatingTable) -> int:
    return (len(ratings.systems) + 1) * len(ratings.items)


def _means(ratings: RatingTable) -> tuple[Ints, Array]:
    """A number for each rater, system and item, sorted, and the mean of what was said."""
    within = (ratings.system + 1) * len(ratings.items) + ratings.item
    keys, places, counts = np.unique(
        ratings.rater * _width(ratings) + within, return_inverse=True, return_counts=True
    )
    return keys, np.bincount(places, weights=ratings.values, minlength=len(keys)) / counts


def _verdict(
    rater: str,
    bad: Array,
    good: Array,
    test: Callable[[Array, Array], float | str],
    significance: float,
) -> RaterVerdict:
    if len(bad) == 0:
        reason = "judged no bad reference together with its counterpart"
        return RaterVerdict(rater, 0, float("nan"), float("nan"), None, reason)
    difference = float((good - bad).mean())
    found = test(bad, good)
    if isinstance(found, str):
        return RaterVerdict(rater, len(bad), difference, float("nan"), False, found)
    return RaterVerdict(rater, len(bad), difference, found, found <= significance)


def _paired_t(bad: Array, good: Array) -> float | str:
    """p-value of Student's paired test that bad ones are lower, or why there is none."""
    from scipy.special import stdtr

    differences = bad - good
    if len(differences) == 1:
        return "has a single pair"
    mean = float(differences.mean())
    error = float(differences.std(ddof=1)) / np.sqrt(len(differences))
    # What R's t.test calls essentially constant.
    if error <= 10 * np.finfo(np.float64).eps * abs(mean):
        return "has the same difference in all pairs"
    return float(stdtr(len(differences) - 1, mean / error))


def _rank_sum(bad: Array, good: Array) -> float | str:
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(bad, good, alternative="less").pvalue)
