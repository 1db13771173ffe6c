"""Many ratings of a few segments in, how many ratings a segment needs out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, check_at_least
from deltableu.io import Column, Table, Tabular
from deltableu.rate.rater_rows import of_one_criterion
from deltableu.rate.reliability import one_way_variances
from deltableu.stats import stream

Segments = RatingTable | Sequence[Sequence[float]] | Sequence[Array] | Array

#: Outputs, and ratings of each, from which a curve says anything.
_SEGMENTS, _RATINGS = 20, 4
#: Ratings shuffled at once.
_CELLS = 2_000_000
#: What is left of a variance after rounding, relative to the ratings' own: less is none.
_NOTHING = 1e-24


@dataclass(frozen=True, slots=True, eq=False)
class Consistency(Tabular):
    """How well the mean of i ratings agrees with the mean of n - i others.

    Attributes
    ----------
    n : int
        Ratings of each segment that were used.
    correlations : array
        `correlations[i - 1]`: Pearson's r over segments, averaged over shuffles, i = 1 .. n - 1.
    deviations : array
        Its standard deviation over shuffles.
    segments, left_out : int
        How many had n ratings, and how many fewer.
    shuffles, seed : int
    """

    n: int
    correlations: Array
    deviations: Array
    segments: int
    left_out: int
    shuffles: int
    seed: int

    def enough(self, target: float) -> int | None:
        """The smallest number of ratings whose mean reaches the target; None if none does."""
        if not -1.0 <= target <= 1.0:
            raise InputError(f"a correlation lies in [-1, 1], got the target {target}")
        reached = np.flatnonzero(self.correlations >= target)
        return int(reached[0]) + 1 if len(reached) else None

    def table(self, *, digits: int = 3) -> Table:
        """One row per number of ratings."""
        columns = (
            "ratings",
            Column("correlation with the rest", f".{digits}r"),
            Column("over shuffles", f".{digits}f"),
        )
        rows = zip(
            range(1, self.n),
            self.correlations.tolist(),
            self.deviations.tolist(),
            strict=True,
        )
        caption = f"how many ratings are enough ({self.segments} outputs with {self.n} ratings)"
        return Table(columns, rows, caption)


def rater_consistency(
    ratings: Segments, n: int, *, shuffles: int = 100, seed: int = 0
) -> Consistency:
    """Correlate the mean of the first i ratings of a segment with that of the remaining n - i.

    The ratings of each segment are put into random order, which is repeated `shuffles` times.
    Segments with more than n ratings lend n of them, drawn anew each time.

    Parameters
    ----------
    ratings
        The ratings of each segment, however many; or a `RatingTable` (segments are outputs, a
        rater's repeats are averaged). Standardise them first if raters use the scale differently.
    n
        How many ratings a segment must have; with fewer it is left out. The mean of what remains
        stands for the true one, so that n should be large: Graham et al. have 100.
    shuffles, seed
        Number of random orders, and the seed that repeats them.

    References
    ----------
    Graham, Baldwin and Mathur 2015, "Accurate Evaluation of Segment-level Machine Translation
    Metrics", NAACL (Wei's Figure 3).

    Examples
    --------
    >>> rng = stream(0)
    >>> quality = rng.normal(size=(400, 1))
    >>> found = rater_consistency(quality + rng.normal(size=(400, 40)), 40)
    >>> found.enough(0.9), round(float(found.correlations[4]), 2)
    (5, 0.9)
    """
    if n < 2:
        raise InputError(f"n must be at least 2, one rating against another, got {n}")
    check_at_least("shuffles", shuffles, 1)
    rows = _segments(ratings)
    used = [row for row in rows if len(row) >= n]
    if len(used) < 3:
        most = max(map(len, rows), default=0)
        raise InputError(
            f"{len(used)} of {len(rows)} segments have {n} ratings, and at least 3 must: lower n "
            f"(the most ratings of a segment are {most})"
        )
    packed = _packed(used)
    step = max(1, _CELLS // packed.size)
    parts = [
        _correlations(packed, n, min(step, shuffles - first), stream(seed, first))
        for first in range(0, shuffles, step)
    ]
    values = np.concatenate(parts)
    if np.isnan(values).any():
        raise InputError(
            "the means of all segments are equal: there is nothing to be consistent in"
        )
    return Consistency(
        n,
        values.mean(axis=0),
        values.std(axis=0, ddof=1) if shuffles > 1 else np.full(n - 1, np.nan),
        len(used),
        len(rows) - len(used),
        shuffles,
        seed,
    )


def consistency_curve(ratings: RatingTable, *, seed: int = 0) -> Consistency | None:
    """The curve for as many ratings as at least 20 outputs have; None where that is below 4."""
    one = of_one_criterion(ratings).scored()
    counts = np.sort((~np.isnan(one.by_output())).sum(axis=0).ravel())[::-1]
    if len(counts) < _SEGMENTS or counts[_SEGMENTS - 1] < _RATINGS:
        return None
    try:
        return rater_consistency(one, int(counts[_SEGMENTS - 1]), seed=seed)
    except InputError:  # all means are equal: nothing to be consistent in
        return None


def expected_consistency(i: int, n: int, rho: float) -> float:
    """The correlation of means of i and of n - i ratings: 1 / sqrt((1 + rho/i)(1 + rho/(n - i))).

    Parameters
    ----------
    i, n
        Ratings on one side, and on both.
    rho
        Variance of ratings within a segment divided by that of true scores between segments; see
        `variance_ratio`.

    Examples
    --------
    >>> [round(expected_consistency(i, 100, 1.5), 4) for i in (1, 5, 15, 50)]
    [0.6277, 0.8702, 0.9452, 0.9709]
    """
    if not 0 < i < n:
        raise InputError(f"i must lie between 1 and n - 1 = {n - 1}, got {i}")
    if not 0.0 <= rho < np.inf:
        raise InputError(f"rho must be a ratio of variances, 0 or more, got {rho}")
    return float(1.0 / np.sqrt((1.0 + rho / i) * (1.0 + rho / (n - i))))


def variance_ratio(ratings: Segments) -> float:
    """Variance of ratings within segments over that of true scores between them.

    One-way analysis of variance, with as many ratings per segment as there are; segments with one
    rating tell nothing and are left out. Infinite where segments do not differ more than chance.

    Examples
    --------
    >>> round(variance_ratio([[1, 2], [4, 6, 5], [9, 8]]), 3)
    0.072
    """
    rows = [row for row in _segments(ratings) if len(row) >= 2]
    if len(rows) < 2:
        raise InputError("fewer than 2 segments have two ratings or more")
    found = one_way_variances(
        np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    )
    true = 0.0 if found is None else found.between
    return float("inf") if found is None or true <= 0.0 else found.within / true


def _segments(ratings: Segments) -> list[Array]:
    """The ratings of each segment, without missing ones."""
    if isinstance(ratings, RatingTable):
        cells = of_one_criterion(ratings).scored().without_repeats()
        outputs = cells.system * len(cells.items) + cells.item
        _, starts = np.unique(outputs, return_index=True)
        return [np.asarray(row) for row in np.split(cells.values, starts[1:])] if len(cells) else []
    rows = []
    for number, given in enumerate(ratings):
        try:
            row = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            row = np.empty((0, 0))
        if row.ndim != 1:
            raise InputError(f"segment {number} must be a list of numbers, one a rating")
        if np.isinf(row).any():
            raise InputError(f"segment {number} has an infinite rating")
        rows.append(row[~np.isnan(row)])
    return rows


def _packed(rows: list[Array]) -> Array:
    """Segments x ratings, NaN at the end of those that have fewer than the most."""
    packed = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in enumerate(rows):
        packed[place, : len(row)] = row
    # Correlations do not change, and sums lose no digits.
    packed -= np.nanmean(packed)
    spread = float(np.nanstd(packed))
    return packed / spread if spread > 0.0 else packed


def _correlations(packed: Array, n: int, shuffles: int, rng: np.random.Generator) -> Array:
    """Shuffles x (n - 1): Pearson's r over segments."""
    keys = rng.random((shuffles, *packed.shape))
    keys[:, np.isnan(packed)] = 2.0
    order = np.argsort(keys, axis=2)[:, :, :n]
    drawn = np.take_along_axis(np.broadcast_to(packed, keys.shape), order, axis=2)
    sums = np.cumsum(drawn, axis=2)
    counts = np.arange(1, n)
    first = sums[:, :, :-1] / counts
    rest = (sums[:, :, -1:] - sums[:, :, :-1]) / (n - counts)
    first -= first.mean(axis=1, keepdims=True)
    rest -= rest.mean(axis=1, keepdims=True)
    spreads = (first**2).sum(axis=1), (rest**2).sum(axis=1)
    varied = (spreads[0] > _NOTHING) & (spreads[1] > _NOTHING)
    values = np.full(varied.shape, np.nan)
    products = (first * rest).sum(axis=1)
    np.divide(products, np.sqrt(spreads[0] * spreads[1]), out=values, where=varied)
    return np.clip(values, -1.0, 1.0)
