"""May a new system replace the old one: scores in; one-sided bounds and a decision out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from deltableu._types import Progress
from deltableu.compare.gate_bounds import Bounds, betted, by_unit, exchanged, over_runs
from deltableu.compare.gate_results import POWER, Gate, GateCheck, GateMode, GateScore, Sequential
from deltableu.compare.observations import Observations, RowObservations, observe
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.runs import compare_runs
from deltableu.corpus import ScoreTable, system_runs, with_runs
from deltableu.errors import InputError, check_at_least, check_choice, check_kind, check_known
from deltableu.score import DeltaBLEU, Metric, Scoring, Statistics
from deltableu.stats import jackknife_interval, spent_share

_CONFIDENCE = 0.95
#: Of what all systems did on the first so many units, or on all.
Digest = Callable[[int | None], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePlan:
    """Settings of a gate.

    Attributes
    ----------
    mode : {"worse", "non-inferior", "equivalent"}
        What fails: a system that is shown to be worse than the baseline by more than the margin;
        one that is not shown to be at most so much worse; or one that is not shown to be at most so
        much worse or better.
    margin : float
        In points of the metric. The last two modes need one above 0.
    significance : float
        The chance of a wrong alarm (mode worse), or of a wrong pass, of all checks together.
    sequential : {"off", "commits", "items"}
        commits: this is one of many looks, and the significance is spent over all of them.
        items: the same systems are looked at while items are added. Both are about means of item
        scores, whose bounds hold for every distribution within the limits.
    look : int
        Number of this look, from 1 (commits).
    limits : (float, float), optional
        Lowest and highest score that an item can have, for sequential gates; by default the
        metric's. Scores beyond are cut off.
    trials : int
        Random exchanges, at least: more are drawn where small significances need them.
    seed : int
    """

    mode: GateMode = "worse"
    margin: float = 0.0
    significance: float = 0.05
    sequential: Sequential = "off"
    look: int = 1
    limits: tuple[float, float] | None = None
    trials: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, get_args(GateMode))
        check_choice("sequential", self.sequential, get_args(Sequential))
        if not isinstance(self.margin, int | float) or not 0.0 <= self.margin < math.inf:
            raise InputError(f"margin must be a number from 0 on, got {self.margin!r}")
        if self.mode != "worse" and self.margin == 0.0:
            raise InputError(
                f"mode {self.mode} needs a margin above 0: how much worse would not matter?"
            )
        if not isinstance(self.significance, float) or not 0.0 < self.significance < 0.5:
            raise InputError(f"significance must lie between 0 and 0.5, got {self.significance!r}")
        for name, least in (("look", 1), ("trials", 1), ("seed", 0)):
            check_at_least(name, getattr(self, name), least)
        if self.limits is not None:
            _check_limits(self.limits)
            if self.sequential == "off":
                raise InputError("limits are for sequential gates")


def gate_systems(
    source: Scoring | ScoreTable | Mapping[str, Statistics] | Mapping[str, Sequence[float]],
    *,
    baseline: str,
    systems: Sequence[str] | None = None,
    groups: Sequence[str] | Mapping[str, str] | None = None,
    runs: Literal["auto", "off"] = "auto",
    plan: GatePlan | Callable[[int, Digest], GatePlan] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Gate:
    """Hold systems against a baseline, and say whether they may pass.

    The bounds are one-sided, and rest on studentised exchanges as the intervals of
    `compare_systems` do, corrected for skewness; those of sequential gates rest on bets. Several
    checks share the significance: in mode worse, those of all systems and metrics, because any of
    them can raise a false alarm; else those of all systems, because a system passes only if it does
    so under every metric (Berger 1982, intersection-union tests).

    What cannot be tested (a clamped score, too few items) fails: a gate that saw nothing must not
    say that nothing is wrong.

    Parameters
    ----------
    source : Scoring, ScoreTable, or mapping of str to Statistics or to lists of scores
        As in `compare_systems`.
    baseline : str
    systems : list of str, optional
        By default all others.
    groups : list of str, or mapping of item to group, optional
    runs : {"auto", "off"}
    plan : GatePlan, optional
        Or a function that gives it for so many units, and for digests of what the systems did on
        the first of them: these say which looks there were before.
    threads : int, optional
    progress : callable, optional

    Returns
    -------
    Gate

    Examples
    --------
    >>> scores = {"v1": [3, 4, 6, 5, 7, 6, 5, 4], "v2": [2, 3, 5, 3, 6, 4, 4, 3]}
    >>> gate = gate_systems(scores, baseline="v1")
    >>> gate.passed, gate.sentences()[0]
    (False, 'v2 fails: worse than v1 by 1.25 score (at least 1.05).')
    """
    check_choice("runs", runs, ("auto", "off"))
    seen = _systems_seen(source, baseline, systems)
    found = observe(source, systems=seen, groups=groups)

    def digest(units: int | None = None) -> str:
        return _digest(found, units)

    chosen = plan(found[0].units, digest) if callable(plan) else plan or GatePlan()
    check_kind("plan", chosen, GatePlan)
    known = system_runs(found[0].systems) if runs == "auto" else {}
    several = any(len(some) > 1 for some in known.values())
    names = tuple(known) if several else found[0].systems
    check_known("baseline", baseline, names)
    if chosen.sequential != "off":
        if several:
            raise InputError(
                "sequential gates hold outputs against outputs, and have no bounds for other runs "
                "of a system: take each run for a system of its own (runs off)"
            )
        found = [by_unit(one, chosen.limits) for one in found]
    candidates = [name for name in names if name != baseline]
    family = len(candidates) * (len(found) if chosen.mode == "worse" else 1)
    spent = spent_share(chosen.look) if chosen.sequential == "commits" else 1.0
    significance = chosen.significance * spent / family
    checks: dict[tuple[str, int], GateCheck] = {}
    scores: list[GateScore] = []
    warnings: list[str] = []
    for number, one in enumerate(found):
        if chosen.sequential != "off" and isinstance(one, RowObservations):
            bounded = betted(one, baseline, candidates, significance)
        elif several:
            bounded = over_runs(one, known, baseline, significance)
        else:
            bounded = exchanged(
                one,
                baseline,
                candidates,
                significance,
                trials=chosen.trials,
                seed=chosen.seed,
                threads=threads,
                progress=progress,
            )
        scores += _scores(one, known if several else None)
        warnings += bounded.warnings
        for name in candidates:
            check = _check(name, one.metric, bounded.bounds[name], chosen, significance)
            checks[name, number] = check
    return Gate(
        baseline=baseline,
        mode=chosen.mode,
        margin=float(chosen.margin),
        significance=chosen.significance,
        sequential=chosen.sequential,
        look=chosen.look,
        items=len(found[0].items),
        units=found[0].units,
        units_are="items" if found[0].numbers is None else "groups",
        checks=tuple(checks[name, number] for name in candidates for number in range(len(found))),
        scores=tuple(scores),
        signatures=tuple(one.signature for one in found),
        digest=digest(),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def testable(
    scored: Callable[[Sequence[Metric]], Scoring], metrics: Sequence[Metric]
) -> tuple[Scoring, tuple[str, ...]]:
    """Scores under metrics that can be tested, and which were put in place of others.

    delta-BLEU that is clamped for some system stands still, and gives way to the signed mean.
    """
    found = scored(metrics)
    clamped = {
        one.rows.metric
        for one in found.scores
        if one.rows.adds_up and one.rows.metric.clamped(one.rows.sums())
    }
    settled: list[Metric] = [
        metric.signed() if type(metric) is DeltaBLEU and metric in clamped else metric
        for metric in metrics
    ]
    settled = list(dict.fromkeys(settled))
    if settled == list(metrics):
        return found, ()
    notes = tuple(
        f"{metric.name} is clamped for a system, so that {metric.signed().name} is tested instead"
        for metric in metrics
        if type(metric) is DeltaBLEU and metric in clamped
    )
    return scored(settled), notes


# pytest must not take it for a test.
testable.__test__ = False  # type: ignore[attr-defined]


def _systems_seen(
    source: Scoring | ScoreTable | Mapping[str, Statistics] | Mapping[str, Sequence[float]],
    baseline: str,
    systems: Sequence[str] | None,
) -> list[str] | None:
    if isinstance(systems, str):
        raise InputError(f"systems must be a list of names, got {systems!r}")
    if systems is None:
        return None
    there = source.systems if isinstance(source, Scoring | ScoreTable) else tuple(source)
    wanted = [name for name in systems if name != baseline]
    if not wanted:
        raise InputError("no system was named beside the baseline")
    return list(with_runs([baseline, *wanted], there))


def _scores(
    one: Observations, runs: Mapping[str, tuple[str, ...]] | None = None
) -> list[GateScore]:
    """Scores with intervals of 95%, whatever the bounds of differences have."""
    if runs is not None:
        plan = ComparisonPlan(correction="none", confidence=_CONFIDENCE)
        return [
            GateScore(each.system, one.metric, each.score, each.interval)
            for each in compare_runs(one, runs, plan).systems
        ]
    return [
        GateScore(
            system,
            one.metric,
            float(score),
            None if still else jackknife_interval(float(score), left, _CONFIDENCE, one.limits),
        )
        for system, score, left, still in zip(
            one.systems, one.scores(), one.leave_one_out(), one.clamped(), strict=True
        )
    ]


def _digest(found: Sequence[Observations], units: int | None = None) -> str:
    """Of what all systems did on the first units."""
    made = hashlib.sha256()
    for one in found:
        made.update("\0".join((one.metric, *one.systems)).encode(errors="surrogatepass"))
        rows = one.rows[:, :units] if isinstance(one, RowObservations) else one.leave_one_out()
        made.update(np.ascontiguousarray(rows).tobytes())
    return made.hexdigest()[:16]


def _check(
    system: str, metric: str, bounds: Bounds, plan: GatePlan, significance: float
) -> GateCheck:
    """Hold the bounds against the margin."""
    low, high = bounds.gain - bounds.reach.below, bounds.gain + bounds.reach.above
    inside = {
        "worse": not high < -plan.margin,
        "non-inferior": low > -plan.margin,
        "equivalent": low > -plan.margin and high < plan.margin,
    }[plan.mode]
    untested = bounds.untested or ("" if plan.mode == "worse" else bounds.unbounded)
    if untested and plan.sequential == "commits" and plan.look > 1:
        untested += f" at look {plan.look}"
    sides = 2 if plan.mode == "equivalent" else 1
    power = NormalDist().inv_cdf(1.0 - (1.0 - POWER) / sides)
    reach = bounds.reach.above if plan.mode == "worse" else bounds.reach.below
    smallest = (max(bounds.reach) if sides == 2 else reach) + power * bounds.error
    if plan.mode == "worse":
        smallest += plan.margin
    return GateCheck(
        system=system,
        metric=metric,
        score=bounds.scores[0],
        baseline_score=bounds.scores[1],
        gain=bounds.gain,
        low=low,
        high=high,
        significance=significance,
        smallest=smallest,
        passed=inside and not untested,
        untested=untested,
    )


def _check_limits(limits: object) -> None:
    """Two finite numbers, the lower one first."""
    match limits:
        case (int() | float() as lowest, int() | float() as highest) if (
            math.isfinite(lowest) and math.isfinite(highest) and lowest < highest
        ):
            return
    raise InputError(f"limits must be two numbers, the lower one first, got {limits!r}")
