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
from deltableu.compare.gate_results import POWER, Gate, GateCheck, GateMode, GateScore, Sequential
from deltableu.compare.observations import Observations, RowObservations, observe
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import ComparedPair, Comparison, RunShares
from deltableu.compare.runs import compare_runs
from deltableu.compare.systems import compare_observations
from deltableu.corpus import ScoreTable, system_runs, with_runs
from deltableu.errors import InputError, check_at_least, check_choice, check_kind, check_known
from deltableu.score import DeltaBLEU, Metric, Scoring, Statistics
from deltableu.stats import confidence_sequence_reach, jackknife_interval, spent_share

#: Exchanges at most, and how many of them must lie beyond a bound for it to be read off them.
_MOST_TRIALS = 100_000
_BEYOND = 20
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
        items: the same systems are looked at while items are added.
    look : int
        Number of this look, from 1 (commits).
    planned : int, optional
        Items at the first look (items), for which the bounds are at their best.
    trials : int
        Random exchanges, at least: more are drawn where small significances need them.
    seed : int
    """

    mode: GateMode = "worse"
    margin: float = 0.0
    significance: float = 0.05
    sequential: Sequential = "off"
    look: int = 1
    planned: int | None = None
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
        if self.planned is not None:
            check_at_least("planned", self.planned, 2)


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

    The bounds are those of the intervals of `compare_systems` (studentised exchanges), one-sided.
    Several checks share the significance: in mode worse, those of all systems and metrics, because
    any of them can raise a false alarm; else those of all systems, because a system passes only if
    it does so under every metric (Berger 1982, intersection-union tests).

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
    (False, 'v2 fails: worse than v1 by 1.25 score (at least 0.95).')
    """
    check_choice("runs", runs, ("auto", "off"))
    seen = _systems_seen(source, baseline, systems)
    found = observe(source, systems=seen, groups=groups)

    def digest(units: int | None = None) -> str:
        return _digest(found, units)

    chosen = plan(found[0].units, digest) if callable(plan) else plan or GatePlan()
    check_kind("plan", chosen, GatePlan)
    if chosen.sequential == "items" and any(one.exchange is None for one in found):
        raise InputError("sequential items needs metrics that sum over items")
    known = system_runs(found[0].systems) if runs == "auto" else {}
    several = any(len(some) > 1 for some in known.values())
    names = tuple(known) if several else found[0].systems
    check_known("baseline", baseline, names)
    candidates = [name for name in names if name != baseline]
    family = len(candidates) * (len(found) if chosen.mode == "worse" else 1)
    spent = spent_share(chosen.look) if chosen.sequential == "commits" else 1.0
    significance = chosen.significance * spent / family
    checks: dict[tuple[str, int], GateCheck] = {}
    scores: list[GateScore] = []
    warnings: list[str] = []
    for number, one in enumerate(found):
        trials = min(_MOST_TRIALS, max(chosen.trials, math.ceil(_BEYOND / significance)))
        # Student's bounds need no exchanges, and are as good at any significance.
        exchanges = one.exchange is not None and not several
        readable = max(significance, _BEYOND / (2.0 * trials)) if exchanges else significance
        made = ComparisonPlan(
            correction="none", confidence=1.0 - 2.0 * readable, trials=trials, seed=chosen.seed
        )
        if several:
            compared = compare_runs(one, known, made, baseline)
        else:
            compared = compare_observations(one, made, baseline, threads=threads, progress=progress)
        scores += _scores(one, compared)
        warnings += [text for text in compared.warnings if "too few" not in text]
        for name in candidates:
            pair = compared.pair(name, baseline)
            bound = _Bound.of(one, pair, compared, chosen, significance, readable)
            checks[name, number] = bound.check(chosen, significance)
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


def _scores(one: Observations, compared: Comparison) -> list[GateScore]:
    """Scores with intervals of 95%, whatever the bounds of differences have."""
    left_out = dict(zip(one.systems, one.leave_one_out(), strict=True))
    made = []
    for system in compared.systems:
        interval = system.interval
        if interval is not None and system.system in left_out:
            scores = left_out[system.system]
            interval = jackknife_interval(system.score, scores, _CONFIDENCE, one.limits)
        made.append(GateScore(system.system, one.metric, system.score, interval))
    return made


