"""Any sentence similarity with the weights of the references: good ones earn, bad ones cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, check_choice, hint_at
from deltableu.score.engine.chunks import flat_references
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.similarity import (
    FunctionSimilarity,
    Similarity,
    TableSimilarity,
    VectorSimilarity,
    read_similarities,
)
from deltableu.score.metric import Need
from deltableu.score.metrics.chrf import ChrFSimilarity
from deltableu.score.metrics.rouge import RougeLSimilarity
from deltableu.score.metrics.ter import TERSimilarity
from deltableu.text import Tokenize

Pool = Literal["mean", "best"]


def pool_mean(similarities: Array, weights: Array, bounds: Ints) -> Array:
    """Mean of w*s over good references minus mean of |w|*s over bad ones; an empty pool is 0."""
    starts = bounds[:-1]
    weighted = weights * similarities

    def mean(chosen: Any) -> Array:
        total = np.add.reduceat(np.where(chosen, weighted, 0.0), starts)
        result: Array = total / np.maximum(np.add.reduceat(chosen, starts, dtype=np.int64), 1)
        return result

    # Bad references have negative weights: their mean is the penalty already.
    return mean(weights > 0) + mean(weights < 0)


def pool_best(similarities: Array, weights: Array, bounds: Ints) -> Array:
    """Best w*s of the good minus best |w|*s of the bad references, over the largest |w|."""
    starts = bounds[:-1]
    weighted = weights * similarities
    good = np.maximum.reduceat(np.maximum(weighted, 0.0), starts)
    bad = np.minimum.reduceat(np.minimum(weighted, 0.0), starts)
    largest = np.maximum.reduceat(np.abs(weights), starts)
    result: Array = np.divide(good + bad, largest, out=np.zeros(len(starts)), where=largest > 0)
    return result


_BY_NAME: dict[str, Callable[[], Similarity]] = {
    "chrf": ChrFSimilarity,
    "chrf++": lambda: ChrFSimilarity(word_order=2),
    "rouge-l": RougeLSimilarity,
    "ter": TERSimilarity,
}


def as_similarity(given: Any) -> Similarity:
    """A similarity by name, as it is, or from a function or a table."""
    if isinstance(given, Similarity):
        return given
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise InputError(
                f"unknown similarity {given!r}; choose from {', '.join(_BY_NAME)}, or give a "
                f"function, a table or a Similarity{hint_at(given, _BY_NAME)}"
            )
        return _BY_NAME[given]()
    if isinstance(given, Mapping):
        return TableSimilarity(given)
    if callable(given):
        return FunctionSimilarity(given)
    raise InputError(f"a similarity is a name, a function or a table, got {given!r}")


@dataclass(frozen=True)
class Discriminative(SegmentMetric):
    """A sentence similarity made discriminative by reference weights.

    References with a positive weight are the good pool, those with a negative weight the bad
    pool; weight 0 is ignored. With all weights 1 the score is the plain mean (or best) over
    references. The system score is the mean over segments: with chrF it is not sacreBLEU's
    corpus chrF, and the signature says so.

    Parameters
    ----------
    similarity : str, callable, mapping or Similarity
        `chrf`, `chrf++`, `rouge-l`, `ter`; a function of hypothesis and reference with values in
        [0, 1]; or a table from (hypothesis, reference) to such values.
    pool : {"mean", "best"}

    Examples
    --------
    >>> metric = Discriminative("chrf++")
    >>> references = [["yes , I like it a lot", "no , I hate it"]]
    >>> encoded = metric.encode(references, [[1.0, -1.0]])
    >>> metric.statistics(["I like it a lot"], encoded).score().score > 0
    True
    >>> metric.statistics(["I hate it"], encoded).score().score < 0
    True
    """

    summary: ClassVar[str] = "any sentence similarity, weighted by good and bad references"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "weights"})

    similarity: Any
    pool: Pool = "mean"

    def __post_init__(self) -> None:
        check_choice("pool", self.pool, ("mean", "best"))
        object.__setattr__(self, "similarity", as_similarity(self._similarity()))

    @property
    def name(self) -> str:  # type: ignore[override]
        """`delta-` and the similarity's name."""
        return f"delta-{self.similarity.name}"

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        similarities = self.similarity.pairs(hypotheses, flat.texts, flat.owners)
        return self.pooled(similarities, flat.weights, flat.bounds)

    def pooled(self, similarities: Array, weights: Array, bounds: Ints) -> Array:
        """The score of each item, from its references' similarities and weights."""
        pool = pool_mean if self.pool == "mean" else pool_best
        return 100.0 * pool(similarities, weights, bounds)

    def reweighting(
        self, references: ReferenceSet, outputs: Sequence[Sequence[str]]
    ) -> SimilarityReweighting:
        flat = flat_references(references, weighted=True)
        pairs = [self.similarity.pairs(texts, flat.texts, flat.owners) for texts in outputs]
        return SimilarityReweighting(self, flat.bounds, tuple(pairs))

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("pool", self.pool), ("average", "segments"), *self.similarity.settings())

    def _similarity(self) -> Any:
        return self.similarity


