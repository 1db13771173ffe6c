"""Pairwise accuracies: worked by hand, against literal transcriptions, against peers' examples."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deltableu.errors import InputError
from deltableu.stats import pairwise_p_values
from deltableu.validate import tie_calibration
from deltableu.validate.accuracy import pairwise_accuracy, soft_pairwise_accuracy
from deltableu.validate.levels import agreement
from deltableu.validate.tie_calibration import calibrated_accuracy

NAN = float("nan")
LEVELS = ("item", "pooled", "system")
few = settings(max_examples=25, deadline=None)


# ---------------------------------------------------------------------- pairwise accuracy


def test_pairwise_accuracy_by_hand():
    """Six pairs: people tie one, the metric ties one and turns one round."""
    found = pairwise_accuracy([3.0, 2.0, 2.0, 1.0], [50, 60, 40, 40])
    # 0-1 wrong; 0-2, 0-3, 1-3 right; 1-2 tied by the metric; 2-3 tied by people.
    assert (found.pairs, found.agreeing, found.human_ties) == (5, 3, 1)
    assert (found.accuracy, found.chance) == (0.6, 0.5)


def test_pairwise_accuracy_of_tables_is_that_of_means():
    generator = np.random.default_rng(0)
    human, metric = generator.normal(size=(2, 7, 30))
    metric[generator.random(metric.shape) < 0.2] = NAN
    present = ~np.isnan(metric)
    means = [np.where(present, side, 0.0).sum(1) / present.sum(1) for side in (metric, human)]
    found = pairwise_accuracy(metric, human)
    assert found == pairwise_accuracy(*means)
    tau = agreement(metric, human, method="kendall-like", level="system", threshold=0.0)
    assert found.accuracy == pytest.approx((1 + tau) / 2)


def test_where_people_tie_all_systems_there_is_no_accuracy():
    found = pairwise_accuracy([1.0, 2.0, 3.0], [5, 5, 5])
    assert np.isnan(found.accuracy)
    assert (found.pairs, found.human_ties) == (0, 3)


# ---------------------------------------------------------------------- tie calibration


def literal_accuracy(metric, human, level, epsilon=None):
    """Every epsilon tried on every pair; what differs by rounding is equal."""
    present = ~(np.isnan(metric) | np.isnan(human))
    if level == "item":
        groups = [(metric[p, i], human[p, i]) for i, p in enumerate(present.T) if p.sum() > 1]
    elif level == "pooled":
        groups = [(metric[present], human[present])]
    else:
        kept = [s for s in range(len(metric)) if present[s].any()]
        groups = [[[side[s][present[s]].mean() for s in kept] for side in (metric, human)]]
    differences = [
        [(round(a - c, 9), round(b - d, 9)) for (a, b), (c, d) in _two(zip(*group, strict=True))]
        for group in groups
    ]

    def accuracy(limit):
        shares = []
        for group in differences:
            right = 0
            for apart, order in group:
                tie = abs(apart) <= limit
                right += order == 0 if tie else apart * order > 0
            shares.append(right / len(group))
        return float(np.mean(shares))

    if epsilon is not None:
        return accuracy(epsilon), epsilon
    limits = sorted({0.0} | {abs(apart) for group in differences for apart, _ in group})
    values = [accuracy(limit) for limit in limits]
    place = next(i for i, value in enumerate(values) if value >= max(values) - 1e-12)
    return values[place], limits[place]


def _two(values):
    return itertools.combinations(list(values), 2)


@st.composite
def tables(draw):
    shape = (draw(st.integers(2, 5)), draw(st.integers(1, 6)))
    step = draw(st.sampled_from([1.0, 0.1]))
    numbers = st.integers(0, draw(st.sampled_from([2, 5, 40]))).map(float)
    metric = draw(hnp.arrays(np.float64, shape, elements=numbers)) * step
    human = draw(hnp.arrays(np.float64, shape, elements=st.integers(0, 3).map(float)))
    if draw(st.booleans()):
        gaps = hnp.arrays(bool, shape, elements=st.sampled_from([False, False, False, True]))
        metric[draw(gaps)] = NAN
    return metric, human


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("level", LEVELS)
@few
@given(scores=tables(), epsilon=st.sampled_from([None, None, 0.0, 0.25, 2.0]))
@example(scores=(np.array([[np.nan], [0], [0], [0.0]]), np.zeros((4, 1))), epsilon=None)
def test_calibrated_accuracy_is_the_literal_one(level, long, scores, epsilon):
    metric, human = scores
    present = ~np.isnan(metric)
    if present.any(axis=1).sum() < 2 or (level == "item" and present.sum(axis=0).max() < 2):
        return
    with pytest.MonkeyPatch.context() as patch:
        if long:  # the way of long columns, with so few bins that most are looked into
            patch.setattr(tie_calibration, "_LONG", 3)
            patch.setattr(tie_calibration, "_BINS", 3)
        found = calibrated_accuracy(metric, human, level=level, epsilon=epsilon, shuffles=0)
    expected = literal_accuracy(metric, human, level, epsilon)
    assert (found.accuracy, found.epsilon) == pytest.approx(expected, abs=1e-8)
    assert np.isnan(found.permuted)
    assert found.chance == found.always_tie


def test_mt_metrics_eval_without_missing_scores():
    """Its tests of tau optimisation: metric 0 2 6 8 against two sets of ratings."""
    metric = np.array([[0.0], [2.0], [6.0], [8.0]])
    found = calibrated_accuracy(metric, [[1], [2], [3], [4]])
    assert (found.accuracy, found.epsilon) == (pytest.approx(1.0), 0.0)
    found = calibrated_accuracy(metric, [[1], [1], [1], [4]])
    assert (found.accuracy, found.epsilon) == (pytest.approx(4 / 6), 4.0)
    taus = [
        calibrated_accuracy(metric, [[1], [1], [1], [4]], epsilon=e).accuracy
        for e in (0, 2, 4, 6, 8)
    ]
    assert taus == pytest.approx([3 / 6, 3 / 6, 4 / 6, 4 / 6, 3 / 6])


def test_mt_metrics_eval_with_missing_scores():
    """Its regression example (rows are items there)."""
    metric = [[0, 5, 2, 3, 2], [NAN, 2, 1, 5, 3], [9, 1, 5, 3, 8], [9, 3, 4, 4, 1], [NAN] * 5]
    human = [[1, 5, 2, 1, 1], [4, 2, 2, 1, 4], [5, 9, 2, 8, 7], [7, 6, NAN, 3, 2], [NAN] * 5]
    metric, human = np.transpose(metric), np.transpose(human)
    found = calibrated_accuracy(metric, human)
    assert (found.accuracy, found.epsilon) == (pytest.approx(0.4916666666666667), 1.0)
    assert (found.groups, found.pairs) == (4, 10 + 6 + 10 + 6)
    expected = [0.4666666666666667, 0.4916666666666668, 0.38333333333333347, 0.29166666666666674]
    expected += [0.2666666666666667, 0.2, 0.15833333333333335, 0.15833333333333335]
    expected += [0.1166666666666667]
    curve = [calibrated_accuracy(metric, human, epsilon=e, shuffles=0).accuracy for e in range(9)]
    assert curve == pytest.approx(expected)
    assert found.always_tie == pytest.approx(curve[-1])


def test_calibration_by_hand():
    """Two items, three systems, one epsilon for both."""
    metric = np.array([[0.9, 0.5], [0.8, 0.1], [0.2, 0.4]])
    human = np.array([[5, 3], [5, 1], [1, 3]])
    # Item 0: distances .1 (people tie), .7 and .6 (concordant). Item 1: .4 (concordant),
    # .1 (people tie), .3 (concordant). So epsilon .1 gives 3/3 and 3/3, 0 gives 2/3 and 2/3.
    found = calibrated_accuracy(metric, human)
    assert found.accuracy == pytest.approx(1.0)
    assert found.epsilon == pytest.approx(0.1)
    assert calibrated_accuracy(metric, human, epsilon=0.0).accuracy == pytest.approx(2 / 3)
    assert found.always_tie == pytest.approx(1 / 3)
    assert (found.pairs, found.groups) == (6, 2)


def test_many_pairs_give_the_same_as_all_of_them_sorted():
    generator = np.random.default_rng(2)
    human = generator.integers(5, size=700).astype(float)
    metric = human + generator.normal(size=700)
    for scores in (metric, np.round(metric, 1), np.append(metric[:-1], 1e9)):
        x, y = scores[:, np.newaxis], human[:, np.newaxis]
        pairs = np.array([700 * 699 // 2])
        by_sorting = tie_calibration._best(tie_calibration._pairs(x, y, pairs), None)
        by_bins = tie_calibration._among_many(scores, human, None)
        assert by_bins == pytest.approx(by_sorting, abs=1e-9)


def test_shuffled_scores_show_what_chance_reaches():
    generator = np.random.default_rng(1)
    human = generator.integers(4, size=(8, 200)).astype(float)
    noise = generator.normal(size=human.shape)
    useless = calibrated_accuracy(noise, human, seed=1)
    assert useless.accuracy == pytest.approx(useless.chance, abs=0.02)
    useful = calibrated_accuracy(human + noise / 2, human, seed=1)
    assert useful.accuracy > useful.chance + 0.2
    # One tie in four pairs, else a coin: what is expected without calibration.
    tied = useless.always_tie
    assert useless.permuted == pytest.approx((1 - tied) / 2, abs=0.01)
    assert calibrated_accuracy(noise, human, seed=1) == useless
    assert calibrated_accuracy(noise, human, seed=2).permuted != useless.permuted


def test_expected_chance_is_what_shuffles_reach(monkeypatch):
    generator = np.random.default_rng(3)
    human = generator.integers(6, size=(4, 300)).astype(float)
    metric = np.round(human + generator.normal(size=human.shape), 1)
    for epsilon in (None, 0.3):
        simulated = calibrated_accuracy(metric, human, level="pooled", epsilon=epsilon)
        monkeypatch.setattr(tie_calibration, "_MANY", 1000)
        computed = calibrated_accuracy(metric, human, level="pooled", epsilon=epsilon)
        monkeypatch.undo()
        assert computed.accuracy == simulated.accuracy
        assert computed.permuted == pytest.approx(simulated.permuted, abs=0.005)


def test_shuffling_keeps_each_items_scores_and_gaps():
    generator = np.random.default_rng(4)
    x = generator.normal(size=(6, 50))
    x[generator.random(x.shape) < 0.3] = NAN
    shuffled = tie_calibration._shuffled(x, generator)
    assert np.array_equal(np.isnan(shuffled), np.isnan(x))
    assert np.array_equal(np.sort(shuffled, axis=0), np.sort(x, axis=0), equal_nan=True)
    assert not np.array_equal(shuffled, x, equal_nan=True)


def test_calibration_of_16_systems_and_2000_items_is_fast(record_property):
    generator = np.random.default_rng(0)
    human = generator.integers(6, size=(16, 2000)).astype(float)
    metric = human + generator.normal(size=human.shape)
    started = time.process_time()
    calibrated_accuracy(metric, human, shuffles=5)
    seconds = time.process_time() - started
    record_property("seconds of acc*_eq, 16 x 2,000", round(seconds, 3))
    assert seconds < 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be 0 or more"),
        ({"epsilon": NAN}, "epsilon must be 0 or more"),
        ({"shuffles": -1}, "shuffles must not be negative"),
        ({"level": "segment"}, "level must be one of system, pooled, item"),
    ],
)
def test_wrong_choices_are_refused(options, message):
    table = np.arange(6.0).reshape(2, 3)
    with pytest.raises(InputError, match=message):
        calibrated_accuracy(table, table, **options)


def test_tables_without_pairs_are_refused():
    with pytest.raises(InputError, match="no two outputs of an item"):
        calibrated_accuracy([[1, NAN], [NAN, 2]], [[1, 1], [2, 2]])
    for function in (pairwise_accuracy, calibrated_accuracy, soft_pairwise_accuracy):
        with pytest.raises(InputError, match="at least 2 systems"):
            function([[1.0, 2.0]], [[1.0, 2.0]])
        with pytest.raises(InputError, match="same systems x items"):
            function([[1.0, 2.0], [1.0, 2.0]], [[1.0, 2.0]])
        with pytest.raises(InputError, match="one table"):
            function(np.zeros((2, 2, 2)), np.zeros((2, 2, 2)))
    found = soft_pairwise_accuracy([[1, NAN], [NAN, 2]], [[1, 1], [2, 2]], min_items=1)
    assert found.reason == "no two systems have 1 items in common"


# ---------------------------------------------------------------------- soft pairwise accuracy


def literal_p_value(first, second, tie=0.5):
    """All exchanges of two systems' scores that exceed the observed difference, ties in part."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    observed = sum(differences)
    after = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    counts = [tie if abs(one - observed) < 1e-9 else float(one > observed) for one in after]
    return np.mean(counts)