def _digest(found: Sequence[Observations], units: int | None = None) -> str:
    """Of what all systems did on the first units."""
    made = hashlib.sha256()
    for one in found:
        made.update("\0".join((one.metric, *one.systems)).encode(errors="surrogatepass"))
        rows = one.rows[:, :units] if isinstance(one, RowObservations) else one.leave_one_out()
        made.update(np.ascontiguousarray(rows).tobytes())
    return made.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Bound:
    """How sure the difference of a system from the baseline is."""

    pair: ComparedPair
    metric: str
    scores: tuple[float, float]
    gain: float
    reach: float
    error: float
    same: bool
    untested: str

    @classmethod
    def of(
        cls,
        one: Observations,
        pair: ComparedPair,
        compared: Comparison,
        plan: GatePlan,
        significance: float,
        readable: float,
    ) -> _Bound:
        found = {system.system: system.score for system in compared.systems}
        scores = (found[pair.first], found[pair.second])
        gain = pair.difference if one.higher_is_better else -pair.difference
        reach, error, same, untested = math.inf, 0.0, False, ""
        if pair.interval is None:
            untested = "a score is clamped: the matches of some order sum to nothing or less"
        elif isinstance(pair.variance, RunShares):
            error = math.sqrt(pair.variance.both)
            reach = _half(pair)
        else:
            first, second = one.systems.index(pair.first), one.systems.index(pair.second)
            same = one.differing(first, second) == 0
            error = _error(one, first, second, pair.difference)
            reach = _half(pair) * _farther(one, first, second, significance, readable)
            if plan.sequential == "items" and reach < math.inf:
                planned = plan.planned or one.units
                reach = error * confidence_sequence_reach(one.units, planned, significance)
        if not untested and not same and math.isinf(reach):
            of = "items" if one.numbers is None else "groups"
            untested = f"{one.units} {of} are too few for any difference to be significant"
            if plan.sequential == "commits" and plan.look > 1:
                untested += f" at look {plan.look}"
        return cls(pair, one.metric, scores, gain, reach, error, same, untested)

    def check(self, plan: GatePlan, significance: float) -> GateCheck:
        """Hold the bounds against the margin."""
        low, high = self.gain - self.reach, self.gain + self.reach
        inside = {
            "worse": not high < -plan.margin,
            "non-inferior": low > -plan.margin,
            "equivalent": low > -plan.margin and high < plan.margin,
        }[plan.mode]
        # Equal outputs are no worse, however few they are.
        passed = inside and not self.untested
        sides = 2 if plan.mode == "equivalent" else 1
        power = NormalDist().inv_cdf(1.0 - (1.0 - POWER) / sides)
        smallest = self.reach + power * self.error
        if plan.mode == "worse":
            smallest += plan.margin
        return GateCheck(
            system=self.pair.first,
            metric=self.metric,
            score=self.scores[0],
            baseline_score=self.scores[1],
            gain=self.gain,
            low=low,
            high=high,
            significance=significance,
            smallest=smallest,
            passed=passed,
            untested=self.untested,
        )


def _half(pair: ComparedPair) -> float:
    """How far the interval reaches from the difference; infinitely where it has no end."""
    if pair.interval is None:
        return math.inf
    return max(pair.difference - pair.interval.low, pair.interval.high - pair.difference)


def _error(one: Observations, first: int, second: int, difference: float) -> float:
    if one.exchange is not None:
        return one.exchange.error(first, second)
    left_out = one.leave_one_out()
    made = jackknife_interval(difference, left_out[first] - left_out[second], 0.5)
    from scipy.special import stdtrit

    return (made.high - difference) / float(stdtrit(one.units - 1, 0.75))


def _farther(
    one: Observations, first: int, second: int, significance: float, readable: float
) -> float:
    """How much farther a bound reaches than the last that can be read off exchanges.

    As much as Student's would; infinitely where not even all exchanges are enough.
    """
    if one.exchange is None:
        return 1.0
    if significance * 2.0 ** min(one.differing(first, second), 1000) <= 1.0:
        return math.inf
    if readable == significance:
        return 1.0
    from scipy.special import stdtrit

    freedom = one.units - 1
    return float(stdtrit(freedom, 1.0 - significance) / stdtrit(freedom, 1.0 - readable))
