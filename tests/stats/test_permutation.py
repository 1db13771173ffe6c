"""P-values of permutations: how they are counted, in every test that counts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.stats import permutation_p_value, sign_p_value
from deltableu.validate import bootstrap_difference, permutation_test

numbers = st.lists(st.integers(-4, 4), min_size=1, max_size=30)


@given(numbers, st.integers(-4, 4), st.booleans())
def test_counts_word_for_word(values, observed, exact):
    counts = {
        "two-sided": sum(abs(one) >= abs(observed) for one in values),
        "greater": sum(one >= observed for one in values),
        "less": sum(one <= observed for one in values),
    }
    for alternative, count in counts.items():
        found = permutation_p_value(values, observed, alternative=alternative, exact=exact)
        more = 0 if exact else 1
        assert found == (count + more) / (len(values) + more)


@given(numbers)
def test_signs_word_for_word(values):
    greater = (sum(one <= 0 for one in values) + 1) / (len(values) + 1)
    less = (sum(one >= 0 for one in values) + 1) / (len(values) + 1)
    assert sign_p_value(values, alternative="greater") == greater
    assert sign_p_value(values, alternative="less") == less
    assert sign_p_value(values) == min(1.0, 2 * min(greater, less))


@given(st.lists(numbers, min_size=1, max_size=4), st.sampled_from(["two-sided", "greater", "less"]))
def test_many_tests_at_once_are_each_by_itself(columns, alternative):
    size = min(map(len, columns))
    table = np.array([column[:size] for column in columns], dtype=float).T
    observed = np.arange(len(columns)) - 1.0
    found = permutation_p_value(table, observed, alternative=alternative)
    own = [
        permutation_p_value(column, one, alternative=alternative)
        for column, one in zip(table.T, observed, strict=True)
    ]
    assert found.tolist() == [float(one) for one in own]


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_what_could_not_be_computed_speaks_against_a_difference(alternative):
    observed = -1.0 if alternative == "less" else 1.0
    assert permutation_p_value([np.nan] * 9, observed, alternative=alternative) == 1.0
    assert permutation_p_value([np.nan, 0.0, 0.0], observed, alternative=alternative) == 0.5


def test_rounding_is_no_difference():
    observed = 0.1 + 0.2
    assert permutation_p_value([0.3, -0.3, 0.0], observed, exact=True) == 2 / 3
    assert permutation_p_value([1e-14], 2e-14, scale=100.0, exact=True) == 1.0
    assert permutation_p_value([1e-14], 2e-14, exact=True) == 0.0
    assert sign_p_value([1e-14] * 99, alternative="greater", scale=100.0) == 1.0
    assert sign_p_value([1e-14] * 99, alternative="greater") == 0.01


def test_a_metric_is_no_better_than_itself_on_another_scale():
    """Rounding alone tells the two apart; the bootstrap used to call that significant."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(8, 40))
    metric = human + rng.normal(size=human.shape)
    again = metric * (1 + 1e-15) / 3 + 1e-3
    for level in ("system", "pooled", "item"):
        drawn = bootstrap_difference(metric, again, human, level=level, resamples=200)
        assert drawn.p_value == 1.0, level
        assert min(drawn.p_values()) == 1.0
        exchanged = permutation_test(metric, again, human, level=level, resamples=200)
        assert exchanged.p_value == 1.0, level
