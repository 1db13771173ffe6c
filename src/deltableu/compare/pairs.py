"""Evidence about systems in; a comparison with corrected p-values, ranks and letters out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from deltableu._types import Array
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import ComparedPair, ComparedSystem, Comparison, VarianceShares
from deltableu.errors import InputError
from deltableu.stats import ConfidenceInterval, adjust, best_first, rank


class Estimate(NamedTuple):
    """How sure a score is, or the difference of two; and what it is without a known bias."""

    interval: ConfidenceInterval
    corrected: float | None = None
    variance: VarianceShares | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of several systems under one metric; systems go by their numbers.

    Attributes
    ----------
    tests : tuple of str
        The first decides.
    scores : array
        As observed.
    estimate : callable
        Of a system (and None), or of the difference of two.
    p_value : callable
        Of a test of two systems.
    exact : callable
        Whether the deciding test is exact for all these pairs.
    """

    metric: str
    systems: tuple[str, ...]
    items: int
    higher_is_better: bool
    tests: tuple[str, ...]
    signature: str
    scores: Array
    estimate: Callable[[int, int | None], Estimate]
    p_value: Callable[[str, int, int], float]
    exact: Callable[[Sequence[tuple[int, int]]], bool]


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
            raise InputError(f"there is no baseline {baseline!r}; the systems are {there}")
        base = names.index(baseline)
        pairs = [(place, base) for place in order if place != base]
    raw = {test: np.array([evidence.p_value(test, *pair) for pair in pairs]) for test in tests}
    holm = {test: adjust(values, "holm") for test, values in raw.items()}
    bh = {test: adjust(values, "bh") for test, values in raw.items()}
    deciding = {"holm": holm, "bh": bh, "none": raw}[plan.correction][tests[0]]
    compared = []
    differs = np.zeros((len(names), len(names)), bool)
    for k, (first, second) in enumerate(pairs):
        difference = float(scores[first] - scores[second])
        estimate = evidence.estimate(first, second)
        found = difference if estimate.corrected is None else estimate.corrected
        better = first if (found > 0.0) == evidence.higher_is_better else second
        significant = differs[first, second] = bool(deciding[k] < plan.significance)
        compared.append(
            ComparedPair(
                first=names[first],
                second=names[second],
                difference=difference,
                interval=estimate.interval,
                p_values={test: float(raw[test][k]) for test in tests},
                holm={test: float(holm[test][k]) for test in tests},
                bh={test: float(bh[test][k]) for test in tests},
                significant=significant,
                better=names[better] if significant else None,
                corrected=estimate.corrected,
                variance=estimate.variance,
            )
        )
    ranking = rank(names, scores, differs, higher_is_better=evidence.higher_is_better)
    systems = []
    for place in order:
        estimate = evidence.estimate(place, None)
        systems.append(
            ComparedSystem(
                system=names[place],
                score=float(scores[place]),
                interval=estimate.interval,
                rank=ranking.ranks[place] if baseline is None else None,
                cluster=ranking.clusters[place] if baseline is None else None,
                letters=ranking.letters[place] if baseline is None else "",
                corrected=estimate.corrected,
                variance=estimate.variance,
            )
        )
    return Comparison(
        metric=evidence.metric,
        higher_is_better=evidence.higher_is_better,
        items=evidence.items,
        baseline=baseline,
        tests=tests,
        correction=plan.correction,
        significance=plan.significance,
        level=plan.level,
        systems=tuple(systems),
        pairs=tuple(compared),
        exact=evidence.exact(pairs),
        signature=evidence.signature,
    )
