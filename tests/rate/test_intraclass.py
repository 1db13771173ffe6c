"""Intraclass correlations: Shrout and Fleiss' table, and properties of the six forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.rate.intraclass import intraclass_correlations
from deltableu.stats.resampling import stream

few = settings(max_examples=60, deadline=None)

# Shrout and Fleiss 1979, Table 2: six targets (rows), four judges (columns).
JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

FORMS = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")


@st.composite
def tables(draw):
    raters, units = draw(st.integers(2, 5)), draw(st.integers(2, 9))
    rng = stream(draw(st.integers(0, 10**6)))
    quality, habit = rng.normal(0, 2, units), rng.normal(0, 2, (raters, 1))
    return quality + habit + rng.normal(0, draw(st.sampled_from([0.2, 1.0, 4.0])), (raters, units))


def test_shrout_and_fleiss():
    found = intraclass_correlations(np.transpose(JUDGES))
    published = (0.17, 0.29, 0.71, 0.44, 0.62, 0.91)
    assert [round(found[form].value, 2) for form in FORMS] == list(published)
    assert (found.raters, found.units, found.left_out) == (4, 6, 0)
    # Tables 3 and 4: mean squares 11.24 between targets, 6.26 within, 1.02 residual.
    assert found["ICC1"].f == pytest.approx(11.24 / 6.26, abs=2e-3)
    assert found["ICC3"].f == pytest.approx(11.02, abs=0.01)
    assert (found["ICC1"].df1, found["ICC1"].df2) == (5, 18)
    assert (found["ICC2"].df1, found["ICC2"].df2) == (5, 15)


def test_intervals():
    """Intervals of the same data as pingouin 0.7 and R's irr::icc print them."""
    found = intraclass_correlations(np.transpose(JUDGES))
    published = {
        "ICC1": (-0.13, 0.72), "ICC2": (0.02, 0.76), "ICC3": (0.34, 0.95),
        "ICC1k": (-0.88, 0.91), "ICC2k": (0.07, 0.93), "ICC3k": (0.68, 0.99),
    }  # fmt: skip
    for form, ends in published.items():
        assert (round(found[form].low, 2), round(found[form].high, 2)) == ends
    assert found["ICC1"].p_value == pytest.approx(0.1648, abs=5e-5)
    assert found["ICC3"].p_value == pytest.approx(0.000135, abs=5e-7)


@few
@given(tables(), st.floats(0.05, 20), st.floats(-500, 500))
def test_properties(table, stretch, shift):
    found = intraclass_correlations(table)
    other = intraclass_correlations(table * stretch + shift)
    k = len(table)
    for form in FORMS:
        one = found[form]
        assert not one.value > 1
        assert other[form].value == pytest.approx(one.value, rel=1e-5, abs=1e-6, nan_ok=True)
        if found["ICC2"].value > 0:
            assert one.low <= one.value + 1e-9 <= one.high + 2e-9
    for form in ("ICC1", "ICC2", "ICC3"):
        single, averaged = found[form].value, found[f"{form}k"].value
        if 1 + (k - 1) * single > 0.05:
            # Spearman and Brown.
            assert averaged == pytest.approx(k * single / (1 + (k - 1) * single), abs=1e-6)
    # Shifts of a rater's scale do not count for ICC3.
    shifted = table + np.arange(k)[:, None] * 7.0
    third = intraclass_correlations(shifted)["ICC3"]
    assert third.value == pytest.approx(found["ICC3"].value, abs=1e-6)


@few
@given(tables(), st.floats(0.5, 0.9))
def test_wider_for_more_confidence(table, confidence):
    assume(intraclass_correlations(table)["ICC2"].value > 0)
    narrow, wide = (
        intraclass_correlations(table, confidence=confidence),
        intraclass_correlations(table),
    )
    for form in FORMS:
        assert wide[form].low <= narrow[form].low <= narrow[form].high <= wide[form].high


@pytest.mark.long
def test_coverage():
    """95% intervals of ICC1 and ICC2 hold the true value in about 95% of studies."""
    inside = {"ICC1": 0, "ICC2": 0}
    trials = 2000
    for number in range(trials):
        rng = stream(9, number)
        quality = rng.normal(0, 1, 30)
        one = intraclass_correlations(quality + rng.normal(0, 1, (4, 30)))["ICC1"]
        inside["ICC1"] += one.low <= 0.5 <= one.high
        two = intraclass_correlations(
            quality + rng.normal(0, 1, (6, 1)) + rng.normal(0, 1, (6, 30))
        )["ICC2"]
        inside["ICC2"] += two.low <= 1 / 3 <= two.high
    assert 0.935 < inside["ICC1"] / trials < 0.965
    assert 0.92 < inside["ICC2"] / trials < 0.975


def test_perfect_agreement():
    found = intraclass_correlations([[1, 2, 4], [1, 2, 4], [1, 2, 4]])
    for form in FORMS:
        one = found[form]
        assert (one.value, one.low, one.high, one.p_value) == (1, 1, 1, 0)
    shifted = intraclass_correlations([[1, 2, 4], [2, 3, 5]])
    assert shifted["ICC3"].value == 1
    assert shifted["ICC2"].value < 1


def test_units_that_do_not_differ():
    found = intraclass_correlations([[1, 3], [3, 1]])
    assert found["ICC1"].value == pytest.approx(-1)
    assert np.isnan(found["ICC1k"].value)


def test_missing_ratings_are_left_out_and_counted():
    table = np.array(JUDGES, dtype=float).T
    with_gap = np.column_stack((table, [np.nan, 5, 5, 5]))
    found = intraclass_correlations(with_gap)
    assert (found.units, found.left_out) == (6, 1)
    assert found.forms == intraclass_correlations(table).forms


def test_bad_input():
    with pytest.raises(InputError, match="at least 2 raters"):
        intraclass_correlations([[1, 2, 3]])
    with pytest.raises(InputError, match="at least 2 units that all 2 raters rated, got 1"):
        intraclass_correlations([[1, 2, np.nan], [1, np.nan, 2]])
    with pytest.raises(InputError, match="all ratings are equal"):
        intraclass_correlations([[2, 2], [2, 2]])
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        intraclass_correlations(JUDGES, confidence=95)
    with pytest.raises(InputError, match="no form 'ICC4'"):
        intraclass_correlations(JUDGES)["ICC4"]
