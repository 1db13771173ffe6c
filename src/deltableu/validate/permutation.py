"""Two metrics' scores and people's in; whether one metric agrees better with people, out.

Scores of the two metrics are exchanged. Agreement mostly depends on a few sums, and sums of
exchanged scores need no copy of them; only rank correlations of pooled outputs, and exchanges
within items, do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import check_choice
from deltableu.stats import (
    Alternative,
    Method,
    chosen_subsets,
    enumerable,
    in_chunks,
    permutation_p_value,
    stream,
    sum_subsets,
)
from deltableu.validate.levels import Level, Measure, Undefined, item_agreement
from deltableu.validate.paired_scores import (
    SCALE,
    Groups,
    PairedScores,
    block_size,
    by_group,
    in_blocks,
    pearson_of_sums,
)

Swap = Literal["both", "systems", "items", "crossed"]

_SWAPS = 2  # key of the random streams, apart from those of `stats.resampling`
#: Exchanges whose sums are taken at once.
_TOGETHER = 1024
#: Sums tell the spread of standardised numbers to twelve digits where it is above this.
_ENOUGH = 1e-2


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
    scores = PairedScores.of({"x": x, "y": y}, human, measure, groups)
    return MetricExchanges(scores, swap, resamples, seed, threads).test("x", "y", alternative)


def exchanged_units(present: Bools, swap: Swap) -> int:
    """What is exchanged or not: scores, items (or groups) or systems that are there."""
    systems, items = present.any(axis=1).sum(), present.any(axis=0).sum()
    units = {"systems": systems, "items": items, "both": present.sum(), "crossed": systems + items}
    return int(units[swap])


class MetricExchanges:
    """All ways to exchange the scores of two metrics, or random ones: the same for any two."""

    def __init__(
        self,
        scores: PairedScores,
        swap: Swap,
        resamples: int = 1000,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.scores, self.swap, self.seed, self.threads = scores, swap, seed, threads
        #: Which systems have scores of which item, or group of items.
        self.present: Bools = np.asarray(by_group(scores.present, scores.codes, 1) > 0)
        #: What is exchanged or not, and whether all ways are tried.
        self.units = exchanged_units(self.present, swap)
        self.exact = enumerable(self.units, resamples)
        self.trials = 2**self.units if self.exact else resamples
        # What is found of each metric.
        self._observed: dict[str, float] = {}
        self._sums: dict[str, tuple[Array, Array]] = {}

    def test(self, x: str, y: str, alternative: Alternative = "two-sided") -> PermutationResult:
        """Test whether a metric agrees better with people than another."""
        first, second = self.observed(x), self.observed(y)
        distribution = self.differences(x, y)
        how = self.scores.measure
        return PermutationResult(
            first,
            second,
            first - second,
            alternative,
            self.swap,
            how.method,
            how.level,
            self.exact,
            int(np.isnan(distribution).sum()),
            distribution,
        )

    def observed(self, metric: str) -> float:
        """Agreement of a metric with people, as it is."""
        if metric not in self._observed:
            self._observed[metric] = self.scores.observed(metric)
        return self._observed[metric]

    def differences(self, x: str, y: str) -> Array:
        """Differences of agreement after every exchange."""
        scores, how = self.scores, self.scores.measure
        if how.level == "item" and self.swap == "items":
            # Agreement within an item goes with it, whichever metric's it then is.
            one, two = self._exchanged_sums(x, y, self._of_items)
            with np.errstate(invalid="ignore"):
                return np.asarray(one[:, 0] / one[:, 1] - two[:, 0] / two[:, 1])
        if how.level == "pooled" and how.method == "pearson":
            human = scores.filled()
            known = float(human.sum()), float((human**2).sum()), int(scores.present.sum())
            one, two = self._exchanged_sums(x, y, self._of_moments)
            return pearson_of_sums(one, *known) - pearson_of_sums(two, *known)
        if how.level != "system":
            work = partial(self._of_copies, x, y)
        elif how.method == "pearson" and self.swap == "systems":
            work = partial(self._of_whole_systems, x, y)
        else:
            work = partial(self._of_means, x, y)
        return in_blocks(work, self.trials, scores.trial_size, self.threads)

    def _of_copies(self, x: str, y: str, block: int, first: int, last: int) -> Array:
        scores = self.scores
        masks = self.masks(block, first, last)
        if scores.codes is not None and self.swap != "systems":
            masks = masks[..., scores.codes]
        agree, (one, two) = scores.measure.agree, (scores.metrics[x], scores.metrics[y])
        exchanged = np.where(masks, two, one), np.where(masks, one, two)
        return agree(exchanged[0], scores.human) - agree(exchanged[1], scores.human)

    def _of_means(self, x: str, y: str, block: int, first: int, last: int) -> Array:
        scores = self.scores
        moved = self.sums(
            (scores.filled(y) - scores.filled(x))[..., np.newaxis], block, first, last
        )
        moved = moved[..., 0] / scores.present.sum(axis=1)
        return self._of_moved(scores.means(x) + moved, scores.means(y) - moved)

    def _of_whole_systems(self, x: str, y: str, block: int, first: int, last: int) -> Array:
        """Pearson's correlation from sums over systems, where these lose next to nothing."""
        human = _unit(self.scores.means())
        means = np.stack([self.scores.means(x), self.scores.means(y)])
        one, two = _unit(means)
        masks = self.masks(block, first, last)[..., 0]
        features = [np.stack([v, v**2, v * human], axis=-1) for v in (one, two)]
        moved = masks.astype(np.float64) @ (features[1] - features[0])
        found, sure = np.empty((2, len(masks))), np.ones(len(masks), bool)
        for side, sums in enumerate(
            (features[0].sum(axis=0) + moved, features[1].sum(axis=0) - moved)
        ):
            spread = sums[:, 1] - sums[:, 0] ** 2 / len(human)
            sure &= spread > _ENOUGH
            with np.errstate(divide="ignore", invalid="ignore"):
                found[side] = sums[:, 2] / np.sqrt(spread * (human @ human))
        values: Array = np.clip(found[0], -1.0, 1.0) - np.clip(found[1], -1.0, 1.0)
        if not sure.all():
            rest = masks[~sure]
            exchanged = np.where(rest, means[1], means[0]), np.where(rest, means[0], means[1])
            values[~sure] = self._of_moved(*exchanged)
        return values

    def _of_moved(self, one: Array, two: Array) -> Array:
        human, correlate = self.scores.means(), self.scores.correlate
        return correlate(one, human) - correlate(two, human)

    def _exchanged_sums(
        self, x: str, y: str, features: Callable[[str], Array]
    ) -> tuple[Array, Array]:
        """Sums of both metrics' features after every exchange, trials x features."""
        for metric in (x, y):
            if metric not in self._sums:
                table = features(metric)
                self._sums[metric] = table.sum(axis=(0, 1)), self._exchanged(table)
        (total_x, sums_x), (total_y, sums_y) = self._sums[x], self._sums[y]
        moved = sums_y - sums_x
        return total_x + moved, total_y - moved

    def _of_items(self, metric: str) -> Array:
        """Agreement within each item times its weight, and the weight."""
        scores, how = self.scores, self.scores.measure
        values, weights = item_agreement(
            scores.metrics[metric][np.newaxis],
            scores.human[np.newaxis],
            how.method,
            how.undefined,
            how.threshold,
        )
        return np.stack([values * weights, weights], axis=-1)

    def _of_moments(self, metric: str) -> Array:
        """What Pearson's correlation of all outputs is made from."""
        values = self.scores.filled(metric)
        return np.stack([values, values**2, values * self.scores.filled()], axis=-1)

    def _exchanged(self, features: Array) -> Array:
        """Sums of the features of what is exchanged, of all systems: trials x features."""
        size = self.scores.trial_size
        if self.exact or self.swap != "items":

            def work(block: int, first: int, last: int) -> Array:
                return np.asarray(self.sums(features, block, first, last).sum(axis=1))

            return in_blocks(work, self.trials, size, self.threads)
        rows = by_group(features.sum(axis=0), self.scores.codes, 0)
        block = block_size(size)
        several = max(1, _TOGETHER // block)

        def together(number: int, first: int, last: int) -> Array:
            blocks = enumerate(range(first, last, block), start=number * several)
            parts = [
                chosen_subsets(len(rows), min(block, last - begin), self._own(place))
                for place, begin in blocks
            ]
            return sum_subsets(rows, np.concatenate(parts))

        return in_chunks(together, self.trials, block * several, self.threads)

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
        return sum_subsets(rows, chosen_subsets(len(rows), trials, self._own(*key)))

    def _own(self, *key: int) -> int:
        """The seed of what is chosen in a block."""
        return int(stream(self.seed, _SWAPS, *key, 0).integers(2**63))

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


def _unit(values: Array) -> Array:
    """About the mean of the last axis of all of them together, and of size 1."""
    away = values - values.mean()
    size = float(np.sqrt((away**2).mean()))
    return np.asarray(away / size if size > 0.0 else away)
