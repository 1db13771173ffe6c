"""Blocks of control items against the published ones, and for any number of texts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.rate import BlockPlan, RatedText, control_blocks

few = settings(max_examples=60, deadline=None)


def texts(count: int) -> list[RatedText]:
    return [
        RatedText(f"q{n}", f"this is text {n} of many texts here", f"reference {n}")
        for n in range(count)
    ]


def test_sets_are_as_published():
    """100 = 10 blocks of 7 + 1 + 1 + 1; controls are of three texts of the block five away."""
    given_texts = texts(210)
    sets = control_blocks(given_texts, rng=3)
    assert len(sets) == 3
    assert BlockPlan().size == 100
    dealt = Counter(one.original for made in sets for one in made.items if one.kind == "item")
    assert dealt == Counter(range(210))
    orders = set()
    for made in sets:
        assert [len(block) for block in made.blocks] == [10] * 10
        owner = {
            one.original: place
            for place, block in enumerate(made.blocks)
            for one in block
            if one.kind == "item"
        }
        for place, block in enumerate(made.blocks):
            assert Counter(one.kind for one in block) == {
                "item": 7, "bad-reference": 1, "repeat": 1, "reference": 1,
            }  # fmt: skip
            controls = [one for one in block if one.kind != "item"]
            assert len({one.original for one in controls}) == 3
            swapped = place + 5 if place < 5 else place - 5
            assert {owner[one.original] for one in controls} == {swapped}
            orders.add(tuple(one.kind for one in block))
            for one in controls:
                original = given_texts[one.original]
                if one.kind == "repeat":
                    assert one.text == original.text
                elif one.kind == "reference":
                    assert one.text == original.reference
                else:
                    assert one.text != original.text
    assert len(orders) > 10  # shuffled


@few
@given(
    st.integers(1, 160),
    st.integers(1, 12),
    st.integers(1, 9),
    st.integers(0, 6),
    st.integers(0, 99),
)
def test_any_number_of_texts(count, blocks, outputs, distance, seed):
    plan = BlockPlan(blocks=blocks, outputs=outputs, distance=distance)
    given_texts = texts(count)
    sets = control_blocks(given_texts, plan, rng=seed)
    assert sets == control_blocks(given_texts, plan, rng=seed)
    dealt = [one.original for made in sets for one in made.items if one.kind == "item"]
    assert sorted(dealt) == list(range(count))
    sizes = [sum(one.kind == "item" for one in block) for made in sets for block in made.blocks]
    assert max(sizes) <= outputs
    assert max(sizes) - min(sizes) <= 1
    lengths = [len(made.blocks) for made in sets]
    assert max(lengths) <= blocks
    assert max(lengths) - min(lengths) <= 1
    for made in sets:
        own = {one.original for one in made.items if one.kind == "item"}
        assert {one.original for one in made.items} == own
        assert len(made.items) <= plan.size
        assert all(one.text for one in made.items)


def test_more_control_items_by_setting():
    plan = BlockPlan(blocks=4, outputs=5, bad_references=2, repeats=1, references=0, distance=2)
    (made,) = control_blocks(texts(20), plan)
    for block in made.blocks:
        assert Counter(one.kind for one in block) == {"item": 5, "bad-reference": 2, "repeat": 1}
        bad = [one.original for one in block if one.kind == "bad-reference"]
        assert len(set(bad)) == 2


def test_what_cannot_be_made_is_passed_over():
    """Without references, or with those that are rated themselves, there are none; and so on."""
    plain = [RatedText(f"q{n}", f"this is text {n} of many") for n in range(14)]
    own = [RatedText(one.item, one.text, f" {one.text}") for one in plain]
    empty = [RatedText(one.item, " ", "yes") for one in plain]
    same = [RatedText("q", one.text, "yes") for one in plain]
    for given_texts, missing in ((plain, "reference"), (own, "reference"), (empty, "bad-reference"),
                                 (same, "bad-reference")):  # fmt: skip
        (made,) = control_blocks(given_texts)
        kinds = {one.kind for one in made.items}
        assert kinds == {"item", "bad-reference", "repeat", "reference"} - {missing}
    # Of a block with one text that can be degraded, that one is.
    mixed = [RatedText(f"q{n}", "" if n else "a b c d", "yes") for n in range(7)]
    (made,) = control_blocks([*mixed, RatedText("q9", "e f g h", "yes")])
    bad = [one for one in made.items if one.kind == "bad-reference"]
    assert {one.original for one in bad} <= {0, 7}
    assert bad


def test_one_text_is_its_own_control():
    (made,) = control_blocks([RatedText("q", "it is so", "yes")])
    assert sorted(one.kind for one in made.items) == ["item", "reference", "repeat"]


def test_wrong_settings():
    with pytest.raises(InputError, match="there is no text to rate"):
        control_blocks([])
    with pytest.raises(InputError, match="outputs must be at least 1"):
        BlockPlan(outputs=0)
    with pytest.raises(InputError, match="repeats must not be negative"):
        BlockPlan(repeats=-1)
    with pytest.raises(InputError, match="must not be more than the 2 outputs"):
        BlockPlan(outputs=2, bad_references=3)
