"""Holm and Benjamini-Hochberg: the procedures as their papers write them down."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from deltableu.stats.multiple import adjust, benjamini_hochberg, holm

# Few values, so that many tie; and anything.
p_value = st.one_of(st.sampled_from([0.0, 0.001, 0.01, 0.04, 0.5, 1.0]), st.floats(0, 1))
p_values = st.lists(p_value, min_size=1, max_size=12)


def rejected_by_holm(values: list[float], level: float) -> set[int]:
    """From the smallest on, as long as each is at most level / (tests left)."""
    rejected = set()
    for step, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[place] * (len(values) - step) > level:
            break
        rejected.add(place)
    return rejected


@given(p_values)
def test_holm_is_the_largest_bonferroni_factor_so_far(values):
    ordered = sorted(values)
    expected = [
        min(1.0, max((len(values) - j) * ordered[j] for j in range(i + 1)))
        for i in range(len(values))
    ]
    assert sorted(holm(values).tolist()) == expected


@given(p_values, st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_rejects_what_the_stepwise_procedure_rejects(values, level):
    adjusted = holm(values)
    assert {k for k, p in enumerate(adjusted.tolist()) if p <= level} == rejected_by_holm(
        values, level
    )


@given(p_values)
def test_benjamini_hochberg_is_scipys(values):
    expected = scipy.stats.false_discovery_control(values, method="bh")
    np.testing.assert_allclose(benjamini_hochberg(values), expected, rtol=1e-14, atol=0)


@given(p_values, st.randoms(use_true_random=False))
def test_order_plays_no_part(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = [values[place] for place in order]
    for function in (holm, benjamini_hochberg):
        assert function(shuffled).tolist() == function(values)[order].tolist()


@given(p_values)
def test_raw_then_bh_then_holm(values):
    raw, bh, strict = adjust(values, "none"), adjust(values, "bh"), adjust(values, "holm")
    assert raw.tolist() == values
    assert (raw <= bh * (1 + 1e-15)).all()
    assert (bh <= strict * (1 + 1e-15)).all()
    assert (strict <= 1.0).all()


@pytest.mark.parametrize("function", [holm, benjamini_hochberg])
def test_one_test_needs_no_correction_and_none_is_none(function):
    assert function([0.03]).tolist() == [0.03]
    assert function([]).tolist() == []


def test_benjamini_and_hochbergs_own_example():
    """Benjamini and Hochberg 1995, section 3.2: at .05, Holm's kind rejects 3, theirs 4 of 15."""
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    values += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert int((holm(values) <= 0.05).sum()) == 3
    assert int((benjamini_hochberg(values) <= 0.05).sum()) == 4


@given(p_values, st.lists(st.integers(0, 20), max_size=4))
@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
def test_a_test_that_could_not_be_made_is_none_of_them(correction, values, places):
    """It has no p-value afterwards either, and makes none of the others larger."""
    with_gaps = list(values)
    for place in places:
        with_gaps.insert(place, float("nan"))
    given = ~np.isnan(with_gaps)
    found = adjust(with_gaps, correction)
    assert np.isnan(found[~given]).all()
    assert found[given].tolist() == adjust(values, correction).tolist()
