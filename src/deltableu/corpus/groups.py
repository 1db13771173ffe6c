"""Items in; which of them belong together (a document, a dialogue, a user), out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from deltableu.corpus.item_columns import LazyItems
from deltableu.corpus.types import Item, Study
from deltableu.errors import InputError, Problem, hint_at

#: Fields of an item's meta that usually name what several items share, the commonest first; an
#: ending "_id" does not count.
_OBVIOUS = (
    "document",
    "doc",
    "dialogue",
    "dialog",
    "conversation",
    "thread",
    "session",
    "user",
    "author",
    "speaker",
    "article",
    "story",
)


def item_groups(items: Study | Iterable[Item], field: str) -> tuple[str, ...]:
    """The group of each item, by a field of its meta.

    Items of a group share more than chance gives (a topic, a user's taste), so that resampling
    draws whole groups.

    Parameters
    ----------
    items
        A study, or its items.
    field
        A field of `meta`; every item must have it, as a text or a number.

    Examples
    --------
    >>> item_groups([Item("a", (), meta={"dialogue": 7}), Item("b", (), meta={"dialogue": 7})],
    ...             "dialogue")
    ('7', '7')
    """
    return tuple(_group(item, field) for item in _items(items))


def obvious_groups(items: Study | Iterable[Item]) -> str | None:
    """The first field of meta that looks as if it named groups; None where none does.

    Every item has it, several items share a value, and not all do.

    Examples
    --------
    >>> items = [Item(id, (), meta={"doc_id": doc}) for id, doc in ("a1", "b1", "c2")]
    >>> obvious_groups(items)
    'doc_id'
    """
    metas = _metas(items)
    fields = {_plain(field): field for meta in metas[:1] for field in meta}
    for name in _OBVIOUS:
        field = fields.get(name)
        values = [meta.get(field) for meta in metas] if field is not None else [None]
        named = all(isinstance(value, str | int) for value in values)
        if named and 1 < len(set(map(str, values))) < len(values):
            return field
    return None


def ungrouped_note(items: Study | Iterable[Item]) -> str | None:
    """A warning where items look grouped, for results that take each item for itself."""
    field = obvious_groups(items)
    if field is None:
        return None
    values = [str(meta[field]) for meta in _metas(items)]
    number = len(set(values))
    return (
        f"{len(values)} items share {number} values of {field}, but each is taken for independent: "
        f"--group {field} resamples whole groups"
    )


def _items(given: Study | Iterable[Item]) -> Iterable[Item]:
    return given.items if isinstance(given, Study) else given


def _metas(given: Study | Iterable[Item]) -> Sequence[Mapping[str, object]]:
    """The meta of each item; an empty list where none has any."""
    items = _items(given)
    if isinstance(items, LazyItems):
        return items.columns.metas or ()
    return [item.meta for item in items]


def _plain(field: str) -> str:
    return field.lower().removesuffix("id").rstrip("_- ")


def _group(item: Item, field: str) -> str:
    return str(meta_value(item, field, "group items by", "a group"))


def meta_value(item: Item, field: str, use: str, what: str) -> str | int | float:
    """A field of an item's meta, which must be there and hold a text or a number.

    Parameters
    ----------
    item, field
        The item, and the field's name.
    use, what
        What the field is for, and what its value is, for the sentences of errors.
    """
    value = item.meta.get(field)
    if value is None:
        there, meant = ", ".join(item.meta) or "nothing", hint_at(field, item.meta)
        message = f"meta has no field to {use}; it has {there}{meant}"
        raise InputError(Problem(message, item=item.id, field=field))
    if not isinstance(value, str | int | float):
        message = f"{what} must be a text or a number, got {value!r}"
        raise InputError(Problem(message, item=item.id, field=field))
    return value
