"""Weights from ratings of references: what counts, what is averaged, what does not fit."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltableu import RatingTable, ReferenceSet, read_study, reference_set
from deltableu.corpus import Item, Rating, Reference, Scale
from deltableu.errors import InputError
from deltableu.rate import rated_weights


def item(name: str, *weights: float | None) -> Item:
    made = (Reference(f"r{i}", f"text {i}", weight) for i, weight in enumerate(weights))
    return Item(name, tuple(made))


def rating(rater: str, item: str, reference: str, value: float, **more: Any) -> Rating:
    return Rating(rater, item, f"reference:{reference}", value, **{"scale": "1-5", **more})


def answers_of(items: list[Item], ratings: list[Rating], **options: Any) -> RatingTable:
    return RatingTable.from_records(ratings).of_references(items, **options)


def weigh(items: list[Item], ratings: list[Rating]) -> tuple[ReferenceSet, str]:
    return rated_weights(reference_set(items), answers_of(items, ratings))


def test_demo(demo: Path) -> None:
    study = read_study(demo)
    answers = study.ratings.of_references(study.items)
    references, note = rated_weights(reference_set(study), answers)
    assert note == ""
    assert len(answers.raters) == 12
    assert len(answers) == 2715
    assert references.weights == reference_set(study).weights
    assert set(np.bincount(answers.reference).tolist()) == {5}
    means = np.nanmean(answers.by_reference(), axis=0)
    np.testing.assert_allclose(means, references.flat_weights, atol=0.006)


def test_repeats_are_averaged_first_and_controls_ignored() -> None:
    ratings = [
        rating("ann", "1", "r0", 5),
        rating("ann", "1", "r0", 3, kind="repeat"),
        rating("bob", "1", "r0", 1),
        rating("bob", "1", "r0", 5, kind="bad-reference"),
        rating("bob", "1", "r0", 5, kind="reference"),
        Rating("bob", "1", "system:A", 5, scale="1-5"),
        rating("bob", "elsewhere", "r0", 5),
    ]
    answers = answers_of([item("1", None)], ratings)
    assert answers.raters == ("ann", "bob")
    assert answers.values.tolist() == [0.5, -1.0]
    references, _ = weigh([item("1", None)], ratings)
    assert references.weights == ((-0.25,),)
    assert references.weights_from == "ratings"


def test_scales() -> None:
    ratings = [rating("ann", "1", "r0", 75, scale="0-100"), rating("bob", "1", "r0", 4)]
    answers = answers_of([item("1", None)], ratings)
    assert answers.values.tolist() == [0.5, 0.5]
    assert answers.of_references([item("1", None)]) == answers
    bare = [replace(one, scale=None, value=4) for one in ratings]
    answers = answers_of([item("1", None)], bare, scale=Scale(1, 5))
    assert answers.values.tolist() == [0.5, 0.5]
    where = "rater 'ann', item '1', target 'reference:r0': has no scale"
    with pytest.raises(InputError, match=where):
        answers_of([item("1", None)], bare)


def test_weights_written_with_few_digits() -> None:
    thirds = [rating(r, "1", "r0", v) for r, v in (("a", 5), ("b", 4), ("c", 4))]
    references, note = weigh([item("1", 0.67, 0.25)], thirds)
    assert references.weights == ((0.67, 0.25),)
    assert note == ""


def test_weights_that_are_not_the_means() -> None:
    thirds = [rating(r, "1", "r0", v) for r, v in (("a", 5), ("b", 4), ("c", 4))]
    references, note = weigh([item("1", 0.6, 0.25)], thirds)
    assert note == (
        "1 of 1 weights are not the means of their ratings; the means are used for all of them"
    )
    assert references.weights is not None
    assert references.weights[0] == pytest.approx((2 / 3, 0.25))


def test_selection_and_items_keep_answers_with_their_references() -> None:
    items = [item(name, *[None] * 3) for name in "xyz"]
    ratings = [
        rating(rater, name, f"r{i}", 1 + (i + j + k) % 5)
        for i, (j, name), (k, rater) in product(
            range(3), enumerate("xyz"), enumerate(("ann", "bob"))
        )
    ]
    whole = answers_of(items, ratings)
    references, _ = rated_weights(reference_set(items), whole)

    def answers(of: ReferenceSet) -> list[tuple[tuple[str, str], list[float]]]:
        assert of.items is not None
        found = whole.of_references(of.items, unknown="drop")
        return [
            (name, found.values[found.reference == place].tolist())
            for place, name in enumerate(found.references)
        ]

    every = dict(enumerate(answers(references)))
    assert len(every) == 9
    assert answers(references.take([2, 0])) == [every[i] for i in (6, 7, 8, 0, 1, 2)]
    assert answers(references.select("single")) == [every[i] for i in (0, 3, 6)]
    flat = references.flat_weights
    kept = [i for i in range(9) if i % 3 == 0 or flat[i] >= 0.5]
    assert answers(references.select("w>=0.5")) == [every[i] for i in kept]
    with pytest.raises(InputError, match="a rating of reference 'r1', which the item does not"):
        whole.of_references(references.select("single").items or ())


@pytest.mark.parametrize(
    ("ratings", "criterion", "message"),
    [
        ([], None, "there are no raw ratings of references"),
        ([rating("a", "1", "r7", 4)], None, "item '1': there is a rating of reference 'r7', which"),
        (
            [rating("a", "1", "r0", 4, criterion="fluency")],
            "overall",
            "no references were rated for 'overall'; there are ratings of fluency",
        ),
        (
            [rating("a", "1", "r0", 4, criterion=name) for name in ("overall", "humour")],
            None,
            r"several criteria, choose one: humour, overall",
        ),
    ],
)
def test_mistakes(ratings: list[Rating], criterion: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        answers_of([item("1", 0.5)], ratings, criterion=criterion)


def test_the_only_criterion_need_not_be_named() -> None:
    ratings = [rating("a", "1", "r0", 4, criterion="fluency")]
    assert answers_of([item("1", 0.5)], ratings).values.tolist() == [0.5]