def test_soft_accuracy_by_hand():
    """Three systems on two items; four exchanges for each pair.

    People: differences 0-1 (1, 2): only the observed order reaches 3, p = 1/4. 0-2 (3, -1): 2 is
    reached by (3, -1) and (3, 1), p = 2/4. 1-2 (2, -3): -1 is reached by all but (-2, -3), 3/4.
    Metric: 0-1 (1, 1) 1/4; 0-2 (-1, -1) 4/4; 1-2 (-2, -2) 4/4.
    """
    human = [[4, 3], [3, 1], [1, 4]]
    metric = [[2, 2], [1, 1], [3, 3]]
    found = soft_pairwise_accuracy(metric, human, ties="published", min_items=2)
    assert found.p_human[np.triu_indices(3, 1)].tolist() == [0.25, 0.5, 0.75]
    assert found.p_metric[np.triu_indices(3, 1)].tolist() == [0.25, 1.0, 1.0]
    assert found.accuracy == pytest.approx(1 - (0 + 0.5 + 0.25) / 3)
    assert found.chance == pytest.approx(1 - (0.25 + 0 + 0.25) / 3)
    # E|p - U| is .3125 for p = .25 or .75 and .25 for p = .5.
    assert found.noise == pytest.approx(1 - (0.3125 + 0.25 + 0.3125) / 3)
    assert (found.exact, found.permutations, found.pairs) == (True, 4, 3)
    # Half of what only equals the observed difference: 1/8 less each, and 1/2 - 1/8 of two.
    half = soft_pairwise_accuracy(metric, human, min_items=2)
    assert half.p_human[np.triu_indices(3, 1)].tolist() == [0.125, 0.375, 0.625]
    assert half.p_metric[np.triu_indices(3, 1)].tolist() == [0.125, 0.875, 0.875]


