"""What pairs of texts share: n-grams and subsequences of token arrays."""

from __future__ import annotations

import numpy as np

from deltableu import _kernels
from deltableu._types import Ints
from deltableu.text import TokenArrays, lanes

_kernel = _kernels.load("score.engine._overlap")


def shared_ngrams(
    hypotheses: TokenArrays,
    references: TokenArrays,
    owners: Ints,
    order: int,
    chosen: Ints | None = None,
) -> Ints:
    """Clipped matches of hypothesis owners[j] with reference chosen[j], an order a column.

    By default reference j itself; the pairs of one hypothesis should stand together.
    """
    chosen = np.arange(len(owners)) if chosen is None else chosen
    shared = np.zeros((len(owners), order), dtype=np.int64)
    longest = int(np.diff(hypotheses.bounds).max(initial=0))
    room = longest * order + 1
    longest = max(longest, int(np.diff(references.bounds).max(initial=0)))
    _kernel.shared_ngrams(
        lanes(hypotheses.keys),
        hypotheses.bounds,
        lanes(references.keys),
        references.bounds,
        np.ascontiguousarray(owners),
        np.ascontiguousarray(chosen),
        order,
        np.empty(1 << max(1, (2 * room).bit_length()), dtype=np.int32),
        np.empty((2, room), dtype=np.uint64),
        np.empty((3, room), dtype=np.int64),
        np.empty(longest, dtype=np.int32),
        shared,
    )
    return shared


def common_subsequences(hypotheses: TokenArrays, references: TokenArrays, owners: Ints) -> Ints:
    """Length of the longest common subsequence of reference j and hypothesis owners[j]."""
    longest = np.zeros(len(owners), dtype=np.int64)
    width = int(np.diff(hypotheses.bounds).max(initial=0))
    _kernel.common_subsequences(
        lanes(hypotheses.keys),
        hypotheses.bounds,
        lanes(references.keys),
        references.bounds,
        np.ascontiguousarray(owners),
        np.empty(width + 1, dtype=np.int32),
        longest,
    )
    return longest


def ngram_counts(tokens: TokenArrays, order: int) -> Ints:
    """How many n-grams each text has, an order a column."""
    lengths = np.diff(tokens.bounds)
    return np.maximum(lengths[:, None] - np.arange(order), 0)
