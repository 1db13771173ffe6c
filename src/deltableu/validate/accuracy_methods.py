"""A scored study in; accuracies of each metric with intervals, and which are higher, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError
from deltableu.stats import (
    all_choices,
    average_ranks,
    chosen_sums,
    enumerable,
    pairwise_p_values,
    permutation_p_value,
    stream,
)
from deltableu.validate.accuracy_draws import AccuracyDraws, DrawnAccuracy
from deltableu.validate.accuracy_results import MeasuredAccuracy
from deltableu.validate.comparisons import compare_level
from deltableu.validate.label_accuracy import LabelMeasure, good_labels, label_accuracy
from deltableu.validate.levels import AccuracyMethod, Level
from deltableu.validate.metric_tests import PairOfValues, compare_pairs, enough_resamples
from deltableu.validate.paired_scores import by_group
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.scored_study import ScoredStudy
from deltableu.validate.system_bootstrap import SystemBootstrap
from deltableu.validate.winners import SENTINELS, MetricComparison, MetricTest

#: The level that each is about, and its tests; the first is the default.
LEVELS: Mapping[AccuracyMethod, Level] = {
    "pairwise-accuracy": "system",
    "spa": "system",
    "acc-eq": "item",
    "acc-eq-in-sample": "item",
    "acc-eq-by-system": "pooled",
    "auc": "pooled",
    "average-precision": "pooled",
}
TESTS: Mapping[AccuracyMethod, tuple[MetricTest, ...]] = {
    "pairwise-accuracy": ("perm-systems", "perm-both", "perm-items", "bootstrap-items"),
    "spa": ("perm-systems", "bootstrap-items"),
    "acc-eq": ("perm-items", "bootstrap-items"),
    "acc-eq-in-sample": ("perm-items", "bootstrap-items"),
    "acc-eq-by-system": ("perm-systems", "bootstrap-items"),
    "auc": ("perm-items", "perm-both", "perm-systems", "bootstrap-items"),
    "average-precision": ("perm-items", "perm-both", "perm-systems", "bootstrap-items"),
}
_SWAPS = 16  # key of the random streams


@dataclass(frozen=True, slots=True, eq=False)
class ComparedAccuracy:
    """One kind of accuracy of all metrics, their comparison, and what readers must know."""

    accuracies: tuple[MeasuredAccuracy, ...]
    comparison: MetricComparison | None
    notes: tuple[str, ...]


def measure_accuracy(
    study: ScoredStudy,
    method: AccuracyMethod,
    plan: ValidationPlan,
    threads: int | None = None,
) -> ComparedAccuracy:
    """Accuracy of every metric that has it, with intervals, and tests of which is higher.

    Pairs of outputs are compared at cross-fitted epsilons. What a test exchanges are the accuracies
    of items (PERM-INPUT) or of systems (PERM-SYS) where an accuracy is their mean; else scores.
    """
    draws = AccuracyDraws(study, plan, threads)
    names = [
        name
        for name in study.scores.metrics
        if method == "pairwise-accuracy" or study.scores.has_items(name)
    ]
    if not names:
        raise InputError(f"{method} needs scores of items, and no metric has them")
    if LEVELS[method] == "item" and not study.shared:
        raise InputError(
            f"{method} compares outputs of an item, and no item has two that are rated"
        )
    found = {name: _measured(draws, name, method) for name in names}
    measured = tuple(
        MeasuredAccuracy(
            name,
            method,
            one.value,
            one.interval(plan.confidence),
            one.chance,
            one.pairs,
            one.epsilon,
        )
        for name, one in found.items()
    )
    notes = [
        f"no {method}: {why}" for why in dict.fromkeys(o.reason for o in found.values()) if why
    ]
    test = TESTS[method][0] if plan.test == "auto" else plan.test
    if test not in TESTS[method]:
        allowed = " or ".join(TESTS[method])
        notes.append(f"{method} is not tested by {test}, but by {allowed}")
        return ComparedAccuracy(measured, None, tuple(notes))
    comparison, told = _compared(draws, method, test, found)
    return ComparedAccuracy(measured, comparison, (*notes, *told))


def _measured(draws: AccuracyDraws, metric: str, method: AccuracyMethod) -> DrawnAccuracy:
    match method:
        case "pairwise-accuracy":
            return draws.pairwise(metric)
        case "spa":
            return draws.soft(metric)
        case "acc-eq" | "acc-eq-in-sample":
            return draws.tied(metric, "item", in_sample=method == "acc-eq-in-sample")
        case "acc-eq-by-system":
            return draws.tied(metric, "system")
        case "auc" | "average-precision":
            return draws.labelled(metric, method)


def _compared(
    draws: AccuracyDraws,
    method: AccuracyMethod,
    test: MetricTest,
    found: Mapping[str, DrawnAccuracy],
) -> tuple[MetricComparison | None, list[str]]:
    plan, study = draws.plan, draws.study
    if method == "pairwise-accuracy" and test != "bootstrap-items":
        # Kendall-like tau without a threshold is twice the accuracy less 1.
        tau = replace(plan, methods=("kendall-like",), threshold=0.0, test=test)
        compared, notes = compare_level(study, "system", tau, draws.threads)
        return (None if compared is None else _as_accuracies(compared)), notes
    there = {name: one for name, one in found.items() if not np.isnan(one.value)}
    if test == "bootstrap-items":
        there = {name: one for name, one in there.items() if len(one.distribution)}
    tested = [name for name in there if name not in SENTINELS]
    if not tested or len(there) < 2:
        return None, []
    resamples = enough_resamples(
        test,
        len(tested),
        plan.resamples,
        correction=plan.correction,
        significance=plan.significance,
    )
    systems = len(study.people)
    units = (systems, "systems") if test == "perm-systems" else (draws.units, "items")
    exchange = _Exchange(draws, method, test, there, resamples)
    compared = compare_pairs(
        {name: one.value for name, one in there.items()},
        exchange.p_values,
        sentinels=SENTINELS,
        correction=plan.correction,
        significance=plan.significance,
        test=test,
        method=method,
        level=LEVELS[method],
        resamples=resamples,
        units=units if test in ("perm-systems", "perm-items") else None,
    )
    return compared, [] if compared.unranked is None else [f"{method}: {compared.unranked}"]


def _as_accuracies(compared: MetricComparison) -> MetricComparison:
    ranked = (replace(one, agreement=(1.0 + one.agreement) / 2.0) for one in compared.metrics)
    return replace(compared, metrics=tuple(ranked), method="pairwise-accuracy")


@dataclass(frozen=True, slots=True, eq=False)
class _Exchange:
    """p-values of two metrics."""

    draws: AccuracyDraws
    method: AccuracyMethod
    test: MetricTest
    found: Mapping[str, DrawnAccuracy]
    resamples: int

    def p_values(self, one: str, two: str) -> PairOfValues:
        """Two-sided, and of the first and of the second metric being better."""
        first, second = self.found[one], self.found[two]
        if self.test == "bootstrap-items":
            drawn = np.stack([first.distribution, second.distribution], axis=1)
            return SystemBootstrap(np.array([first.value, second.value]), drawn).p_values(0, 1)
        if self.method == "spa":
            return self._soft(one, two)
        if first.parts is not None and second.parts is not None:
            return self._signs(first.parts - second.parts)
        return self._labels(one, two)

    def _signs(self, differences: Array) -> PairOfValues:
        """Accuracies of items (or groups of them) or systems are exchanged."""
        rows = np.nan_to_num(differences)[:, np.newaxis]
        if self.test == "perm-items" and self.draws.codes is not None:
            rows = by_group(rows, self.draws.codes, 0)
        exact = enumerable(len(rows), self.resamples)
        kept = (
            all_choices(rows)
            if exact
            else chosen_sums(rows, self.resamples, self.draws.plan.seed, threads=self.draws.threads)
        )
        total = rows.sum(axis=0)
        return _p_values((2.0 * kept - total)[:, 0], float(total[0]), exact)

    def _soft(self, one: str, two: str) -> PairOfValues:
        """Whole systems are exchanged; certainties of all mixed pairs are computed once."""
        study, plan = self.draws.study, self.draws.plan
        people = study.people
        tables = [_standardised(study.scores.only(name), ~np.isnan(people)) for name in (one, two)]
        options: dict[str, Any] = {
            "permutations": plan.resamples,
            "codes": self.draws.codes,
            "seed": plan.seed,
            "threads": self.draws.threads,
        }
        human = pairwise_p_values(people, **options)
        both = pairwise_p_values(np.concatenate(tables), **options)
        size = len(people)
        a, b = np.nonzero(~np.isnan(human))
        swaps = self._swapped(size)
        # Of the metric that has the first system's scores, and of that which has the second's.
        certain = np.where(np.isnan(both), 1.0 - both.T, both)

        def accuracy(owner: Ints) -> Array:
            p = certain[a + size * owner[:, a], b + size * owner[:, b]]
            found: Array = 1.0 - np.abs(p - human[a, b]).mean(axis=1)
            return found

        distribution = accuracy(swaps) - accuracy(1 - swaps)
        straight = np.zeros((1, size), np.int64)
        observed = float((accuracy(straight) - accuracy(1 - straight))[0])
        return _p_values(distribution, observed, enumerable(size, self.resamples))

    def _swapped(self, units: int) -> Ints:
        """Which units are exchanged, trials x units."""
        if enumerable(units, self.resamples):
            numbers = np.arange(2**units)[:, np.newaxis]
            return (numbers >> np.arange(units)) & 1
        generator = stream(self.draws.plan.seed, _SWAPS)
        return generator.integers(2, size=(self.resamples, units))

    def _labels(self, one: str, two: str) -> PairOfValues:
        """Ranks of outputs are exchanged: by item, by system, or each by itself."""
        study, measure = self.draws.study, _label_measure(self.method)
        there = ~np.isnan(study.people)
        good = good_labels(study.people)[there]
        first, second = (average_ranks(study.scores.only(name)[there]) for name in (one, two))
        system, item = np.nonzero(there)
        unit = {"perm-systems": system, "perm-both": np.arange(len(item))}.get(self.test, item)
        if self.test == "perm-items" and self.draws.codes is not None:
            unit = self.draws.codes[item]
        size = int(unit.max()) + 1

        def difference(swap: Bools) -> float:
            x, y = np.where(swap, second, first), np.where(swap, first, second)
            values = [float(label_accuracy(side, good, measure)[0]) for side in (x, y)]
            return values[0] - values[1]

        swaps = self._swapped(size).astype(bool)
        distribution = np.array([difference(swap[unit]) for swap in swaps])
        observed = difference(np.zeros(len(unit), bool))
        return _p_values(distribution, observed, enumerable(size, self.resamples))


def _label_measure(method: AccuracyMethod) -> LabelMeasure:
    return "auc" if method == "auc" else "average-precision"


def _p_values(distribution: Array, observed: float, exact: bool) -> PairOfValues:
    both, greater, less = (
        float(
            permutation_p_value(
                distribution, observed, alternative=alternative, exact=exact, scale=1.0
            )
        )
        for alternative in ("two-sided", "greater", "less")
    )
    return both, greater, less


def _standardised(scores: Array, there: Bools) -> Array:
    used = scores[there]
    spread = float(used.std())
    return np.where(there, (scores - used.mean()) / (spread if spread > 0.0 else 1.0), np.nan)
