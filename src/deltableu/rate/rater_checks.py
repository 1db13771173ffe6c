"""Ratings in; which raters can be trusted, which cannot, and why, out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_known
from deltableu.io import number_text
from deltableu.rate.bad_references import RaterVerdict, bad_reference_control
from deltableu.rate.control_pairs import control_pairs
from deltableu.rate.rater_check_results import Check, RaterCheck, RaterCheckPlan, RaterChecks
from deltableu.rate.rater_habits import (
    Repeats,
    ValueRun,
    constant_chance,
    longest_run,
    repeat_consistency,
)
from deltableu.rate.rater_times import RaterTimes, in_order, rater_times, row_numbers

#: Repeats from which on they have a p-value.
_FEW_REPEATS = 5
#: Bad references that nearly pass have a p-value of at most so many times the one that passes.
_NEARLY = 3.0
#: Weight of bad references beside repeats, when both are taken together.
_WEIGHT = 2.0


def check_raters(
    ratings: RatingTable, plan: RaterCheckPlan | None = None, *, criterion: str | None = None
) -> RaterChecks:
    """Say of each rater whether they did what they were asked to.

    A rater passes who rated bad references (degraded copies) lower than the texts they were made
    from, or, where there are too few of those, the same texts alike when they came again. A rater
    fails who did not; whose repeats are as far apart as any two texts; who gave one value to all,
    or to many in a row beyond what chance explains; or who was too fast to have read. Where there
    are too few control items and nothing else is wrong, nothing is known, and `passed` is None.

    Parameters
    ----------
    ratings
        Of outputs, of references, or of both, by any number of criteria; controls have their kinds.
    plan
        The thresholds.
    criterion
        Only the ratings by this one.

    References
    ----------
    Graham, Baldwin, Moffat and Zobel 2017, "Can machine translation systems be evaluated by the
    crowd alone", Natural Language Engineering 23(1). Federmann 2018, "Appraise Evaluation Framework
    for Machine Translation", COLING.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["ann"] * 10 + ["bob"] * 10, items=list("12345") * 4, systems=["A"] * 20,
    ...     kinds=(["item"] * 5 + ["bad-reference"] * 5) * 2,
    ...     values=[90, 70, 80, 95, 60, 40, 30, 35, 20, 30, 50, 60, 70, 50, 40, 60, 50, 70, 40, 60],
    ... )
    >>> found = check_raters(made, RaterCheckPlan(min_pairs=5))
    >>> found.passed, found.failed
    (('ann',), ('bob',))
    >>> found["bob"].failed_by, found["bob"].difference, round(found["bob"].p_value, 2)
    (('bad references',), -2.0, 0.63)
    """
    chosen = plan or RaterCheckPlan()
    if criterion is not None:
        check_known("criterion", criterion, ratings.criteria)
        ratings = ratings[ratings.criterion == ratings.criteria.index(criterion)]
    if len(ratings) == 0:
        raise InputError("there are no ratings whose raters could be checked")
    times = rater_times(ratings)
    once = _each_judgement_once(ratings, times)
    counts = np.bincount(ratings.rater, minlength=len(ratings.raters))
    told = _Told.of(ratings[once], chosen)
    times = times[once]
    checks = [
        _check(told, times, place, int(count), chosen)
        for place, count in enumerate(counts)
        if count
    ]
    return RaterChecks(tuple(checks), chosen, told.standardised)


def _each_judgement_once(ratings: RatingTable, times: RaterTimes) -> Ints:
    """Places of ratings without those that say of another target of the same text the same.

    Systems with the same output share one judgement, which files have once for each of them.
    """
    known = np.flatnonzero(np.isfinite(times.begun))
    if not len(known):
        return np.arange(len(ratings))
    position = np.array([-1 if one is None else one for one in ratings.position[known].tolist()])
    page = row_numbers(ratings.rater[known], times.begun[known], times.ended[known])
    # A session that is known as a whole is no page: what is equal there may be different texts.
    _, first = np.unique(row_numbers(page, ratings.item[known]), return_index=True)
    single = (np.bincount(page[first]) == 1)[page]
    columns = (ratings.kinds, ratings.criterion, ratings.scale, ratings.pair, ratings.values)
    same = row_numbers(page, position, *(one[known] for one in columns))
    _, first = np.unique(same[single], return_index=True)
    kept = np.ones(len(ratings), dtype=np.bool_)
    kept[known[single]] = False
    kept[known[single][first]] = True
    return np.flatnonzero(kept)


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """All ratings, by rater, with what the control items say."""

    ratings: RatingTable
    strata: Ints
    rows: list[Ints]
    controls: tuple[RaterVerdict, ...]
    repeats: list[tuple[Array, Array]]
    standardised: bool

    @classmethod
    def of(cls, ratings: RatingTable, plan: RaterCheckPlan) -> _Told:
        nothing = RaterVerdict("", 0, math.nan, math.nan, None, None)
        controls: tuple[RaterVerdict, ...] = (nothing,) * len(ratings.raters)
        standardised = False
        if ratings.of_kind("bad-reference").any():
            standardised = control_pairs(ratings, "bad-reference").standardised
            controls = bad_reference_control(
                ratings,
                rule=plan.rule,
                significance=plan.significance,
                min_pairs=plan.min_pairs,
            )
        pairs = control_pairs(ratings, "repeat")
        order = np.argsort(ratings.rater, kind="stable")
        cuts = np.searchsorted(ratings.rater[order], np.arange(1, len(ratings.raters)))
        return cls(
            ratings,
            ratings.criterion * (len(ratings.scales) + 1) + ratings.scale + 1,
            np.split(order, cuts),
            controls,
            [(pairs.original[own], pairs.control[own]) for own in pairs.of_each_rater(ratings)],
            standardised,
        )

    def sequences(self, rater: int) -> Iterator[Ints]:
        """Places of a rater's ratings, those of each criterion and scale by themselves."""
        rows = self.rows[rater]
        for stratum in np.unique(self.strata[rows]):
            yield rows[self.strata[rows] == stratum]


