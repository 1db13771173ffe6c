"""A range of a file's bytes in, its lines out: in chunks of whole lines, and with their numbers."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from deltableu._types import Bytes
from deltableu.errors import Problem
from deltableu.io import BOM, ByteSource, FoundFile, WrongColumns, not_utf8

CHUNK = 2 << 20
_NEWLINE = ord("\n")
_LEAST = 64 << 10
_KNOWN_FILES = 64


def read_chunks(source: ByteSource, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the lines whose first byte lies in a range, many at once, each with a line feed.

    Ranges that lie side by side give every line once, however long lines and ranges are.
    """
    at = max(start - 1, 0)
    if at > 0:
        source.seek(at)
    # A line starts here only if a line feed comes before, so reading begins with that byte.
    skipping = start > 0
    unfinished: list[bytes] = []
    while piece := source.read(_amount(at, end)):
        begin, at = at, at + len(piece)
        if skipping:
            cut = piece.find(b"\n") + 1
            begin += cut
            skipping = cut == 0
            if end is not None and (at if skipping else begin) >= end:
                return
            if skipping:
                continue
            piece = piece[cut:]
        if end is not None and at >= end:
            cut = piece.find(b"\n", max(end - 1 - begin, 0)) + 1
            if cut > 0:
                yield b"".join((*unfinished, memoryview(piece)[:cut]))
                return
        cut = piece.rfind(b"\n") + 1
        if cut == 0:
            unfinished.append(piece)
        else:
            yield b"".join((*unfinished, memoryview(piece)[:cut]))
            unfinished = [piece[cut:]]
    last = b"".join(unfinished)
    if last:
        yield last + b"\n"


def _amount(at: int, end: int | None) -> int:
    return CHUNK if end is None else max(min(CHUNK, end - at), _LEAST)


def read_header(
    file: FoundFile, required: Sequence[str] = (), once: Sequence[str] | None = None
) -> list[str]:
    """The columns that the first line of a TSV file names, each (of `once`) once."""
    pieces = []
    with ByteSource(file, ahead=False) as source:
        while piece := source.read(_LEAST):
            line, feed, _ = piece.partition(b"\n")
            pieces.append(line)
            if feed:
                break
    first = b"".join(pieces).removeprefix(BOM).removesuffix(b"\r")
    if first == b"":
        least = f", at least {' and '.join(required)}" if required else ""
        message = f"the first line must name the columns{least}"
        raise WrongColumns(Problem(message, file=file.name))
    names = [name.strip(" ") for name in first.decode(errors="replace").split("\t")]
    for name in names if once is None else once:
        if names.count(name) > 1:
            message = "the column is named twice"
            raise WrongColumns(Problem(message, file=file.name, line=1, field=name))
    return names


def cut_lines(data: bytes, most: int) -> Iterator[tuple[bytes, int]]:
    """Cut whole lines into parts that have no more than `most` each, about equally many."""
    codes = np.frombuffer(data, np.uint8)
    lines = _count_feeds(codes)
    if lines <= most:
        yield data, lines
        return
    step = -(-lines // -(-lines // most))
    begin = 0
    for first in range(0, lines, step):
        count = min(step, lines - first)
        # Lines are about equally long, so that few line feeds must be looked for one by one.
        end = begin + (len(data) - begin) * count // (lines - first)
        missing = count - _count_feeds(codes[begin:end])
        for _ in range(missing):
            end = data.index(b"\n", end) + 1
        for _ in range(-missing):
            end = data.rindex(b"\n", begin, end)
        end = data.rindex(b"\n", begin, end) + 1
        yield data[begin:end], count
        begin = end


def _count_feeds(codes: Bytes) -> int:
    # Many times as fast as `bytes.count`.
    return int(np.count_nonzero(codes == _NEWLINE))


def is_utf8(data: bytes) -> bool:
    """Whether all bytes are valid UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def without_bad_lines(data: bytes) -> tuple[bytes, dict[int, str]]:
    """Empty the lines that are not UTF-8; also say what is wrong with each."""
    if is_utf8(data):
        return data, {}
    lines = data.split(b"\n")
    bad = {}
    for number, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            bad[number] = not_utf8(line, error)
            lines[number] = b""
    return b"\n".join(lines), bad


def filled_after(file: FoundFile, offset: int) -> bool:
    """Whether a file has anything but blank lines from some byte on."""
    with ByteSource(file) as source:
        if offset < len(BOM) and source.read(len(BOM)) == BOM:
            offset = len(BOM)
        source.seek(offset)
        while piece := source.read(_LEAST):
            if piece.strip(b" \r\n"):
                return True
    return False


class _LineCounts:
    """Line feeds before bytes of files that were counted already: bad lines come in crowds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def before(self, file: FoundFile, offset: int) -> int:
        key = (file.name, file.stamp)
        with self._lock:
            known = self._known.pop(key, [(0, 0)])
            self._known[key] = known  # the file that was asked for last is the last to be forgotten
            if len(self._known) > _KNOWN_FILES:
                del self._known[next(iter(self._known))]
            place = bisect_right(known, (offset, -1))
            if place < len(known) and known[place][0] == offset:
                return known[place][1]
            at, feeds = known[place - 1]
            feeds += _feeds(file, at, offset)
            known.insert(place, (offset, feeds))
            return feeds


def _feeds(file: FoundFile, begin: int, end: int) -> int:
    feeds = 0
    with ByteSource(file) as source:
        source.seek(begin)
        while begin < end and (piece := source.read(min(CHUNK, end - begin))):
            feeds += piece.count(b"\n")
            begin += len(piece)
    return feeds


_counts = _LineCounts()


def lines_before(file: FoundFile, offset: int) -> int:
    """How many lines of a file start before a byte."""
    return 0 if offset == 0 else 1 + _counts.before(file, offset - 1)
