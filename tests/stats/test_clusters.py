"""Ranks, clusters and letters against their definitions, for every pattern of differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.stats.clusters import letters, rank_ranges, significance_clusters


@st.composite
def patterns(draw: st.DrawFn, largest: int = 9) -> np.ndarray:
    """Which pairs of systems differ: any symmetric matrix without a diagonal."""
    size = draw(st.integers(1, largest))
    differs = np.zeros((size, size), bool)
    for first, second in combinations(range(size), 2):
        differs[first, second] = differs[second, first] = draw(st.booleans())
    return differs


def split(marks: str) -> set[str]:
    """The letters of a mark, which beyond z are numbers in brackets."""
    found = set()
    while marks:
        end = marks.index(")") + 1 if marks[0] == "(" else 1
        found.add(marks[:end])
        marks = marks[end:]
    return found


@given(patterns())
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(differs):
    marks = [split(one) for one in letters(differs)]
    for first, second in combinations(range(len(differs)), 2):
        assert bool(marks[first] & marks[second]) == (not differs[first, second])


@given(patterns())
def test_every_system_has_a_letter_and_no_letter_is_there_for_nothing(differs):
    marks = [split(one) for one in letters(differs)]
    assert all(marks)
    groups = {}
    for place, one in enumerate(marks):
        for letter in one:
            groups.setdefault(letter, set()).add(place)
    for first, second in combinations(groups.values(), 2):
        assert not first <= second
        assert not second <= first
    expected = [chr(ord("a") + k) if k < 26 else f"({k - 25})" for k in range(len(groups))]
    assert sorted(groups, key=lambda letter: (len(letter), letter)) == expected


@given(patterns())
def test_letters_start_with_the_best_system(differs):
    marks = letters(differs)
    assert marks[0].startswith("a")
    for one in marks:
        found = [letter for letter in one if letter.isalpha()]
        assert found == sorted(found)


def test_more_groups_than_letters():
    """Six pairs of systems of which only partners differ."""
    differs = np.zeros((12, 12), bool)
    for place in range(0, 12, 2):
        differs[place, place + 1] = differs[place + 1, place] = True
    marks = [split(one) for one in letters(differs)]
    assert len(set.union(*marks)) == 2**6
    for first, second in combinations(range(12), 2):
        assert bool(marks[first] & marks[second]) == (not differs[first, second])


@given(patterns())
def test_clusters_are_cut_where_all_above_beat_all_below(differs):
    size = len(differs)
    cuts = [
        place
        for place in range(1, size)
        if all(differs[above, below] for above in range(place) for below in range(place, size))
    ]
    expected = [1 + sum(cut <= place for cut in cuts) for place in range(size)]
    assert significance_clusters(differs) == expected


@given(patterns())
def test_rank_ranges_count_who_must_be_above_and_below(differs):
    size = len(differs)
    expected = [
        (
            1 + sum(bool(differs[other, place]) for other in range(place)),
            size - sum(bool(differs[other, place]) for other in range(place + 1, size)),
        )
        for place in range(size)
    ]
    assert rank_ranges(differs) == expected
    for place, (best, worst) in enumerate(expected, start=1):
        assert best <= place <= worst


@pytest.mark.parametrize("size", [1, 2, 5])
def test_all_equal_and_all_different(size):
    same = np.zeros((size, size), bool)
    assert letters(same) == ["a"] * size
    assert rank_ranges(same) == [(1, size)] * size
    assert significance_clusters(same) == [1] * size
    different = ~np.eye(size, dtype=bool)
    assert letters(different) == list("abcde"[:size])
    assert rank_ranges(different) == [(k, k) for k in range(1, size + 1)]
    assert significance_clusters(different) == list(range(1, size + 1))
