"""Metrics that pool n-grams cannot add rows up: exchanged outputs are pooled anew."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.stats

from deltableu.compare import ComparisonPlan, compare_systems
from deltableu.compare.observations import observe
from deltableu.errors import InputError
from deltableu.score.metrics.diversity import Distinct1, Distinct2, Entropy1, Entropy4
from deltableu.stats.resampling import choice_streams

METRICS = [kind(tokenize="none") for kind in (Distinct1, Distinct2, Entropy1, Entropy4)]
RANDOM = ComparisonPlan(tests=("randomization",), trials=1500)
by_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: str(metric.name))


def outputs(items: int) -> dict[str, list[str]]:
    """A has few words, B many, C those of A again where they are even."""
    rng = np.random.default_rng(items)

    def system(words: int) -> list[str]:
        return [
            " ".join(f"w{k}" for k in rng.integers(words, size=rng.integers(2, 9)))
            for _ in range(items)
        ]

    few, many = system(12), system(40)
    return {"A": few, "B": many, "C": [(few, many)[k % 2][k] for k in range(items)]}


def rows_of(metric, systems):
    return {name: metric.compute(texts, [["x"]] * len(texts)) for name, texts in systems.items()}


def naive(metric, texts) -> float:
    """Count, then the definition."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        tokens = text.split()
        counts.update(zip(*(tokens[k:] for k in range(metric.ngram)), strict=False))
    total = sum(counts.values())
    if total == 0:
        return 0.0
    if metric.name.startswith("distinct"):
        return 100 * len(counts) / total
    return -sum(count / total * math.log(count / total) for count in counts.values())


def difference(metric, first, second, swapped) -> float:
    ours = [two if swap else one for one, two, swap in zip(first, second, swapped, strict=True)]
    theirs = [one if swap else two for one, two, swap in zip(first, second, swapped, strict=True)]
    return naive(metric, ours) - naive(metric, theirs)


@by_metric
def test_randomization_pools_exchanged_texts(metric):
    systems, trials, seed = outputs(40), 120, 7
    plan = ComparisonPlan(tests=("randomization",), trials=trials, seed=seed)
    (found,) = compare_systems(rows_of(metric, systems), plan=plan)
    choices = np.concatenate(list(choice_streams(40, trials, seed)))
    for pair in found.pairs:
        first, second = systems[pair.first], systems[pair.second]
        observed = difference(metric, first, second, [False] * 40)
        assert pair.difference == pytest.approx(observed, abs=1e-9)
        resampled = [abs(difference(metric, first, second, row)) for row in choices]
        extreme = sum(one >= abs(observed) - 1e-9 for one in resampled)
        assert pair.p_values["randomization"] == (extreme + 1) / (trials + 1)
    assert found.pair("A", "B").significant == (found.pair("A", "B").holm["randomization"] < 0.05)
    assert not found.exact


@by_metric
def test_few_items_are_enumerated(metric):
    systems = outputs(6)
    (found,) = compare_systems(rows_of(metric, systems), plan=RANDOM)
    assert found.exact
    for pair in found.pairs:
        first, second = systems[pair.first], systems[pair.second]
        every = [
            difference(metric, first, second, swapped) for swapped in product((0, 1), repeat=6)
        ]
        extreme = np.mean([abs(one) >= abs(every[0]) - 1e-9 for one in every])
        assert pair.p_values["randomization"] == extreme


def test_enumeration_goes_in_chunks(monkeypatch):
    given = rows_of(METRICS[1], outputs(9))
    whole = observe(given)[0].all_exchanges(0, 1)
    monkeypatch.setattr("deltableu.compare.observations._LARGEST_CHUNK", 100)
    monkeypatch.setattr("deltableu.compare.observations._CELLS", 70)
    parts = observe(given)[0].all_exchanges(0, 1)
    assert len(whole) == 512
    np.testing.assert_array_equal(parts, whole)


