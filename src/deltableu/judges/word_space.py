"""Words of texts as numbers, how rare each is, and its vector; what pairs of texts share of them.

Two F-scores of a text h and a text r, both weighted by rarity (idf): of the words that they share,
and of how near each word is to the other text's nearest (greedy alignment, as BERTScore has it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints, Ints32, Singles
from deltableu.text import Encoder, Texts, WordAverages, WordVectors

_kernel = _kernels.load("judges._alignment")

#: Words whose nearness to a text is remembered at once.
_KEPT = 4096
_EIGHT = 8


class WordSource(Protocol):
    """What has vectors of words."""

    def __call__(self, words: Sequence[str]) -> Array | Singles:
        """A row a word, of length 1; zeros for a word without a vector."""


@dataclass(frozen=True, slots=True, eq=False)
class OfEncoder:
    """A word's vector is that of a text of this word alone."""

    source: Encoder | WordAverages

    def __call__(self, words: Sequence[str]) -> Array:
        return np.asarray(self.source.vectors(Texts.of(list(words))))


@dataclass(frozen=True, slots=True, eq=False)
class OfTable:
    """Word vectors as a file has them."""

    vectors: WordVectors

    def __call__(self, words: Sequence[str]) -> Singles:
        found = np.zeros((len(words), self.vectors.dimension), np.float32)
        known = [(n, self.vectors.rows[one]) for n, one in enumerate(words) if one in self.rows]
        if known:
            places, rows = map(list, zip(*known, strict=True))
            found[places] = self.vectors.matrix32[rows]
        return found

    @property
    def rows(self) -> Mapping[str, int]:
        return self.vectors.rows


@dataclass(frozen=True, slots=True, eq=False)
class WordTexts:
    """Texts as numbers of words; text i has `words[bounds[i]:bounds[i + 1]]`."""

    words: Ints32
    bounds: Ints


@dataclass(frozen=True, slots=True, eq=False)
class WordSpace:
    """Words that are known so far, with their rarity and vectors.

    Attributes
    ----------
    source : WordSource
    texts : int
        How many references words were counted in.
    frequencies : mapping
        In how many of them each word is.
    numbers : mapping
        The number of each word that is known.
    rarity : array
        log((N + 1) / (d + 1)), where d of N references have the word.
    vectors : array
    """

    source: WordSource
    texts: int
    frequencies: Mapping[str, int]
    numbers: Mapping[str, int]
    rarity: Array
    vectors: Singles

    @classmethod
    def of(cls, references: Sequence[Sequence[str]], source: WordSource) -> WordSpace:
        """The words of references, each of which counts once in a reference."""
        frequencies: Counter[str] = Counter()
        for words in references:
            frequencies.update(set(words))
        empty = np.zeros((0, 0), np.float32)
        found = cls(source, len(references), frequencies, {}, np.zeros(0), empty)
        return found.with_words(frequencies)

    def with_words(self, words: Iterable[str]) -> WordSpace:
        """The same, with words that may be new."""
        new = [word for word in dict.fromkeys(words) if word not in self.numbers]
        if not new:
            return self
        first = len(self.numbers)
        rarity = [log((self.texts + 1) / (self.frequencies.get(word, 0) + 1)) for word in new]
        vectors = np.asarray(self.source(new), np.float32)
        known = self.vectors if first else np.zeros((0, vectors.shape[1]), np.float32)
        return WordSpace(
            self.source,
            self.texts,
            self.frequencies,
            {**self.numbers, **{word: first + n for n, word in enumerate(new)}},
            np.concatenate((self.rarity, rarity)),
            np.ascontiguousarray(np.concatenate((known, vectors))),
        )

    def numbered(self, texts: Sequence[Sequence[str]]) -> WordTexts:
        """Texts whose words are all known."""
        sizes = [len(words) for words in texts]
        flat = (self.numbers[word] for words in texts for word in words)
        bounds = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return WordTexts(np.fromiter(flat, np.int32, int(bounds[-1])), bounds)

    def compare(
        self, own: WordTexts, other: WordTexts, owners: Ints, chosen: Ints
    ) -> tuple[Array, Array]:
        """F of shared words and of alignment, of texts owners[j] and chosen[j].

        The pairs of one own text should stand together, which makes it fast.
        """
        masses = self._masses(own, other, owners, chosen)
        ours = self._mass(own)[owners]
        theirs = self._mass(other)[chosen]
        shared = _f_score(masses[:, 0], masses[:, 0], ours, theirs)
        return shared, _f_score(masses[:, 1], masses[:, 2], ours, theirs)

    def _mass(self, texts: WordTexts) -> Array:
        sizes = np.diff(texts.bounds)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        weights = self.rarity[texts.words]
        return np.bincount(owners, weights=weights, minlength=len(sizes)).astype(np.float64)

    def _masses(self, own: WordTexts, other: WordTexts, owners: Ints, chosen: Ints) -> Array:
        masses = np.zeros((len(owners), 3))
        if not len(self.numbers):
            return masses
        longest = int(np.diff(own.bounds).max(initial=0))
        blocks = -(-longest // _EIGHT)
        words, dimension = self.vectors.shape
        _kernel.compare_words(
            own.words, own.bounds, other.words, other.bounds,
            np.ascontiguousarray(owners), np.ascontiguousarray(chosen),
            self.rarity, self.vectors,
            np.empty((max(blocks, 1), dimension, _EIGHT), np.float32),
            np.empty((min(_KEPT, words), max(blocks, 1) * _EIGHT), np.float32),
            np.zeros(words, np.int64), np.full(words, -1, np.int64),
            np.empty(longest + 1), np.empty(longest + 1, np.int64),
            masses,
        )  # fmt: skip
        return masses


def _f_score(precise: Array, recalled: Array, ours: Array, theirs: Array) -> Array:
    """The harmonic mean of precise / ours and recalled / theirs; 0 where either is 0."""
    precision = np.divide(precise, ours, out=np.zeros(len(ours)), where=ours > 0.0)
    recall = np.divide(recalled, theirs, out=np.zeros(len(ours)), where=theirs > 0.0)
    total = precision + recall
    twice = 2.0 * precision * recall
    found: Array = np.divide(twice, total, out=np.zeros(len(ours)), where=total > 0.0)
    return found
