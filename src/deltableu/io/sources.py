"""A file's bytes, wherever it lies and however it is packed."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from dataclasses import dataclass
from typing import IO, Any, cast

from deltableu.errors import InputError, Problem
from deltableu.io.limits import MAX_LINE, MAX_UNPACKED, Limit, Limits, size_text
from deltableu.io.names import PathLike, file_form, file_name, file_packing, is_url

_PIECE = 1 << 20


class BrokenFile(InputError):  # noqa: N818
    """A file cannot be read to its end; `problem` says why. Drop what came of it."""

    def __reduce__(self) -> tuple[type[BrokenFile], tuple[Problem]]:
        # Workers of a cluster send it home, and its problem must not become a mere sentence.
        return type(self), (self.problem,)


class WrongColumns(BrokenFile):
    """A table lacks a column, or has one that cannot be read."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as it was found."""

    name: str
    """Its path or its URL, as problems name it."""
    size: int | None = None
    """In bytes; None where its place does not tell."""
    stamp: str = ""
    """Changes when the file does."""
    system: Any = None
    """The fsspec file system that holds it; None for this machine's."""
    path: str = ""
    """What that file system calls it."""

    @property
    def form(self) -> str:
        """Such as `jsonl`, `tsv` or `parquet`."""
        return file_form(self.name)

    @property
    def packing(self) -> str:
        """`gz`, `zst` or nothing."""
        return file_packing(self.name)

    def open(self, ahead: bool = True) -> IO[bytes]:
        """Its bytes as they lie there; from far away, those to come are fetched with the others."""
        if self.system is None:
            return open(self.name, "rb")
        if not ahead:
            try:
                return cast(IO[bytes], self.system.open(self.path, "rb", cache_type="none"))
            except TypeError:
                pass  # not every file system has caches
        return cast(IO[bytes], self.system.open(self.path, "rb"))


def locate(path: PathLike) -> FoundFile:
    """The file of a path or URL, without asking whether it is there."""
    name = file_name(path)
    if not is_url(path):
        return FoundFile(name)
    try:
        system, place = remote_place(name)
    except InputError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise unreadable(FoundFile(name), error) from None
    return FoundFile(name, system=system, path=place)


def remote_place(url: str) -> tuple[Any, str]:
    """The file system that a URL names, and what it calls the place."""
    try:
        import fsspec
    except ImportError:
        message = "URLs need fsspec: run pip install 'deltableu[cluster]'"
        raise InputError(Problem(message, file=url)) from None
    system, path = fsspec.core.url_to_fs(url)
    return system, path


def pyarrow_for(what: str, name: str) -> Any:
    """The module pyarrow, or a sentence on how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        message = f"{what} files need pyarrow: run pip install 'deltableu[parquet]'"
        raise InputError(Problem(message, file=name)) from None
    return pyarrow


def unreadable(file: FoundFile, error: Exception) -> BrokenFile:
    """What to raise where reading a file raised this."""
    return BrokenFile(Problem(_reason(file, error), file=file.name))


def _reason(file: FoundFile, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, but a file is needed here"
    if isinstance(error, PermissionError):
        return "may not be read by this user: change its permissions"
    if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
        return "is not a whole gzip file: copy or compress it again"
    sentence = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
    if isinstance(error, OSError) and error.strerror:
        sentence = error.strerror
    elif file.packing == "zst":
        return "is not a whole Zstandard file: copy or compress it again"
    elif file.form == "parquet":
        return f"is not a readable Parquet file: {sentence[:120]}"
    return f"cannot be read: {sentence[:120] or type(error).__name__}"


class ByteSource(io.RawIOBase):
    """A file's bytes, unpacked; whatever stops them is a `BrokenFile`.

    Parameters
    ----------
    file
        Where it lies.
    ahead
        Whether to fetch those to come with the others, from far away.
    lines
        Whether it has lines, which must not be too long.
    """

    def __init__(self, file: FoundFile, ahead: bool = True, *, lines: bool = True) -> None:
        super().__init__()
        self.file = file
        self._opened: list[Any] = []
        self._limits = Limits.now()
        self._lines = lines
        self._at = self._line_start = 0
        pyarrow = pyarrow_for("Zstandard", file.name) if file.packing == "zst" else None
        try:
            self._raw = file.open(ahead)
            self._opened.append(self._raw)
            self._stream: Any = self._raw
            if pyarrow is not None:
                self._stream = pyarrow.CompressedInputStream(self._raw, "zstd")
            elif file.packing == "gz":
                self._stream = gzip.GzipFile(fileobj=self._raw)
        except MemoryError:
            raise
        except Exception as error:  # remote file systems raise what their clients do
            raise unreadable(file, error) from None
        if self._stream is not self._raw:
            self._opened.append(self._stream)

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, and none at the end only."""
        try:
            data = cast(bytes, self._stream.read(size))
        except MemoryError:
            raise
        except Exception as error:
            raise unreadable(self.file, error) from None
        self._check(data)
        return data

    def _check(self, data: bytes) -> None:
        """Refuse what only a mistake, or somebody who means harm, can have made."""
        begin, self._at = self._at, self._at + len(data)
        limits = self._limits
        if self._stream is not self._raw and self._at > limits.allow_unpacked(0):
            most = limits.allow_unpacked(self.position)
            if self._at > most:
                raise self._too_large(f"unpacks to more than {size_text(most)}", MAX_UNPACKED)
        if self._lines:
            self._check_lines(data, begin)

    def _check_lines(self, data: bytes, begin: int) -> None:
        most = self._limits.line
        end = data.find(b"\n")
        while end >= 0 and begin + end - self._line_start <= most:
            self._line_start = begin + end + 1
            # Where a whole line of this data cannot be too long, only the last one may become so.
            end = data.rfind(b"\n", end + 1) if len(data) <= most else data.find(b"\n", end + 1)
        if (self._at if end < 0 else begin + end) - self._line_start > most:
            raise self._too_large(f"is longer than {size_text(most)}", MAX_LINE, self._line())

    def _too_large(self, message: str, limit: Limit, line: int | None = None) -> BrokenFile:
        allow = f"if that is right, set {limit.option} (in Python {limit.variable})"
        return BrokenFile(Problem(f"{message}: {allow}", file=self.file.name, line=line))

    def _line(self) -> int | None:
        """The number of the line that is being read, where its file can be read again."""
        if self.file.system is not None or not os.path.isfile(self.file.name):
            return None
        left, feeds = self._line_start, 0
        with ByteSource(self.file, lines=False) as again:
            while left > 0 and (piece := again.read(min(left, _PIECE))):
                feeds, left = feeds + piece.count(b"\n"), left - len(piece)
        return feeds + 1

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, as far as there are bytes; how many there were."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream is self._raw

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a byte of a file that is not packed."""
        try:
            self._at = self._line_start = cast(int, self._stream.seek(offset, whence))
        except Exception as error:
            raise unreadable(self.file, error) from None
        return self._at

    def tell(self) -> int:
        return cast(int, self._stream.tell())

    @property
    def position(self) -> int:
        """How many bytes of the file, as it lies there, have been read."""
        return self._raw.tell()

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()
        super().close()
