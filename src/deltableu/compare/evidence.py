"""Evidence about systems in; a comparison with corrected p-values, ranks and letters out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from deltableu._types import Array
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.results import ComparedPair, ComparedSystem, Comparison, VarianceShares
from deltableu.errors import InputError
from deltableu.stats import ConfidenceInterval, adjust, letters, rank_ranges, significance_clusters

__all__ = ["Evidence", "weigh"]


class Evidence(Protocol):
    """What is known of several systems under one metric; systems go by their numbers."""

    @property
    def metric(self) -> str: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def items(self) -> int: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def tests(self) -> tuple[str, ...]:
        """The first decides."""
        ...

    @property
    def signature(self) -> str: ...
    @property
    def scores(self) -> Array:
        """As observed."""
        ...

    def corrected(self, first: int, second: int | None = None) -> float | None:
        """A score, or a difference, without a known bias; None where none is known."""
        ...

    def interval(self, first: int, second: int | None = None) -> ConfidenceInterval: ...
    def variance(self, first: int, second: int | None = None) -> VarianceShares | None: ...
    def p_value(self, test: str, first: int, second: int) -> float: ...
    def exact(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether the deciding test is exact for all these pairs."""
        ...


def weigh(evidence: Evidence, plan: ComparisonPlan, baseline: str | None = None) -> Comparison:
    """Compare all pairs, or all systems with a baseline, and correct for their number."""
    order = _best_first(evidence)
    pairs = list(combinations(order, 2))
    if baseline is not None:
        if baseline not in evidence.systems:
            there = ", ".join(evidence.systems)
            raise InputError(f"there is no baseline {baseline!r}; the systems are {there}")
        base = evidence.systems.index(baseline)
        pairs = [(place, base) for place in order if place != base]
    tests = evidence.tests
    raw = {test: np.array([evidence.p_value(test, *pair) for pair in pairs]) for test in tests}
    holm = {test: adjust(values, "holm") for test, values in raw.items()}
    bh = {test: adjust(values, "bh") for test, values in raw.items()}
    deciding = {"holm": holm, "bh": bh, "none": raw}[plan.correction][tests[0]]
    significant = deciding < plan.significance
    compared = []
    for k, (first, second) in enumerate(pairs):
        difference = float(evidence.scores[first] - evidence.scores[second])
        corrected = evidence.corrected(first, second)
        found = difference if corrected is None else corrected
        better = first if (found > 0.0) == evidence.higher_is_better else second
        compared.append(
            ComparedPair(
                first=evidence.systems[first],
                second=evidence.systems[second],
                difference=difference,
                interval=evidence.interval(first, second),
                p_values={test: float(raw[test][k]) for test in tests},
                holm={test: float(holm[test][k]) for test in tests},
                bh={test: float(bh[test][k]) for test in tests},
                significant=bool(significant[k]),
                better=evidence.systems[better] if significant[k] else None,
                corrected=corrected,
                variance=evidence.variance(first, second),
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
        systems=_ranked(evidence, order, _differs(order, pairs, significant), baseline is None),
        pairs=tuple(compared),
        exact=evidence.exact(pairs),
        signature=evidence.signature,
    )


def _best_first(evidence: Evidence) -> list[int]:
    sign = -1.0 if evidence.higher_is_better else 1.0
    keys = [
        (sign * float(score), name)
        for score, name in zip(evidence.scores, evidence.systems, strict=True)
    ]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _differs(order: list[int], pairs: list[tuple[int, int]], significant: Any) -> Any:
    """Which systems differ, in the order of their scores."""
    differs = np.zeros((len(order), len(order)), bool)
    for (first, second), found in zip(pairs, significant.tolist(), strict=True):
        one, other = order.index(first), order.index(second)
        differs[one, other] = differs[other, one] = found
    return differs


def _ranked(
    evidence: Evidence, order: list[int], differs: Any, all_pairs: bool
) -> tuple[ComparedSystem, ...]:
    ranks = rank_ranges(differs)
    clusters = significance_clusters(differs)
    marks = letters(differs)
    return tuple(
        ComparedSystem(
            system=evidence.systems[place],
            score=float(evidence.scores[place]),
            interval=evidence.interval(place),
            rank=ranks[position] if all_pairs else None,
            cluster=clusters[position] if all_pairs else None,
            letters=marks[position] if all_pairs else "",
            corrected=evidence.corrected(place),
            variance=evidence.variance(place),
        )
        for position, place in enumerate(order)
    )
