"""Scores of several systems in; which differences to believe out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from deltableu._types import Array, Bools, Progress, Steps, steps_of
from deltableu.compare.observations import Observations, observe
from deltableu.compare.paired_tests import (
    Verdict,
    bootstrap_p_value,
    koehn_p_value,
    moses_p_value,
    paired_t_test,
    wilcoxon_test,
)
from deltableu.compare.pairs import (
    Estimate,
    Evidence,
    Pairs,
    bend_warnings,
    clamp_warning,
    compare_pairs,
    skew_warning,
    too_skewed,
)
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import Comparison
from deltableu.compare.runs import compare_runs
from deltableu.corpus import ReferenceSet, system_runs
from deltableu.errors import InputError, check_choice, check_kind
from deltableu.score import Metric, scored_source
from deltableu.stats import (
    TIED,
    ConfidenceInterval,
    bca_interval,
    critical_value,
    enumerable,
    jackknife_interval,
    jackknife_p_value,
    percentile_interval,
    permutation_p_value,
)

#: Exchanges that an exact test enumerates at most.
_LARGEST_ENUMERATION = 20
_EXCHANGING = ("studentized", "randomization", "permutation")


def compare_systems(
    source: Any,
    *,
    references: ReferenceSet | Sequence[Sequence[str]] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    messages: Sequence[str] | None = None,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    columns: Mapping[str, str | Sequence[str]] | str | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    groups: Sequence[str] | Mapping[str, str] | None = None,
    runs: Literal["auto", "off"] = "auto",
    plan: ComparisonPlan | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Compare every pair of systems, or every system with a baseline; one comparison a metric.

    Parameters
    ----------
    source : Scoring, ScoreTable, Study, path, data frame, or mapping
        What `score_systems` or `read_scores` give. Or scores: each system's rows under one metric,
        its score for every item (higher being better), or a data frame or file of scores, see
        `read_scores`. Or texts that are scored first: whatever `score_systems` takes.
    references, weights, messages, metrics, columns, select, no_positive
        For texts, see `score_systems`; `columns` also names those of a data frame of scores, and
        `metrics` chooses from scores.
    systems : list of str, optional
        Only these.
    baseline : str, optional
        Test only differences from this system.
    groups : list of str, or mapping of item to group, optional
        What each item belongs to (a document, a dialogue, a user), in the order of the items: whole
        groups are then resampled and exchanged.
    runs : {"auto", "off"}
        "auto" takes names such as A@1 and A@2 for runs of a system A, whose score is their mean,
        and tests with the variance between items and that between runs; "off" takes each for a
        system of its own.
    plan : ComparisonPlan, optional
        Tests, intervals, corrections, seed.
    threads : int, optional
        All cores by default; no result depends on it.
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    tuple of Comparison

    References
    ----------
    Dror et al. 2018, "The Hitchhiker's Guide to Testing Statistical Significance in NLP".

    Examples
    --------
    >>> scores = {"A": [3, 4, 6, 5, 7, 6], "B": [2, 2, 5, 3, 6, 4], "C": [3, 4, 5, 6, 6, 7]}
    >>> (comparison,) = compare_systems(scores)
    >>> [(pair.first, pair.second, pair.p_values["studentized"]) for pair in comparison.pairs]
    [('A', 'C', 1.0), ('A', 'B', 0.03125), ('C', 'B', 0.125)]

    Texts are scored first:

    >>> texts = {"v1": ["yes", "no idea", "so"], "v2": ["yes , i do", "no", "so so"]}
    >>> compare_systems(texts, references=[["yes , i do"], ["no"], ["so so"]], metrics="chrf")
    (Comparison(chrf: v2 100.00 a, v1 39.99 a; 3 items, 0 of 1 pairs significant),)
    """
    check_choice("runs", runs, ("auto", "off"))
    chosen = plan or ComparisonPlan()
    check_kind("plan", chosen, ComparisonPlan)
    source = scored_source(
        source,
        references=references,
        weights=weights,
        messages=messages,
        metrics=metrics,
        columns=columns,
        select=select,
        no_positive=no_positive,
        systems=systems,
        threads=threads,
        progress=progress,
    )
    made = []
    for one in observe(source, systems=systems, groups=groups):
        known = system_runs(one.systems) if runs == "auto" else {}
        if any(len(several) > 1 for several in known.values()):
            made.append(compare_runs(one, known, chosen, baseline))
        else:
            made.append(
                compare_observations(one, chosen, baseline, threads=threads, progress=progress)
            )
    return tuple(made)


