"""Metric and human scores of systems on items in, their agreement at a level out.

The level says what is compared: systems by their means, all outputs together, or the systems
within each item.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_choice
from deltableu.stats import (
    Method,
    centred,
    check_method,
    column_counts,
    correlate,
    count_distinct,
    sign_sums,
    tau,
)

Level = Literal["system", "pooled", "item"]
#: How often a metric prefers what people prefer.
AccuracyMethod = Literal[
    "pairwise-accuracy",
    "spa",
    "acc-eq",
    "acc-eq-in-sample",
    "acc-eq-by-system",
    "auc",
    "average-precision",
]
Undefined = Literal["zero", "drop"]

#: Scores worked on at once.
_CHUNK = 500_000
#: Means are known no better, relative to their usual size.
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class LevelAgreement:
    """Agreement at a level.

    Attributes
    ----------
    value : float
        NaN where it is undefined.
    units : int
        What was compared: systems, outputs (pooled), or items whose values were averaged.
    dropped : int
        Systems, outputs or items that could not be used.
    """

    value: float
    units: int
    dropped: int


def agreement(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    method: Method = "pearson",
    level: Level = "system",
    undefined: Undefined = "zero",
    threshold: float = 25.0,
) -> Array:
    """Agreement of metric and human scores, for all leading axes at once.

    Parameters
    ----------
    metric, human
        Scores [..., systems, items]; leading axes (resamples, metrics) are broadcast. NaN is a
        missing score: an output counts where both sides have one. Within a batch the same scores
        must be missing.
    method
        As in `correlate`.
    level
        `system`: correlation over systems of their means over the items that count. `pooled`:
        over all outputs that count. `item`: over systems within each item, averaged over the
        items; but `kendall-like` counts the pairs of all items together, as WMT's daRR does.
    undefined
        For `item`: an item where people tie all systems is always left out, as no metric could
        agree with it. Where the metric alone is constant the item counts `zero`, as in WMT,
        so that a metric does not gain by refusing to tell, or is left out (`drop`).
    threshold
        For `kendall-like`.

    Returns
    -------
    array
        One value for each place of the leading axes; NaN where undefined.

    References
    ----------
    Deutsch, Dror, Roth 2021, A statistical analysis of summarization evaluation metrics using
    resampling methods.

    Examples
    --------
    >>> human = [[4, 5, 3], [2, 3, 3], [1, 4, 2]]
    >>> metric = [[0.9, 0.8, 0.7], [0.5, 0.5, 0.2], [0.4, 0.3, 0.6]]
    >>> float(agreement(metric, human, method="kendall-b", level="item").round(3))
    0.444
    """
    x, y, mask = check_tables(metric, human, method, level, undefined, batch=True)
    if level == "pooled":
        return correlate(_cells(x, mask), _cells(y, mask), method, threshold=threshold)
    if level == "system":
        x, y = system_means(x, mask), system_means(y, mask)
        if method != "pearson":
            x, y = rounded_ties(x), rounded_ties(y)
        return correlate(x, y, method, threshold=threshold)
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    tables = x.shape[-2:]
    if mask is not None:
        x, y = np.where(mask, x, np.nan), np.where(mask, y, np.nan)
    rows = np.broadcast_to(x, batch + tables).reshape(-1, *tables)
    shared = y.size == tables[0] * tables[1]
    others = (y if shared else np.broadcast_to(y, batch + tables)).reshape(-1, *tables)
    values = np.empty(len(rows))
    step = max(1, _CHUNK // max(1, tables[0] * tables[1]))
    for i in range(0, len(rows), step):
        other = others if shared else others[i : i + step]
        part = item_agreement(rows[i : i + step], other, method, undefined, threshold)
        values[i : i + step] = _weighted_mean(*part)
    return values.reshape(batch)


@dataclass(frozen=True, slots=True)
class Measure:
    """How agreement is measured: see `agreement`."""

    method: Method
    level: Level
    undefined: Undefined
    threshold: float

    def __post_init__(self) -> None:
        _check_measure(self.method, self.level, self.undefined)

    def agree(self, metric: Array, human: Array) -> Array:
        """Agreement of a batch of tables, all missing the same scores."""
        return agreement(metric, human, **asdict(self))


def level_agreement(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    method: Method = "pearson",
    level: Level = "system",
    undefined: Undefined = "zero",
    threshold: float = 25.0,
) -> LevelAgreement:
    """Agreement of one metric with people, and what it was computed from.

    Parameters are those of `agreement`, without leading axes.

    Examples
    --------
    >>> level_agreement([[1, 2, 3], [2, 3, 5]], [[1, 1, 4], [3, 1, 5]], level="item")
    LevelAgreement(value=1.0, units=2, dropped=1)
    """
    x, y, mask = check_tables(metric, human, method, level, undefined)
    options: dict[str, Any] = {"undefined": undefined, "threshold": threshold}
    value = float(agreement(x, y, method=method, level=level, **options))
    present = np.ones(x.shape, bool) if mask is None else mask
    if level == "pooled":
        used, all_units = int(present.sum()), present.size
    elif level == "system":
        used, all_units = int(present.any(axis=1).sum()), len(present)
    else:
        tables = [np.where(present, side, np.nan)[np.newaxis] for side in (x, y)]
        _, weights = item_agreement(tables[0], tables[1], method, undefined, threshold)
        used, all_units = int(np.count_nonzero(weights)), weights.size
    return LevelAgreement(value, used, all_units - used)


def item_agreement(
    x: Array, y: Array, method: Method, undefined: Undefined = "zero", threshold: float = 25.0
) -> tuple[Array, Array]:
    """Values and weights of the items of tables [batch, systems, items].

    The value is the correlation over systems within the item, and 0 where it does not count. The
    weight is 1, or for `kendall-like` the number of pairs, and 0 for an item that does not count:
    the weighted mean is the agreement. A score missing on one side (NaN) must be missing on both;
    `y` may be a batch of one.
    """
    told: Any  # above 0 where people tell systems apart
    if method == "pearson" or method == "spearman":
        a, b = (sign_sums(v) if method == "spearman" else centred(v) for v in (x, y))
        told = _sums(b, b)
        with np.errstate(invalid="ignore"):
            values = np.clip(_sums(a, b) / np.sqrt(_sums(a, a) * told), -1.0, 1.0)
    else:
        counts = column_counts(x, y, threshold if method == "kendall-like" else 0.0)
        told = counts.apart_y
        size: Any = 0
        distinct: Any = 0
        if method == "kendall-c":
            size = (~np.isnan(y)).sum(axis=1)
            distinct = np.minimum(count_distinct(x), count_distinct(y))
        values = tau(method, counts, size, distinct)
    counted = ~np.isnan(values)
    if undefined == "zero":
        counted |= told > 0
    weights = counted.astype(np.float64)
    if method == "kendall-like":
        weights *= told
    return np.where(np.isnan(values), 0.0, values), weights


def check_tables(
    metric: ArrayLike,
    human: ArrayLike,
    method: Method = "pearson",
    level: Level = "system",
    undefined: Undefined = "zero",
    *,
    batch: bool = False,
) -> tuple[Array, Array, Bools | None]:
    """Both sides as arrays, and which outputs count (None: all do)."""
    _check_measure(method, level, undefined)
    x, y = np.asarray(metric, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.ndim < 2 or y.ndim < 2 or x.shape[-2:] != y.shape[-2:]:
        raise InputError(
            "metric and human scores must be tables of the same systems x items; got shapes "
            f"{x.shape} and {y.shape}"
        )
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise InputError(f"the batches do not fit: shapes {x.shape} and {y.shape}") from None
    if not batch and (x.ndim > 2 or y.ndim > 2):
        raise InputError("give one table of systems x items; use agreement() for a batch")
    systems, items = x.shape[-2:]
    check_systems(systems, level)
    if items < 1:
        raise InputError("agreement needs at least 1 item, got none")
    missing = [_missing(x, "metric"), _missing(y, "human")]
    if missing[0] is None and missing[1] is None:
        return x, y, None
    mask = np.ones((systems, items), bool)
    for one in missing:
        if one is not None:
            mask &= ~one
    if not mask.any():
        raise InputError("no output has both a metric and a human score")
    if level == "system" and mask.any(axis=1).sum() < 2:
        raise InputError("fewer than 2 systems have outputs with both a metric and a human score")
    return x, y, mask


def check_systems(systems: int, level: Level) -> None:
    """Refuse fewer systems than a level compares; outputs of one can be pooled."""
    least = 1 if level == "pooled" else 2
    if systems < least:
        raise InputError(
            f"agreement at level {level!r} needs at least {least} system{'s' * (least > 1)}, got "
            f"{systems}"
        )


def _check_measure(method: Method, level: Level, undefined: Undefined) -> None:
    check_method(method)
    check_choice("level", level, get_args(Level))
    check_choice("undefined", undefined, get_args(Undefined))


def _missing(scores: Array, name: str) -> Bools | None:
    """Where a side has no score; None where it has all."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(scores.sum()) or np.isfinite(scores).all():
            return None
    if np.isinf(scores).any():
        raise InputError(f"{name} scores must be finite, or NaN where they are missing")
    missing = np.isnan(scores)
    first: Bools = missing.reshape(-1, *scores.shape[-2:])[0]
    if (missing != first).any():
        raise InputError(f"the same {name} scores must be missing throughout a batch")
    return first


