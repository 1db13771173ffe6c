"""Metric and human scores in; their agreement on items and systems that were drawn again, out.

Sums of drawn scores need no copy of them, and neither do rank correlations of all outputs: an
output counts as often as it was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Ints, Steps
from deltableu.errors import check_at_least
from deltableu.stats import WeightedPair, correlate, draw_counts, in_chunks
from deltableu.validate.levels import (
    Measure,
    check_tables,
    item_agreement,
    rounded_ties,
)
from deltableu.validate.paired_scores import (
    Groups,
    block_size,
    group_codes,
    in_blocks,
    pearson_of_sums,
)

#: More items than this are left out in groups, which estimates the same acceleration.
_GROUPS = 250
#: Draws taken at once, as far as so many drawn numbers hold them: in sixteens, as kernels do.
_TOGETHER, _DRAWN = 64, 4_000_000

#: How often each unit is there (trials x units), and which systems (trials x systems); None: as
#: they are. Made from the number of a block, its first draw and the one after its last.
Draw = Callable[[int, int, int], tuple[Ints | None, Ints | None]]


@dataclass(frozen=True, eq=False)
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
        systems = len(self.x)
        system, item = np.nonzero(self.present)
        method, threshold = self.measure.method, self.measure.threshold
        if rows is None and counts is not None:
            return self._outputs.correlate(counts, item, method, threshold)
        often = draw_counts(np.arange(systems)[np.newaxis] if rows is None else rows, systems)
        weights = often[:, system] * (1 if counts is None else counts[:, item])
        return self._outputs.correlate(weights, np.arange(len(item)), method, threshold)

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

    @cached_property
    def _outputs(self) -> WeightedPair:
        """All outputs."""
        return WeightedPair(self.x[self.present], self.y[self.present])

    @cached_property
    def _scores(self) -> Array:
        """Items x what is summed at level system."""
        y = _scaled(self.y)
        if self.measure.method == "kendall-like":  # its threshold is on the scale of the ratings
            y = np.where(self.present, self.y, 0.0)
        return _by_item(self.present, _scaled(self.x), y)

    @cached_property
    def _moments(self) -> Array:
        """Items x what Pearson's correlation of all outputs is made from, of each system."""
        x, y = _scaled(self.x), _scaled(self.y)
        return _by_item(self.present, x, y, x**2, y**2, x * y)

    @cached_property
    def _pooled_moments(self) -> Array:
        """The same of all systems: added up once, not for each draw."""
        return np.asarray(self._moments.sum(axis=2, keepdims=True))

    @cached_property
    def _items(self) -> tuple[Array, Array]:
        """Agreement within each item, and what it weighs."""
        return self._of_items(self.x[np.newaxis], self.y[np.newaxis])

    def _from_means(self, counts: Ints | None, rows: Ints | None) -> Array:
        method, threshold = self.measure.method, self.measure.threshold
        sums = _drawn_sums(self._scores, counts, rows)
        values = np.full(len(sums), np.nan)
        whole = (sums[:, 0] > 0.0).all(axis=1)
        means = sums[whole, 1:] / sums[whole, :1]
        if method != "pearson":
            means[:, 0], means[:, 1] = rounded_ties(means[:, 0]), rounded_ties(means[:, 1])
        values[whole] = correlate(means[:, 0], means[:, 1], method, threshold=threshold)
        return values

    def _from_sums(self, counts: Ints | None, rows: Ints | None) -> Array:
        moments = self._pooled_moments if rows is None else self._moments
        sums = _drawn_sums(moments, counts, rows).sum(axis=2)
        size, sum_x, sum_y, squares_x, squares_y, products = sums.T
        metric = np.stack([sum_x, squares_x, products], axis=-1)
        return pearson_of_sums(metric, sum_y, squares_y, size)

    def _from_items(self, counts: Ints | None, rows: Ints | None) -> Array:
        if rows is None:
            values, weights = self._items
            often = np.ones((1, weights.size)) if counts is None else counts.astype(np.float64)
            sums = often @ np.concatenate([values * weights, weights]).T
        else:
            values, weights = self._of_items(self.x[rows], self.y[rows])
            weights = weights * (1.0 if counts is None else counts)
            sums = np.stack([(values * weights).sum(axis=1), weights.sum(axis=1)], axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums[:, 0] / sums[:, 1])

    def _of_items(self, x: Array, y: Array) -> tuple[Array, Array]:
        how = self.measure
        return item_agreement(x, y, how.method, how.undefined, how.threshold)


def resample_tables(
    tables: Sequence[ResampledScores],
    draw: Draw,
    trials: int,
    trial_size: int,
    *,
    systems: bool,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Array:
    """Agreement in each of several tables of scores, in the same draws: trials x tables.

    The tables hold scores of as many units and systems. Where `systems` are not drawn, and scores
    not copied, some blocks of draws are taken together.
    """
    check_at_least("resamples", trials, 1)
    block = block_size(trial_size)
    together = 1 if systems else min(_TOGETHER, _DRAWN // tables[0].units)
    several = max(1, (together - together % 16) // block)

    def work(number: int, first: int, last: int) -> Array:
        blocks = enumerate(range(first, last, block), start=number * several)
        drawn = [draw(place, begin, min(begin + block, last)) for place, begin in blocks]
        counts, rows = (
            None if side[0] is None else np.concatenate(side) for side in zip(*drawn, strict=True)
        )
        return np.stack([one.resampled(counts, rows) for one in tables], axis=-1)

    return in_chunks(work, trials, block * several, threads, progress)


def _by_item(*features: Any) -> Array:
    """Items x features x systems."""
    return np.ascontiguousarray(np.stack(features).transpose(2, 0, 1))


def _drawn_sums(features: Array, counts: Ints | None, rows: Ints | None) -> Array:
    """Sums over drawn items of features (items x features x systems), a trial a row.

    Time and memory do not grow with systems times items for each trial.
    """
    items, number, systems = features.shape
    often = np.ones((1, items)) if counts is None else counts.astype(np.float64)
    sums = (often @ features.reshape(items, -1)).reshape(len(often), number, systems)
    return sums if rows is None else np.take_along_axis(sums, rows[:, np.newaxis, :], axis=2)


def _scaled(scores: Array) -> Array:
    """About a score, so that equal scores stay equal in any mean; in [-1, 1]; 0 where missing."""
    away = scores - scores[~np.isnan(scores)][0]
    reach = np.nanmax(np.abs(away))
    return np.where(np.isnan(away), 0.0, away / reach if reach > 0.0 else away)
