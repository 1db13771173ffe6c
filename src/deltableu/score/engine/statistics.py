"""Statistics: one row per segment; any sum of rows is a corpus, so text is never touched twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.errors import InputError
from deltableu.score.results import Score
from deltableu.stats import (
    ConfidenceInterval,
    bca_interval,
    jackknife_interval,
    percentile_interval,
    sum_groups,
)

if TYPE_CHECKING:
    from deltableu.score.engine.chunks import ReferenceInfo
    from deltableu.score.metric import Metric


IntervalMethod = Literal["jackknife", "percentile", "bca"]

#: Resampled indices held in memory at once.
_BATCH = 4_000_000


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of resampled corpora, and the interval read off them."""

    distribution: Array
    interval: ConfidenceInterval
    standard_error: float


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """One float64 row a segment, and the metric that knows what the columns mean.

    Examples
    --------
    >>> from deltableu import BLEU
    >>> metric = BLEU(order=2)
    >>> encoded = metric.encode([["a b c"], ["x y"]])
    >>> rows = metric.statistics(["a b c", "x z"], encoded)
    >>> round(rows.score().score, 2), rows[:1].score().score
    (73.03, 100.0)
    """

    rows: Array
    metric: Metric
    info: ReferenceInfo

    @property
    def adds_up(self) -> bool:
        """Whether any sum of rows is a corpus."""
        return True

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Statistics:
        """Statistics of some segments: a mask, a slice, a list of indices or one index."""
        rows = self.rows[index]
        rows = rows[None, :] if rows.ndim == 1 else rows
        return Statistics(rows, self.metric, replace(self.info, items=len(rows)))

    def sums(self) -> Array:
        """What the score of all segments is made of."""
        sums: Array = self.rows[0] if len(self.rows) == 1 else self.rows.sum(axis=0)
        return sums

    def score(self) -> Score:
        """The score of these segments taken together."""
        if len(self.rows) == 0:
            raise InputError("there is nothing to score: the corpus has no segments")
        return self.metric.result(self.sums(), len(self.rows), self.metric.signature(self.info))

    def segment_scores(self) -> Array:
        """The score of each segment by itself."""
        return self.metric.segment_scores(self.rows)

    def resample(self, indices: Ints) -> Array:
        """Scores of corpora made of the given segments, one corpus per row of `indices`."""
        counts = np.stack([np.bincount(row, minlength=len(self.rows)) for row in indices])
        return self.metric.aggregate(counts @ self.rows)

    def bootstrap(
        self,
        resamples: int = 1000,
        *,
        confidence: float = 0.95,
        method: Literal["percentile", "bca"] = "percentile",
        rng: np.random.Generator | int | None = 0,
        progress: Steps | None = None,
    ) -> Bootstrap:
        """Resample segments with replacement and score every sample.

        Parameters
        ----------
        resamples : int
        confidence : float
            Confidence of the interval, between 0 and 1.
        method : {"percentile", "bca"}
            Efron's percentile interval, or the bias-corrected and accelerated one.
        rng : numpy Generator, int or None
            A seed makes the result repeatable.
        progress : callable, optional
            Called with (samples done, samples in all).
        """
        if not isinstance(resamples, int) or resamples < 1:
            raise InputError(f"resamples must be a whole number from 1 on, got {resamples!r}")
        if not 0.0 < confidence < 1.0:
            raise InputError(f"confidence must lie between 0 and 1, got {confidence}")
        if method not in ("percentile", "bca"):
            raise InputError(f"the interval method is percentile or bca, got {method!r}")
        segments = len(self.rows)
        if segments == 0:
            raise InputError("there is nothing to resample: the corpus has no segments")
        try:
            generator = np.random.default_rng(rng)
        except (TypeError, ValueError):
            raise InputError(f"rng must be a Generator or a seed from 0 on, got {rng!r}") from None
        batch = max(1, _BATCH // segments)
        parts = []
        for done in range(0, resamples, batch):
            size = min(batch, resamples - done)
            parts.append(self.resample(generator.integers(segments, size=(size, segments))))
            if progress is not None:
                progress(done + size, resamples)
        distribution = np.concatenate(parts)
        if method == "percentile":
            low, high = percentile_interval(distribution, confidence)
        else:
            observed, jackknife = self.leave_one_out()
            low, high = bca_interval(distribution, observed, jackknife, confidence)
        interval = ConfidenceInterval(low, high, confidence, f"{method} bootstrap, n={resamples}")
        error = float(distribution.std(ddof=1)) if resamples > 1 else 0.0
        return Bootstrap(distribution, interval, error)

    def interval(
        self,
        method: IntervalMethod = "jackknife",
        *,
        confidence: float = 0.95,
        resamples: int = 1000,
        rng: np.random.Generator | int | None = 0,
    ) -> ConfidenceInterval | None:
        """Where the score would lie on other segments like these; None where that cannot be told.

        It cannot from one segment, nor where the score is clamped: it would be the same for rows a
        little better or worse, so that their spread says nothing.

        Parameters
        ----------
        method : {"jackknife", "percentile", "bca"}
            Student's with the jackknife's standard error, or read off a bootstrap.
        confidence : float
        resamples, rng
            Number of resamples, and randomness, of the bootstrap.
        """
        if len(self.rows) < 2 or (self.adds_up and self.metric.clamped(self.sums())):
            return None
        if method == "jackknife" or not self.adds_up:
            return jackknife_interval(*self.leave_one_out(), confidence, self.metric.score_limits)
        return self.bootstrap(resamples, confidence=confidence, method=method, rng=rng).interval

    def grouped(self, numbers: Ints) -> Statistics:
        """One row for all segments of a group, for resampling whole groups.

        Parameters
        ----------
        numbers : array of int
            The number of each segment's group, see `deltableu.stats.group_numbers`.
        """
        return replace(self, rows=sum_groups(self.rows, numbers))

    def leave_one_out(self) -> tuple[float, Array]:
        """The score, and the scores without each segment in turn."""
        sums = self.rows.sum(axis=0)
        alone = len(self.rows) == 1
        left_out = np.zeros(1) if alone else self.metric.aggregate(sums - self.rows)
        return float(self.metric.aggregate(sums)), left_out
