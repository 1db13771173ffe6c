"""The best candidates of every item so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints, Ints32, Keys
from deltableu.text import empty_keys, lanes

_kernel = _kernels.load("mine._heaps")


@dataclass(frozen=True, slots=True, eq=False)
class Heaps:
    """Items x places, sorted by falling score, then by position in the log.

    An item has only the best of the candidates with one key. What heaps hold does not
    depend on the order in which candidates came.

    Attributes
    ----------
    scores, positions, keys : array
    sizes : array
        How many places of each item are taken.
    """

    scores: Array
    positions: Ints
    keys: Keys
    sizes: Ints

    @classmethod
    def empty(cls, items: int, places: int) -> Heaps:
        return cls(
            np.zeros((items, places)),
            np.full((items, places), -1, np.int64),
            empty_keys(items * places).reshape(items, places),
            np.zeros(items, np.int64),
        )

    def offer(self, items: Ints32, scores: Array, positions: Ints, keys: Keys) -> None:
        """Take the candidates that are good enough."""
        _kernel.offer(
            items,
            scores,
            positions,
            lanes(keys),
            self.scores,
            self.positions,
            lanes(self.keys),
            self.sizes,
        )

    def merge(self, other: Heaps) -> None:
        """Take what other rows have brought."""
        taken = np.arange(other.scores.shape[1]) < other.sizes[:, np.newaxis]
        items = np.repeat(np.arange(len(other.sizes), dtype=np.int32), other.sizes)
        self.offer(items, other.scores[taken], other.positions[taken], other.keys[taken])

    def floors(self) -> Array:
        """What a candidate must reach, if not exceed, to be of use."""
        full = self.sizes == self.scores.shape[1]
        return np.where(full, self.scores[:, -1], 0.0)

    def held(self) -> Ints:
        """The positions of all candidates, sorted, each once."""
        taken = np.arange(self.scores.shape[1]) < self.sizes[:, np.newaxis]
        return np.unique(self.positions[taken])
