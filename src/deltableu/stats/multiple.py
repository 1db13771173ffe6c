"""Many p-values in, adjusted ones out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from deltableu._types import Array

Correction = Literal["holm", "bh", "none"]


def adjust(p_values: Sequence[float] | Array, correction: Correction) -> Array:
    """Adjust for the number of tests; `none` leaves them as they are.

    A test that gave no p-value (NaN) is none of them.
    """
    adjusted = np.array(p_values, dtype=np.float64)
    given = ~np.isnan(adjusted)
    if correction == "holm":
        adjusted[given] = holm(adjusted[given])
    elif correction == "bh":
        adjusted[given] = benjamini_hochberg(adjusted[given])
    return adjusted


def holm(p_values: Sequence[float] | Array) -> Array:
    """Holm 1979: the chance of any false claim stays below the level, however tests depend.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    factors = np.arange(len(given), 0, -1)
    stepped = np.maximum.accumulate(given[order] * factors)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float] | Array) -> Array:
    """Benjamini and Hochberg 1995: the expected share of false claims stays below the level.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")[::-1]
    factors = len(given) / np.arange(len(given), 0, -1)
    stepped = np.minimum.accumulate(given[order] * factors)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_yekutieli(p_values: Sequence[float] | Array) -> Array:
    """Benjamini and Yekutieli 2001: the same share, however tests depend.

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(3).tolist()
    [0.055, 0.073, 0.073]
    """
    harmonic = float((1.0 / np.arange(1, len(p_values) + 1)).sum())
    return np.minimum(benjamini_hochberg(p_values) * harmonic, 1.0)
