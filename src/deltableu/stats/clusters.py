"""Which pairs differ in; ranks with ties, clusters and letters out.

Everything takes systems in the order of their scores, best first, and a square matrix that says
for each pair whether they differ significantly.
"""

from __future__ import annotations

import numpy as np

from deltableu._types import Bools

__all__ = ["letters", "rank_ranges", "significance_clusters"]


def rank_ranges(differs: Bools) -> list[tuple[int, int]]:
    """Best and worst rank of each system that significant differences leave possible.

    Examples
    --------
    >>> rank_ranges(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    [(1, 2), (1, 3), (2, 3)]
    """
    size = len(differs)
    better = np.triu(differs)  # row beats column
    return [
        (1 + int(better[:, place].sum()), size - int(better[place].sum())) for place in range(size)
    ]


def significance_clusters(differs: Bools) -> list[int]:
    """Number of each system's cluster, from 1: WMT draws a line where all above beat all below.

    Examples
    --------
    >>> significance_clusters(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], bool))
    [1, 2, 2]
    """
    numbers = [1]
    for place in range(1, len(differs)):
        numbers.append(numbers[-1] + int(differs[:place, place:].all()))
    return numbers


def letters(differs: Bools) -> list[str]:
    """Compact letter display: two systems share a letter if and only if they do not differ.

    References
    ----------
    Piepho 2004, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons"
    (insert and absorb).

    Examples
    --------
    >>> letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    size = len(differs)
    groups = [frozenset(range(size))]
    for first, second in np.argwhere(np.triu(differs)).tolist():
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
