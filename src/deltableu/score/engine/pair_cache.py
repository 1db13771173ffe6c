"""Scores of hypothesis-reference pairs on disk, so that a costly judge sees each pair once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from types import TracebackType
from typing import Self

from deltableu.errors import InputError, Problem

_BATCH = 500


class PairCache:
    """One SQLite file; use it as a context manager. Several processes may share it."""

    def __init__(self, path: str | PathLike[str], label: str) -> None:
        self._label = label
        self._path = fspath(path)
        with self._naming():
            self._base = sqlite3.connect(path, timeout=60, isolation_level=None)
        with self._writing():
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS pairs (key BLOB PRIMARY KEY, score REAL NOT NULL)"
            )

    def read(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
        """The scores that are there."""
        keys = {self._key(pair): pair for pair in pairs}
        found: dict[tuple[str, str], float] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), _BATCH):
            part = wanted[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, score FROM pairs WHERE key IN ({marks})"
            with self._naming():
                rows = self._base.execute(query, part).fetchall()
            found |= {keys[bytes(key)]: score for key, score in rows}
        return found

    def write(self, scores: Iterable[tuple[tuple[str, str], float]]) -> None:
        """Keep scores; they are on disk when this returns."""
        rows = [(self._key(pair), float(score)) for pair, score in scores]
        with self._writing():
            self._base.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", rows)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that waits for its turn from the beginning: others may be writing."""
        with self._naming():
            try:
                self._base.execute("BEGIN IMMEDIATE")
                yield
                self._base.execute("COMMIT")
            except BaseException:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            message = f"cannot be used as a cache: {error}"
            raise InputError(Problem(message, file=self._path)) from None

    def _key(self, pair: tuple[str, str]) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        for text in (self._label, *pair):
            encoded = text.encode()
            digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return digest.digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._base.close()
