"""Records in, the same records by bucket out: in memory up to a limit, on disk beyond it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from deltableu._types import Bools, Ints
from deltableu.errors import InputError, Problem
from deltableu.io import scratch_folder
from deltableu.text import Texts

Array = np.ndarray[Any, np.dtype[Any]]

#: Bytes of a part, and rows in it.
_HEAD = struct.Struct("=qq")


class Store:
    """All that is kept of one run; a context manager that leaves nothing behind.

    Parameters
    ----------
    limit : int
        Bytes to be kept in memory. When there are more, all of them go to the disk.
    folder : path
        Where to make the temporary folder, should there be need of one.
    """

    def __init__(self, limit: int, folder: str | os.PathLike[str] | None = None) -> None:
        self._limit = limit
        self._parent = folder
        self._folder: Path | None = None
        self._waiting = ExitStack()
        self._held = 0
        self._all: list[_Buckets] = []
        self.spilled = 0
        """Bytes that went to the disk."""

    def _joined_by(self, buckets: _Buckets) -> int:
        self._all.append(buckets)
        return len(self._all) - 1

    def _grew(self, size: int) -> None:
        self._held += size
        if size > 0 and self._held > self._limit:
            for buckets in self._all:
                buckets.flush()

    def path(self, name: str) -> Path:
        """A place in the temporary folder."""
        if self._folder is None:
            try:
                self._folder = self._waiting.enter_context(scratch_folder(self._parent))
            except OSError as error:
                message = f"cannot hold temporary files: {error.strerror or error}"
                raise InputError(Problem(message, file=str(self._parent))) from None
        return self._folder / name

    def append(self, name: str, blobs: Iterable[bytes]) -> None:
        """Add to a temporary file."""
        path = self.path(name)
        try:
            with open(path, "ab") as file:
                for blob in blobs:
                    file.write(blob)
                    self.spilled += len(blob)
        except OSError as error:
            message = f"cannot hold more temporary files: {error.strerror or error}"
            raise InputError(Problem(message, file=str(path.parent.parent))) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._waiting.close()


class _Buckets:
    """Bytes by bucket, in the order in which they came."""

    def __init__(self, store: Store, count: int) -> None:
        self.count = count
        self._store = store
        self._number = store._joined_by(self)
        self._held: list[list[bytes]] = [[] for _ in range(count)]
        self._size = 0
        self._on_disk: set[int] = set()

    def add_bytes(self, bucket: int, blob: bytes) -> None:
        self._held[bucket].append(blob)
        self._size += len(blob)
        self._store._grew(len(blob))

    def bytes_of(self, bucket: int) -> bytes:
        held = b"".join(self._held[bucket])
        if bucket not in self._on_disk:
            return held
        return self._store.path(self._name(bucket)).read_bytes() + held

    def drop(self, bucket: int) -> None:
        """Forget a bucket."""
        self._forget(bucket)
        if bucket in self._on_disk:
            self._store.path(self._name(bucket)).unlink()
            self._on_disk.remove(bucket)

    def flush(self) -> None:
        """Put all that is in memory on the disk."""
        if self._size == 0:
            return
        for bucket, blobs in enumerate(self._held):
            if blobs:
                self._store.append(self._name(bucket), blobs)
                self._on_disk.add(bucket)
                self._forget(bucket)

    def _forget(self, bucket: int) -> None:
        size = sum(map(len, self._held[bucket]))
        self._held[bucket] = []
        self._size -= size
        self._store._grew(-size)

    def _name(self, bucket: int) -> str:
        return f"{self._number}-{bucket}"


class Records(_Buckets):
    """Numpy records by bucket."""

    def __init__(self, store: Store, count: int, fields: list[tuple[str, str]]) -> None:
        super().__init__(store, count)
        self.dtype = np.dtype(fields)

    def make(self, like: Array | None = None, **columns: Any) -> Array:
        """Records of columns, or single values; others of the same name are those of `like`."""
        size = len(next(iter(columns.values())) if like is None else like)
        made = np.zeros(size, self.dtype)
        for name in self.dtype.names or ():
            made[name] = like[name] if like is not None and name not in columns else columns[name]
        return made

    def add(self, records: Array, keys: Array) -> None:
        """Add records, each to the bucket that its key leads to."""
        buckets: Ints = (keys % keys.dtype.type(self.count)).astype(np.int64)
        order = np.argsort(buckets, kind="stable")
        ordered = records[order]
        bounds = np.searchsorted(buckets[order], np.arange(self.count + 1))
        for bucket in np.flatnonzero(np.diff(bounds)).tolist():
            self.add_bytes(bucket, ordered[bounds[bucket] : bounds[bucket + 1]].tobytes())

    def put(self, bucket: int, records: Array) -> None:
        """Make these the records of a bucket."""
        self.drop(bucket)
        if len(records):
            self.add_bytes(bucket, records.tobytes())

    def load(self, bucket: int) -> Array:
        """The records of a bucket, in the order in which they came."""
        return np.frombuffer(self.bytes_of(bucket), self.dtype)

    def take(self, bucket: int) -> Array:
        """The same, and forget them."""
        records = self.load(bucket)
        self.drop(bucket)
        return records


def changes(records: Array, *fields: str) -> Bools:
    """Where a record differs from the one before."""
    new = np.zeros(len(records), np.bool_)
    new[:1] = True
    for field in fields:
        new[1:] |= records[field][1:] != records[field][:-1]
    return new


class SpilledTexts(_Buckets):
    """Rows of numbers and texts by bucket, column by column."""

    def __init__(self, store: Store, count: int, numbers: int, texts: int) -> None:
        super().__init__(store, count)
        self._rows = numbers, numbers + 2 * texts

    def add(self, bucket: int, numbers: Sequence[Ints], texts: Sequence[Texts]) -> None:
        """Add rows to a bucket."""
        joined = [column.joined() for column in texts]
        rows = np.empty((self._rows[1], len(numbers[0])), np.int64)
        rows[: self._rows[0]] = numbers
        at = _HEAD.size + rows.nbytes
        for place, column in zip(range(self._rows[0], self._rows[1], 2), joined, strict=True):
            rows[place], rows[place + 1] = column.starts + at, column.ends + at
            at += len(column.data)
        padding = bytes(-at % rows.itemsize)
        self.add_bytes(
            bucket,
            b"".join(
                (
                    _HEAD.pack(at + len(padding), rows.shape[1]),
                    rows.tobytes(),
                    *(column.data for column in joined),
                    padding,
                )
            ),
        )

    def load(self, bucket: int) -> tuple[Ints, list[Texts]]:
        """The rows of a bucket, in the order in which they came: numbers, and texts."""
        data = self.bytes_of(bucket)
        at, parts = 0, [np.empty((self._rows[1], 0), np.int64)]
        while at < len(data):
            size, count = _HEAD.unpack_from(data, at)
            part = np.frombuffer(data, np.int64, self._rows[1] * count, at + _HEAD.size)
            part = part.reshape(self._rows[1], count).copy()
            part[self._rows[0] :] += at
            parts.append(part)
            at += size
        rows = np.concatenate(parts, axis=1)
        spans = range(*self._rows, 2)
        return rows[: self._rows[0]], [Texts(data, rows[at], rows[at + 1]) for at in spans]
