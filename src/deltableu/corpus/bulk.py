"""JSON Lines that hold nothing unusual in, arrays out; None where a reader must look at them.

The kernel accepts what the readers of `items` and `outputs` accept without a warning, and gives up
on all else: then those readers say what is wrong, or make sense of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints
from deltableu.corpus.item_columns import ItemColumns
from deltableu.corpus.item_records import WEIGHTS, parse_item
from deltableu.corpus.rows import NumberRows, TextRows
from deltableu.corpus.types import ORIGINS, Item
from deltableu.io import (
    OBJECTS,
    Checker,
    PathLike,
    as_number,
    decode_many,
    decode_object,
    fail,
    file_bytes,
    file_name,
)
from deltableu.text import Texts

kernel = _kernels.load("io._records")


def _table(*names: str) -> bytes:
    """Names as the kernel looks them up."""
    return b"".join(name.encode().ljust(15, b"\0") + bytes((len(name),)) for name in names)


_ITEM = _table("id", "context", "message", "references", "meta")
_REFERENCE = _table("id", "text", "weight", "origin", "source")
_SOURCE = _table("utterance", "id", "score", "rank")
_OUTPUT = _table("id", "text")
_ORIGINS = _table(*ORIGINS)
#: What the kernel divides by, and what stands for no number.
TENS = np.array([*(10.0**k for k in range(23)), np.nan])

#: Bytes of lines that are scanned at once, by one of so many threads.
_PORTION = 1 << 22
_THREADS = 2
#: References of an item; to compare the ids of more with each other takes longer than a dictionary.
_MOST = 256


def read_lines_at_once(path: PathLike) -> Texts | None:
    """The lines of a file, if there are any and all are UTF-8."""
    data = file_bytes(path)
    texts = None if data is None else Texts.of_file(data)
    return texts if texts is not None and len(texts) else None


# --- Items ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Scanned:
    """A portion of the lines: where things lie, beyond the end of the text in `side`."""

    items: Ints
    references: Ints
    origins: Ints
    weights: Array
    odd: Ints
    side: bytes


def read_item_columns(path: PathLike) -> ItemColumns | None:
    """Items in JSON Lines."""
    lines = read_lines_at_once(path)
    if lines is None:
        return None
    lines = _without_last_blank(lines)
    scanned = _scan(lines)
    if scanned is None:
        return None
    sides = b"".join(one.side for one in scanned)
    size = len(lines.data)
    _shift_sides(scanned, size)
    data = lines.data + sides if sides else lines.data
    items = np.concatenate([one.items for one in scanned], axis=1)
    references = np.concatenate([one.references for one in scanned], axis=1)
    numbers = np.concatenate([one.weights for one in scanned])
    if not _read_odd(scanned, data, numbers) or not within_bounds(numbers):
        return None
    ids = tuple(Texts(data, items[0], items[1]))
    metas = _metas(data, items[4], items[5])
    if metas is None or len(set(ids)) < len(ids):
        return None
    bounds = np.concatenate(([0], np.cumsum(items[6])))
    return ItemColumns(
        ids,
        range(1, len(ids) + 1),
        TextRows(bounds, Texts(data, references[0], references[1])),
        NumberRows(bounds, numbers),
        items[7],
        np.concatenate([one.origins for one in scanned]),
        _messages(data, items[2], items[3]),
        metas or None,
        partial(_item_of_line, file_name(path), lines),
    )


def _item_of_line(name: str, lines: Texts, number: int) -> Item:
    checker = Checker(name, fail)
    checker.start(number + 1)
    item = parse_item(decode_object(lines[number]), checker)
    if item is None:
        raise AssertionError(f"{name}: line {number + 1} was scanned, but cannot be read")
    return item


def _without_last_blank(lines: Texts) -> Texts:
    (filled,) = np.nonzero(lines.ends > lines.starts)
    return lines[: int(filled[-1]) + 1] if len(filled) else lines


def _scan(lines: Texts) -> list[_Scanned] | None:
    """All lines, portion by portion."""
    wanted = np.arange(lines.starts[0], lines.ends[-1] + 1, _PORTION)
    cuts = np.unique(np.append(np.searchsorted(lines.starts, wanted), len(lines)))
    portions = [lines[begin:end] for begin, end in pairwise(cuts.tolist())]
    if len(portions) == 1:
        found = list(map(_scan_portion, portions))
    else:
        with ThreadPoolExecutor(_THREADS) as pool:
            found = list(pool.map(_scan_portion, portions))
    scanned = [one for one in found if one is not None]
    return scanned if len(scanned) == len(found) else None


def _scan_portion(lines: Texts) -> _Scanned | None:
    size = int(lines.ends[-1] - lines.starts[0])
    room = size // 3 + 1  # the shortest reference is an empty string
    items = np.empty((8, len(lines)), np.int64)
    references = np.empty((5, room), np.int64)
    weights = np.empty(room)
    odd = np.empty((3, room), np.int64)
    side = np.empty(size + 1, np.uint8)
    counts = np.zeros(3, np.int64)
    fine = kernel.scan_items(
        *(lines.data, lines.starts, lines.ends),
        *(_ITEM, _REFERENCE, _ORIGINS, _SOURCE, TENS),
        *(items, references, weights, odd, side, _MOST, counts),
    )
    if not fine:
        return None
    total, odds, used = counts.tolist()
    return _Scanned(
        items,
        references[:2, :total].copy(),
        references[4, :total].copy(),
        weights[:total].copy(),
        odd[:, :odds].copy(),
        side[:used].tobytes(),
    )


def _shift_sides(scanned: Sequence[_Scanned], size: int) -> None:
    """What lies in a portion's own side lies behind those of the others, when they are joined."""
    before = 0
    for one in scanned:
        if before and one.side:
            for places in (one.items[:4], one.references):
                places[places >= size] += before
        before += len(one.side)


