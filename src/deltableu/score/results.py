"""What scoring gives: a score with every ingredient, its signature, perhaps an interval."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything that must agree for two scores to be comparable, as `key:value` parts.

    Examples
    --------
    >>> str(Signature((("metric", "bleu"), ("order", "4"))))
    'metric:bleu|order:4'
    """

    parts: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.parts)

    def __getitem__(self, key: str) -> str:
        return dict(self.parts)[key]

    def record(self) -> str:
        """What JSON holds of it."""
        return str(self)


@dataclass(frozen=True, slots=True)
class Score:
    """A score on 0-100 (below 0 for signed metrics), what it was computed from and how."""

    name: str
    score: float
    signature: Signature = field(repr=False)
    segments: int
    interval: ConfidenceInterval | None = field(default=None, kw_only=True)

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        return f"{self.name} = {self.score:.2f}{interval}"

    def with_interval(self, interval: ConfidenceInterval) -> Self:
        """The same score with an interval."""
        return replace(self, interval=interval)


@dataclass(frozen=True, slots=True)
class BLEUScore(Score):
    """A score of the BLEU family.

    Attributes
    ----------
    precisions : tuple of float
        Per order, 0-100, smoothed as the score has them.
    numerators, denominators : tuple of float
        Raw sums per order; with negative weights a numerator can be negative.
    brevity_penalty : float
    hypothesis_length, reference_length : int
        Tokens of the hypotheses and of the closest references.
    """

    precisions: tuple[float, ...]
    numerators: tuple[float, ...] = field(repr=False)
    denominators: tuple[float, ...] = field(repr=False)
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int

    def __str__(self) -> str:
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        interval = "" if self.interval is None else f" {self.interval}"
        return (
            f"{self.name} = {self.score:.2f}{interval} {precisions} "
            f"(BP = {self.brevity_penalty:.3f} hyp_len = {self.hypothesis_length} "
            f"ref_len = {self.reference_length})"
        )
