"""Accuracies as methods: values, intervals and tests against brute force."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import ScoreTable, ValidationPlan, validate_metrics
from deltableu.errors import InputError
from deltableu.validate import (
    TiePairs,
    calibrated_accuracy,
    label_accuracy,
    soft_pairwise_accuracy,
)
from deltableu.validate.tie_pairs import make_folds

ALL = ("pairwise-accuracy", "spa", "acc-eq", "acc-eq-in-sample", "acc-eq-by-system")


def scores_of(seed: int, systems: int, items: int, missing: float = 0.0):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 5, size=(systems, items)).astype(float)
    metric = human + rng.integers(-3, 4, size=human.shape) / 2
    gone = rng.random(human.shape) < missing
    human[gone] = metric[gone] = np.nan
    return metric, human


def pairs_of(metric, human, by):
    """All pairs, one by one: group, items, distance and order of both sides."""
    systems, items = human.shape
    found = []
    if by == "item":
        cells = [
            (i, (a, i), (b, i)) for i in range(items) for a, b in combinations(range(systems), 2)
        ]
    else:
        cells = [
            (s, (s, i), (s, j)) for s in range(systems) for i, j in combinations(range(items), 2)
        ]
    for group, one, two in cells:
        if not np.isnan([human[one], human[two]]).any():
            found.append(
                (group, one[1], two[1], metric[one] - metric[two], human[one] - human[two])
            )
    return found


def brute_accuracy(pairs, epsilon):
    """Means over groups of the share of pairs that are right."""
    groups: dict[int, list[bool]] = {}
    for group, _, _, apart, order in pairs:
        tie = abs(apart) <= epsilon + 1e-12
        right = tie if order == 0 else (not tie and apart * order > 0)
        groups.setdefault(group, []).append(right)
    return float(np.mean([np.mean(one) for one in groups.values()])) if groups else float("nan")


def brute_epsilon(pairs):
    """The smallest of the epsilons that serve best."""
    candidates = sorted({0.0, *(abs(apart) for _, _, _, apart, _ in pairs)})
    reached = [brute_accuracy(pairs, one) for one in candidates]
    return next(
        one for one, value in zip(candidates, reached, strict=True) if value >= max(reached) - 1e-12
    )


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    systems=st.integers(2, 5),
    items=st.integers(10, 14),
    by=st.sampled_from(["item", "system"]),
    missing=st.sampled_from([0.0, 0.15]),
)
def test_ties_are_calibrated_on_other_items(seed, systems, items, by, missing):
    metric, human = scores_of(seed, systems, items, missing)
    pairs = pairs_of(metric, human, by)
    if not pairs:
        return
    found = TiePairs.of(metric, human, by)
    once = np.ones(items)
    value, epsilon = found.in_sample(once)
    assert epsilon == pytest.approx(brute_epsilon(pairs))
    assert value == pytest.approx(brute_accuracy(pairs, epsilon))
    folds = make_folds(items, by, None, seed)
    right = []
    for fold in range(folds.max() + 1):
        others = [one for one in pairs if folds[one[1]] != fold and folds[one[2]] != fold]
        inside = [one for one in pairs if folds[one[1]] == fold and folds[one[2]] == fold]
        epsilon = brute_epsilon(others) if others else 0.0
        for one in inside:
            tie = abs(one[3]) <= epsilon + 1e-12
            right.append((one[0], tie if one[4] == 0 else (not tie and one[3] * one[4] > 0)))
    groups = sorted({group for group, _ in right})
    expected = [np.mean([hit for own, hit in right if own == group]) for group in groups]
    assert found.cross_fitted(once, folds)[0] == pytest.approx(np.mean(expected))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), systems=st.integers(2, 4), items=st.integers(3, 9))
def test_items_drawn_twice_count_twice(seed, systems, items):
    metric, human = scores_of(seed, systems, items)
    often = np.random.default_rng(seed).integers(0, 3, size=items)
    if often.sum() == 0:
        return
    copies = [np.repeat(side, often, axis=1) for side in (metric, human)]
    expected = calibrated_accuracy(*copies, shuffles=0)
    value, epsilon = TiePairs.of(metric, human).in_sample(often.astype(float))
    assert value == pytest.approx(expected.accuracy)
    assert epsilon == pytest.approx(expected.epsilon)


def test_an_epsilon_from_elsewhere_flatters_nobody():
    """Of metrics that know nothing, the in-sample accuracy is above chance."""
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(60):
        human = rng.integers(1, 4, size=(4, 20)).astype(float)
        pairs = TiePairs.of(rng.normal(size=human.shape), human)
        folds = make_folds(20, "item", None, 0)
        inside, outside = pairs.in_sample(np.ones(20))[0], pairs.cross_fitted(np.ones(20), folds)[0]
        gaps.append((inside, outside))
    flattered, honest = np.mean(gaps, axis=0)
    assert flattered > honest + 0.02
    assert honest == pytest.approx(1 / 3, abs=0.02)


def brute_auc(scores, good):
    pairs = [(a, b) for a, b in product(scores[good], scores[~good])]
    return float(np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs]))


def brute_precision(scores, good):
    return float(np.mean([good[scores >= score].mean() for score in scores[good]]))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 30))
def test_labels_against_brute_force(seed, size):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 8, size=size).astype(float)
    good = rng.random(size) < 0.4
    often = rng.integers(0, 3, size=(4, size))
    for measure, brute in (("auc", brute_auc), ("average-precision", brute_precision)):
        found = label_accuracy(scores, good, measure, often=often)
        for value, counts in zip(found, often, strict=True):
            x, label = np.repeat(scores, counts), np.repeat(good, counts)
            if label.all() or not label.any():
                assert np.isnan(value)
            else:
                assert value == pytest.approx(brute(x, label))


def a_validation(methods, *, systems=6, items=30, seed=3, test="auto", groups=None, labels=False):
    rng = np.random.default_rng(seed)
    names = [f"s{number}" for number in range(systems)]
    quality = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, items))
    human = (quality > 0).astype(float) if labels else np.rint(3 + quality)

    def table(values):
        return dict(zip(names, values.tolist(), strict=True))

    metrics = {
        "good": quality + 0.3 * rng.normal(size=quality.shape),
        "poor": quality + 4.0 * rng.normal(size=quality.shape),
    }
    scores = ScoreTable.of({name: table(values) for name, values in metrics.items()})
    plan = ValidationPlan(methods=methods, resamples=99, levels=("pooled",), test=test)
    made = validate_metrics(
        scores, ScoreTable.of({"people": table(human)}), plan=plan, groups=groups
    )
    return made, metrics, human


def test_all_are_measured_with_intervals_and_tests():
    found, metrics, human = a_validation(("spearman", *ALL))
    assert [one.method for one in found.agreements] == ["spearman"] * 2
    by_name = {(one.metric, one.method): one for one in found.measured}
    assert set(by_name) == set(product(("good", "poor"), ALL))
    for one in found.measured:
        assert one.interval.low < one.value <= one.interval.high
    spa = soft_pairwise_accuracy(metrics["good"], human, permutations=99).accuracy
    assert by_name["good", "spa"].value == pytest.approx(spa)
    assert [one.method for one in found.accuracy_comparisons] == list(ALL)
    for comparison in found.accuracy_comparisons:
        assert comparison.metrics[0].metric == "good"
    table = found.accuracy_table().to_markdown()
    assert all(method in table for method in ALL)


def test_without_a_correlation_there_is_pearsons():
    found = a_validation(("acc-eq",))[0]
    assert {one.method for one in found.agreements} == {"pearson"}


def test_exchanged_items_are_brute_force():
    """All 1,024 exchanges of ten items' accuracies."""
    found, metrics, human = a_validation(("acc-eq",), items=10, systems=4)
    folds = make_folds(10, "item", None, 0)
    parts = []
    for name in ("good", "poor"):
        pairs = TiePairs.of(metrics[name], human)
        parts.append(pairs.group_accuracies(pairs.fitted(np.ones(10), folds)[0], folds))
    apart = parts[0] - parts[1]
    sums = [abs(np.dot(signs, apart)) for signs in product((1, -1), repeat=10)]
    expected = np.mean(np.array(sums) >= abs(apart.sum()) - 1e-12)
    (comparison,) = found.accuracy_comparisons
    assert comparison.resamples == 99
    # 99 random ones of them.
    assert comparison.p_value("good", "poor") == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("method", ["pairwise-accuracy", "spa"])
