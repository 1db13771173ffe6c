"""Numbers with gaps in, means over those that are there out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array

__all__ = ["row_means"]


def row_means(values: Array) -> Array:
    """Means over the scores that are there; NaN where none is."""
    present = ~np.isnan(values)
    counts = present.sum(axis=1)
    sums = np.where(present, values, 0.0).sum(axis=1)
    means: Array = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return means