@few
@given(
    scores=hnp.arrays(
        np.float64,
        st.tuples(st.just(2), st.integers(2, 4), st.integers(1, 6)),
        elements=st.integers(0, 5).map(lambda number: number / 10),
    )
)
@pytest.mark.parametrize("ties", ["half", "published"])
def test_soft_accuracy_is_the_literal_one(scores, ties):
    metric, human = scores
    found = soft_pairwise_accuracy(metric, human, ties=ties, min_items=1)
    pairs = list(itertools.combinations(range(len(metric)), 2))
    gaps = []
    tie = 0.5 if ties == "half" else 1.0
    for i, j in pairs:
        p_metric = literal_p_value(metric[i], metric[j], tie)
        p_human = literal_p_value(human[i], human[j], tie)
        assert found.p_metric[i, j] == pytest.approx(p_metric)
        assert found.p_human[i, j] == pytest.approx(p_human)
        gaps.append(abs(p_metric - p_human))
    assert found.accuracy == pytest.approx(1 - np.mean(gaps))
    assert np.isnan(found.p_human[np.tril_indices(len(human))]).all()


def test_random_permutations_come_near_all_of_them():
    generator = np.random.default_rng(5)
    scores = generator.normal(size=(4, 13))
    exact = pairwise_p_values(scores, permutations=2**13)
    sampled = pairwise_p_values(scores, permutations=5000, seed=1)
    upper = np.triu_indices(4, 1)
    np.testing.assert_allclose(sampled[upper], exact[upper], atol=0.03)
    assert np.array_equal(
        sampled, pairwise_p_values(scores, permutations=5000, seed=1, threads=1), equal_nan=True
    )


