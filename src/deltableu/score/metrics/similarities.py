"""Metrics of one similarity per reference: how it is found, and how weights may change."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, hint_at
from deltableu.score.engine.chunks import flat_references
from deltableu.score.engine.cosine import CosineSimilarity
from deltableu.score.engine.neutral import WeightedMetric
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.engine.similarity import FunctionSimilarity, Similarity, TableSimilarity
from deltableu.score.metrics.chrf import ChrFSimilarity
from deltableu.score.metrics.rouge import RougeLSimilarity
from deltableu.score.metrics.sentence_bleu import SentenceBLEUSimilarity
from deltableu.score.metrics.ter import TERSimilarity

_BY_NAME: dict[str, Callable[[], Similarity]] = {
    "chrf": ChrFSimilarity,
    "chrf++": lambda: ChrFSimilarity(word_order=2),
    "rouge-l": RougeLSimilarity,
    "ter": TERSimilarity,
    "sentence-bleu": SentenceBLEUSimilarity,
    "cosine": CosineSimilarity,
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
class SimilarityMetric(WeightedMetric, SegmentMetric):
    """A metric that pools the similarities of a hypothesis and each of its item's references.

    Subclasses give `pooled`. What can be known of references alone is found out once.
    """

    similarity: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "similarity", as_similarity(self._similarity()))

    def _similarity(self) -> Any:
        return self.similarity

    def prepare(self, prepared: PreparedReferences) -> Any:
        return self.similarity.encode_texts(self.cased(prepared.flat.texts))

    def similarities(self, hypotheses: Sequence[str], encoded: PreparedReferences) -> Array:
        """The similarity of each reference and its item's hypothesis."""
        found: Array = self.similarity.compare(
            self.cased(hypotheses), encoded.extra, encoded.flat.owners
        )
        return found

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        return self.pooled(self.similarities(hypotheses, encoded), flat.weights, flat.bounds)

    def cased(self, texts: Sequence[str]) -> Sequence[str]:
        """Texts as the similarity gets them."""
        return texts

    @abstractmethod
    def pooled(self, similarities: Array, weights: Array, bounds: Ints) -> Array:
        """The score of each item, from its references' similarities and weights."""

    def reweighting(
        self, references: ReferenceSet, outputs: Sequence[Sequence[str]]
    ) -> Reweighting:
        flat = flat_references(references, weighted=True)
        prepared = self.similarity.encode_texts(self.cased(flat.texts))
        pairs = [
            self.similarity.compare(self.cased(texts), prepared, flat.owners) for texts in outputs
        ]
        return self.counted(references, SimilarityReweighting(self, flat.bounds, tuple(pairs)))


@dataclass(frozen=True, eq=False)
class SimilarityReweighting(Reweighting):
    """Similarities do not depend on the weights."""

    metric: SimilarityMetric
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
