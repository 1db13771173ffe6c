"""What resampling raters gives: scores with other items and raters, and what they tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from deltableu._types import Array, Bools
from deltableu.compare.results import VarianceShares
from deltableu.errors import check_known, check_share
from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True, eq=False)
class RaterDraws:
    """Scores of several systems, and how they move with other items and other raters.

    Attributes
    ----------
    scores : array
        The score of each system.
    items, raters, answers : array, resamples x systems
        Scores of items drawn with replacement; of the same items rated by others; and of the same
        items with answers that vary independently from item to item.
    """

    scores: Array
    items: Array
    raters: Array
    answers: Array


@dataclass(frozen=True, slots=True, eq=False)
class ResampledRaters:
    """Scores of several systems under one metric, with other items and other raters.

    A single score is corrected for the bias that noise in the weights causes. The difference of
    two is not: both scores have nearly the same bias, and correcting would add more noise than it
    takes bias away.

    Attributes
    ----------
    metric : str
    higher_is_better : bool
    systems, items : tuple of str
    groups : int or None
        Number of groups of items that belong together, where whole groups were resampled.
    dropped : tuple of str
        Items that were left out, since none of their references has a positive weight.
    raters, answers : int
        How many people rated the references of these items, and how often.
    observed : RaterDraws
        Under the study's weights.
    corrected : RaterDraws
        The same without the bias that comes from noise in the weights.
    intervals : tuple of ConfidenceInterval or None
        The interval of each observed score under the study's weights, for other items only.
    clamped : array of bool
        Systems whose score stands still.
    degrees : float
        Degrees of freedom of what is known about differences between raters.
    step : float
        How many times the bias that added noise shows was taken away: 1 to 2.4.
    left_out : float
        The share of items left out of a resample of raters, for lack of a positive weight.
    note : str
        What users should know; may be empty.
    simulated : bool
        Whether the raters are.
    """

    metric: str
    higher_is_better: bool
    systems: tuple[str, ...]
    items: tuple[str, ...]
    groups: int | None
    dropped: tuple[str, ...]
    raters: int
    answers: int
    observed: RaterDraws
    corrected: RaterDraws
    intervals: tuple[ConfidenceInterval | None, ...]
    clamped: Bools
    limits: tuple[float, float]
    degrees: float
    step: float
    left_out: float
    note: str
    seed: int
    simulated: bool = False

    def estimate(self, first: str, second: str | None = None) -> float:
        """The corrected score of a system, or the difference of two."""
        return float(self._of(self._draws(second).scores, first, second))

    def bias(self, system: str) -> float:
        """By how much the observed score is too high."""
        return float(self._of(self.observed.scores - self.corrected.scores, system, None))

    def variance(self, first: str, second: str | None = None) -> VarianceShares:
        """What other items, other raters, or both would change.

        Noise that is not shared by items changes with either; it is in `items` and in `raters`,
        but only once in `both`: Cameron, Gelbach and Miller 2011, "Robust inference with multiway
        clustering".
        """
        draws = self._draws(second)
        items, raters, answers = (
            float(self._of(scores, first, second).var(ddof=1))
            for scores in (draws.items, draws.raters, draws.answers)
        )
        return VarianceShares(items, raters, items + max(raters - answers, 0.0))

    def interval(
        self, first: str, second: str | None = None, *, confidence: float = 0.95
    ) -> ConfidenceInterval | None:
        """Where the score, or the difference of two, lies under the true mean weights.

        Student's interval around the estimate. Its degrees of freedom follow Satterthwaite 1946,
        "An approximate distribution of estimates of variance components", from those of the items
        and those of the raters. None where a score is clamped.
        """
        check_share("confidence", confidence)
        from scipy.special import stdtrit

        shares = self.variance(first, second)
        if self._still(first, second):
            return None
        centre, (lowest, highest) = self.estimate(first, second), self.limits
        if second is not None:
            lowest, highest = lowest - highest, highest - lowest
        reach = float(stdtrit(self._degrees(shares), (1.0 + confidence) / 2.0)) * shares.both**0.5
        method = f"items and raters, n={len(self.observed.items)}"
        low, high = max(centre - reach, lowest), min(centre + reach, highest)
        return ConfidenceInterval(low, high, confidence, method)

    def p_value(self, first: str, second: str) -> float:
        """Two-sided, of no difference under the true mean weights; it goes with the interval."""
        from scipy.special import stdtr

        if self._still(first, second):
            return math.nan
        shares = self.variance(first, second)
        difference = abs(self.estimate(first, second))
        if shares.both**0.5 <= 1e-9:
            return 1.0 if difference <= 1e-9 else 0.0
        return float(2.0 * stdtr(self._degrees(shares), -difference / shares.both**0.5))

    def _degrees(self, shares: VarianceShares) -> float:
        common = shares.both - shares.items
        units = self.groups or len(self.items)
        parts = shares.items**2 / max(units - 1, 1) + common**2 / self.degrees
        return shares.both**2 / parts if parts > 0.0 else self.degrees

    def _draws(self, second: str | None) -> RaterDraws:
        return self.corrected if second is None else self.observed

    def _still(self, first: str, second: str | None) -> bool:
        names = (first,) if second is None else (first, second)
        return any(bool(self.clamped[self._position(name)]) for name in names)

    def _of(self, scores: Array, first: str, second: str | None) -> Any:
        values = scores[..., self._position(first)]
        return values if second is None else values - scores[..., self._position(second)]

    def _position(self, system: str) -> int:
        check_known("system", system, self.systems)
        return self.systems.index(system)
