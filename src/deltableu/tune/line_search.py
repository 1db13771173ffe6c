"""Weights and a direction in; where on that line the score is best, found exactly, out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints
from deltableu.tune.problem import TuningProblem

_kernel = _kernels.load("tune._envelope")

#: Beyond the last corner the step goes so far on, in units of the direction.
_BEYOND = 1.0
#: Intervals narrower than that, relative to where they are, are the work of rounding.
_NARROW = 1e-12
_FARTHEST = 1e100


class LineScores(NamedTuple):
    """Along a line the choice of candidates changes at corners only; between them it is one corpus.

    Attributes
    ----------
    steps : array
        A step into the middle of each interval between corners, from left to right.
    sums : array
        The summed rows of the candidates that are chosen there.
    """

    steps: Array
    sums: Array


def score_line(problem: TuningProblem, totals: Array, slopes: Array) -> LineScores:
    """All corpora that are chosen along a line: totals + step * slopes ranks the candidates.

    Parameters
    ----------
    problem
    totals, slopes
        Weighted sums of the features of all candidates, for the weights and for the direction.

    References
    ----------
    Och (2003). Minimum error rate training in statistical machine translation (section 5).

    Examples
    --------
    >>> from deltableu import BLEU
    >>> from deltableu.corpus import NBestLists
    >>> from deltableu.tune.candidate_rows import candidate_statistics
    >>> lists = NBestLists(("1",), np.array([0, 3]), ("a", "a b", "c"), ("F",),
    ...                    np.zeros((3, 1)))
    >>> metric = BLEU(order=1)
    >>> rows = candidate_statistics(metric, metric.encode([["a b"]]), lists)
    >>> totals, slopes = np.array([0.0, -1.0, -4.0]), np.array([0.0, 1.0, 2.0])
    >>> found = score_line(TuningProblem(lists, rows), totals, slopes)
    >>> found.steps.tolist(), metric.aggregate(found.sums).round().tolist()
    ([0.0, 2.0, 4.0], [37.0, 100.0, 0.0])
    """
    first, steps, left, right = _corners(problem, totals, slopes)
    rows = problem.statistics.rows
    # Almost parallel lines meet beyond all numbers: far left they have met, far right they do not.
    met = steps <= -_FARTHEST
    begin = problem.chosen_sums(first) + (rows[right[met]] - rows[left[met]]).sum(axis=0)
    kept = np.flatnonzero(np.abs(steps) < _FARTHEST)
    order = kept[np.argsort(steps[kept], kind="stable")]
    steps = steps[order]
    moved = rows[right[order]] - rows[left[order]]
    sums = begin + np.concatenate((np.zeros((1, rows.shape[1])), np.cumsum(moved, axis=0)))
    if not len(steps):
        return LineScores(np.zeros(1), sums)
    ends = np.concatenate(([steps[0] - 2.0 * _BEYOND], steps, [steps[-1] + 2.0 * _BEYOND]))
    lows, highs = ends[:-1], ends[1:]
    wide = highs - lows > _NARROW * np.maximum(1.0, np.maximum(np.abs(lows), np.abs(highs)))
    return LineScores((0.5 * (lows + highs))[wide], sums[wide])


def _corners(
    problem: TuningProblem, totals: Array, slopes: Array
) -> tuple[Ints, Array, Ints, Ints]:
    """The candidates chosen at the left end, and all corners: where, from which, to which."""
    bounds, size = problem.lists.bounds, len(totals)
    first, left, right = (np.empty(count, np.int64) for count in (len(bounds) - 1, size, size))
    steps, steeper = np.empty(size), np.empty(int(np.diff(bounds).max()), np.int64)
    count = _kernel.upper_envelopes(totals, slopes, bounds, steeper, first, steps, left, right)
    return first, steps[:count], left[:count], right[:count]
