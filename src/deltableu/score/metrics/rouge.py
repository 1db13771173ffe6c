"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): F1 with the best reference, averaged over segments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score.engine.overlap import common_subsequences, ngram_counts, shared_ngrams
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.similarity import Similarity
from deltableu.text import Tokenize, Tokenizer

_NO_WORD = re.compile(r"[^a-z0-9]+")


def rouge_words(text: str) -> str:
    """Lower-case letters and digits of ASCII; all else separates words, as ROUGE has it."""
    return _NO_WORD.sub(" ", text.lower())


def rouge_tokenizer(tokenize: Tokenize) -> Tokenizer:
    """`rouge`, or any tokenizer of the project (ROUGE's own sees nothing but ASCII)."""
    return Tokenizer(rouge_words if tokenize == "rouge" else tokenize)


@dataclass(frozen=True, kw_only=True)
class RougeLSimilarity(Similarity):
    """F1 of the longest common subsequence."""

    #: The length of the n-grams that are shared; None for subsequences.
    n: ClassVar[int | None] = None

    tokenize: Tokenize = "rouge"

    def __post_init__(self) -> None:
        rouge_tokenizer(self.tokenize)

    @property
    def name(self) -> str:
        return "rouge-l"

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        tokenizer = rouge_tokenizer(self.tokenize)
        own, other = tokenizer.hash(hypotheses), tokenizer.hash(references)
        if self.n is None:
            shared = common_subsequences(own, other, owners)
        else:
            shared = shared_ngrams(own, other, owners, self.n)[:, -1]
        ours, theirs = (ngram_counts(one, self.n or 1)[:, -1] for one in (own, other))
        ours = ours[owners]
        both = (ours > 0) & (theirs > 0)
        f1: Array = np.divide(2.0 * shared, ours + theirs, np.zeros(len(shared)), where=both)
        return f1

    def settings(self) -> tuple[tuple[str, str], ...]:
        own = self.tokenize == "rouge"
        return (("tok", "rouge" if own else rouge_tokenizer(self.tokenize).name),)


@dataclass(frozen=True, kw_only=True)
class RougeL(RougeLSimilarity, SegmentMetric):
    """F1 of the longest common subsequence with the best reference (Lin 2004)."""

    name: ClassVar[str] = "rouge-l"
    summary: ClassVar[str] = "F1 of the longest common subsequence (Lin 2004)"

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        pairs = self.pairs(hypotheses, flat.texts, flat.owners)
        return 100.0 * np.maximum.reduceat(pairs, flat.bounds[:-1])

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("f", "1"), ("multi", "best"), *super().settings())


@dataclass(frozen=True, kw_only=True)
class Rouge1(RougeL):
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
    n: ClassVar[int | None] = 1


@dataclass(frozen=True, kw_only=True)
class Rouge2(RougeL):
    """F1 of shared word bigrams with the best reference (Lin 2004)."""

    name: ClassVar[str] = "rouge-2"
    summary: ClassVar[str] = "F1 of shared word bigrams (Lin 2004)"
    n: ClassVar[int | None] = 2
