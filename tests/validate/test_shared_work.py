"""What is found once for all metrics, and sixteen draws at once, against one after the other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import ScoreTable
from deltableu.stats import WeightedPair, chosen_sums, correlate, moving_pairs
from deltableu.stats.permutation import permutation_p_value
from deltableu.stats.resampling import stream
from deltableu.validate import ValidationPlan, paired_scores, validate_metrics
from deltableu.validate.accuracy import soft_pairwise_accuracies, soft_pairwise_accuracy
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import agreement
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.permutation import permutation_test

LEVELS = ("system", "pooled", "item")
METHODS = ("pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like")
few = settings(max_examples=20, deadline=None)


def study(seed, systems=4, items=15, metrics=2):
    """Tied scores in half of the studies, outputs without scores in half, and groups."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, items))
    tables = [human + rng.normal(size=human.shape) for _ in range(metrics)]
    if seed % 2:
        human, *tables = (np.round(side) for side in (human, *tables))
    if seed % 4 < 2:
        gone = rng.random(human.shape) < 0.15
        gone[:, 0] = gone[0] = False
        for side in (human, *tables):
            side[gone] = np.nan
    labels = [f"g{number}" for number in np.arange(items) % 9]
    return human, tables, labels if seed % 8 < 4 else None


@pytest.fixture
def small_blocks(monkeypatch):
    """So little memory that few trials have a random stream of their own."""
    monkeypatch.setattr(paired_scores, "_NUMBERS", 500)


@pytest.mark.parametrize("method", METHODS)
@few
@given(seed=st.integers(0, 2**32), draws=st.sampled_from([1, 16, 37]))
def test_units_weigh_as_their_observations(method, seed, draws):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 40))
    x, y = rng.integers(0, rng.integers(1, 30), size=(2, size)).astype(float)
    units = rng.integers(6, size=size)
    weights = rng.integers(0, 4, size=(draws, 6))
    found = WeightedPair(x, y).correlate(weights, units, method, 2.0)
    for row, value in zip(weights[:, units], found, strict=True):
        expected = correlate(np.repeat(x, row), np.repeat(y, row), method, threshold=2.0)
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-10)


def standardised(table):
    return (table - np.nanmean(table)) / np.nanstd(table)


