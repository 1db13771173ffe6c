"""Parquet in, blocks of rows out: Arrow's buffers as they are, without an object a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from deltableu._types import Bools, Ints
from deltableu.errors import Problem
from deltableu.io import (
    FoundFile,
    Report,
    WrongColumns,
    check_once,
    fail,
    number_text,
    open_parquet,
    pyarrow_for,
    read_batches,
    unreadable,
)
from deltableu.logs.blocks import FIELDS, Block
from deltableu.logs.read_lines import is_utf8
from deltableu.text import Texts


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group of a Parquet file."""

    first: int  # row, counted from 0
    rows: int
    size: int  # bytes in the file, about


@contextmanager
def _opened(file: FoundFile) -> Iterator[Any]:
    with open_parquet(file) as parquet:
        check_once(file, parquet, FIELDS)
        _check_columns(pyarrow_for("Parquet", file.name), parquet.schema_arrow, file)
        yield parquet


def _check_columns(pyarrow: Any, schema: Any, file: FoundFile) -> None:
    for name in FIELDS:
        columns = schema.get_all_field_indices(name)
        if not columns and name in FIELDS[:2]:
            message = f"has no column {name!r}, which is required"
            raise WrongColumns(Problem(message, file=file.name, field=name))
        for column in columns:
            kind = schema.field(column).type
            if not _is_text(pyarrow, kind) and (name in FIELDS[:2] or not _is_name(pyarrow, kind)):
                message = f"the column must hold strings, but is of type {kind}"
                raise WrongColumns(Problem(message, file=file.name, field=name))


def _is_text(pyarrow: Any, kind: Any) -> bool:
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind) in ("string", "large_string", "string_view")


def _is_name(pyarrow: Any, kind: Any) -> bool:
    types = pyarrow.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind))


def row_groups(file: FoundFile) -> list[RowGroup]:
    """What a Parquet file consists of; `WrongColumns` where it is no log."""
    with _opened(file) as parquet:
        return _groups(file, parquet)


def _groups(file: FoundFile, parquet: Any) -> list[RowGroup]:
    """Row groups, and their parts of the file in proportion to what they unpack to.

    Their columns' sizes are not asked for: in a damaged file pyarrow ends the process over that.
    """
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    unpacked = [max(group.total_byte_size, 0) for group in groups]
    whole = max(sum(unpacked), 1)
    size = whole if file.size is None else file.size
    firsts = accumulate((group.num_rows for group in groups), initial=0)
    return [
        RowGroup(first, group.num_rows, size * part // whole)
        for first, group, part in zip(firsts, groups, unpacked, strict=False)
    ]


def read_row_groups(
    file: FoundFile,
    begin: int = 0,
    end: int | None = None,
    block_rows: int = 16384,
    report: Report = fail,
) -> Iterator[Block]:
    """Yield the rows of some row groups."""
    with _opened(file) as parquet:
        groups = _groups(file, parquet)
        numbers = range(len(groups))[begin:end]
        total = sum(groups[number].rows for number in numbers)
        size = sum(groups[number].size for number in numbers)
        names = [name for name in FIELDS if name in parquet.schema_arrow.names]
        before = groups[begin].first if numbers else 0
        seen = rows = 0
        for batch in read_batches(file, parquet, block_rows, names, list(numbers)):
            try:
                columns = {name: _column(batch.column(name)) for name in batch.schema.names}
            except Exception as error:  # damaged pages raise all that Arrow has
                raise unreadable(file, error) from None
            bad = _bad_rows(columns)
            for row in sorted(bad):
                report(replace(bad[row], file=file.name, line=before + seen + row + 1))
            seen += batch.num_rows
            kept = np.delete(np.arange(batch.num_rows), list(bad)) if bad else slice(None)
            texts = {name: column.texts.choose(kept) for name, column in columns.items()}
            block = Block(
                rows,
                texts["utterance"],
                texts["response"],
                texts.get("id"),
                texts.get("thread"),
                size * seen // max(total, 1),
            )
            rows += len(block)
            if len(block) > 0:
                yield block


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    texts: Texts
    absent: Bools | None  # None where no row lacks it


def _column(array: Any) -> _Column:
    kind = str(array.type)
    if kind.startswith("dictionary"):
        array = array.dictionary_decode()
        kind = str(array.type)
    absent = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind in ("float", "double", "halffloat"):
        # Tables with gaps spell whole numbers so, and a gap may be a NaN.
        numbers = (math.nan if number is None else number for number in array.to_pylist())
        names = ["" if math.isnan(number) else number_text(number) for number in numbers]
        return _Column(Texts.of(names), None)
    if kind not in ("string", "large_string"):
        array = array.cast("string")
        kind = "string"
    _, offsets, data = array.buffers()
    width = np.dtype(np.int32 if kind == "string" else np.int64)
    if len(array) == 0 or data is None:
        nowhere: Ints = np.zeros(len(array), dtype=np.int64)
        return _Column(Texts(b"", nowhere, nowhere), absent)
    bounds = np.frombuffer(
        offsets, dtype=width, count=len(array) + 1, offset=array.offset * width.itemsize
    ).astype(np.int64)
    first, last = int(bounds[0]), int(bounds[-1])
    bounds -= first
    starts, ends = bounds[:-1], bounds[1:]
    if absent is not None:
        ends = np.where(absent, starts, ends)
    return _Column(Texts(data[first:last].to_pybytes(), starts, ends), absent)


def _bad_rows(columns: dict[str, _Column]) -> dict[int, Problem]:
    """What is wrong first with rows that cannot be used."""
    bad: dict[int, Problem] = {}
    for name, column in columns.items():
        for row in _not_utf8(column.texts):
            message = "is not valid UTF-8: write the column as strings"
            bad.setdefault(row, Problem(message, field=name))
        if column.absent is not None and name in FIELDS[:2]:
            for row in np.flatnonzero(column.absent).tolist():
                bad.setdefault(row, Problem("is missing", field=name))
    return bad


def _not_utf8(texts: Texts) -> list[int]:
    """Texts of a column that are not UTF-8: nobody has checked that before."""
    data = texts.data
    if data.isascii():
        return []
    if is_utf8(data):
        # All together they are; then each one is that does not start amid a character.
        starts = texts.starts[texts.starts < len(data)]
        if not np.any(np.frombuffer(data, dtype=np.uint8)[starts] & 0xC0 == 0x80):
            return []
    bad = []
    for row in range(len(texts)):
        try:
            texts[row]
        except UnicodeDecodeError:
            bad.append(row)
    return bad
