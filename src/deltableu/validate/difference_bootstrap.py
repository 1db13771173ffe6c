"""Two metrics' scores and people's in; by how much one agrees better, with an interval, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_choice, check_share
from deltableu.stats import (
    ConfidenceInterval,
    Method,
    bootstrap_counts,
    draw_counts,
    percentile_interval,
    sign_p_value,
    stream,
)
from deltableu.validate.agreement_bootstrap import Resample
from deltableu.validate.levels import Level, Measure, Undefined
from deltableu.validate.paired_scores import (
    SCALE,
    Groups,
    PairedScores,
)
from deltableu.validate.resampled_scores import ResampledScores, resample_tables

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
        greater = sign_p_value(self.distribution, alternative="greater", scale=SCALE)
        return greater, sign_p_value(self.distribution, alternative="less", scale=SCALE)


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
    groups: Groups | None = None,
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
    groups
        What each item belongs to (a document, a dialogue): whole groups are drawn.

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
    check_share("confidence", confidence)
    measure = Measure(method, level, undefined, threshold)
    scores = PairedScores.of({"x": x, "y": y}, human, measure, groups)
    return DrawnMetrics(scores, resample, resamples, seed, threads).difference("x", "y", confidence)


class DrawnMetrics:
    """Agreement of metrics with people in the same draws, which are made once for all of them."""

    def __init__(
        self,
        scores: PairedScores,
        resample: Resample,
        resamples: int = 1000,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.scores, self.resample, self.seed = scores, resample, seed
        self.resamples, self.threads = resamples, threads
        # What is found of each metric.
        self._observed: dict[str, float] = {}
        self._drawn: dict[str, Array] = {}

    def difference(self, x: str, y: str, confidence: float = 0.95) -> BootstrapDifference:
        """By how much a metric agrees better than another."""
        scores, how, resample = self.scores, self.scores.measure, self.resample
        for metric in (x, y):
            if metric not in self._observed:
                self._observed[metric] = scores.observed(metric)
        self._draw(x, y)
        drawn = self._drawn[x] - self._drawn[y]
        distribution = drawn[~np.isnan(drawn)]
        if len(distribution) < 2:
            raise InputError(
                "hardly any resample left an agreement to compute: there is too little"
            )
        low, high = percentile_interval(distribution, confidence)
        name = f"bootstrap of {'systems and items' if resample == 'both' else resample}"
        name += " by group" * (scores.codes is not None)
        return BootstrapDifference(
            self._observed[x],
            self._observed[y],
            self._observed[x] - self._observed[y],
            ConfidenceInterval(low, high, confidence, name),
            float(distribution.std(ddof=1)),
            resample,
            how.method,
            how.level,
            len(drawn) - len(distribution),
            distribution,
        )

    def _draw(self, *metrics: str) -> None:
        """Agreement of metrics in all draws, where it is not known."""
        scores, resample, seed = self.scores, self.resample, self.seed
        labels = None if scores.codes is None else scores.codes.tolist()
        tables = {
            metric: ResampledScores.of(scores.metrics[metric], scores.human, scores.measure, labels)
            for metric in metrics
            if metric not in self._drawn
        }
        systems, items = len(scores.human), scores.units
        # Which draws are whose was decided when each way of counting had its own; seeds keep their
        # meaning.
        as_sums = scores.sums_tell or (scores.measure.level == "item" and resample == "items")

        def draw(block: int, begin: int, end: int) -> tuple[Ints | None, Ints | None]:
            rows = counts = None
            if resample != "items":
                size = (end - begin, systems)
                rows = stream(seed, _DRAWS, block, 0).integers(systems, size=size)
            if resample != "systems":
                own = int(stream(seed, _DRAWS, block, 1).integers(2**63))
                if as_sums:
                    counts = bootstrap_counts(items, end - begin, own)
                else:
                    draws = stream(own).integers(items, size=(end - begin, items))
                    counts = draw_counts(draws, items)
            return counts, rows

        if tables:
            agreements = resample_tables(
                list(tables.values()),
                draw,
                self.resamples,
                scores.trial_size,
                systems=resample != "items",
                threads=self.threads,
            )
            self._drawn.update(zip(tables, agreements.T, strict=True))