@dataclass(frozen=True, eq=False)
class SimilarityReweighting(Reweighting):
    """Discriminative metrics: similarities do not depend on the weights."""

    metric: Discriminative
    bounds: Ints
    similarities: tuple[Array, ...]  # one array a system

    @property
    def size(self) -> int:  # type: ignore[override]
        return 2 * len(self.bounds) * len(self.similarities) + 4 * int(self.bounds[-1])

    def rows(self, weights: Array) -> Array:
        rows = np.ones((len(weights), len(self.bounds) - 1, len(self.similarities), 2))
        for vector, given in enumerate(weights):
            for system, similarities in enumerate(self.similarities):
                rows[vector, :, system, 0] = self.metric.pooled(similarities, given, self.bounds)
        return rows


@dataclass(frozen=True, kw_only=True)
class _OfItsOwn(Discriminative):
    """A metric that makes its similarity of other settings."""

    similarity: Any = field(default=None, init=False)


@dataclass(frozen=True, kw_only=True)
class DeltaChrF(_OfItsOwn):
    """Discriminative chrF."""

    summary: ClassVar[str] = "chrF weighted by good and bad references"

    lowercase: bool = False

    def _similarity(self) -> Similarity:
        return ChrFSimilarity(lowercase=self.lowercase)


@dataclass(frozen=True, kw_only=True)
class DeltaChrFPlusPlus(DeltaChrF):
    """Discriminative chrF++."""

    summary: ClassVar[str] = "chrF++ weighted by good and bad references"

    def _similarity(self) -> Similarity:
        return ChrFSimilarity(word_order=2, lowercase=self.lowercase)


@dataclass(frozen=True, kw_only=True)
class DeltaRougeL(_OfItsOwn):
    """Discriminative ROUGE-L."""

    summary: ClassVar[str] = "ROUGE-L weighted by good and bad references"

    tokenize: Tokenize = "rouge"

    def _similarity(self) -> Similarity:
        return RougeLSimilarity(tokenize=self.tokenize)


@dataclass(frozen=True, kw_only=True)
class DeltaTER(_OfItsOwn):
    """Discriminative TER: 1 - min(TER, 1) is the similarity."""

    summary: ClassVar[str] = "1 - TER weighted by good and bad references"

    lowercase: bool = True

    def _similarity(self) -> Similarity:
        return TERSimilarity(lowercase=self.lowercase)


@dataclass(frozen=True, kw_only=True)
class DeltaVectors(_OfItsOwn):
    """Discriminative cosine of averaged word vectors."""

    summary: ClassVar[str] = "word-vector cosine weighted by good and bad references"

    vectors: str = ""
    tokenize: Tokenize = "13a"
    lowercase: bool = True

    def _similarity(self) -> Similarity:
        if not self.vectors:
            raise InputError("delta-vectors needs a file of word vectors (vectors=, --vectors)")
        return VectorSimilarity(self.vectors, self.tokenize, self.lowercase)


@dataclass(frozen=True, kw_only=True)
class DeltaTable(_OfItsOwn):
    """Discriminative similarities that were computed elsewhere."""

    summary: ClassVar[str] = "similarities from a table, weighted by good and bad references"

    table: str = ""

    def _similarity(self) -> Similarity:
        if not self.table:
            raise InputError("delta-table needs a table of similarities (table=, --table)")
        return TableSimilarity(read_similarities(self.table))
