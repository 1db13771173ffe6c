"""Metric and human scores in; how often a metric orders or ties two outputs as people do, out.

People tie many outputs and a metric with real numbers hardly any: a difference of at most epsilon
counts as a tie of the metric, and epsilon is chosen to serve it best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.errors import InputError, check_at_least
from deltableu.stats import moving_pairs, stream, tie_gains
from deltableu.validate.levels import Level, check_tables, rounded_ties, system_means, usual_size

_SHUFFLES = 5  # key of the random streams
#: In a longer column pairs are counted by bins first.
_LONG = 64
_BINS = 1024
#: With more pairs than this chance is computed, not simulated.
_MANY = 4_000_000
#: Accuracies are sums of shares: rounding must not choose between equal ones.
_ROUNDING = 1e-12
#: Rounding of a difference, relative to the scores.
_RELATIVE = 1e-13


@dataclass(frozen=True, slots=True)
class CalibratedAccuracy:
    """Pairwise accuracy with ties, and what an uninformed metric would reach.

    Attributes
    ----------
    accuracy : float
        Share of pairs that the metric orders, or ties, as people do.
    epsilon : float
        The largest difference of metric scores that counts as a tie.
    pairs, groups : int
        Pairs compared, and groups (items) whose accuracies were averaged.
    always_tie : float
        Accuracy of a metric that ties everything.
    permuted : float
        Mean accuracy, calibrated alike, of the metric's scores in random order; NaN where no
        shuffles were asked for.
    """

    accuracy: float
    epsilon: float
    pairs: int
    groups: int
    always_tie: float
    permuted: float

    @property
    def chance(self) -> float:
        """What can be reached without knowing anything of the outputs."""
        return float(np.nanmax([self.always_tie, self.permuted]))


class _Pairs(NamedTuple):
    """Pairs whose verdict an epsilon can change: tied by people, or concordant.

    Attributes
    ----------
    distance
        Between the metric's scores.
    gain
        What tying the pair adds to the accuracy: its share, negative where it is concordant.
    base
        Accuracy where epsilon is 0.
    noise
        Distances that differ by no more are equal but for rounding.
    """

    distance: Array
    gain: Array
    base: float
    noise: float


def calibrated_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    level: Level = "item",
    epsilon: float | None = None,
    shuffles: int = 20,
    seed: int = 0,
) -> CalibratedAccuracy:
    """Pairwise accuracy with tie calibration, acc*_eq, over all epsilons.

    Parameters
    ----------
    metric, human
        Scores, systems x items; NaN where missing. A pair counts where all four scores are there.
    level
        `item`: pairs of systems within an item; accuracy is averaged over the items that have
        pairs, and all share one epsilon. `pooled`: all pairs of outputs. `system`: pairs of
        systems by their means.
    epsilon
        None: the one that gives the highest accuracy, the smallest such. A number is used as it
        is: calibrate on other data where metrics with few scores are to be compared fairly.
    shuffles, seed
        How often the metric's scores are put in random order (within an item at that level) to
        find what chance reaches. With more than four million pairs the expectation is computed
        instead: calibration gains nothing on so many.

    References
    ----------
    Deutsch, Foster, Freitag 2023, Ties Matter: Meta-evaluating modern metrics with pairwise
    accuracy and tie calibration.

    Examples
    --------
    >>> human = [[1.0], [1.0], [1.0], [4.0]]
    >>> result = calibrated_accuracy([[0.0], [2.0], [6.0], [8.0]], human)
    >>> round(result.accuracy, 3), result.epsilon, result.always_tie
    (0.667, 4.0, 0.5)
    """
    x, y, mask = check_tables(metric, human, level=level)
    if epsilon is not None and not 0.0 <= epsilon < np.inf:
        raise InputError(f"epsilon must be 0 or more, got {epsilon:g}")
    check_at_least("shuffles", shuffles, 0)
    if level == "item":
        present = np.ones(x.shape, bool) if mask is None else mask
        x, y = np.where(present, x, np.nan), np.where(present, y, np.nan)
    elif level == "system":
        x, y = (system_means(side, mask)[:, np.newaxis] for side in (x, y))
    else:
        x, y = ((side.ravel() if mask is None else side[mask])[:, np.newaxis] for side in (x, y))
    sizes = (~np.isnan(y)).sum(axis=0)
    counts = sizes * (sizes - 1) // 2
    if not counts.any():
        raise InputError("no two outputs of an item have both a metric and a human score")
    x, y, counts = x[:, counts > 0], y[:, counts > 0], counts[counts > 0]
    y = np.where(np.isnan(y), np.nan, rounded_ties(np.nan_to_num(y)))
    always_tie = _tie_share(y, counts)
    accuracy, found = _calibrate(x, y, counts, epsilon)
    permuted = float("nan")
    if shuffles and len(counts) == 1 and counts[0] > _MANY:
        permuted = _expected(x, always_tie, counts, epsilon)
    elif shuffles:
        generator = stream(seed, _SHUFFLES)
        shuffled = (_shuffled(x, generator) for _ in range(shuffles))
        permuted = float(np.mean([_calibrate(one, y, counts, epsilon)[0] for one in shuffled]))
    return CalibratedAccuracy(accuracy, found, int(counts.sum()), len(counts), always_tie, permuted)


def _calibrate(x: Array, y: Array, counts: Any, epsilon: float | None) -> tuple[float, float]:
    """Accuracy and epsilon, of tables whose columns are the groups."""
    if x.shape[1] == 1 and len(x) > _LONG:
        present = ~np.isnan(y[:, 0])
        return _among_many(x[present, 0], y[present, 0], epsilon)
    return _best(_pairs(x, y, counts), epsilon)


def _expected(x: Array, always_tie: float, counts: Any, epsilon: float | None) -> float:
    """What one column's scores in random order reach, on average.

    A pair that the metric ties is right where people tie, another in half of the cases where
    they do not: linear in the share of ties, so that calibration ties nothing more or everything.
    """
    tied = _tie_share(x, counts)
    if epsilon is not None:
        ordered = np.sort(x[:, 0])
        zeros = np.zeros(len(ordered))
        tied = _among_many(ordered, zeros, epsilon)[0]
    guess = tied * always_tie + (1.0 - tied) * (1.0 - always_tie) / 2.0
    return max(guess, always_tie) if epsilon is None else guess


def _pairs(x: Array, y: Array, counts: Any) -> _Pairs:
    """The pairs of all rows within each column."""
    noise = _noise(x)
    return _Pairs(*moving_pairs(x, y, 1.0 / (counts * x.shape[1]), noise), noise)


def _best(pairs: _Pairs, epsilon: float | None) -> tuple[float, float]:
    """The highest accuracy and the smallest epsilon that reaches it, or that of an epsilon."""
    if epsilon is not None:
        within = pairs.distance <= epsilon + pairs.noise
        return pairs.base + float(pairs.gain[within].sum()), epsilon
    if len(pairs.distance) == 0:
        return pairs.base, 0.0
    order = np.argsort(pairs.distance)
    distance = pairs.distance[order]
    reached = pairs.base + np.cumsum(pairs.gain[order])
    # Equal distances become ties together.
    ends = np.append(np.diff(distance) > pairs.noise, True)
    distance, reached = distance[ends], reached[ends]
    if reached.max() <= pairs.base + _ROUNDING:
        return pairs.base, 0.0
    place = int(np.argmax(reached >= reached.max() - _ROUNDING))
    return float(reached[place]), float(distance[place])


def _shuffled(x: Array, generator: np.random.Generator) -> Array:
    """Each column's scores in random order, missing ones where they were."""
    keys = np.where(np.isnan(x), np.inf, generator.random(x.shape))
    order, places = np.argsort(keys, axis=0), np.argsort(np.isnan(x), axis=0, kind="stable")
    shuffled = np.empty(x.shape)
    np.put_along_axis(shuffled, places, np.take_along_axis(x, order, axis=0), axis=0)
    return shuffled


