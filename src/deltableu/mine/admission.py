"""Which rows of a log may become references at all, and which of them of an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from deltableu._types import Bools, Bytes, Ints, Ints32, Keys
from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.mine.rows import LoggedPair, LogRows
from deltableu.text import (
    Texts,
    WordNumbers,
    WordRule,
    empty_keys,
    hash_texts,
    lanes,
    may_be_same,
    pair_keys,
    same_text,
    span_keys,
    spelt_ends,
    text_keys,
)

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
        """Its settings in one word."""
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
            yield "an echo of its utterance", _is_echo(rows)


@cache
def _placeholders() -> WordNumbers:
    return WordNumbers.of(np.unique(_keys(_PLACEHOLDERS)))


@cache
def _link_words() -> WordNumbers:
    return WordNumbers.of(WordRule().hash(Texts.of(_LINKS)).keys)


def _is_placeholder(rows: LogRows) -> Bools:
    # The word "deleted" may well be said; brackets around it are a forum's.
    texts = rows.block.responses
    data = np.frombuffer(texts.data, np.uint8)
    found: Bools = texts.starts < texts.ends
    found[found] = data[texts.starts[found]] == _OPENING_BRACKET
    (some,) = np.nonzero(found)
    found[some] = _placeholders().has(rows.response_keys_at(some))
    return found


def _is_echo(rows: LogRows) -> Bools:
    found = may_be_same(rows.utterance_ends, rows.response_ends)
    (some,) = np.nonzero(found)
    found[some] = rows.utterance_keys_at(some) == rows.response_keys_at(some)
    return found


def _has_link(rows: LogRows) -> Bools:
    # Tokenizers may leave an address whole, or cut it into characters.
    words = rows.plain_responses
    link = _link_words().has(words.keys)
    found = np.zeros(len(rows), np.bool_)
    found[np.searchsorted(words.bounds, np.flatnonzero(link), side="right") - 1] = True
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _OwnKeys:
    """Keys that items have.

    Attributes
    ----------
    known : WordNumbers
        The keys.
    owned : WordNumbers
        Their numbers, with those of the items.
    """

    known: WordNumbers
    owned: WordNumbers

    @classmethod
    def of(
        cls, pairs: Sequence[tuple[int, str]], make: Callable[[Sequence[str]], Keys]
    ) -> _OwnKeys:
        items = np.array([number for number, _ in pairs], np.int64)
        known, owned = (WordNumbers.of(empty_keys(0)) for _ in range(2))
        numbers, _ = known.add(make([text for _, text in pairs]))
        owned.add(pair_keys(numbers, items))
        return cls(known, owned)

    def has(self, items: Any, keys: Keys) -> Bools:
        """Which of the keys their items have."""
        # Most keys are of no item.
        numbers = self.known.find(keys)
        found = numbers >= 0
        (some,) = np.nonzero(found)
        found[some] = self.owned.has(pair_keys(numbers[some], items[some]))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Originals:
    """Messages of items with their original responses.

    Attributes
    ----------
    messages, responses, pairs : WordNumbers
        The keys of each, and pairs of their numbers.
    numbers, items : array
        The pairs that items have, and the items.
    ends : WordNumbers
        Ends that the messages may have in a log, and `b""`.
    """

    messages: WordNumbers
    responses: WordNumbers
    pairs: WordNumbers
    numbers: Ints32
    items: Ints
    ends: WordNumbers

    @classmethod
    def of(cls, originals: Sequence[tuple[int, str]], messages: Sequence[str]) -> _Originals:
        items = np.array([number for number, _ in originals], np.int64)
        all_messages, responses, pairs = (WordNumbers.of(empty_keys(0)) for _ in range(3))
        asked, _ = all_messages.add(_keys(messages))
        answered, _ = responses.add(_keys([text for _, text in originals]))
        numbers, _ = pairs.add(pair_keys(asked, answered))
        ends = WordNumbers.of(empty_keys(1))
        ends.add(spelt_ends(Texts.of(messages)))
        return cls(all_messages, responses, pairs, numbers, items, ends)

    def counts(self, rows: LogRows, items: int) -> Ints:
        """How many rows are a pair of each item."""
        # Hardly any row has a message.
        (some,) = np.nonzero(self.ends.has(rows.utterance_ends))
        asked = self.messages.find(rows.utterance_keys_at(some))
        some, asked = some[asked >= 0], asked[asked >= 0]
        answered = self.responses.find(rows.response_keys_at(some))
        known = answered >= 0
        pairs = self.pairs.find(pair_keys(asked[known], answered[known]))
        often = np.bincount(pairs[pairs >= 0], minlength=self.pairs.size)
        found = np.zeros(items, np.int64)
        np.add.at(found, self.items, often[self.numbers])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class OwnPairs:
    """What an item must not get: responses that it has, and what was logged with it.

    Attributes
    ----------
    responses
        Those of items' references (and of the message, where the item is to have it as a parrot).
    ids, threads
        Those of the logs that items come from.
    originals
        Messages with their original responses.
    pairs
        Items lack nothing but the pairs in `originals`: `responses` are keys of both texts.
    """

    responses: _OwnKeys
    ids: _OwnKeys
    threads: _OwnKeys
    originals: _Originals
    pairs: bool = False

    @classmethod
    def of(cls, items: Sequence[Item], *, parrot: bool = False, pairs: bool = False) -> OwnPairs:
        """What items must not get.

        Parameters
        ----------
        items
        parrot
            Nor their messages, as a response.
        pairs
            Other responses that say what a reference does are welcome: only the pairs of a message
            and an original response are not, and what was logged with them.
        """
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
        messages = [items[number].message or "" for number, _ in originals]
        if pairs:
            joined = _joined(_keys(messages), _keys([text for _, text in originals]))
            responses = _OwnKeys.of(originals, lambda _: joined)
        else:
            responses = _OwnKeys.of(texts, _keys)
        return cls(
            responses,
            _OwnKeys.of(ids, _exact_keys),
            _OwnKeys.of(threads, _exact_keys),
            _Originals.of(originals, messages),
            pairs,
        )

    def allowed(self, rows: LogRows, items: Any, chosen: Any) -> Bools:
        """Which candidates, rows `chosen` for `items`, are not the item's own."""
        keys = rows.response_keys_at(chosen)
        if self.pairs:
            keys = _joined(rows.utterance_keys_at(chosen), keys)
        mine = self.responses.has(items, keys)
        for own, name in ((self.ids, "ids"), (self.threads, "threads")):
            if own.known.size and (named := rows.keys(name)) is not None:
                mine |= own.has(items, named[chosen])
        return ~mine

    def leaks(self, rows: LogRows, items: int) -> Ints:
        """How many rows are each item's message with an original response of it."""
        return self.originals.counts(rows, items)


def _joined(utterances: Keys, responses: Keys) -> Keys:
    """A key of each pair of keys."""
    both = np.concatenate(
        (lanes(utterances).reshape(-1, 2), lanes(responses).reshape(-1, 2)), axis=1
    )
    places = np.arange(len(both) + 1, dtype=np.int64) * both.itemsize * 4
    return span_keys(both.tobytes(), places[:-1], places[1:])


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


def is_own_pair(item: Item, pair: LoggedPair) -> bool:
    """Whether a logged pair is the item's message with an original response, or was logged with it.

    Examples
    --------
    >>> from deltableu.corpus import Reference
    >>> item = Item("7", (Reference("a", "Fine!"),), message="How are you?")
    >>> [is_own_pair(item, LoggedPair("how are you", text)) for text in ("fine", "good")]
    [True, False]
    """
    if pair.id is not None and pair.id in log_ids(item):
        return True
    thread = log_thread(item)
    if thread is not None and pair.thread == thread:
        return True
    if not item.message or not same_text(item.message, pair.utterance):
        return False
    originals = (one.text for one in item.references if one.origin == "original")
    return any(same_text(text, pair.response) for text in originals)
