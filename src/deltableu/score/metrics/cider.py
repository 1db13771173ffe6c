"""CIDEr and CIDEr-D (Vedantam et al. 2015): cosines of tf-idf vectors of n-grams."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError
from deltableu.score.engine.ngram_counts import NgramCounts, count_ngrams, find, sum_by
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.token_settings import NgramSettings


@dataclass(frozen=True, slots=True)
class _ReferenceVectors:
    """The n-grams of one order: their idf, and each reference's counts and norm."""

    ngrams: NgramCounts
    idf: Array
    norms: Array


@dataclass(frozen=True, slots=True)
class _References:
    orders: tuple[_ReferenceVectors, ...]
    lengths: Ints


@dataclass(frozen=True, kw_only=True)
class CIDEr(NgramSettings, SegmentMetric):
    """Mean cosine of hypothesis and references as tf-idf vectors, over references and orders.

    An n-gram weighs its count times log(items / items whose references have it); one that no
    reference has weighs as much as one that a single item has. The cosine, in [0, 1] in the paper,
    is given on 0-100 as all ratios here are; much public code multiplies by 10. A corpus scores the
    mean of its segments.

    Parameters
    ----------
    order : int
        Longest n-gram; all orders count the same.
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`. The paper's stemming is left out, as in most public code.

    Notes
    -----
    Document frequencies come from all items that were encoded, and a subset or a resampled corpus
    keeps them. With a single item every idf is log 1 = 0, and so is the score; n-grams that all
    items have never count.

    References
    ----------
    Vedantam et al. 2015, "CIDEr: Consensus-based Image Description Evaluation", Eq. 1-3.

    Examples
    --------
    >>> references = [["a cat sat", "the cat sat down"], ["two dogs ran"], ["two dogs"]]
    >>> rows = CIDEr(order=2).compute(["a cat sat", "two dogs ran", "a bird"], references)
    >>> rows.segment_scores().round(2).tolist()
    [74.64, 100.0, 0.0]
    """

    name: ClassVar[str] = "cider"
    summary: ClassVar[str] = "cosine of tf-idf weighted n-grams (Vedantam et al. 2015)"
    needs_all_items: ClassVar[bool] = True
    #: What a perfect cosine scores.
    scale: ClassVar[float] = 100.0

    def prepare(self, prepared: PreparedReferences) -> _References:
        """Document frequencies, and the references' vectors."""
        flat = prepared.flat
        tokens = self.tokenizer.hash(flat.texts)
        orders = []
        for ngrams in count_ngrams(tokens, self.order):
            width = max(ngrams.different, 1)
            documents = np.unique(flat.owners[ngrams.texts] * width + ngrams.places) % width
            frequency = np.bincount(documents, minlength=ngrams.different)
            idf = np.log(flat.info.items / frequency)
            norms = _norms(ngrams, idf[ngrams.places], len(flat.texts))
            orders.append(_ReferenceVectors(ngrams, idf, norms))
        return _References(tuple(orders), np.diff(tokens.bounds))

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        references: _References = encoded.extra
        tokens = self.hash_hypotheses(hypotheses)
        unseen = np.log(len(hypotheses))
        owners = flat.owners
        cosines = np.zeros(len(flat.texts))
        counted = count_ngrams(tokens, self.order, [one.ngrams for one in references.orders])
        for ngrams, known in zip(counted, references.orders, strict=True):
            cosines += self._cosines(ngrams, known, owners, unseen, len(hypotheses))
        cosines *= self._penalty(np.diff(tokens.bounds)[owners] - references.lengths)
        sums = sum_by(owners, cosines, len(hypotheses))
        scores: Array = self.scale * sums / (self.order * np.diff(flat.bounds))
        return scores

    def _cosines(
        self,
        ngrams: NgramCounts,
        known: _ReferenceVectors,
        owners: Ints,
        unseen: float,
        items: int,
    ) -> Array:
        """The cosine of each reference with its item's hypothesis, for one order."""
        different = known.ngrams.different
        idf = np.full(ngrams.different, unseen)
        idf[:different] = known.idf
        norms = _norms(ngrams, idf[ngrams.places], items)
        width = max(different, 1)
        shared = ngrams.places < different
        keys = ngrams.texts[shared] * width + ngrams.places[shared]
        entries = find(keys, owners[known.ngrams.texts] * width + known.ngrams.places)
        both = entries >= 0
        counts = ngrams.counts[shared][entries[both]]
        weight = known.idf[known.ngrams.places[both]]
        products = self._product(counts * weight, known.ngrams.counts[both] * weight)
        dots = sum_by(known.ngrams.texts[both], products, len(known.norms))
        scale = norms[owners] * known.norms
        return np.divide(dots, scale, out=np.zeros_like(dots), where=scale > 0.0)

    def _product(self, hypothesis: Array, reference: Array) -> Array:
        return hypothesis * reference

    def _penalty(self, difference: Ints) -> Any:
        return 1.0


@dataclass(frozen=True, kw_only=True)
class CIDErD(CIDEr):
    """CIDEr made robust to gaming: clipped counts and a penalty for other lengths, times 10.

    An n-gram of the hypothesis counts at most as often as the reference has it (in the product, not
    in the norm), and each cosine is multiplied by exp(-(difference in tokens)^2 / (2 sigma^2)). The
    factor 10 is the paper's own.

    Parameters
    ----------
    sigma : float
        Width of the length penalty, in tokens; infinity for none.
    order, tokenize, lowercase, normalize, strip_punctuation
        See `CIDEr`.

    Notes
    -----
    Counts are clipped as they are, as in the authors' code; the paper's formula divides each by the
    length of its text first. What `CIDEr` says of document frequencies holds here too.

    References
    ----------
    Vedantam et al. 2015, "CIDEr: Consensus-based Image Description Evaluation", on CIDEr-D.

    Examples
    --------
    >>> references = [["a cat sat"], ["two dogs ran"], ["birds fly"]]
    >>> rows = CIDErD(order=2).compute(["a cat sat", "two two dogs", "fish"], references)
    >>> rows.segment_scores().round(2).tolist()
    [10.0, 5.08, 0.0]
    """

    name: ClassVar[str] = "cider-d"
    summary: ClassVar[str] = "CIDEr with clipped counts and a length penalty, 0-10"
    limits: ClassVar[tuple[float, float]] = (0.0, 10.0)
    scale: ClassVar[float] = 10.0

    sigma: float = 6.0

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma, int | float) and 0.0 < self.sigma <= inf):
            raise InputError(f"sigma must be a number above 0, got {self.sigma!r}")
        super().__post_init__()

    def settings(self) -> tuple[tuple[str, str], ...]:
        order, *rest = super().settings()
        return (order, ("sigma", f"{self.sigma:.12g}"), *rest)

    def _product(self, hypothesis: Array, reference: Array) -> Array:
        return np.minimum(hypothesis, reference) * reference

    def _penalty(self, difference: Ints) -> Array:
        return np.exp(-((difference / self.sigma) ** 2) / 2.0)


def _norms(ngrams: NgramCounts, idf: Array, texts: int) -> Array:
    squares = (ngrams.counts * idf) ** 2
    return np.sqrt(sum_by(ngrams.texts, squares, texts))
