"""chrF and chrF++ (Popović 2015, 2017), as sacreBLEU counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError
from deltableu.score.engine.overlap import ngram_counts, shared_ngrams
from deltableu.score.engine.segment_metric import PreparedReferences, ReferenceMetric
from deltableu.score.engine.similarity import Similarity
from deltableu.text import TokenArrays, characters, chrf_words


def chrf_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str],
    owners: Ints,
    char_order: int,
    word_order: int,
    lowercase: bool = False,
) -> Array:
    """A row a pair: n-grams of the hypothesis, of the reference, and shared, order by order."""
    if lowercase:
        hypotheses = [text.lower() for text in hypotheses]
        references = [text.lower() for text in references]
    kinds = [(characters(hypotheses), characters(references), char_order)]
    if word_order:
        kinds.append((chrf_words(hypotheses), chrf_words(references), word_order))
    return chrf_counts(kinds, owners)


def chrf_counts(
    kinds: Sequence[tuple[TokenArrays, TokenArrays, int]], owners: Ints, chosen: Ints | None = None
) -> Array:
    """The same of characters and words: those of hypotheses, those of references, and the order.

    Pair j is of hypothesis owners[j] and reference chosen[j], by default reference j.
    """
    parts = [_counts(own, other, owners, order, chosen) for own, other, order in kinds]
    columns = 3 * sum(order for _, _, order in kinds)
    return np.concatenate(parts, axis=1).reshape(len(owners), columns).astype(np.float64)


def _counts(
    own: TokenArrays, other: TokenArrays, owners: Ints, order: int, chosen: Ints | None
) -> Ints:
    theirs = ngram_counts(other, order)
    theirs = theirs if chosen is None else theirs[chosen]
    # sacreBLEU counts no n-grams of an order that the reference has none of.
    ours = np.where(theirs > 0, ngram_counts(own, order)[owners], 0)
    return np.stack((ours, theirs, shared_ngrams(own, other, owners, order, chosen)), axis=2)


def chrf_score(statistics: Array, beta: float) -> Array:
    """F-score of the mean precision and recall over the orders that both sides have, 0-100."""
    shape = statistics.shape[:-1]
    precision, recall, orders = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for at in range(0, statistics.shape[-1], 3):
        own, other, shared = (statistics[..., at + k] for k in range(3))
        both = (own > 0) & (other > 0)
        precision = precision + np.divide(shared, own, out=np.zeros(shape), where=both)
        recall = recall + np.divide(shared, other, out=np.zeros(shape), where=both)
        orders = orders + both
    orders = np.maximum(orders, 1)
    precision, recall = precision / orders, recall / orders
    factor = beta**2
    total = factor * precision + recall
    return 100.0 * np.divide(
        (1 + factor) * precision * recall, total, out=np.zeros(shape), where=total > 0
    )


@dataclass(frozen=True, kw_only=True)
class ChrFSimilarity(Similarity):
    """chrF of a hypothesis and one reference; with `word_order=2` chrF++."""

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    lowercase: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.char_order, int) and isinstance(self.word_order, int)
        if not whole or self.char_order < 1 or self.word_order < 0:
            raise InputError("char_order is a whole number from 1 on, word_order from 0 on")
        if not (isinstance(self.beta, int | float) and 0.0 < self.beta < inf):
            raise InputError(f"beta must be a number above 0, got {self.beta!r}")

    @property
    def name(self) -> str:
        return "chrf" + "+" * self.word_order

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        return chrf_score(self.counts(hypotheses, references, owners), self.beta) / 100.0

    def counts(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        """What the similarity of each pair is computed from, see `chrf_statistics`."""
        return chrf_statistics(
            hypotheses, references, owners, self.char_order, self.word_order, self.lowercase
        )

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (
            ("nc", str(self.char_order)),
            ("nw", str(self.word_order)),
            ("beta", f"{self.beta:.12g}"),
            ("case", "lower" if self.lowercase else "mixed"),
        )


@dataclass(frozen=True, kw_only=True)
class ChrF(ChrFSimilarity, ReferenceMetric):
    """Character n-gram F-score; with several references the best one of each segment counts.

    Parameters
    ----------
    char_order, word_order : int
        Longest n-grams of characters (white space left out) and of words.
    beta : float
        Recall counts beta times as much as precision.
    lowercase : bool

    References
    ----------
    Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation".

    Examples
    --------
    >>> rows = ChrF().compute(["the cat sat"], [["the cat sat down", "a cat"]])
    >>> round(rows.score().score, 2)
    66.02
    """

    name: ClassVar[str] = "chrf"
    summary: ClassVar[str] = "character n-gram F-score (Popović 2015)"

    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        pairs = self.counts(hypotheses, flat.texts, flat.owners)
        scores = chrf_score(pairs, self.beta)
        starts = flat.bounds[:-1]
        best = np.maximum.reduceat(scores, starts)
        # The first of equally good references, as sacreBLEU takes it.
        positions = np.where(scores == best[flat.owners], np.arange(len(scores)), len(scores))
        return pairs[np.minimum.reduceat(positions, starts)]

    def aggregate(self, sums: Array) -> Array:
        return chrf_score(sums, self.beta)


@dataclass(frozen=True, kw_only=True)
class ChrFPlusPlus(ChrF):
    """chrF with words and word bigrams (Popović 2017)."""

    name: ClassVar[str] = "chrf++"
    summary: ClassVar[str] = "chrF with words and word bigrams (Popović 2017)"

    word_order: int = 2
