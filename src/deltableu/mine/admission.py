"""Which rows of a log may become references at all, and which of them of an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deltableu._types import Bools, Bytes, Ints, Keys
from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.mine.rows import LogRows
from deltableu.text import Texts, WordRule, hash_texts, joined_keys, text_keys

_PLACEHOLDERS = ("[deleted]", "[removed]", "[deleted by user]", "[removed by reddit]", "[image]")
_LINKS = ("http", "https", "www")
_OPENING_BRACKET = ord("[")


def _keys(texts: Sequence[str]) -> Keys:
    return text_keys(texts).keys


def _exact_keys(texts: Sequence[str]) -> Keys:
    return hash_texts(Texts.of(texts))


@dataclass(frozen=True, slots=True, eq=False)
class Admission:
    """Rows that may be used (1) or not (0), and why not."""

    rows: Bytes
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Leaves out responses that nobody would want as a reference, whatever the item.

    Parameters
    ----------
    min_words, max_words : int
        The fewest and the most words of the response.
    junk : bool
        Leave out placeholders ("[deleted]"), responses with a link, and those that only repeat
        their utterance.
    """

    min_words: int = 1
    max_words: int | None = None
    junk: bool = True

    def __post_init__(self) -> None:
        if self.min_words < 0:
            raise InputError(f"min_words must be 0 or more, got {self.min_words}")
        if self.max_words is not None and self.max_words < max(1, self.min_words):
            raise InputError(f"max_words must be at least min_words, got {self.max_words}")

    @property
    def signature(self) -> str:
        most = "" if self.max_words is None else self.max_words
        return f"words:{self.min_words}-{most}|junk:{'out' if self.junk else 'in'}"

    def admit(self, rows: LogRows) -> Admission:
        """Rows are counted under the first reason that applies."""
        kept = np.ones(len(rows), np.bool_)
        dropped = {}
        for reason, wrong in self._reasons(rows):
            dropped[reason] = int((wrong & kept).sum())
            kept &= ~wrong
        return Admission(kept.view(np.uint8), {why: n for why, n in dropped.items() if n})

    def _reasons(self, rows: LogRows) -> Iterable[tuple[str, Bools]]:
        if self.min_words:
            yield "too short", np.diff(rows.responses.bounds) < self.min_words
        if self.max_words is not None:
            yield "too long", np.diff(rows.responses.bounds) > self.max_words
        if self.junk:
            yield "a placeholder", _is_placeholder(rows)
            yield "with a link", _has_link(rows)
            yield "an echo of its utterance", rows.response_keys == rows.utterance_keys


@cache
def _placeholder_keys() -> tuple[np.bytes_, ...]:
    return tuple(_keys(_PLACEHOLDERS))


@cache
def _link_words() -> Keys:
    return WordRule().hash(Texts.of(_LINKS)).keys


def _is_placeholder(rows: LogRows) -> Bools:
    found = np.zeros(len(rows), np.bool_)
    for key in _placeholder_keys():
        found |= rows.response_keys == key
    if found.any():
        # The word "deleted" may well be said; brackets around it are a forum's.
        texts = rows.block.responses
        places = np.flatnonzero(found)
        data = np.frombuffer(texts.data, np.uint8)
        found[places] = data[texts.starts[places]] == _OPENING_BRACKET
    return found


def _has_link(rows: LogRows) -> Bools:
    # Tokenizers may leave an address whole, or cut it into characters.
    words = rows.plain_responses
    link = np.zeros(len(words.keys), np.bool_)
    for key in _link_words():
        link |= words.keys == key
    found = np.zeros(len(rows), np.bool_)
    found[np.searchsorted(words.bounds, np.flatnonzero(link), side="right") - 1] = True
    return found


def _with_items(items: Any, keys: Keys) -> Keys:
    """Keys of item and key together."""
    return joined_keys(keys, np.asarray(items, np.int64))


