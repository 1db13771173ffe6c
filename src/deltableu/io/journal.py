"""A journal: JSON objects, a line each, in a file that only grows and may be cut off anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deltableu.io.atomic import unwritable
from deltableu.io.names import PathLike


class Journal:
    """Records that are added one after the other, for people and programs to read.

    Parameters
    ----------
    path : path
        Made when the first record is added. After a power cut the last line may not be whole; the
        next record then begins a new one.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = Path(path)

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
