"""Studies without what failed raters said: ratings, weights, and what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deltableu import read_study
from deltableu.corpus import Item, Rating, RatingTable, Reference, Study
from deltableu.errors import InputError
from deltableu.rate import RaterCheckPlan, drop_failed_raters, without_failed_raters

RATERS = {"ann": lambda n, r: 5 - r - n % 2, "bob": lambda n, r: 4 - r + n % 2}


def rating(rater: str, n: int, r: int, value: float, **more) -> Rating:
    return Rating(rater, f"q{n}", f"reference:r{r}", value, scale="1-5", **more)


def study(*more: Rating, weights: bool = True) -> Study:
    """Twelve items with two references each, rated by ann, bob and eve, who says 1 always."""
    ratings = [rating(name, n, r, say(n, r)) for name, say in RATERS.items() for n in range(12)
               for r in range(2)]  # fmt: skip
    ratings += [rating("eve", n, r, 1) for n in range(12) for r in range(2)]
    ratings += more
    made = RatingTable.from_records(ratings)
    items = tuple(
        Item(
            f"q{n}",
            tuple(
                Reference(f"r{r}", f"text {r}", origin="original" if r == 0 else "mined")
                for r in range(2)
            ),
        )
        for n in range(12)
    )
    return Study(weighted(items, made) if weights else items, {}, made)


def weighted(items: tuple[Item, ...], ratings: RatingTable) -> tuple[Item, ...]:
    def mean(item: str, name: str) -> float | None:
        target = (item, f"reference:{name}")
        said = [one.value for one in ratings if (one.item, one.target) == target]
        return (sum(said) / len(said) - 3) / 2 if said else None

    return tuple(
        replace(
            item,
            references=tuple(replace(one, weight=mean(item.id, one.id)) for one in item.references),
        )
        for item in items
    )


def test_weights_become_means_of_what_is_left():
    before = study()
    kept, note = without_failed_raters(before)
    assert kept.ratings.raters == ("ann", "bob")
    assert note == (
        "dropped 1 of 3 raters, who failed, and their 24 of 72 ratings; 2 cannot be judged; "
        "24 weights are new"
    )
    expected = weighted(before.items, kept.ratings)
    for item, wanted in zip(kept.items, expected, strict=True):
        for one, other in zip(item.references, wanted.references, strict=True):
            assert one.weight == pytest.approx(other.weight)
    assert kept.items != before.items
    assert before.ratings.raters == ("ann", "bob", "eve")  # nothing is altered


def test_references_that_only_failed_raters_rated_are_left_out():
    before = study()
    alone = before.ratings[
        ~((before.ratings.item == 3) & (before.ratings.reference == 7) & (before.ratings.rater < 2))
    ]
    before = replace(before, ratings=alone, items=weighted(before.items, alone))
    kept, note = without_failed_raters(before)
    assert [one.id for one in kept.items[3].references] == ["r0"]
    assert note.endswith("23 weights are new; 1 references that only they rated are left out")
    assert all(len(item.references) == 2 for item in kept.items if item.id != "q3")
    # Without its original, an item would have another one in its place.
    first = before.ratings[~((before.ratings.reference == 6) & (before.ratings.rater < 2))]
    before = replace(before, ratings=first, items=weighted(before.items, first))
    with pytest.raises(InputError, match="only raters who failed rated reference 'r0'") as raised:
        without_failed_raters(before)
    assert raised.value.problem.item == "q3"


def test_weights_from_elsewhere_stay():
    made = study()
    other = tuple(
        replace(i, references=tuple(replace(r, weight=0.123) for r in i.references))
        for i in made.items
    )
    kept, note = without_failed_raters(replace(made, items=other))
    assert kept.items == other
    assert note.endswith("the weights are not the means of the ratings and stay as they are")
    bare, note = without_failed_raters(study(weights=False))
    assert bare.items == study(weights=False).items
    assert note.endswith("2 cannot be judged")


def test_weights_are_of_the_criterion_they_are_means_of():
    fluent = [rating(name, n, r, 3, criterion="fluency") for name in ("ann", "bob", "eve")
              for n in range(12) for r in range(2)]  # fmt: skip
    before = study()
    both = replace(before, ratings=RatingTable.from_records([*fluent, *before.ratings]))
    kept, _ = without_failed_raters(both)
    assert kept.items == without_failed_raters(before)[0].items


def test_the_demo(demo):
    before = read_study(demo)
    kept, note = without_failed_raters(before)
    assert note == (
        "dropped 1 of 30 raters, who failed, and their 132 of 5,079 ratings; 12 cannot be judged"
    )
    assert kept.items == before.items  # who failed rated outputs
    assert "sim-22" not in kept.ratings.raters


def test_nobody_or_everybody_fails():
    good = study().ratings.without_raters(["eve"])
    found = drop_failed_raters(good)
    assert found.ratings is good
    assert found.note == "none of 2 raters failed, so that none was dropped; 2 cannot be judged"
    one = good.without_raters(["bob"])
    assert drop_failed_raters(one).note.startswith("the only rater did not")
    eve = study().ratings.without_raters(["ann", "bob"])
    with pytest.raises(InputError, match="all 1 raters failed, so that no rating is left"):
        drop_failed_raters(eve)
    assert drop_failed_raters(eve, RaterCheckPlan(constant_after=99)).checks.unknown == ("eve",)
    with pytest.raises(InputError, match="the study has no ratings whose raters"):
        without_failed_raters(Study((), {}, RatingTable.from_records()))
