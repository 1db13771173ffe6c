"""Two metrics' scores and people's in; by how much one agrees better, with an interval, out.

Items and systems are drawn again with replacement. Agreement mostly depends on a few sums, and
sums of drawn scores need no copy of them; only rank correlations of all outputs together do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.errors import InputError
from deltableu.stats import (
    ConfidenceInterval,
    Method,
    bootstrap_sums,
    percentile_interval,
    sign_p_value,
    stream,
)
from deltableu.validate.agreement_bootstrap import Resample
from deltableu.validate.levels import Level, Undefined
from deltableu.validate.paired_scores import (
    SCALE,
    PairedScores,
    check_choice,
    in_blocks,
    pearson_of_sums,
)

__all__ = ["BootstrapDifference", "bootstrap_difference"]

_DRAWS = 3  # key of the random streams, apart from those of `stats.resampling`


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapDifference:
    """By how much the first metric agrees better with people, and how sure that is.

    Attributes
    ----------
    undefined : int
        Resamples that left no agreement to compute; they are left out.
    distribution : array
        Differences of the resamples, without the undefined.
    """

    first: float
    second: float
    difference: float
    interval: ConfidenceInterval
    standard_error: float
    resample: Resample
    method: Method
    level: Level
    undefined: int
    distribution: Array

    @property
    def p_value(self) -> float:
        """Two-sided, by inversion: the level at which the interval would just reach 0."""
        return sign_p_value(self.distribution, scale=SCALE)

    def p_values(self) -> tuple[float, float]:
        """One-sided p-values: that the first metric is better, and that the second is."""
        return (
            sign_p_value(self.distribution, alternative="greater", scale=SCALE),
            sign_p_value(self.distribution, alternative="less", scale=SCALE),
        )


def bootstrap_difference(
    x: ArrayLike,
    y: ArrayLike,
    human: ArrayLike,
    *,
    method: Method = "pearson",
    level: Level = "system",
    resample: Resample = "both",
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    undefined: Undefined = "zero",
    threshold: float = 25.0,
    threads: int | None = None,
) -> BootstrapDifference:
    """Estimate by how much metric X agrees better with people than metric Y.

    Parameters
    ----------
    x, y, human
        Scores, systems x items; NaN where a score is missing, in the same places of all three.
    method, level, undefined, threshold
        How agreement is measured: see `agreement`.
    resample
        What is drawn again, with replacement: `items`, `systems`, or `both`. The interval speaks
        of other items, other systems, or both.
    confidence
        Level of the percentile interval.
    resamples, seed
        As in `permutation_test`.

    References
    ----------
    Deutsch et al. 2021 (BOOT-SYSTEMS, BOOT-INPUTS, BOOT-BOTH); Efron 1979.

    Examples
    --------
    >>> human = np.arange(24.0).reshape(6, 4) % 7
    >>> noise = np.cos(np.arange(24.0)).reshape(6, 4)
    >>> result = bootstrap_difference(human + noise, human + 9 * noise, human, level="pooled")
    >>> round(result.difference, 2), result.interval.low > 0
    (0.37, True)
    """
    check_choice("resample", resample, get_args(Resample))
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence}")
    scores = PairedScores.of(x, y, human, method, level, undefined, threshold)
    first, second = scores.observed()
    work = partial(_drawn_differences, scores, resample, seed)
    drawn = in_blocks(work, resamples, scores.trial_size, threads)
    distribution = drawn[~np.isnan(drawn)]
    if len(distribution) < 2:
        raise InputError("hardly any resample left an agreement to compute: there is too little")
    low, high = percentile_interval(distribution, confidence)
    name = f"bootstrap of {'systems and items' if resample == 'both' else resample}"
    return BootstrapDifference(
        first,
        second,
        first - second,
        ConfidenceInterval(low, high, confidence, name),
        float(distribution.std(ddof=1)),
        resample,
        method,
        level,
        len(drawn) - len(distribution),
        distribution,
    )


def _drawn_differences(
    scores: PairedScores, resample: Resample, seed: int, block: int, first: int, last: int
) -> Array:
    """Differences of agreement in resamples number `first` to `last`."""
    trials = last - first
    rows = stream(seed, _DRAWS, block, 0).integers(len(scores.x), size=(trials, len(scores.x)))
    for_items = int(stream(seed, _DRAWS, block, 1).integers(2**63))
    if scores.sums_tell:
        return _from_sums(scores, resample, rows, for_items)
    if scores.level == "item":
        return _from_items(scores, resample, rows, for_items)
    systems, items = scores.x.shape
    if resample == "items":
        rows[:] = np.arange(systems)
    columns = np.broadcast_to(np.arange(items), (trials, items))
    if resample != "systems":
        columns = stream(for_items).integers(items, size=(trials, items))
    tables = (scores.x, scores.y, scores.human)
    if scores.present.all():
        x, y, human = (t[rows[:, :, np.newaxis], columns[:, np.newaxis, :]] for t in tables)
        return scores.agree(x, human) - scores.agree(y, human)
    # Each resample misses other scores.
    differences = np.empty(trials)
    for trial in range(trials):
        x, y, human = (t[np.ix_(rows[trial], columns[trial])] for t in tables)
        differences[trial] = scores.agree(x, human) - scores.agree(y, human)
    return differences


def _from_items(scores: PairedScores, resample: Resample, rows: Ints, seed: int) -> Array:
    """Each item's agreement is computed once for all draws of items."""
    tables = (scores.x[np.newaxis], scores.y[np.newaxis], scores.human[np.newaxis])
    if resample != "items":
        tables = (scores.x[rows], scores.y[rows], scores.human[rows])
    x, y, human = tables
    means = []
    for metric in (x, y):
        values, weights = scores.by_item(metric, human)
        parts = np.stack([values * weights, weights], axis=-1)
        if resample == "items":
            sums = bootstrap_sums(parts[0], len(rows), seed, threads=1)
        elif resample == "both":
            # The same draws of items for both metrics.
            columns = stream(seed).integers(parts.shape[1], size=parts.shape[:2])
            sums = np.take_along_axis(parts, columns[:, :, np.newaxis], axis=1).sum(axis=1)
        else:
            sums = parts.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            means.append(sums[:, 0] / sums[:, 1])
    return np.asarray(means[0] - means[1])


