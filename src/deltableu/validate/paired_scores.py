"""Metrics' and people's scores of the same outputs in; ready to be exchanged or drawn, out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError, check_at_least
from deltableu.stats import correlate, group_numbers, in_chunks, sum_groups
from deltableu.validate.levels import Level, Measure, check_systems

#: What each item belongs to, such as its document: one label per item.
Groups = Sequence[Hashable]

#: Numbers held in memory at once, per thread and array.
_NUMBERS = 4_000_000
_LARGEST_BLOCK = 1024
#: Means of standardised scores are known no better.
_DIGITS = 12
#: Correlations made from sums have lost a digit: they are rounded as numbers of this size.
SCALE = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class PairedScores:
    """Standardised scores of metrics, any two of which are a pair, and how agreement is measured.

    Attributes
    ----------
    metrics : dict of array
        Systems x items of each metric, mean 0 and standard deviation 1; NaN where missing.
    human : array
        The same of people; but as they are for `kendall-like`.
    present : array
        Where there are scores: in the same places of all.
    codes : array or None
        The number of each item's group; None where each item is its own.
    """

    metrics: dict[str, Array]
    human: Array
    present: Bools
    measure: Measure
    codes: Ints | None = None

    @classmethod
    def of(
        cls,
        metrics: Mapping[str, ArrayLike],
        human: ArrayLike,
        measure: Measure,
        groups: Groups | None = None,
    ) -> PairedScores:
        """Everything checked, and brought to one scale."""
        scores = {name: np.asarray(one, dtype=np.float64) for name, one in metrics.items()}
        people = np.asarray(human, dtype=np.float64)
        present = _present([*scores.items(), ("human", people)], measure.level)
        kept: Bools = np.asarray(present.any(axis=0))
        codes = group_codes(groups, kept)
        if measure.method != "kendall-like":  # its threshold is on the scale of the ratings
            people = _standardised(people, present)
        standard = {name: _standardised(one, present)[:, kept] for name, one in scores.items()}
        return cls(standard, people[:, kept], present[:, kept], measure, codes)

    @property
    def sums_tell(self) -> bool:
        """Whether agreement depends on scores only through sums over items."""
        method, level = self.measure.method, self.measure.level
        return level == "system" or (level == "pooled" and method == "pearson")

    @property
    def units(self) -> int:
        """Items, or groups of them."""
        return self.human.shape[1] if self.codes is None else int(self.codes.max()) + 1

    @property
    def trial_size(self) -> int:
        """Numbers that one exchange or draw keeps in memory."""
        return 16 * len(self.human) if self.sums_tell else 2 * self.human.size

    def filled(self, metric: str | None = None) -> Array:
        """A metric's scores, or people's, with 0 for missing ones, for sums."""
        scores = self.human if metric is None else self.metrics[metric]
        return np.where(self.present, scores, 0.0)

    def means(self, metric: str | None = None) -> Array:
        """A metric's mean of each system, or people's."""
        return np.asarray(self.filled(metric).sum(axis=1) / self.present.sum(axis=1))

    def observed(self, metric: str) -> float:
        """Agreement of a metric with people, as it is."""
        how = self.measure
        if how.level == "system":
            value = float(self.correlate(self.means(metric), self.means()))
        else:
            value = float(how.agree(self.metrics[metric], self.human))
        if np.isnan(value):
            raise InputError(
                f"{metric} has no {how.method} agreement with people at level {how.level!r}"
            )
        return value

    def correlate(self, metric: Array, human: Array) -> Array:
        """Agreement at the system level, given the systems' means."""
        method, threshold = self.measure.method, self.measure.threshold
        if method != "pearson":  # sums in another order must not untie means
            metric, human = metric.round(_DIGITS), human.round(_DIGITS)
        return correlate(metric, human, method, threshold=threshold)


def group_codes(groups: Groups | None, kept: Bools) -> Ints | None:
    """The number of the group of each item that is kept, from 0 in the order of appearance."""
    if groups is None:
        return None
    if len(groups) != len(kept):
        raise InputError(f"groups must name one for each item: {len(groups)} for {len(kept)} items")
    numbers = group_numbers([label for label, there in zip(groups, kept, strict=True) if there])
    if numbers.max() < 1:
        raise InputError("all items belong to one group: nothing can be resampled")
    return numbers


def by_group(values: Any, codes: Ints | None, axis: int) -> Array:
    """Sums over the items of each group, on the axis of the items."""
    if codes is None:
        return np.asarray(values)
    return np.moveaxis(sum_groups(np.moveaxis(values, axis, 0), codes), 0, axis)


def pearson_of_sums(sums: Array, human: Any, human_squares: Any, size: Any) -> Array:
    """Pearson's r from sums of a metric, its squares and its products with human scores.

    Scores are standardised, so that little is lost to cancellation.
    """
    total, squares, products = np.moveaxis(sums, -1, 0)
    spread = squares - total**2 / size
    spread_human = human_squares - human**2 / size
    nothing = 1e-12 * size  # what rounding leaves of a constant
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (products - total * human / size) / np.sqrt(spread * spread_human)
    r = np.where((spread > nothing) & (spread_human > nothing), r, np.nan)
    return np.asarray(np.clip(r, -1.0, 1.0))


def in_blocks(
    work: Callable[[int, int, int], Array], trials: int, trial_size: int, threads: int | None
) -> Array:
    """All trials, in chunks whose numbers fit in memory: see `in_chunks`."""
    check_at_least("resamples", trials, 1)
    return in_chunks(work, trials, block_size(trial_size), threads)


def block_size(trial_size: int) -> int:
    """Trials of a block, which has a random stream of its own."""
    return max(1, min(_LARGEST_BLOCK, _NUMBERS // trial_size))


def _standardised(values: Array, present: Bools) -> Array:
    return np.asarray((values - values[present].mean()) / values[present].std())


def _present(scores: Sequence[tuple[str, Array]], level: Level) -> Bools:
    """Where metrics, and people last, have scores."""
    human = scores[-1][1]
    if len({values.shape for _, values in scores}) != 1 or human.ndim != 2:
        told = ", ".join(f"{name} is {values.shape}" for name, values in scores)
        raise InputError(f"x, y and human must be systems x items of one shape; {told}")
    present: Bools = ~np.isnan(human)
    check_systems(len(present), level)
    if not present.any(axis=1).all():
        place = int(np.flatnonzero(~present.any(axis=1))[0])
        raise InputError(f"system {place} has no human scores: leave it out")
    for name, values in scores:
        differs = np.isnan(values) == present
        if differs.any():
            system, item = np.argwhere(differs)[0].tolist()
            raise InputError(
                f"{name} and human must miss the same scores; that of system {system}, item "
                f"{item} is missing in one of them"
            )
        if np.isinf(values).any():
            raise InputError(f"{name} must be finite, or NaN where a score is missing")
        if np.ptp(values[present]) == 0.0:
            raise InputError(f"{name} is constant, so it agrees with nothing")
    return present
