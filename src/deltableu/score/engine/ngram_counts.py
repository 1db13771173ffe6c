"""N-grams of many texts in flat arrays: which occur, where, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Hashes, Ints
from deltableu.text import TokenArrays

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class NgramCounts:
    """Which n-gram of one order occurs how often in which text.

    Attributes
    ----------
    grams : array of uint64
        Hashes of the different n-grams, sorted.
    occurrences : array
        For every occurrence, in the order of the texts, its place among `grams`.
    starts : array
        The token at which each occurrence starts.
    texts, places, counts : arrays
        `grams[places[k]]` occurs `counts[k]` times in text `texts[k]`; sorted by text, then place.
    """

    grams: Hashes
    occurrences: Ints
    starts: Ints
    texts: Ints
    places: Ints
    counts: Ints

    @property
    def totals(self) -> Ints:
        """How often each n-gram occurs in all texts."""
        return np.bincount(self.occurrences, minlength=len(self.grams))


def count_ngrams(tokens: TokenArrays, order: int) -> Iterator[NgramCounts]:
    """The n-grams of all texts, from unigrams up to `order`.

    Examples
    --------
    >>> from deltableu.text import Tokenizer
    >>> unigrams, bigrams = count_ngrams(Tokenizer("none").hash(["a b a", "b"]), 2)
    >>> sorted(unigrams.totals.tolist()), bigrams.totals.tolist(), bigrams.texts.tolist()
    ([2, 2], [1, 1], [0, 0])
    """
    lengths = np.diff(tokens.bounds)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    room = np.repeat(tokens.bounds[1:], lengths) - np.arange(len(tokens.hashes))
    hashes = np.zeros(len(tokens.hashes), dtype=np.uint64)
    for n in range(1, order + 1):
        starts = np.flatnonzero(room >= n)
        # The first n - 1 tokens and the last, mixed as the kernels do it; products wrap around.
        mixed = (hashes[starts] + tokens.hashes[starts + n - 1]) * _MULTIPLIER
        hashes[starts] = mixed ^ (mixed >> np.uint64(32))
        grams, occurrences = np.unique(hashes[starts], return_inverse=True)
        width = max(len(grams), 1)
        keys, counts = np.unique(texts[starts] * width + occurrences, return_counts=True)
        yield NgramCounts(grams, occurrences, starts, keys // width, keys % width, counts)


def find(values: Any, wanted: Any) -> Ints:
    """The place of each wanted value among sorted ones, -1 where it is not there.

    Examples
    --------
    >>> find(np.array([2, 5, 7]), np.array([7, 4, 9])).tolist()
    [2, -1, -1]
    """
    if len(values) == 0:
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[places] == wanted, places, -1)


def sum_by(places: Ints, values: Any, size: int) -> Array:
    """Sums of the values that belong to the same place.

    Examples
    --------
    >>> sum_by(np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [1.0, 0.0, 5.0, 0.0]
    """
    sums: Any = np.bincount(places, weights=values, minlength=size)
    return np.asarray(sums, dtype=np.float64)
