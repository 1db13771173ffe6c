"""A trigram language model with modified Kneser-Ney smoothing: a yard-stick for responders.

It foresees a response word by word and never sees the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.neural import EncodedTexts

__all__ = ["KneserNey", "fit_kneser_ney"]

Discounts = tuple[float, float, float]

#: What texts end with, as vocabularies number it.
END = 0
ORDER = 3


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """N-grams of one length: keys of what is counted, and of what it follows.

    Attributes
    ----------
    grams, counts : array
        Sorted keys, and counts (of different words before, but for the longest).
    histories, totals, left : array
        Sorted keys of all but the last words, the sum of counts, and the share that discounts
        leave to shorter n-grams.
    discounts : tuple of float
        For n-grams counted once, twice, and more often.
    """

    grams: Ints
    counts: Ints
    histories: Ints
    totals: Ints
    left: Array
    discounts: Discounts

    @classmethod
    def of(cls, grams: Ints, counts: Ints, base: int, discounts: Discounts | None) -> _Level:
        found = _discounts(counts) if discounts is None else discounts
        histories, owners = np.unique(grams // base, return_inverse=True)
        totals = np.bincount(owners, counts).astype(np.int64)
        taken = np.bincount(owners, _taken(counts, found))
        return cls(grams, counts, histories, totals, taken / totals, found)

    def refine(self, shorter: Array, grams: Ints, base: int) -> Array:
        """Probabilities of n-grams, from those of the n-grams without their first words."""
        at = np.minimum(np.searchsorted(self.histories, grams // base), len(self.histories) - 1)
        known = self.histories[at] == grams // base
        place = np.minimum(np.searchsorted(self.grams, grams), len(self.grams) - 1)
        seen = self.grams[place] == grams
        counts = np.where(seen, self.counts[place], 0)
        own = (counts - _taken(counts, self.discounts)) / self.totals[at]
        found: Array = np.where(known, own + self.left[at] * shorter, shorter)
        return found


def _taken(counts: Any, discounts: Discounts) -> Array:
    found: Array = np.array([0.0, *discounts])[np.minimum(counts, 3)]
    return found


def _discounts(counts: Ints) -> Discounts:
    """D1, D2, D3+ (Chen and Goodman 1999, equation 26)."""
    once, twice, thrice, often = (max(int((counts == n).sum()), 1) for n in (1, 2, 3, 4))
    share = once / (once + 2.0 * twice)
    found = (
        1.0 - 2.0 * share * twice / once,
        2.0 - 3.0 * share * thrice / twice,
        3.0 - 4.0 * share * often / thrice,
    )
    one, two, three = (min(max(own, 0.0), float(n)) for n, own in enumerate(found, start=1))
    return one, two, three


@dataclass(frozen=True, slots=True, eq=False)
class KneserNey:
    """Interpolated, modified Kneser-Ney (Chen and Goodman 1999), order 3.

    A text begins after two symbols that are never foreseen and ends with one that is; single words
    are interpolated with the uniform distribution over the vocabulary and the end.
    """

    vocabulary: int
    levels: tuple[_Level, ...]

    def probabilities(self, texts: EncodedTexts) -> Array:
        """Of each word and end of each text, after the words before."""
        base = self.vocabulary + 1
        grams = _grams(texts, base)
        found: Array = np.full(len(grams), 1.0 / self.vocabulary)
        for order, level in enumerate(self.levels, start=1):
            found = level.refine(found, grams % base**order, base)
        return found

    def perplexity(self, texts: EncodedTexts) -> float:
        """e to the mean of minus the log-probability of words and ends; infinite where one is 0."""
        with np.errstate(divide="ignore"):
            return float(np.exp(-np.log(self.probabilities(texts)).mean()))


def _grams(texts: EncodedTexts, base: int) -> Ints:
    """A key for each word and end of each text, with the two before it."""
    padding = np.full(ORDER - 1, base - 1)
    keys = [np.zeros(0, np.int64)]
    for number in range(len(texts)):
        row = np.concatenate((padding, texts[number], [END])).astype(np.int64)
        keys.append((row[:-2] * base + row[1:-1]) * base + row[2:])
    return np.concatenate(keys)


def fit_kneser_ney(
    texts: EncodedTexts, vocabulary: int, discounts: Sequence[Discounts] | None = None
) -> KneserNey:
    """Count the n-grams of texts.

    Parameters
    ----------
    texts : EncodedTexts
    vocabulary : int
        Its size, with the end (0) and the unknown word (1).
    discounts : sequence, optional
        For lengths 1, 2 and 3; estimated from the counts by default.
    """
    base = vocabulary + 1
    grams, counts = np.unique(_grams(texts, base), return_counts=True)
    levels = []
    for order in range(ORDER, 0, -1):
        own = None if discounts is None else discounts[order - 1]
        levels.append(_Level.of(grams, counts, base, own))
        # Different words before, each of which is one n-gram of this length.
        grams, counts = np.unique(grams % base ** (order - 1), return_counts=True)
    return KneserNey(vocabulary, tuple(reversed(levels)))
