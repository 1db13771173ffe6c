"""Exact tests: scipy's and literal enumerations; Wilcoxon and Student as scipy has them."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU
from deltableu.compare import Comparison, ComparisonPlan, compare_systems
from deltableu.compare.paired_tests import (
    bootstrap_p_value,
    koehn_p_value,
    moses_p_value,
    paired_t_test,
    wilcoxon_test,
)
from deltableu.score.metrics.chrf import ChrF
from deltableu.stats import permutation_p_value

few = settings(max_examples=40, deadline=None)
fewer = settings(max_examples=12, deadline=None)
EXACT = ComparisonPlan(tests=("permutation",))
RANDOM = ComparisonPlan(tests=("randomization",))
STUDENTIZED = ComparisonPlan(tests=("studentized",))
by_test = pytest.mark.parametrize("test", ["studentized", "randomization"])


def compared(systems, plan: ComparisonPlan) -> Comparison:
    (comparison,) = compare_systems(systems, plan=plan)
    return comparison


def p_value(systems, plan: ComparisonPlan) -> float:
    (pair,) = compared(systems, plan).pairs
    return pair.p_values[plan.tests[0]]


def pairs_of(score: st.SearchStrategy, least: int = 2, most: int = 9):
    """Scores of two systems for the same items; many tie."""
    return st.lists(st.tuples(score, score), min_size=least, max_size=most).filter(
        lambda rows: len({score for row in rows for score in row}) > 1
    )


# --- Means of segments ----------------------------------------------------------------------------


@few
@given(pairs_of(st.integers(-3, 3)))
def test_permutation_is_scipys(rows):
    first, second = np.array(rows, dtype=float).T
    expected = scipy.stats.permutation_test(
        (first, second),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    ).pvalue
    for systems in ({"A": first, "B": second}, {"A": second, "B": first}):
        for plan in (EXACT, RANDOM, STUDENTIZED):
            assert p_value(systems, plan) == expected


@few
@given(pairs_of(st.integers(0, 12)), st.sampled_from([1, 10, 7, 1000]), st.integers(-9, 9))
def test_rounding_decides_no_tie(rows, parts, shift):
    """Decimals and sevenths, whose sums round; the truth is computed in fractions.

    Of means the studentised test is the plain one: exchanges leave the squares of differences as
    they are, so that the statistic grows with the mean.
    """
    exact = [(Fraction(a, parts) + shift, Fraction(b, parts) + shift) for a, b in rows]
    differences = [a - b for a, b in exact]
    observed = abs(sum(differences))
    extreme = sum(
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True))) >= observed
        for signs in product((1, -1), repeat=len(differences))
    )
    systems = {"A": [float(a) for a, _ in exact], "B": [float(b) for _, b in exact]}
    assert p_value(systems, EXACT) == extreme / 2 ** len(differences)
    assert p_value(systems, STUDENTIZED) == extreme / 2 ** len(differences)


@few
@given(pairs_of(st.integers(0, 8)), st.sampled_from([1e-12, 1e-5, 3.0, 1e9]))
@example([(0, 6), (3, 3), (8, 1), (8, 8), (0, 1)], 1e-12)  # means that tie but for rounding
def test_p_values_do_not_depend_on_the_unit(rows, unit):
    tests = ("studentized", "permutation", "wilcoxon", "t-test", "bootstrap", "koehn", "moses")
    plan = ComparisonPlan(tests=tests, resamples=60)
    first, second = np.array(rows, dtype=float).T
    (plain,) = compared({"A": first, "B": second}, plan).pairs
    (scaled,) = compared({"A": unit * first, "B": unit * second}, plan).pairs
    for test in tests:
        assert scaled.p_values[test] == pytest.approx(plain.p_values[test], abs=1e-9)


def test_what_rounding_makes_is_no_difference():
    scores = [0.1 * k for k in range(30)]
    noisy = [(score + 1e-16) * (1 + 3e-16) for score in scores]
    assert scores != noisy
    tests = ("studentized", "randomization", "wilcoxon", "t-test", "koehn", "moses")
    plan = ComparisonPlan(tests=tests)
    (pair,) = compared({"A": scores, "B": noisy}, plan).pairs
    assert set(pair.p_values.values()) == {1.0}
    assert not pair.significant


# --- Corpus scores --------------------------------------------------------------------------------

text = st.text(alphabet="abcd", min_size=0, max_size=6).map(" ".join)


@few
@given(
    st.sampled_from(
        [
            BLEU(tokenize="none", order=1),
            BLEU(tokenize="none", order=2),
            BLEU(tokenize="none"),
            DeltaBLEU(tokenize="none"),
            DeltaBLEU(tokenize="none", combine="arithmetic"),
            ChrF(char_order=2),
        ]
    ),
    st.lists(st.tuples(text, text, text, text), min_size=2, max_size=5),
)
def test_corpus_scores_are_those_of_exchanged_texts(metric, items):
    """Every exchange of outputs, scored from the texts; where a score is clamped, no p-value."""
    references = [[one or "a", two] for one, two, _, _ in items]
    weights = [[0.7, -1 / 3]] * len(items)
    encoded = metric.encode(references, weights)

    def rows(texts):
        return metric.statistics(texts, encoded)

    outputs = [[item[2] for item in items], [item[3] for item in items]]
    given = {"A": rows(outputs[0]), "B": rows(outputs[1])}
    # With nothing to tell apart there is nothing to compare, which is an error.
    segments = np.concatenate([one.segment_scores() for one in given.values()])
    assume(len(set(segments.tolist())) > 1)
    if any(metric.clamped(one.sums()) for one in given.values()):
        assert math.isnan(p_value(given, EXACT))
        assert math.isnan(p_value(given, RANDOM))
        return
    differences = []
    for swapped in product((0, 1), repeat=len(items)):
        ours = [outputs[swap][k] for k, swap in enumerate(swapped)]
        theirs = [outputs[1 - swap][k] for k, swap in enumerate(swapped)]
        differences.append(rows(ours).score().score - rows(theirs).score().score)
    observed = abs(differences[0])
    extreme = np.mean([abs(one) >= observed - 1e-10 for one in differences])
    assert p_value(given, EXACT) == extreme
    assert p_value(given, RANDOM) == extreme


# --- When the exchanges are enumerated ------------------------------------------------------------


def differing(count: int, same: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    first = rng.integers(0, 9, size=count + same).astype(float)
    second = first.copy()
    second[same:] += rng.choice([-2.0, 1.0, 2.0, 3.0], size=count)
    return {"A": first, "B": second}


@by_test
@pytest.mark.parametrize("same", [0, 60])
def test_random_exchanges_give_way_to_all_when_those_are_no_more(same, test):
    """Ten items differ, so 1,024 exchanges are all there are."""
    systems = differing(10, same)
    all_of_them = compared(systems, ComparisonPlan(tests=(test,), trials=1024))
    assert all_of_them.exact
    assert all_of_them.pairs[0].p_values[test] == p_value(systems, EXACT)
    some = compared(systems, ComparisonPlan(tests=(test,), trials=1023))
    assert not some.exact
    p = some.pairs[0].p_values[test]
    assert p * 1024 == pytest.approx(round(p * 1024))
    assert p != p_value(systems, EXACT)
    assert p == pytest.approx(p_value(systems, EXACT), abs=0.06)


def test_permutation_is_exact_however_few_trials():
    systems = differing(12)
    comparison = compared(systems, ComparisonPlan(tests=("permutation",), trials=10))
    assert comparison.exact
    assert not compared(systems, ComparisonPlan(trials=10)).exact
    assert not compared(systems, ComparisonPlan(tests=("wilcoxon", "permutation"))).exact


@by_test
@pytest.mark.parametrize("seed", range(3))
def test_random_exchanges_come_close_to_all(seed, test):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=15)
    systems = {"A": first, "B": first + rng.normal(0.3 * seed, 1, size=15)}
    exact = p_value(systems, EXACT)
    trials = 30_000
    # So many that all 2^15 exchanges are more.
    random = p_value(systems, ComparisonPlan(tests=(test,), trials=trials, seed=seed))
    assert abs(random - exact) < 4 * np.sqrt(exact * (1 - exact) / trials) + 1 / trials


def test_more_items_than_can_be_enumerated():
    """Twenty differing items are; the largest that is allowed."""
    p = p_value(differing(20, 3), EXACT)
    assert p * 2**20 == round(p * 2**20)


# --- Wilcoxon and Student -------------------------------------------------------------------------


def scipys_wilcoxon(apart: np.ndarray) -> float:
    apart = apart[apart != 0]
    return float(scipy.stats.wilcoxon(apart).pvalue) if len(apart) else 1.0


@fewer
@given(pairs_of(st.integers(0, 9), most=9))
def test_wilcoxon_is_scipys_with_ties_and_zeros(rows):
    first, second = np.array(rows, dtype=float).T
    expected = scipys_wilcoxon(first - second)
    found, turned = wilcoxon_test(first, second), wilcoxon_test(second, first)
    assert found.p_value == pytest.approx(expected, abs=1e-12)
    assert (turned.p_value, turned.sign) == (found.p_value, -found.sign)


@pytest.mark.parametrize("size", [2, 5, 14, 49, 50, 51, 400])
def test_wilcoxon_is_scipys_without_ties(size):
    first, second = np.random.default_rng(size).normal(size=(2, size))
    expected = scipy.stats.wilcoxon(first, second).pvalue
    assert wilcoxon_test(first, second).p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("size", [60, 400])
def test_wilcoxon_is_scipys_for_many_with_ties_and_zeros(size):
    first, second = np.random.default_rng(size).integers(0, 9, size=(2, size)).astype(float)
    expected = scipy.stats.wilcoxon(first, second).pvalue
    assert wilcoxon_test(first, second).p_value == pytest.approx(expected, rel=1e-12)


@few
@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=14))
def test_wilcoxon_tries_all_signs_also_where_ranks_tie(apart):
    """For 14 to 50 segments with ties scipy takes the normal distribution; nothing forces us."""
    ranks = scipy.stats.rankdata(np.abs(apart))
    signs = np.array(list(product((0, 1), repeat=len(apart)))) @ ranks
    observed = ranks[np.array(apart) > 0].sum()
    middle = ranks.sum() / 2
    expected = np.mean(np.abs(signs - middle) >= abs(observed - middle))
    scores = np.array(apart, dtype=float)
    found = wilcoxon_test(scores, np.zeros_like(scores))
    assert (found.p_value, found.sign) == (expected, np.sign(observed - middle))


def test_equal_differences_tie_whatever_rounding_makes_of_them():
    first = np.array([0.3, 0.7, 0.9, 1.1, 0.2, 0.5])
    second = np.array([0.2, 0.6, 0.8, 1.0, 0.3, 0.3])
    assert len(set(np.abs(first - second)[:5])) > 1
    expected = wilcoxon_test(np.array([1.0, 1, 1, 1, -1, 2]), np.zeros(6))
    assert wilcoxon_test(first, second) == expected
    assert wilcoxon_test(first * 1e-9, second * 1e-9) == expected
    assert wilcoxon_test(first + 100, second + 100) == expected


def test_small_differences_count_as_much_as_large_ones():
    """A difference far below the scores is still one."""
    rng = np.random.default_rng(0)
    first = rng.random(30) * 100
    apart = rng.normal(1, 1, size=30) * 1e-8
    found = wilcoxon_test(first, first - apart).p_value
    assert found == pytest.approx(scipys_wilcoxon(apart), rel=1e-12)


@few
@given(pairs_of(st.floats(-50, 50), most=30))
def test_student_is_scipys(rows):
    first, second = np.array(rows).T
    apart = first - second
    assume(apart.std() > 1e-6)
    expected = scipy.stats.ttest_rel(first, second).pvalue
    found, turned = paired_t_test(first, second), paired_t_test(second, first)
    assert found.p_value == pytest.approx(expected, rel=1e-6)
    assert (turned.p_value, turned.sign) == (found.p_value, -found.sign)


@pytest.mark.parametrize("shift", [0.0, 0.1, -3.0])
def test_student_where_all_segments_differ_alike(shift):
    """Without spread nothing can be divided by it: four equal signs are all that was seen."""
    scores = np.array([0.1, 0.2, 0.7, 1.3])
    found = paired_t_test(scores + shift, scores)
    assert found == (1.0 if shift == 0 else 2 / 2**4, np.sign(shift))


def test_two_equal_differences_prove_nothing():
    """Once p = 0 and an interval without width: two coins fall alike every other time."""
    plan = ComparisonPlan(tests=("t-test", "studentized"))
    for interval in ("studentized", "jackknife"):
        (pair,) = compared({"A": [1, 2], "B": [0, 1]}, replace(plan, interval=interval)).pairs
        assert pair.p_values == {"t-test": 0.5, "studentized": 0.5}
        assert not pair.significant
        assert pair.interval.low < 0.0 < 2.0 < pair.interval.high


def test_a_few_large_wins_do_not_turn_a_test_of_ranks():
    """A has the larger mean by one item, and loses all others: Wilcoxon's test speaks for B."""
    systems = {"A": [90.0] + [0.0] * 29, "B": [1.0] * 30}
    for tests in (("wilcoxon", "studentized"), ("studentized", "wilcoxon")):
        comparison = compared(systems, ComparisonPlan(tests=tests))
        (pair,) = comparison.pairs
        assert (pair.first, pair.difference) == ("A", 2.0)
        assert pair.favours == {"wilcoxon": "B", "studentized": "A"}
        assert pair.p_values["wilcoxon"] < 1e-6
        assert pair.better == ("B" if tests[0] == "wilcoxon" else None)
        # Scores rank: a test of something else puts nobody above a better score.
        assert {one.letters for one in comparison.systems} == {"a"}
        assert "for B" in str(comparison.pairs_table().rows)


