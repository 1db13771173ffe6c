"""Words that have a number, as a table for the kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu import _kernels
from deltableu._types import Hashes, Ints32

__all__ = ["Vocabulary"]

_kernel = _kernels.load("mine._join")


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Distinct words by hash, numbered from 0; `slots` and `terms` are for the kernels."""

    slots: Hashes
    terms: Ints32
    size: int

    @classmethod
    def of(cls, hashes: Hashes) -> Vocabulary:
        """Number hashes, of which each is there once, by their places."""
        places = 8
        while places < 4 * len(hashes):
            places *= 2
        slots, terms = np.zeros(places, np.uint64), np.full(places, -1, np.int32)
        _kernel.fill_slots(hashes, slots, terms)
        return cls(slots, terms, len(hashes))

    def find(self, hashes: Hashes) -> Ints32:
        """The number of each word, -1 where it has none."""
        found = np.empty(len(hashes), np.int32)
        _kernel.find_terms(hashes, self.slots, self.terms, found)
        return found
