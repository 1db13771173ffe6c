"""Which rows of a log may become references at all, and which of them of an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deltableu._types import Bools, Bytes, Hashes, Ints
from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.mine.rows import LogRows
from deltableu.text import Texts, WordRule, hash_texts, text_keys

_PLACEHOLDERS = ("[deleted]", "[removed]", "[deleted by user]", "[removed by reddit]", "[image]")
_LINKS = ("http", "https", "www")
_OPENING_BRACKET = ord("[")


def _keys(texts: Sequence[str]) -> Hashes:
    return text_keys(texts).keys


def _text_hashes(texts: Sequence[str]) -> Hashes:
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
        Of the response.
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
def _placeholder_keys() -> tuple[np.uint64, ...]:
    return tuple(_keys(_PLACEHOLDERS))


@cache
def _link_words() -> Hashes:
    return WordRule().hash(Texts.of(_LINKS)).hashes


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
    link = np.zeros(len(words.hashes), np.bool_)
    for hash in _link_words():
        link |= words.hashes == hash
    found = np.zeros(len(rows), np.bool_)
    found[np.searchsorted(words.bounds, np.flatnonzero(link), side="right") - 1] = True
    return found


def _mixed(items: Any, keys: Hashes) -> Hashes:
    """One number of item and key."""
    with np.errstate(over="ignore"):
        spread = (np.asarray(items).astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        return np.asarray((keys ^ spread) * np.uint64(0xD6E8FEB86659FD93))


def _among(wanted: Hashes, found: Hashes) -> Bools:
    """Which of `found` are in the sorted `wanted`."""
    if not len(wanted):
        return np.zeros(len(found), np.bool_)
    places = np.minimum(np.searchsorted(wanted, found), len(wanted) - 1)
    return np.asarray(wanted[places] == found)


@dataclass(frozen=True, slots=True, eq=False)
class OwnPairs:
    """What an item must not get: responses that it has, and what was logged with it.

    Attributes
    ----------
    responses : array
        Items mixed with the keys of their references (and of the message, where the item is to
        have it as a parrot).
    ids, threads : array
        Items mixed with the log ids and threads they come from.
    pairs, pair_items : array
        Keys of message and original response together, sorted, and the items they are of.
    """

    responses: Hashes
    ids: Hashes
    threads: Hashes
    pairs: Hashes
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
        pairs = _mixed(messages, _keys([text for _, text in originals]))
        order = np.argsort(pairs, kind="stable")
        owners = np.array([number for number, _ in originals], np.int64)
        return cls(
            _own(texts, _keys), _own(ids, _text_hashes), _own(threads, _text_hashes),
            pairs[order], owners[order],
        )  # fmt: skip

    def allowed(self, rows: LogRows, items: Any, chosen: Any) -> Bools:
        """Which candidates, rows `chosen` for `items`, are not the item's own."""
        mine = _among(self.responses, _mixed(items, rows.response_keys[chosen]))
        for own, name in ((self.ids, "ids"), (self.threads, "threads")):
            if len(own) and (hashes := rows.hashes(name)) is not None:
                mine |= _among(own, _mixed(items, hashes[chosen]))
        return ~mine

    def leaks(self, rows: LogRows, items: int) -> Ints:
        """How many rows are each item's message with an original response of it."""
        found = _mixed(rows.utterance_keys, rows.response_keys)
        counts = np.zeros(items, np.int64)
        for key in found[_among(self.pairs, found)]:
            begin, end = (np.searchsorted(self.pairs, key, side=side) for side in ("left", "right"))
            np.add.at(counts, self.pair_items[begin:end], 1)
        return counts


def _own(pairs: Sequence[tuple[int, str]], keys: Any) -> Hashes:
    if not pairs:
        return np.empty(0, np.uint64)
    items = np.array([number for number, _ in pairs], np.int64)
    return np.unique(_mixed(items, keys([text for _, text in pairs])))


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
