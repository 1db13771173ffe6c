"""Logs -> their frequent words, and texts as numbers of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deltableu import _kernels
from deltableu._types import Hashes, Ints, Ints32
from deltableu.errors import InputError
from deltableu.logs import Partition, Texts
from deltableu.text import WordArrays, hash_words, word_form, word_spans

__all__ = ["Tell", "Vocabulary", "count_words", "texts_of"]

Tell: TypeAlias = Callable[[int], None]
"""Called with the bytes that were read since the last call."""

_kernel = _kernels.load("vectors._pairs")

_SMALLEST = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Words by falling frequency; those equally frequent are in the order of their letters.

    Attributes
    ----------
    words : tuple of str
        Lower-cased; see `deltableu.text.words.hash_words` for what a word is.
    counts : array
    tokens : int
        Words of the logs, also those that are too rare.
    different : int
        Different ones among them.
    """

    words: tuple[str, ...]
    counts: Ints
    tokens: int
    different: int
    _slots: Hashes
    _numbers: Ints32

    def __len__(self) -> int:
        return len(self.words)

    def numbered(self, found: WordArrays) -> tuple[Ints32, Ints]:
        """Texts as numbers of words, and their bounds; words that are too rare fall out."""
        words = np.empty(len(found.hashes), np.int32)
        bounds = np.empty(len(found.bounds), np.int64)
        table = (self._slots, self._numbers)
        count = _kernel.number_words(found.hashes, found.bounds, *table, words, bounds)
        return words[:count], bounds


def texts_of(partition: Partition, tell: Tell) -> Iterator[Texts]:
    """The utterances of some rows, then their responses, and so on."""
    read = 0
    for block in partition.blocks():
        yield block.utterances
        yield block.responses
        tell(block.read - read)
        read = block.read
    tell(partition.size - read)


def count_words(
    partitions: Sequence[Partition], *, min_count: int, most: int | None, tell: Tell
) -> Vocabulary:
    """The `most` most frequent words of logs that occur `min_count` times or more."""
    counter = _Counter()
    for partition in partitions:
        for texts in texts_of(partition, tell):
            counter.add(texts)
    return counter.vocabulary(min_count, most)


class _Counter:
    """A hash table that knows how each word is spelt."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._counts = np.zeros(_SMALLEST, np.int64)
        self._hashes = np.empty(_SMALLEST, np.uint64)
        self._slots, self._numbers = _empty_table(_SMALLEST)

    def add(self, texts: Texts) -> None:
        found = hash_words(texts.data, texts.starts, texts.ends)
        hashes = np.ascontiguousarray(found.hashes)
        used = len(self._words)
        self._make_room(used + len(hashes))
        fresh = np.empty(len(hashes), np.int64)
        new = _kernel.add_words(hashes, self._slots, self._numbers, self._counts, used, fresh)
        if new:
            fresh = fresh[:new]
            self._hashes[used : used + new] = hashes[fresh]
            self._words += _spelt(texts, found, fresh)

    def _make_room(self, words: int) -> None:
        while words > len(self._counts):
            size = 2 * len(self._counts)
            self._counts = np.concatenate((self._counts, np.zeros_like(self._counts)))
            self._hashes = np.concatenate((self._hashes, self._hashes))
            self._slots, self._numbers = _table(self._hashes[: len(self._words)], size)

    def vocabulary(self, min_count: int, most: int | None) -> Vocabulary:
        counts = self._counts[: len(self._words)]
        tokens = int(counts.sum())
        if not tokens:
            raise InputError("the logs hold no words")
        (frequent,) = np.nonzero(counts >= min_count)
        if not len(frequent):
            raise InputError(
                f"no word occurs {min_count} times or more in the logs (the most frequent one "
                f"{counts.max()} times): lower min_count"
            )
        frequency: list[int] = counts.tolist()
        order = sorted(frequent.tolist(), key=lambda one: (-frequency[one], self._words[one]))
        rows = np.array(order[:most], np.int64)
        words = tuple(self._words[row] for row in rows.tolist())
        table = _table(self._hashes[rows], _SMALLEST)
        return Vocabulary(words, counts[rows], tokens, len(counts), *table)


def _spelt(texts: Texts, found: WordArrays, places: Ints) -> list[str]:
    """The words at some places of `found`, in their comparable form."""
    owners = np.searchsorted(found.bounds, places, side="right") - 1
    rows, firsts = np.unique(owners, return_index=True)
    begins, stops = word_spans(texts.data, texts.starts[rows], texts.ends[rows])
    sizes = found.bounds[rows + 1] - found.bounds[rows]
    offsets = np.cumsum(sizes) - sizes - found.bounds[rows]
    at = places + np.repeat(offsets, np.diff(np.append(firsts, len(places))))
    return [
        word_form(texts.data[begin:stop].decode())
        for begin, stop in zip(begins[at].tolist(), stops[at].tolist(), strict=True)
    ]


def _empty_table(size: int) -> tuple[Hashes, Ints32]:
    """At most half full with `size` words."""
    return np.zeros(2 * size, np.uint64), np.full(2 * size, -1, np.int32)


def _table(hashes: Hashes, size: int) -> tuple[Hashes, Ints32]:
    """Where to find the number of a word, which is its place in `hashes`."""
    while size < len(hashes):
        size *= 2
    slots, numbers = _empty_table(size)
    counts = np.zeros(max(len(hashes), 1), np.int64)
    _kernel.add_words(hashes, slots, numbers, counts, 0, np.empty(len(hashes), np.int64))
    return slots, numbers
