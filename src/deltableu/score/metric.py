"""What a metric is: settings, and three steps from text to score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from deltableu._version import __version__
from deltableu.score.chunks import ReferenceInfo
from deltableu.score.results import Score, Signature

__all__ = ["Metric"]

Array = np.ndarray[Any, np.dtype[np.float64]]


class Metric(ABC):
    """Settings of a metric; text becomes rows, rows are summed, sums become scores.

    A subclass adds `encode(references, ...)`, done once, and `statistics(hypotheses, encoded)`,
    one row a segment, in whatever shape its references need.
    """

    name: ClassVar[str]

    @abstractmethod
    def aggregate(self, sums: Array) -> Array:
        """Scores of summed rows, for any number of sums at once (columns on the last axis)."""

    @abstractmethod
    def segment_scores(self, rows: Array) -> Array:
        """Scores of single rows."""

    @abstractmethod
    def result(self, sums: Array, segments: int, signature: Signature) -> Score:
        """One sum as a score with all its ingredients."""

    @abstractmethod
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The settings as the signature shows them."""

    def signature(self, info: ReferenceInfo) -> Signature:
        """Settings, references and version: what must agree for scores to be comparable."""
        number = f"{info.fewest}" if info.fewest == info.most else f"{info.fewest}-{info.most}"
        parts = [
            ("metric", self.name),
            *self.settings(),
            ("items", str(info.items)),
            ("refs", number),
            ("select", info.selection),
            ("refhash", info.digest),
        ]
        if info.weights_digest is not None:
            parts += [
                ("weights", str(info.weights_from)),
                ("weighthash", info.weights_digest),
            ]
        return Signature((*parts, ("version", __version__)))
