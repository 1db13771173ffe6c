"""Three correlations in, Williams' test out: is one metric closer to people than another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.errors import InputError, check_choice
from deltableu.stats.correlation import correlate
from deltableu.stats.permutation import Alternative

#: Correlations of 1 or -1 are known no better than this from floating-point sums.
_ROUNDING = 1e-12
#: So far below 0 the determinant of printed correlations may lie by rounding alone.
_DETERMINANT = 1e-9


@dataclass(frozen=True, slots=True)
class WilliamsResult:
    """Williams' t and what it was computed from.

    Attributes
    ----------
    r12, r13, r23 : float
        Human with the first metric, human with the second, metric with metric, as tested.
    n : int
        Points behind each correlation; `degrees_of_freedom` is n - 3.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: int
    alternative: Alternative
    r12: float
    r13: float
    r23: float
    n: int

    @property
    def difference(self) -> float:
        """How much closer to people the first metric is."""
        return self.r12 - self.r13


def williams_test(
    r12: float,
    r13: float,
    r23: float,
    n: int,
    alternative: Alternative = "greater",
    *,
    absolute: bool = False,
) -> WilliamsResult:
    """Test whether two dependent correlations that share a variable differ.

    Parameters
    ----------
    r12, r13
        Correlation of the human scores (1) with the first metric (2) and with the second (3).
    r23
        Correlation of the two metrics.
    n
        Points behind each correlation, at least 4.
    alternative
        `greater`: the first metric agrees better. The direction must be fixed in advance: whoever
        picks the larger correlation first rejects twice as often as claimed.
    absolute
        Test the absolute values of all three, as the WMT scripts before 2020 did. By default
        correlations keep their signs: turn metrics so that higher is better.

    Notes
    -----
    Holds its level on normal data. On skewed segment scores it rejects far too often: prefer
    `permutation_test`. Degrees of freedom are n - 3; p-values published with older versions of
    R's psych used n - 2.

    References
    ----------
    Williams 1959, "Regression Analysis"; Steiger 1980, "Tests for Comparing Elements of a
    Correlation Matrix"; Graham and Baldwin 2014, "Testing for Significance of Increased
    Correlation with Human Judgment".

    Examples
    --------
    >>> result = williams_test(0.65, 0.55, 0.3, n=50)
    >>> round(result.statistic, 6), round(result.p_value, 6)
    (0.816078, 0.209286)
    """
    check_choice("alternative", alternative, get_args(Alternative))
    for name, value in (("r12", r12), ("r13", r13), ("r23", r23)):
        if not abs(value) <= 1.0 + _ROUNDING:
            raise InputError(f"{name} must be a correlation between -1 and 1, got {value}")
    if n != int(n) or n < 4:
        raise InputError(f"Williams' test needs at least 4 points, got n = {n}")
    signed = (min(1.0, max(-1.0, float(value))) for value in (r12, r13, r23))
    r12, r13, r23 = (abs(value) for value in signed) if absolute else signed
    n = int(n)
    statistic = _statistic(r12, r13, r23, n)
    return WilliamsResult(
        statistic, _p_value(statistic, n - 3, alternative), n - 3, alternative, r12, r13, r23, n
    )


def williams_metrics(
    human: ArrayLike,
    metric_a: ArrayLike,
    metric_b: ArrayLike,
    alternative: Alternative = "greater",
    *,
    method: Literal["pearson", "spearman"] = "pearson",
    absolute: bool = False,
) -> WilliamsResult:
    """Test whether metric A correlates better with human scores than metric B.

    Parameters
    ----------
    human, metric_a, metric_b
        One score a point (a system or a segment), in the same order; metrics turned so that
        higher is better.
    alternative, absolute
        As in `williams_test`.
    method
        Williams' theory is Pearson's; with Spearman's rho it is an approximation.

    Examples
    --------
    >>> human = [1, 2, 3, 4, 5]
    >>> result = williams_metrics(human, [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5])
    >>> round(result.r12, 3), round(result.r13, 3), round(result.p_value, 3)
    (0.999, 0.987, 0.019)
    """
    if method not in ("pearson", "spearman"):
        raise InputError(f"Williams' test takes pearson or spearman, got {method!r}")
    named = {"human": human, "metric_a": metric_a, "metric_b": metric_b}
    scores = {name: _points(name, values) for name, values in named.items()}
    sizes = {name: len(values) for name, values in scores.items()}
    if len(set(sizes.values())) != 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InputError(f"give as many scores for each: {told}")
    r12, r13, r23 = (
        float(correlate(scores[one], scores[two], method))
        for one, two in (("human", "metric_a"), ("human", "metric_b"), ("metric_a", "metric_b"))
    )
    return williams_test(r12, r13, r23, sizes["human"], alternative, absolute=absolute)


def _statistic(r12: float, r13: float, r23: float, n: int) -> float:
    determinant = 1.0 - r12**2 - r13**2 - r23**2 + 2.0 * r12 * r13 * r23
    if determinant < -_DETERMINANT:
        raise InputError(
            f"no data has the correlations r12 = {r12:g}, r13 = {r13:g} and r23 = {r23:g} at once: "
            "check which is which, or give more digits"
        )
    determinant = max(0.0, determinant)
    if 1.0 - r23 <= _ROUNDING:  # one metric twice
        return 0.0
    if 1.0 + r23 <= _ROUNDING:  # one metric and its negative: the limit of 0 / 0 below
        return _ratio(r12 * math.sqrt(n - 3), math.sqrt(max(0.0, 1.0 - r12**2)))
    mean = (r12 + r13) / 2.0
    variance = 2.0 * determinant * (n - 1) / (n - 3) + mean**2 * (1.0 - r23) ** 3
    return _ratio((r12 - r13) * math.sqrt((n - 1) * (1.0 + r23)), math.sqrt(variance))


def _ratio(difference: float, error: float) -> float:
    if error > 0.0:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def _p_value(statistic: float, degrees_of_freedom: int, alternative: Alternative) -> float:
    from scipy.special import stdtr

    if alternative == "two-sided":
        return min(1.0, 2.0 * float(stdtr(degrees_of_freedom, -abs(statistic))))
    sign = -1.0 if alternative == "greater" else 1.0
    return float(stdtr(degrees_of_freedom, sign * statistic))


def _points(name: str, values: ArrayLike) -> Array:
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != 1:
        raise InputError(f"{name} must be one score a point, got an array of {points.ndim} axes")
    if len(points) < 4:
        raise InputError(f"Williams' test needs at least 4 points, {name} has {len(points)}")
    if not np.isfinite(points).all():
        place = int(np.flatnonzero(~np.isfinite(points))[0])
        raise InputError(f"{name} has no finite score at place {place}: leave that point out")
    if np.all(points == points[0]):
        raise InputError(f"{name} is constant, so it correlates with nothing")
    return points
