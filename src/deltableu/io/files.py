"""Text files in: lines of strict UTF-8. Files and folders out: whole, or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TypeAlias, cast

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import atomic_path
from deltableu.io.problems import Report, fail

__all__ = [
    "PathLike",
    "atomic_write",
    "file_form",
    "file_name",
    "open_binary",
    "open_text",
    "read_lines",
    "read_raw_lines",
    "write_lines",
]

PathLike: TypeAlias = str | os.PathLike[str]

BOM = "\ufeff"


def file_name(path: PathLike) -> str:
    """The file as problems name it."""
    return "standard input" if os.fspath(path) == "-" else os.fspath(path)


def file_form(path: PathLike) -> str:
    """The form a file's name promises: `jsonl` for `items.jsonl` and `items.jsonl.gz`."""
    return Path(os.fspath(path).lower().removesuffix(".gz")).suffix.removeprefix(".")


@contextmanager
def open_binary(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file, a `.gz` file, or standard input (`-`) for reading bytes."""
    if os.fspath(path) == "-":
        yield sys.stdin.buffer
        return
    name = file_name(path)
    try:
        stream: IO[bytes] = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", file=name)) from None
    except IsADirectoryError:
        raise InputError(Problem("is a folder, but a file is needed here", file=name)) from None
    except PermissionError:
        raise InputError(
            Problem("may not be read by this user: change its permissions", file=name)
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(Problem(f"cannot be read: {reason}", file=name)) from None
    with stream:
        if not name.lower().endswith(".gz"):
            yield stream
            return
        try:
            with gzip.open(stream, "rb") as unpacked:
                yield cast(IO[bytes], unpacked)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise InputError(
                Problem("is not a whole gzip file: copy or compress it again", file=name)
            ) from None


def _encoded_lines(path: PathLike) -> Generator[bytes, None, None]:
    with open_binary(path) as stream:
        yield from stream


def read_raw_lines(path: PathLike, report: Report = fail) -> Generator[tuple[int, str], None, None]:
    r"""Yield line numbers and lines with the line ends they have; only `\n` ends a line."""
    name = file_name(path)
    number = 0
    with closing(_encoded_lines(path)) as lines:
        while True:
            try:
                encoded = next(lines, None)
            except InputError as error:
                report(error.problem)
                return
            if encoded is None:
                return
            number += 1
            try:
                line = encoded.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte 0x{encoded[error.start]:02x} at position {error.start + 1}"
                message = f"is not valid UTF-8 ({byte}): save the file as UTF-8"
                report(Problem(message, file=name, line=number))
                continue
            yield number, line.removeprefix(BOM) if number == 1 else line


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


@contextmanager
def open_text(path: PathLike) -> Iterator[Iterator[str]]:
    """Open a text file for reading line by line; see `read_lines` for what a line is."""
    with closing(read_raw_lines(path)) as raw:
        yield (line[:-2] if line.endswith("\r\n") else line.removesuffix("\n") for _, line in raw)


@contextmanager
def _naming(path: PathLike) -> Iterator[None]:
    """A full disk is found while writing, by an error that names no file."""
    try:
        yield
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):
            message = f"cannot be written: {error.strerror or error}"
            raise InputError(Problem(message, file=os.fspath(path))) from None
        raise


@contextmanager
def atomic_write(path: PathLike) -> Iterator[IO[str]]:
    """Write a UTF-8 text file (packed when it ends in `.gz`) that appears whole or not at all.

    The text goes to a temporary file in the same folder, which takes the name at the end. After
    an exception the old file is as it was and the temporary one is gone.
    """
    with _naming(path), atomic_path(path) as temporary, open(temporary, "wb") as stream:
        # A packed file without name and time is the same bytes whenever it is written.
        packed = (
            gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0)
            if os.fspath(path).lower().endswith(".gz")
            else None
        )
        with io.TextIOWrapper(packed or stream, encoding="utf-8", newline="\n") as text:
            try:
                yield text
            except UnicodeEncodeError:
                message = "a text holds a lone surrogate, which UTF-8 cannot hold: repair the text"
                raise InputError(Problem(message, file=Path(path).name)) from None


def write_lines(path: PathLike, lines: Iterable[str]) -> None:
    """Write one text a line; a first text that starts with a byte order mark keeps it."""
    with atomic_write(path) as stream:
        for number, line in enumerate(lines):
            if number == 0 and line.startswith(BOM):
                stream.write(BOM)
            stream.write(line + "\n")