@by_metric
def test_intervals_of_differences_leave_out_each_item_of_both(metric):
    systems = outputs(30)
    (found,) = compare_systems(
        rows_of(metric, systems),
        plan=ComparisonPlan(trials=10, confidence=0.9, interval="percentile"),
    )
    left_out = {
        name: np.array([naive(metric, texts[:k] + texts[k + 1 :]) for k in range(30)])
        for name, texts in systems.items()
    }
    quantile = scipy.stats.t.ppf(0.95, 29)
    for pair in found.pairs:
        apart = left_out[pair.first] - left_out[pair.second]
        reach = quantile * math.sqrt(29 / 30 * ((apart - apart.mean()) ** 2).sum())
        assert pair.interval.method == "jackknife"
        assert pair.interval.low == pytest.approx(pair.difference - reach, abs=1e-9)
        assert pair.interval.high == pytest.approx(pair.difference + reach, abs=1e-9)
    for system in found.systems:
        spread = left_out[system.system] - left_out[system.system].mean()
        reach = quantile * math.sqrt(29 / 30 * (spread**2).sum())
        low, high = metric.limits
        assert system.interval.low == pytest.approx(max(system.score - reach, low), abs=1e-9)
        assert system.interval.high == pytest.approx(min(system.score + reach, high), abs=1e-9)


@by_metric
@pytest.mark.parametrize("items", [6, 30])
def test_the_default_test_goes_with_the_interval(metric, items):
    """What is pooled has no sums to exchange: Student's test with the jackknife's error."""
    systems = outputs(items)
    (found,) = compare_systems(rows_of(metric, systems))
    assert not found.exact
    for pair in found.pairs:
        texts = systems[pair.first], systems[pair.second]
        first, second = (
            np.array([naive(metric, given[:k] + given[k + 1 :]) for k in range(items)])
            for given in texts
        )
        error = math.sqrt((items - 1) * (first - second).var())
        p_value = 2 * scipy.stats.t.sf(abs(pair.difference) / error, items - 1)
        assert pair.p_values["studentized"] == pytest.approx(p_value, rel=1e-6)
        outside = not pair.interval.low <= 0 <= pair.interval.high
        assert outside == (pair.p_values["studentized"] < 0.05)


@by_metric
@pytest.mark.parametrize("test", ["bootstrap", "koehn", "moses"])
def test_the_bootstrap_is_refused(metric, test):
    with pytest.raises(InputError) as raised:
        compare_systems(rows_of(metric, outputs(8)), plan=ComparisonPlan(tests=(test,)))
    message = f"the bootstrap is biased for {metric.name}, since what a sample repeats is not new"
    assert str(raised.value) == f"{message}; use randomization"


@pytest.mark.parametrize("test", ["wilcoxon", "t-test"])
def test_diversity_of_a_segment_means_nothing(test):
    with pytest.raises(InputError) as raised:
        compare_systems(rows_of(METRICS[0], outputs(8)), plan=ComparisonPlan(tests=(test,)))
    assert str(raised.value) == f"{test} needs scores of segments, and distinct-1 has none"


def test_seeds_and_threads():
    given = rows_of(METRICS[1], outputs(25))
    one = compare_systems(given, plan=RANDOM, threads=1)
    assert compare_systems(given, plan=RANDOM, threads=5) == one
    other = compare_systems(given, plan=replace(RANDOM, seed=9))
    p_values = [[pair.p_values["randomization"] for pair in c.pairs] for (c,) in (one, other)]
    assert p_values[0] != p_values[1]
    assert p_values[0] == pytest.approx(p_values[1], abs=0.06)


def test_identical_texts_do_not_differ():
    texts = outputs(25)["A"]
    plan = ComparisonPlan(tests=("studentized", "randomization"), trials=200)
    (found,) = compare_systems(rows_of(METRICS[2], {"A": texts, "B": texts}), plan=plan)
    assert set(found.pairs[0].p_values.values()) == {1.0}
    assert (found.pairs[0].interval.low, found.pairs[0].interval.high) == (0.0, 0.0)


def test_progress_is_told_for_every_pair():
    told: list[tuple[str, int, int]] = []
    compare_systems(
        rows_of(METRICS[0], outputs(20)),
        plan=replace(RANDOM, trials=1100),
        progress=lambda *at: told.append(at),
    )
    once = [("distinct-1, randomization", done, 1100) for done in (1024, 1100)]
    assert told == 3 * once