def _among(wanted: Keys, found: Keys) -> Bools:
    """Which of `found` are in the sorted `wanted`."""
    if not len(wanted):
        return np.zeros(len(found), np.bool_)
    places = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    return np.asarray(wanted[places] == found)


def _of_items(own: Keys, items: Any, keys: Keys) -> Bools:
    """Which of the keys are, with their items, in the sorted `own`."""
    # Most keys are of no item, which the first part of a longer key tells.
    found = _among(own.astype(keys.dtype), keys)
    (some,) = np.nonzero(found)
    found[some] = _among(own, _with_items(items[some], keys[some]))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class OwnPairs:
    """What an item must not get: responses that it has, and what was logged with it.

    Attributes
    ----------
    responses : array
        Keys of items' references (and of the message, where the item is to have it as a parrot),
        with the items.
    ids, threads : array
        Keys of the log ids and threads that items come from, with the items.
    pairs, pair_items : array
        Keys of message and original response together, sorted, and the items they are of.
    """

    responses: Keys
    ids: Keys
    threads: Keys
    pairs: Keys
    pair_items: Ints

    @classmethod
    def of(cls, items: Sequence[Item], *, parrot: bool) -> OwnPairs:
        texts: list[tuple[int, str]] = []
        ids: list[tuple[int, str]] = []
        threads: list[tuple[int, str]] = []
        originals: list[tuple[int, str]] = []
        for number, item in enumerate(items):
            texts += ((number, reference.text) for reference in item.references)
            if parrot and item.message is not None:
                texts.append((number, item.message))
            ids += ((number, id) for id in log_ids(item))
            if (thread := log_thread(item)) is not None:
                threads.append((number, thread))
            originals += (
                (number, reference.text)
                for reference in item.references
                if reference.origin == "original" and item.message
            )
        messages = _keys([items[number].message or "" for number, _ in originals])
        pairs = joined_keys(messages, _keys([text for _, text in originals]))
        order = np.argsort(pairs, kind="stable")
        owners = np.array([number for number, _ in originals], np.int64)
        return cls(
            _own(texts, _keys), _own(ids, _exact_keys), _own(threads, _exact_keys),
            pairs[order], owners[order],
        )  # fmt: skip

    def allowed(self, rows: LogRows, items: Any, chosen: Any) -> Bools:
        """Which candidates, rows `chosen` for `items`, are not the item's own."""
        mine = _of_items(self.responses, items, rows.response_keys_at(chosen))
        for own, name in ((self.ids, "ids"), (self.threads, "threads")):
            if len(own) and (keys := rows.keys(name)) is not None:
                mine |= _of_items(own, items, keys[chosen])
        return ~mine

    def leaks(self, rows: LogRows, items: int) -> Ints:
        """How many rows are each item's message with an original response of it."""
        # Hardly any row has a message, which the first half of a pair's key is.
        messages = self.pairs.astype(rows.utterance_keys.dtype)
        (asked,) = np.nonzero(_among(messages, rows.utterance_keys))
        found = joined_keys(rows.utterance_keys[asked], rows.response_keys_at(asked))
        counts = np.zeros(items, np.int64)
        for key in found[_among(self.pairs, found)]:
            begin, end = (np.searchsorted(self.pairs, key, side=side) for side in ("left", "right"))
            np.add.at(counts, self.pair_items[begin:end], 1)
        return counts


def _own(pairs: Sequence[tuple[int, str]], keys: Callable[[Sequence[str]], Keys]) -> Keys:
    items = np.array([number for number, _ in pairs], np.int64)
    return np.unique(_with_items(items, keys([text for _, text in pairs])))


def log_thread(item: Item) -> str | None:
    """The thread of a log that an item was taken from."""
    thread = item.meta.get("thread")
    return str(thread) if isinstance(thread, str | int) else None


def log_ids(item: Item) -> Iterable[str]:
    """Ids that the item's own pair may have in a log."""
    yield item.id
    for reference in item.references:
        if reference.origin == "original" and reference.source and reference.source.id:
            yield reference.source.id
