"""How often a metric prefers what people prefer: plain results."""

from __future__ import annotations

from dataclasses import dataclass

from deltableu.stats import ConfidenceInterval
from deltableu.validate.levels import AccuracyMethod


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a metric orders two outputs or systems as people do.

    Attributes
    ----------
    measure : str
        `pairwise` (systems), `spa` (soft, systems) or `acc-eq` (outputs of an item, ties
        calibrated).
    chance : float
        What is reached without knowing anything.
    epsilon : float or None
        The calibrated tie of `acc-eq`.
    reason : str or None
        Why there is no value.
    """

    metric: str
    measure: str
    value: float
    chance: float
    pairs: int
    epsilon: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy:
    """One metric's accuracy of a kind that was asked for.

    Attributes
    ----------
    method : str
        `pairwise-accuracy`, `spa`, `acc-eq` (ties calibrated on other items), `acc-eq-in-sample`,
        `acc-eq-by-system`, `auc` or `average-precision`.
    interval : ConfidenceInterval or None
        Over items, these systems staying.
    chance : float
        What is reached without knowing anything.
    pairs : int
        Pairs that were compared; of labels, outputs.
    epsilon : float or None
        The calibrated tie; of several folds the median.
    """

    metric: str
    method: AccuracyMethod
    value: float
    interval: ConfidenceInterval | None
    chance: float
    pairs: int
    epsilon: float | None = None
