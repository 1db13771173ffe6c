"""Keys of words -> numbers of words, in a table that kernels read too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu import _kernels
from deltableu._types import Bools, Hashes, Ints, Ints32, Keys
from deltableu.text.keys import lanes

_kernel = _kernels.load("text._words")
_BITS = 3
#: Words for which there is room at once: few of many words are different.
_BATCH = 1 << 16


@dataclass(slots=True, eq=False)
class WordNumbers:
    """Different words, numbered from 0 in the order in which they came.

    Attributes
    ----------
    slots, numbers : array
        The table: a word's number lies where the first half of its key says, or soon after; -1
        where a place is free. At most half of it is taken. `slots` are the keys, two numbers each.
    size : int
        How many words there are.

    Examples
    --------
    >>> table = WordNumbers.of(np.array([b"you", b"me"], "S16"))
    >>> table.find(np.array([b"me", b"her", b"you"], "S16"))
    array([ 1, -1,  0], dtype=int32)
    """

    slots: Hashes
    numbers: Ints32
    size: int = 0

    @classmethod
    def of(cls, keys: Keys) -> WordNumbers:
        """Number keys, of which each is there once, by their places."""
        # So sparse, because most words that are looked up are not there, which a free place tells.
        table = cls(*_empty_table(4 * len(keys)))
        table.add(keys)
        return table

    def find(self, keys: Keys) -> Ints32:
        """The number of each word, -1 where it has none."""
        found = np.empty(len(keys), np.int32)
        _kernel.find_numbers(lanes(keys), self.slots, self.numbers, found)
        return found

    def has(self, keys: Keys) -> Bools:
        """Which of the words have a number."""
        return self.find(keys) >= 0

    def add(self, keys: Keys) -> tuple[Ints32, Ints]:
        """The number of each word, and the places of those that are new."""
        found = np.empty(len(keys), np.int32)
        places = [np.empty(0, np.int64)]
        for begin in range(0, len(keys), _BATCH):
            part = keys[begin : begin + _BATCH]
            self._make_room(self.size + len(part))
            fresh = np.empty(len(part), np.int64)
            table = (self.slots, self.numbers, self.size)
            new = _kernel.add_numbers(lanes(part), *table, found[begin : begin + _BATCH], fresh)
            self.size += new
            places.append(fresh[:new] + begin)
        return found, np.concatenate(places)

    def _make_room(self, words: int) -> None:
        if 2 * words <= len(self.numbers):
            return
        old, numbers = self.slots.reshape(-1, 2), self.numbers
        self.slots, self.numbers = _empty_table(2 * words)
        taken = np.flatnonzero(numbers >= 0)
        order = taken[np.argsort(numbers[taken])]
        nowhere = np.empty(len(order), np.int32), np.empty(len(order), np.int64)
        _kernel.add_numbers(old[order].ravel(), self.slots, self.numbers, 0, *nowhere)


def _empty_table(places: int) -> tuple[Hashes, Ints32]:
    """With at least so many places, and a power of two."""
    size = 1 << max(_BITS, (places - 1).bit_length())
    return np.zeros(2 * size, np.uint64), np.full(size, -1, np.int32)
