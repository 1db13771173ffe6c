"""Log files in, the values of some columns out, row by row with the number of the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

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
from deltableu.logs.read_lines import read_chunks, read_header, without_bad_lines

Row: TypeAlias = tuple[int, Sequence[object]]
Advance: TypeAlias = Callable[[int], None]
"""Called with the bytes of a file that have been read so far."""

_BATCH = 4096


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
        return _parquet_rows(file, columns, report, advance)
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
    is_table = file.form == "tsv"
    read = _tsv_reader(read_header(file), columns) if is_table else _jsonl_reader(columns)
    lines = _lines(file, report, advance)
    if is_table:
        lines = (line for line in lines if line[0] > 1)
    for number, line in filled_lines(lines, file.name, report):
        try:
            yield number, read(line)
        except ValueError as error:
            report(Problem(str(error), file=file.name, line=number))


def _lines(file: FoundFile, report: Report, advance: Advance | None) -> Iterator[tuple[int, str]]:
    number = 0
    with ByteSource(file) as source:
        for chunk in read_chunks(source):
            data, bad = without_bad_lines(chunk if number else chunk.removeprefix(BOM))
            first = number
            for line in data.decode().removesuffix("\n").split("\n"):
                number += 1
                if number - first - 1 in bad:
                    message = bad[number - first - 1]
                    report(Problem(message, file=file.name, line=number))
                else:
                    yield number, line.removesuffix("\r")
            if advance is not None:
                advance(source.position)


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
    file: FoundFile, columns: Sequence[str], report: Report, advance: Advance | None
) -> Iterator[Row]:
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
            for record in records:
                number += 1
                yield number, [pick(record, name) for name in columns]
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