def test_exchanged_systems_are_brute_force(method):
    """All 64 exchanges of six systems' scores."""
    found, metrics, human = a_validation((method,))
    people = human.mean(axis=1)

    def standard(values):
        return (values - values.mean()) / values.std()

    if method == "spa":
        x, y = (standard(metrics[name]) for name in ("good", "poor"))

        def accuracy(table):
            return soft_pairwise_accuracy(table, human, permutations=99).accuracy

    else:
        x, y = (standard(metrics[name].mean(axis=1, keepdims=True)) for name in ("good", "poor"))

        def accuracy(table):
            pairs = list(combinations(range(6), 2))
            rights = [
                (table[a, 0] - table[b, 0]) * (people[a] - people[b]) > 0
                for a, b in pairs
                if people[a] != people[b]
            ]
            return float(np.mean(rights))

    differences = []
    for swap in product((False, True), repeat=6):
        mask = np.array(swap)[:, np.newaxis]
        differences.append(accuracy(np.where(mask, y, x)) - accuracy(np.where(mask, x, y)))
    expected = np.mean(np.abs(differences) >= abs(differences[0]) - 1e-9)
    (comparison,) = found.accuracy_comparisons
    assert comparison.test == "perm-systems"
    assert comparison.p_value("good", "poor") == pytest.approx(expected)


