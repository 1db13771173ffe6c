"""Plain text that holds nothing unusual in, arrays out; None where a reader must look at it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus.bulk import TENS, kernel, read_lines_at_once, within_bounds
from deltableu.corpus.item_columns import ItemColumns
from deltableu.corpus.item_records import default_origin
from deltableu.corpus.rows import NumberRows, TextRows
from deltableu.corpus.types import Item, Reference
from deltableu.io import PathLike, as_number
from deltableu.text import Texts


def read_plain_columns(refs: Sequence[PathLike], weights: PathLike | None) -> ItemColumns | None:
    """Items in one file per reference stream, and their weights."""
    streams = [read_lines_at_once(path) for path in refs]
    weighing = None if weights is None else read_lines_at_once(weights)
    there = [one for one in streams if one is not None]
    counts = {len(one) for one in (*there, *([weighing] if weighing is not None else []))}
    if len(there) < len(refs) or len(counts) != 1 or (weights is not None and weighing is None):
        return None
    offsets = np.cumsum([0, *(len(one.data) for one in there)])
    starts = np.stack([one.starts + at for one, at in zip(there, offsets, strict=False)], axis=1)
    ends = np.stack([one.ends + at for one, at in zip(there, offsets, strict=False)], axis=1)
    data = b"".join(one.data for one in there)
    present = ~_blank(Texts(data, starts.ravel(), ends.ravel())).reshape(starts.shape)
    if not present.any(axis=1).all():
        return None
    numbers = np.full(int(present.sum()), np.nan)
    if weighing is not None:
        found = _cells(weighing, present)
        if found is None:
            return None
        numbers = found
    bounds = np.concatenate(([0], np.cumsum(present.sum(axis=1))))
    ids = tuple(map(str, range(1, len(starts) + 1)))
    texts = TextRows(bounds, Texts(data, starts[present], ends[present]))
    rows = NumberRows(bounds, numbers)
    stream = np.nonzero(present)[1]
    return ItemColumns(
        ids,
        range(1, len(ids) + 1),
        texts,
        rows,
        np.zeros(len(ids), np.int64),
        None,
        (None,) * len(ids),
        None,
        partial(_item_of_streams, texts, rows, stream),
    )


def _item_of_streams(texts: TextRows, weights: NumberRows, stream: Ints, number: int) -> Item:
    streams = stream[texts.bounds[number] : texts.bounds[number + 1]].tolist()
    references = tuple(
        Reference(f"r{index}", text, weight, default_origin(index))
        for text, weight, index in zip(texts[number], weights[number], streams, strict=True)
    )
    return Item(str(number + 1), references)


def _blank(texts: Texts) -> Bools:
    """Whether each text has nothing but white space."""
    data = np.frombuffer(texts.data + b"  ", np.uint8)
    first, second = data[texts.starts], data[texts.starts + 1]
    blank: Bools = texts.ends == texts.starts
    # White space of ASCII, and what may be the first byte of other white space.
    maybe = (first <= 0x20) | ((first == 0xC2) & ((second == 0x85) | (second == 0xA0)))
    maybe |= (first == 0xE1) & (second == 0x9A) | (first == 0xE2) & (second <= 0x81)
    maybe |= (first == 0xE3) & (second == 0x80)
    for place in np.flatnonzero(maybe & ~blank).tolist():
        blank[place] = not texts[place].strip()
    return blank


def _cells(lines: Texts, present: Bools) -> Array | None:
    """The weights of the references that are there."""
    whole = lines.joined()
    if not whole.lines:
        return None
    signs = np.frombuffer(whole.data, np.uint8)
    cuts = np.flatnonzero((signs == ord("\t")) | (signs == ord("\n")))
    starts, ends = np.append(0, cuts + 1), np.append(cuts, len(signs))
    width = present.shape[1]
    if len(starts) != present.size or not (ends[width - 1 :: width] == whole.ends).all():
        return None
    empty = (ends == starts).reshape(present.shape)
    if (empty & present).any() or not (empty | present).all():
        return None
    starts, ends = starts[present.ravel()], ends[present.ravel()]
    numbers = np.empty(len(starts))
    odd = np.empty(len(starts), np.int64)
    odds = kernel.read_numbers(whole.data, starts, ends, TENS, numbers, odd)
    for place in odd[:odds].tolist():
        number = as_number(whole.data[starts[place] : ends[place]].decode())
        if not isinstance(number, int | float):
            return None
        try:
            numbers[place] = float(number)
        except OverflowError:
            return None
    return numbers if within_bounds(numbers) else None
