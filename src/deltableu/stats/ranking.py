"""Scores and which pairs differ in; order, ranks with ties, clusters and letters out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools


@dataclass(frozen=True, slots=True)
class Ranking:
    """Who is how good, as far as the significant differences tell.

    Attributes
    ----------
    order : tuple of int
        Places of those that have a score, the best first.
    ranks : tuple of (int, int)
        For each place, the best and worst rank that significant differences leave possible; (0, 0)
        without a score.
    clusters : tuple of int
        The cluster of each place, from 1: WMT draws a line where all above beat all below; 0
        without a score.
    letters : tuple of str
        For each place: two share a letter if and only if they do not differ; none without a score.
    """

    order: tuple[int, ...]
    ranks: tuple[tuple[int, int], ...]
    clusters: tuple[int, ...]
    letters: tuple[str, ...]


def rank(
    names: Sequence[str],
    scores: ArrayLike,
    differs: ArrayLike,
    *,
    higher_is_better: bool = True,
    letters: bool = True,
) -> Ranking:
    """Rank by scores, given which pairs differ significantly.

    Parameters
    ----------
    names
        Names of systems or metrics; the order of equal scores, so that who was named first does not
        matter.
    scores
        NaN for one that has none and is not ranked.
    differs
        For each pair whether they differ; one of the two places of a pair is enough.
    higher_is_better
    letters
        Whether to find letters, which many systems may need thousands of.

    References
    ----------
    Piepho 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons"
    (insert and absorb).

    Examples
    --------
    >>> found = rank("ABC", [0.2, 0.9, 0.5], [[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> found.order, found.ranks, found.clusters, found.letters
    ((1, 2, 0), ((2, 3), (1, 2), (1, 3)), (1, 1, 1), ('b', 'a', 'ab'))
    """
    order = best_first(names, scores, higher_is_better=higher_is_better)
    given = np.asarray(differs, dtype=bool)
    sorted_pairs: Bools = (given | given.T)[np.ix_(order, order)]
    ranks, clusters, marks = [(0, 0)] * len(names), [0] * len(names), [""] * len(names)
    found = (
        _rank_ranges(sorted_pairs),
        _clusters(sorted_pairs),
        _letters(sorted_pairs) if letters else [""] * len(order),
    )
    for place, own_ranks, cluster, own_marks in zip(order, *found, strict=True):
        ranks[place], clusters[place], marks[place] = own_ranks, cluster, own_marks
    return Ranking(order, tuple(ranks), tuple(clusters), tuple(marks))


def best_first(
    names: Sequence[str], scores: ArrayLike, *, higher_is_better: bool = True
) -> tuple[int, ...]:
    """Places from the best score to the worst, equal scores by name, those without one left out.

    Examples
    --------
    >>> best_first("cab", [1.0, 2.0, 1.0])
    (1, 2, 0)
    """
    values: Array = np.asarray(scores, dtype=np.float64)
    signed = (-values if higher_is_better else values).tolist()
    there = np.flatnonzero(~np.isnan(values)).tolist()
    return tuple(sorted(there, key=lambda place: (signed[place], names[place])))


def greedy_ranks(better: Bools) -> list[int]:
    """WMT22's ranks: one significantly worse than any of the current rank starts the next.

    Parameters
    ----------
    better
        Whether the row is significantly better than the column, the best first.

    Examples
    --------
    >>> greedy_ranks(np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], bool))
    [1, 1, 2]
    """
    ranks, start = [1], 0
    for place in range(1, len(better)):
        beaten = bool(better[start:place, place].any())
        start = place if beaten else start
        ranks.append(ranks[-1] + int(beaten))
    return ranks


def _rank_ranges(differs: Bools) -> list[tuple[int, int]]:
    size = len(differs)
    better = np.triu(differs, 1)  # row beats column
    return [
        (1 + int(better[:, place].sum()), size - int(better[place].sum())) for place in range(size)
    ]


def _clusters(differs: Bools) -> list[int]:
    size = len(differs)
    # The last place that each does not differ from; a line is drawn where none reaches across.
    alike = ~differs | np.eye(size, dtype=np.bool_)
    if not size:
        return []
    last = np.maximum.accumulate(size - 1 - np.argmax(alike[:, ::-1], axis=1))
    numbers = [1]
    for place in range(1, size):
        numbers.append(numbers[-1] + int(last[place - 1] < place))
    return numbers


def _letters(differs: Bools) -> list[str]:
    size = len(differs)
    groups = [frozenset(range(size))]
    for first, second in np.argwhere(np.triu(differs, 1)).tolist():
        split = []
        for group in groups:
            if first in group and second in group:
                split += [group - {first}, group - {second}]
            else:
                split.append(group)
        groups = [
            group
            for place, group in enumerate(split)
            if not any(group < other for other in split) and group not in split[:place]
        ]
    groups.sort(key=sorted)
    return [
        "".join(_letter(number) for number, group in enumerate(groups) if place in group)
        for place in range(size)
    ]


def _letter(number: int) -> str:
    """a to z, then (1), (2), ... which cannot be mistaken for two letters."""
    return chr(ord("a") + number) if number < 26 else f"({number - 25})"
