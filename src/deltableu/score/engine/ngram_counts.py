"""N-grams of many texts in flat arrays: which occur, where, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from deltableu._types import Array, Ints, Keys
from deltableu.text import TokenArrays, WordNumbers, empty_keys, pair_keys


@dataclass(frozen=True, slots=True, eq=False)
class NgramCounts:
    """Which n-gram of one order occurs how often in which text.

    Attributes
    ----------
    numbers : WordNumbers
        The numbers of n-grams: of unigrams by their keys, of longer ones by the numbers of their
        first n - 1 tokens and of their last one. Hence equal numbers are equal n-grams.
    different : int
        One more than the largest number there is.
    occurrences : array
        For every occurrence, in the order of the texts, the number of the n-gram.
    starts : array
        The token at which each occurrence starts.
    firsts : array
        Where each n-gram that was counted here occurs first.
    texts, places, counts : arrays
        N-gram `places[k]` occurs `counts[k]` times in text `texts[k]`; sorted by text, then place.
    """

    numbers: WordNumbers
    different: int
    occurrences: Ints
    starts: Ints
    firsts: Ints
    texts: Ints
    places: Ints
    counts: Ints

    @property
    def totals(self) -> Ints:
        """How often each n-gram occurs in all texts."""
        return np.bincount(self.occurrences, minlength=self.different)


def count_ngrams(
    tokens: TokenArrays, order: int, known: Sequence[NgramCounts] = ()
) -> Iterator[NgramCounts]:
    """The n-grams of all texts, from unigrams up to `order`.

    Those that are among the `known` ones of other texts have the numbers that they have there, and
    new ones come after them.

    Examples
    --------
    >>> from deltableu.text import Tokenizer
    >>> unigrams, bigrams = count_ngrams(Tokenizer("none").hash(["a b a", "b"]), 2)
    >>> unigrams.totals.tolist(), bigrams.totals.tolist(), bigrams.texts.tolist()
    ([2, 2], [1, 1], [0, 0])
    >>> (others,) = count_ngrams(Tokenizer("none").hash(["c b"]), 1, [unigrams])
    >>> others.occurrences.tolist(), others.different
    ([2, 1], 3)
    """
    lengths = np.diff(tokens.bounds)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    room = np.repeat(tokens.bounds[1:], lengths) - np.arange(len(tokens.keys))
    keys = tokens.keys
    own = grams = np.zeros(0, dtype=np.int64)
    for n, before in zip(range(1, order + 1), known or repeat(None), strict=False):
        starts = np.flatnonzero(room >= n)
        if n > 1:
            keys = pair_keys(grams[starts], own[starts + n - 1])
        table = WordNumbers.of(empty_keys(0)) if before is None else before.numbers
        occurrences, firsts, different = _numbered(keys, table, add=before is None)
        if n == 1:
            own = occurrences
        grams = np.zeros(len(tokens.keys), dtype=np.int64)
        grams[starts] = occurrences
        width = max(different, 1)
        pairs, counts = np.unique(texts[starts] * width + occurrences, return_counts=True)
        yield NgramCounts(
            table,
            different,
            occurrences,
            starts,
            starts[firsts],
            pairs // width,
            pairs % width,
            counts,
        )


def _numbered(keys: Keys, table: WordNumbers, *, add: bool) -> tuple[Ints, Ints, int]:
    """Numbers of keys, the places of those that are new, and how many numbers there are."""
    if add:
        found, firsts = table.add(keys)
        return found.astype(np.int64), firsts, table.size
    numbers = table.find(keys).astype(np.int64)
    (unknown,) = np.nonzero(numbers < 0)
    more = WordNumbers.of(empty_keys(0))
    found, firsts = more.add(keys[unknown])
    numbers[unknown] = table.size + found
    return numbers, unknown[firsts], table.size + more.size


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
