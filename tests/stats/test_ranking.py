"""Ranks, clusters and letters against their definitions, for every pattern of differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.stats import Ranking, best_first, rank


@st.composite
def patterns(draw: st.DrawFn, largest: int = 9) -> np.ndarray:
    """Which pairs of systems differ: any symmetric matrix without a diagonal."""
    size = draw(st.integers(1, largest))
    differs = np.zeros((size, size), bool)
    for first, second in combinations(range(size), 2):
        differs[first, second] = differs[second, first] = draw(st.booleans())
    return differs


def ranked(differs: np.ndarray) -> Ranking:
    """Of systems given in the order of their scores, best first."""
    size = len(differs)
    return rank([f"{place:02}" for place in range(size)], -np.arange(size), differs)


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
    marks = [split(one) for one in ranked(differs).letters]
    for first, second in combinations(range(len(differs)), 2):
        assert bool(marks[first] & marks[second]) == (not differs[first, second])


@given(patterns())
def test_every_system_has_a_letter_and_no_letter_is_there_for_nothing(differs):
    marks = [split(one) for one in ranked(differs).letters]
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
    marks = ranked(differs).letters
    assert marks[0].startswith("a")
    for one in marks:
        found = [letter for letter in one if letter.isalpha()]
        assert found == sorted(found)


def test_more_groups_than_letters():
    """Six pairs of systems of which only partners differ."""
    differs = np.zeros((12, 12), bool)
    for place in range(0, 12, 2):
        differs[place, place + 1] = differs[place + 1, place] = True
    marks = [split(one) for one in ranked(differs).letters]
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
    assert ranked(differs).clusters == tuple(expected)


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
    assert ranked(differs).ranks == tuple(expected)
    for place, (best, worst) in enumerate(expected, start=1):
        assert best <= place <= worst


@pytest.mark.parametrize("size", [1, 2, 5])
def test_all_equal_and_all_different(size):
    same = np.zeros((size, size), bool)
    found = ranked(same)
    assert found.letters == ("a",) * size
    assert found.ranks == ((1, size),) * size
    assert found.clusters == (1,) * size
    found = ranked(~np.eye(size, dtype=bool))
    assert found.letters == tuple("abcde"[:size])
    assert found.ranks == tuple((k, k) for k in range(1, size + 1))
    assert found.clusters == tuple(range(1, size + 1))


# --- Places, names and missing scores -------------------------------------------------------------


@given(patterns(), st.randoms(use_true_random=False), st.booleans())
def test_ranks_go_with_their_systems_in_whatever_order_these_are_given(differs, random, higher):
    """Also where scores are equal: before, who was named first came first."""
    size = len(differs)
    names = [f"{place:02}" for place in range(size)]
    scores = np.array([random.randint(0, 3) for _ in range(size)], dtype=float)
    straight = rank(names, scores, differs, higher_is_better=higher)
    turned = list(range(size))
    random.shuffle(turned)
    found = rank(
        [names[place] for place in turned],
        scores[turned],
        differs[np.ix_(turned, turned)],
        higher_is_better=higher,
    )
    assert [turned[place] for place in found.order] == list(straight.order)
    for place, original in enumerate(turned):
        assert found.ranks[place] == straight.ranks[original]
        assert found.clusters[place] == straight.clusters[original]
        assert found.letters[place] == straight.letters[original]


def test_who_has_no_score_has_no_rank():
    differs = np.ones((3, 3), bool)
    found = rank("ABC", [1.0, np.nan, 2.0], differs)
    assert found.order == (2, 0)
    assert found.ranks == ((2, 2), (0, 0), (1, 1))
    assert found.clusters == (2, 0, 1)
    assert found.letters == ("b", "", "a")
    assert rank("A", [np.nan], [[False]]).order == ()
    assert best_first("ba", [0.0, -0.0]) == (1, 0)


def test_one_of_the_two_places_of_a_pair_is_enough():
    upper = np.array([[False, True], [False, False]])
    found = [rank("AB", [1, 2], one) for one in (upper, upper.T, upper | upper.T)]
    assert found[0] == found[1] == found[2]
