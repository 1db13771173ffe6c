"""Which items weights were tuned on: remembered up to a bound, and told from others."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu.corpus import Item, NBestLists, Reference, TunedOn


def lists_of(ids: list[str], texts: tuple[str, ...] = ("yes", "no")) -> NBestLists:
    many = [f"{text} {id}" for id in ids for text in texts]
    bounds = np.arange(len(ids) + 1) * len(texts)
    return NBestLists(tuple(ids), bounds, tuple(many), (), np.zeros((len(many), 0)))


def items_of(ids: list[str], message: str | None, reference: str = "r") -> list[Item]:
    return [
        Item(id, (Reference("0", f"{reference} {id}"),), (), message and f"{message} {id}")
        for id in ids
    ]


IDS = ["a", "b", "3"]
OTHER = ("oh", "well")


@pytest.mark.parametrize(
    ("lists", "items", "found"),
    [
        (lists_of(IDS), [], 3),
        (lists_of(["x", "b", "3"]), [], 2),
        (lists_of(IDS, OTHER), [], 2),  # a number says nothing
        (lists_of(IDS, OTHER), items_of(IDS, "what of"), 3),
        (lists_of(IDS, OTHER), items_of(IDS, "how is"), 0),
        (lists_of(IDS, OTHER), items_of(IDS, None), 0),
        (lists_of(IDS, ("one",)), items_of(IDS, "how is"), 0),
    ],
)
def test_what_is_the_same_item(lists: NBestLists, items: list[Item], found: int) -> None:
    tuned = TunedOn.of(lists_of(IDS), items_of(IDS, "what of"))
    assert tuned.among(lists, items) == found
    assert (tuned.warning(lists, items) is None) == (found == 0)


def test_items_without_messages_are_known_by_their_references() -> None:
    tuned = TunedOn.of(lists_of(IDS), items_of(IDS, None))
    assert tuned.among(lists_of(IDS, OTHER), items_of(IDS, None)) == 3
    assert tuned.among(lists_of(IDS, OTHER), items_of(IDS, None, "else")) == 0


def test_of_many_items_some_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltableu.corpus.tuned_on._MOST", 50)
    ids = [f"i{number}" for number in range(200)]
    tuned = TunedOn.of(lists_of(ids))
    assert (tuned.items, len(tuned.ids)) == (200, 50)
    said = tuned.warning(lists_of(ids))
    assert said is not None
    assert "tuned on at least 50 of these 200 items" in said
    both = tuned.with_those_of(TunedOn.of(lists_of(["x", "y"])))
    assert (both.items, len(both.ids)) == (200, 50)


def test_items_of_two_rounds_count_once() -> None:
    first, second = TunedOn.of(lists_of(["a", "b"])), TunedOn.of(lists_of(["b", "c"]))
    assert second.with_those_of(first).items == 3
