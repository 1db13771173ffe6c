"""Two columns of numbers in, how well they agree out: Pearson, Spearman, the Kendall family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_choice
from deltableu.stats.kendall import SHORT, row_counts, sign_sums, tau
from deltableu.stats.permutation import Alternative

Method = Literal["pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like"]

#: Numbers centred at once: few enough for the cache.
_CHUNK = 65_536
#: What is left of a variance after rounding: less is none.
_NOTHING = 1e-14


def correlate(
    x: ArrayLike, y: ArrayLike, method: Method = "pearson", *, threshold: float = 25.0
) -> Array:
    """Correlation along the last axis, for all leading axes at once.

    Parameters
    ----------
    x, y
        Finite numbers, observations on the last axis; leading axes are broadcast. For
        `kendall-like` y is the human side, for the others order does not matter.
    method
        `pearson`; `spearman` with average ranks; `kendall-b` and `kendall-c` as scipy's variants;
        `kendall-wei`: (C - D) / (C + D), pairs tied on either side dropped; `kendall-like`: the
        same ratio over pairs whose human scores differ by the threshold or more, a tie of the
        metric counting as discordant.
    threshold
        For `kendall-like`: 25 on the raw 0-100 scale of WMT's daRR.

    Returns
    -------
    array
        One value for each place of the leading axes; NaN where there is none: fewer than two
        observations, a constant side, or (kendall-wei, kendall-like) no pair that counts. Where x
        alone is constant `kendall-like` is -1, all its pairs being tied.

    References
    ----------
    Kendall 1945 (tau-b); Stuart 1953 (tau-c); Wei, On conducting better validation studies of
    automatic metrics in NLG evaluation; Ma et al. 2019 (daRR).

    Examples
    --------
    >>> metric = [[0.1, 0.4, 0.3, 0.8], [0.5, 0.5, 0.5, 0.5]]
    >>> correlate(metric, [1, 2, 2, 5], "kendall-b").round(3)
    array([0.913,   nan])
    """
    check_method(method)
    first, second = _paired(x, y)
    if not threshold >= 0.0:
        raise InputError(f"threshold must be 0 or more, got {threshold:g}")
    shape = np.broadcast_shapes(first.shape, second.shape)
    size = shape[-1]
    if size < 2 or 0 in shape:
        return np.full(shape[:-1], np.nan)
    if method == "pearson":
        return _pearson(first, second)
    if method == "spearman":
        return _pearson(average_ranks(first), average_ranks(second))
    rows = np.broadcast_to(first, shape).reshape(-1, size)
    # One human column for a whole batch is sorted once.
    shared = second.size == size
    others = second.reshape(1, size) if shared else np.broadcast_to(second, shape).reshape(-1, size)
    counts = row_counts(rows, others, threshold if method == "kendall-like" else 0.0)
    distinct: Any = 0
    if method == "kendall-c":
        distinct = np.minimum(count_distinct(rows), count_distinct(others))
    return tau(method, counts, size, distinct).reshape(shape[:-1])


def average_ranks(x: Array) -> Array:
    """Ranks along the last axis from 1; equal values share the mean of their ranks."""
    size = x.shape[-1]
    if size < 2 or x.size == 0:
        return np.ones(x.shape)
    rows = x.reshape(-1, size)
    if size <= SHORT:
        columns = np.ascontiguousarray(rows.T)[np.newaxis]
        ranks = (size + 1.0 + sign_sums(columns)[0].T) / 2.0
    else:
        step = max(1, _CHUNK // size)
        parts = [_sorted_ranks(rows[i : i + step]) for i in range(0, len(rows), step)]
        ranks = np.concatenate(parts)
    return np.ascontiguousarray(ranks).reshape(x.shape)


def _sorted_ranks(rows: Array) -> Array:
    size = rows.shape[1]
    order = np.argsort(rows, axis=1)
    values = np.take_along_axis(rows, order, axis=1)
    places = np.arange(size)
    starts = np.ones(values.shape, bool)
    starts[:, 1:] = values[:, 1:] != values[:, :-1]
    ranks = np.empty(values.shape)
    if starts.all():  # no ties
        np.put_along_axis(ranks, order, np.broadcast_to(places + 1.0, order.shape), axis=1)
        return ranks
    ends = np.roll(starts, -1, axis=1)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, size)[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(ranks, order, (first + last) / 2.0 + 1.0, axis=1)
    return ranks


def partial_correlation(
    x: ArrayLike, y: ArrayLike, control: ArrayLike, method: Method = "pearson"
) -> Array:
    """Correlation of x and y with what both share with the control (say, length) taken out.

    The formula for Pearson's partial correlation, on the chosen correlation. NaN where the
    control determines x or y; a constant control takes out nothing.

    References
    ----------
    Kendall 1942, Partial rank correlation.

    Examples
    --------
    >>> length = [5, 9, 14, 20, 26, 31]
    >>> float(partial_correlation([1, 2, 2, 4, 5, 6], [2, 1, 3, 3, 6, 5], length).round(3))
    -0.352
    """
    if method == "kendall-like":
        raise InputError("kendall-like is not symmetric: it has no partial form")
    between = correlate(x, y, method)
    with_x = np.nan_to_num(correlate(x, control, method))
    with_y = np.nan_to_num(correlate(y, control, method))
    left = (1.0 - with_x**2) * (1.0 - with_y**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (between - with_x * with_y) / np.sqrt(left)
    return np.asarray(np.clip(np.where(left > _NOTHING, values, np.nan), -1.0, 1.0))


@dataclass(frozen=True, slots=True)
class CorrelationTest:
    """A correlation and the p-value of its being 0."""

    method: Method
    r: float
    n: int
    p_value: float
    alternative: Alternative


def correlation_p_value(
    r: float,
    n: int,
    method: Method = "pearson",
    *,
    alternative: Alternative = "two-sided",
    controls: int = 0,
) -> float:
    """The p-value of a true correlation of 0, given what was observed.

    Parameters
    ----------
    r, n
        The correlation and its number of observations.
    method
        Pearson and Spearman use Student's t with n - 2 degrees of freedom, the Kendall family
        its normal approximation without ties (`correlation_test` knows the ties).
    alternative
        `greater` where only a positive correlation counts as a finding.
    controls
        Variables partialled out of r; each costs a degree of freedom.

    Examples
    --------
    >>> round(correlation_p_value(0.878, 5), 3)
    0.05
    """
    check_method(method)
    check_choice("alternative", alternative, get_args(Alternative))
    if abs(r) > 1.0:
        raise InputError(f"a correlation lies in [-1, 1], got {r:g}")
    left = n - controls
    if np.isnan(r) or left < 3:
        return float("nan")
    from scipy.special import ndtr, stdtr

    if method in ("pearson", "spearman"):
        squared = 1.0 - r * r
        t = r * np.sqrt((left - 2) / squared) if squared > 0.0 else np.copysign(np.inf, r)
        below, above = float(stdtr(left - 2, t)), float(stdtr(left - 2, -t))
    elif method == "kendall-like":
        raise InputError("the pairs of kendall-like are not independent: use a permutation test")
    else:
        z = r / np.sqrt(2.0 * (2 * left + 5) / (9.0 * left * (left - 1)))
        below, above = float(ndtr(z)), float(ndtr(-z))
    tails = {"two-sided": 2.0 * min(below, above), "greater": above, "less": below}
    return min(1.0, tails[alternative])


def correlation_test(
    x: ArrayLike,
    y: ArrayLike,
    method: Method = "pearson",
    *,
    alternative: Alternative = "two-sided",
) -> CorrelationTest:
    """A correlation and the p-value of a true one of 0, from the observations.

    Unlike `correlation_p_value` it takes ties into account for the Kendall family, and counts
    exactly where there are few observations and no ties (scipy's `kendalltau`).

    Examples
    --------
    >>> test = correlation_test([1, 2, 3, 4, 5], [1, 3, 2, 4, 5], "kendall-b")
    >>> test.r, round(test.p_value, 4)
    (0.8, 0.0833)
    """
    first, second = _paired(x, y)
    if first.ndim != 1 or second.ndim != 1:
        raise InputError("a test needs two plain lists of numbers")
    r, n = float(correlate(first, second, method)), first.shape[-1]
    p_value = correlation_p_value(r, n, method, alternative=alternative)
    if method.startswith("kendall") and not np.isnan(r):
        from scipy.stats import kendalltau

        p_value = float(kendalltau(first, second, alternative=alternative).pvalue)
    return CorrelationTest(method, r, n, p_value, alternative)


def check_method(method: str) -> None:
    """Refuse what is not a `Method`."""
    if method not in get_args(Method):
        raise InputError(f"there is no correlation {method!r}; use {', '.join(get_args(Method))}")


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim == 0 or second.ndim == 0 or first.shape[-1] != second.shape[-1]:
        raise InputError(
            f"x and y must have as many observations; got shapes {first.shape} and {second.shape}"
        )
    try:
        np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise InputError(
            f"the leading axes of x and y do not fit: {first.shape} and {second.shape}"
        ) from None
    for name, values in (("x", first), ("y", second)):
        if not np.isfinite(values).all():
            raise InputError(f"{name} must be finite; leave out missing observations in pairs")
    return first, second


def _pearson(x: Array, y: Array) -> Array:
    """Centred dot products over norms; 0/0 where a side is constant."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    size = shape[-1]
    rows = np.broadcast_to(x, shape).reshape(-1, size)
    others = np.broadcast_to(y, shape).reshape(-1, size)
    # One column for a whole batch is centred once.
    shared = centred(y.reshape(1, size)) if y.size == size else None
    values = np.empty(len(rows))
    step = max(1, _CHUNK // size)
    for i in range(0, len(rows), step):
        a = centred(rows[i : i + step])
        b = centred(others[i : i + step]) if shared is None else np.broadcast_to(shared, a.shape)
        with np.errstate(invalid="ignore"):
            values[i : i + step] = _dots(a, b) / np.sqrt(_dots(a, a) * _dots(b, b))
    return np.clip(values, -1.0, 1.0).reshape(shape[:-1])


def centred(tables: Array) -> Array:
    """Values about their mean along axis 1, within [-2, 2]; 0 where missing (NaN) or constant."""
    # Taking off the first value makes a constant exactly 0; scaling keeps squares in range.
    away = tables - tables[:, :1]
    reach = np.maximum(away.max(axis=1, keepdims=True), -away.min(axis=1, keepdims=True))
    if not np.isnan(reach).any():
        away /= np.where(reach > 0.0, reach, 1.0)
        away -= away.mean(axis=1, keepdims=True)
        return away
    missing = np.isnan(tables)
    firsts = np.argmin(missing, axis=1, keepdims=True)
    away = tables - np.take_along_axis(tables, firsts, axis=1)
    away[missing] = 0.0
    reach = np.abs(away).max(axis=1, keepdims=True)
    away /= np.where(reach > 0.0, reach, 1.0)
    away -= away.sum(axis=1, keepdims=True) / np.maximum((~missing).sum(axis=1, keepdims=True), 1)
    away[missing] = 0.0
    return away


def _dots(a: Array, b: Array) -> Array:
    # Not a matrix product: its rounding depends on where a row stands in the batch.
    return np.asarray(np.einsum("ri,ri->r", a, b))


def count_distinct(tables: Array) -> Ints:
    """How many different values there are along axis 1, missing ones (NaN) aside."""
    values = np.sort(tables, axis=1)
    # Missing values are sorted last, and none equals another.
    new = (values[:, 1:] != values[:, :-1]) & ~np.isnan(values[:, 1:])
    return np.asarray(1 + new.sum(axis=1))


def best_fit(x: Array, y: Array) -> tuple[float, float]:
    """Intercept and slope of least squares; a flat line where all x are equal.

    Examples
    --------
    >>> best_fit(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    (1.0, 2.0)
    """
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ y) / spread if spread > 0.0 else 0.0
    return float(y.mean()) - slope * float(x.mean()), slope
