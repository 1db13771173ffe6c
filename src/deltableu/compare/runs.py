"""Several runs of each system in; comparisons that know that other runs would score otherwise out.

A system's score is the mean of its runs' scores. Other items would have changed it, and so would
other runs (seeds, samples): both variances are estimated, and what items and runs change together
is counted once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deltableu._types import Array, Bools
from deltableu.compare.observations import Observations
from deltableu.compare.paired_tests import Verdict
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
from deltableu.compare.results import Comparison, RunShares
from deltableu.errors import InputError
from deltableu.stats import ConfidenceInterval

#: What the p-values of these comparisons are called.
TEST = "items and runs"
#: Errors below this part of the scores are the rounding of none.
_NOTHING = 1e-12
#: Runs from which on it hardly matters whether those of other systems vary as much.
_ENOUGH = 5


def compare_runs(
    observations: Observations,
    runs: Mapping[str, tuple[str, ...]],
    plan: ComparisonPlan,
    baseline: str | None = None,
) -> Comparison:
    """Compare systems under one metric by all their runs.

    Parameters
    ----------
    observations : Observations
        The observations of all runs.
    runs : mapping of str to tuple of str
        The runs of each system.
    plan : ComparisonPlan
        Only correction and levels count.
    baseline : str, optional
        Test only differences from this system.
    """
    standard = ComparisonPlan()
    if plan.tests != standard.tests or plan.interval != standard.interval:
        raise InputError(
            "systems with several runs have their own test and interval: choose no others, or "
            "compare the runs one by one (runs off)"
        )
    if len(runs) < 2:
        raise InputError(
            f"a comparison needs at least two systems: there are only runs of {next(iter(runs))!r}"
        )
    found = RunEvidence.of(observations, runs)
    evidence = Evidence(
        metric=observations.metric,
        systems=found.systems,
        items=len(observations.items),
        groups=None if observations.numbers is None else observations.units,
        higher_is_better=observations.higher_is_better,
        tests=(TEST,),
        scores=found.scores,
        estimate=lambda first, second: found.estimate(first, second, plan.confidence),
        verdicts=lambda test, pairs: [found.verdict(*pair) for pair in pairs],
        exact=lambda pairs: False,
        signature=lambda pairs: (
            f"{observations.signature}|runs:{'+'.join(map(str, found.counts))}|test:items+runs"
            f"|correction:{plan.correction}|significance:{plan.significance:g}"
            f"|ci:items+runs-{plan.confidence:g}"
        ),
        warnings=lambda pairs: (*found.warnings(pairs), *bend_warnings(observations.bends())),
    )
    return compare_pairs(evidence, plan, baseline)


@dataclass(frozen=True, slots=True)
class _Runs:
    """How many runs a system has, their variance, and how much of it other items explain."""

    count: int
    variance: float
    crossed: float

    @classmethod
    def of(cls, scores: Array, influences: Array) -> _Runs:
        runs, units = influences.shape
        if runs == 1:
            return cls(1, 0.0, 0.0)
        centred = influences - influences.mean(axis=0) - influences.mean(axis=1, keepdims=True)
        centred += influences.mean()
        crossed = units / (units - 1) * float((centred**2).sum()) / (runs - 1)
        return cls(runs, float(scores.var(ddof=1)), crossed)

    def beyond_items(self, variance: float) -> float:
        """What the mean over runs has of it beyond runs x items."""
        return max(variance - self.crossed, 0.0) / self.count


@dataclass(frozen=True, eq=False)
class RunEvidence:
    """Scores of runs, and by how much each unit of items moves them.

    Attributes
    ----------
    systems : tuple of str
    run_scores : tuple of arrays
        The scores of each system's runs.
    influences : tuple of arrays, runs x units
        What the items, or groups of them, do to the scores of each system's runs.
    clamped : array of bool
        Systems with a run whose score stands still.
    limits : (float, float)
        Lowest and highest score.
    units_are : str
        What units are called.

    References
    ----------
    Cameron, Gelbach and Miller 2011, "Robust inference with multiway clustering"; Satterthwaite
    1946, "An approximate distribution of estimates of variance components".
    """

    systems: tuple[str, ...]
    run_scores: tuple[Array, ...]
    influences: tuple[Array, ...]
    clamped: Bools
    limits: tuple[float, float]
    units_are: str = "items"

    @classmethod
    def of(cls, observations: Observations, runs: Mapping[str, tuple[str, ...]]) -> RunEvidence:
        """Runs by the systems they belong to."""
        scores, clamped = observations.scores(), observations.clamped()
        if observations.exchange is not None:
            influences = observations.exchange.influences
        else:
            size = observations.units
            influences = observations.leave_one_out() * ((1 - size) / size)
        places = [[observations.systems.index(run) for run in some] for some in runs.values()]
        return cls(
            tuple(runs),
            tuple(scores[some] for some in places),
            tuple(influences[some] for some in places),
            np.array([clamped[some].any() for some in places]),
            observations.limits,
            "items" if observations.numbers is None else "groups",
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """How many runs each system has."""
        return tuple(map(len, self.run_scores))

    @property
    def units(self) -> int:
        """Items, or groups of them."""
        return int(self.influences[0].shape[1])

    @cached_property
    def scores(self) -> Array:
        """The mean score of each system's runs."""
        return np.array([float(scores.mean()) for scores in self.run_scores])

    def difference(self, first: int, second: int | None) -> float:
        """The score of the first system, less that of the second; what is rounding is 0."""
        if second is None:
            return float(self.scores[first])
        apart = float(self.scores[first] - self.scores[second])
        return apart if abs(apart) > _NOTHING * self._scale(first, second) else 0.0

    def variance(self, first: int, second: int | None = None) -> RunShares:
        """Where a system's score varies, or the difference of two, whose items are the same.

        The variance of the mean over runs from other items, and what runs differ by beyond what
        their outputs on the same items do: V(items) + max(V(runs) - V(runs x items), 0), the latter
        for each system.
        """
        units = self.units
        apart = self.influences[first].mean(axis=0)
        if second is not None:
            apart = apart - self.influences[second].mean(axis=0)
        items = units / (units - 1) * float(((apart - apart.mean()) ** 2).sum())
        systems = [place for place in (first, second) if place is not None]
        several = [self._runs[place] for place in systems if self.counts[place] > 1]
        runs = sum(one.beyond_items(one.variance) for one in several)
        if math.sqrt(items + runs) <= _NOTHING * self._scale(*systems):
            return RunShares(0.0, 0.0, units - 1.0)
        # Two or three runs may be close by chance, and then look as if only items mattered.
        degrees = min(
            self._degrees(items, several, 0.0), self._degrees(items, several, self._pooled)
        )
        return RunShares(items, runs, degrees)

    @cached_property
    def _runs(self) -> tuple[_Runs, ...]:
        return tuple(map(_Runs.of, self.run_scores, self.influences))

    @cached_property
    def _pooled(self) -> float:
        """The variance of single runs in all systems together."""
        degrees = sum(count - 1 for count in self.counts)
        squares = sum((one.count - 1) * one.variance for one in self._runs)
        return squares / degrees if degrees else 0.0

    def _degrees(self, items: float, several: Sequence[_Runs], least: float) -> float:
        """Satterthwaite's, if runs of a system have at least that variance."""
        assumed = [(one, max(one.variance, least)) for one in several]
        total = items + sum(one.beyond_items(variance) for one, variance in assumed)
        # What is taken off for the items has next to no error: that of V(runs) is the whole's.
        spread = items**2 / (self.units - 1)
        spread += sum((variance / one.count) ** 2 / (one.count - 1) for one, variance in assumed)
        fewest = min((one.count - 1 for one in several), default=self.units - 1)
        return float(min(max(total**2 / spread, fewest), self.units - 1))

    def estimate(self, first: int, second: int | None, confidence: float) -> Estimate:
        """Student's interval, within the limits of scores; none where a score is clamped."""
        from scipy.special import stdtrit

        if self.clamped[first] or (second is not None and self.clamped[second]):
            return Estimate(None)
        shares = self.variance(first, second)
        low, high = self.limits
        limits = (low, high) if second is None else (low - high, high - low)
        reach = float(stdtrit(shares.degrees, (1.0 + confidence) / 2.0)) * math.sqrt(shares.both)
        # As many equal differences must be a surprise, even if each could have either sign.
        if shares.both == 0.0 and 2.0 ** (1 - self.units) >= 1.0 - confidence:
            reach = math.inf
        centre = self.difference(first, second)
        ends = max(centre - reach, limits[0]), min(centre + reach, limits[1])
        return Estimate(ConfidenceInterval(*ends, confidence, TEST), shares)

    def verdict(self, first: int, second: int) -> Verdict:
        """Student's test that goes with the interval."""
        from scipy.special import stdtr

        if self.clamped[first] or self.clamped[second]:
            return Verdict(math.nan, 0.0)
        shares, apart = self.variance(first, second), self.difference(first, second)
        sign = float(np.sign(apart))
        if shares.both == 0.0:
            return Verdict(1.0 if apart == 0.0 else 2.0 ** (1 - self.units), sign)
        p_value = 2.0 * float(stdtr(shares.degrees, -abs(apart) / math.sqrt(shares.both)))
        return Verdict(p_value, sign)

    def strength(self, first: int, second: int, significance: float) -> float:
        """The difference over its error, as a multiple of what is significant; 0 at a clamp."""
        from scipy.special import stdtrit

        if self.clamped[first] or self.clamped[second]:
            return 0.0
        shares, apart = self.variance(first, second), self.difference(first, second)
        if shares.both == 0.0:
            sure = 2.0 ** (1 - self.units) < significance
            return math.copysign(math.inf, apart) if apart != 0.0 and sure else 0.0
        critical = float(stdtrit(shares.degrees, 1.0 - significance / 2.0))
        return apart / math.sqrt(shares.both) / critical

    def warnings(self, pairs: Pairs) -> tuple[str, ...]:
        """What to know before a claim is made."""
        names = self.systems
        still = [name for name, flag in zip(names, self.clamped, strict=True) if flag]
        alone = [name for name, runs in zip(names, self.counts, strict=True) if runs == 1]
        few = [name for name, runs in zip(names, self.counts, strict=True) if 1 < runs < _ENOUGH]
        found = [*clamp_warning(still)]
        if alone:
            found.append(
                f"only one run of {', '.join(alone)}: how others would score is unknown, so that "
                "claims are about this output only"
            )
        if few:
            found.append(
                f"fewer than {_ENOUGH} runs of {', '.join(few)}: tests hold only if the runs of "
                "all systems vary about as much, which so few cannot show"
            )
        means = [influences.mean(axis=0) for influences in self.influences]
        skewed = [
            (names[first], names[second])
            for first, second in pairs
            if not self.clamped[[first, second]].any() and too_skewed(means[first] - means[second])
        ]
        found += skew_warning(skewed, self.units, self.units_are)
        return tuple(found)

    def _scale(self, *systems: int) -> float:
        return max(float(np.abs(self.run_scores[place]).max()) for place in systems)
