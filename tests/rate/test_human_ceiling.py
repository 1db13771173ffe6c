"""How well people agree with people: exact halves where they can be listed, and simulations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.consistency import expected_consistency
from deltableu.rate.human_ceiling import human_ceiling, split_half_reliability
from deltableu.stats import correlate
from deltableu.stats.resampling import stream

few = settings(max_examples=40, deadline=None)


def pearson(x, y) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def rated(raters: int, units: int, noise: float, seed: int = 0, missing: float = 0.0):
    rng = stream(seed)
    table = rng.normal(0, 1, units) + rng.normal(0, noise, (raters, units))
    table[rng.random(table.shape) < missing] = np.nan
    return table


def test_halves_are_all_halves():
    """Four raters have three different splits; random ones find just these."""
    table = rated(4, 12, 1.0)
    exact = set()
    for half in combinations(range(4), 2):
        rest = [rater for rater in range(4) if rater not in half]
        exact.add(round(pearson(table[list(half)].mean(axis=0), table[rest].mean(axis=0)), 9))
    found = split_half_reliability(table, shuffles=200)
    assert {round(value, 9) for value in found.correlation.values.tolist()} == exact
    assert found.correlation.mean == pytest.approx(np.mean(list(exact)), abs=0.03)
    r = found.correlation.values
    assert found.reliability.values == pytest.approx(2 * r / (1 + r))
    assert found.units == 12


def test_one_rater_against_the_mean_of_the_others():
    table = rated(5, 15, 1.0, missing=0.2)
    found = human_ceiling(table, pearson)
    for rater in range(5):
        others = np.delete(table, rater, axis=0)
        both = ~np.isnan(table[rater]) & ~np.isnan(others).all(axis=0)
        expected = pearson(table[rater][both], np.nanmean(others[:, both], axis=0))
        assert found.one.values[rater] == pytest.approx(expected)
    assert found.one.mean == pytest.approx(np.mean(found.one.values))
    assert found.one.deviation == pytest.approx(np.std(found.one.values, ddof=1))


@pytest.mark.parametrize("by", ["rater", "unit"])
def test_simulated_raters(by):
    """Halves of 6 of 12 raters with noise 1.2: the closed form, and 12 raters' reliability."""
    rho = 1.2**2
    table = rated(12, 4000, 1.2, seed=4)
    found = split_half_reliability(table, by=by, shuffles=30)
    assert found.correlation.mean == pytest.approx(expected_consistency(6, 12, rho), abs=0.01)
    assert found.reliability.mean == pytest.approx(1 / (1 + rho / 12), abs=0.01)
    ceiling = human_ceiling(table, pearson, by=by, shuffles=20)
    assert ceiling.one.mean == pytest.approx(expected_consistency(1, 12, rho), abs=0.01)
    assert ceiling.halves.mean == pytest.approx(expected_consistency(6, 12, rho), abs=0.01)
    assert ceiling.one.low <= ceiling.one.mean <= ceiling.one.high


def test_units_with_raters_of_their_own():
    """Nobody rated two units: whole raters cannot be split, ratings of a unit can."""
    rng = stream(8)
    table = np.full((400, 200), np.nan)
    for unit in range(200):
        table[2 * unit : 2 * unit + 2, unit] = rng.normal() + rng.normal(0, 0.5, 2)
    found = human_ceiling(table, pearson, by="unit", shuffles=10)
    assert found.one.mean == pytest.approx(0.8, abs=0.06)
    assert found.one.undefined == 0
    with pytest.raises(InputError, match=r"undefined for every split.*split by unit"):
        human_ceiling(table, pearson)


@few
@given(st.integers(0, 1000), st.sampled_from(["rater", "unit"]), st.floats(0, 0.5))
def test_a_seed_repeats_everything(seed, by, missing):
    table = rated(6, 20, 1.0, seed=seed, missing=missing)
    first, again, other = (
        human_ceiling(table, pearson, by=by, shuffles=5, seed=number) for number in (1, 1, 2)
    )
    assert np.array_equal(first.halves.values, again.halves.values, equal_nan=True)
    assert np.array_equal(first.one.values, again.one.values, equal_nan=True)
    assert not np.array_equal(first.halves.values, other.halves.values, equal_nan=True)
    # More shuffles go on where fewer stopped.
    more = human_ceiling(table, pearson, by=by, shuffles=9, seed=1)
    assert np.array_equal(more.halves.values[:5], first.halves.values, equal_nan=True)


@few
@given(st.integers(0, 1000))
def test_every_rating_goes_to_one_side(seed):
    """Sides are means over disjoint halves: sizes differ by one at most."""
    rng = stream(seed)
    table = 2.0 ** np.arange(7)[:, None] * np.ones((7, 9))
    table[rng.random(table.shape) < 0.3] = np.nan
    seen = []

    def look(x, y):
        seen.append((x, y))
        return 0.0

    rows = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    human_ceiling(table, look, by="unit", shuffles=4, seed=seed)
    for x, y in seen[4:]:
        for unit in range(rows.shape[1]):
            given_ = rows[:, unit][~np.isnan(rows[:, unit])]
            size = len(given_) // 2
            sums = x[unit] * size + y[unit] * (len(given_) - size)
            assert sums == pytest.approx(given_.sum())
    for x, y in seen[:4]:
        for unit in range(rows.shape[1]):
            given_ = rows[:, unit][~np.isnan(rows[:, unit])]
            assert x[unit] in given_
            assert x[unit] + y[unit] * (len(given_) - 1) == pytest.approx(given_.sum())