def _check(
    told: _Told, times: RaterTimes, rater: int, count: int, plan: RaterCheckPlan
) -> RaterCheck:
    control, repeats = told.controls[rater], _repeats(told, rater)
    seconds, timed = _seconds(told, times, rater)
    run, ordered = _run(told, times, rater, plan)
    failures: dict[Check, str] = {}
    passed = control.passed
    if passed is False and not _rescued(control, repeats, plan):
        failures["bad references"] = _control_reason(control)
    elif passed is None and repeats.pairs >= plan.min_repeats and not math.isnan(repeats.p_value):
        # Repeats that are neither alike nor as far apart as other texts say nothing.
        passed = True if repeats.p_value <= plan.limit else None
        if repeats.ratio >= 1.0:
            failures["repeats"] = (
                f"Rated the same text twice as differently as two different ones: {repeats.pairs} "
                f"repeats differ {repeats.ratio:.2f} times as much."
            )
    value = _constant(told, rater, plan)
    if value is not None:
        size = len(told.rows[rater])
        failures["one value"] = f"Gave the value {number_text(value)} to all {size} texts."
    if seconds < plan.min_seconds:
        failures["speed"] = (
            f"Took {seconds:.2g} seconds per text (median of {timed}), less than "
            f"{plan.min_seconds:g}."
        )
    if value is None and ordered and run.length >= plan.min_run and run.chance <= plan.chance / 2:
        failures["straight-lining"] = (
            f"Gave the value {number_text(run.value)} to {run.length} texts in a row, which chance "
            f"explains with a probability of {run.chance:.1g} at most."
        )
    reasons = tuple(failures.values())
    if passed is None and not failures:
        reasons = (_too_little(control, repeats, plan),)
    elif not failures:
        passed = True
    else:
        passed = False
    return RaterCheck(
        rater=told.ratings.raters[rater],
        ratings=count,
        passed=passed,
        failed_by=tuple(failures),
        reasons=reasons,
        pairs=control.pairs,
        difference=control.difference,
        p_value=control.p_value,
        repeats=repeats.pairs,
        repeat_ratio=repeats.ratio,
        repeat_p_value=repeats.p_value,
        seconds=seconds,
        longest_run=run.length if ordered else 0,
        run_chance=run.chance if ordered else math.nan,
    )


