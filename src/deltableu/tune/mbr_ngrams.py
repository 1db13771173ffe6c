"""Tokens of one item's candidates in; n-grams that they share, expect and earn out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints, Ints32
from deltableu.text import TokenArrays, lanes

_kernel = _kernels.load("tune._pairwise")

#: Tokens of a candidate that the kernel's counts have room for.
LONGEST = (1 << 16) - 1


@dataclass(frozen=True, slots=True, eq=False)
class CandidateNgrams:
    """Every n-gram of some texts, and in which of them it occurs how often.

    Attributes
    ----------
    totals : array of int
        How many n-grams each text has, an order a column.
    different : int
        How many n-grams there are.
    orders, heads, entries : array of int
        See the kernel.

    Examples
    --------
    >>> from deltableu.text import Tokenizer
    >>> ngrams = CandidateNgrams.of(Tokenizer("none").hash(["a b", "a a", "b"]), 0, 3, 2)
    >>> ngrams.shared()[:, :, 0].tolist()
    [[2, 1, 1], [1, 2, 0], [1, 0, 1]]
    >>> ngrams.expected(np.array([0.5, 0.25, 0.25]), leave=False)[:, 0].tolist()
    [1.75, 1.0, 0.75]
    >>> ngrams.credited(np.array([1.0, 0.5, 0.5]), leave=True)[:, 0].tolist()
    [1.0, 1.0, 1.0]
    """

    totals: Ints
    different: int
    orders: Ints32
    heads: Ints32
    entries: Ints32

    @classmethod
    def of(cls, tokens: TokenArrays, first: int, last: int, order: int) -> CandidateNgrams:
        """Those of the texts from `first` up to but not `last`."""
        lengths = np.diff(tokens.bounds[first : last + 1])
        totals = np.maximum(lengths[:, None] - np.arange(order), 0)
        room = int(totals.sum()) + 1
        longest = int(lengths.max(initial=0)) + 1
        orders, heads = np.empty((2, room), dtype=np.int32)
        entries = np.empty((3, room), dtype=np.int32)
        different = _kernel.number_ngrams(
            lanes(tokens.keys),
            tokens.bounds,
            first,
            last,
            order,
            np.empty(1 << max(1, (2 * room - 1).bit_length()), dtype=np.int32),
            np.empty((2, room), dtype=np.uint64),
            np.empty(longest, dtype=np.int32),
            np.empty(longest, dtype=np.int32),
            orders,
            heads,
            entries,
        )
        return cls(totals, different, orders, heads, entries)

    def shared(self) -> Any:
        """Clipped matches of each two texts: [text, other, order]."""
        texts, order = self.totals.shape
        shared = np.zeros((order, texts, texts), dtype=np.uint16)
        _kernel.share_ngrams(
            self.different,
            self.orders,
            self.heads,
            self.entries,
            np.zeros(texts, dtype=np.uint16),
            np.empty(texts, dtype=np.int32),
            np.empty(texts, dtype=np.uint16),
            shared,
        )
        shared += shared.transpose(0, 2, 1).copy()
        places = np.arange(texts)
        shared[:, places, places] = self.totals.T
        return shared.transpose(1, 2, 0)

    def expected(self, probabilities: Array, *, leave: bool) -> Array:
        """Matches of each text with the expected counts, an order a column.

        With `leave` a text expects what the others say.
        """
        return self._walk(_kernel.expect_ngrams, probabilities, leave)

    def credited(self, weights: Array, *, leave: bool) -> Array:
        """Numerators of delta-BLEU whose references are the texts; with `leave`, the others."""
        return self._walk(_kernel.credit_ngrams, weights, leave)

    def _walk(self, kernel: Any, values: Array, leave: bool) -> Array:
        matches = np.zeros(self.totals.shape)
        kernel(
            self.different,
            self.orders,
            self.heads,
            self.entries,
            np.ascontiguousarray(values, dtype=np.float64),
            leave,
            matches,
        )
        return matches
