"""Observation units, against the paper's procedure in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.plain_units import plain_correlations, plain_observations
from deltableu.errors import InputError
from deltableu.validate.unit_rows import PairedRows, SummedScores
from deltableu.validate.units import (
    CHUNK,
    UnitPlan,
    assign,
    orient,
    unit_correlations,
)

PAIRS = [(0, 1), (2, 1), (0, 2)]


def ratio(sums: np.ndarray) -> np.ndarray:
    """A corpus score that is no mean of its sentences' scores."""
    return np.sqrt(sums[..., 0] / sums[..., 1]) * np.minimum(1.0, sums[..., 2] / sums[..., 1])


def plain_ratio(sums: list[float]) -> float:
    return math.sqrt(sums[0] / sums[1]) * min(1.0, sums[2] / sums[1])


def plain_mean(sums: list[float]) -> float:
    return sums[0] / sums[1]


def a_study(
    seed: int, items: int, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, size=(3, items, 3)).astype(float)
    people = rng.integers(1, 6, size=(3, items)).astype(float)
    people[rng.random(people.shape) < missing] = np.nan
    rated = np.stack([~np.isnan(people[[a, b]]).any(axis=0) for a, b in PAIRS])
    return rows, people, rated


def literal(
    rows: np.ndarray, people: np.ndarray, rated: np.ndarray, plan: UnitPlan
) -> list[tuple[float, float]]:
    """Section 5 word by word: for each assignment, observations (m, q) of all pairs."""
    found = []
    for trial in range(plan.trials):
        chunk, place = divmod(trial, CHUNK)
        in_chunk = min(CHUNK, plan.trials - chunk * CHUNK)
        observed: tuple[list[float], list[float]] = ([], [])
        for number, (a, b) in enumerate(PAIRS):
            items = np.flatnonzero(rated[number])
            units = assign(plan, items, rated.shape[1], chunk, number, in_chunk)[place].tolist()
            count = plan.units(len(items))
            signs = [1.0] * count
            if plan.orientation == "random":
                signs = orient(plan, chunk, number, (in_chunk, count))[place].tolist()
            human = np.stack([people, np.ones(people.shape)], axis=-1)
            for side, table, score in ((0, rows, plain_ratio), (1, human, plain_mean)):
                first, second = (table[one][items].tolist() for one in (a, b))
                made = plain_observations(first, second, score, units, signs)
                observed[side].extend(made)
                if plan.orientation == "both":
                    observed[side].extend(-one for one in made)
        found.append(plain_correlations(*observed))
    return found


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    items=st.integers(8, 30),
    size=st.integers(1, 5),
    orientation=st.sampled_from(["fixed", "random", "both"]),
    partial=st.booleans(),
    shared=st.booleans(),
    missing=st.sampled_from([0.0, 0.1]),
    trials=st.sampled_from([1, 3, 35]),
)
def test_units_are_the_papers(seed, items, size, orientation, partial, shared, missing, trials):
    rows, people, rated = a_study(seed, items, missing)
    plan = UnitPlan(
        size=size, assignments=trials, orientation=orientation, partial=partial, shared=shared
    )
    if any(plan.units(int(one.sum())) < 1 for one in rated):
        return
    paired = PairedRows.of(
        {"m": SummedScores(rows, ratio)}, SummedScores.of_means(people), PAIRS, rated
    )
    found = unit_correlations(paired, plan)
    expected = np.array(literal(rows, people, rated, plan))
    np.testing.assert_allclose(found.values[0].T, expected, atol=1e-12)
    np.testing.assert_allclose(found.mean()[0], expected.mean(axis=0), atol=1e-12)


def test_each_sentence_is_in_one_unit_of_the_size_asked_for():
    plan = UnitPlan(size=7)
    units = assign(plan, np.arange(30), 30, chunk=0, pair=0, trials=20)
    counts = np.stack([np.bincount(row, minlength=5) for row in units])
    assert (counts == [7, 7, 7, 7, 2]).all()
    whole = assign(UnitPlan(size=7, partial=False), np.arange(30), 30, 0, 0, 20)
    assert ((whole == -1).sum(axis=1) == 2).all()
    assert plan.units(2114) == 302
    assert UnitPlan().units(2114) == 22


def test_assignments_are_uniform():
    units = assign(UnitPlan(size=5), np.arange(10), 10, chunk=0, pair=0, trials=20_000)
    together = (units[:, :1] == units[:, 1:]).mean(axis=0)
    assert np.abs(together - 4 / 9).max() < 0.02


def test_pairs_share_an_assignment_only_where_asked():
    one, two = (assign(UnitPlan(size=3), np.arange(9), 9, 0, pair, 50) for pair in (0, 1))
    assert (one != two).any()
    plan = UnitPlan(size=3, shared=True)
    one, two = (assign(plan, np.arange(9), 9, 0, pair, 50) for pair in (0, 1))
    assert (one == two).all()


def test_threads_change_nothing():
    rows, people, rated = a_study(1, 40)
    paired = PairedRows.of(
        {"m": SummedScores(rows, ratio)}, SummedScores.of_means(people), PAIRS, rated
    )
    plan = UnitPlan(size=4, assignments=100)
    one, two = (unit_correlations(paired, plan, threads=n).values for n in (1, 2))
    assert (one == two).all()


def test_one_assignment_suffices_for_single_sentences():
    assert UnitPlan(size=1).trials == 1


def test_units_larger_than_the_study():
    rows, people, rated = a_study(1, 10)
    paired = PairedRows.of(
        {"m": SummedScores(rows, ratio)}, SummedScores.of_means(people), PAIRS, rated
    )
    with pytest.raises(InputError, match="units of 11 sentences leave 0"):
        unit_correlations(paired, UnitPlan(size=11, partial=False))
