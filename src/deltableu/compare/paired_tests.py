"""Resampled differences or segment scores in, p-values out.

All tests are two-sided unless said otherwise, and ask whether two systems differ on the population
of items from which these were drawn.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, hint_at
from deltableu.stats import permutation_p_value, rounding, sign_p_value, sum_groups

Test = Literal[
    "studentized",
    "randomization",
    "permutation",
    "bootstrap",
    "koehn",
    "moses",
    "wilcoxon",
    "t-test",
]
TESTS: tuple[Test, ...] = get_args(Test)

#: Segments whose signs can be chosen in less than 2^53 ways, as many as float64 can count.
_LARGEST_EXACT_WILCOXON = 50


class Verdict(NamedTuple):
    """What a test says of two systems: how surprising, and for which it speaks.

    `sign` is that of the first system's advantage in what the test compares: scores of the corpus,
    means, or ranks of segments. The p-value is NaN where there is none.
    """

    p_value: float
    sign: float


def bootstrap_p_value(differences: Array, observed: float, scale: float = 0.0) -> float:
    """How often resampled differences lie as far from the observed one as that does from 0.

    Here and below, `scale` is the size of the scores: what their rounding can do is no difference.

    Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 16.4: the distribution is
    shifted to where the null hypothesis has it.

    Examples
    --------
    >>> bootstrap_p_value(np.array([0.0, 0.3, 0.4, 0.25]), 0.25)
    0.4
    """
    return float(permutation_p_value(differences - observed, observed, scale=scale))


def koehn_p_value(differences: Array, observed: float, scale: float = 0.0) -> float:
    """How often the system that looks worse does not lose: one-sided, in the direction observed.

    Where neither looks worse, the larger of both counts.

    References
    ----------
    Koehn 2004, "Statistical Significance Tests for Machine Translation Evaluation".

    Examples
    --------
    >>> koehn_p_value(np.array([0.1, 0.2, -0.1, 0.3]), 0.2)
    0.4
    """
    slack = rounding(differences, observed, scale)
    size = max(scale, abs(observed))
    better = sign_p_value(differences, alternative="greater", scale=size)
    worse = sign_p_value(differences, alternative="less", scale=size)
    if abs(observed) <= slack:
        return max(better, worse)
    return better if observed > 0.0 else worse


def moses_p_value(differences: Array, observed: float, scale: float = 0.0) -> float:
    """The paired bootstrap of Moses and sacreBLEU: absolute differences, less their mean.

    It is one-sided where the difference is clear, so its p-values are about half of two-sided ones;
    kept to repeat published numbers. Without any difference the published code says that chance is
    ruled out; here it is not.

    Examples
    --------
    >>> moses_p_value(np.array([0.1, 0.2, 0.9]), 0.2)
    0.5
    """
    absolute = np.abs(differences)
    slack = float(rounding(differences, observed, scale))
    if abs(observed) <= slack and absolute.max() <= slack:
        return 1.0
    count = int((absolute - absolute.mean() > abs(observed) + slack).sum())
    return (count + 1) / (len(differences) + 1)


def paired_t_test(first: Array, second: Array, numbers: Ints | None = None) -> Verdict:
    """Student's paired t-test of segment scores; with numbers of groups, of whole groups.

    Where all segments, or groups, differ by the same there is no spread to divide by, and the
    p-value is that of all signs being equal.

    Examples
    --------
    >>> verdict = paired_t_test(np.array([3.0, 4.0, 6.0]), np.array([1.0, 3.0, 3.0]))
    >>> round(verdict.p_value, 4), verdict.sign
    (0.0742, 1.0)
    >>> paired_t_test(np.array([1.0, 2.0]), np.array([0.0, 1.0])).p_value
    0.5
    """
    from scipy.special import stdtr

    apart = _segment_differences(first, second)
    mean = float(apart.mean())
    sums = apart if numbers is None else sum_groups(apart, numbers)
    sizes = np.ones_like(apart) if numbers is None else sum_groups(np.ones_like(apart), numbers)
    units = len(sums)
    beyond = sums - sizes * mean
    if np.abs(beyond).max() <= 1e-12 * np.abs(sums).max():
        return Verdict(1.0 if mean == 0.0 else 2.0 ** (1 - units), float(np.sign(mean)))
    error = math.sqrt(units / (units - 1) * float((beyond**2).sum())) / len(apart)
    return Verdict(float(2.0 * stdtr(units - 1, -abs(mean) / error)), float(np.sign(mean)))


def wilcoxon_test(first: Array, second: Array, numbers: Ints | None = None) -> Verdict:
    """Wilcoxon's signed-rank test of segment scores, or means of groups; ties are left out.

    It is exact where at most 50 segments differ, also where absolute differences tie; else it
    takes the normal distribution, with the correction for ties. It speaks for the system with the
    larger ranks, which need not be the one with the larger mean.

    References
    ----------
    Wilcoxon 1945, "Individual Comparisons by Ranking Methods".

    Examples
    --------
    >>> wilcoxon_test(np.array([3.0, 4.0, 6.0]), np.array([1.0, 3.0, 3.0]))
    Verdict(p_value=0.25, sign=1.0)
    """
    apart = _segment_differences(first, second)
    if numbers is not None:
        apart = sum_groups(apart, numbers) / sum_groups(np.ones_like(apart), numbers)
    apart = apart[apart != 0.0]
    _, places, counts = np.unique(np.abs(apart), return_inverse=True, return_counts=True)
    # Twice the ranks: whole numbers also where they are shared.
    ranks = (2 * np.cumsum(counts) - counts + 1)[places]
    total = int(ranks.sum())
    advantage = 2 * int(ranks[apart > 0.0].sum()) - total
    off_centre, sign = abs(advantage), float(np.sign(advantage))
    if len(ranks) > _LARGEST_EXACT_WILCOXON:
        return Verdict(math.erfc(off_centre / math.sqrt(2.0 * float((ranks**2).sum()))), sign)
    # In how many of all choices of signs the positive ranks have each sum.
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    extreme = np.abs(2 * np.arange(total + 1) - total) >= off_centre
    return Verdict(float(ways[extreme].sum()) / 2.0 ** len(ranks), sign)


def check_test(test: str) -> Test:
    """The test, if there is one of that name."""
    for known in TESTS:
        if test == known:
            return known
    meant = hint_at(test, TESTS)
    raise InputError(f"there is no test {test!r}; there are {', '.join(TESTS)}{meant}")


def _segment_differences(first: Array, second: Array) -> Array:
    """Differences without what rounding made of them: 0.3 - 0.2 and 0.2 - 0.1 must tie.

    They are rounded to a binary fraction, 2^-44 of the largest score: 256 times as coarse as the
    score itself.
    """
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    unit = np.ldexp(1.0, max(int(np.frexp(largest)[1]) - 44, -1074))
    rounded: Array = np.round((first - second) / unit) * unit
    return rounded
