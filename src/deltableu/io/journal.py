"""A journal: JSON objects, a line each, in a file that only grows and may be cut off anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import unwritable
from deltableu.io.jsonl import decode_object
from deltableu.io.names import PathLike


class Journal:
    """Records that are added one after the other, and found again after being killed.

    Parameters
    ----------
    path : path
        Made when the first record is added. Lines that are not whole, as the last one may be
        after a power cut, are as if they were not there.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = Path(path)

    def records(self) -> Iterator[Mapping[str, object]]:
        """Yield what is there."""
        try:
            content = self._path.read_bytes() if self._path.exists() else b""
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise InputError(Problem(message, file=str(self._path))) from None
        for line in content.split(b"\n"):
            try:
                yield decode_object(line.decode())
            except ValueError:
                continue

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add records; they are on the disk when this returns."""
        lines = "".join(json.dumps(record) + "\n" for record in records).encode()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lines = b"\n" * self._is_torn() + lines
            # Closed each time: whoever finds it after a crash must see what was done.
            with open(self._path, "ab") as stream:
                stream.write(lines)
                stream.flush()
                if self._path.is_file():
                    os.fsync(stream.fileno())
        except OSError as error:
            raise unwritable(self._path, error) from None

    def _is_torn(self) -> bool:
        if not self._path.is_file() or self._path.stat().st_size == 0:
            return False
        with open(self._path, "rb") as stream:
            stream.seek(-1, 2)
            return stream.read() != b"\n"
