"""Lines of TSV and JSON Lines in, blocks of rows out; bad lines are reported and left out.

Many lines are read at once; where that finds something unusual, they are read one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import msgspec
import numpy as np

from deltableu._types import Ints
from deltableu.errors import Problem, hint_at
from deltableu.io import (
    BOM,
    OBJECTS,
    ByteSource,
    Checker,
    FoundFile,
    Report,
    WrongColumns,
    decode_many,
    decode_object,
    fail,
    shown,
    unescape_cell,
    wrong_cells,
)
from deltableu.logs.blocks import FIELDS, Block, Columns, text_columns
from deltableu.logs.read_lines import (
    cut_lines,
    filled_after,
    lines_before,
    read_chunks,
    read_header,
    without_bad_lines,
)
from deltableu.logs.values import Name, plain_names
from deltableu.text import Texts, find_bytes

_TAB, _NEWLINE, _RETURN, _BACKSLASH = b"\t\n\r\\"
_NOWHERE = np.empty(0, np.int64)
#: A line that must be looked at makes so many slow.
_TOGETHER = 128
#: Columns of raw logs, which are no pairs yet.
_RAW = frozenset(("turns", "messages", "text"))
_MAKE_PAIRS = "make pairs of raw logs first, with `deltableu logs pairs`"
#: Columns that a sentence names.
_MOST_NAMED = 10

#: The rows of lines, and what is wrong with each line that is no row: None where it is blank.
_Read: TypeAlias = tuple[Columns, dict[int, Problem | None]]


class _Row(msgspec.Struct, gc=False):
    """An object that is a row, whatever else it holds."""

    utterance: str
    response: str
    id: Name = msgspec.UNSET
    thread: Name = msgspec.UNSET


class _BareRow(_Row, gc=False, forbid_unknown_fields=True):
    """An object that holds nothing else, as most do."""


_BARE_ROWS = msgspec.json.Decoder(_BareRow)


def _is_blank(line: bytes) -> bool:
    return line.strip(b" \r") == b""


def _read_jsonl(data: bytes) -> _Read:
    """Lines that are an object each."""
    lines = data.removesuffix(b"\n").split(b"\n")
    texts: list[list[str]] = [[] for _ in FIELDS]
    others: dict[int, Problem | None] = {}
    for first in range(0, len(lines), _TOGETHER):
        some = lines[first : first + _TOGETHER]
        columns = _plain_texts(some) or _checked_texts(some, first, others)
        for column, more in zip(texts, columns, strict=True):
            column += more
    return text_columns(*texts), others


def _plain_texts(lines: Sequence[bytes]) -> list[Sequence[str]] | None:
    """The fields of lines; None where one is not just as it should be, and must be looked at."""
    rows = _plain_rows(lines)
    if rows is None:
        return None
    ids, threads = plain_names([row.id for row in rows]), plain_names([row.thread for row in rows])
    if ids is None or threads is None:
        return None
    return [[row.utterance for row in rows], [row.response for row in rows], ids, threads]


def _plain_rows(lines: Sequence[bytes]) -> Sequence[_Row] | None:
    """Objects that are rows, first read as if they held nothing else."""
    rows = decode_many(lines, _BARE_ROWS)
    if rows is not None:
        return rows
    objects = decode_many(lines, OBJECTS)
    try:
        return None if objects is None else msgspec.convert(objects, list[_Row])
    except msgspec.ValidationError:
        return None


def _checked_texts(
    lines: Sequence[bytes], first: int, others: dict[int, Problem | None]
) -> list[list[str]]:
    """The fields of lines, looked at one by one; those that are no rows go to `others`."""
    columns: list[list[str]] = [[] for _ in FIELDS]
    for number, line in enumerate(lines, first):
        if _is_blank(line):
            others[number] = None
            continue
        row = json_row(line.removesuffix(b"\r").decode())
        if isinstance(row, Problem):
            others[number] = row
            continue
        for column, text in zip(columns, row, strict=True):
            column.append(text)
    return columns


def json_row(line: str) -> Sequence[str] | Problem:
    """The fields of one JSON object, or what is wrong with it first.

    Examples
    --------
    >>> json_row('{"id": 7, "utterance": "hi", "response": "hello"}')
    ('hi', 'hello', '7', '')
    """
    try:
        value = decode_object(line)
    except ValueError as error:
        return Problem(str(error))
    if "utterance" not in value and (raw := _RAW & value.keys()):
        return Problem(f"has {min(raw)!r}, not 'utterance' and 'response': {_MAKE_PAIRS}")
    problems: list[Problem] = []
    checker = Checker(None, problems.append)
    row = (
        checker.text(value.get("utterance"), "utterance"),
        checker.text(value.get("response"), "response"),
        *(checker.name(value.get(field), field) for field in FIELDS[2:]),
    )
    return problems[0] if problems else row


def _read_tsv(names: Sequence[str], data: bytes) -> _Read:
    """Lines that have a cell for each name, between tabs."""
    codes = np.frombuffer(data, dtype=np.uint8)
    ends = find_bytes(data, _TAB, _NEWLINE)
    starts = np.append(0, ends + 1)[:-1]
    is_last = codes[ends] == _NEWLINE
    feeds = ends[is_last]
    lines = np.cumsum(is_last) - is_last
    cells = np.bincount(lines)
    is_row = cells == len(names)
    others: dict[int, Problem | None] = {}
    for line in np.flatnonzero(~is_row).tolist():
        begin = feeds[line - 1] + 1 if line > 0 else 0
        is_blank = _is_blank(data[begin : feeds[line]])
        others[line] = None if is_blank else Problem(wrong_cells(cells[line], len(names)))
    if others:
        starts, ends = starts[is_row[lines]], ends[is_row[lines]]
    last = slice(len(names) - 1, None, len(names))
    ends[last] -= codes[ends[last] - 1] == _RETURN  # a line may end with both
    escapes = np.flatnonzero(codes == _BACKSLASH) if _BACKSLASH in data else _NOWHERE

    def texts(field: str) -> Texts:
        column = slice(names.index(field), None, len(names))
        return _unescaped(Texts(data, starts[column].copy(), ends[column].copy()), escapes)

    ids, threads = (texts(field) if field in names else None for field in FIELDS[2:])
    return (texts(FIELDS[0]), texts(FIELDS[1]), ids, threads), others


def _unescaped(cells: Texts, escapes: Ints) -> Texts:
    """What cells spell; `escapes` are the places of all backslashes."""
    if len(escapes) == 0:
        return cells
    escaped = np.flatnonzero(np.diff(np.searchsorted(escapes, (cells.starts, cells.ends)), axis=0))
    if len(escaped) == 0:
        return cells
    spelt = Texts.of([unescape_cell(cells[row]) or "" for row in escaped.tolist()])
    cells.starts[escaped] = spelt.starts + len(cells.data)
    cells.ends[escaped] = spelt.ends + len(cells.data)
    return replace(cells, data=cells.data + spelt.data)


def check_header(file: FoundFile) -> Sequence[str]:
    """The columns that the first line of a TSV file names; `WrongColumns` if one is missing."""
    names = read_header(file, FIELDS[:2], FIELDS)
    for name in FIELDS[:2]:
        if name not in names:
            message = f"the first line names no column {name!r}, which is required"
            message += _way_on(name, names)
            raise WrongColumns(Problem(message, file=file.name, line=1, field=name))
    return names


def _way_on(name: str, names: Sequence[str]) -> str:
    """What to do about columns, none of which is the one that is needed."""
    if _RAW & set(names):
        return f": {_MAKE_PAIRS}"
    there = ", ".join(map(shown, names[:_MOST_NAMED]))
    return f": there are {there}{hint_at(name, names)}"


def read_text(
    file: FoundFile,
    start: int = 0,
    end: int | None = None,
    block_rows: int = 16384,
    report: Report = fail,
) -> Iterator[Block]:
    """Yield the rows of the lines that start in a range of a file's bytes."""
    read = partial(_read_tsv, check_header(file)) if file.form == "tsv" else _read_jsonl
    reader = _Reader(file, start, read, report)
    with ByteSource(file) as source:
        for number, chunk in enumerate(read_chunks(source, start, end)):
            if number == 0 and start == 0:
                chunk = chunk.removeprefix(BOM)
                if file.form == "tsv":
                    chunk = chunk[chunk.index(b"\n") + 1 :]
                    reader.lines = 1
            for data, lines in cut_lines(chunk, block_rows):
                position = source.position if end is None else min(source.position, end)
                block = reader.block(data, lines, max(position - start, 0))
                if len(block) > 0:
                    yield block
    if end is not None and end != file.size and reader.blank > 0 and filled_after(file, end):
        reader.tell_blank()


