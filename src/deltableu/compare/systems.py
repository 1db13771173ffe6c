"""Scores of several systems in; which differences to believe out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deltableu._types import Array, Progress, Steps, steps_of
from deltableu.compare.observations import Observations, observe
from deltableu.compare.paired_tests import (
    bootstrap_p_value,
    koehn_p_value,
    moses_p_value,
    paired_t_test,
    wilcoxon_test,
)
from deltableu.compare.pairs import Estimate, Evidence, compare_pairs
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import Comparison
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.score import Scoring, Statistics
from deltableu.stats import (
    ConfidenceInterval,
    bca_interval,
    enumerable,
    jackknife_interval,
    percentile_interval,
    permutation_p_value,
)

#: Exchanges that an exact test enumerates at most.
_LARGEST_ENUMERATION = 20


def compare_systems(
    source: Scoring | ScoreTable | Mapping[str, Statistics] | Mapping[str, Sequence[float]],
    *,
    systems: Sequence[str] | None = None,
    baseline: str | None = None,
    plan: ComparisonPlan | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Comparison, ...]:
    """Compare every pair of systems, or every system with a baseline; one comparison a metric.

    Parameters
    ----------
    source : Scoring, ScoreTable, or mapping of str to Statistics or to lists of scores
        What `score_systems` or `read_scores` give; or each system's rows under one metric; or its
        score for every item, in the same order of items, higher being better.
    systems : list of str, optional
        Only these.
    baseline : str, optional
        Test only differences from this system.
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
    >>> [(pair.first, pair.second, pair.p_values["randomization"]) for pair in comparison.pairs]
    [('A', 'C', 1.0), ('A', 'B', 0.03125), ('C', 'B', 0.125)]
    """
    chosen = plan or ComparisonPlan()
    found = observe(source, systems=systems)
    return tuple(
        compare_observations(one, chosen, baseline, threads=threads, progress=progress)
        for one in found
    )


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
        higher_is_better=observations.higher_is_better,
        tests=plan.tests,
        signature=f"{observations.signature}|{plan.signature()}",
        scores=found.scores,
        estimate=lambda first, second: Estimate(found.interval(first, second)),
        p_value=found.p_value,
        exact=found.exact,
    )
    return compare_pairs(evidence, plan, baseline)


@dataclass(frozen=True, eq=False)
class _Resampled:
    """One metric's observations and what was resampled of them so far."""

    observations: Observations
    plan: ComparisonPlan
    threads: int | None
    progress: Progress | None

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
        plan, progress = self.plan, self._steps("randomization")
        return self.observations.exchanges(plan.trials, plan.seed, self.threads, progress)

    def interval(self, first: int, second: int | None) -> ConfidenceInterval:
        """Of a system's score, or of a difference."""
        plan = self.plan

        def apart(values: Array) -> Any:
            return values[first] if second is None else values[first] - values[second]

        observed = float(apart(self.scores))
        if plan.interval == "jackknife" or not self.observations.can_bootstrap:
            low, high = jackknife_interval(observed, apart(self.left_out), plan.level)
            if second is None:
                lowest, highest = self.observations.limits
                low, high = max(low, lowest), min(high, highest)
            return ConfidenceInterval(low, high, plan.level, "jackknife")
        samples = apart(self.samples.T)
        if plan.interval == "percentile":
            low, high = percentile_interval(samples, plan.level)
        else:
            low, high = bca_interval(samples, observed, apart(self.left_out), plan.level)
        return ConfidenceInterval(
            low, high, plan.level, f"{plan.interval} bootstrap, n={plan.resamples}"
        )

    def exact(self, pairs: Sequence[tuple[int, int]], test: str | None = None) -> bool:
        """Whether a test, the deciding one by default, tries all exchanges of all these pairs.

        Randomization does where that costs no more than random ones.
        """
        test = test or self.plan.tests[0]
        differing = (self.observations.differing_items(*pair) for pair in pairs)
        most = min(2**_LARGEST_ENUMERATION, self.plan.trials)
        return test == "permutation" or (
            test == "randomization" and all(enumerable(units, most) for units in differing)
        )

    def p_value(self, test: str, first: int, second: int) -> float:
        observed = float(self.scores[first] - self.scores[second])
        scale = float(np.abs(self.scores[[first, second]]).max())
        if test in ("permutation", "randomization"):
            if test == "permutation":
                self._check_enumeration(first, second)
            exact = self.exact([(first, second)], test)
            tried = self.observations.all_exchanges if exact else self.exchanges
            differences = tried(first, second)
            return float(permutation_p_value(differences, observed, exact=exact, scale=scale))
        if test in ("wilcoxon", "t-test"):
            segments = self._segments(test)
            function = wilcoxon_test if test == "wilcoxon" else paired_t_test
            return function(segments[first], segments[second])
        samples = self.samples[:, first] - self.samples[:, second]
        resampled = {
            "bootstrap": bootstrap_p_value,
            "koehn": koehn_p_value,
            "moses": moses_p_value,
        }
        return resampled[test](samples, observed, scale)

    def _segments(self, test: str) -> Array:
        if self.observations.segments is None:
            metric = self.observations.metric
            raise InputError(f"{test} needs scores of segments, and {metric} has none")
        return self.observations.segments

    def _check_enumeration(self, first: int, second: int) -> None:
        differing = self.observations.differing_items(first, second)
        if differing > _LARGEST_ENUMERATION:
            names = self.observations.systems
            raise InputError(
                f"{names[first]!r} and {names[second]!r} differ on {differing} items, too many to "
                f"try all exchanges (at most {_LARGEST_ENUMERATION}); use randomization"
            )

    def _steps(self, what: str) -> Steps | None:
        return steps_of(self.progress, f"{self.observations.metric}, {what}")
