from __future__ import annotations

import pytest

from deltableu.corpus import Item, Reference, ReferenceSet, Study, reference_set
from deltableu.errors import InputError

SET = ReferenceSet(
    texts=(("a", "b", "c"), ("d",), ("e", "f")),
    weights=((0.6, -0.2, 0.59), (-1.0,), (0.0, 1.0)),
    item_ids=("q1", "q2", "q3"),
    originals=(1, 0, 0),
)


def test_single_is_the_original():
    single = SET.select("single")
    assert single.texts == (("b",), ("d",), ("e",))
    assert single.weights == ((-0.2,), (-1.0,), (0.0,))
    assert (single.selection, single.originals) == ("single", (0, 0, 0))
    assert single.item_ids == SET.item_ids


def test_threshold_always_keeps_the_original():
    best = SET.select("w >= 0.60")
    assert best.texts == (("a", "b"), ("d",), ("e", "f"))
    assert best.weights == ((0.6, -0.2), (-1.0,), (0.0, 1.0))
    assert (best.selection, best.originals) == ("w>=0.6", (1, 0, 0))
    assert best.select("w>=0.6") is best


def test_all_is_the_same_set():
    assert SET.select("all") is SET
    assert len(SET) == 3


@pytest.mark.parametrize("setting", ["", "w>0.6", "w>=", "w>=x", "w>=nan", "some", "w>=1.5"])
def test_wrong_settings(setting):
    with pytest.raises(InputError) as raised:
        SET.select(setting)
    assert raised.value.problem.field == "references"


def test_narrowed_sets_are_not_widened():
    with pytest.raises(InputError, match="start from all"):
        SET.select("single").select("all")


def test_threshold_needs_weights():
    with pytest.raises(InputError, match="needs weights"):
        ReferenceSet((("a",),), None).select("w>=0")
    unrated = ReferenceSet((("a", "b"),), ((None, None),), item_ids=("q7",))
    with pytest.raises(InputError, match="number 2 is not rated") as raised:
        unrated.select("w>=0")
    assert raised.value.problem.item == "q7"


def test_items_without_a_positive_reference():
    assert SET.without_positive() == (1,)
    assert ReferenceSet((("a",), ("b",)), ((None,), (0.1,))).without_positive() == (0,)
    assert ReferenceSet((("a",),), None).without_positive() == ()


def test_take():
    some = SET.take([2, 0, 2])
    assert some.texts == (("e", "f"), ("a", "b", "c"), ("e", "f"))
    assert some.item_ids == ("q3", "q1", "q3")
    assert some.originals == (0, 1, 0)
    assert ReferenceSet((("a",), ("b",)), None).take([1]) == ReferenceSet((("b",),), None)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"weights": ((1.0,),)}, "weights"),
        ({"weights": ((1.0,), (1.0,))}, "weights"),
        ({"weights": None, "item_ids": ("a",)}, "item_ids"),
        ({"weights": None, "originals": (0, 2)}, "originals"),
        ({"items": (Item("q", (Reference("r", "a"),)),)}, "items"),
    ],
)
def test_shapes_must_agree(fields, field):
    with pytest.raises(InputError) as raised:
        ReferenceSet((("a",), ("b", "c")), **fields)
    assert raised.value.problem.field == field


def test_item_without_references_cannot_be_narrowed():
    with pytest.raises(InputError, match="has no reference"):
        ReferenceSet(((),), None).select("single")


def test_from_items_and_studies():
    items = (
        Item("q1", (Reference("a", "x", 0.5, "mined"), Reference("b", "y"))),
        Item("q2", (Reference("a", "z", origin="written"),)),
    )
    found = reference_set(items)
    assert found == reference_set(Study(items))
    assert found.weights == ((0.5, None), (None,))
    assert (found.originals, found.weights_from, found.item_ids) == ((1, 0), "items", ("q1", "q2"))
    assert reference_set(items, "single").texts == (("y",), ("z",))
    assert reference_set(items[1:]).weights is None


def said(*where):
    """Items whose meta says where their weights came from."""
    return [
        Item(str(number), (Reference("r0", "a", 1.0),), meta={} if one is None else one)
        for number, one in enumerate(where)
    ]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (
            [{"weights_from": "nn-rater:3f2a,max,2p-1,original=1"}] * 2,
            "nn-rater:3f2a,max,2p-1,original=1",
        ),
        ([{"weights_from": "a|b c\n"}], "a_b_c_"),
        ([{"weights_from": "a"}, {"weights_from": "b"}], "items"),
        ([{"weights_from": "a"}, None], "items"),
        ([None, {"weights_from": "a"}], "items"),
        ([{"weights_from": 5}] * 2, "items"),
        ([{"weights_from": ["a"]}] * 2, "items"),
        ([{"weights_from": ""}], "items"),
        ([], "items"),
    ],
)
def test_items_say_who_rated_them(where, expected):
    assert reference_set(said(*where)).weights_from == expected


def test_items_stay_beside_their_texts():
    items = (
        Item("q1", (Reference("a", "x", 0.5, "mined"), Reference("b", "y", 0.1)), message="m"),
        Item("q2", (Reference("a", "z", 1.0),)),
    )
    found = reference_set(items)
    assert found.items == items
    single = found.select("single")
    assert [item.references for item in single.items] == [
        items[0].references[1:],
        items[1].references,
    ]
    assert single.items[0].message == "m"
    assert single.items[1] is items[1]
    assert found.take([1]).items == (items[1],)
    assert SET.items is SET.select("single").items is SET.take([0]).items is None
    assert hash(found) == hash(reference_set(items))
    assert "Item(" not in repr(found)
