"""Two metrics' scores and people's in; whether one metric agrees better with people, out.

Scores of the two metrics are exchanged. Agreement mostly depends on a few sums, and sums of
exchanged scores need no copy of them; only rank correlations of pooled outputs, and exchanges
within items, do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import check_choice
from deltableu.stats import (
    Alternative,
    Method,
    chosen_sums,
    enumerable,
    permutation_p_value,
    stream,
)
from deltableu.validate.levels import Level, Measure, Undefined, item_agreement
from deltableu.validate.paired_scores import (
    SCALE,
    Groups,
    PairedScores,
    by_group,
    in_blocks,
    pearson_of_sums,
)

Swap = Literal["both", "systems", "items", "crossed"]

_SWAPS = 2  # key of the random streams, apart from those of `stats.resampling`


@dataclass(frozen=True, slots=True, eq=False)
class PermutationResult:
    """Whether the first metric agrees better with people than the second.

    Attributes
    ----------
    first, second : float
        Agreement of each metric with people; `difference` is first minus second.
    exact : bool
        Whether all exchanges were tried, not a random part of them.
    undefined : int
        Exchanges that left no agreement to compute; counted as speaking against a difference.
    distribution : array
        Differences after exchanges.
    """

    first: float
    second: float
    difference: float
    alternative: Alternative
    swap: Swap
    method: Method
    level: Level
    exact: bool
    undefined: int
    distribution: Array

    @property
    def p_value(self) -> float:
        """The p-value against the alternative."""
        return self._p_value(self.alternative)

    def p_values(self) -> tuple[float, float]:
        """One-sided p-values: that the first metric is better, and that the second is."""
        return self._p_value("greater"), self._p_value("less")

    def _p_value(self, alternative: Alternative) -> float:
        found = permutation_p_value(
            self.distribution,
            self.difference,
            alternative=alternative,
            exact=self.exact,
            scale=SCALE,
        )
        return float(found)


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    human: ArrayLike,
    *,
    method: Method = "pearson",
    level: Level = "system",
    swap: Swap = "both",
    alternative: Alternative = "two-sided",
    resamples: int = 1000,
    seed: int = 0,
    undefined: Undefined = "zero",
    threshold: float = 25.0,
    groups: Groups | None = None,
    threads: int | None = None,
) -> PermutationResult:
    """Test whether metric X agrees better with people than metric Y by exchanging their scores.

    Parameters
    ----------
    x, y, human
        Scores, systems x items; NaN where a score is missing, in the same places of all three.
    method, level, undefined, threshold
        How agreement is measured: see `agreement`.
    swap
        What is exchanged together: `systems` (PERM-SYS, all scores of a system), `items`
        (PERM-INPUT, all scores of an item), `both` (PERM-BOTH, each score by itself, as in the
        paper's code and in MTME), or `crossed`: systems and then items, which nlpstats calls both.
        Only exchanged systems speak about other systems; the others speak about these systems on
        other items.
    alternative
        `greater`: X agrees better.
    resamples
        Random exchanges. Where there are no more exchanges than that, all are tried.
    seed
        Equal seeds give equal results, whatever the number of threads.
    groups
        What each item belongs to (a document, a dialogue): its scores are exchanged together,
        with `both` those of each system by themselves.

    Notes
    -----
    Both metrics are standardised first, since scores of different scales cannot be exchanged.
    Monte Carlo p-values are (c + 1) / (resamples + 1), never 0.

    References
    ----------
    Deutsch, Dror and Roth 2021, "A Statistical Analysis of Summarization Evaluation Metrics Using
    Resampling Methods"; Phipson and Smyth 2010, "Permutation P-values Should Never
    Be Zero".

    Examples
    --------
    >>> human = np.arange(24.0).reshape(6, 4) % 7
    >>> noise = np.cos(np.arange(24.0)).reshape(6, 4)
    >>> result = permutation_test(human + noise, human + 9 * noise, human, level="pooled", seed=1)
    >>> round(result.first, 2), round(result.second, 2), result.p_value < 0.05
    (0.96, 0.59, True)
    """
    check_choice("swap", swap, get_args(Swap))
    check_choice("alternative", alternative, get_args(Alternative))
    measure = Measure(method, level, undefined, threshold)
    scores = PairedScores.of(x, y, human, measure, groups)
    first, second = scores.observed()
    there = by_group(scores.present, scores.codes, 1) > 0
    units = exchanged_units(there, swap)
    exact = enumerable(units, resamples)
    draw = _Exchanges(scores, there, swap, units, exact, seed)
    trials = 2**units if exact else resamples
    distribution = in_blocks(draw.differences, trials, scores.trial_size, threads)
    return PermutationResult(
        first,
        second,
        first - second,
        alternative,
        swap,
        method,
        level,
        exact,
        int(np.isnan(distribution).sum()),
        distribution,
    )


def exchanged_units(present: Bools, swap: Swap) -> int:
    """What is exchanged or not: scores, items (or groups) or systems that are there."""
    systems, items = present.any(axis=1).sum(), present.any(axis=0).sum()
    units = {"systems": systems, "items": items, "both": present.sum(), "crossed": systems + items}
    return int(units[swap])


@dataclass(frozen=True, slots=True)
class _Exchanges:
    """All ways to exchange scores, or random ones of them.

    `present` is which systems have scores of which item, or group of items.
    """

    scores: PairedScores
    present: Bools
    swap: Swap
    units: int
    exact: bool
    seed: int

    def differences(self, block: int, first: int, last: int) -> Array:
        """Differences of agreement after exchanges number `first` to `last`."""
        scores = self.scores
        if self.swap == "items" and scores.measure.level == "item":
            return self._of_whole_items(block, first, last)
        if not scores.sums_tell:
            masks = self.masks(block, first, last)
            if scores.codes is not None and self.swap != "systems":
                masks = masks[..., scores.codes]
            x, y = np.where(masks, scores.y, scores.x), np.where(masks, scores.x, scores.y)
            agree = scores.measure.agree
            return agree(x, scores.human) - agree(y, scores.human)
        x, y, human = scores.filled()
        if scores.measure.level == "system":
            counts = scores.present.sum(axis=1)
            moved = self.sums((y - x)[..., np.newaxis], block, first, last)[..., 0] / counts
            means = [values.sum(axis=1) / counts for values in (x, y, human)]
            return scores.compare_means(means[0] + moved, means[1] - moved, means[2])
        features = [np.stack([v, v**2, v * human], axis=-1) for v in (x, y)]
        total = self.sums(features[1] - features[0], block, first, last).sum(axis=1)
        known = float(human.sum()), float((human**2).sum()), int(scores.present.sum())
        before = [table.sum(axis=(0, 1)) for table in features]
        after = pearson_of_sums(before[0] + total, *known)
        return after - pearson_of_sums(before[1] - total, *known)

    def _of_whole_items(self, block: int, first: int, last: int) -> Array:
        """Agreement within an item goes with it, whichever metric's it then is."""
        scores, how = self.scores, self.scores.measure
        tables = []
        for metric in (scores.x, scores.y):
            values, weights = item_agreement(
                metric[np.newaxis],
                scores.human[np.newaxis],
                how.method,
                how.undefined,
                how.threshold,
            )
            tables.append(np.stack([values * weights, weights], axis=-1))
        moved = self.sums(tables[1] - tables[0], block, first, last)[:, 0]
        one, two = tables[0].sum(axis=(0, 1)) + moved, tables[1].sum(axis=(0, 1)) - moved
        with np.errstate(invalid="ignore"):
            return np.asarray(one[:, 0] / one[:, 1] - two[:, 0] / two[:, 1])

    def sums(self, moved: Array, block: int, first: int, last: int) -> Array:
        """What exchanges move, added up for each system: trials x systems x features."""
        moved = by_group(moved, self.scores.codes, 1)
        systems, items, features = moved.shape
        trials, totals = last - first, moved.sum(axis=1)
        if self.swap == "systems":
            return np.asarray(self.masks(block, first, last) * totals)
        if self.exact:
            masks = self.masks(block, first, last, whole=True)[:, :systems]
            return np.asarray(np.einsum("tsi,sik->tsk", masks, moved))
        if self.swap == "both":
            own = [self.chosen(moved[s], trials, block, s) for s in range(systems)]
            return np.stack(own, axis=1)
        by_item = moved.transpose(1, 0, 2).reshape(items, -1)
        sums = self.chosen(by_item, trials, block).reshape(trials, systems, features)
        if self.swap == "items":
            return sums
        turned = self.bits(trials, systems, block)[:, :, np.newaxis]
        return np.where(turned, totals - sums, sums)

    def chosen(self, rows: Array, trials: int, *key: int) -> Array:
        own = int(stream(self.seed, _SWAPS, *key, 0).integers(2**63))
        return chosen_sums(np.ascontiguousarray(rows), trials, own, threads=1)

    def masks(self, block: int, first: int, last: int, *, whole: bool = False) -> Bools:
        """Which scores are exchanged: trials x systems x items, or what broadcasts to it."""
        systems, items = self.present.shape
        if self.exact:
            bits: Bools = np.arange(first, last)[:, np.newaxis] >> np.arange(self.units) & 1 == 1
        else:
            bits = self.bits(last - first, self.units, block)
        masks = bits[:, :, np.newaxis] if self.swap == "systems" else bits[:, np.newaxis, :]
        if self.swap == "crossed":
            masks = bits[:, :systems, np.newaxis] ^ bits[:, np.newaxis, systems:]
        elif self.swap == "both":
            masks = np.zeros((len(bits), systems, items), bool)
            masks[:, self.present] = bits
        return np.broadcast_to(masks, (len(bits), systems, items)) if whole else masks

    def bits(self, trials: int, size: int, block: int) -> Bools:
        drawn = stream(self.seed, _SWAPS, block).bytes((trials * size + 7) // 8)
        bits = np.unpackbits(np.frombuffer(drawn, np.uint8), count=trials * size)
        return bits.view(bool).reshape(trials, size)
