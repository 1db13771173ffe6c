"""Systems' scores on any choice of items in; how well they agree with people on draws of it, out.

A corpus score is not the mean of its segments' scores, so that on items drawn again it must be made
anew, from the sums of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score import Statistics
from deltableu.stats import bootstrap_counts, correlate, sign_p_value, stream
from deltableu.validate.levels import Measure, rounded_ties
from deltableu.validate.metric_tests import PairOfValues
from deltableu.validate.paired_scores import SCALE, in_blocks

#: How often each item counts (trials x items) to the scores of the systems (trials x systems).
SystemScores = Callable[[Ints], Array]

_DRAWS = 6  # key of the random streams


def means_of(values: Array) -> SystemScores:
    """Means of the scores that are there; NaN for a system without any."""
    present = ~np.isnan(values)
    filled = np.where(present, values, 0.0)

    def scores(counts: Ints) -> Array:
        with np.errstate(invalid="ignore"):
            return np.asarray((counts @ filled.T) / (counts @ present.T))

    return scores


def corpus_scores_of(rows: Sequence[Statistics], sign: float = 1.0) -> SystemScores:
    """Corpus scores of the rows of each system."""

    def one(own: Statistics, counts: Ints) -> Array:
        if own.adds_up:
            return own.metric.aggregate(counts @ own.rows)
        items = np.arange(len(own))
        return np.concatenate([own.resample(np.repeat(items, row)[np.newaxis]) for row in counts])

    return lambda counts: sign * np.stack([one(own, counts) for own in rows], axis=-1)


@dataclass(frozen=True, slots=True, eq=False)
class SystemBootstrap:
    """Agreement of each metric with people, as it is and on items (and systems) drawn again.

    Attributes
    ----------
    observed : array
    distribution : array
        Draws x metrics; NaN where a draw left no agreement to compute.
    """

    observed: Array
    distribution: Array

    def p_values(self, one: int, two: int) -> PairOfValues:
        """Two-sided, and of the first and of the second metric being better."""
        differences = self.distribution[:, one] - self.distribution[:, two]
        differences = differences[~np.isnan(differences)]
        greater = sign_p_value(differences, alternative="greater", scale=SCALE)
        less = sign_p_value(differences, alternative="less", scale=SCALE)
        seen = greater if self.observed[one] > self.observed[two] else less
        return min(1.0, 2.0 * seen), greater, less


def bootstrap_systems(
    metrics: Sequence[SystemScores],
    human: SystemScores,
    items: int,
    *,
    measure: Measure,
    systems: bool = False,
    codes: Ints | None = None,
    resamples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> SystemBootstrap:
    """Draw items, or groups of them (`codes`), and with `systems` systems too."""
    units = items if codes is None else int(codes.max()) + 1

    def agree(counts: Ints, number: int | None) -> Array:
        tables = [one(counts) for one in (human, *metrics)]
        if number is not None:
            rows = stream(seed, _DRAWS, number, 1).integers(
                tables[0].shape[1], size=tables[0].shape
            )
            tables = [np.take_along_axis(table, rows, axis=1) for table in tables]
        whole = ~np.isnan(tables).any(axis=(0, 2))
        if measure.method != "pearson":
            tables = [rounded_ties(table) for table in tables]
        values = np.full((len(counts), len(metrics)), np.nan)
        for place, table in enumerate(tables[1:]):
            values[whole, place] = correlate(
                table[whole], tables[0][whole], measure.method, threshold=measure.threshold
            )
        return values

    def draw(block: int, first: int, last: int) -> Array:
        own = int(stream(seed, _DRAWS, block, 0).integers(2**63))
        counts = bootstrap_counts(units, last - first, own)
        return agree(counts if codes is None else counts[:, codes], block if systems else None)

    observed = agree(np.ones((1, items), np.int64), None)[0]
    return SystemBootstrap(observed, in_blocks(draw, resamples, 2 * items, threads))
