"""Rows of Appraise in, numbers of their segments out, where Appraise counts within tasks.

Whoever makes a campaign numbers its items: by the test set (then one segment has one number
wherever it is rated), or from 1 on in every task. Only the first tells segments by themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TypeAlias

Copy: TypeAlias = tuple[str, str, str]
"""A rater, a system, and a document with the marks of which copy of it was shown."""


def copy_of(row: Mapping[str, object]) -> Copy:
    return str(row["username"]), str(row["system"]), str(row["document"])


def document_of(row: Mapping[str, object]) -> str:
    """The document without its marks: the system, or which copy it is."""
    return str(row["document"]).partition("#")[0]


def places_in_documents(
    rows: Iterable[Mapping[str, object]],
) -> dict[tuple[Copy, str], int] | None:
    """For items that are numbered by task, their places in the document; None for others.

    By the test set, copies of a document share their numbers; by task, hardly any two do.

    Examples
    --------
    >>> rows = [
    ...     {"username": "u", "system": "a", "document": f"d#{copy}", "item": str(number)}
    ...     for copy, numbers in {"a": (7, 8), "a#bad": (95, 96)}.items()
    ...     for number in numbers
    ... ]
    >>> list(places_in_documents(rows).values())
    [1, 2, 1, 2]
    >>> places_in_documents(rows[:2]) is None
    True
    """
    numbers: dict[str, dict[Copy, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if "document" not in row:
            return None
        numbers[document_of(row)][copy_of(row)].add(str(row["item"]))
    apart = together = 0
    for copies in numbers.values():
        for one, other in combinations(copies.values(), 2):
            apart += one.isdisjoint(other)
            together += not one.isdisjoint(other)
    if apart <= together:
        return None
    return {
        (copy, item): place
        for copies in numbers.values()
        for copy, items in copies.items()
        for place, item in enumerate(sorted(items, key=lambda one: (len(one), one)), start=1)
    }