@pytest.mark.parametrize("test", ["perm-items", "perm-both", "perm-systems", "bootstrap-items"])
def test_labels_are_tested(test):
    found, metrics, human = a_validation(("auc", "average-precision"), labels=True, test=test)
    for one in found.measured:
        brute = brute_auc if one.method == "auc" else brute_precision
        expected = brute(metrics[one.metric].ravel(), human.ravel() == 1.0)
        assert one.value == pytest.approx(expected)
        assert one.interval.low < one.value <= one.interval.high
    for comparison in found.accuracy_comparisons:
        assert comparison.p_value("good", "poor") < 0.1


def test_tests_that_an_accuracy_has_not():
    found = a_validation(("acc-eq",), test="perm-both")[0]
    assert found.accuracy_comparisons == ()
    assert any("acc-eq is not tested by perm-both" in note for note in found.notes)


def test_copied_items_are_one_group():
    """Items that are there three times say no more than one of them, if they are a group."""
    found = {}
    for copies in (False, True):
        rng = np.random.default_rng(0)
        human = np.rint(3 + rng.normal(size=(4, 20)))
        metric = human + rng.normal(size=human.shape)
        times = 3 if copies else 1
        names = [f"s{place}" for place in range(4)]
        tables = [
            {name: np.tile(row, times).tolist() for name, row in zip(names, one, strict=True)}
            for one in (metric, human)
        ]
        plan = ValidationPlan(methods=("acc-eq-in-sample",), levels=("pooled",), resamples=199)
        groups = [str(place % 20) for place in range(20 * times)]
        result = validate_metrics(
            ScoreTable.of({"m": tables[0]}),
            ScoreTable.of({"people": tables[1]}),
            plan=plan,
            groups=groups if copies else None,
        )
        interval = result.measured[0].interval
        found[copies] = interval.high - interval.low
    assert found[True] == pytest.approx(found[False], rel=0.25)


def test_what_cannot_be_measured():
    with pytest.raises(InputError, match="need labels, good or bad"):
        a_validation(("auc",))
    with pytest.raises(InputError, match="too few to choose epsilon on others"):
        a_validation(("acc-eq",), items=8)
    with pytest.raises(InputError, match="methods may hold pearson"):
        ValidationPlan(methods=("accuracy",))  # type: ignore[arg-type]