def _cells(scores: Array, mask: Bools | None) -> Array:
    """The outputs that count, of all systems, in one row."""
    systems, items = scores.shape[-2:]
    if mask is None:
        return scores.reshape(*scores.shape[:-2], systems * items)
    return scores[..., mask]


def system_means(scores: Array, mask: Bools | None) -> Array:
    """Means over the items that count, of the systems that have any."""
    if mask is None:
        return np.asarray(scores.mean(axis=-1))
    kept = mask.any(axis=1)
    # About a score, so that means of equal scores stay equal whatever their number.
    system, item = np.argwhere(mask)[0]
    away = scores - scores[..., system, item][..., np.newaxis, np.newaxis]
    sums = np.where(mask, away, 0.0).sum(axis=-1)
    return np.asarray(sums[..., kept] / mask.sum(axis=1)[kept])


def rounded_ties(means: Array) -> Array:
    """Means that differ by no more than rounding, made equal: in ranks they are ties."""
    top = usual_size(means)
    return np.round(means / top, _DIGITS) * top if top > 0.0 else means


def usual_size(scores: Array) -> float:
    """What nine of ten scores do not exceed in size: an outlier does not set the scale."""
    sizes = np.abs(scores[~np.isnan(scores)])
    return float(np.quantile(sizes, 0.9, method="lower")) if sizes.size else 0.0


def _weighted_mean(values: Array, weights: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray((values * weights).sum(axis=-1) / weights.sum(axis=-1))


def _sums(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("bsi,bsi->bi", *np.broadcast_arrays(a, b)))
