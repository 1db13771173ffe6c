"""Many vectors of reference weights in, rows of every system out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from deltableu._types import Array, Bools
from deltableu.corpus import ReferenceSet

if TYPE_CHECKING:
    from deltableu.score.metric import Metric


class Reweighting(ABC):
    """Systems under one metric, ready for any weights of the references."""

    #: Numbers held at once for one vector of weights.
    size: int

    @abstractmethod
    def rows(self, weights: Array) -> Array:
        """Vectors x items x systems x columns, for vectors x references.

        Rows are what `metric.statistics` gives under these weights, and 0 for items that the
        metric cannot score under them.
        """

    def without_positive(self, weights: Array) -> Bools:
        """Vectors x items (or x 1): those that the metric cannot score under these weights."""
        return np.zeros((len(weights), 1), dtype=bool)


@dataclass(frozen=True, eq=False)
class Recomputed(Reweighting):
    """Any metric: everything once more for every vector, weights cut to [-1, 1]."""

    metric: Metric
    references: ReferenceSet
    outputs: Sequence[Sequence[str]]

    @property
    def size(self) -> int:  # type: ignore[override]
        return 8 * len(self.references) * len(self.outputs)

    def rows(self, weights: Array) -> Array:
        bounds = np.concatenate(([0], np.cumsum([len(row) for row in self.references.texts])))
        vectors = []
        for given in np.clip(weights, -1.0, 1.0).tolist():
            nested = [given[first:last] for first, last in pairwise(bounds.tolist())]
            encoded = self.metric.encode(replace(self.references, weights=nested), threads=1)
            rows = [self.metric.statistics(texts, encoded, threads=1) for texts in self.outputs]
            vectors.append(np.stack([one.rows for one in rows], axis=1))
        return np.stack(vectors)
