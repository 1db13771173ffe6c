"""Lines of TSV and JSON Lines in, blocks of rows out; bad lines are reported and left out.

A compiled loop finds the texts of a chunk of lines where they lie. Only lines that it does not
understand are looked at one by one, and become Python objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from deltableu import _kernels
from deltableu._types import Ints
from deltableu.errors import Problem
from deltableu.io import (
    BOM,
    ByteSource,
    Checker,
    FoundFile,
    Report,
    WrongColumns,
    decode_object,
    fail,
)
from deltableu.logs.blocks import Block
from deltableu.logs.read_lines import (
    as_words,
    cut_lines,
    filled_after,
    lines_before,
    read_chunks,
    read_header,
    without_bad_lines,
)
from deltableu.text import Texts

#: What is read of a row; a row needs the first two.
FIELDS = ("utterance", "response", "id", "thread")


_rows = _kernels.load("logs._rows")
_json_lines = _kernels.load("logs._json_lines")
_NAMES = "".join(FIELDS).encode()
_NAME_BOUNDS: Ints = np.cumsum([0, *map(len, FIELDS)], dtype=np.int64)
_MOST_KEYS = 64  # of a line, with all that is nested; the rare line with more is read by Python


@dataclass(slots=True, eq=False)
class _Spans:
    """Where the fields of lines lie; field f of line i is number `f * lines + i`."""

    starts: Ints
    ends: Ints
    side: bytes  # comes after the lines, and holds what had to be unescaped
    odd: Ints  # of each line that was not understood: number, first byte, line feed
    present: Sequence[bool]  # whether any line has the field


class _Cutter(Protocol):
    def cut(self, data: bytes, lines: int) -> _Spans: ...
    def odd(self, line: str) -> Sequence[str] | Problem:
        """The fields of a line that `cut` did not understand."""


class _Jsonl:
    """One object a line."""

    def cut(self, data: bytes, lines: int) -> _Spans:
        spans = np.zeros((2, len(FIELDS) * lines), dtype=np.int64)
        keys = np.empty(2 * _MOST_KEYS, dtype=np.int64)
        return _cut(_json_lines.cut_jsonl, data, (_NAMES, _NAME_BOUNDS, keys), spans, lines, None)

    def odd(self, line: str) -> Sequence[str] | Problem:
        return json_row(line)


class _Tsv:
    """A row a line, its cells between tabs."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = len(columns)
        self._present = [name in columns for name in FIELDS]
        fields = [FIELDS.index(name) if name in FIELDS else -1 for name in columns]
        self._fields: Ints = np.array(fields, dtype=np.int64)

    def cut(self, data: bytes, lines: int) -> _Spans:
        spans = np.empty((2, len(FIELDS) * lines), dtype=np.int64)
        return _cut(_rows.cut_tsv, data, (self._fields,), spans, lines, self._present)

    def odd(self, line: str) -> Sequence[str] | Problem:
        cells = line.count("\t") + 1
        plural = "" if cells == 1 else "s"
        return Problem(f"has {cells} cell{plural}, but the first line names {self._columns}")


def _cut(
    kernel: Any,
    data: bytes,
    names: tuple[object, ...],
    spans: Ints,
    lines: int,
    present: Sequence[bool] | None,
) -> _Spans:
    side = np.empty(len(data) if b"\\" in data else 0, dtype=np.uint8)
    odd = np.empty(3 * lines, dtype=np.int64)
    counts = np.zeros(2 + len(FIELDS), dtype=np.int64)
    starts, ends = spans
    kernel(data, as_words(data), *names, starts, ends, side, odd, counts, lines)
    if present is None:
        present = [True, True, *(bool(count) for count in counts[4:])]
    odd_lines, used = counts[0], counts[1]
    return _Spans(starts, ends, side[:used].tobytes(), odd[: 3 * odd_lines].reshape(-1, 3), present)


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
    problems: list[Problem] = []
    checker = Checker(None, problems.append)
    row = (
        checker.text(value.get("utterance"), "utterance"),
        checker.text(value.get("response"), "response"),
        *(checker.name(value.get(field), field) for field in FIELDS[2:]),
    )
    return problems[0] if problems else row


