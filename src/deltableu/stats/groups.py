"""Rows of items in, rows of groups of items out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from deltableu._types import Array, Ints


def group_numbers(labels: Sequence[Hashable]) -> Ints:
    """A number for each item's group, groups in the order of their first items.

    Examples
    --------
    >>> group_numbers(["x", "y", "x"]).tolist()
    [0, 1, 0]
    """
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)


def sum_groups(rows: Array, numbers: Ints) -> Array:
    """Sums of the rows of each group, on the first axis.

    Examples
    --------
    >>> sum_groups(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0])).tolist()
    [[5.0], [2.0]]
    """
    sums = np.zeros((int(numbers.max()) + 1, *rows.shape[1:]))
    np.add.at(sums, numbers, rows)
    return sums
