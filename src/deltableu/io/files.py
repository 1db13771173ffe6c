"""Text files in: lines of strict UTF-8. Files and folders out: whole, or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TypeVar, cast

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import atomic_path, unwritable
from deltableu.io.names import PathLike, file_name, file_packing, is_standard_stream
from deltableu.io.problems import Report, fail, until_broken
from deltableu.io.sources import ByteSource, locate

BOM = b"\xef\xbb\xbf"
_MARK = BOM.decode()
_BUFFER = 1 << 17
_Line = TypeVar("_Line")


@contextmanager
def open_binary(path: PathLike, *, lines: bool = True) -> Iterator[IO[bytes]]:
    """Open a file, a URL or standard input (`-`) for reading bytes, unpacked from `.gz`, `.zst`.

    Where it has lines, they must not be too long.
    """
    file = locate(path)
    if is_standard_stream(path):
        if sys.stdin is None:
            raise InputError("standard input is closed: give a file, or something to read")
        file = replace(file, system=_StandardInput())
    with io.BufferedReader(ByteSource(file, lines=lines), _BUFFER) as stream:
        yield stream


class _StandardInput:
    """Standard input as a file system that holds one file, which is never closed."""

    def open(self, *_: object, **__: object) -> _StandardInput:
        return self

    def read(self, size: int) -> bytes:
        return sys.stdin.buffer.read(size)

    def close(self) -> None:
        pass


def not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    """What is wrong with a line, to follow the names of its file and number."""
    byte = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
    return f"is not valid UTF-8 ({byte}): save the file as UTF-8"


def _encoded_lines(path: PathLike) -> Iterator[bytes]:
    with open_binary(path) as stream:
        yield from stream


def read_raw_lines(path: PathLike, report: Report = fail) -> Iterator[tuple[int, str]]:
    r"""Yield line numbers and lines with the line ends they have; only `\n` ends a line."""
    for number, encoded in enumerate(until_broken(_encoded_lines(path), report), start=1):
        try:
            line = encoded.decode("utf-8")
        except UnicodeDecodeError as error:
            report(Problem(not_utf8(encoded, error), file=file_name(path), line=number))
            continue
        yield number, line.removeprefix(_MARK) if number == 1 else line


def read_lines(path: PathLike, report: Report = fail) -> Iterator[tuple[int, str]]:
    r"""Yield line numbers and lines without their line end.

    A line ends with ``\n`` or ``\r\n``. Everything else (a lone ``\r``, U+2028, U+0085, form
    feeds) is text: `str.splitlines` would tear such lines apart and shift all that follow.

    Parameters
    ----------
    path
        A UTF-8 file, packed when it ends in `.gz`; `-` is standard input.
    report
        Called for a file that cannot be read, and for each line that is not UTF-8.
    """
    for number, line in read_raw_lines(path, report):
        if line.endswith("\r\n"):
            yield number, line[:-2]
        else:
            yield number, line.removesuffix("\n")


def filled_lines(
    lines: Iterable[tuple[int, _Line]], name: str, report: Report
) -> Iterator[tuple[int, _Line]]:
    """Leave out blank lines, or what else is empty; they are a problem, but not at the end."""
    blank: list[int] = []
    for number, line in lines:
        if not (line.strip(" \r") if isinstance(line, str) else line):
            blank.append(number)
            continue
        for gap in blank:
            report(Problem("is blank: remove the line", file=name, line=gap))
        blank.clear()
        yield number, line


@contextmanager
def _naming(path: PathLike) -> Iterator[None]:
    """A full disk is found while writing, by an error that names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):
            raise unwritable(path, error) from None
        raise


@contextmanager
def packed_bytes(path: PathLike, name: PathLike) -> Iterator[IO[bytes]]:
    """A stream to write to a file that will have this name: packed where it ends in `.gz`."""
    packing = file_packing(name)
    if packing not in ("", "gz"):
        message = f"is not written, because its name ends in .{packing}: take .gz"
        raise InputError(Problem(message, file=os.fspath(name)))
    with open(path, "wb") as stream:
        if not packing:
            yield stream
            return
        # Without name and time it is the same bytes whenever it is written.
        with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
            yield cast(IO[bytes], packed)


@contextmanager
def packed_text(path: PathLike, name: PathLike) -> Iterator[IO[str]]:
    """The same, to write UTF-8."""
    with (
        packed_bytes(path, name) as stream,
        io.TextIOWrapper(stream, encoding="utf-8", newline="\n") as text,
    ):
        yield text


@contextmanager
def atomic_write(path: PathLike) -> Iterator[IO[str]]:
    """Write a UTF-8 text file (packed when it ends in `.gz`) that appears whole or not at all.

    The text goes to a temporary file in the same folder, which takes the name at the end. After
    an exception the old file is as it was and the temporary one is gone.
    """
    with (
        _naming(path),
        atomic_path(path) as temporary,
        packed_text(temporary, path) as text,
    ):
        try:
            yield text
        except UnicodeEncodeError:
            message = "a text holds a lone surrogate, which UTF-8 cannot hold: repair the text"
            raise InputError(Problem(message, file=Path(path).name)) from None


def write_lines(path: PathLike, lines: Iterable[str]) -> None:
    """Write one text a line; a first text that starts with a byte order mark keeps it."""
    with atomic_write(path) as stream:
        for number, line in enumerate(lines):
            if number == 0 and line.startswith(_MARK):
                stream.write(_MARK)
            stream.write(line + "\n")
