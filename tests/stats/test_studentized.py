"""Differences over their errors: literal exchanges, and the interval that goes with the test."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.stats import Exchange, critical_value, permutation_p_value
from deltableu.stats.studentized import mean_score, mean_score_gradient, numerical_gradient
from tests import exchange_oracle as literal

KINDS = ("means", *literal.METRICS)
few = settings(max_examples=6, deadline=None)
by_kind = pytest.mark.parametrize("kind", KINDS)


def assert_statistics(found, expected):
    """Equal where there is something to divide by, as there is but where scores are clamped."""
    told = [(one, other) for one, other in zip(found, expected, strict=True) if other is not None]
    ours, theirs = ([pair[place] for pair in told] for place in (0, 1))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


@by_kind
@few
@given(st.integers(4, 40), st.integers(0, 999))
def test_random_exchanges_are_those_of_rows_that_change_places(kind, items, seed):
    exchange = literal.exchange_of(kind, items, seed)
    choices = literal.drawn_choices(items, 30, seed)
    expected = literal.statistics(exchange.rows, choices, exchange.aggregate, exchange.gradient)
    found = exchange.statistics([(0, 1), (1, 0)], 30, seed)
    assert_statistics(found[:, 0], expected)
    assert_statistics(-found[:, 1], expected)


@by_kind
@few
@given(st.integers(3, 7), st.integers(0, 999))
def test_all_exchanges_are_those_of_rows_that_change_places(kind, items, seed):
    """Also of those units only on which the systems differ."""
    exchange = literal.exchange_of(kind, items + 2, seed)
    rows = exchange.rows.copy()
    rows[1, [1, 3]] = rows[0, [1, 3]]
    exchange = replace(exchange, rows=rows)
    apart = (rows[0] != rows[1]).any(axis=1)
    choices = np.zeros((1 << apart.sum(), items + 2), bool)
    choices[:, apart] = literal.all_choices(int(apart.sum()))
    expected = literal.statistics(rows, choices, exchange.aggregate, exchange.gradient)
    found = exchange.all_statistics(0, 1)
    assert len(found) == 1 << exchange.differing(0, 1)
    assert_statistics(found, expected)


def test_chunks_of_trials_have_choices_of_their_own():
    exchange = literal.exchange_of("bleu-2", 9, 1)
    choices = literal.drawn_choices(9, 1030, 4)[1020:]
    expected = literal.statistics(exchange.rows, choices, exchange.aggregate, exchange.gradient)
    assert None not in expected
    assert_statistics(exchange.statistics([(0, 1)], 1030, 4)[1020:, 0], expected)


@by_kind
def test_what_was_observed_is_an_exchange_of_nothing(kind):
    exchange = literal.exchange_of(kind, 50, 3)
    formulas = exchange.aggregate, exchange.gradient
    expected = literal.statistic(*exchange.rows, *formulas)
    assert exchange.statistic(0, 1) == pytest.approx(expected, rel=1e-9)
    moves = [literal.influences(rows, exchange.gradient) for rows in exchange.rows]
    np.testing.assert_allclose(exchange.influences, moves, rtol=1e-9, atol=1e-12)
    assert exchange.error(0, 1) == pytest.approx(literal.standard_error(moves[0] - moves[1]))
    some = replace(exchange, rows=exchange.rows[:, :8])
    assert some.all_statistics(0, 1)[0] == pytest.approx(some.statistic(0, 1), rel=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_scores_far_from_0_lose_nothing(offset):
    """Squares of large numbers leave no digits for their spread, unless rows are centred."""
    scores = np.random.default_rng(0).normal(size=(2, 12))
    rows = np.stack((scores, np.ones_like(scores)), axis=-1)
    plain = Exchange(rows, mean_score, mean_score_gradient)
    rows = np.stack((scores + offset, np.ones_like(scores)), axis=-1)
    moved = Exchange(rows, mean_score, mean_score_gradient)
    np.testing.assert_allclose(
        moved.all_statistics(0, 1), plain.all_statistics(0, 1), rtol=1e-14 * offset, atol=1e-5
    )


def test_what_does_not_spread_is_infinitely_many_errors_wide():
    """And no reason to call everything else a tie with it."""
    apart = np.array([1.0] * 9 + [-1.0])
    rows = np.stack((np.stack((apart, np.zeros(10))), np.ones((2, 10))), axis=-1)
    exchange = Exchange(rows, mean_score, mean_score_gradient)
    found = exchange.all_statistics(0, 1)
    assert np.isinf(found).sum() == 2
    p_value = permutation_p_value(found, exchange.statistic(0, 1), exact=True)
    assert p_value == (2 + 2 * 10) / 1024
    assert permutation_p_value(found, math.inf, exact=True) == 2 / 1024
    same = Exchange(rows[[0, 0]], mean_score, mean_score_gradient)
    assert math.isnan(same.statistic(0, 1))
    assert permutation_p_value(same.all_statistics(0, 1), math.nan, exact=True) == 1.0


@given(
    st.lists(st.integers(-30, 30).map(lambda t: t / 10), min_size=19, max_size=400),
    st.integers(-30, 30).map(lambda t: t / 10),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_a_statistic_beyond_the_critical_value_is_significant(found, observed, level):
    critical = critical_value(np.array(found), level)
    significant = permutation_p_value(found, observed) < 1 - level - 1e-12
    assert (abs(observed) > critical) == significant


@given(st.lists(st.integers(-9, 9), min_size=4, max_size=9), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_same_where_all_exchanges_were_tried(apart, level):
    signs = 1.0 - 2.0 * literal.all_choices(len(apart))
    found = signs @ np.array(apart)
    critical = critical_value(found, level, exact=True)
    for observed in found[: len(found) // 2]:
        significant = permutation_p_value(found, observed, exact=True) < 1 - level - 1e-12
        assert (abs(observed) > critical) == significant


def test_what_could_not_be_computed_speaks_for_no_difference():
    found = np.array([np.nan, 0.0, 1.0] * 40)
    assert critical_value(found, 0.95) == math.inf


def test_the_gradient_of_a_mean_is_the_numerical_one():
    sums = np.random.default_rng(0).uniform(1, 50, size=(7, 2))
    expected = numerical_gradient(mean_score, sums)
    np.testing.assert_allclose(mean_score_gradient(sums), expected, rtol=1e-7)


def test_columns_that_follow_from_others_change_nothing():
    """The basis leaves out what is known: the statistics are those of all columns."""
    rng = np.random.default_rng(5)
    words = rng.integers(5, 30, size=(2, 60)).astype(float)
    right = rng.binomial(words.astype(int), 0.5).astype(float)
    rows = np.stack((right, words, words - 1.0, np.ones_like(words), 2.0 * right), axis=-1)

    def score(sums):
        return sums[..., 0] / sums[..., 1] + sums[..., 4] / sums[..., 2] / sums[..., 3]

    found = Exchange(rows, score, lambda sums: numerical_gradient(score, sums))
    basis, follow = found._basis
    assert basis.shape[2] == 2
    np.testing.assert_allclose(basis @ follow, rows - found.centre, atol=1e-9)
    full = Exchange(rows, score, lambda sums: numerical_gradient(score, sums))
    full.__dict__["_basis"] = (rows - rows.mean(axis=(0, 1)), np.eye(5))
    np.testing.assert_allclose(
        found.statistics([(0, 1)], 50, 1), full.statistics([(0, 1)], 50, 1), rtol=1e-9
    )


def test_rows_that_are_all_alike_have_no_statistic():
    rows = np.ones((2, 4, 2))
    found = Exchange(rows, mean_score, mean_score_gradient)
    assert np.isnan(found.statistic(0, 1))
    assert found.error(0, 1) == 0.0
