"""Outputs of several systems in, scores of systems or of their outputs out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu.score import Metric

__all__ = ["segment_scores", "system_scores"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Outputs = Sequence[Sequence[str]]
References = Sequence[Sequence[str]]


def system_scores(metric: Metric, outputs: Outputs, references: References) -> Array:
    """One a system."""
    encoded = metric.encode(references)
    return np.array([metric.statistics(own, encoded).score().score for own in outputs])


def segment_scores(metric: Metric, outputs: Outputs, references: References) -> Array:
    """Systems x items."""
    encoded = metric.encode(references)
    return np.stack([metric.statistics(own, encoded).segment_scores() for own in outputs])
