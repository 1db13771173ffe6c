"""Credit tables: what every n-gram of the references is worth to a hypothesis that has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Hashes, Ints, Ints32
from deltableu.text import TokenArrays, Tokenizer, empty_keys, lanes

_kernel = _kernels.load("score.engine._ngrams")

Variant = Literal["paper", "galley2019", "tsuta2020"]

#: The kernel knows these numbers.
VARIANTS: dict[str, int] = {"paper": 0, "galley2019": 1, "tsuta2020": 2}

_ALL = np.empty(0, dtype=np.int64)
_EVERYTHING = TokenArrays(empty_keys(0), np.empty(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that the tables depend on, besides the references and weights."""

    tokenizer: Tokenizer
    order: int
    weighted: bool = False
    variant: Variant = "paper"
    signed: bool = False  # denominators by the largest absolute weight
    brevity: Literal["all", "positive"] = "all"


@dataclass(frozen=True, slots=True)
class CreditTable:
    """Credit tables of some consecutive items; see the kernel for the layout."""

    items: int
    largest: int
    keys: Hashes
    values: Array
    entry_bounds: Ints
    checks: Hashes
    check_bounds: Ints
    buckets: np.ndarray[Any, np.dtype[np.uint32]]
    bucket_bounds: Ints
    shifts: Ints32
    lengths: Ints
    length_bounds: Ints
    scale: Array

    @classmethod
    def joined(cls, tables: Sequence[CreditTable]) -> CreditTable:
        """The items of several tables behind each other."""
        if len(tables) == 1:
            return tables[0]

        def together(name: str) -> Any:
            return np.concatenate([getattr(one, name) for one in tables])

        def bounds(name: str) -> Ints:
            given = [getattr(one, name) for one in tables]
            starts = np.cumsum([0, *(int(one[-1]) for one in given)])
            shifted = [one[:-1] + start for one, start in zip(given, starts, strict=False)]
            return np.concatenate((*shifted, starts[-1:]))

        return cls(
            items=sum(one.items for one in tables),
            largest=max(one.largest for one in tables),
            keys=together("keys"),
            values=together("values"),
            entry_bounds=bounds("entry_bounds"),
            checks=together("checks"),
            check_bounds=bounds("check_bounds"),
            buckets=together("buckets"),
            bucket_bounds=bounds("bucket_bounds"),
            shifts=together("shifts"),
            lengths=together("lengths"),
            length_bounds=bounds("length_bounds"),
            scale=together("scale"),
        )


def build_table(
    tokens: TokenArrays,
    bounds: Ints,
    weights: Array,
    recipe: Recipe,
    wanted: TokenArrays = _EVERYTHING,
) -> CreditTable:
    """Tables of items whose references' tokens are given; item i has bounds[i]:bounds[i + 1].

    With the tokens of the hypotheses in `wanted` the tables serve only those, and cost less.
    """
    items = len(bounds) - 1
    lengths = np.diff(tokens.bounds)
    grams = sum(np.maximum(lengths - n, 0) for n in range(recipe.order))
    per_item = np.add.reduceat(grams, bounds[:-1])
    largest = int(per_item.max())
    total = int(per_item.sum())
    slots = 1 << max(1, (2 * largest - 1).bit_length())
    longest = int(np.diff(wanted.bounds).max()) if len(wanted.bounds) else 0
    marks = 1 << max(8, (16 * longest).bit_length())
    keys = np.empty(total, dtype=np.uint64)
    values = np.empty(total)
    checks = np.empty(len(tokens.keys), dtype=np.uint64)
    check_bounds = np.empty(items + 1, dtype=np.int64)
    tables = items * (recipe.order + 1)
    buckets = np.empty(total + 4 * tables, dtype=np.uint32)
    entry_bounds, bucket_bounds = np.empty((2, tables + 1), dtype=np.int64)
    shifts = np.empty(tables, dtype=np.int32)
    entries = _kernel.build_tables(
        lanes(tokens.keys),
        tokens.bounds,
        bounds,
        weights,
        lanes(wanted.keys),
        wanted.bounds,
        recipe.order,
        VARIANTS[recipe.variant],
        np.empty(slots, dtype=np.int32),
        np.empty(marks, dtype=np.uint8),
        np.empty((16, largest + int(np.diff(bounds).max()) + 1), dtype=np.int32),
        np.empty((3, largest + 1)),
        np.empty((2, largest + 1), dtype=np.uint64),
        keys,
        values,
        entry_bounds,
        checks,
        check_bounds,
        buckets,
        bucket_bounds,
        shifts,
    )
    length_bounds = bounds
    if recipe.brevity == "positive" and recipe.weighted:
        lengths, length_bounds = _positive_lengths(lengths, bounds, weights)
    compared = np.abs(weights) if recipe.signed else weights
    return CreditTable(
        items=items,
        largest=int(np.diff(entry_bounds[:: recipe.order + 1]).max()),
        keys=_trimmed(keys, entries),
        values=_trimmed(values, entries),
        entry_bounds=entry_bounds,
        checks=_trimmed(checks, int(check_bounds[-1])),
        check_bounds=check_bounds,
        buckets=_trimmed(buckets, int(bucket_bounds[-1])),
        bucket_bounds=bucket_bounds,
        shifts=shifts,
        lengths=lengths,
        length_bounds=length_bounds,
        scale=np.maximum.reduceat(compared, bounds[:-1]),
    )


def match(tokens: TokenArrays, table: CreditTable, order: int, chosen: Ints | None = None) -> Array:
    """A row a hypothesis: numerators, denominators, its length and the closest reference's.

    With `chosen`, hypothesis i is one for item `chosen[i]`.
    """
    size = len(tokens.keys)
    room = min(table.largest, size * order) + 1
    rows = np.empty((len(tokens.bounds) - 1, 2 * order + 2))
    _kernel.match(
        lanes(tokens.keys),
        tokens.bounds,
        table.keys,
        table.values,
        table.entry_bounds,
        table.checks,
        table.check_bounds,
        table.buckets,
        table.bucket_bounds,
        table.shifts,
        table.lengths,
        table.length_bounds,
        table.scale,
        _ALL if chosen is None else chosen,
        order,
        np.empty((2, size + 1), dtype=np.int64),
        np.zeros(table.largest + 1, dtype=np.int32),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int32),
        rows,
    )
    return rows


def _trimmed(array: Any, size: int) -> Any:
    """Without the unused end; copied where keeping it would waste memory."""
    return array[:size].copy() if size < 0.9 * len(array) else array[:size]


def _positive_lengths(lengths: Ints, bounds: Ints, weights: Array) -> tuple[Ints, Ints]:
    """Only the lengths of references with a positive weight; all of them where there is none."""
    positive = weights > 0.0
    none = np.add.reduceat(positive, bounds[:-1]) == 0
    positive |= np.repeat(none, np.diff(bounds))
    kept = np.concatenate(([0], np.cumsum(positive)))
    return lengths[positive], kept[bounds]
