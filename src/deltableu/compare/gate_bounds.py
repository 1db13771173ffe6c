"""How sure the difference of a system from a baseline is: one-sided bounds, by three ways.

- Scores of summed rows: exchanges, set upright (`one_sided_reach`).
- Pooled scores, which cannot be exchanged, and means of several runs: Student's.
- Gates that look again and again: bets on the scores of items, which hold for every distribution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Progress, steps_of
from deltableu.compare.observations import Observations, RowObservations
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import ComparedPair, Comparison, RunShares
from deltableu.compare.runs import compare_runs
from deltableu.compare.systems import compare_observations, pair_warnings
from deltableu.errors import InputError
from deltableu.stats import (
    Reach,
    betting_bounds,
    jackknife_interval,
    log_capital,
    mean_score,
    mean_score_gradient,
    one_sided_reach,
    sum_groups,
)

_CLAMPED = "a score is clamped: the matches of some order sum to nothing or less"
_NOWHERE = Reach(math.inf, math.inf)
#: Exchanges at most, and how many of them must lie beyond a bound for it to be read off them.
_MOST_TRIALS = 100_000
_BEYOND = 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of the difference of a system from the baseline, the better way up.

    Attributes
    ----------
    scores : (float, float)
        Of the system and of the baseline.
    gain : float
        By how much the system is better.
    reach : Reach
        How far the bounds are from it.
    error : float
        Its standard error.
    untested : str
        Why nothing could be shown; empty where something could.
    unbounded : str
        Why there are no bounds, though a larger difference would have been shown.
    """

    scores: tuple[float, float]
    gain: float
    reach: Reach
    error: float
    untested: str = ""
    unbounded: str = ""


@dataclass(frozen=True, slots=True)
class Bounded:
    """One metric: bounds of each system that is held against the baseline, and warnings."""

    bounds: dict[str, Bounds]
    warnings: tuple[str, ...] = ()