def check_header(file: FoundFile) -> Sequence[str]:
    """The columns that the first line of a TSV file names; `WrongColumns` if one is missing."""
    names = read_header(file, FIELDS[:2], FIELDS)
    for name in FIELDS[:2]:
        if name not in names:
            message = f"the first line names no column {name!r}, which is required"
            raise WrongColumns(Problem(message, file=file.name, line=1, field=name))
    return names


def read_text(
    file: FoundFile,
    start: int = 0,
    end: int | None = None,
    block_rows: int = 16384,
    report: Report = fail,
) -> Iterator[Block]:
    """Yield the rows of the lines that start in a range of a file's bytes."""
    cutter = _Tsv(check_header(file)) if file.form == "tsv" else _Jsonl()
    reader = _Reader(file, start, cutter, report)
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

    def __init__(self, file: FoundFile, start: int, cutter: _Cutter, report: Report) -> None:
        self.lines = 0  # of the range, before the present ones
        self.blank = 0  # lines, the last of those before the present one
        self._rows = 0
        self._file = file
        self._start = start
        self._cutter = cutter
        self._report = report

    def block(self, data: bytes, lines: int, read: int) -> Block:
        """The rows of whole lines that follow on those before."""
        data, bad = without_bad_lines(data)
        spans = self._cutter.cut(data, lines)
        texts = [data, spans.side] if spans.side else [data]
        dropped = self._read_odd(data, lines, spans, bad, texts)
        if len(texts) > 1:
            data = b"".join(texts)
        kept = np.delete(np.arange(lines), dropped) if dropped else slice(None)

        def texts_of(field: int) -> Texts:
            part = slice(field * lines, (field + 1) * lines)
            return Texts(data, spans.starts[part][kept], spans.ends[part][kept])

        block = Block(
            self._rows,
            texts_of(0),
            texts_of(1),
            texts_of(2) if spans.present[2] else None,
            texts_of(3) if spans.present[3] else None,
            read,
        )
        self._rows += len(block)
        self.lines += lines
        return block

    def _read_odd(
        self, data: bytes, lines: int, spans: _Spans, bad: dict[int, str], texts: list[bytes]
    ) -> list[int]:
        """Put in what odd lines hold, adding to `texts`; return the lines that hold nothing."""
        dropped: list[int] = []
        after = 0  # the line that would go on with a run of blank ones
        size = sum(map(len, texts))
        for line, begin, stop in spans.odd.tolist():
            if line > after:
                self.tell_blank(after)
            after = line + 1
            row: Sequence[str] | Problem
            text = data[begin:stop].removesuffix(b"\r")
            if line in bad:
                row = Problem(bad[line])
            elif text.strip(b" \r") == b"":
                self.blank += 1
                dropped.append(line)
                continue
            else:
                row = self._cutter.odd(text.decode())
            self.tell_blank(line)
            if isinstance(row, Problem):
                self._tell(row, line)
                dropped.append(line)
                continue
            for field, value in enumerate(row):
                added = value.encode()
                spans.starts[field * lines + line] = size
                size += len(added)
                spans.ends[field * lines + line] = size
                texts.append(added)
            spans.present = [
                here or value != "" for here, value in zip(spans.present, row, strict=True)
            ]
        if after < lines:
            self.tell_blank(after)
        return dropped

    def tell_blank(self, line: int = 0) -> None:
        """Report the blank lines just before one: something comes after them."""
        for back in range(self.blank, 0, -1):
            self._tell(Problem("is blank: remove the line"), line - back)
        self.blank = 0

    def _tell(self, problem: Problem, line: int) -> None:
        number = lines_before(self._file, self._start) + self.lines + line + 1
        self._report(replace(problem, file=self._file.name, line=number))
