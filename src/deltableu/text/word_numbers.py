"""Hashes of words -> numbers of words, in a table that kernels read too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu import _kernels
from deltableu._types import Hashes, Ints, Ints32

_kernel = _kernels.load("text._words")
_BITS = 3


@dataclass(slots=True, eq=False)
class WordNumbers:
    """Different words, numbered from 0 in the order in which they came.

    Attributes
    ----------
    slots, numbers : array
        The table: a word's number lies where its hash says, or soon after; -1 where a place is
        free. At most half of it is taken.
    size : int
        How many words there are.

    Examples
    --------
    >>> table = WordNumbers.of(np.array([70, 50], np.uint64))
    >>> table.find(np.array([50, 60, 70], np.uint64))
    array([ 1, -1,  0], dtype=int32)
    """

    slots: Hashes
    numbers: Ints32
    size: int = 0

    @classmethod
    def of(cls, hashes: Hashes) -> WordNumbers:
        """Number hashes, of which each is there once, by their places."""
        # So sparse, because most words that are looked up are not there, which a free place tells.
        table = cls(*_empty_table(4 * len(hashes)))
        table.add(hashes)
        return table

    def find(self, hashes: Hashes) -> Ints32:
        """The number of each word, -1 where it has none."""
        found = np.empty(len(hashes), np.int32)
        _kernel.find_numbers(hashes, self.slots, self.numbers, found)
        return found

    def add(self, hashes: Hashes) -> tuple[Ints32, Ints]:
        """The number of each word, and the places of those that are new."""
        self._make_room(self.size + len(hashes))
        found = np.empty(len(hashes), np.int32)
        fresh = np.empty(len(hashes), np.int64)
        new = _kernel.add_numbers(hashes, self.slots, self.numbers, self.size, found, fresh)
        self.size += new
        return found, fresh[:new]

    def _make_room(self, words: int) -> None:
        if 2 * words <= len(self.slots):
            return
        old, numbers = self.slots, self.numbers
        self.slots, self.numbers = _empty_table(2 * words)
        taken = np.flatnonzero(numbers >= 0)
        order = taken[np.argsort(numbers[taken])]
        nowhere = np.empty(len(order), np.int32), np.empty(len(order), np.int64)
        _kernel.add_numbers(old[order], self.slots, self.numbers, 0, *nowhere)


def _empty_table(places: int) -> tuple[Hashes, Ints32]:
    """With at least so many places, and a power of two."""
    size = 1 << max(_BITS, (places - 1).bit_length())
    return np.zeros(size, np.uint64), np.full(size, -1, np.int32)