class _Reader:
    """Turns lines of a range into blocks, and remembers what came before."""

    def __init__(
        self, file: FoundFile, start: int, read: Callable[[bytes], _Read], report: Report
    ) -> None:
        self.lines = 0  # of the range, before the present ones
        self.blank = 0  # lines, the last of those before the present one
        self._rows = 0
        self._file = file
        self._start = start
        self._read = read
        self._report = report

    def block(self, data: bytes, lines: int, read: int) -> Block:
        """The rows of whole lines that follow on those before."""
        data, bad = without_bad_lines(data)
        columns, others = self._read(data)
        for line, message in bad.items():
            others[line] = Problem(message)
        after = 0  # the line that would go on with a run of blank ones
        for line, problem in sorted(others.items()):
            if line > after:
                self.tell_blank(after)
            after = line + 1
            if problem is None:
                self.blank += 1
                continue
            self.tell_blank(line)
            self._tell(problem, line)
        if after < lines:
            self.tell_blank(after)
        block = Block(self._rows, *columns, read)
        self._rows += len(block)
        self.lines += lines
        return block

    def tell_blank(self, line: int = 0) -> None:
        """Report the blank lines just before one: something comes after them."""
        for back in range(self.blank, 0, -1):
            self._tell(Problem("is blank: remove the line"), line - back)
        self.blank = 0

    def _tell(self, problem: Problem, line: int) -> None:
        number = lines_before(self._file, self._start) + self.lines + line + 1
        self._report(replace(problem, file=self._file.name, line=number))
