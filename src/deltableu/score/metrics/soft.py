"""Soft pools: any sentence similarity, between the best reference and the weighted mean of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, Problem, check_share
from deltableu.score.engine.cosine import CosineSimilarity
from deltableu.score.engine.segment_metric import PreparedReferences
from deltableu.score.engine.similarity import Similarity, TableSimilarity, read_similarities
from deltableu.score.engine.soft_pool import ORIGINAL_SHARE, TAU, soft_pool, with_shares
from deltableu.score.metric import Need
from deltableu.score.metrics.chrf import ChrFSimilarity
from deltableu.score.metrics.rouge import RougeLSimilarity
from deltableu.score.metrics.similarities import SimilarityMetric
from deltableu.score.metrics.ter import TERSimilarity
from deltableu.text import Tokenize


@dataclass(frozen=True)
class Soft(SimilarityMetric):
    """The soft pool of a similarity: tau * log(sum of omega_j * exp(s(h, r_j) / tau)).

    All text is lower-cased, unless a table has the similarities. Shares omega are the weights above
    0 over their sum; a reference of weight 0 or less does not count. Where no reference is rated,
    the original counts .3 beside mined ones, which share .7 equally, and a parrot of the message
    does not count; without mined references all count alike. The system score is the mean over
    segments.

    Parameters
    ----------
    similarity : str, callable, mapping or Similarity
        `cosine`, `chrf`, `chrf++`, `rouge-l`, `ter`, `sentence-bleu`; or what `Discriminative`
        takes.
    tau : float
        How far below the best a similarity may lie and still count: near 0 the best reference
        alone counts, and with a high one the score is the weighted mean.
    original_share : float
        What the original reference counts beside mined ones.

    Examples
    --------
    >>> metric = Soft("chrf++")
    >>> encoded = metric.encode([["yes , i like it a lot", "no , i hate it"]])
    >>> round(metric.statistics(["I like it a lot"], encoded).score().score, 1)
    65.6
    """

    summary: ClassVar[str] = "any sentence similarity, between the best reference and the mean"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    #: Weights of references that nobody rated follow from their origins.
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "weights"})
    weights_optional: ClassVar[bool] = True

    tau: float = TAU
    original_share: float = ORIGINAL_SHARE

    def __post_init__(self) -> None:
        wrong = isinstance(self.tau, bool) or not isinstance(self.tau, int | float)
        if wrong or not 0.0 < self.tau < inf:
            raise InputError(f"tau must be a number above 0, got {self.tau!r}")
        check_share("original_share", self.original_share)
        super().__post_init__()

    @property
    def name(self) -> str:  # type: ignore[override]
        """`soft-` and the similarity's name."""
        return f"soft-{self.similarity.name}"

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        """The references, with shares by their origins where nobody rated them."""
        return super().prepare_references(with_shares(references, self.original_share))

    def prepare(self, prepared: PreparedReferences) -> Any:
        flat = prepared.flat
        lost = np.maximum.reduceat(flat.weights, flat.bounds[:-1]) <= 0.0
        if lost.any():
            item = prepared.references.item_name(int(np.argmax(lost)))
            more = f", and so have {lost.sum() - 1} others" if lost.sum() > 1 else ""
            message = (
                f"has no reference with a weight above 0{more}; leave such items out "
                "(--no-positive skip) or rate more references"
            )
            raise InputError(Problem(message, item=item))
        return super().prepare(prepared)

    def cased(self, texts: Sequence[str]) -> Sequence[str]:
        # A table has texts as they are.
        if isinstance(self.similarity, TableSimilarity):
            return texts
        return [text.lower() for text in texts]

    def pooled(self, similarities: Array, weights: Array, bounds: Ints) -> Array:
        return 100.0 * soft_pool(similarities, weights, bounds, self.tau)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (
            ("tau", f"{self.tau:.12g}"),
            ("average", "segments"),
            *self.similarity.settings(),
        )


@dataclass(frozen=True, kw_only=True)
class _OfItsOwn(Soft):
    """A metric that makes its similarity of other settings."""

    similarity: Any = field(default=None, init=False)


@dataclass(frozen=True, kw_only=True)
class SoftCosine(_OfItsOwn):
    """The soft pool of the cosine of sentence vectors.

    Parameters
    ----------
    tau, original_share
        See `Soft`.
    encoder : str, callable, Encoder or WordAverages
        See `CosineSimilarity`; by default WordLlama, whose weights come with its package.

    Examples
    --------
    >>> metric = SoftCosine()
    >>> encoded = metric.encode([["i love pizza", "no thanks , i am full"]])
    >>> meant = metric.statistics(["pizza is my favourite food"], encoded).score().score
    >>> meant > metric.statistics(["the train leaves at noon"], encoded).score().score
    True
    """

    summary: ClassVar[str] = "cosine of sentence vectors, between the best reference and the mean"

    encoder: Any = "wordllama"

    def _similarity(self) -> Similarity:
        return CosineSimilarity(self.encoder)


@dataclass(frozen=True, kw_only=True)
class SoftChrF(_OfItsOwn):
    """The soft pool of chrF."""

    summary: ClassVar[str] = "chrF, between the best reference and the mean"

    def _similarity(self) -> Similarity:
        return ChrFSimilarity(lowercase=True)


@dataclass(frozen=True, kw_only=True)
class SoftChrFPlusPlus(_OfItsOwn):
    """The soft pool of chrF++."""

    summary: ClassVar[str] = "chrF++, between the best reference and the mean"

    def _similarity(self) -> Similarity:
        return ChrFSimilarity(word_order=2, lowercase=True)


@dataclass(frozen=True, kw_only=True)
class SoftRougeL(_OfItsOwn):
    """The soft pool of ROUGE-L."""

    summary: ClassVar[str] = "ROUGE-L, between the best reference and the mean"

    tokenize: Tokenize = "rouge"

    def _similarity(self) -> Similarity:
        return RougeLSimilarity(tokenize=self.tokenize)


@dataclass(frozen=True, kw_only=True)
class SoftTER(_OfItsOwn):
    """The soft pool of 1 - min(TER, 1)."""

    summary: ClassVar[str] = "1 - TER, between the best reference and the mean"

    def _similarity(self) -> Similarity:
        return TERSimilarity(lowercase=True)


@dataclass(frozen=True, kw_only=True)
class SoftTable(_OfItsOwn):
    """The soft pool of similarities that were computed elsewhere."""

    summary: ClassVar[str] = "similarities from a table, between the best reference and the mean"

    table: str = ""

    def _similarity(self) -> Similarity:
        if not self.table:
            raise InputError("soft-table needs a table of similarities (table=, --table)")
        return TableSimilarity(read_similarities(self.table))
