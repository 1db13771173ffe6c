"""Texts and weights of all references as arrays, which look like a tuple per item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar, overload

import numpy as np

from deltableu._types import Array, Ints
from deltableu.text import Texts

_Cell = TypeVar("_Cell")


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRows(Sequence[tuple[_Cell, ...]]):
    """Rows of different lengths; row i has the cells `bounds[i]` to `bounds[i + 1]`."""

    bounds: Ints

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __eq__(self, other: object) -> bool:
        """Whether another sequence has these rows."""
        if not isinstance(other, ReferenceRows | tuple | list):
            return NotImplemented
        return len(self) == len(other) and tuple(self) == tuple(map(tuple, other))

    def __hash__(self) -> int:
        return hash(tuple(self))


@dataclass(frozen=True, slots=True, eq=False)
class TextRows(ReferenceRows[str]):
    """Texts in rows.

    Examples
    --------
    >>> rows = TextRows(np.array([0, 1, 3]), Texts.of(["yes", "no", "nope"]))
    >>> rows[1], len(rows[:1]), rows == (("yes",), ("no", "nope"))
    (('no', 'nope'), 1, True)
    """

    texts: Texts

    @overload
    def __getitem__(self, i: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, i: slice) -> TextRows: ...
    def __getitem__(self, i: int | slice) -> tuple[str, ...] | TextRows:
        begin, end, bounds = _span(self.bounds, i)
        chosen = self.texts[begin:end]
        return tuple(chosen) if isinstance(i, int) else TextRows(bounds, chosen)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        strings = self.texts.strings()
        return (tuple(strings[begin:end]) for begin, end in pairwise(self.bounds.tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class NumberRows(ReferenceRows[float | None]):
    """Numbers in rows; a NaN stands for none."""

    numbers: Array

    @overload
    def __getitem__(self, i: int) -> tuple[float | None, ...]: ...
    @overload
    def __getitem__(self, i: slice) -> NumberRows: ...
    def __getitem__(self, i: int | slice) -> tuple[float | None, ...] | NumberRows:
        begin, end, bounds = _span(self.bounds, i)
        chosen = self.numbers[begin:end]
        return _cells(chosen.tolist()) if isinstance(i, int) else NumberRows(bounds, chosen)

    def __iter__(self) -> Iterator[tuple[float | None, ...]]:
        cells = _cells(self.numbers.tolist())
        return (cells[begin:end] for begin, end in pairwise(self.bounds.tolist()))


def row_sizes(rows: Sequence[Sequence[object]]) -> Ints:
    """How many cells each row has."""
    if isinstance(rows, ReferenceRows):
        return np.diff(rows.bounds)
    return np.fromiter(map(len, rows), np.int64, len(rows))


def _span(bounds: Ints, i: int | slice) -> tuple[int, int, Ints]:
    """The first and one past the last cell of one row or of some, and where these begin."""
    if not isinstance(i, slice):
        i = range(len(bounds) - 1)[i]
        return int(bounds[i]), int(bounds[i + 1]), bounds[:0]
    first, last, step = i.indices(len(bounds) - 1)
    if step != 1:
        raise ValueError("rows are cut out one after the other")
    kept = bounds[first : max(first, last) + 1]
    return int(kept[0]), int(kept[-1]), kept - kept[0]


def _cells(numbers: list[float]) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(one) else one for one in numbers)
