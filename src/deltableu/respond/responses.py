"""What every responder gives: a response for each item, and all that is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deltableu.corpus import Item, ItemKeys, NBestLists, OutputMatches
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import Table, Tabular, WorkFolder, fact_table, field_record
from deltableu.text import Texts, WordRule, text_keys

#: Items that a sentence names.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Responses(Tabular):
    """Responses of one system to items.

    Attributes
    ----------
    item_ids : tuple of str
    texts : tuple of str
        One per item; empty where it has no response.
    missing : tuple of str
        Ids of items without a response.
    signature : str
        All that the texts depend on but the items, in one line.
    nbest : NBestLists, optional
        What else was considered for the items that have a response.
    facts : mapping
        What is known beside the texts: of the logs they come from, and of references they equal.
    work : WorkFolder, optional
        With `keep_work`, its `end()` is to be called when the responses are safe.
    """

    item_ids: tuple[str, ...]
    texts: tuple[str, ...]
    missing: tuple[str, ...]
    signature: str
    nbest: NBestLists | None = field(default=None, compare=False)
    facts: Mapping[str, int] = field(default_factory=dict)
    work: WorkFolder | None = field(default=None, compare=False)

    def given(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Ids and texts of the items that have a response."""
        lost = frozenset(self.missing)
        kept = [pair for pair in zip(self.item_ids, self.texts, strict=True) if pair[0] not in lost]
        return tuple(id for id, _ in kept), tuple(text for _, text in kept)

    def table(self) -> Table:
        """How many responses there are, how different and how long, and what they come from."""
        _, texts = self.given()
        words = len(WordRule().hash(Texts.of(texts)).keys) if texts else 0
        facts: dict[str, object] = {
            "items": len(self.item_ids),
            "items without a response": len(self.missing),
            "different responses": len(set(text_keys(texts).keys.tolist())) if texts else 0,
            "words per response": round(words / len(texts), 1) if texts else None,
            **self.facts,
        }
        return fact_table(("responses", "number"), facts, {"signature": self.signature})

    def missing_warning(self) -> str | None:
        """Which items have no response, if any."""
        if not self.missing:
            return None
        named = ", ".join(self.missing[:_NAMED]) + (", ..." if len(self.missing) > _NAMED else "")
        count, items = len(self.missing), len(self.item_ids)
        verb, are = ("has", "is") if count == 1 else ("have", "are")
        return f"{count} of {items} items {verb} no response and {are} left out ({named})"

    def record(self) -> dict[str, Any]:
        """All but the lists of candidates."""
        return field_record(self, without=("nbest", "work"))


def make_responses(
    items: Sequence[Item],
    texts: Sequence[str | None],
    signature: str,
    facts: Mapping[str, int],
    nbest: NBestLists | None = None,
) -> Responses:
    """Put together what a responder found; None is no response."""
    keys = ItemKeys.of(items)
    matches = OutputMatches.count(
        (keys[item.id], text) for item, text in zip(items, texts, strict=True) if text is not None
    )
    equal = {
        f"that equal a reference of their item: {origin}": count
        for origin, count in matches.by_origin.items()
    }
    return Responses(
        tuple(item.id for item in items),
        tuple(text or "" for text in texts),
        tuple(item.id for item, text in zip(items, texts, strict=True) if text is None),
        signature,
        nbest,
        {**equal, **facts},
    )


def checked_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """The items, if they can be responded to."""
    checked = tuple(items)
    seen: set[str] = set()
    for number, item in enumerate(checked):
        check_kind(f"item {number}", item, Item)
        if item.id in seen:
            raise InputError(Problem("the id was used before", item=item.id, field="id"))
        seen.add(item.id)
    if not checked:
        raise InputError("there are no items to respond to")
    return checked


def weighted_choice(rng: np.random.Generator, options: Mapping[str, int]) -> str | None:
    """One of the options, each as likely as it is frequent, whatever order they stand in."""
    if not options:
        return None
    ordered = sorted(options)
    ends = np.cumsum([options[one] for one in ordered])
    return ordered[int(np.searchsorted(ends, rng.integers(int(ends[-1])), side="right"))]
