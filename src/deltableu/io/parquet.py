"""Parquet files in, records with their row numbers out, and back; pyarrow is imported here only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import atomic_path
from deltableu.io.files import PathLike, file_name, open_binary
from deltableu.io.problems import Report, fail

__all__ = ["read_rows", "write_rows"]

BATCH_ROWS = 1024


def _pyarrow(path: PathLike) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        message = "Parquet files need pyarrow: run pip install 'deltableu[parquet]'"
        raise InputError(Problem(message, file=file_name(path))) from None
    return pyarrow


def _batches(path: PathLike) -> Iterator[list[dict[str, object]]]:
    pyarrow = _pyarrow(path)
    if file_name(path) == "standard input":
        raise InputError("Parquet cannot be read from standard input: give a file")
    with open_binary(path) as stream:
        try:
            table = pyarrow.parquet.ParquetFile(stream)
            for batch in table.iter_batches(batch_size=BATCH_ROWS):
                yield batch.to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            message = f"is not a readable Parquet file: {_first_sentence(error)}"
            raise InputError(Problem(message, file=file_name(path))) from None


def read_rows(path: PathLike, report: Report = fail) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield row numbers (from 1) and records, a batch of rows in memory at a time."""
    number = 0
    batches = _batches(path)
    while True:
        try:
            batch = next(batches, None)
        except InputError as error:
            report(error.problem)
            return
        if batch is None:
            return
        for record in batch:
            number += 1
            yield number, {key: _plain(value) for key, value in record.items()}


def _first_sentence(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(". ")[0].rstrip(".")


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def write_rows(
    path: PathLike, records: Iterable[Mapping[str, object]], columns: Mapping[str, object]
) -> None:
    """Write records; `columns` maps names to a type name, a [type] for lists, or a {name: type}."""
    pyarrow = _pyarrow(path)
    schema = pyarrow.schema([(name, _type(pyarrow, kind)) for name, kind in columns.items()])
    remaining = iter(records)
    with (
        atomic_path(path) as temporary,
        pyarrow.parquet.ParquetWriter(temporary, schema) as writer,
    ):
        while batch := list(islice(remaining, BATCH_ROWS)):
            try:
                rows = pyarrow.RecordBatch.from_pylist(batch, schema=schema)
            except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
                message = f"a value does not fit its column: {_first_sentence(error)}"
                raise InputError(Problem(message, file=Path(path).name)) from None
            writer.write_batch(rows)


def _type(pyarrow: Any, kind: object) -> Any:
    if isinstance(kind, dict):
        return pyarrow.struct([(name, _type(pyarrow, part)) for name, part in kind.items()])
    if isinstance(kind, list):
        return pyarrow.list_(_type(pyarrow, kind[0]))
    return getattr(pyarrow, str(kind))()
