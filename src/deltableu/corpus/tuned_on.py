"""Items that weights were tuned on in; whether others are among them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deltableu.corpus.nbest_lists import NBestLists
from deltableu.corpus.types import Item
from deltableu.errors import InputError
from deltableu.io import fingerprint

#: Items that are remembered; of more, those whose ids have the smallest hashes.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class TunedOn:
    """Items that weights were tuned on, as the file of the weights remembers them.

    Attributes
    ----------
    items : int
        How many there were; at most 10,000 of them are remembered.
    ids : tuple of str
    messages : tuple of str
        A hash of each item's context and message, or else of its original references.
    candidates : tuple of str
        A hash of the texts among which each item's response was chosen; empty where there was one.

    Examples
    --------
    >>> import numpy as np
    >>> lists = NBestLists(("a", "b"), np.array([0, 2, 4]), ("yes", "no", "hi", "hello"), (),
    ...                    np.zeros((4, 0)))
    >>> TunedOn.of(lists.select([1])).among(lists)
    1
    """

    items: int
    ids: tuple[str, ...]
    messages: tuple[str, ...]
    candidates: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.messages) == len(self.candidates) <= self.items:
            raise InputError("ids, messages and candidates must be as many, and no more than items")

    @classmethod
    def of(cls, lists: NBestLists, items: Sequence[Item] = ()) -> TunedOn:
        """All that there are lists for."""
        rows = zip(lists.item_ids, _messages(lists, items), _candidates(lists), strict=True)
        return cls._bounded(len(lists), rows)

    @classmethod
    def _bounded(cls, items: int, rows: Iterable[tuple[str, str, str]]) -> TunedOn:
        kept = list(dict.fromkeys(rows))
        if len(kept) > _MOST:
            kept = sorted(kept, key=lambda row: fingerprint(row[:1]))[:_MOST]
        ids, messages, candidates = zip(*kept, strict=True) if kept else ((), (), ())
        return cls(items, ids, messages, candidates)

    def _rows(self) -> list[tuple[str, str, str]]:
        return list(zip(self.ids, self.messages, self.candidates, strict=True))

    def with_those_of(self, earlier: TunedOn) -> TunedOn:
        """These and the items of the weights that tuning began with."""
        rows = dict.fromkeys([*self._rows(), *earlier._rows()])
        items = len(rows) if max(len(self.ids), len(earlier.ids)) < _MOST else 0
        return self._bounded(max(items, self.items, earlier.items), rows)

    def among(self, lists: NBestLists, items: Sequence[Item] = ()) -> int:
        """How many of the items with lists are among them, of those that are remembered.

        That are items with the same candidates, or with the same id and message. Without `items`
        the id must do, unless it is a number, which items of other studies have too.
        """
        chosen = set(self.candidates) - {""}
        asked = set(zip(self.ids, self.messages, strict=True))
        named = {id for id in self.ids if not id.isdecimal()}
        rows = zip(lists.item_ids, _messages(lists, items), _candidates(lists), strict=True)
        return sum(
            texts in chosen or ((id, message) in asked if items else id in named)
            for id, message, texts in rows
        )

    def warning(self, lists: NBestLists, items: Sequence[Item] = ()) -> str | None:
        """What to know where such items are chosen for, or scored."""
        found = self.among(lists, items)
        if not found:
            return None
        least = "at least " if len(self.ids) < self.items else ""
        return (
            f"the weights were tuned on {least}{found:,} of these {len(lists):,} items, on which "
            "scores are too high: look at others"
        )


def _messages(lists: NBestLists, items: Sequence[Item]) -> list[str]:
    known = {item.id: fingerprint(_asked(item)) for item in items}
    return [known.get(id, "") for id in lists.item_ids]


def _asked(item: Item) -> list[str]:
    """What tells an item from others of its id, whatever references are found or rated later."""
    if item.context or item.message:
        return [*item.context, item.message or ""]
    return [one.text for one in item.references if one.origin == "original"]


def _candidates(lists: NBestLists) -> list[str]:
    found = (sorted(set(lists.candidates(place))) for place in range(len(lists)))
    return [fingerprint(texts) if len(texts) > 1 else "" for texts in found]