def _rescued(control: RaterVerdict, repeats: Repeats, plan: RaterCheckPlan) -> bool:
    """Whether somebody who nearly passed does so by the repeats (Stouffer's sum of both tests).

    Where all differences are equal and above 0, as may happen on a coarse scale, Student's test
    gives up and a sign test does not.
    """
    from scipy.special import ndtr, ndtri

    if plan.evidence != "both":
        return False
    if math.isnan(control.p_value):
        return control.difference > 0.0 and 0.5**control.pairs <= plan.limit
    if math.isnan(repeats.p_value) or control.p_value > _NEARLY * plan.limit:
        return False
    both = -(_WEIGHT * ndtri(control.p_value) + ndtri(repeats.p_value))
    return bool(ndtr(-both / math.hypot(_WEIGHT, 1.0)) <= plan.limit)


def _control_reason(control: RaterVerdict) -> str:
    pairs = "1 pair" if control.pairs == 1 else f"{control.pairs} pairs"
    said = f"{pairs}, mean difference {control.difference:.3g}"
    if control.reason is not None:
        said += f", and {control.reason.removeprefix('has ')}"
    else:
        said += f", p = {control.p_value:.2g}"
    lower = "lower" if control.difference <= 0 else "reliably lower"
    return f"Did not rate damaged texts {lower} than what they were made from: {said}."


def _too_little(control: RaterVerdict, repeats: Repeats, plan: RaterCheckPlan) -> str:
    if repeats.pairs >= plan.min_repeats:
        return (
            f"There are too few control items: {control.pairs} damaged texts rated beside their "
            f"originals (it takes {plan.min_pairs}), and {repeats.pairs} exact repeats that are "
            "neither clearly alike nor as different as other texts."
        )
    return (
        f"There are too few control items: {control.pairs} damaged texts rated beside their "
        f"originals (it takes {plan.min_pairs}) and {repeats.pairs} exact repeats (it takes "
        f"{plan.min_repeats})."
    )


def _repeats(told: _Told, rater: int) -> Repeats:
    first, second = told.repeats[rater]
    if len(first) < _FEW_REPEATS:
        return Repeats(len(first), math.nan, math.nan)
    return repeat_consistency(first, second)


def _constant(told: _Told, rater: int, plan: RaterCheckPlan) -> float | None:
    """The one value that a rater gave, if nobody who reads is likely to have done so."""
    chance, rows = 1.0, told.rows[rater]
    values, strata = told.ratings.values, told.strata
    if len(rows) < plan.constant_after:
        return None
    for own in told.sequences(rater):
        if np.ptp(values[own]) > 0.0:
            return None
        others = (strata == strata[own[0]]) & (told.ratings.rater != rater)
        chance *= constant_chance(len(own), values[others])
    return float(values[rows[0]]) if chance <= plan.chance / 2 else None


def _seconds(told: _Told, times: RaterTimes, rater: int) -> tuple[float, int]:
    """Median per text, and of how many; not known where most times run backwards."""
    rows = told.rows[rater]
    seconds = times.seconds[rows]
    known = ~np.isnan(seconds)
    if not known.any() or times.backwards[rows].sum() > known.sum():
        return math.nan, 0
    if not seconds[known].any():
        # One moment was kept of each rating: how far these are apart tells.
        moments = np.unique(times.begun[rows][known])
        if 2 * len(moments) <= int(known.sum()) or len(moments) < 2:
            return math.nan, 0
        return float(np.median(np.diff(moments))), int(known.sum())
    return float(np.median(seconds[known])), int(known.sum())


def _run(told: _Told, times: RaterTimes, rater: int, plan: RaterCheckPlan) -> tuple[ValueRun, bool]:
    """The least likely run, and whether the order of ratings is known at all."""
    best, ordered, tested = ValueRun(0, math.nan, 1.0), False, 0
    for own in told.sequences(rater):
        order = in_order(times.begun[own], told.ratings.position[own])
        if order is None and not plan.in_order:
            continue
        run = longest_run(told.ratings.values[own if order is None else own[order]])
        ordered, tested = True, tested + 1
        if (run.chance, -run.length) < (best.chance, -best.length) or best.length == 0:
            best = run
    return ValueRun(best.length, best.value, min(1.0, best.chance * max(1, tested))), ordered
