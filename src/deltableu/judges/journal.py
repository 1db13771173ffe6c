"""What rating has done so far, a line an item, found again after being killed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from deltableu.corpus import Item, Reference, item_record
from deltableu.errors import InputError, Problem
from deltableu.io import decode

__all__ = ["RatingJournal", "rating_key"]


def rating_key(signature: str, item: Item, references: Sequence[Reference]) -> str:
    """A digest of the rater, the item and the references to rate: all that weights depend on."""
    asked = [signature, item_record(item), [one.id for one in references]]
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class RatingJournal:
    """Weights by their keys, in a file that only grows.

    Parameters
    ----------
    path : Path
        Made when the first line is added. Lines that are not whole, as the last one may be after
        a power cut, are as if they were not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._weights: dict[str, tuple[float, ...]] = {}
        try:
            content = path.read_bytes() if path.exists() else b""
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise InputError(Problem(message, file=str(path))) from None
        self._torn = bool(content) and not content.endswith(b"\n")
        for line in content.split(b"\n"):
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            record = decode(line.decode())
        except ValueError:
            return
        if not isinstance(record, dict):
            return
        key, weights = record.get("key"), record.get("weights")
        if isinstance(key, str) and isinstance(weights, list) and all(map(_is_weight, weights)):
            self._weights[key] = tuple(map(float, weights))

    def weights(self, key: str, number: int) -> tuple[float, ...] | None:
        """The weights of a key, or None where they are not known."""
        found = self._weights.get(key)
        return found if found is not None and len(found) == number else None

    def add(self, rated: Iterable[tuple[str, str, Sequence[float]]]) -> None:
        """Add ids, keys and weights of items; they are on the disk when this returns."""
        lines = [
            json.dumps({"item": id, "key": key, "weights": list(weights)}) + "\n"
            for id, key, weights in rated
        ]
        text = ("\n" if self._torn else "") + "".join(lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "a", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            message = f"cannot be written: {error.strerror or error}"
            raise InputError(Problem(message, file=str(self._path))) from None
        self._torn = False


def _is_weight(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1 <= value <= 1