def test_equal_scores_have_full_soft_accuracy_and_noise_has_chance():
    generator = np.random.default_rng(6)
    human = generator.normal(size=(12, 200)) + generator.normal(size=(12, 1)) / 3
    assert soft_pairwise_accuracy(human * 2 + 1, human).accuracy == 1.0
    found = [
        soft_pairwise_accuracy(generator.normal(size=human.shape), human, permutations=200)
        for _ in range(60)
    ]
    reached = np.mean([one.accuracy for one in found])
    assert reached == pytest.approx(found[0].noise, abs=0.03)


@few
@given(st.integers(0, 2**32), st.integers(2, 6), st.sampled_from([2, 5, 100]))
def test_soft_accuracy_does_not_depend_on_the_order_of_systems(seed, systems, values):
    """Scores that take few values tie often."""
    generator = np.random.default_rng(seed)
    metric, human = generator.integers(values, size=(2, systems, 12)).astype(float)
    order = generator.permutation(systems)
    found, turned = (
        soft_pairwise_accuracy(metric[rows], human[rows], permutations=200)
        for rows in (slice(None), order)
    )
    assert found.accuracy == pytest.approx(turned.accuracy)
    assert found.chance == pytest.approx(turned.chance)


def test_a_constant_metric_has_the_soft_accuracy_of_chance():
    human = np.random.default_rng(8).normal(size=(6, 30)) + np.arange(6)[:, np.newaxis] / 2
    for rows in (slice(None), slice(None, None, -1)):
        found = soft_pairwise_accuracy(np.ones((6, 30)), human[rows])
        assert found.accuracy == found.chance == pytest.approx(0.5, abs=0.05)
    published = [
        soft_pairwise_accuracy(np.ones((6, 30)), human[rows], ties="published").accuracy
        for rows in (slice(None), slice(None, None, -1))
    ]
    assert published == pytest.approx([1.0, 0.0], abs=0.1)