def exchanged(
    one: Observations,
    baseline: str,
    candidates: Sequence[str],
    significance: float,
    *,
    trials: int,
    seed: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Bounded:
    """By exchanges, or by Student's distribution for pooled scores."""
    exchange = one.exchange
    if exchange is None:
        plan = ComparisonPlan(correction="none", confidence=1.0 - 2.0 * significance)
        return _compared(one, compare_observations(one, plan, baseline, threads=threads), baseline)
    scores, clamped, base = one.scores(), one.clamped(), one.systems.index(baseline)
    found = {}
    for name in candidates:
        place = one.systems.index(name)
        reach, error, untested = _NOWHERE, 0.0, _CLAMPED
        if not clamped[[place, base]].any():
            error, untested = exchange.error(place, base), ""
            reach = one_sided_reach(
                exchange,
                place,
                base,
                significance,
                trials=min(_MOST_TRIALS, max(trials, math.ceil(_BEYOND / significance))),
                seed=seed,
                threads=threads,
                progress=steps_of(progress, f"{one.metric}, {name}"),
            )
            # Equal outputs are no worse, however few they are.
            if exchange.differing(place, base) == 0:
                reach = Reach(0.0, 0.0)
        made = _turned(one, scores[place], scores[base], reach, error, untested)
        if (
            math.isinf(max(reach))
            and not untested
            and significance * 2.0 ** min(one.units, 1000) > 1.0
        ):
            # A few outputs differ among many that do not: that is no loss, and no bound either.
            made = replace(made, untested="", unbounded=_few_differ(one, place, base))
        found[name] = made
    pairs = [(one.systems.index(name), base) for name in candidates]
    return Bounded(found, pair_warnings(one, pairs))


def over_runs(
    one: Observations, runs: Mapping[str, tuple[str, ...]], baseline: str, significance: float
) -> Bounded:
    """By Student's distribution, whose variance is that of runs and of items."""
    plan = ComparisonPlan(correction="none", confidence=1.0 - 2.0 * significance)
    return _compared(one, compare_runs(one, runs, plan, baseline), baseline)


def _compared(one: Observations, compared: Comparison, baseline: str) -> Bounded:
    scores = {system.system: system.score for system in compared.systems}
    found = {}
    for pair in compared.pairs:
        reach, error, untested = _NOWHERE, 0.0, _CLAMPED
        if pair.interval is not None:
            half = max(pair.difference - pair.interval.low, pair.interval.high - pair.difference)
            reach, error, untested = Reach(half, half), _error(one, pair), ""
        found[pair.first] = _turned(
            one, scores[pair.first], scores[baseline], reach, error, untested
        )
    return Bounded(found, tuple(text for text in compared.warnings if "too few" not in text))


def _error(one: Observations, pair: ComparedPair) -> float:
    if isinstance(pair.variance, RunShares):
        return math.sqrt(pair.variance.both)
    first, second = one.systems.index(pair.first), one.systems.index(pair.second)
    left_out = one.leave_one_out()
    made = jackknife_interval(pair.difference, left_out[first] - left_out[second], 0.5)
    from scipy.special import stdtrit

    return (made.high - pair.difference) / float(stdtrit(one.units - 1, 0.75))


def _turned(
    one: Observations, score: float, base: float, reach: Reach, error: float, untested: str
) -> Bounds:
    """The better way up."""
    gain = float(score - base)
    if not one.higher_is_better:
        gain, reach = -gain, Reach(reach.above, reach.below)
    if not untested and math.isinf(max(reach)):
        untested = too_few(one)
    return Bounds((float(score), float(base)), gain, reach, error, untested)


def too_few(one: Observations) -> str:
    """That nothing could be significant."""
    of = "items" if one.numbers is None else "groups"
    return f"{one.units} {of} are too few for any difference to be significant"


def _few_differ(one: Observations, place: int, base: int) -> str:
    of = "items" if one.numbers is None else "groups"
    differing = one.differing(place, base)
    return f"only {differing} of {one.units:,} {of} differ, too few to bound the difference"


def by_unit(one: Observations, limits: tuple[float, float] | None) -> RowObservations:
    """The same systems by the mean score of items, or of groups by the mean of each.

    Bets need independent numbers with limits: a corpus score is no mean of them, and a group's sum
    may be as large as the group.
    """
    if one.segments is None:
        raise InputError(f"sequential gates are about scores of items, and {one.metric} has none")
    lowest, highest = limits or one.limits
    if math.isinf(lowest) or math.isinf(highest):
        raise InputError(
            f"sequential gates need limits: which are the lowest and the highest {one.metric} that "
            "an item can have? Scores beyond them are cut off"
        )
    scores = np.clip(one.segments, lowest, highest)
    if one.numbers is not None:
        sizes = np.bincount(one.numbers)
        scores = np.stack([sum_groups(row[:, None], one.numbers)[:, 0] / sizes for row in scores])
    whose = "item" if one.numbers is None else "group"
    averaged = (
        isinstance(one, RowObservations) and one.aggregate is mean_score and one.numbers is None
    )
    return RowObservations(
        metric=one.metric if averaged else f"{one.metric} per {whose}",
        systems=one.systems,
        items=one.items,
        numbers=one.numbers,
        segments=one.segments,
        higher_is_better=one.higher_is_better,
        limits=(lowest, highest),
        signature=f"{one.signature}|mean:{whose}s|limits:{lowest:g}..{highest:g}",
        rows=np.stack((scores, np.ones_like(scores)), axis=-1),
        aggregate=mean_score,
        gradient=mean_score_gradient,
    )


def betted(
    one: RowObservations, baseline: str, candidates: Sequence[str], significance: float
) -> Bounded:
    """By bets on scores of items, see `log_capital`."""
    scores = one.rows[..., 0]
    spread = one.limits[1] - one.limits[0]
    base = one.systems.index(baseline)
    few = log_capital(np.full(one.units, -spread), 0.0, spread) < -math.log(significance)
    found = {}
    for name in candidates:
        place = one.systems.index(name)
        apart: Array = scores[place] - scores[base]
        low, high = betting_bounds(apart, (-spread, spread), significance)
        gain = float(apart.mean())
        reach = Reach(gain - low, high - gain)
        error = float(apart.std(ddof=1)) / math.sqrt(one.units)
        means = scores[place].mean(), scores[base].mean()
        found[name] = _turned(one, *means, reach, error, too_few(one) if few else "")
    return Bounded(found, cut_warning(one))


def cut_warning(one: RowObservations) -> tuple[str, ...]:
    """That scores lie beyond the limits; nothing where none does."""
    lowest, highest = one.limits
    if one.segments is None:
        return ()
    beyond = int(((one.segments < lowest) | (one.segments > highest)).sum())
    if not beyond:
        return ()
    scores = "score lies" if beyond == 1 else "scores lie"
    return (
        f"{beyond:,} {scores} beyond the limits {lowest:g} and {highest:g} and counted as these",
    )
