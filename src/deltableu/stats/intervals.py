"""Resampled or left-out scores in, intervals out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deltableu._types import Array


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """Where the score lies at the given level, and how that was found."""

    low: float
    high: float
    level: float
    method: str

    def __str__(self) -> str:
        return f"[{self.low:.2f}, {self.high:.2f}]"


def percentile_interval(distribution: Array, level: float) -> tuple[float, float]:
    """The central part of the resampled scores (Efron 1979)."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(distribution, (tail, 1.0 - tail))
    return float(low), float(high)


def bca_interval(
    distribution: Array, observed: float, jackknife: Array, level: float
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
    for probability in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        shifted = bias + normal.inv_cdf(probability)
        denominator = 1.0 - acceleration * shifted
        # A huge acceleration would turn the order of the limits round.
        adjusted = bias + shifted / denominator if denominator > 0.0 else np.copysign(8.0, shifted)
        limits.append(normal.cdf(float(adjusted)))
    low, high = np.quantile(distribution, limits)
    return float(low), float(high)


def jackknife_interval(observed: float, jackknife: Array, level: float) -> tuple[float, float]:
    """Student's interval with the jackknife's standard error (Tukey 1958)."""
    from scipy.special import stdtrit

    size = len(jackknife)
    spread = float(((jackknife - jackknife.mean()) ** 2).sum())
    reach = float(stdtrit(size - 1, (1.0 + level) / 2.0)) * np.sqrt((size - 1) / size * spread)
    return observed - float(reach), observed + float(reach)
