"""Scores of two scorers in, one score in [0, 1] out (Tao et al. 2018, section 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.errors import InputError, check_choice

Blend = Literal["arithmetic", "geometric", "min", "max"]

#: What a score is where all are equal: nothing tells whether they are good or bad.
CONSTANT = 0.5


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and the largest score, which become 0 and 1.

    Examples
    --------
    >>> Range(2.0, 6.0).normalise([2, 3, 7])
    array([0.  , 0.25, 1.  ])
    >>> Range(2.0, 2.0).normalise([2, 2])
    array([0.5, 0.5])
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.high - self.low) and self.low <= self.high):
            raise InputError(f"a range goes from a number up to another, got {self}")

    @classmethod
    def of(cls, scores: ArrayLike) -> Range:
        """The range of scores; of none, one of a single point."""
        given = np.asarray(scores, np.float64)
        return cls(float(given.min()), float(given.max())) if given.size else cls(0.0, 0.0)

    def normalise(self, scores: ArrayLike) -> Array:
        """(score - smallest) / (largest - smallest), cut to [0, 1]; 0.5 where both are equal."""
        given = np.asarray(scores, np.float64)
        size = self.high - self.low
        if not size > 0:
            return np.full(given.shape, CONSTANT)
        return np.clip((given - self.low) / size, 0.0, 1.0)

    def __str__(self) -> str:
        return f"{self.low:.9g}..{self.high:.9g}"


def blended(referenced: ArrayLike, unreferenced: ArrayLike, blend: Blend = "arithmetic") -> Array:
    """One score of two in [0, 1].

    Parameters
    ----------
    referenced, unreferenced : array_like
        Normalised, with `Range.normalise`.
    blend : {"arithmetic", "geometric", "min", "max"}
        Their mean, the root of their product, the smaller or the larger one.

    Examples
    --------
    >>> for blend in ("arithmetic", "geometric", "min", "max"):
    ...     print(blend, blended([0.9], [0.4], blend).round(2))
    arithmetic [0.65]
    geometric [0.6]
    min [0.4]
    max [0.9]
    """
    check_choice("blend", blend, get_args(Blend))
    one, other = (np.asarray(given, np.float64) for given in (referenced, unreferenced))
    if blend == "arithmetic":
        return (one + other) / 2
    if blend == "geometric":
        return np.sqrt(one * other)
    return np.minimum(one, other) if blend == "min" else np.maximum(one, other)
