"""What resampling raters gives: scores with other items and raters, and what they tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltableu._types import Array
from deltableu.compare.results import VarianceShares
from deltableu.errors import check_known, check_share
from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True, eq=False)
class ResampledRaters:
    """Scores of several systems under one metric, with other items and other raters.

    Attributes
    ----------
    metric : str
    higher_is_better : bool
    systems, items : tuple of str
    dropped : tuple of str
        Items that were left out, since none of their references has a positive weight.
    raters, answers : int
        How many people rated the references of these items, and how often.
    observed : array
        The score of each system under the study's weights.
    corrected : array
        The same without the bias that comes from noise in the weights.
    item_scores, rater_scores, answer_scores : array, resamples x systems
        Corrected scores of items drawn with replacement; of the same items rated by others; and of
        the same items with answers that vary independently from item to item.
    degrees : float
        Degrees of freedom of what is known about differences between raters.
    step : float
        How many times the bias that added noise shows was taken away: 1 to 2.4.
    left_out : float
        The share of items left out of a resample of raters, for lack of a positive weight.
    note : str
        What users should know; may be empty.
    """

    metric: str
    higher_is_better: bool
    systems: tuple[str, ...]
    items: tuple[str, ...]
    dropped: tuple[str, ...]
    raters: int
    answers: int
    observed: Array
    corrected: Array
    item_scores: Array
    rater_scores: Array
    answer_scores: Array
    degrees: float
    step: float
    left_out: float
    note: str
    seed: int

    def estimate(self, first: str, second: str | None = None) -> float:
        """The corrected score of a system, or the difference of two."""
        return float(self._of(self.corrected, first, second))

    def bias(self, first: str, second: str | None = None) -> float:
        """By how much the observed score, or difference, is too high."""
        return float(self._of(self.observed - self.corrected, first, second))

    def variance(self, first: str, second: str | None = None) -> VarianceShares:
        """What other items, other raters, or both would change.

        Noise that is not shared by items changes with either; it is in `items` and in `raters`,
        but only once in `both`: Cameron, Gelbach and Miller 2011, "Robust inference with multiway
        clustering".
        """
        drawn = (self.item_scores, self.rater_scores, self.answer_scores)
        items, raters, answers = (
            float(self._of(scores, first, second).var(ddof=1)) for scores in drawn
        )
        return VarianceShares(items, raters, items + max(raters - answers, 0.0))

    def interval(
        self, first: str, second: str | None = None, *, level: float = 0.95
    ) -> ConfidenceInterval:
        """Where the score, or the difference of two, lies under the true mean weights.

        Student's interval around the corrected value. Its degrees of freedom follow Satterthwaite
        1946, "An approximate distribution of estimates of variance components", from those of the
        items and those of the raters.
        """
        check_share("level", level)
        from scipy.special import stdtrit

        shares = self.variance(first, second)
        centre = self.estimate(first, second)
        reach = float(stdtrit(self._degrees(shares), (1.0 + level) / 2.0)) * shares.both**0.5
        method = f"items and raters, n={len(self.item_scores)}"
        return ConfidenceInterval(centre - reach, centre + reach, level, method)

    def p_value(self, first: str, second: str) -> float:
        """Two-sided, of no difference under the true mean weights; it goes with the interval."""
        from scipy.special import stdtr

        shares = self.variance(first, second)
        difference = abs(self.estimate(first, second))
        if shares.both**0.5 <= 1e-9:
            return 1.0 if difference <= 1e-9 else 0.0
        return float(2.0 * stdtr(self._degrees(shares), -difference / shares.both**0.5))

    def _degrees(self, shares: VarianceShares) -> float:
        common = shares.both - shares.items
        parts = shares.items**2 / max(len(self.items) - 1, 1) + common**2 / self.degrees
        return shares.both**2 / parts if parts > 0.0 else self.degrees

    def _of(self, scores: Array, first: str, second: str | None) -> Any:
        values = scores[..., self._position(first)]
        return values if second is None else values - scores[..., self._position(second)]

    def _position(self, system: str) -> int:
        check_known("system", system, self.systems)
        return self.systems.index(system)
