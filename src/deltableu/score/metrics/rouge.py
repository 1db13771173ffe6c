"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): F1 with the best reference, averaged over segments."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score.engine.overlap import common_subsequences, ngram_counts, shared_ngrams
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.similarity import Similarity
from deltableu.text import Tokenize, Tokenizer

__all__ = ["Rouge1", "Rouge2", "RougeL", "RougeLSimilarity", "rouge_l", "rouge_n"]


_NO_WORD = re.compile(r"[^a-z0-9]+")


def rouge_words(text: str) -> str:
    """Lower-case letters and digits of ASCII; all else separates words, as ROUGE has it."""
    return _NO_WORD.sub(" ", text.lower())


def rouge_tokenizer(tokenize: Tokenize) -> Tokenizer:
    """`rouge`, or any tokenizer of the project (ROUGE's own sees nothing but ASCII)."""
    return Tokenizer(rouge_words if tokenize == "rouge" else tokenize)


def _tokenizer_name(tokenize: Tokenize) -> str:
    return "rouge" if tokenize == "rouge" else rouge_tokenizer(tokenize).name


def rouge_n(
    hypotheses: Sequence[str],
    references: Sequence[str],
    owners: Ints,
    order: int,
    tokenizer: Tokenizer,
) -> Array:
    """F1 of the shared n-grams of each pair, 0-1."""
    own, other = tokenizer.hash(hypotheses), tokenizer.hash(references)
    shared = shared_ngrams(own, other, owners, order)[:, -1]
    return _f1(
        shared, ngram_counts(own, order)[owners, order - 1], ngram_counts(other, order)[:, -1]
    )


def rouge_l(
    hypotheses: Sequence[str], references: Sequence[str], owners: Ints, tokenizer: Tokenizer
) -> Array:
    """F1 of the longest common subsequence of each pair, 0-1."""
    own, other = tokenizer.hash(hypotheses), tokenizer.hash(references)
    return _f1(
        common_subsequences(own, other, owners),
        np.diff(own.bounds)[owners],
        np.diff(other.bounds),
    )


def _f1(shared: Ints, own: Ints, other: Ints) -> Array:
    both = (own > 0) & (other > 0)
    f1: Array = np.divide(2.0 * shared, own + other, out=np.zeros(len(shared)), where=both)
    return f1


@dataclass(frozen=True, kw_only=True)
class _Rouge(SegmentMetric):
    tokenize: Tokenize = "rouge"

    def __post_init__(self) -> None:
        rouge_tokenizer(self.tokenize)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        pairs = self._pairs(hypotheses, flat.texts, flat.owners)
        return 100.0 * np.maximum.reduceat(pairs, flat.bounds[:-1])

    @abstractmethod
    def _pairs(self, hypotheses: list[str], references: list[str], owners: Ints) -> Array:
        """F1 of each pair."""

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("f", "1"), ("multi", "best"), ("tok", _tokenizer_name(self.tokenize)))


@dataclass(frozen=True, kw_only=True)
class Rouge1(_Rouge):
    """F1 of shared words with the best reference.

    References
    ----------
    Lin 2004, "ROUGE: a package for automatic evaluation of summaries".

    Examples
    --------
    >>> Rouge1().compute(["the cat sat"], [["a cat sat down"]]).score().score
    57.14285714285714
    """

    name: ClassVar[str] = "rouge-1"
    summary: ClassVar[str] = "F1 of shared words (Lin 2004)"
    n: ClassVar[int] = 1

    def _pairs(self, hypotheses: list[str], references: list[str], owners: Ints) -> Array:
        return rouge_n(hypotheses, references, owners, self.n, rouge_tokenizer(self.tokenize))


@dataclass(frozen=True, kw_only=True)
class Rouge2(Rouge1):
    """F1 of shared word bigrams with the best reference (Lin 2004)."""

    name: ClassVar[str] = "rouge-2"
    summary: ClassVar[str] = "F1 of shared word bigrams (Lin 2004)"
    n: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class RougeL(_Rouge):
    """F1 of the longest common subsequence with the best reference (Lin 2004)."""

    name: ClassVar[str] = "rouge-l"
    summary: ClassVar[str] = "F1 of the longest common subsequence (Lin 2004)"

    def _pairs(self, hypotheses: list[str], references: list[str], owners: Ints) -> Array:
        return rouge_l(hypotheses, references, owners, rouge_tokenizer(self.tokenize))


@dataclass(frozen=True)
class RougeLSimilarity(Similarity):
    """F1 of the longest common subsequence."""

    tokenize: Tokenize = "rouge"

    @property
    def name(self) -> str:
        return "rouge-l"

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        return rouge_l(hypotheses, references, owners, rouge_tokenizer(self.tokenize))

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("tok", _tokenizer_name(self.tokenize)),)
