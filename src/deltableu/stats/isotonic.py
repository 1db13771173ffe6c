"""A sequence in, the nearest one that never falls out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu._types import Array

__all__ = ["isotonic_regression"]


def isotonic_regression(values: Sequence[float] | Array, weights: Any = None) -> Array:
    """The non-decreasing sequence nearest to the values, by weighted squares.

    Pools adjacent violators (Ayer et al. 1955). For shares of successes it is also the likeliest.

    Examples
    --------
    >>> isotonic_regression([1.0, 3.0, 2.0, 4.0]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    given = np.asarray(values, dtype=np.float64)
    counts = np.ones_like(given) if weights is None else np.asarray(weights, dtype=np.float64)
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(given.tolist(), counts.tolist(), strict=True):
        length = 1
        while blocks and blocks[-1][0] >= mean:
            other, heft, size = blocks.pop()
            mean = (mean * weight + other * heft) / (weight + heft)
            weight, length = weight + heft, length + size
        blocks.append((mean, weight, length))
    pooled: Array = np.repeat([block[0] for block in blocks], [block[2] for block in blocks])
    return pooled
