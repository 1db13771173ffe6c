"""Texts as numbers of a vocabulary, in one array."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu._types import Ints, Ints32

#: Texts that are moved at once: the places of all their numbers are in memory meanwhile.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTexts:
    """Text i is `numbers[bounds[i]:bounds[i + 1]]`.

    Examples
    --------
    >>> texts = EncodedTexts(np.array([7, 8, 9, 2], np.int32), np.array([0, 3, 3, 4]))
    >>> len(texts), texts.lengths, texts[0], texts.cut(2)[0]
    (3, array([3, 0, 1]), array([7, 8, 9], dtype=int32), array([7, 8], dtype=int32))
    >>> texts.choose(np.array([2, 0, 2])).numbers
    array([2, 7, 8, 9, 2], dtype=int32)
    """

    numbers: Ints32
    bounds: Ints

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, i: int) -> Ints32:
        return self.numbers[self.bounds[i] : self.bounds[i + 1]]

    @property
    def lengths(self) -> Ints:
        """How many numbers each text has."""
        return np.diff(self.bounds)

    def choose(self, texts: Ints) -> EncodedTexts:
        """Some of the texts, in the order given."""
        return self._taken(self.bounds[:-1][texts], self.lengths[texts])

    def cut(self, length: int) -> EncodedTexts:
        """The first `length` numbers of each text."""
        lengths = self.lengths
        if not (lengths > length).any():
            return self
        return self._taken(self.bounds[:-1], np.minimum(lengths, length))

    def _taken(self, starts: Ints, lengths: Ints) -> EncodedTexts:
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        numbers = np.empty(bounds[-1], np.int32)
        for first in range(0, len(starts), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            begin, end = bounds[first], bounds[min(first + _AT_ONCE, len(starts))]
            offsets = np.repeat(starts[part] - bounds[:-1][part], lengths[part])
            numbers[begin:end] = self.numbers[offsets + np.arange(begin, end)]
        return EncodedTexts(numbers, bounds)

    @classmethod
    def joined(cls, parts: list[EncodedTexts]) -> EncodedTexts:
        """All texts of several."""
        numbers = [np.empty(0, np.int32), *(part.numbers for part in parts)]
        lengths = [np.zeros(1, np.int64), *(part.lengths for part in parts)]
        return cls(np.concatenate(numbers), np.cumsum(np.concatenate(lengths)))
