"""Metric and human scores in; their agreement on items and systems that were drawn again, out.

Sums of drawn scores need no copy of them, and neither do rank correlations of all outputs: an
output counts as often as it was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Ints
from deltableu.stats import correlate, draw_counts, weighted_correlate
from deltableu.validate.levels import (
    Measure,
    check_tables,
    item_agreement,
    rounded_ties,
)
from deltableu.validate.paired_scores import Groups, group_codes, in_blocks, pearson_of_sums

#: More items than this are left out in groups, which estimates the same acceleration.
_GROUPS = 250


@dataclass(frozen=True, slots=True, eq=False)
class ResampledScores:
    """Scores that count (NaN elsewhere, on both sides) and how their agreement is measured.

    `codes` has the number of each item's group; None where each item is its own.
    """

    x: Array
    y: Array
    present: Bools
    measure: Measure
    codes: Ints | None = None

    @classmethod
    def of(
        cls, metric: ArrayLike, human: ArrayLike, measure: Measure, groups: Groups | None = None
    ) -> ResampledScores:
        x, y, mask = check_tables(metric, human, level=measure.level)
        present = np.ones(x.shape, bool) if mask is None else mask
        # What never counts would only make draws empty.
        codes = group_codes(groups, np.asarray(present.any(axis=0)))
        kept = np.ix_(present.any(axis=1), present.any(axis=0))
        x, y, present = x[kept], y[kept], present[kept]
        x, y = np.where(present, x, np.nan), np.where(present, y, np.nan)
        return cls(x, y, present, measure, codes)

    @property
    def units(self) -> int:
        """Items, or groups of them: what is drawn."""
        return self.x.shape[1] if self.codes is None else int(self.codes.max()) + 1

    def trial_size(self, systems: bool) -> int:
        """Numbers that one resample keeps in memory."""
        whole = self.measure.level == "pooled" or (self.measure.level == "item" and systems)
        return 4 * self.x.size if whole else 2 * self.x.shape[1] + 6 * len(self.x)

    def resampled(self, counts: Ints | None, rows: Ints | None) -> Array:
        """Agreement where unit i is there `counts[b, i]` times, and the systems are `rows[b]`."""
        if counts is not None and self.codes is not None:
            counts = counts[:, self.codes]
        if self.measure.level == "system":
            return self._from_means(counts, rows)
        if self.measure.level == "item":
            return self._from_items(counts, rows)
        if self.measure.method == "pearson":
            return self._from_sums(counts, rows)
        systems, items = self.x.shape
        often: Any = 1 if rows is None else draw_counts(rows, systems)[:, :, np.newaxis]
        weights = often * (1 if counts is None else counts[:, np.newaxis, :])
        weights = np.broadcast_to(weights, (len(weights), systems, items))
        cells = weights[:, self.present]
        x, y = self.x[self.present], self.y[self.present]
        return weighted_correlate(x, y, cells, self.measure.method, self.measure.threshold)

    def jackknife(self, items: bool, systems: bool, threads: int | None) -> Array:
        """Agreement with items, systems or both left out in turn, as `bca_interval` needs it.

        Two samples weigh as in the multi-sample form: deviations times (n - 1) / n of each.
        """
        found = []
        if items:
            size = self.units
            groups = np.arange(size) * min(size, _GROUPS) // size

            def leave(block: int, first: int, last: int) -> Array:
                left = groups != np.arange(first, last)[:, np.newaxis]
                return self.resampled(left.astype(np.int64), None)

            number = int(groups[-1]) + 1
            found.append(in_blocks(leave, number, self.trial_size(False), threads))
        if systems:
            size = len(self.x)
            rows = np.arange(size - 1) + (np.arange(size - 1) >= np.arange(size)[:, np.newaxis])
            found.append(self.resampled(None, rows))
        parts = []
        for values in found:
            values = values[~np.isnan(values)]
            if len(values):
                parts.append((values - values.mean()) * (len(values) - 1) / len(values))
        return np.concatenate(parts) if parts else np.zeros(1)

    def _from_means(self, counts: Ints | None, rows: Ints | None) -> Array:
        method, threshold = self.measure.method, self.measure.threshold
        x, y = _scaled(self.x), _scaled(self.y)
        if method == "kendall-like":  # its threshold is on the scale of the ratings
            y = np.where(self.present, self.y, 0.0)
        sums = self._sums([x, y], counts, rows)
        values = np.full(len(sums), np.nan)
        whole = (sums[:, 0] > 0.0).all(axis=1)
        means = sums[whole, 1:] / sums[whole, :1]
        if method != "pearson":
            means[:, 0], means[:, 1] = rounded_ties(means[:, 0]), rounded_ties(means[:, 1])
        values[whole] = correlate(means[:, 0], means[:, 1], method, threshold=threshold)
        return values

    def _from_sums(self, counts: Ints | None, rows: Ints | None) -> Array:
        x, y = _scaled(self.x), _scaled(self.y)
        sums = self._sums([x, y, x**2, y**2, x * y], counts, rows).sum(axis=2)
        size, sum_x, sum_y, squares_x, squares_y, products = sums.T
        metric = np.stack([sum_x, squares_x, products], axis=-1)
        return pearson_of_sums(metric, sum_y, squares_y, size)

    def _sums(self, features: list[Array], counts: Ints | None, rows: Ints | None) -> Array:
        """Sums of scores that are there, then of features, by trial, feature and system.

        Time and memory do not grow with systems times items for each trial.
        """
        systems, items = self.x.shape
        table = np.concatenate([self.present.astype(np.float64), *features]).T
        often = np.ones((1, items)) if counts is None else counts.astype(np.float64)
        sums = (often @ table).reshape(len(often), -1, systems)
        return sums if rows is None else np.take_along_axis(sums, rows[:, np.newaxis, :], axis=2)

    def _from_items(self, counts: Ints | None, rows: Ints | None) -> Array:
        x, y = self.x[np.newaxis], self.y[np.newaxis]
        if rows is not None:
            x, y = self.x[rows], self.y[rows]
        how = self.measure
        values, weights = item_agreement(x, y, how.method, how.undefined, how.threshold)
        often: Any = 1.0 if counts is None else counts
        weights = weights * often
        with np.errstate(invalid="ignore"):
            return np.asarray((values * weights).sum(axis=1) / weights.sum(axis=1))


def _scaled(scores: Array) -> Array:
    """About a score, so that equal scores stay equal in any mean; in [-1, 1]; 0 where missing."""
    away = scores - scores[~np.isnan(scores)][0]
    reach = np.nanmax(np.abs(away))
    return np.where(np.isnan(away), 0.0, away / reach if reach > 0.0 else away)