def _read_odd(scanned: Sequence[_Scanned], data: bytes, numbers: Array) -> bool:
    """Read weights of many digits; false where one is none."""
    before = 0
    for one in scanned:
        for place, begin, end in one.odd.T.tolist():
            number = as_number(data[begin:end].decode())
            if not isinstance(number, int | float):
                return False
            numbers[before + place] = float(number)
        before += len(one.weights)
    return True


def within_bounds(numbers: Array) -> bool:
    """Whether all numbers that are there can be weights."""
    low, high = WEIGHTS
    return not ((numbers < low) | (numbers > high)).any()


def _metas(data: bytes, begins: Ints, ends: Ints) -> list[Mapping[str, object]] | None:
    """The meta of each item; an empty list where none has any, None where one may be wrong."""
    (having,) = np.nonzero(begins >= 0)
    if not len(having):
        return []
    texts = list(Texts(data, begins[having], ends[having]).encoded())
    found = decode_many([b"{}" if one == b"null" else one for one in texts], OBJECTS)
    if found is None:
        return None
    metas: list[Mapping[str, Any]] = [{}] * len(begins)
    for place, meta in zip(having.tolist(), found, strict=True):
        metas[place] = meta
    return metas


def _messages(data: bytes, begins: Ints, ends: Ints) -> tuple[str | None, ...]:
    if (begins < 0).all():
        return (None,) * len(begins)
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    return tuple(None if begin < 0 else data[begin:end].decode() for begin, end in spans)


# --- Outputs --------------------------------------------------------------------------------------


def read_output_columns(path: PathLike, item_ids: Sequence[str]) -> Texts | None:
    """Outputs in JSON Lines, one for each item, in the order of the items."""
    lines = read_lines_at_once(path)
    if lines is None:
        return None
    lines = _without_last_blank(lines)
    outputs = np.empty((4, len(lines)), np.int64)
    side = np.empty(len(lines.data) + 1, np.uint8)
    counts = np.zeros(3, np.int64)
    if not kernel.scan_outputs(
        *(lines.data, lines.starts, lines.ends, _OUTPUT), *(outputs, side, counts)
    ):
        return None
    data = lines.data + side[: counts[2]].tobytes()
    ids = Texts(data, outputs[0], outputs[1]).strings()
    texts = Texts(data, outputs[2], outputs[3])
    if ids == list(item_ids):
        return texts
    places = {id: place for place, id in enumerate(ids)}
    if len(places) < len(ids) or places.keys() != set(item_ids):
        return None
    return texts.choose(np.array([places[id] for id in item_ids]))
