"""Many looks: the shares sum to 1, and bets are fair whatever is drawn within the limits."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.stats import betting_bounds, log_capital, spent_share

SHARES = [math.sin(math.pi / 2 * (k + 0.5) / 64) ** 2 for k in range(64)]
few = settings(max_examples=25, deadline=None)


def literal_capital(values, mean, highest):
    """64 gamblers, each with a share of his own, one value after the other."""
    capitals = [1.0] * 64
    for value in values:
        for k, share in enumerate(SHARES):
            capitals[k] *= 1.0 + share * (mean - value) / (highest - mean)
    return sum(capitals) / 64


def test_shares_of_endlessly_many_looks_sum_to_1():
    spent = sum(spent_share(look) for look in range(1, 20_001))
    # The rest is about the integral of k^-1.6 from there on.
    rest = spent_share(20_000) * 20_000 / 0.6
    assert spent + rest == pytest.approx(1.0, abs=1e-6)


@few
@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=30), st.floats(-0.9, 0.9))
def test_capital_is_that_of_gamblers_one_value_after_the_other(values, mean):
    expected = literal_capital(values, mean, 1.0)
    assert float(log_capital(np.array(values), mean, 1.0)) == pytest.approx(
        math.log(expected), abs=1e-9
    )
    turned = np.array(values[::-1])
    assert float(log_capital(turned, mean, 1.0)) == pytest.approx(math.log(expected), abs=1e-9)


@st.composite
def distributions(draw):
    """A few values within [-1, 1] and their chances."""
    values = draw(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=3, unique=True))
    weights = draw(st.lists(st.floats(0.01, 1.0), min_size=len(values), max_size=len(values)))
    chances = np.array(weights) / sum(weights)
    return np.array(values), chances


@few
@given(distributions(), st.sampled_from([0.05, 0.2, 0.5]))
def test_whatever_is_drawn_bets_are_fair_and_rarely_won(distribution, significance):
    """Every sequence of five draws, with its chance: the mean capital is 1, and Ville's bound."""
    values, chances = distribution
    mean = float(values @ chances)
    if mean > 1.0 - 1e-6:
        return
    places = np.array(list(product(range(len(values)), repeat=5)))
    chance = chances[places].prod(axis=1)
    capital = np.exp(
        np.stack([log_capital(values[places[:, :size]], mean, 1.0) for size in range(1, 6)])
    )
    np.testing.assert_allclose(capital @ chance, 1.0, rtol=1e-9)
    ever = (capital >= 1.0 / significance).any(axis=0)
    assert chance[ever].sum() <= significance + 1e-12
    # A higher mean makes the same bets worse than fair.
    worse = np.exp(log_capital(values[places], mean - 0.05 * (1.0 + mean), 1.0))
    assert worse @ chance <= 1.0 + 1e-9


@few
@given(st.lists(st.floats(0.0, 10.0), min_size=2, max_size=60), st.sampled_from([0.3, 0.05, 1e-3]))
def test_bounds_are_where_the_capital_is_large_enough(scores, significance):
    values = np.array(scores)
    low, high = betting_bounds(values, (0.0, 10.0), significance)
    assert 0.0 <= low <= values.mean() + 1e-9
    assert values.mean() - 1e-9 <= high <= 10.0
    aim = -math.log(significance)
    if high < 10.0 - 1e-6:
        assert float(log_capital(values, high, 10.0)) == pytest.approx(aim, abs=1e-4)
    if low > 1e-6:
        assert float(log_capital(-values, -low, 0.0)) == pytest.approx(aim, abs=1e-4)
    # The other way up, and on another scale, they are the same bounds.
    turned = betting_bounds(-2.0 * values, (-20.0, 0.0), significance)
    np.testing.assert_allclose(turned, (-2.0 * high, -2.0 * low), atol=1e-6)
    wider = betting_bounds(values, (0.0, 10.0), significance / 10.0)
    assert wider[0] <= low + 1e-9
    assert high <= wider[1] + 1e-9


def test_bounds_close_in_as_values_come():
    rng = np.random.default_rng(1)
    values = rng.beta(2.0, 5.0, size=20_000)
    widths = []
    for size in (20, 200, 2_000, 20_000):
        low, high = betting_bounds(values[:size], (0.0, 1.0), 0.025)
        assert low < 2.0 / 7.0 < high
        widths.append(high - low)
    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 8 * widths[3]


def test_nothing_but_the_limit_itself_refutes_nothing():
    assert betting_bounds(np.full(50, 1.0), (0.0, 1.0), 0.05)[1] == 1.0
    low, high = betting_bounds(np.array([0.3, 0.4]), (0.0, 1.0), 1e-6)
    assert low == pytest.approx(0.0, abs=2e-3)
    assert high == pytest.approx(1.0, abs=2e-3)
