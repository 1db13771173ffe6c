"""Human scores of pairs of systems."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu import RatingTable, ScoreTable
from deltableu.corpus import Rating
from deltableu.errors import InputError
from deltableu.rate import pair_scores


def table(*rows: tuple[str, str, str, float, str | None]) -> RatingTable:
    """Rater, item, system, value and pair of each rating."""
    return RatingTable.from_records(
        Rating(rater, item, f"system:{system}", value, pair=pair)
        for rater, item, system, value, pair in rows
    )


BY_PAIR = (
    ("ann", "1", "A", 5, "A-B"),
    ("ann", "1", "B", 2, "A-B"),
    ("bob", "1", "A", 3, "A-B"),
    ("bob", "1", "B", 2, "A-B"),
    ("ann", "1", "A", 1, "A-C"),
    ("ann", "1", "C", 4, "A-C"),
)


def test_an_output_has_the_ratings_of_its_pair():
    found = pair_scores(table(*BY_PAIR), scale="raw")
    assert found.by_pair
    assert found.pairs == (("A", "B"), ("A", "C"))
    assert found.values[..., 0].tolist() == [[4.0, 2.0], [1.0, 4.0]]


def test_pairs_by_name_and_which_way_round():
    found = pair_scores(table(*BY_PAIR), [("C", "A")], scale="raw")
    assert found.values[..., 0].tolist() == [[4.0, 1.0]]
    with pytest.raises(InputError, match="no ratings of 'B' and 'C' in a pair"):
        pair_scores(table(*BY_PAIR), [("B", "C")], scale="raw")


@pytest.mark.parametrize("label", ["what one rater saw", "what was shown of an item"])
def test_labels_may_be_used_again(label):
    """The label 1 stands for A and B for item 1, and for A and C for item 2."""
    rows = [
        ("ann", "1", "A", 5.0, "1"),
        ("ann", "1", "B", 2.0, "1"),
        ("ann", "2", "A", 1.0, "1"),
        ("ann", "2", "C", 4.0, "1"),
    ]
    if label == "what one rater saw":
        rows += [("bob", "1", "A", 3.0, "1"), ("bob", "1", "C", 2.0, "1")]
    found = pair_scores(table(*rows), scale="raw")
    assert found.pairs == (("A", "B"), ("A", "C"))
    assert found.values[0, :, 0].tolist() == [5.0, 2.0]
    assert found.values[1, :, 1].tolist() == [1.0, 4.0]
    if label == "what one rater saw":
        assert found.values[1, :, 0].tolist() == [3.0, 2.0]


def test_without_labels_all_pairs_share_the_scores():
    plain = table(*((rater, item, system, v, None) for rater, item, system, v, _ in BY_PAIR))
    found = pair_scores(plain, scale="raw")
    assert not found.by_pair
    assert found.pairs == (("A", "B"), ("A", "C"), ("B", "C"))
    assert found.values[..., 0].tolist() == [[3.0, 2.0], [3.0, 4.0], [2.0, 4.0]]


def test_too_few_raters():
    found = pair_scores(table(*BY_PAIR), scale="raw", min_raters=2, pairs=[("A", "B")])
    assert found.values[0, :, 0].tolist() == [4.0, 2.0]
    with pytest.raises(InputError, match="no ratings of 'A' and 'C'"):
        pair_scores(table(*BY_PAIR), scale="raw", min_raters=2, pairs=[("A", "C")])


def test_ready_scores_and_wrong_names():
    people = ScoreTable.of({"people": {"A": [5, 4], "B": [3, np.nan], "C": [1, 2]}})
    found = pair_scores(people, [("C", "B")])
    assert np.array_equal(found.values[0], [[1, 2], [3, np.nan]], equal_nan=True)
    with pytest.raises(InputError, match="there is no rated system 'D'"):
        pair_scores(people, [("A", "D")])
    with pytest.raises(InputError, match="names one twice"):
        pair_scores(people, [("A", "B"), ("B", "A")])
    with pytest.raises(InputError, match="two systems"):
        pair_scores(people, [("A", "A")])
    with pytest.raises(InputError, match="mixed model"):
        pair_scores(table(*BY_PAIR), scale="mixed")
