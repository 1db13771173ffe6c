"""Groups of items: a field of their meta."""

from __future__ import annotations

import pytest

from deltableu.corpus import Item, Study, item_groups, obvious_groups
from deltableu.errors import InputError


def items(*metas):
    return tuple(Item(f"i{place}", (), meta=meta) for place, meta in enumerate(metas))


def test_groups_are_texts_in_the_order_of_the_items():
    some = items({"doc": 1, "user": "x"}, {"doc": "b"}, {"doc": 1})
    assert item_groups(some, "doc") == item_groups(Study(some), "doc") == ("1", "b", "1")


@pytest.mark.parametrize(
    ("metas", "told"),
    [
        (({"doc": 1}, {}), "item 'i1', doc: meta has no field to group items by; it has nothing"),
        (({"topic": 1},), "item 'i0', doc: meta has no field to group items by; it has topic"),
        (({"doc": None},), "item 'i0', doc: meta has no field"),
        (({"doc": ["a"]},), "a group must be a text or a number"),
    ],
)
def test_an_item_without_a_group_is_named(metas, told):
    with pytest.raises(InputError, match=told):
        item_groups(items(*metas), "doc")


@pytest.mark.parametrize(
    ("values", "field", "found"),
    [
        ("aab", "dialogue", "dialogue"),
        ("aab", "Thread_ID", "Thread_ID"),
        ("aab", "userId", "userId"),
        ("aaa", "dialogue", None),
        ("abc", "dialogue", None),
        ("aab", "topic", None),
        ("aab", "id", None),
    ],
)
def test_obvious_groups(values, field, found):
    some = items(*({field: value} for value in values))
    assert obvious_groups(some) == obvious_groups(Study(some)) == found


def test_the_widest_field_is_found_first_and_only_if_all_items_have_it():
    both = [{"user": u, "document": d} for u, d in ("1a", "1a", "2b")]
    assert obvious_groups(items(*both)) == "document"
    assert obvious_groups(items(*both, {"user": "1"})) == "user"
    assert obvious_groups(items(*both, {})) is None
    assert obvious_groups(()) is None
