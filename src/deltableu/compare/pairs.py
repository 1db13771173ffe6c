"""Evidence about systems in; a comparison with corrected p-values, ranks and letters out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from deltableu._types import Array
from deltableu.compare.paired_tests import Verdict
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import (
    ComparedPair,
    ComparedSystem,
    Comparison,
    Corrected,
    RunShares,
    VarianceShares,
)
from deltableu.corpus import says_simulated
from deltableu.errors import InputError, hint_at
from deltableu.stats import ConfidenceInterval, adjust, best_first, rank

_COCHRAN = 25
#: Numbers of two systems each.
Pairs = Sequence[tuple[int, int]]


class Estimate(NamedTuple):
    """How sure a score is, or the difference of two; and a score without a known bias."""

    interval: ConfidenceInterval | None
    variance: VarianceShares | RunShares | None = None
    corrected: Corrected | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of several systems under one metric; systems go by their numbers.

    Attributes
    ----------
    items : int
    groups : int or None
        Number of groups of items that belong together.
    tests : tuple of str
        The first decides.
    scores : array
        That tests are about.
    estimate : callable
        Estimates the score of a system (and None), or the difference of two.
    verdicts : callable
        What a test says of several pairs.
    exact : callable
        Whether the deciding test is exact for all these pairs.
    signature : callable
        For so many pairs.
    warnings : callable
        What to know of these pairs.
    """

    metric: str
    systems: tuple[str, ...]
    items: int
    groups: int | None
    higher_is_better: bool
    tests: tuple[str, ...]
    scores: Array
    estimate: Callable[[int, int | None], Estimate]
    verdicts: Callable[[str, Pairs], Sequence[Verdict]]
    exact: Callable[[Pairs], bool]
    signature: Callable[[int], str]
    warnings: Callable[[Pairs], tuple[str, ...]]


def compare_pairs(
    evidence: Evidence, plan: ComparisonPlan, baseline: str | None = None
) -> Comparison:
    """Compare all pairs, or all systems with a baseline, and correct for their number."""
    names, scores, tests = evidence.systems, evidence.scores, evidence.tests
    order = best_first(names, scores, higher_is_better=evidence.higher_is_better)
    pairs = list(combinations(order, 2))
    if baseline is not None:
        if baseline not in names:
            there = ", ".join(names)
            meant = hint_at(baseline, names)
            raise InputError(f"there is no baseline {baseline!r}; the systems are {there}{meant}")
        base = names.index(baseline)
        pairs = [(place, base) for place in order if place != base]
    verdicts = {test: evidence.verdicts(test, pairs) for test in tests}
    raw = {test: np.array([one.p_value for one in found]) for test, found in verdicts.items()}
    holm = {test: adjust(values, "holm") for test, values in raw.items()}
    bh = {test: adjust(values, "bh") for test, values in raw.items()}
    deciding = {"holm": holm, "bh": bh, "none": raw}[plan.correction][tests[0]]
    compared = []
    differs = np.zeros((len(names), len(names)), bool)
    for k, (first, second) in enumerate(pairs):
        estimate = evidence.estimate(first, second)
        favours = {
            test: _favoured(names[first], names[second], found[k], evidence.higher_is_better)
            for test, found in verdicts.items()
        }
        significant = bool(deciding[k] < plan.significance)
        # A test of something else than the score may speak for the system that ranks below.
        differs[first, second] = significant and favours[tests[0]] == names[first]
        compared.append(
            ComparedPair(
                first=names[first],
                second=names[second],
                difference=float(scores[first] - scores[second]),
                interval=estimate.interval,
                p_values={test: float(raw[test][k]) for test in tests},
                favours=favours,
                holm={test: float(holm[test][k]) for test in tests},
                bh={test: float(bh[test][k]) for test in tests},
                significant=significant,
                better=favours[tests[0]] if significant else None,
                variance=estimate.variance,
            )
        )
    # A system that could not be tested has no place among those that were.
    tested = {place for k, pair in enumerate(pairs) if not np.isnan(deciding[k]) for place in pair}
    known = np.where([place in tested for place in range(len(names))], scores, np.nan)
    ranking = rank(names, known, differs, higher_is_better=evidence.higher_is_better)
    systems = []
    for place in order:
        estimate = evidence.estimate(place, None)
        ranked = baseline is None and place in tested
        systems.append(
            ComparedSystem(
                system=names[place],
                score=float(scores[place]),
                interval=estimate.interval,
                rank=ranking.ranks[place] if ranked else None,
                cluster=ranking.clusters[place] if ranked else None,
                letters=ranking.letters[place] if ranked else "",
                corrected=estimate.corrected,
                variance=estimate.variance,
            )
        )
    signature = evidence.signature(len(pairs))
    return Comparison(
        metric=evidence.metric,
        higher_is_better=evidence.higher_is_better,
        items=evidence.items,
        groups=evidence.groups,
        baseline=baseline,
        tests=tests,
        correction=plan.correction,
        significance=plan.significance,
        confidence=plan.confidence,
        systems=tuple(systems),
        pairs=tuple(compared),
        exact=evidence.exact(pairs),
        warnings=evidence.warnings(pairs),
        signature=signature,
        simulated=says_simulated(signature),
    )


def _favoured(first: str, second: str, verdict: Verdict, higher_is_better: bool) -> str | None:
    if verdict.sign == 0.0 or math.isnan(verdict.p_value):
        return None
    return first if (verdict.sign > 0.0) == higher_is_better else second


def clamp_warning(systems: Sequence[str]) -> tuple[str, ...]:
    """Why these systems have neither interval nor p-value; nothing for none."""
    if not systems:
        return ()
    return (
        f"the score of {', '.join(systems)} is clamped, because the matches of some order sum to "
        "nothing or less: there is no interval and no test of it",
    )


def bend_warnings(bends: Mapping[str, Sequence[str]]) -> list[str]:
    """Where a score bends too near the sums of these systems."""
    return [
        f"{', '.join(systems)}: {what}, so that tests may reject equal systems more often than "
        "they say"
        for what, systems in bends.items()
    ]


def skew_warning(pairs: Sequence[tuple[str, str]], units: int, of: str) -> tuple[str, ...]:
    """Which pairs a few of so many items or groups decide between; nothing for none."""
    if not pairs:
        return ()
    first, second = pairs[0]
    more = len(pairs) - 1
    others = f" and {more} more pair{'s' if more > 1 else ''}" if more else ""
    return (
        f"a few {of} decide between {first} and {second}{others}: with {units} {of} so "
        "skewed, tests may reject equal systems more often than they say",
    )


def too_skewed(influences: Array) -> bool:
    """Cochran's rule: a mean is nearly normal from 25 times its squared skewness on.

    Examples
    --------
    >>> too_skewed(np.array([1.0, -1.0, 2.0, -2.0])), too_skewed(np.array([9.0, 0.0, 0.0, 0.0]))
    (False, True)
    """
    apart = influences - influences.mean()
    largest = float(np.abs(apart).max(initial=0.0))
    if largest <= 0.0:
        return False
    apart = apart / largest  # powers of tiny numbers would be 0
    spread = float((apart**2).mean())
    skewness = float((apart**3).mean()) / spread**1.5
    return bool(len(influences) < _COCHRAN * skewness**2)
