"""Files of word vectors: GloVe's text format and word2vec's binary one."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

import numpy as np

from deltableu import _kernels
from deltableu._types import Singles
from deltableu.errors import InputError, Problem
from deltableu.io import (
    BOM,
    PathLike,
    atomic_path,
    file_form,
    file_name,
    not_utf8,
    open_binary,
    packed_bytes,
)

Table = tuple[list[str], Singles]
"""Words, and a row of numbers for each."""

_kernel = _kernels.load("text._vectors")

_CHUNK = 1 << 24
_HEADER = re.compile(rb"(\d+) (\d+) *\r?\n")
#: Numbers in binary have some of these; text has none.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_POWERS = 10.0 ** np.arange(23)


def read_table(path: PathLike) -> Table:
    """Read words and numbers from a file of either format, also packed as `.gz`."""
    with open_binary(path, lines=file_form(path) != "bin") as stream:
        start = stream.read(4096)
        if file_form(path) == "bin" or (
            (header := _HEADER.match(start)) and _CONTROL.search(start, header.end())
        ):
            return _read_binary(start + stream.read(), file_name(path))
        return _TextReader(file_name(path)).read(_chunks(start, stream))


def write_table(words: Sequence[str], numbers: Singles, path: PathLike) -> None:
    """Write word2vec's binary format where the name ends in `.bin`, else GloVe's text format.

    Text has nine digits a number, so that it is read back as it was.
    """
    for word in words:
        if not word or " " in word or "\n" in word:
            message = f"cannot hold the word {word!r}, because white space ends a word there"
            raise _wrong(message, os.fspath(path))
    with atomic_path(path) as temporary, packed_bytes(temporary, path) as stream:
        if file_form(path) == "bin":
            stream.write(b"%d %d\n" % numbers.shape)
            for word, row in zip(words, numbers.astype("<f4"), strict=True):
                stream.write(word.encode() + b" " + row.tobytes() + b"\n")
        else:
            line = "%s" + " %.9g" * numbers.shape[1] + "\n"
            for word, row in zip(words, numbers, strict=True):
                stream.write((line % (word, *row.tolist())).encode())


def _chunks(start: bytes, stream: IO[bytes]) -> Iterator[bytes]:
    """Whole lines, many at a time; the last one has its end, too."""
    unfinished = [start]
    while more := stream.read(_CHUNK):
        end = more.rfind(b"\n") + 1
        if end:
            yield b"".join((*unfinished, memoryview(more)[:end]))
            unfinished = []
        unfinished.append(more[end:])
    rest = b"".join(unfinished)
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


class _TextReader:
    """Reads lines of a word and its numbers, all equally many."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._dimension = 0

    def read(self, chunks: Iterator[bytes]) -> Table:
        first = next(chunks, b"").removeprefix(BOM)
        line = 1
        if header := _HEADER.match(first):
            first = first[header.end() :]
            line = 2
        if not first:
            first = next(chunks, b"")
        if not first:
            raise _wrong("holds no word vectors", self._name)
        self._dimension = len(self._parse_line(first[: first.index(b"\n")], line)[1])
        words: list[str] = []
        parts: list[Singles] = []
        for some, numbers in self._parse_all(first, chunks, line):
            words += some
            parts.append(numbers)
        return words, parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _parse_all(self, first: bytes, chunks: Iterator[bytes], line: int) -> Iterator[Table]:
        """Tables of chunks in their order, made by several threads."""
        workers = os.cpu_count() or 1
        waiting: deque[Future[Table]] = deque()
        chunk: bytes | None = first
        with ThreadPoolExecutor(workers) as pool:
            while chunk is not None or waiting:
                while chunk is not None and len(waiting) <= workers:
                    waiting.append(pool.submit(self._parse, chunk, line))
                    line += chunk.count(b"\n")
                    chunk = next(chunks, None)
                yield waiting.popleft().result()

    def _parse(self, chunk: bytes, line: int) -> Table:
        size = chunk.count(b"\n")
        starts, stops = np.empty(size, np.int64), np.empty(size, np.int64)
        numbers = np.empty((size, self._dimension), np.float32)
        state = np.zeros(2, np.int64)
        while True:
            _kernel.parse_lines(chunk, _POWERS, state, stops, starts, numbers)
            at, row = state.tolist()
            if row == size:
                break
            end = chunk.index(b"\n", at)
            word, numbers[row] = self._parse_line(chunk[at:end], line + row)
            starts[row], stops[row] = at, at + len(word.encode())
            state[:] = end + 1, row + 1
        wrong = ~np.isfinite(numbers).all(axis=1)
        if wrong.any():
            message = "holds a number that is too large for single precision"
            raise _wrong(message, self._name, line + int(wrong.argmax()))
        spans = zip(starts.tolist(), stops.tolist(), range(line, line + size), strict=True)
        return [self._decode(chunk[begin:stop], where) for begin, stop, where in spans], numbers

    def _parse_line(self, encoded: bytes, line: int) -> tuple[str, Singles]:
        """What the kernel does, for any line; says what is wrong with one that is wrong."""
        text = self._decode(encoded.removesuffix(b"\r"), line)
        parts = text.rstrip(" ").split(" ")
        try:
            vector = np.array(parts[1:], dtype=np.float64)
        except ValueError:
            raise _wrong("holds something that is no number", self._name, line) from None
        if not len(vector) or not np.isfinite(vector).all():
            raise _wrong("holds no vector of finite numbers", self._name, line)
        if self._dimension and len(vector) != self._dimension:
            message = f"has {len(vector)} numbers, but the first word has {self._dimension}"
            raise _wrong(message, self._name, line)
        with np.errstate(over="ignore"):
            return parts[0], vector.astype(np.float32)

    def _decode(self, encoded: bytes, line: int) -> str:
        try:
            return encoded.decode()
        except UnicodeDecodeError as error:
            raise _wrong(not_utf8(encoded, error), self._name, line) from None


