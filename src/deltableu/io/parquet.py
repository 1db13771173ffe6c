"""Parquet files in, records with their row numbers out, and back; pyarrow is imported when used."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import atomic_path
from deltableu.io.names import PathLike, file_name
from deltableu.io.problems import Report, fail, until_broken
from deltableu.io.sources import FoundFile, WrongColumns, locate, pyarrow_for, unreadable

BATCH_ROWS = 1024

# Column chunks are as large as their writer liked, so they are read a little at a time.
_BUFFER = 1 << 20
_REMOTE_BUFFER = 4 << 20


@contextmanager
def open_parquet(file: FoundFile) -> Iterator[Any]:
    """A pyarrow ParquetFile that holds little in memory."""
    pyarrow = pyarrow_for("Parquet", file.name)
    source = None
    try:
        if file.system is None:
            if os.path.isdir(file.name):
                raise IsADirectoryError
            parquet = pyarrow.parquet.ParquetFile(
                file.name, buffer_size=_BUFFER, pre_buffer=False, memory_map=False
            )
        else:
            # Columns are read in turns, which a cache that reads ahead would only hinder.
            source = file.open(ahead=False)
            parquet = pyarrow.parquet.ParquetFile(
                source, buffer_size=_REMOTE_BUFFER, pre_buffer=False
            )
    except Exception as error:  # remote file systems and Arrow have errors of their own
        if source is not None:
            source.close()
        raise unreadable(file, error) from None
    try:
        yield parquet
    finally:
        parquet.close()
        if source is not None:
            source.close()


def read_batches(
    file: FoundFile,
    parquet: Any,
    rows: int,
    columns: Sequence[str] | None = None,
    groups: Sequence[int] | None = None,
) -> Iterator[Any]:
    """Yield Arrow batches of some columns and row groups; all of them by default."""
    batches = parquet.iter_batches(rows, groups, columns, use_threads=False)
    while True:
        try:
            batch = next(batches, None)
        except Exception as error:  # damaged pages raise all that Arrow has
            raise unreadable(file, error) from None
        if batch is None:
            return
        yield batch


def check_once(file: FoundFile, parquet: Any, columns: Collection[str] | None = None) -> None:
    """Complain if one of some columns, by default of all, is there twice: which is meant?"""
    names = parquet.schema_arrow.names
    for name in dict.fromkeys(names) if columns is None else columns:
        if names.count(name) > 1:
            raise WrongColumns(Problem("the column is there twice", file=file.name, field=name))


def _records(path: PathLike) -> Iterator[dict[str, object]]:
    if file_name(path) == "standard input":
        raise InputError("Parquet cannot be read from standard input: give a file")
    file = locate(path)
    with open_parquet(file) as parquet:
        check_once(file, parquet)
        for batch in read_batches(file, parquet, BATCH_ROWS):
            try:
                records = batch.to_pylist()
            except Exception as error:  # dates that Python has no number for, text that is none
                raise unreadable(file, error) from None
            yield from records


def read_rows(path: PathLike, report: Report = fail) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield row numbers (from 1) and records, a batch of rows in memory at a time."""
    for number, record in enumerate(until_broken(_records(path), report), start=1):
        yield number, {key: _plain(value) for key, value in record.items()}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def write_rows(
    path: PathLike, records: Iterable[Mapping[str, object]], columns: Mapping[str, object]
) -> None:
    """Write records; `columns` maps names to a type name, a [type] for lists, or a {name: type}."""
    pyarrow_for("Parquet", file_name(path))
    with (
        atomic_path(path) as temporary,
        parquet_writer(temporary, columns, name=Path(path).name) as write,
    ):
        for record in records:
            write(record)


@contextmanager
def parquet_writer(
    path: Path, columns: Mapping[str, object], batch_rows: int = BATCH_ROWS, name: str | None = None
) -> Iterator[Callable[[Mapping[str, object]], None]]:
    """What to call with one record after the other; `columns` are those of `write_rows`."""
    pyarrow = pyarrow_for("Parquet", name or str(path))
    schema = pyarrow.schema([(key, _type(pyarrow, kind)) for key, kind in columns.items()])
    held: list[Mapping[str, object]] = []

    def flush() -> None:
        try:
            rows = pyarrow.RecordBatch.from_pylist(held, schema=schema)
        except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
            sentence = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
            message = f"a value does not fit its column: {sentence}"
            raise InputError(Problem(message, file=name or path.name)) from None
        writer.write_batch(rows)
        held.clear()

    def write(record: Mapping[str, object]) -> None:
        held.append(record)
        if len(held) == batch_rows:
            flush()

    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        yield write
        if held:
            flush()


def _type(pyarrow: Any, kind: object) -> Any:
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _type(pyarrow, part)) for name, part in kind.items()])
    if isinstance(kind, list):
        return pyarrow.list_(_type(pyarrow, kind[0]))
    return getattr(pyarrow, str(kind))()