def _tie_share(scores: Array, counts: Any) -> float:
    """Mean over columns of the share of pairs that are tied."""
    ordered = np.sort(scores, axis=0)
    tied = np.zeros(scores.shape[1])
    run = np.zeros(scores.shape[1])
    for row in range(1, len(ordered)):
        run = np.where(ordered[row] == ordered[row - 1], run + 1.0, 0.0)
        tied += run
    return float((tied / counts).mean())


def _among_many(x: Array, y: Array, epsilon: float | None) -> tuple[float, float]:
    """As `_best` of `_pairs` for one long column, without holding its pairs.

    Bins of about equal size give the accuracy at their edges; only within those bins that could
    hold a higher one are the pairs looked at one by one.
    """
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    size = len(x)
    pairs = size * (size - 1) // 2
    noise = _noise(x)
    edges = _edges(x, noise) if epsilon is None else np.array([noise, epsilon + noise])
    edges = np.unique(np.append(edges, max(edges[-1], x[-1] - x[0])))
    tied, concordant = tie_gains(x, y, edges)
    # With epsilon at an edge: ties up to it are right, and concordant pairs beyond it.
    right = np.cumsum(tied) + concordant.sum() - np.cumsum(concordant)
    if epsilon is not None:
        return float(right[np.searchsorted(edges, epsilon + noise)]) / pairs, epsilon
    place = int(np.argmax(right))
    best, found = int(right[place]), 0.0
    if place > 0:
        near = _between(x, y, float(edges[place - 1]), float(edges[place]))
        found = float(near[0].max(initial=edges[place - 1]))
    bound = np.append(0, right[:-1] + tied[1:])
    for k in np.argsort(-bound, kind="stable"):
        if bound[k] < best or k == 0:
            break
        near = _between(x, y, float(edges[k - 1]), float(edges[k]))
        reached, where = _best(_Pairs(*near, float(right[k - 1]), noise), None)
        if where > 0.0 and (reached > best or (reached == best and where < found)):
            best, found = int(reached), where
    return best / pairs, found


def _edges(x: Array, noise: float) -> Array:
    """Distances that part the pairs of sorted x into about equal bins, none parting equals.

    Any such edges give the same result, so that their randomness does not show.
    """
    size = len(x)
    bins = min(_BINS, size * (size - 1) // 32)
    ends = stream(0, _SHUFFLES, 1).integers(size, size=(2, 16 * bins))
    sample = np.sort(np.abs(x[ends[0]] - x[ends[1]]))[::16]
    edges = np.append(0.0, sample[sample > noise]) + noise
    return np.asarray(edges[np.append(True, np.diff(edges) > 4.0 * noise)])


def _noise(x: Array) -> float:
    """Differences of scores are known no better."""
    return _RELATIVE * usual_size(x)


def _between(x: Array, y: Array, low: float, high: float) -> tuple[Array, Array]:
    """Distances of the pairs of sorted x above one and up to another, and their gains."""
    slack = 1e-14 * float(np.abs(x).max())  # differences are rounded, and so are sums
    first = np.searchsorted(x, x + (low - slack))
    last = np.searchsorted(x, x + (high + slack), side="right")
    lengths = last - first
    starts = np.repeat(np.arange(len(x)), lengths)
    ends = np.arange(lengths.sum()) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
    distance = x[ends] - x[starts]
    tied = y[ends] == y[starts]
    moving = (distance > low) & (distance <= high) & (tied | (y[ends] > y[starts]))
    return distance[moving], np.where(tied, 1.0, -1.0)[moving]
