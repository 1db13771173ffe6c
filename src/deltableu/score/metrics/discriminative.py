"""Any sentence similarity with the weights of the references: good ones earn, bad ones cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_choice
from deltableu.score.engine.similarity import (
    Similarity,
    TableSimilarity,
    VectorSimilarity,
    read_similarities,
)
from deltableu.score.metric import Need
from deltableu.score.metrics.chrf import ChrFSimilarity
from deltableu.score.metrics.rouge import RougeLSimilarity
from deltableu.score.metrics.similarities import SimilarityMetric
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


@dataclass(frozen=True)
class Discriminative(SimilarityMetric):
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

    pool: Pool = "mean"

    def __post_init__(self) -> None:
        check_choice("pool", self.pool, ("mean", "best"))
        super().__post_init__()

    @property
    def name(self) -> str:  # type: ignore[override]
        """`delta-` and the similarity's name."""
        return f"delta-{self.similarity.name}"

    def pooled(self, similarities: Array, weights: Array, bounds: Ints) -> Array:
        """The score of each item, from its references' similarities and weights."""
        pool = pool_mean if self.pool == "mean" else pool_best
        return 100.0 * pool(similarities, weights, bounds)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("pool", self.pool), ("average", "segments"), *self.similarity.settings())


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
