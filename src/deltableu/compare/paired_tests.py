"""Resampled differences or segment scores in, p-values out.

All tests are two-sided unless said otherwise, and ask whether two systems differ on the population
of items from which these were drawn.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from deltableu.errors import InputError

__all__ = [
    "TESTS",
    "Test",
    "bootstrap_p_value",
    "koehn_p_value",
    "moses_p_value",
    "paired_t_test",
    "permutation_p_value",
    "randomization_p_value",
    "wilcoxon_test",
]

Array = np.ndarray[Any, np.dtype[np.float64]]
Test = Literal["randomization", "permutation", "bootstrap", "koehn", "moses", "wilcoxon", "t-test"]
TESTS: tuple[Test, ...] = get_args(Test)

#: Sums of the same rows in another order differ by rounding; such differences are equal.
_ROUNDING = 1e-9


def randomization_p_value(differences: Array, observed: float) -> float:
    """Approximate randomisation: (c + 1) / (n + 1), c random exchanges at least as extreme.

    References
    ----------
    Noreen 1989, "Computer-Intensive Methods for Testing Hypotheses"; Riezler and Maxwell 2005, "On
    Some Pitfalls in Automatic Evaluation and Significance Testing for MT".

    Examples
    --------
    >>> randomization_p_value(np.array([0.1, -0.4, 0.2]), 0.3)
    0.5
    """
    return (_as_extreme(differences, observed) + 1) / (len(differences) + 1)


def permutation_p_value(differences: Array, observed: float) -> float:
    """The share of all exchanges at least as extreme: exact, where all were enumerated.

    Examples
    --------
    >>> permutation_p_value(np.array([0.3, -0.1, 0.1, -0.3]), 0.3)
    0.5
    """
    return _as_extreme(differences, observed) / len(differences)


def bootstrap_p_value(differences: Array, observed: float) -> float:
    """How often resampled differences lie as far from the observed one as that does from 0.

    Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 16.4: the distribution is
    shifted to where the null hypothesis has it.

    Examples
    --------
    >>> bootstrap_p_value(np.array([0.0, 0.3, 0.4, 0.25]), 0.25)
    0.4
    """
    return randomization_p_value(differences - observed, observed)


def koehn_p_value(differences: Array, observed: float) -> float:
    """How often the system that looks worse does not lose: one-sided, in the direction observed.

    References
    ----------
    Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".

    Examples
    --------
    >>> koehn_p_value(np.array([0.1, 0.2, -0.1, 0.3]), 0.2)
    0.4
    """
    slack = _ROUNDING * max(1.0, abs(observed))
    turned = differences if observed >= 0.0 else -differences
    return (int((turned <= slack).sum()) + 1) / (len(differences) + 1)


def moses_p_value(differences: Array, observed: float) -> float:
    """The paired bootstrap of Moses and sacreBLEU: absolute differences, less their mean.

    It is one-sided where the difference is clear, so its p-values are about half of two-sided ones;
    kept to repeat published numbers.

    Examples
    --------
    >>> moses_p_value(np.array([0.1, 0.2, 0.9]), 0.2)
    0.5
    """
    absolute = np.abs(differences)
    count = int((absolute - absolute.mean() > abs(observed)).sum())
    return (count + 1) / (len(differences) + 1)


def paired_t_test(first: Array, second: Array) -> float:
    """Student's paired t-test of segment scores.

    Examples
    --------
    >>> round(paired_t_test(np.array([3.0, 4.0, 6.0]), np.array([1.0, 3.0, 3.0])), 4)
    0.0742
    """
    from scipy.special import stdtr

    apart = first - second
    error = float(apart.std(ddof=1)) / np.sqrt(len(apart))
    mean = float(apart.mean())
    if error <= 1e-12 * max(abs(mean), float(np.abs(first).max()) * 1e-3):
        # All segments differ by the same: by nothing, or beyond doubt.
        return 1.0 if abs(mean) <= 1e-12 else 0.0
    return float(2.0 * stdtr(len(apart) - 1, -abs(mean) / error))


def wilcoxon_test(first: Array, second: Array) -> float:
    """Wilcoxon's signed-rank test of segment scores; segments that tie are left out.

    Examples
    --------
    >>> wilcoxon_test(np.array([3.0, 4.0, 6.0]), np.array([1.0, 3.0, 3.0]))
    0.25
    """
    from scipy.stats import wilcoxon

    apart = first - second
    apart = apart[np.abs(apart) > 1e-12 * np.maximum(1.0, np.abs(first))]
    if len(apart) == 0:
        return 1.0
    # Equal absolute differences must tie, whatever rounding made of them.
    return float(wilcoxon(np.round(apart, 10) if np.abs(apart).min() > 1e-9 else apart).pvalue)


def check_test(test: str) -> Test:
    """The test, if there is one of that name."""
    for known in TESTS:
        if test == known:
            return known
    raise InputError(f"there is no test {test!r}; there are {', '.join(TESTS)}")


def _as_extreme(differences: Array, observed: float) -> int:
    slack = _ROUNDING * max(1.0, abs(observed))
    return int((np.abs(differences) >= abs(observed) - slack).sum())