def literal_masks(present, swap, chosen, seed, number, count):
    """Which scores of systems and units the exchanges of a block exchange."""
    systems, units = present.shape

    def subsets(*key):
        own = int(stream(seed, 2, number, *key, 0).integers(2**63))
        return chosen_sums(np.eye(units), count, own, threads=1) > 0.5

    def bits(size):
        drawn = stream(seed, 2, number).bytes((count * size + 7) // 8)
        flat = np.unpackbits(np.frombuffer(drawn, np.uint8), count=count * size)
        return flat.reshape(count, size).astype(bool)

    masks = np.zeros((count, systems, units), bool)
    if swap == "systems":
        masks[:] = bits(systems)[:, :, np.newaxis]
    elif swap == "items":
        masks[:] = (subsets() if chosen else bits(units))[:, np.newaxis]
    elif chosen:
        masks[:] = np.stack([subsets(system) for system in range(systems)], axis=1)
    else:
        masks[:, present] = bits(int(present.sum()))
    return masks


def literal_exchanges(x, y, human, labels, swap, method, level, trials, seed):
    """Differences of agreement after each exchange, made by copying scores: one by one."""
    there = ~np.isnan(human)
    names = list(range(human.shape[1])) if labels is None else labels
    group = np.array([list(dict.fromkeys(names)).index(name) for name in names])
    present = np.stack([there[:, group == one].any(axis=1) for one in range(group.max() + 1)], 1)
    x, y, human = standardised(x), standardised(y), standardised(human)
    sums = level == "system" or (level == "pooled" and method == "pearson")
    size = 16 * len(human) if sums else 2 * human.size
    block = max(1, min(1024, paired_scores._NUMBERS // size))
    chosen = sums or (swap == "items" and level == "item")
    values = []
    for number, first in enumerate(range(0, trials, block)):
        count = min(block, trials - first)
        for mask in literal_masks(present, swap, chosen, seed, number, count)[..., group]:
            sides = np.where(mask, y, x), np.where(mask, x, y)
            one, two = (agreement(side, human, method=method, level=level) for side in sides)
            values.append(float(one) - float(two))
    return values


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("swap", ["systems", "items", "both"])
@few
@given(seed=st.integers(0, 2**32), method=st.sampled_from(["pearson", "spearman", "kendall-b"]))
def test_exchanges_are_those_of_copied_scores(level, swap, seed, method):
    human, (x, y), labels = study(seed, systems=6)
    options = {"swap": swap, "method": method, "level": level, "seed": 5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired_scores, "_NUMBERS", 900)
        found = permutation_test(x, y, human, resamples=40, groups=labels, threads=2, **options)
        expected = literal_exchanges(x, y, human, labels, swap, method, level, 40, 5)
    np.testing.assert_allclose(found.distribution, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("outlier", [1e3, 1e9])
def test_an_outlying_system_costs_no_digits(outlier):
    """Exchanges that leave a metric without its outlier leave it hardly any spread."""
    human, (x, y), _ = study(2, systems=16)
    x[3] += outlier
    options = {"swap": "systems", "method": "pearson", "level": "system", "seed": 1}
    found = permutation_test(x, y, human, resamples=60, **options)
    expected = literal_exchanges(x, y, human, None, "systems", "pearson", "system", 60, 1)
    np.testing.assert_allclose(found.distribution, expected, rtol=0, atol=1e-12 * outlier)
    p_value = permutation_p_value(expected, found.difference, scale=10.0)
    assert found.p_value == float(p_value)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("test", ["perm-systems", "perm-items", "perm-both", "bootstrap-items"])
@pytest.mark.parametrize("seed", [0, 7])
def test_all_metrics_together_are_tested_as_each_two(level, test, seed, small_blocks):
    human, tables, labels = study(seed, systems=8, metrics=3)
    metrics = {f"m{place}": table for place, table in enumerate(tables)}
    if level != "item":
        metrics["constant"] = np.ones(human.shape)  # it agrees with nothing, and is not tested
    options = {"level": level, "resamples": 50, "seed": 2, "groups": labels}
    found = compare_metrics(metrics, human, test=test, correction="wmt", **options)
    kind, _, moved = test.partition("-")
    for one, two in combinations(list(metrics)[:3], 2):
        sides = metrics[one], metrics[two], human
        if kind == "perm":
            expected = permutation_test(*sides, swap=moved, **options).p_values()
        else:
            expected = bootstrap_difference(*sides, resample=moved, **options).p_values()
        assert (found.p_value(one, two), found.p_value(two, one)) == expected


@pytest.mark.parametrize("level", ["pooled", "item"])
@few
@given(seed=st.integers(0, 2**32), method=st.sampled_from(METHODS))
def test_draws_are_those_of_copied_items(level, seed, method):
    human, (x, _), _ = study(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired_scores, "_NUMBERS", 900)
        found = bootstrap_agreement(
            x, human, method=method, level=level, resamples=30, seed=4, threads=2, threshold=1.0
        )
        size = 4 * human.size if level == "pooled" else 2 * human.shape[1] + 6 * len(human)
        block = max(1, 900 // size)
    items = human.shape[1]
    expected = []
    for number, first in enumerate(range(0, 30, block)):
        count = min(block, 30 - first)
        for drawn in stream(4, 4, number, 0).integers(items, size=(count, items)):
            sides = x[:, drawn], human[:, drawn]
            expected.append(float(agreement(*sides, method=method, level=level, threshold=1.0)))
    there = np.array(expected)[~np.isnan(expected)]
    np.testing.assert_allclose(found.distribution, there, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", [0, 1, 6])
def test_a_validation_tells_of_each_metric_what_is_told_of_it_alone(seed, small_blocks):
    human, tables, labels = study(seed, systems=5, items=24, metrics=3)
    tables[1][2, 3] = np.nan  # the output counts for no metric
    labels = None if labels is None else [f"g{number}" for number in np.arange(24) % 9]
    names = [f"s{place}" for place in range(len(human))]
    rows = [dict(zip(names, table, strict=True)) for table in tables]
    scores = ScoreTable.of({f"m{place}": row for place, row in enumerate(rows)})
    people = ScoreTable.of({"people": dict(zip(names, human, strict=True))})
    steps = []
    plan = ValidationPlan(resamples=40, seed=3, levels=("pooled", "item"))
    found = validate_metrics(
        scores,
        people,
        plan=plan,
        groups=labels,
        threads=2,
        progress=lambda what, done, total: steps.append((what, done, total)),
    )
    for one in found.agreements:
        alone = bootstrap_agreement(
            found.scores.only(one.metric),
            found.human.values[0],
            method=one.method,
            level=one.level,
            resamples=40,
            seed=3,
            groups=labels,
        )
        assert one.value == pytest.approx(alone.value, abs=1e-12)
        assert one.interval.low == pytest.approx(alone.interval.low, abs=1e-12)
        assert one.interval.high == pytest.approx(alone.interval.high, abs=1e-12)
        assert one.p_value == pytest.approx(alone.p_value, rel=1e-9)
    told = [what for what, done, total in steps if done == total]
    assert told[0] == "intervals, level pooled, pearson"
    assert len(told) == len(set(told))


def test_soft_accuracies_of_metrics_that_miss_other_scores():
    human, tables, _ = study(1, systems=5, items=30, metrics=3)
    tables[2][1, :4] = np.nan
    options = {"permutations": 60, "seed": 2}
    together = soft_pairwise_accuracies(tables, human, threads=2, **options)
    for table, one in zip(tables, together, strict=True):
        alone = soft_pairwise_accuracy(table, human, **options)
        assert (one.accuracy, one.pairs, one.chance) == (alone.accuracy, alone.pairs, alone.chance)
        assert np.array_equal(one.p_human, alone.p_human, equal_nan=True)
        assert np.array_equal(one.p_metric, alone.p_metric, equal_nan=True)


@few
@given(seed=st.integers(0, 2**32))
def test_moving_pairs_are_listed_one_by_one(seed):
    human, (x, _), _ = study(seed, items=6)
    shares = np.random.default_rng(seed).random(6)
    distances, gains, right = moving_pairs(x, human, shares, 1e-9)
    pairs, base = [], 0.0
    for first, second in combinations(range(len(x)), 2):
        for column, share in enumerate(shares.tolist()):
            apart = x[first, column] - x[second, column]
            order = human[first, column] - human[second, column]
            if np.isnan(apart) or (order != 0 and np.sign(apart) != np.sign(order)):
                continue
            if order == 0 and abs(apart) > 1e-9:
                pairs.append((abs(apart), share))
            else:
                base += share
                pairs += [(abs(apart), -share)] if order != 0 else []
    assert list(zip(distances.tolist(), gains.tolist(), strict=True)) == pairs
    assert right == pytest.approx(base, abs=1e-12)