# --- The formulas of the resampling tests ---------------------------------------------------------

DIFFERENCES = np.array([0.5, -0.25, 0.75, 0.0, 1.0, 0.25, 0.5, -0.5])


@pytest.mark.parametrize("observed", [0.5, -0.5, 0.25, 2.0, 0.0])
def test_counts(observed):
    trials = len(DIFFERENCES)
    extreme = sum(abs(one) >= abs(observed) for one in DIFFERENCES)
    assert permutation_p_value(DIFFERENCES, observed) == (extreme + 1) / (trials + 1)
    assert permutation_p_value(DIFFERENCES, observed, exact=True) == extreme / trials
    far = sum(abs(one - observed) >= abs(observed) for one in DIFFERENCES)
    assert bootstrap_p_value(DIFFERENCES, observed) == (far + 1) / (trials + 1)
    signs = [sign for sign in (-1, 1) if sign * observed >= 0]
    lost = max(sum(sign * one <= 0 for one in DIFFERENCES) for sign in signs)
    assert koehn_p_value(DIFFERENCES, observed) == (lost + 1) / (trials + 1)
    mean = sum(abs(DIFFERENCES)) / trials
    more = sum(abs(one) - mean > abs(observed) for one in DIFFERENCES)
    assert moses_p_value(DIFFERENCES, observed) == (more + 1) / (trials + 1)
