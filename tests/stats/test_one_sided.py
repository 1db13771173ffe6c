"""One-sided bounds of skewed differences: literal formulas, exactness, and the way they turn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu.stats import Exchange, mean_score, mean_score_gradient, one_sided_reach
from deltableu.stats.one_sided import leaning, leaning_again, upright
from tests import exchange_oracle as literal

few = settings(max_examples=8, deadline=None)
numbers = st.floats(-5.0, 5.0)


def of_scores(first, second) -> Exchange:
    scores = np.array([first, second], dtype=float)
    rows = np.stack((scores, np.ones_like(scores)), axis=-1)
    return Exchange(rows, mean_score, mean_score_gradient)


def literal_leaning(first, second, aggregate, gradient):
    """Skewness and curvature with every unit's influence and every sum written down."""
    one, two = literal.influences(first, gradient), literal.influences(second, gradient)
    moves = [a - b for a, b in zip(one, two, strict=True)]
    mean = sum(moves) / len(moves)
    moves = [move - mean for move in moves]
    error = math.sqrt(sum(move**2 for move in moves))
    skewness = sum(move**3 for move in moves) / error**3

    def bent(rows):
        total = rows.sum(axis=0)
        step = sum(move / error * row for move, row in zip(moves, rows, strict=True))
        return aggregate(total + step) - 2.0 * aggregate(total) + aggregate(total - step)

    curvature = float(bent(first) - bent(second)) / error
    return skewness / 3.0 + curvature / 2.0, skewness / 6.0 + curvature / 2.0


@pytest.mark.parametrize("kind", ["means", *literal.METRICS])
@few
@given(st.integers(5, 30), st.integers(0, 999))
def test_leaning_is_that_of_rows_that_change_places(kind, items, seed):
    exchange = literal.exchange_of(kind, items, seed)
    swapped = literal.drawn_choices(items, 12, seed)
    found = leaning(exchange, 0, 1, swapped)
    formulas = exchange.aggregate, exchange.gradient
    ratios = literal.statistics(exchange.rows, swapped, *formulas)
    for place, (choice, ratio) in enumerate(zip(swapped[:, :, None], ratios, strict=True)):
        if ratio is None:
            continue
        one, two = (np.where(choice, exchange.rows[1 - k], exchange.rows[k]) for k in (0, 1))
        bend, shift = literal_leaning(one, two, *formulas)
        assert found.ratio[place] == pytest.approx(ratio, rel=1e-6, abs=1e-8)
        assert found.bend[place] == pytest.approx(bend, rel=1e-6, abs=1e-7)
        assert found.shift[place] == pytest.approx(shift, rel=1e-6, abs=1e-7)


def test_of_means_it_is_halls_transformation():
    """t + g t^2 / (3 sqrt n) + g^2 t^3 / (27 n) + g / (6 sqrt n)."""
    rng = np.random.default_rng(4)
    first, second = rng.exponential(size=(2, 30)) * [[3.0], [1.0]]
    apart = first - second
    size = len(apart)
    skewness = ((apart - apart.mean()) ** 3).mean() / apart.std() ** 3
    ratio = apart.mean() / apart.std(ddof=1) * math.sqrt(size)
    expected = (
        ratio
        + skewness * ratio**2 / (3 * math.sqrt(size))
        + skewness**2 * ratio**3 / (27 * size)
        + skewness / (6 * math.sqrt(size))
    )
    found = leaning(of_scores(first, second), 0, 1, np.zeros((1, size), bool)).upright()
    assert float(found[0]) == pytest.approx(expected, rel=1e-9)


@given(numbers, st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_leaning_again_undoes_upright(ratio, bend, shift):
    value = float(upright(np.array(ratio), np.array(bend), np.array(shift)))
    again = leaning_again(value, bend, shift)
    back = float(upright(np.array(again), np.array(bend), np.array(shift)))
    assert back == pytest.approx(value, abs=1e-6)


@given(numbers, numbers, st.floats(-2.0, 2.0))
def test_upright_keeps_the_order(one, other, bend):
    low, high = (
        float(upright(np.array(value), np.array(bend), np.array(0.0)))
        for value in sorted((one, other))
    )
    assert low <= high + 1e-9


@few
@given(st.lists(st.integers(-4, 9), min_size=5, max_size=8), st.sampled_from([0.05, 0.1, 0.2]))
def test_of_exchangeable_systems_no_more_are_rejected_than_said(apart, significance):
    """Of all exchanges of a sample, each as likely as another, on either side."""
    size = len(apart)
    signs = 1 - 2 * literal.all_choices(size).astype(int)
    rejected = np.zeros(2)
    for drawn in signs * np.array(apart):
        if not drawn.any():
            continue
        exchange = of_scores(drawn, np.zeros(size))
        reach = one_sided_reach(exchange, 0, 1, significance, trials=1000, seed=0)
        rejected += [drawn.mean() - reach.below > 0.0, drawn.mean() + reach.above < 0.0]
    assert (rejected <= significance * len(signs) + 1e-9).all()


@pytest.mark.parametrize("kind", ["means", "bleu-2", "delta-bleu"])
@few
@given(st.integers(6, 40), st.integers(0, 999))
def test_the_other_way_round_below_is_above(kind, items, seed):
    exchange = literal.exchange_of(kind, items, seed)
    assume(exchange.error(0, 1) > 1e-6)
    one = one_sided_reach(exchange, 0, 1, 0.05, trials=300, seed=1)
    other = one_sided_reach(exchange, 1, 0, 0.05, trials=300, seed=1)
    assert one.below == pytest.approx(other.above, rel=1e-6)
    assert one.above == pytest.approx(other.below, rel=1e-6)


def test_bounds_of_skewed_differences_are_farther_on_the_long_side():
    rng = np.random.default_rng(0)
    apart = rng.exponential(size=100) - 1.0
    reach = one_sided_reach(of_scores(apart, np.zeros(100)), 0, 1, 0.05, trials=2000, seed=0)
    assert reach.above > 1.1 * reach.below


def test_threads_and_very_small_significances():
    exchange = literal.exchange_of("bleu-2", 60, 3)
    one = one_sided_reach(exchange, 0, 1, 0.05, trials=3000, seed=2, threads=1)
    assert one_sided_reach(exchange, 0, 1, 0.05, trials=3000, seed=2, threads=2) == one
    # Beyond what so many exchanges can tell, bounds go on growing.
    farther = [
        one_sided_reach(exchange, 0, 1, share, trials=1000, seed=2).above
        for share in (0.05, 0.01, 1e-3, 1e-5)
    ]
    assert farther == sorted(farther)
    assert len(set(farther)) == 4
    assert math.isinf(
        one_sided_reach(literal.exchange_of("means", 4, 0), 0, 1, 0.05, trials=99, seed=0).above
    )
