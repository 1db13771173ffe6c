"""How many ratings a segment needs: the closed form, a literal transcription, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.consistency import expected_consistency, rater_consistency, variance_ratio
from deltableu.stats.resampling import stream

few = settings(max_examples=40, deadline=None)

#: Ratios of variances 1.5, n = 100; see Graham et al. 2015, Figure 3.
EXPECTED = {1: 0.6277, 5: 0.8702, 15: 0.9452, 50: 0.9709}


def segments(count: int, n: int, rho: float, seed: int = 0):
    rng = stream(seed)
    return rng.normal(0, 1, (count, 1)) + rng.normal(0, np.sqrt(rho), (count, n))


@pytest.mark.parametrize(("i", "r"), EXPECTED.items())
def test_closed_form(i, r):
    assert round(expected_consistency(i, 100, 1.5), 4) == r
    assert expected_consistency(i, 100, 1.5) == expected_consistency(100 - i, 100, 1.5)


def test_simulation_agrees_with_the_closed_form():
    found = rater_consistency(segments(6000, 100, 1.5), 100, shuffles=4)
    assert (found.segments, found.left_out) == (6000, 0)
    for i, r in EXPECTED.items():
        # Standard error of r over 6000 segments, which all shuffles share.
        error = (1 - r**2) / np.sqrt(6000)
        assert found.correlations[i - 1] == pytest.approx(r, abs=4 * error + 1e-4)
    assert found.enough(0.94) in (13, 14)
    assert found.enough(0.6) == 1
    assert found.enough(0.99) is None


def test_variance_ratio():
    assert variance_ratio(segments(4000, 12, 1.5)) == pytest.approx(1.5, abs=0.1)
    ragged = [row[: 2 + number % 9].tolist() for number, row in enumerate(segments(6000, 12, 1.5))]
    assert variance_ratio(ragged) == pytest.approx(1.5, abs=0.15)
    assert variance_ratio([[1, 1], [2, 2], [5, 5, 5]]) == 0
    assert variance_ratio([[1, 9], [2, 8], [5, 5]]) == float("inf")
    with pytest.raises(InputError, match="fewer than 2 segments"):
        variance_ratio([[1, 2], [3]])


@few
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_against_a_transcription(seed, n):
    """Drawn ratings are recovered from the first and the last mean; the rest follows."""
    table = segments(7, n, 0.7, seed)
    found = rater_consistency(table, n, shuffles=1, seed=seed)
    keys = stream(seed, 0).random((1, *table.shape))
    order = np.argsort(keys[0], axis=1)
    drawn = np.take_along_axis(table, order, axis=1)
    for i in range(1, n):
        x, y = drawn[:, :i].mean(axis=1), drawn[:, i:].mean(axis=1)
        assert found.correlations[i - 1] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert np.isnan(found.deviations).all()


@few
@given(st.integers(0, 1000), st.floats(0.1, 100), st.floats(-1e4, 1e4))
def test_scale_does_not_matter_and_a_seed_repeats(seed, stretch, shift):
    table = segments(9, 6, 1.0, seed)
    first = rater_consistency(table, 6, shuffles=3, seed=seed)
    again = rater_consistency(table * stretch + shift, 6, shuffles=3, seed=seed)
    assert again.correlations == pytest.approx(first.correlations, abs=1e-6)
    assert np.array_equal(
        first.correlations, rater_consistency(table, 6, shuffles=3, seed=seed).correlations
    )
    other = rater_consistency(table, 6, shuffles=3, seed=seed + 1)
    assert not np.array_equal(first.correlations, other.correlations)


def test_chunks_change_nothing_that_users_see(monkeypatch):
    table = segments(300, 20, 1.0)
    whole = rater_consistency(table, 20, shuffles=60)
    monkeypatch.setattr("deltableu.rate.consistency._CELLS", 10_000)
    parts = rater_consistency(table, 20, shuffles=60)
    assert parts.correlations == pytest.approx(whole.correlations, abs=0.01)
    assert parts.deviations == pytest.approx(whole.deviations, abs=0.01)


def test_short_segments_are_left_out_and_long_ones_lend():
    rows = [row.tolist() for row in segments(200, 30, 1.0)]
    ragged = [row[: 8 + number % 5] for number, row in enumerate(rows)]
    found = rater_consistency(ragged, 10, shuffles=20)
    assert found.segments == sum(len(row) >= 10 for row in ragged)
    assert found.left_out == sum(len(row) < 10 for row in ragged)
    assert len(found.correlations) == 9
    missing = [[*row, float("nan")] for row in ragged]
    again = rater_consistency(missing, 10, shuffles=20)
    assert np.array_equal(found.correlations, again.correlations)


def test_judgements_count_raters():
    """A rater's repeats are one rating of the segment."""
    rng = stream(6)
    rows = [
        (f"r{rater}", str(item), kind, 10 * item + rng.normal())
        for item in range(4)
        for rater in range(5)
        for kind in ("item", "repeat")
    ]
    raters, items, kinds, values = zip(*rows, strict=True)
    made = RatingTable.of(
        raters=raters, items=items, systems=["A"] * len(rows), kinds=kinds, values=values
    )
    found = rater_consistency(made, 5, shuffles=5)
    assert (found.segments, found.left_out) == (4, 0)
    with pytest.raises(InputError, match=r"0 of 4 segments have 6 ratings.* are 5"):
        rater_consistency(made, 6)
    assert variance_ratio(made) < 0.01
    with pytest.raises(InputError, match="0 of 0 segments"):
        rater_consistency(made[:0], 5)


def test_bad_input():
    table = segments(5, 4, 1.0)
    with pytest.raises(InputError, match="n must be at least 2"):
        rater_consistency(table, 1)
    with pytest.raises(InputError, match="shuffles must be at least 1"):
        rater_consistency(table, 4, shuffles=0)
    with pytest.raises(InputError, match="2 of 2 segments have 4 ratings, and at least 3 must"):
        rater_consistency(table[:2], 4)
    with pytest.raises(InputError, match="means of all segments are equal"):
        rater_consistency([[1, 1, 1]] * 5, 3)
    with pytest.raises(InputError, match="segment 1 has an infinite rating"):
        rater_consistency([[1, 2], [np.inf, 2], [1, 2]], 2)
    for wrong in ([1, 2, 3], [["x", "y"]], [[[1, 2]]]):
        with pytest.raises(InputError, match="segment 0 must be a list of numbers"):
            rater_consistency(wrong, 2)
    for i in (0, 100, -1):
        with pytest.raises(InputError, match="i must lie between 1 and n - 1"):
            expected_consistency(i, 100, 1.5)
    for rho in (-0.1, float("inf"), float("nan")):
        with pytest.raises(InputError, match="rho must be a ratio of variances"):
            expected_consistency(1, 100, rho)
    with pytest.raises(InputError, match="got the target 2"):
        rater_consistency(table, 4).enough(2)
