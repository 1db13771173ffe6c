"""Rows of any table in, whatever its form: CSV, TSV, JSON Lines or Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deltableu.errors import Problem
from deltableu.io.delimited import read_csv, read_tsv
from deltableu.io.jsonl import read_records
from deltableu.io.names import PathLike, file_form, file_name
from deltableu.io.parquet import read_rows
from deltableu.io.problems import Report, fail


def read_table_rows(
    path: PathLike,
    columns: Sequence[str],
    report: Report = fail,
    optional: Sequence[str] = (),
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield line numbers and rows that have all the columns; others are reported and left out.

    Columns that are `optional` are read where the table has them.
    """
    form = file_form(path)
    rows: Iterator[tuple[int, Mapping[str, object]]]
    if form == "parquet":
        rows = read_rows(path, report)
    elif form == "jsonl":
        rows = read_records(path, report)
    elif form in ("csv", "tsv"):
        reader = read_csv if form == "csv" else read_tsv
        cells = reader(path, columns, (*columns, *optional), _without_warnings(report))
        rows = ((line, {key: cell or "" for key, cell in row.items()}) for line, row in cells)
    else:
        message = "is no table: give a .csv, .tsv, .jsonl or .parquet file"
        report(Problem(message, file=file_name(path)))
        return
    for line, row in rows:
        missing = next((name for name in columns if row.get(name) is None), None)
        if missing is None:
            yield line, row
        else:
            report(Problem("is missing", file=file_name(path), line=line, field=missing))


def _without_warnings(report: Report) -> Report:
    """Columns that nobody asked for are none of our business here."""

    def heard(problem: Problem) -> None:
        if problem.severity == "error":
            report(problem)

    return heard
