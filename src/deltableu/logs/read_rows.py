"""Log files in, the values of some columns out, row by row with the number of the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeAlias, TypeVar

from deltableu.errors import Problem
from deltableu.io import (
    BOM,
    ByteSource,
    FoundFile,
    Report,
    check_once,
    decode,
    decode_object,
    filled_lines,
    open_parquet,
    pyarrow_for,
    read_batches,
    unescape_cell,
    unreadable,
    wrong_cells,
)
from deltableu.logs.read_ahead import chunks_of
from deltableu.logs.read_lines import read_chunks, read_header, without_bad_lines

Row: TypeAlias = tuple[int, Sequence[object]]
Advance: TypeAlias = Callable[[int], None]
"""Called with the bytes of a file that have been read so far."""

_T = TypeVar("_T")
_S = TypeVar("_S", bound=Sized)
Scan: TypeAlias = Callable[[bytes, int], tuple[_S, int]]
"""Takes lines from a byte of some on, and gives what they hold, an element for each, and the first
byte of the lines that it does not take.
"""
_BATCH = 4096
#: So many lines are read together; where one of them must be looked at, fewer are tried.
_TOGETHER = (1024, 64)


def columns_of(file: FoundFile) -> list[str] | None:
    """The columns of a file, of JSON Lines those of the first object; None where it has no row."""
    if file.form == "parquet":
        with open_parquet(file) as parquet:
            return list(parquet.schema_arrow.names)
    if file.form == "tsv":
        return read_header(file)
    with ByteSource(file) as source:
        for chunk in read_chunks(source):
            for line in chunk.removeprefix(BOM).split(b"\n"):
                try:
                    value = decode(line.decode())
                except ValueError:
                    continue  # who reads the rows is told
                if isinstance(value, dict):
                    return list(value)
    return None


def read_rows(
    file: FoundFile, columns: Sequence[str], report: Report, advance: Advance | None = None
) -> Iterator[Row]:
    """Yield the values of some columns; None where a row has no such column."""
    if file.form == "parquet":
        return _parquet_rows(file, columns, advance)
    return _text_rows(file, columns, report, advance)


def pick(record: Mapping[str, object], name: str) -> object:
    """A value of a record; ``user.id`` is the `id` of its `user`, unless it has a ``user.id``.

    Examples
    --------
    >>> pick({"user": {"id": 7}}, "user.id")
    7
    """
    if name in record or "." not in name:
        return record.get(name)
    value: object = record
    for part in name.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def _text_rows(
    file: FoundFile, columns: Sequence[str], report: Report, advance: Advance | None
) -> Iterator[Row]:
    read = line_reader(read_header(file) if file.form == "tsv" else None, columns)
    lines: Iterator[tuple[int, str]] = read_line_groups(file, None, report, advance)
    for number, line in filled_lines(lines, file.name, report):
        try:
            yield number, read(line)
        except ValueError as error:
            report(Problem(str(error), file=file.name, line=number))


def read_line_groups(
    file: FoundFile,
    read_many: Callable[[Sequence[bytes]], _T | None] | None,
    report: Report,
    advance: Advance | None = None,
    scan: Scan[_S] | None = None,
) -> Iterator[tuple[int, _T | _S | str]]:
    """Yield line numbers and what many lines hold together, or lines where `read_many` has None.

    Where there is a `scan`, `read_many` is asked for the lines that it does not take. Lines that
    are not UTF-8 are reported; the first line of a table is left out.
    """
    number = 0
    with ByteSource(file) as source:
        for chunk, position in chunks_of(source):
            data, bad = without_bad_lines(chunk if number else chunk.removeprefix(BOM))
            begin = 1 if number == 0 and file.form == "tsv" else 0
            if begin and 0 in bad:
                report(Problem(bad[0], file=file.name, line=1))
            parts: Iterator[tuple[int, _T | _S | bytes]]
            if read_many is not None and scan is not None:
                parts = _scanned(data, read_many, scan)
            else:
                lines = data.removesuffix(b"\n").split(b"\n")[begin:]
                parts = enumerate(lines) if read_many is None else _together(lines, read_many)
            for first, found in parts:
                place = begin + first
                if not isinstance(found, bytes):
                    yield number + place + 1, found
                elif place in bad:
                    report(Problem(bad[place], file=file.name, line=number + place + 1))
                else:
                    yield number + place + 1, found.decode().removesuffix("\r")
            number += data.count(b"\n")
            if advance is not None:
                advance(position)


def _together(
    lines: Sequence[bytes],
    read_many: Callable[[Sequence[bytes]], _T | None],
    sizes: Sequence[int] = _TOGETHER,
) -> Iterator[tuple[int, _T | bytes]]:
    """What lines hold, as many at once as can be read so, or the lines."""
    if not sizes:
        yield from enumerate(lines)
        return
    for first in range(0, len(lines), sizes[0]):
        some = lines[first : first + sizes[0]]
        found = read_many(some)
        if found is not None:
            yield first, found
            continue
        for place, part in _together(some, read_many, sizes[1:]):
            yield first + place, part


def _scanned(
    data: bytes, read_many: Callable[[Sequence[bytes]], _T | None], scan: Scan[_S]
) -> Iterator[tuple[int, _T | _S | bytes]]:
    """What lines hold: all that `scan` takes, and between that some lines as `_together` has it."""
    line = at = 0
    size = _TOGETHER[-1]
    while at < len(data):
        found, at = scan(data, at)
        if len(found):
            yield line, found
            line += len(found)
        # Where there is nothing to take many times in a row, it is not looked for so often.
        size = _TOGETHER[-1] if len(found) else min(2 * size, _TOGETHER[0])
        if at < len(data):
            end = _behind(data, at, size)
            lines = data[at : end - 1].split(b"\n")
            for first, part in _together(lines, read_many, _TOGETHER[1:]):
                yield line + first, part
            line += len(lines)
            at = end


def _behind(data: bytes, at: int, lines: int) -> int:
    """Where the line after some lines begins."""
    for _ in range(lines):
        at = data.find(b"\n", at) + 1
        if at == len(data):
            break
    return at


def line_reader(
    header: Sequence[str] | None, columns: Sequence[str]
) -> Callable[[str], list[object]]:
    """Reads the values of some columns from a line of a table, or from an object."""
    return _jsonl_reader(columns) if header is None else _tsv_reader(header, columns)


def _tsv_reader(header: Sequence[str], columns: Sequence[str]) -> Callable[[str], list[object]]:
    places = [header.index(name) if name in header else None for name in columns]

    def read(line: str) -> list[object]:
        cells = line.split("\t")
        if len(cells) != len(header):
            raise ValueError(wrong_cells(len(cells), len(header)))
        return [None if place is None else (unescape_cell(cells[place]) or "") for place in places]

    return read


def _jsonl_reader(columns: Sequence[str]) -> Callable[[str], list[object]]:
    nested = any("." in name for name in columns)

    def read(line: str) -> list[object]:
        value = decode_object(line)
        return [pick(value, name) for name in columns] if nested else [*map(value.get, columns)]

    return read


def _parquet_rows(
    file: FoundFile, columns: Sequence[str], advance: Advance | None
) -> Iterator[Row]:
    for first, rows in read_row_groups(file, columns, advance):
        yield from enumerate(rows, first)


def read_row_groups(
    file: FoundFile, columns: Sequence[str], advance: Advance | None = None
) -> Iterator[tuple[int, list[list[object]]]]:
    """Yield the number of the first and the values of many rows of a Parquet file."""
    pyarrow = pyarrow_for("Parquet", file.name)
    with open_parquet(file) as parquet:
        names = parquet.schema_arrow.names
        wanted = {name if name in names else name.partition(".")[0] for name in columns}
        check_once(file, parquet, wanted)
        kept = [name for name in names if name in wanted]
        total = max(parquet.metadata.num_rows, 1)
        number = 0
        for batch in read_batches(file, parquet, _BATCH, kept):
            try:
                records = _microseconds(pyarrow, batch).to_pylist()
            except Exception as error:
                raise unreadable(file, error) from None
            yield number + 1, [[pick(record, name) for name in columns] for record in records]
            number += len(records)
            if advance is not None:
                advance((file.size or 0) * number // total)


def _microseconds(pyarrow: Any, batch: Any) -> Any:
    """The same times, so that Python can hold them."""
    fields = [
        field.with_type(pyarrow.timestamp("us", field.type.tz))
        if pyarrow.types.is_timestamp(field.type)
        else field
        for field in batch.schema
    ]
    arrays = [
        array.cast(field.type, safe=False) if array.type != field.type else array
        for array, field in zip(batch.columns, fields, strict=True)
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=pyarrow.schema(fields))
