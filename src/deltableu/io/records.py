"""Rows of any table in, whatever its form: CSV, TSV, JSON Lines, Parquet, or one in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from deltableu.errors import Problem
from deltableu.io.columns import TableColumns
from deltableu.io.delimited import delimited_rows
from deltableu.io.jsonl import read_records
from deltableu.io.memory_tables import table_records
from deltableu.io.names import PathLike, file_form, file_name
from deltableu.io.parquet import read_rows
from deltableu.io.problems import Report, fail

#: Columns that hold numbers, not names.
_NUMBERS = ("value", "score", "position")
_Rows: TypeAlias = Iterator[tuple[int, Mapping[str, object]]]


def read_table_rows(
    path: PathLike,
    columns: Sequence[str] | TableColumns,
    report: Report = fail,
    optional: Sequence[str] = (),
) -> _Rows:
    """Yield line numbers and rows that have all the columns; others are reported and left out.

    Columns that are `optional` are read where the table has them. An empty cell is an empty text.
    """
    wanted = columns if isinstance(columns, TableColumns) else TableColumns(columns, optional)
    for line, row in table_rows(path, wanted, _without_warnings(report), empty=""):
        missing = next((name for name in wanted.required if row.get(name) is None), None)
        if missing is None:
            yield line, row
        else:
            report(Problem("is missing", file=file_name(path), line=line, field=missing))


def table_rows(
    path: PathLike,
    columns: TableColumns,
    report: Report = fail,
    *,
    form: str | None = None,
    empty: str | None = None,
) -> _Rows:
    """Yield line numbers and rows by our names; columns that are not there are reported.

    Parameters
    ----------
    form
        What the file is, where its name does not say.
    empty
        What an empty cell of CSV or TSV is.
    """
    records: _Rows
    if not isinstance(path, str | os.PathLike):
        records = enumerate(_named(table_records(path, file_name(path)), columns), start=1)
        yield from _checked(path, records, columns, report)
        return
    form = file_form(path) or form
    if form in ("csv", "tsv"):
        kind: Literal["csv", "tsv"] = "csv" if form == "csv" else "tsv"
        for line, cells in delimited_rows(path, kind, columns, report):
            row = {key: empty if cell is None else cell for key, cell in cells.items()}
            yield line, columns.renamed(row)
        return
    if form not in ("jsonl", "parquet"):
        message = "is no table: give a .csv, .tsv, .jsonl or .parquet file"
        report(Problem(message, file=file_name(path)))
        return
    records = (read_records if form == "jsonl" else read_rows)(path, report)
    yield from _checked(path, records, columns, report)


def _checked(path: PathLike, records: _Rows, columns: TableColumns, report: Report) -> _Rows:
    first = True
    for line, record in records:
        missing = columns.missing(record) if first and columns.option else ()
        for name, reason in missing:
            message = f"is missing: there is no column {reason}"
            report(Problem(message, file=file_name(path), line=line, field=name))
        first = False
        if not missing:
            yield line, columns.renamed(record)


def _named(
    records: Iterable[Mapping[str, object]], columns: TableColumns
) -> Iterator[Mapping[str, object]]:
    """Rows whose whole numbers are names where names are read, as ids in data frames often are."""
    names = {columns.names.get(one, one) for one in (*columns.required, *columns.optional)}
    names -= {columns.names.get(one, one) for one in _NUMBERS}
    for row in records:
        yield {
            key: str(cell)
            if key in names and isinstance(cell, int) and not isinstance(cell, bool)
            else cell
            for key, cell in row.items()
        }


def _without_warnings(report: Report) -> Report:
    """Columns that nobody asked for are none of our business here."""

    def errors_only(problem: Problem) -> None:
        if problem.severity == "error":
            report(problem)

    return errors_only
