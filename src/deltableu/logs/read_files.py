"""A log file's bytes, wherever the file lies and however it is packed."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, cast

from deltableu.errors import InputError, Problem

__all__ = [
    "BrokenPartition",
    "LogFile",
    "Source",
    "WrongColumns",
    "broken",
    "form_of",
    "pyarrow_for",
]

FORMS = ("jsonl", "tsv", "parquet")
PACKINGS = ("gz", "zst")


class BrokenPartition(InputError):  # noqa: N818
    """A part of the logs cannot be read to its end; `problem` says why. Drop what came of it."""

    def __reduce__(self) -> tuple[type[BrokenPartition], tuple[Problem]]:
        # Workers of a cluster send it home, and its problem must not become a mere sentence.
        return type(self), (self.problem,)


class WrongColumns(BrokenPartition):
    """The log lacks a column, or has one that cannot be read."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file as it was found."""

    name: str
    """Its path or its URL, as problems name it."""
    size: int | None
    """In bytes; None where its place does not tell."""
    stamp: str
    """Changes when the file does."""
    system: Any = None
    """The fsspec file system that holds it; None for this machine's."""
    path: str = ""
    """What that file system calls it."""

    @property
    def form(self) -> str:
        """`jsonl`, `tsv` or `parquet`."""
        form = form_of(self.name)
        return form[0] if form else ""

    @property
    def packing(self) -> str:
        """`gz`, `zst` or nothing."""
        form = form_of(self.name)
        return form[1] if form else ""

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


def form_of(name: str) -> tuple[str, str] | None:
    """The form and the packing that a file's name promises, or None.

    Examples
    --------
    >>> form_of("logs/2015.tsv.gz"), form_of("s3://logs/a.parquet"), form_of("README.md")
    (('tsv', 'gz'), ('parquet', ''), None)
    """
    name = name.lower()
    if name.startswith(("http://", "https://")):
        name = name.partition("?")[0]
    parts = name.rpartition("/")[2].split(".")
    packing = parts.pop() if len(parts) > 2 and parts[-1] in PACKINGS else ""
    form = parts[-1] if len(parts) > 1 else ""
    # Parquet files are packed inside; one that is packed again cannot be read in parts.
    if form not in FORMS or (form == "parquet" and packing):
        return None
    return form, packing


def pyarrow_for(what: str, name: str) -> Any:
    """The module pyarrow, or a sentence on how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        message = f"{what} files need pyarrow: run pip install 'deltableu[parquet]'"
        raise InputError(Problem(message, file=name)) from None
    return pyarrow


def broken(file: LogFile, error: Exception) -> BrokenPartition:
    """What to raise where reading a file raised this."""
    return BrokenPartition(Problem(_reason(file, error), file=file.name))


def _reason(file: LogFile, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
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


class Source:
    """A log file's bytes, unpacked; whatever stops them is a `BrokenPartition`."""

    def __init__(self, file: LogFile, ahead: bool = True) -> None:
        pyarrow = pyarrow_for("Zstandard", file.name) if file.packing == "zst" else None
        self.file = file
        try:
            self._raw = file.open(ahead)
            if pyarrow is not None:
                self._stream = pyarrow.CompressedInputStream(self._raw, "zstd")
            elif file.packing == "gz":
                self._stream = gzip.GzipFile(fileobj=self._raw)
            else:
                self._stream = self._raw
        except MemoryError:
            raise
        except Exception as error:  # remote file systems raise what their clients do
            raise broken(file, error) from None

    def read(self, size: int) -> bytes:
        """Up to `size` bytes, and none at the end only."""
        try:
            return cast(bytes, self._stream.read(size))
        except MemoryError:
            raise
        except Exception as error:
            raise broken(self.file, error) from None

    def seek(self, offset: int) -> None:
        """Go to a byte of a file that is not packed."""
        try:
            self._stream.seek(offset)
        except Exception as error:
            raise broken(self.file, error) from None

    @property
    def position(self) -> int:
        """How many bytes of the file, as it lies there, have been read."""
        return self._raw.tell()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not self._raw:
            self._stream.close()
        self._raw.close()
