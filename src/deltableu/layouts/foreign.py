"""Tables as other people write them in, rows out: their columns, and cells as they are.

Files of this project are read strictly (`deltableu.io`); these are read as they are meant.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from deltableu.errors import InputError, Problem
from deltableu.io import (
    PathLike,
    Report,
    decode,
    fail,
    file_form,
    file_name,
    filled_lines,
    open_binary,
    read_lines,
    read_raw_lines,
    read_records,
    read_rows,
    shown,
)

Rows: TypeAlias = Iterator[tuple[int, Mapping[str, object]]]
"""Line numbers, and cells by the names of their columns."""

Cut: TypeAlias = Callable[[str], list[str]]
"""A line in, its cells out."""

FORMS = ("csv", "tsv", "jsonl", "json", "parquet")
_ENDINGS = ".csv, .tsv, .jsonl, .json or .parquet, all but the last also with .gz"
#: A column of this name, or one whose name ends so, takes all cells to the end of a row.
_AND_SO_ON = "..."


def foreign_rows(
    path: PathLike,
    report: Report = fail,
    *,
    cut: Cut | None = None,
    named: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Rows:
    """Rows of a table, whatever its form.

    CSV may be separated by commas, semicolons, tabs or blanks (the header tells); TSV may have
    cells in quotation marks. JSON is a list of objects, or an object that holds one list.

    Parameters
    ----------
    path
    report
    cut
        How a line comes apart, where neither name nor header tells: `by_tabs`, `by_blanks`.
    named
        Gives names to the cells of the first row, for CSV that has no header.
    """
    if cut is not None:
        return _lined_rows(path, report, cut)
    form = file_form(path)
    if form == "jsonl":
        return read_records(path, report)
    if form == "json":
        return _json_rows(path, report)
    if form == "parquet":
        return read_rows(path, report)
    if form == "tsv":
        return _lined_rows(path, report, lambda line: [_unquoted(one) for one in line.split("\t")])
    if form == "csv":
        return _csv_rows(path, report) if named is None else _quoted_rows(path, report, ",", named)
    raise InputError(Problem(f"is no table that is known: they end in {_ENDINGS}", file_name(path)))


def _json_rows(path: PathLike, report: Report) -> Rows:
    with open_binary(path, lines=False) as stream:
        data = stream.read()
    try:
        found = decode(data.decode("utf-8-sig"))
    except ValueError as error:
        wrong = "is not valid UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        report(Problem(wrong, file=file_name(path)))
        return
    records = objects_of(found)
    if records is None:
        message = "must hold a list of objects, or an object with one such list"
        report(Problem(message, file=file_name(path)))
        return
    yield from enumerate(records, start=1)


def objects_of(value: object) -> list[Mapping[str, Any]] | None:
    """The objects of a list, or of the only list that an object holds."""
    if isinstance(value, dict):
        lists = [one for one in value.values() if _are_objects(one)]
        value = lists[0] if len(lists) == 1 else None
    return value if _are_objects(value) else None  # type: ignore[return-value]


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _csv_rows(path: PathLike, report: Report) -> Rows:
    first = next((line for _, line in read_lines(path, report)), "")
    mark = separator(first)
    if mark == " ":
        # Tables of the WMT, in which tabs and blanks mean the same.
        return _lined_rows(path, report, by_blanks)
    return _quoted_rows(path, report, mark)


def separator(header: str) -> str:
    """What separates the cells of a table with this header.

    Examples
    --------
    >>> separator("LP HUMAN SYSTEM"), separator('id;"a, b";c'), separator("id")
    (' ', ';', ',')
    """
    counts = {mark: _cells(header, mark) for mark in ",;\t"}
    best = max(counts, key=lambda mark: counts[mark])
    if counts[best] > 1:
        return best
    return " " if len(header.split()) > 1 else ","


def _cells(header: str, mark: str) -> int:
    try:
        return len(next(csv.reader([header], delimiter=mark), []))
    except csv.Error:
        return 0


def _quoted_rows(
    path: PathLike,
    report: Report,
    mark: str,
    named: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Rows:
    name = file_name(path)
    marks = 0

    def lines() -> Iterator[str]:
        nonlocal marks
        for _, line in read_raw_lines(path, report):
            marks += line.count('"')
            yield line

    reader = csv.reader(lines(), delimiter=mark)
    header: list[str] | None = None
    while True:
        start, marks = reader.line_num + 1, 0
        try:
            cells = next(reader, None)
        except csv.Error as error:
            report(Problem(f"is not valid CSV: {error}", file=name, line=start))
            return
        if cells is None:
            break
        if marks % 2 and any("\n" in cell for cell in cells):
            report(Problem("a quotation mark is never closed", file=name, line=start))
            return
        if not any(cells):
            continue
        if header is None and named is None:
            header = _checked_header(cells, name)
            continue
        if header is None and named is not None:
            header = list(named(cells))
        row = _named(header or (), cells, name, start, report)
        if row is not None:
            yield start, row
    if header is None:
        report(Problem("is empty", file=name))


def by_tabs(line: str) -> list[str]:
    """Cells between tabs; quotation marks belong to the text."""
    return line.split("\t")


def by_blanks(line: str) -> list[str]:
    """Cells between blanks or tabs, which mean the same in tables of the WMT."""
    return [_unquoted(one) for one in line.split()]


def _lined_rows(path: PathLike, report: Report, cut: Cut) -> Rows:
    name = file_name(path)
    header: list[str] | None = None
    for number, line in filled_lines(read_lines(path, report), name, lambda _: None):
        cells = cut(line)
        if header is None:
            header = _checked_header(cells, name)
        else:
            row = _named(header, cells, name, number, report)
            if row is not None:
                yield number, row
    if header is None:
        report(Problem("is empty", file=name))


def _checked_header(cells: Sequence[str], name: str) -> list[str]:
    header = [cell.strip() for cell in cells]
    if len(header) > 1 and header[-1] == _AND_SO_ON:
        header = [*header[:-2], header[-2] + _AND_SO_ON]
    if not header:
        raise InputError(Problem("names no column", file=name, line=1))
    for column in header:
        if header.count(column) > 1 and column:
            problem = Problem("the column is named twice", file=name, line=1, field=column)
            raise InputError(problem)
    return header


def _named(
    header: Sequence[str], cells: list[str], name: str, line: int, report: Report
) -> Mapping[str, object] | None:
    last = header[-1]
    if last.endswith(_AND_SO_ON) and len(header) > 1 and len(cells) >= len(header) - 1:
        before = len(header) - 1
        named: dict[str, object] = dict(zip(header[:-1], cells, strict=False))
        named[last.removesuffix(_AND_SO_ON)] = [cell for cell in cells[before:] if cell]
        return named
    if len(cells) != len(header):
        message = f"has {len(cells)} cells, but the header names {len(header)} columns"
        report(Problem(f"{message}: mend the row, or leave it out", file=name, line=line))
        return None
    return dict(zip(header, cells, strict=True))


def _unquoted(cell: str) -> str:
    """A cell in quotation marks, as some programs write all that hold a blank or a comma."""
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        inside = cell[1:-1]
        if '"' not in inside.replace('""', ""):
            return inside.replace('""', '"')
    return cell


def columns_of(row: Mapping[str, object]) -> str:
    """The columns of a row, for a sentence."""
    names = list(row)
    some = ", ".join(map(shown, names[:12]))
    return f"{some} and {len(names) - 12} more" if len(names) > 12 else some