def _from_sums(scores: PairedScores, resample: Resample, rows: Ints, seed: int) -> Array:
    """Sums over drawn items, system by system, and then over drawn systems."""
    x, y, h = scores.filled()
    parts = [scores.present.astype(np.float64), x, y, h]
    if scores.level == "pooled":
        parts += [x**2, y**2, h**2, x * h, y * h]
    table = np.stack(parts, axis=-1)
    systems, items, features = table.shape
    trials = len(rows)
    if resample == "systems":
        sums = np.broadcast_to(table.sum(axis=1), (trials, systems, features))
    else:
        by_item = np.ascontiguousarray(table.transpose(1, 0, 2)).reshape(items, -1)
        drawn = bootstrap_sums(by_item, trials, seed, threads=1)
        sums = drawn.reshape(trials, systems, features)
    if resample != "items":
        sums = np.take_along_axis(sums, rows[:, :, np.newaxis], axis=1)
    if scores.level == "system":
        differences = np.full(trials, np.nan)
        whole = (sums[..., 0] > 0.0).all(axis=1)
        means = sums[whole, :, 1:] / sums[whole, :, :1]
        differences[whole] = scores.compare_means(means[..., 0], means[..., 1], means[..., 2])
        return differences
    size, sx, sy, sh, xx, yy, hh, xh, yh = np.moveaxis(sums.sum(axis=1), -1, 0)
    one, two = np.stack([sx, xx, xh], axis=-1), np.stack([sy, yy, yh], axis=-1)
    return pearson_of_sums(one, sh, hh, size) - pearson_of_sums(two, sh, hh, size)
