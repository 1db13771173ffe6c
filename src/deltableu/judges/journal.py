"""What rating has done so far, a line an item, found again after being killed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from deltableu.corpus import Item, Reference, item_record
from deltableu.io import Journal


def rating_key(signature: str, item: Item, references: Sequence[Reference]) -> str:
    """A digest of the rater, the item and the references to rate: all that weights depend on."""
    asked = [signature, item_record(item), [one.id for one in references]]
    text = json.dumps(asked, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class RatingJournal:
    """Weights by their keys, in a journal at `path`."""

    def __init__(self, path: Path) -> None:
        self._journal = Journal(path)
        self._weights: dict[str, tuple[float, ...]] = {}
        for record in self._journal.records():
            key, weights = record.get("key"), record.get("weights")
            if isinstance(key, str) and isinstance(weights, list) and all(map(_is_weight, weights)):
                self._weights[key] = tuple(map(float, weights))

    def weights(self, key: str, number: int) -> tuple[float, ...] | None:
        """The weights of a key, or None where they are not known."""
        found = self._weights.get(key)
        return found if found is not None and len(found) == number else None

    def add(self, rated: Iterable[tuple[str, str, Sequence[float]]]) -> None:
        """Add ids, keys and weights of items; they are on the disk when this returns."""
        self._journal.add(
            {"item": id, "key": key, "weights": list(weights)} for id, key, weights in rated
        )


def _is_weight(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -1 <= value <= 1
