"""Intervals: textbook formulas and scipy's, for scores and for differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu.stats.intervals import (
    ConfidenceInterval,
    bca_interval,
    jackknife_interval,
    jackknife_p_value,
    percentile_interval,
)

few = settings(max_examples=30, deadline=None)
samples = st.lists(st.integers(-1000, 1000).map(lambda tenths: tenths / 10), min_size=3)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.99])


def ends(interval: ConfidenceInterval) -> tuple[float, float]:
    return interval.low, interval.high


def left_out(scores: np.ndarray) -> np.ndarray:
    return (scores.sum() - scores) / (len(scores) - 1)


@few
@given(samples, levels)
def test_of_a_mean_the_jackknife_is_students_interval(values, confidence):
    scores = np.array(values)
    assume(len(set(values)) > 1)
    low, high = ends(jackknife_interval(float(scores.mean()), left_out(scores), confidence))
    reach = scipy.stats.t.ppf((1 + confidence) / 2, len(scores) - 1) * scipy.stats.sem(scores)
    assert (low, high) == pytest.approx((scores.mean() - reach, scores.mean() + reach), abs=1e-9)
    found = jackknife_interval(float(scores.mean()), left_out(scores), confidence, (-60.0, 70.0))
    assert ends(found) == (max(low, -60.0), min(high, 70.0))
    p_value = jackknife_p_value(float(scores.mean()), left_out(scores))
    expected = scipy.stats.ttest_1samp(scores, 0.0).pvalue
    assert p_value == pytest.approx(expected, rel=1e-6)
    assume(abs(p_value - (1.0 - confidence)) > 1e-9)
    assert (p_value < 1.0 - confidence) == (not low <= 0.0 <= high)


def test_of_a_difference_of_means_the_jackknife_is_the_paired_interval():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 25))
    second += 0.5 * first
    observed, others = float(first.mean() - second.mean()), left_out(first) - left_out(second)
    expected = scipy.stats.ttest_rel(first, second)
    found = ends(jackknife_interval(observed, others, 0.9))
    assert found == pytest.approx(tuple(expected.confidence_interval(0.9)), rel=1e-12)
    assert jackknife_p_value(observed, others) == pytest.approx(expected.pvalue, rel=1e-9)


@few
@given(samples, levels)
def test_percentiles_cut_off_equal_tails(values, confidence):
    low, high = percentile_interval(np.array(values), confidence)
    ordered = sorted(values)
    place = (1 - confidence) / 2 * (len(values) - 1)
    whole, part = int(place), place - int(place)
    expected_low = ordered[whole] + part * (ordered[whole + 1] - ordered[whole])
    expected_high = ordered[-1 - whole] + part * (ordered[-2 - whole] - ordered[-1 - whole])
    assert (low, high) == pytest.approx((expected_low, expected_high), abs=1e-9)


@pytest.mark.parametrize("power", [1, 3])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_bca_of_a_paired_difference_is_scipys_on_the_same_resamples(power, confidence):
    rng = np.random.default_rng(5)
    first = rng.random(40) ** power * 100
    second = 0.7 * first + rng.random(40) * 20
    expected = scipy.stats.bootstrap(
        (first, second),
        lambda a, b, axis=-1: a.mean(axis=axis) - b.mean(axis=axis),
        n_resamples=3000,
        paired=True,
        confidence_level=confidence,
        method="BCa",
        rng=np.random.default_rng(1),
    )
    found = bca_interval(
        expected.bootstrap_distribution,
        float(first.mean() - second.mean()),
        left_out(first) - left_out(second),
        confidence,
    )
    assert found == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)


@few
@given(samples, st.sampled_from([1e-6, 0.01, 1000.0]), st.integers(-50, 50))
def test_intervals_move_with_the_scores(values, factor, shift):
    """A score in other units has its interval in those units."""
    scores = np.array(values)
    drawn = np.random.default_rng(0).choice(scores, size=(200, len(scores))).mean(axis=1)

    def intervals(scores, drawn):
        observed, others = float(scores.mean()), left_out(scores)
        yield ends(jackknife_interval(observed, others, 0.95))
        yield percentile_interval(drawn, 0.95)

    moved = intervals(factor * scores + shift, factor * drawn + shift)
    for (low, high), found in zip(intervals(scores, drawn), moved, strict=True):
        assert low <= high
        expected = (factor * low + shift, factor * high + shift)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * factor * 1000)


def test_without_spread_an_interval_is_a_point():
    same = np.full(7, 0.3)
    assert ends(jackknife_interval(0.3, left_out(same), 0.95)) == pytest.approx((0.3, 0.3))
    assert percentile_interval(same, 0.95) == pytest.approx((0.3, 0.3))
    assert bca_interval(same, 0.3, left_out(same), 0.95) == pytest.approx((0.3, 0.3))


@pytest.mark.parametrize("size", range(2, 12))
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_few_equal_numbers_show_no_spread_and_prove_nothing(size, confidence):
    """They could lie on either side of another number, each with probability one half."""
    same = np.full(size, 0.3)
    interval = jackknife_interval(0.3, left_out(same), confidence, (0.0, 1.0))
    surprise = 2.0 ** (1 - size)
    assert jackknife_p_value(0.3, left_out(same)) == surprise
    assert jackknife_p_value(0.0, np.zeros(size)) == 1.0
    assert ends(interval) == ((0.3, 0.3) if surprise < 1.0 - confidence else (0.0, 1.0))
