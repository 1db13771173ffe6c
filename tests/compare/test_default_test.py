"""What the default may be asked for: equal scores however reached, one verdict, one interval."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu import DeltaBLEU, read_study, reference_set, score_systems
from deltableu.compare import ComparisonPlan, compare_rated, compare_systems
from deltableu.compare.pairs import too_skewed
from deltableu.compare.systems import compare_observations
from deltableu.corpus import Item, Rating, RatingTable, Reference, Study
from deltableu.score.systems import IntervalPlan
from simulations.populations import PROFILE, populations
from tests import exchange_oracle as literal

few = settings(max_examples=15, deadline=None)


def compared(source, **plan):
    (found,) = compare_systems(source, plan=ComparisonPlan(**plan))
    return found


# --- The test and its interval --------------------------------------------------------------------


def assert_agreement(pair, confidence=0.95):
    """The interval holds 0 if and only if the test does not reject."""
    inside = pair.interval.low <= 0.0 <= pair.interval.high
    assert inside == (pair.p_values["studentized"] >= 1.0 - confidence - 1e-12), pair


@few
@given(
    st.sampled_from([*literal.METRICS]),
    st.integers(3, 40),
    st.integers(0, 10_000),
    st.sampled_from([40, 999, 2000]),
    st.sampled_from([0.8, 0.95]),
)
def test_of_corpus_scores_test_and_interval_agree(kind, items, seed, trials, confidence):
    """Whether all exchanges were tried or some."""
    rows = literal.generated(literal.METRICS[kind], items, seed, (0.3, 0.6, 0.3, 0.7))
    for first, second in pairwise(rows):
        assume(not any(one.metric.clamped(one.sums()) for one in (first, second)))
        plan = {"trials": trials, "confidence": confidence, "seed": seed}
        (pair,) = compared({"A": first, "B": second}, **plan).pairs
        assert_agreement(pair, confidence)
        # Beside other tests, too, and where another decides.
        (same,) = compared({"A": first, "B": second}, tests=("t-test", "studentized"), **plan).pairs
        assert same.interval == pair.interval


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20),
    st.sampled_from([1, 0.1, 1 / 7, 1e6]),
    st.sampled_from([300, 5000]),
)
def test_of_scores_that_tie_test_and_interval_agree(scores, unit, trials):
    """Where many exchanges give the same statistic but for rounding."""
    first, second = np.array(scores, dtype=float).T * unit
    assume(len({*first, *second}) > 1)
    (pair,) = compared({"A": first, "B": second}, trials=trials).pairs
    assert_agreement(pair)
    assert pair.interval.low <= pair.difference <= pair.interval.high


def test_equal_scores_reached_otherwise_are_not_told_apart():
    """Few words right in runs against all right in bits: the score is the same, precisions not.

    Exchanging outputs makes systems alike also in precisions, which plain exchanges take for
    their differences having been small by chance.
    """
    population = populations("delta-BLEU")[PROFILE]
    assert abs(population.truth[0] - population.truth[1]) < 1e-6
    rng = np.random.default_rng(1)
    plan = ComparisonPlan(tests=("studentized", "randomization"), trials=500)
    rejected = dict.fromkeys(plan.tests, 0)
    for number in range(400):
        found = population.observe(rng.integers(population.size, size=200))
        (pair,) = compare_observations(found, replace(plan, seed=number)).pairs
        for test in plan.tests:
            rejected[test] += pair.p_values[test] < 0.05
    assert rejected["randomization"] > 0.08 * 400, rejected
    assert 0.025 * 400 <= rejected["studentized"] <= 0.08 * 400, rejected


# --- Where a score is clamped ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def scoring(demo):
    study = read_study(demo, ratings=False)
    outputs = {name: study.outputs[name] for name in ("human", "random", "phrase-smt")}
    metrics = [DeltaBLEU(), DeltaBLEU().signed()]
    return score_systems(reference_set(study), outputs, metrics, intervals=IntervalPlan())


def test_a_clamped_score_is_not_tested(scoring):
    """After any exchange its sum may be positive: p was below .001 beside an interval with 0."""
    clamped, signed = compare_systems(
        scoring, plan=ComparisonPlan(tests=("studentized", "randomization", "bootstrap"))
    )
    for other in ("human", "random"):
        pair = clamped.pair(other, "phrase-smt")
        for values in (pair.p_values, pair.holm, pair.bh):
            assert all(math.isnan(value) for value in values.values())
        assert set(pair.favours.values()) == {None}
        assert (pair.interval, pair.significant, pair.better) == (None, False, None)
    last = clamped.systems[-1]
    assert (last.system, last.score) == ("phrase-smt", 0.0)
    assert (last.interval, last.rank, last.cluster, last.letters) == (None, None, None, "")
    assert clamped.warnings[0] == (
        "the score of phrase-smt is clamped, because the matches of some order sum to nothing or "
        "less: there is no interval and no test of it"
    )
    # The others are ranked among themselves, corrected for the tests that were made.
    assert [one.letters for one in clamped.systems[:2]] == ["a", "b"]
    pair = clamped.pair("human", "random")
    assert pair.holm == pair.p_values
    # The signed score goes on below 0, where the two differ.
    assert [one.system for one in signed.systems] == ["human", "random", "phrase-smt"]
    assert [one.letters for one in signed.systems] == ["a", "b", "c"]
    assert signed.systems[-1].interval.high < 0.0
    assert signed.pair("random", "phrase-smt").better == "random"


def test_against_a_clamped_baseline_nothing_is_tested(scoring):
    (found,) = compare_systems(scoring.only("delta-bleu"), baseline="phrase-smt")
    assert all(math.isnan(found.deciding(pair)) for pair in found.pairs)
    assert not any(pair.significant for pair in found.pairs)


# --- As many exchanges as the correction needs ----------------------------------------------------


@pytest.mark.parametrize("test", ["studentized", "randomization"])
def test_systems_far_apart_have_letters_of_their_own(test):
    """33 of them are 528 pairs, of which Holm asks p < .0001 at least once."""
    rng = np.random.default_rng(0)
    scores = {f"s{k:02d}": 3.0 * k + rng.normal(size=30) for k in range(33)}
    found = compared(scores, tests=(test,), interval="jackknife")
    assert all(pair.significant for pair in found.pairs)
    letters = [one.letters for one in found.systems]
    assert len(set(letters)) == 33
    assert [one.rank for one in found.systems] == [(k, k) for k in range(1, 34)]
    assert f"|test:{test}-21120|" in found.signature


@given(st.integers(1, 5000), st.sampled_from([0.001, 0.05, 0.1]), st.sampled_from(["holm", "bh"]))
def test_the_smallest_p_value_can_be_significant_however_many_pairs(pairs, alpha, correction):
    plan = ComparisonPlan(trials=10, significance=alpha, correction=correction)
    smallest = 1.0 / (plan.exchanges(pairs) + 1)
    assert pairs * smallest < alpha
    assert replace(plan, correction="none").exchanges(pairs) == 10
    assert replace(plan, trials=10**8).exchanges(pairs) == 10**8


# --- What is printed is what is tested ------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy_study() -> Study:
    """Ratings so noisy that scores under their means are far below those under true weights."""
    rng = np.random.default_rng(3)
    items, ratings, outputs = [], [], {"A": [], "B": [], "C": []}
    for number in range(200):
        texts = [f"w{number} a{j} b{j} c{j}" for j in range(10)]
        items.append(
            Item(f"i{number}", tuple(Reference(f"r{j}", text) for j, text in enumerate(texts)))
        )
        for j in range(10):
            for rater in "pqrstuvw":
                value = float(np.clip(np.round(3.8 + rng.normal(0, 1.2)), 1, 5))
                target = f"reference:r{j}"
                ratings.append(Rating(rater, f"i{number}", target, value, scale="1-5"))
        for place, name in enumerate(outputs):
            outputs[name].append(texts[rng.integers(10)] if rng.random() < 0.9 else f"x{place} y")
    made = {name: tuple(texts) for name, texts in outputs.items()}
    return Study(tuple(items), made, RatingTable.from_records(ratings))


def test_with_raters_resampled_scores_ranks_and_tests_are_about_one_number(noisy_study):
    """Once 56.54 [61.62, 92.75] was printed, and systems ranked by numbers that no test was of."""
    plan = ComparisonPlan(resamples=200)
    (found,) = compare_rated(noisy_study, [DeltaBLEU()], no_positive="skip", plan=plan)
    scores = {one.system: one.score for one in found.systems}
    assert [*scores.values()] == sorted(scores.values(), reverse=True)
    for one in found.systems:
        assert one.interval.low <= one.score <= one.interval.high
        assert one.corrected.interval.low <= one.corrected.score <= one.corrected.interval.high
    for pair in found.pairs:
        assert pair.difference == scores[pair.first] - scores[pair.second]
        assert pair.interval.low <= pair.difference <= pair.interval.high
        middle = (pair.interval.low + pair.interval.high) / 2
        assert middle == pytest.approx(pair.difference, abs=1e-9)
    # The correction is no small one here.
    assert all(one.score < one.corrected.interval.low for one in found.systems)


@pytest.mark.parametrize("kind", literal.METRICS)
@pytest.mark.parametrize("items", [3, 12, 80])
def test_every_score_lies_in_its_interval_and_that_within_its_limits(kind, items):
    metric = literal.METRICS[kind]
    for seed in range(5):
        rows = literal.generated(metric, items, seed, (0.02, 0.4, 0.9))
        found = compared(dict(zip("ABC", rows, strict=True)), trials=50)
        lowest, highest = metric.score_limits
        for one in found.systems:
            if one.interval is not None:
                assert lowest <= one.interval.low <= one.score <= one.interval.high <= highest
                assert one.interval == rows["ABC".index(one.system)].interval()
        for pair in found.pairs:
            if pair.interval is not None:
                assert lowest - highest <= pair.interval.low <= pair.difference
                assert pair.difference <= pair.interval.high <= highest - lowest


def test_skewness_knows_no_scale():
    influences = np.array([9.0, 0.0, 0.0, 0.0])
    for scale in (1e-300, 1e-140, 1.0, 1e300):
        assert too_skewed(scale * influences)
        assert not too_skewed(scale * np.array([1.0, -1.0, 2.0, -2.0]))
    assert not too_skewed(np.zeros(4))
