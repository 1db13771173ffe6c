r"""Tables in, rows with their line numbers out, and back: TSV with escapes, CSV with quotes.

A TSV cell spells tab, line feed, carriage return and backslash as ``\t``, ``\n``, ``\r`` and
``\\``; other backslashes stand for themselves. An empty cell is None; where the empty text must
be told from None, it is spelt ``\e``. A CSV cell may be quoted, and then holds anything.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from deltableu.errors import Problem
from deltableu.io.columns import TableColumns
from deltableu.io.files import atomic_write, filled_lines, read_lines, read_raw_lines
from deltableu.io.names import PathLike, file_name
from deltableu.io.problems import Report, SeenProblems, fail

Row: TypeAlias = Mapping[str, str | None]

_ESCAPES = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\\": r"\\"}
_TEXTS = {escape: text for text, escape in _ESCAPES.items()}
_TO_ESCAPE = str.maketrans(_ESCAPES)
_ESCAPABLE = re.compile(r"[\t\n\r\\]")
_ESCAPED = re.compile(r"\\[tnr\\]")
_TO_QUOTE = re.compile('[,"\r\n]')
_EMPTY = r"\e"


def escape_cell(cell: str | None) -> str:
    """A TSV cell; None is the empty cell."""
    if not cell:
        return "" if cell is None else _EMPTY
    return cell.translate(_TO_ESCAPE) if _ESCAPABLE.search(cell) else cell


def tsv_lines(rows: Sequence[Sequence[str]]) -> str:
    """Lines of TSV, each with as many cells as the first; an empty text is an empty cell."""
    if not rows:
        return ""
    text = "\n".join(["\t".join(row) for row in rows])
    tabs = len(rows) * (len(rows[0]) - 1)
    if (
        text.count("\t") != tabs
        or text.count("\n") != len(rows) - 1
        or "\\" in text
        or "\r" in text
    ):
        text = "\n".join([_tsv_line(row) for row in rows])
    return text + "\n"


def _tsv_line(row: Sequence[str]) -> str:
    line = "\t".join(row)
    if line.count("\t") >= len(row) or _ESCAPABLE.search(line.replace("\t", "")):
        return "\t".join([escape_cell(cell or None) for cell in row])
    return line


def unescape_cell(cell: str) -> str | None:
    """What a TSV cell spells; the empty cell is None."""
    if cell == "":
        return None
    if cell == _EMPTY:
        return ""
    return _ESCAPED.sub(lambda found: _TEXTS[found[0]], cell) if "\\" in cell else cell


def _quote(cell: str | None) -> str:
    # csv.writer leaves a carriage return unquoted, which csv.reader then refuses.
    if cell is None or _TO_QUOTE.search(cell) is None:
        return cell or ""
    return '"' + cell.replace('"', '""') + '"'


def _tsv_cells(path: PathLike, report: Report) -> Iterator[tuple[int, list[str | None]]]:
    for number, line in filled_lines(read_lines(path, report), file_name(path), report):
        yield number, [unescape_cell(cell) for cell in line.split("\t")]


def _csv_cells(path: PathLike, report: Report) -> Iterator[tuple[int, list[str | None]]]:
    name = file_name(path)
    consumed: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in read_raw_lines(path, report):
            consumed.append(number)
            yield line

    rows = csv.reader(lines(), strict=True)

    def records() -> Iterator[tuple[int, list[str]]]:
        while True:
            consumed.clear()
            try:
                cells = next(rows, None)
            except csv.Error as error:
                report(Problem(_csv_reason(error), file=name, line=consumed[0]))
                continue
            if cells is None:
                return
            yield consumed[0], cells

    for number, cells in filled_lines(records(), name, report):
        yield number, [cell or None for cell in cells]


def _csv_reason(error: csv.Error) -> str:
    reason = str(error)
    if "unexpected end" in reason:
        return "a quote opens in this record and is never closed"
    if "new-line" in reason:
        return "holds a carriage return outside quotes"
    if "field limit" in reason:
        return f"holds a cell of more than {csv.field_size_limit()} characters: is a quote missing?"
    return f"is not valid CSV: {reason}"


def _rows(
    cells: Iterator[tuple[int, list[str | None]]],
    name: str,
    columns: TableColumns,
    problems: SeenProblems,
) -> Iterator[tuple[int, Row]]:
    first = next(cells, None)
    report = problems.report
    if first is None and not problems.readable:
        return
    if first is None:
        wanted = f"its first line must name the columns, at least {', '.join(columns.required)}"
        report(Problem(f"is empty: {wanted}", file=name))
        return
    line, header = first[0], [(cell or "").strip(" ") for cell in first[1]]
    usable = True
    for column, reason in columns.missing(header):
        usable = False
        message = f"the first line names no column {reason}"
        report(Problem(message, file=name, line=line, field=column))
    known = [*columns.required, *columns.optional]
    read = columns.read(header)
    for column in dict.fromkeys(header):
        if header.count(column) > 1:
            usable = False
            report(Problem("the column is named twice", file=name, line=line, field=column))
        # Who says what columns are called knows that there are others.
        if column not in read and not columns.names:
            message = f"the column is not read: the names are {', '.join(known)}"
            report(Problem(message, file=name, line=line, field=column, severity="warning"))
    if not usable:
        return
    for line, row in cells:
        if len(row) != len(header):
            report(Problem(wrong_cells(len(row), len(header)), file=name, line=line))
            continue
        yield line, dict(zip(header, row, strict=True))


def wrong_cells(cells: int, columns: int) -> str:
    """What is wrong with a row that has not a cell for each column."""
    plural = "" if cells == 1 else "s"
    return f"has {cells} cell{plural}, but the first line names {columns}"


def read_tsv(
    path: PathLike, required: Sequence[str], known: Sequence[str], report: Report = fail
) -> Iterator[tuple[int, Row]]:
    """Yield line numbers and rows of a TSV file whose first line names the columns."""
    return delimited_rows(path, "tsv", TableColumns(required, _others(known, required)), report)


def read_csv(
    path: PathLike, required: Sequence[str], known: Sequence[str], report: Report = fail
) -> Iterator[tuple[int, Row]]:
    """Yield rows of a CSV file, each with the number of the line it starts on."""
    return delimited_rows(path, "csv", TableColumns(required, _others(known, required)), report)


def delimited_rows(
    path: PathLike, form: Literal["csv", "tsv"], columns: TableColumns, report: Report = fail
) -> Iterator[tuple[int, Row]]:
    """Yield line numbers and rows by the file's own names of its columns."""
    problems = SeenProblems(report)
    cells = (_csv_cells if form == "csv" else _tsv_cells)(path, problems.report)
    return _rows(cells, file_name(path), columns, problems)


def _others(names: Sequence[str], than: Sequence[str]) -> list[str]:
    return [name for name in names if name not in than]


def write_tsv(path: PathLike, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a TSV file; None becomes an empty cell."""
    with atomic_write(path) as stream:
        stream.write("\t".join(columns) + "\n")
        for row in rows:
            stream.write("\t".join(escape_cell(row[column]) for column in columns) + "\n")


def write_csv(path: PathLike, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a CSV file; None becomes an empty cell."""
    with atomic_write(path) as stream:
        stream.write(",".join(columns) + "\n")
        for row in rows:
            stream.write(",".join(_quote(row[column]) for column in columns) + "\n")