def test_whole_numbers_stay_whole_for_functions_of_categories():
    table = np.array([[1, 3, 5, 2], [1, 3, 5, 2], [3, 3, 1, 2]])
    seen = []
    human_ceiling(table, lambda x, y: seen.append(x) or 1.0, shuffles=1)
    assert {value for x in seen[:3] for value in x.tolist()} <= {1.0, 2.0, 3.0, 5.0}


# --- A perfect metric -----------------------------------------------------------------------------


def rated_by_some(rng, shape: str, uneven: bool):
    """Ratings (raters x units) by some of 12 raters, and what infinitely many would say."""
    units, raters, noise = 250, 12, 1.2
    quality = rng.normal(size=units)
    latent = quality + noise * rng.normal(size=(raters, units))
    if shape == "five-point":
        values = np.clip(np.rint(3 + latent), 1, 5)
        true = 5 - sum(ndtr((limit + 0.5 - 3 - quality) / noise) for limit in range(1, 5))
    elif shape == "skewed":
        values, true = np.exp(0.5 * latent), np.exp(0.5 * quality)
    else:
        values, true = latent, quality
    sizes = rng.choice([1, 2, 3, 6], size=units) if uneven else np.full(units, 3)
    order = np.argsort(np.argsort(rng.random(values.shape), axis=0), axis=0)
    return np.where(order < sizes, values, np.nan), true


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall-b"])
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("shape", ["normal", "five-point", "skewed"])
def test_a_perfect_metric_reaches_the_ceiling(shape, uneven, method):
    """The true mean rating of each unit, correlated with the averaged ratings of many studies."""
    found = []
    for number in range(40):
        table, true = rated_by_some(stream(12, number), shape, uneven)
        ceiling = human_ceiling(
            table,
            lambda x, y: float(correlate(x, y, method)),
            method=method,
            by="unit",
            shuffles=8,
        )
        actual = float(correlate(true, np.nanmean(table, axis=0), method))
        found.append((ceiling.perfect, actual, ceiling.halves.mean))
    ceilings, actual, halves = np.array(found).T
    error = (ceilings - actual).std(ddof=1) / np.sqrt(len(found))
    # What ties do to ranks is not accounted for.
    slack = 0.0 if method == "pearson" else 0.01
    assert abs((ceilings - actual).mean()) < 3 * error + slack
    assert halves.mean() < actual.mean() - 0.15


def test_the_ceiling_is_the_root_of_the_reliability():
    table = rated(4, 400, 1.0)
    found = human_ceiling(table, pearson, shuffles=50)
    half = found.halves.mean
    assert found.perfect == pytest.approx(np.sqrt(2 * half / (1 + half)), abs=1e-3)
    assert found.perfect == pytest.approx(np.sqrt(1 / (1 + 1 / 4)), abs=0.02)


def test_halves_need_not_be_equally_large():
    """One of three raters against two: not halves, but the reliability of three all the same."""
    table = rated(3, 20_000, 1.0, seed=3)
    found = split_half_reliability(table, shuffles=5)
    assert found.correlation.mean == pytest.approx(expected_consistency(1, 3, 1.0), abs=0.01)
    assert found.reliability.mean == pytest.approx(1 / (1 + 1 / 3), abs=0.01)


def test_harsh_raters_who_rated_everything_do_not_lower_the_ceiling():
    """Their mean is only shifted; halves of each unit's ratings must not mix them."""
    rng = stream(9)
    table = rated(6, 2000, 1.0, seed=5) + 3.0 * rng.normal(size=(6, 1))
    found = human_ceiling(table, pearson, by="unit", shuffles=10)
    assert found.perfect == pytest.approx(np.sqrt(1 / (1 + 1 / 6)), abs=0.01)


def test_raters_who_do_not_agree_leave_no_ceiling():
    table = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]])
    assert np.isnan(human_ceiling(table, pearson).perfect)


def test_judgements():
    rng = stream(2)
    quality = rng.normal(60, 10, (2, 10))
    rows = [
        (f"r{rater}", str(item), "AB"[system], quality[system, item] + rng.normal(0, 3))
        for rater in range(5)
        for system in range(2)
        for item in range(10)
    ]
    raters, items, systems, values = zip(*rows, strict=True)
    made = RatingTable.of(raters=raters, items=items, systems=systems, values=values)
    found = split_half_reliability(made, shuffles=20)
    assert found.units == 20
    assert found.correlation.mean > 0.9
    table = made.by_output().reshape(5, -1)
    same = split_half_reliability(table, shuffles=20)
    assert np.array_equal(found.correlation.values, same.correlation.values)


def test_splits_without_an_answer_are_counted():
    """A rater who always says the same, alone in a half, correlates with nobody."""
    with pytest.raises(InputError, match="undefined for every split"):
        split_half_reliability([[1, 2, 3], [2, 2, 2]])
    found = split_half_reliability([[1, 2, 3], [1, 3, 2], [2, 2, 2]], shuffles=60)
    assert 5 < found.correlation.undefined < 40
    assert found.correlation.undefined == np.isnan(found.reliability.values).sum()
    assert set(found.correlation.values[~np.isnan(found.correlation.values)].round(9)) == {0.5}


def test_bad_input():
    table = rated(3, 5, 1.0)
    with pytest.raises(InputError, match="by must be one of rater, unit"):
        human_ceiling(table, pearson, by="item")
    with pytest.raises(InputError, match="shuffles must be at least 1"):
        split_half_reliability(table, shuffles=0)
    with pytest.raises(InputError, match="fewer than 2 units were rated by two raters"):
        split_half_reliability([[1, 2, np.nan], [1, np.nan, 2]])
    with pytest.raises(InputError, match="fewer than 2 units"):
        split_half_reliability([[1, 2, 3]])
    with pytest.raises(InputError, match="no correlation 'tau'"):
        split_half_reliability(table, method="tau")
