"""Ratings of the same units by the same raters in, intraclass correlations out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError, check_share
from deltableu.io import Cell, Column, Table, Tabular
from deltableu.rate.rater_rows import Ratings, rater_rows

Form = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]


@dataclass(frozen=True, slots=True)
class IntraclassCorrelation:
    """One form, its interval, and the F-test of there being no correlation.

    NaN where a form is undefined, as those of averages are when units do not differ at all.
    """

    form: Form
    value: float
    low: float
    high: float
    f: float
    df1: int
    df2: int
    p_value: float


@dataclass(frozen=True, slots=True)
class IntraclassCorrelations(Tabular):
    """All six forms, single raters first, and what they were computed from.

    `left_out` counts units that some rater did not rate.
    """

    forms: tuple[IntraclassCorrelation, ...]
    raters: int
    units: int
    left_out: int
    confidence: float

    def __getitem__(self, form: Form) -> IntraclassCorrelation:
        for one in self.forms:
            if one.form == form:
                return one
        names = ", ".join(one.form for one in self.forms)
        raise InputError(f"there is no form {form!r}; there are {names}")

    def table(self, *, digits: int = 3) -> Table:
        """A row for each form, with its interval and its F-test."""
        rows = ((o.form, Cell(o.value, o), o.f, o.df1, o.df2, o.p_value) for o in self.forms)
        columns = (
            *(Column("form"), Column("correlation", f".{digits}r"), Column("F", ".2f")),
            *(Column("df1"), Column("df2"), Column("p", "p")),
        )
        caption = f"{self.raters} raters, {self.units} units, {100 * self.confidence:g}% intervals"
        return Table(columns, rows, caption)


def intraclass_correlations(
    ratings: Ratings, *, confidence: float = 0.95
) -> IntraclassCorrelations:
    """The six intraclass correlations of Shrout and Fleiss.

    ICC1: each unit has raters of its own. ICC2: the same raters, drawn from many; whether they use
    the scale alike counts. ICC3: these raters only; shifts of the scale do not count. With `k`: of
    the mean of all raters rather than of one.

    Parameters
    ----------
    ratings
        A `RatingTable`, or raters x units. Units with a missing rating are left out.
    confidence
        The confidence of the intervals, which come from F distributions.

    References
    ----------
    Shrout and Fleiss 1979, "Intraclass Correlations: Uses in Assessing Rater Reliability",
    Psychological Bulletin 86. McGraw and Wong 1996, "Forming Inferences About Some Intraclass
    Correlation Coefficients", Psychological Methods 1 (intervals).

    Examples
    --------
    >>> found = intraclass_correlations([[9, 6, 8, 7], [2, 1, 4, 1], [5, 3, 6, 2]])
    >>> round(found["ICC3"].value, 3), round(found["ICC2"].value, 3)
    (0.714, 0.168)
    """
    check_share("confidence", confidence)
    _, rows = rater_rows(ratings)
    whole = rows[:, ~np.isnan(rows).any(axis=0)].T
    n, k = whole.shape
    if k < 2:
        raise InputError("intraclass correlations need at least 2 raters")
    if n < 2:
        raise InputError(
            f"intraclass correlations need at least 2 units that all {k} raters rated, got {n}: "
            "leave out raters, or use Krippendorff's alpha"
        )
    if np.ptp(whole) == 0.0:
        raise InputError("all ratings are equal: correlations are undefined")
    return IntraclassCorrelations(_forms(whole, confidence), k, n, rows.shape[1] - n, confidence)


def _forms(table: Array, confidence: float) -> tuple[IntraclassCorrelation, ...]:
    """Two-way analysis of variance without replication: units are rows, raters columns."""
    n, k = table.shape
    away = table - table.mean()
    units, raters = away.mean(axis=1), away.mean(axis=0)
    between = k * float((units**2).sum()) / (n - 1)
    judges = n * float((raters**2).sum()) / (k - 1)
    within = float(((away - units[:, None]) ** 2).sum()) / (n * (k - 1))
    error = float(((away - units[:, None] - raters) ** 2).sum()) / ((n - 1) * (k - 1))
    # What rounding leaves of no error is none.
    floor = 1e-24 * float((away**2).sum())
    within, error = (0.0 if value < floor else value for value in (within, error))
    one_way = (n - 1, n * (k - 1))
    two_way = (n - 1, (n - 1) * (k - 1))

    def single(other: float) -> float:
        return _ratio(between - other, between + (k - 1) * other)

    def mean(other: float) -> float:
        return _ratio(between - other, between)

    low1, high1 = _multiples(one_way, confidence)
    low3, high3 = _multiples(two_way, confidence)
    shift = k * (judges - error) / n
    second = _ratio(between - error, between + (k - 1) * error + shift)
    second_k = _ratio(between - error, max(between + shift / k, 0.0))
    low2, high2 = _second_interval(between, judges, error, n, k, second, confidence)
    return (
        _form("ICC1", single(within), single(low1 * within), single(high1 * within),
              between, within, one_way),
        _form("ICC2", second, low2, high2, between, error, two_way),
        _form("ICC3", single(error), single(low3 * error), single(high3 * error),
              between, error, two_way),
        _form("ICC1k", mean(within), mean(low1 * within), mean(high1 * within),
              between, within, one_way),
        _form("ICC2k", second_k, _averaged(low2, k),
              _averaged(high2, k), between, error, two_way),
        _form("ICC3k", mean(error), mean(low3 * error), mean(high3 * error),
              between, error, two_way),
    )  # fmt: skip


def _form(
    name: Form,
    value: float,
    low: float,
    high: float,
    between: float,
    other: float,
    degrees: tuple[int, int],
) -> IntraclassCorrelation:
    from scipy.special import fdtrc

    f = between / other if other > 0.0 else float("inf")
    p_value = 0.0 if np.isinf(f) else float(fdtrc(*degrees, f))
    return IntraclassCorrelation(name, value, low, high, f, *degrees, p_value)


def _multiples(degrees: tuple[int, int], confidence: float) -> tuple[float, float]:
    """By what the error is multiplied at the lower and the upper end of the interval."""
    from scipy.special import fdtri

    upper = (1.0 + confidence) / 2.0
    return float(fdtri(*degrees, upper)), 1.0 / float(fdtri(*degrees[::-1], upper))


def _second_interval(
    between: float, judges: float, error: float, n: int, k: int, value: float, confidence: float
) -> tuple[float, float]:
    """Shrout and Fleiss 1979, p. 424: Satterthwaite's degrees of freedom."""
    if judges == 0.0 and error == 0.0:
        return 1.0, 1.0
    if np.isnan(value):
        return float("nan"), float("nan")
    a, b = k * value * judges, (n * (1.0 + (k - 1) * value) - k * value) * error
    below = (n - 1) * a**2 + b**2
    if below == 0.0:
        return float("nan"), float("nan")
    degrees = (k - 1) * (n - 1) * (a + b) ** 2 / below
    from scipy.special import fdtri

    upper = (1.0 + confidence) / 2.0
    rest = k * judges + (k * n - k - n) * error
    high_f = float(fdtri(n - 1, degrees, upper))
    low_f = float(fdtri(degrees, n - 1, upper))
    low = _ratio(n * (between - high_f * error), high_f * rest + n * between)
    high = _ratio(n * (low_f * between - error), rest + n * low_f * between)
    return low, high


def _averaged(value: float, k: int) -> float:
    """Spearman and Brown: the reliability of a mean of k; without bound below."""
    below = 1.0 + value * (k - 1)
    return float("-inf") if below <= 0.0 else _ratio(value * k, below)


def _ratio(above: float, below: float) -> float:
    """At most 1, whatever rounding says; NaN for a division by 0."""
    ratio = above / below if below != 0.0 else float("nan")
    return 1.0 if 1.0 < ratio < 1.0 + 1e-12 else ratio