def _wrong(message: str, name: str, line: int | None = None) -> InputError:
    return InputError(Problem(message, file=name, line=line))


def _read_binary(data: bytes, name: str) -> Table:
    header = _HEADER.match(data)
    if header is None:
        message = (
            "is no word2vec file: it must begin with a line that has the number of words and the "
            "number of numbers of each"
        )
        raise _wrong(message, name)
    count, dimension = map(int, header.groups())
    if not count or not dimension:
        raise _wrong("holds no word vectors", name)
    size = 4 * dimension
    at = header.end()
    if count * (size + 2) > len(data) - at + 1:
        message = f"ends before its {count:,} words of {dimension:,} numbers: copy it again"
        raise _wrong(message, name)
    words: list[str] = []
    numbers = np.empty((count, dimension), np.float32)
    for row in range(count):
        if data[at : at + 1] == b"\n":
            at += 1
        space = data.find(b" ", at)
        if space < 0 or space + 1 + size > len(data):
            message = f"ends within word {row + 1:,} of {count:,}: copy it again"
            raise _wrong(message, name)
        try:
            words.append(data[at:space].decode())
        except UnicodeDecodeError:
            message = f"is broken: word {row + 1:,} of {count:,} is not valid UTF-8"
            raise _wrong(message, name) from None
        numbers[row] = np.frombuffer(data, "<f4", dimension, space + 1)
        at = space + 1 + size
    if data[at:].strip(b"\n"):
        message = f"has more than the {count:,} words that it says it has: copy it again"
        raise _wrong(message, name)
    wrong = ~np.isfinite(numbers).all(axis=1)
    if wrong.any():
        place = int(wrong.argmax())
        message = (
            f"is broken: word {place + 1:,} ({words[place]!r}) has something that is no number"
        )
        raise _wrong(message, name)
    return words, numbers
