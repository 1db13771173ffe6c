"""Items that belong together are resampled, left out and exchanged together: literal clusters."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deltableu import ReferenceSet
from deltableu.compare import TESTS, ComparisonPlan, compare_systems
from deltableu.compare.observations import observe
from deltableu.compare.paired_tests import paired_t_test, wilcoxon_test
from deltableu.errors import InputError
from deltableu.score.metrics.diversity import Distinct1, Distinct2, Entropy4
from deltableu.score.systems import IntervalPlan, score_systems
from deltableu.stats import bootstrap_counts, group_numbers, jackknife_interval
from tests import exchange_oracle as literal

ITEMS = 36
#: Dialogues of one to seven turns, in no order.
LABELS = [f"d{'0112223334444555566666667777'[k % 28]}" for k in range(ITEMS)]
GROUPS = [*dict.fromkeys(LABELS)]
PLACES = [[k for k, label in enumerate(LABELS) if label == name] for name in GROUPS]
by_kind = pytest.mark.parametrize("kind", [*literal.METRICS, "means"])
EXCHANGING = ("studentized", "randomization", "permutation")


def systems_of(kind: str) -> dict:
    if kind == "means":
        scores = np.random.default_rng(8).normal(size=(3, ITEMS))
        return {name: list(row) for name, row in zip("ABC", scores, strict=True)}
    rows = literal.generated(literal.METRICS[kind], ITEMS, 4, (0.3, 0.35, 0.5))
    return dict(zip("ABC", rows, strict=True))


def item_rows(kind: str) -> np.ndarray:
    """Systems x items x columns, before anything was grouped."""
    (found,) = observe(systems_of(kind))
    return found.rows


def group_rows(rows: np.ndarray) -> np.ndarray:
    """Systems x groups x columns, added up by hand."""
    return np.stack([rows[:, places].sum(axis=1) for places in PLACES], axis=1)


def grouped(kind: str):
    (found,) = observe(systems_of(kind), groups=LABELS)
    return found


@by_kind
def test_a_group_is_the_sum_of_its_items(kind):
    found, rows = grouped(kind), item_rows(kind)
    assert (found.units, len(found.items)) == (8, ITEMS)
    np.testing.assert_allclose(found.rows, group_rows(rows), rtol=1e-12)
    np.testing.assert_allclose(found.scores(), observe(systems_of(kind))[0].scores(), rtol=1e-12)


@by_kind
def test_the_bootstrap_draws_whole_groups(kind):
    found, rows = grouped(kind), item_rows(kind)
    samples = found.bootstrap(50, 3)
    for sample, counts in zip(samples, bootstrap_counts(8, 50, 3), strict=True):
        drawn = [k for g, count in enumerate(counts) for k in PLACES[g] * int(count)]
        expected = found.aggregate(rows[:, drawn].sum(axis=1))
        np.testing.assert_allclose(sample, expected, rtol=1e-9)


@by_kind
def test_the_jackknife_leaves_out_whole_groups(kind):
    found, rows = grouped(kind), item_rows(kind)
    for g, left_out in enumerate(found.leave_one_out().T):
        others = [k for k in range(ITEMS) if k not in PLACES[g]]
        expected = found.aggregate(rows[:, others].sum(axis=1))
        np.testing.assert_allclose(left_out, expected, rtol=1e-9)


@by_kind
def test_exchanges_exchange_whole_groups(kind):
    """Plain and studentised, all of them and some."""
    found, rows = grouped(kind), item_rows(kind)
    number = group_numbers(LABELS)
    for choices, plain, studentized in (
        (
            literal.all_choices(8),
            found.all_exchanges(0, 1),
            found.exchange.all_statistics(0, 1),
        ),
        (
            literal.drawn_choices(8, 40, 5),
            found.exchanges(40, 5)(0, 1),
            found.exchange.statistics([(0, 1)], 40, 5)[:, 0],
        ),
    ):
        expected = []
        for choice in choices[:, number, None]:
            one, two = np.where(choice, rows[1], rows[0]), np.where(choice, rows[0], rows[1])
            expected.append(found.aggregate(one.sum(axis=0)) - found.aggregate(two.sum(axis=0)))
        np.testing.assert_allclose(plain, expected, rtol=1e-9, atol=1e-9)
        summed = group_rows(rows)[:2]
        told = literal.statistics(summed, choices, found.aggregate, found.gradient)
        kept = [k for k, one in enumerate(told) if one is not None]
        assert len(kept) > 0.9 * len(told)
        np.testing.assert_allclose(studentized[kept], [told[k] for k in kept], rtol=1e-6, atol=1e-8)


@by_kind
def test_p_values_and_intervals_are_those_of_the_groups_as_items(kind):
    """A corpus of eight items, each a whole dialogue, is compared alike."""
    plan = ComparisonPlan(tests=EXCHANGING, interval="studentized")
    (found,) = compare_systems(systems_of(kind), groups=LABELS, plan=plan)
    assert (found.groups, found.items, found.exact) == (8, ITEMS, True)
    assert "|groups:8|" in found.signature
    assert "36 items in 8 groups" in found.pairs_table().caption
    observed, summed = grouped(kind), group_rows(item_rows(kind))
    for pair in found.pairs:
        first, second = ("ABC".index(name) for name in (pair.first, pair.second))
        rows = summed[[first, second]]
        # Exchanging all but these is the same with the other sign.
        choices = literal.all_choices(8)[:128]
        told = literal.statistics(rows, choices, observed.aggregate, observed.gradient)
        sizes = np.array([math.inf if one is None else abs(one) for one in told])
        extreme = (sizes >= sizes[0] * (1 - 1e-9)).mean()
        assert pair.p_values["studentized"] == extreme
        left_out = observed.leave_one_out()[first]
        expected = jackknife_interval(
            float(observed.scores()[first]), left_out, 0.95, observed.limits
        )
        (system,) = (one for one in found.systems if one.system == pair.first)
        assert system.interval.low == pytest.approx(expected.low, rel=1e-9)
        assert system.interval.high == pytest.approx(expected.high, rel=1e-9)


@by_kind
def test_groups_of_one_are_items(kind):
    tests = tuple(test for test in TESTS if test != "permutation")
    plan = ComparisonPlan(tests=tests, trials=300, resamples=200)
    labels = [f"only {k}" for k in range(ITEMS)]
    (alone,) = compare_systems(systems_of(kind), plan=plan)
    (found,) = compare_systems(systems_of(kind), groups=labels, plan=plan)
    assert found.pairs == alone.pairs
    assert found.systems == alone.systems
    assert (found.groups, alone.groups) == (ITEMS, None)


def test_names_of_groups_and_their_order_do_not_matter():
    plan = ComparisonPlan(trials=300)
    (found,) = compare_systems(systems_of("bleu-2"), groups=LABELS, plan=plan)
    renamed = [f"x{label[1:]}" for label in LABELS]
    by_item = {str(k): label for k, label in enumerate(renamed)}
    for groups in (renamed, tuple(renamed), by_item):
        assert compare_systems(systems_of("bleu-2"), groups=groups, plan=plan) == (found,)


# --- Tests of segments ----------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@example([(0, 2, 0), (0, 0, 0), (1, 2, 0), (1, 0, 0)])
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(-9, 9), st.integers(-9, 9)),
        min_size=4,
        max_size=25,
    ).filter(lambda rows: len({group for group, *_ in rows}) > 1)
)
def test_students_test_of_groups_is_that_of_their_sums(rows):
    """What each group is above the mean of all items, as if groups were what was drawn."""
    labels, first, second = zip(*rows, strict=True)
    numbers = group_numbers(labels)
    apart = [one - two for one, two in zip(first, second, strict=True)]
    mean = sum(apart) / len(apart)
    sums = dict.fromkeys(labels, 0.0)
    for label, one in zip(labels, apart, strict=True):
        sums[label] += one - mean
    units = len(sums)
    error = math.sqrt(units / (units - 1) * sum(one**2 for one in sums.values())) / len(apart)
    found = paired_t_test(np.array(first, float), np.array(second, float), numbers)
    assert found.sign == np.sign(mean)
    if error < 1e-9:  # groups may be alike whose items are not
        assert found.p_value == (1.0 if mean == 0 else 2.0 ** (1 - units))
    else:
        expected = 2 * scipy.stats.t.sf(abs(mean) / error, units - 1)
        assert found.p_value == pytest.approx(expected, rel=1e-9)


def test_groups_of_equal_size_are_compared_by_their_means():
    first, second = np.random.default_rng(2).normal(size=(2, 60))
    numbers = group_numbers([k % 12 for k in range(60)])
    means = [(first - second)[numbers == g].mean() for g in range(12)]
    expected = scipy.stats.ttest_1samp(means, 0.0)
    found = paired_t_test(first, second, numbers)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.sign == np.sign(expected.statistic)
    ranked = wilcoxon_test(first, second, numbers)
    assert ranked.p_value == pytest.approx(scipy.stats.wilcoxon(means).pvalue, rel=1e-9)


def test_turns_of_a_dialogue_are_not_ten_independent_items():
    """Two equal systems, dialogues of ten turns that share a third of the variance."""
    rng = np.random.default_rng(5)
    labels = [str(k // 10) for k in range(200)]
    plan = ComparisonPlan(tests=("studentized", "t-test"), trials=400)
    rejected = {"items": np.zeros(2), "groups": np.zeros(2)}
    for _ in range(200):
        shared = np.repeat(rng.normal(0, math.sqrt(0.3), size=(2, 20)), 10, axis=1)
        scores = dict(zip("AB", shared + rng.normal(0, math.sqrt(0.7), (2, 200)), strict=True))
        for name, groups in (("items", None), ("groups", labels)):
            (found,) = compare_systems(scores, groups=groups, plan=plan)
            rejected[name] += [p < 0.05 for p in found.pairs[0].p_values.values()]
    assert (rejected["items"] > 0.2 * 200).all(), rejected
    assert (rejected["groups"] <= 0.09 * 200).all(), rejected
    assert (rejected["groups"] >= 0.015 * 200).all(), rejected


# --- What is pooled -------------------------------------------------------------------------------

POOLED = [kind(tokenize="none") for kind in (Distinct1, Distinct2, Entropy4)]


def pooled_texts(words: int) -> list[str]:
    rng = np.random.default_rng(words)
    return [
        " ".join(f"w{k}" for k in rng.integers(words, size=rng.integers(2, 9)))
        for _ in range(ITEMS)
    ]


def naive(metric, texts) -> float:
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        tokens = text.split()
        counts.update(zip(*(tokens[k:] for k in range(metric.ngram)), strict=False))
    total = sum(counts.values())
    if metric.name.startswith("distinct"):
        return 100 * len(counts) / total
    return -sum(count / total * math.log(count / total) for count in counts.values())


@pytest.mark.parametrize("metric", POOLED, ids=lambda metric: str(metric.name))
def test_the_n_grams_of_a_group_are_pooled(metric):
    texts = {"A": pooled_texts(14), "B": pooled_texts(30)}
    rows = {name: metric.compute(one, [["x"]] * ITEMS) for name, one in texts.items()}
    (found,) = observe(rows, groups=LABELS)
    np.testing.assert_allclose(found.scores(), [naive(metric, one) for one in texts.values()])
    numbers = group_numbers(LABELS)
    for place, output in enumerate(texts.values()):
        one = rows["AB"[place]].grouped(numbers)
        of_groups = [[output[k] for k in places] for places in PLACES]
        assert one.segment_scores().tolist() == pytest.approx(
            [naive(metric, group) for group in of_groups]
        )
        for g in range(8):
            rest = [output[k] for k in range(ITEMS) if k not in PLACES[g]]
            assert found.leave_one_out()[place, g] == pytest.approx(naive(metric, rest))
    for choice, apart in zip(literal.all_choices(8), found.all_exchanges(0, 1), strict=True):
        swapped = choice[numbers]
        ours = [texts["AB"[int(swap)]][k] for k, swap in enumerate(swapped)]
        theirs = [texts["AB"[1 - int(swap)]][k] for k, swap in enumerate(swapped)]
        assert apart == pytest.approx(naive(metric, ours) - naive(metric, theirs), abs=1e-9)


# --- Scores of one system, and what is wrong ------------------------------------------------------


@pytest.mark.parametrize("method", ["jackknife", "percentile", "bca"])
def test_intervals_of_scores_speak_about_other_groups(method):
    texts = pooled_texts(14)
    references = ReferenceSet([[text, "w1 w2 w3"] for text in pooled_texts(14)[::-1]])
    plan = IntervalPlan(method, resamples=60)
    metric = literal.METRICS["bleu-2"]
    scored = [
        score_systems(references, {"A": texts}, [metric], intervals=plan, groups=groups).scores[0]
        for groups in (LABELS, None)
    ]
    whole = scored[0].rows.grouped(group_numbers(LABELS))
    assert scored[0].score.interval == whole.interval(method, resamples=60, rng=0)
    assert scored[0].score.interval != scored[1].score.interval
    assert scored[0].score.score == scored[1].score.score
    if method == "jackknife":
        scores = [
            metric.aggregate(np.delete(scored[1].rows.rows, places, axis=0).sum(axis=0))
            for places in PLACES
        ]
        expected = jackknife_interval(scored[0].score.score, np.array(scores), 0.95, (0, 100))
        assert scored[0].score.interval.low == pytest.approx(expected.low)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (LABELS[:-1], "groups must name one group for each of 36 items"),
        ("x" * ITEMS, "groups must name one group for each of 36 items"),
        (["same"] * ITEMS, "a comparison needs at least two groups of items, got 1"),
        ({"0": "d0"}, "item '1' has no group"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(InputError, match=message):
        compare_systems(systems_of("means"), groups=groups)


def test_few_groups_are_said_to_be_too_few():
    labels = [str(k % 4) for k in range(ITEMS)]
    (found,) = compare_systems(systems_of("bleu-2"), groups=labels)
    assert "4 groups are too few for any difference to be significant" in found.warnings
    with pytest.raises(InputError, match="differ on 30 groups of items, too many to try"):
        compare_systems(
            systems_of("means"),
            groups=[str(min(k, 29)) for k in range(ITEMS)],
            plan=ComparisonPlan(tests=("permutation",)),
        )
