"""Resampled or left-out scores in, intervals out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deltableu._types import Array


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """Where the score lies at the given confidence, and how that was found."""

    low: float
    high: float
    confidence: float
    method: str

    def __str__(self) -> str:
        return f"[{self.low:.2f}, {self.high:.2f}]"


#: What tidy tables say of an interval.
INTERVAL_COLUMNS = ("low", "high", "confidence", "method")


def interval_cells(interval: ConfidenceInterval | None) -> tuple[object, ...]:
    """An interval, or none, in the columns that tidy tables have for it."""
    if interval is None:
        return (None,) * len(INTERVAL_COLUMNS)
    return interval.low, interval.high, interval.confidence, interval.method


def percentile_interval(distribution: Array, confidence: float) -> tuple[float, float]:
    """The central part of the resampled scores (Efron 1979)."""
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(distribution, (tail, 1.0 - tail))
    return float(low), float(high)


def bca_interval(
    distribution: Array, observed: float, jackknife: Array, confidence: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated interval (Efron 1987).

    Resampled scores equal to the observed one count half: a score clamped at 0 has many. Where
    (nearly) all samples lie on one side the correction is bounded by the number of samples.
    """
    normal = NormalDist()
    samples = len(distribution)
    scale = max(1.0, abs(observed))
    tied = np.abs(distribution - observed) <= 1e-12 * scale
    below = (np.count_nonzero((distribution < observed) & ~tied) + tied.sum() / 2.0) / samples
    bias = normal.inv_cdf(min(max(below, 0.5 / samples), 1.0 - 0.5 / samples))
    deviations = jackknife.mean() - jackknife
    spread = float((deviations**2).sum())
    # Rounding noise of equal leave-one-out scores is no spread.
    flat = spread <= len(jackknife) * (1e-12 * scale) ** 2
    acceleration = 0.0 if flat else float((deviations**3).sum()) / (6.0 * spread**1.5)
    limits = []
    for probability in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        shifted = bias + normal.inv_cdf(probability)
        denominator = 1.0 - acceleration * shifted
        # A huge acceleration would turn the order of the limits round.
        adjusted = bias + shifted / denominator if denominator > 0.0 else np.copysign(8.0, shifted)
        limits.append(normal.cdf(float(adjusted)))
    low, high = np.quantile(distribution, limits)
    return float(low), float(high)


def jackknife_interval(
    observed: float,
    jackknife: Array,
    confidence: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> ConfidenceInterval:
    """Student's interval with the jackknife's standard error (Tukey 1958), within limits.

    Equal numbers show no spread, which is no proof that there is none: an interval has no width
    only if so many equal ones would be a surprise even if each could lie on either side.

    Examples
    --------
    >>> print(jackknife_interval(4.0, np.array([3.5, 4.5, 4.0]), 0.95, (0.0, 6.0)))
    [1.52, 6.00]
    """
    from scipy.special import stdtrit

    size, error = len(jackknife), _jackknife_error(observed, jackknife)
    reach = float(stdtrit(size - 1, (1.0 + confidence) / 2.0)) * error
    if error == 0.0 and 2.0 ** (1 - size) >= 1.0 - confidence:
        reach = np.inf
    low, high = max(observed - reach, limits[0]), min(observed + reach, limits[1])
    return ConfidenceInterval(low, high, confidence, "jackknife")


def jackknife_p_value(observed: float, jackknife: Array) -> float:
    """How surprising a number is if the true one is 0: Student's test that goes with the interval.

    Examples
    --------
    >>> round(jackknife_p_value(4.0, np.array([3.5, 4.5, 4.0])), 3)
    0.02
    """
    from scipy.special import stdtr

    size, error = len(jackknife), _jackknife_error(observed, jackknife)
    if error == 0.0:
        return 1.0 if observed == 0.0 else 2.0 ** (1 - size)
    return float(2.0 * stdtr(size - 1, -abs(observed) / error))


def _jackknife_error(observed: float, jackknife: Array) -> float:
    """Exactly 0 where the numbers differ by no more than rounding."""
    size = len(jackknife)
    spread = float(((jackknife - jackknife.mean()) ** 2).sum())
    if spread <= size * (1e-13 * max(1.0, abs(observed))) ** 2:
        return 0.0
    return float(np.sqrt((size - 1) / size * spread))
