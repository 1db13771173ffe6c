"""A correlation and its number of observations in, an interval by formula out.

The formulas hold for independent observations: systems, or outputs each judged once. Outputs of
the same systems on the same items are not; `bootstrap_agreement` is for those.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, get_args

from deltableu.errors import InputError, check_choice, check_share
from deltableu.stats.correlation import Method, check_method
from deltableu.stats.intervals import ConfidenceInterval

StandardError = Literal["fisher", "bonett-wright", "fieller"]


def correlation_interval(
    r: float,
    n: int,
    method: Method = "pearson",
    confidence: float = 0.95,
    *,
    se: StandardError | None = None,
) -> ConfidenceInterval:
    """Where the true correlation lies, by Fisher's z with a standard error that fits the method.

    Parameters
    ----------
    r, n
        The correlation and its number of independent observations.
    method
        Chooses the standard error of z = atanh(r).
    confidence
        The confidence of the interval, such as 0.95.
    se
        `fisher`: 1 / sqrt(n - 3), the default for Pearson; on ranks it is the rule that older
        papers used for all. `bonett-wright`: sqrt((1 + r^2 / 2) / (n - 3)), the default for
        Spearman. `fieller`: sqrt(0.437 / (n - 4)), the default for the Kendall family, and
        sqrt(1.06 / (n - 3)) for Spearman.

    Returns
    -------
    ConfidenceInterval
        [-1, 1] where n is too small for the formula; NaN limits where r is NaN, or 1 or -1: a
        perfect correlation has no finite z, which is no proof that the true one is perfect.

    References
    ----------
    Fisher 1915; Fieller, Hartley and Pearson 1957; Bonett and Wright 2000.

    Examples
    --------
    >>> interval = correlation_interval(0.484, 528, "spearman", se="fisher")
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4158, 0.5468)
    """
    check_method(method)
    if method == "kendall-like":
        raise InputError("the pairs of kendall-like are not independent: use bootstrap_agreement")
    if se is not None:
        check_choice("se", se, get_args(StandardError))
    check_share("confidence", confidence)
    if n < 2:
        raise InputError(f"a correlation needs at least 2 observations, got {n}")
    if abs(r) > 1.0:
        raise InputError(f"a correlation lies in [-1, 1], got {r:g}")
    rule = se or _default(method)
    if math.isnan(r) or abs(r) == 1.0:
        return ConfidenceInterval(math.nan, math.nan, confidence, rule)
    variance = _variance(r, n, method, rule)
    if variance is None:
        return ConfidenceInterval(-1.0, 1.0, confidence, rule)
    reach = NormalDist().inv_cdf((1.0 + confidence) / 2.0) * math.sqrt(variance)
    z = math.atanh(r)
    return ConfidenceInterval(math.tanh(z - reach), math.tanh(z + reach), confidence, rule)


def _default(method: Method) -> StandardError:
    if method == "pearson":
        return "fisher"
    return "bonett-wright" if method == "spearman" else "fieller"


def _variance(r: float, n: int, method: Method, rule: StandardError) -> float | None:
    """The variance of z; None where there are too few observations."""
    if rule == "fieller":
        if method == "pearson":
            raise InputError("fieller's standard error is for Spearman and Kendall")
        if method != "spearman":
            return 0.437 / (n - 4) if n > 4 else None
    if n <= 3:
        return None
    factor = {"fisher": 1.0, "bonett-wright": 1.0 + r * r / 2.0, "fieller": 1.06}[rule]
    return factor / (n - 3)