def compare_observations(
    observations: Observations,
    plan: ComparisonPlan,
    baseline: str | None = None,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems under one metric."""
    found = _Resampled(observations, plan, threads, progress)
    evidence = Evidence(
        metric=observations.metric,
        systems=observations.systems,
        items=len(observations.items),
        groups=None if observations.numbers is None else observations.units,
        higher_is_better=observations.higher_is_better,
        tests=plan.tests,
        scores=found.scores,
        estimate=lambda first, second: Estimate(found.interval(first, second)),
        verdicts=found.verdicts,
        exact=found.exact,
        signature=lambda pairs: f"{observations.signature}|{plan.signature(pairs)}",
        warnings=found.warnings,
    )
    return compare_pairs(evidence, plan, baseline)


@dataclass(eq=False)
class _Resampled:
    """One metric's observations and what was resampled of them so far."""

    observations: Observations
    plan: ComparisonPlan
    threads: int | None
    progress: Progress | None
    #: Statistics after exchanges, by pair.
    _statistics: dict[tuple[int, int], Array] = field(default_factory=dict)
    #: Pairs that are tested together.
    _family: int = 1

    @cached_property
    def scores(self) -> Array:
        return self.observations.scores()

    @cached_property
    def left_out(self) -> Array:
        return self.observations.leave_one_out()

    @cached_property
    def samples(self) -> Array:
        """Bootstrap samples x systems."""
        plan, progress = self.plan, self._steps("bootstrap")
        return self.observations.bootstrap(plan.resamples, plan.seed, self.threads, progress)

    @cached_property
    def exchanges(self) -> Callable[[int, int], Array]:
        progress = self._steps("randomization")
        trials = self.plan.exchanges(self._family)
        return self.observations.exchanges(trials, self.plan.seed, self.threads, progress)

    @cached_property
    def clamped(self) -> Bools:
        return self.observations.clamped()

    def interval(self, first: int, second: int | None) -> ConfidenceInterval | None:
        """The interval of a system's score, or of a difference."""
        plan = self.plan
        lowest, highest = self.observations.limits
        if self.clamped[first] or (second is not None and self.clamped[second]):
            return None

        def apart(values: Array) -> Any:
            return values[first] if second is None else values[first] - values[second]

        limits = (lowest, highest) if second is None else (lowest - highest, highest - lowest)
        observed = float(apart(self.scores))
        exchange = self.observations.exchange
        # Systems that differ nowhere leave nothing to exchange.
        differ = second is not None and self.observations.differing(first, second) > 0
        if plan.interval == "studentized" and second is not None and exchange and differ:
            found = self._statistics[first, second]
            exact = self.exact([(first, second)], "studentized")
            reach = critical_value(found, plan.confidence, exact=exact)
            reach *= exchange.error(first, second) or (0.0 if reach < math.inf else 1.0)
            reach *= 1.0 + TIED
            low, high = max(observed - reach, limits[0]), min(observed + reach, limits[1])
            return ConfidenceInterval(low, high, plan.confidence, "studentized")
        if plan.interval in ("studentized", "jackknife") or not self.observations.can_bootstrap:
            return jackknife_interval(observed, apart(self.left_out), plan.confidence, limits)
        samples = apart(self.samples.T)
        if plan.interval == "percentile":
            low, high = percentile_interval(samples, plan.confidence)
        else:
            low, high = bca_interval(samples, observed, apart(self.left_out), plan.confidence)
        method = f"{plan.interval} bootstrap, n={plan.resamples}"
        return ConfidenceInterval(low, high, plan.confidence, method)

    def exact(self, pairs: Pairs, test: str | None = None) -> bool:
        """Whether a test, the deciding one by default, tries all exchanges of all these pairs.

        Those by exchanges do where that costs no more than random ones.
        """
        test = test or self.plan.tests[0]
        if test == "studentized" and self.observations.exchange is None:
            return False
        differing = (self.observations.differing(*pair) for pair in pairs)
        most = min(2**_LARGEST_ENUMERATION, self.plan.exchanges(self._family))
        return test == "permutation" or (
            test in ("studentized", "randomization")
            and all(enumerable(units, most) for units in differing)
        )

    def verdicts(self, test: str, pairs: Pairs) -> list[Verdict]:
        """What a test says of all pairs."""
        self._family = len(pairs)
        if "studentized" in (test, self.plan.interval):
            self._exchange(pairs)
        return [self._verdict(test, *pair) for pair in pairs]

    def _exchange(self, pairs: Pairs) -> None:
        """Exchange the outputs of pairs, and keep the statistics."""
        exchange = self.observations.exchange
        new = [pair for pair in pairs if pair not in self._statistics]
        if exchange is None or not new:
            return
        enumerated = [pair for pair in new if self.exact([pair], "studentized")]
        for pair in enumerated:
            self._statistics[pair] = exchange.all_statistics(*pair)
        drawn = [pair for pair in new if pair not in enumerated]
        if drawn:
            found = exchange.statistics(
                drawn,
                self.plan.exchanges(len(pairs)),
                self.plan.seed,
                threads=self.threads,
                progress=self._steps("exchanges"),
            )
            self._statistics |= {pair: found[:, place] for place, pair in enumerate(drawn)}

    def _verdict(self, test: str, first: int, second: int) -> Verdict:
        if test in ("wilcoxon", "t-test"):
            segments = self._segments(test)
            function = wilcoxon_test if test == "wilcoxon" else paired_t_test
            return function(segments[first], segments[second], self.observations.numbers)
        observed = float(self.scores[first] - self.scores[second])
        if self.clamped[[first, second]].any():
            return Verdict(math.nan, 0.0)
        return Verdict(self._p_value(test, first, second, observed), float(np.sign(observed)))

    def _p_value(self, test: str, first: int, second: int, observed: float) -> float:
        scale = float(np.abs(self.scores[[first, second]]).max())
        if test == "studentized":
            return self._studentized(first, second, observed)
        if test in ("permutation", "randomization"):
            if test == "permutation":
                self._check_enumeration(first, second)
            exact = self.exact([(first, second)], test)
            tried = self.observations.all_exchanges if exact else self.exchanges
            differences = tried(first, second)
            return float(permutation_p_value(differences, observed, exact=exact, scale=scale))
        samples = self.samples[:, first] - self.samples[:, second]
        resampled = {
            "bootstrap": bootstrap_p_value,
            "koehn": koehn_p_value,
            "moses": moses_p_value,
        }
        return resampled[test](samples, observed, scale)

    def _studentized(self, first: int, second: int, observed: float) -> float:
        exchange = self.observations.exchange
        if exchange is None:
            # What is pooled has no sums to exchange: Student's with the jackknife's error.
            left_out = self.left_out[first] - self.left_out[second]
            return jackknife_p_value(observed, left_out)
        exact = self.exact([(first, second)], "studentized")
        statistic = exchange.statistic(first, second)
        found = permutation_p_value(
            self._statistics[first, second], statistic, exact=exact, scale=1e3 * abs(statistic)
        )
        return float(found)

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """What to know before a claim is made."""
        of = "items" if self.observations.numbers is None else "groups"
        units, significance = self.observations.units, self.plan.significance
        least = 2.0 ** (1 - units) * (1 if self.plan.correction == "none" else len(pairs))
        found = []
        if self.plan.tests[0] in _EXCHANGING and least >= significance:
            found.append(f"{units} {of} are too few for any difference to be significant")
        return (*found, *pair_warnings(self.observations, pairs))

    def _segments(self, test: str) -> Array:
        if self.observations.segments is None:
            metric = self.observations.metric
            raise InputError(f"{test} needs scores of segments, and {metric} has none")
        return self.observations.segments

    def _check_enumeration(self, first: int, second: int) -> None:
        differing = self.observations.differing(first, second)
        if differing > _LARGEST_ENUMERATION:
            names = self.observations.systems
            of = "items" if self.observations.numbers is None else "groups of items"
            raise InputError(
                f"{names[first]!r} and {names[second]!r} differ on {differing} {of}, too many to "
                f"try all exchanges (at most {_LARGEST_ENUMERATION}); use studentized"
            )

    def _steps(self, what: str) -> Steps | None:
        return steps_of(self.progress, f"{self.observations.metric}, {what}")


def pair_warnings(observations: Observations, pairs: Pairs) -> tuple[str, ...]:
    """What to know of differences between these pairs, however they are tested."""
    names, clamped = observations.systems, observations.clamped()
    of = "items" if observations.numbers is None else "groups"
    units, exchange = observations.units, observations.exchange
    found = [*clamp_warning([name for name, flag in zip(names, clamped, strict=True) if flag])]
    told = [pair for pair in pairs if exchange is not None and not clamped[list(pair)].any()]
    if exchange is not None and told:
        influences, scores = exchange.influences, observations.scores()
        skewed = [(a, b) for a, b in told if too_skewed(influences[a] - influences[b])]
        found += skew_warning([(names[a], names[b]) for a, b in skewed], units, of)
        even = [(a, b) for a, b in told if exchange.error(a, b) == 0.0 and scores[a] != scores[b]]
        if even:
            first, second = (names[place] for place in even[0])
            found.append(
                f"{first} and {second} differ by the same on all {units} {of}: that shows no "
                "spread, and is no proof that there is none"
            )
    return (*found, *bend_warnings(observations.bends()))
