"""Ratings in, which raters noticed the bad references out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.rate.control_pairs import control_pairs

ControlRule = Literal["paired-t", "rank-sum"]

#: The p-values up to which raters pass, as published.
LEVELS = {"paired-t": 0.05, "rank-sum": 0.01}


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
        None where there are too few pairs, so that nothing is known.
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
    ratings: RatingTable,
    *,
    rule: ControlRule = "paired-t",
    significance: float | None = None,
    min_pairs: int = 1,
) -> tuple[RaterVerdict, ...]:
    """Test of each rater that bad references got lower values than their counterparts.

    The counterpart of a damaged output is the same rater's rating of that output; of a damaged
    reference, the rating of that reference, or else of the item's reference that was shown as a
    control. Several ratings of the same are averaged. Where texts were rated by several criteria,
    or on several scales, each rater's values are standardised within each, and their mean counts:
    a text is one pair, however many questions were asked about it.

    Parameters
    ----------
    ratings
        Of outputs or of references. Raw or standardised, the tests are the same.
    rule
        "paired-t": one-sided paired t-test, as the Direct Assessment code has it. A rater whose
        differences are all equal (or who has a single pair) fails, as there. "rank-sum": one-sided
        Mann-Whitney test, as Appraise has it, which also asks for a minimum of working time that is
        not looked at here (see `check_raters`).
    significance
        The p-value up to which a rater passes: .05 for "paired-t" and .01 for "rank-sum" if None.
    min_pairs
        Of raters with fewer pairs nothing is said.

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
    limit = LEVELS[rule] if significance is None else significance
    check_share("significance", limit)
    check_at_least("min_pairs", min_pairs, 1)
    if not ratings.of_kind("bad-reference").any():
        raise InputError("there are no bad references: no rating has the kind bad-reference")
    pairs = control_pairs(ratings, "bad-reference")
    test = _paired_t if rule == "paired-t" else _rank_sum
    return tuple(
        _verdict(name, pairs.control[own], pairs.original[own], test, limit, min_pairs)
        for name, own in zip(ratings.raters, pairs.of_each_rater(ratings), strict=True)
    )


def _verdict(
    rater: str,
    bad: Array,
    good: Array,
    test: Callable[[Array, Array], float | str],
    significance: float,
    min_pairs: int,
) -> RaterVerdict:
    if len(bad) == 0:
        reason = "judged no bad reference together with its counterpart"
        return RaterVerdict(rater, 0, float("nan"), float("nan"), None, reason)
    difference = float((good - bad).mean())
    if len(bad) < min_pairs:
        reason = f"judged {len(bad)} bad references with their counterparts, fewer than {min_pairs}"
        return RaterVerdict(rater, len(bad), difference, float("nan"), None, reason)
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