def test_no_soft_accuracy_of_few_items():
    scores = np.random.default_rng(9).normal(size=(2, 3, 12))
    assert soft_pairwise_accuracy(*scores[..., :10]).pairs == 3
    found = soft_pairwise_accuracy(*scores[..., :9])
    assert np.isnan(found.accuracy)
    assert found.reason == "no two systems have 10 items in common"
    scores[0, 0, :3] = NAN  # two pairs have 9 items left
    assert soft_pairwise_accuracy(*scores).pairs == 1
    groups = np.repeat(range(6), 2).tolist()
    found = soft_pairwise_accuracy(*scores, groups=groups)
    assert found.reason == "no two systems have 10 groups of items in common"


def test_soft_accuracy_by_group_exchanges_sums_of_groups():
    metric, human = np.random.default_rng(10).normal(size=(2, 4, 24))
    groups = np.arange(24) % 12
    sums = [
        np.stack([side[:, groups == g].sum(axis=1) for g in range(12)], axis=1)
        for side in (metric, human)
    ]
    found = soft_pairwise_accuracy(metric, human, groups=groups.tolist(), permutations=5000)
    assert found.exact
    assert found.accuracy == pytest.approx(
        soft_pairwise_accuracy(*sums, permutations=5000).accuracy
    )


def test_pairs_are_compared_on_the_items_both_have():
    generator = np.random.default_rng(7)
    scores = generator.normal(size=(3, 8))
    scores[0, 5:] = NAN
    found = pairwise_p_values(scores)
    assert found[0, 1] == pytest.approx(literal_p_value(scores[0, :5], scores[1, :5]))
    assert found[1, 2] == pytest.approx(literal_p_value(scores[1], scores[2]))
    scores[0] = NAN
    scores[0, 0], scores[1, 0] = 1.0, NAN
    assert np.isnan(pairwise_p_values(scores)[0, 1])


def test_scores_that_cannot_be_permuted_are_refused():
    with pytest.raises(InputError, match="at least 2 systems x 1 item"):
        pairwise_p_values([1.0, 2.0])
    with pytest.raises(InputError, match="finite"):
        pairwise_p_values([[1.0], [np.inf]])
    with pytest.raises(InputError, match="permutations"):
        pairwise_p_values([[1.0], [2.0]], permutations=0)
