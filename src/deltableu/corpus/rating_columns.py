"""Ratings as records, or columns of names, in; names and places among them out."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus.rating import KINDS, Kind, Rating
from deltableu.errors import InputError

#: Columns of places among names, and what the names are called.
NAMES = {
    "rater": "raters",
    "item": "items",
    "system": "systems",
    "reference": "references",
    "criterion": "criteria",
    "scale": "scales",
    "pair": "pairs",
}
#: Records turned into columns at once.
_BLOCK = 10_000


class _Places:
    """Names as they are met, and the place of each in turn; None has the place -1."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._place: dict[Hashable, int] = {None: -1}
        self._places = array("q")
        self._meet(names)

    def _meet(self, names: Iterable[Hashable]) -> None:
        for name in dict.fromkeys(names):
            self._place.setdefault(name, len(self._place) - 1)

    def extend(self, names: Sequence[Hashable]) -> None:
        self._meet(names)
        self._places.extend(map(self._place.__getitem__, names))

    @property
    def names(self) -> tuple[Any, ...]:
        return tuple(self._place)[1:]

    @property
    def places(self) -> Any:
        return np.array(self._places, dtype=np.int64)


def record_columns(ratings: Iterable[Rating]) -> dict[str, Any]:
    """What `RatingTable` takes, from records."""
    coded = {name: _Places() for name in NAMES}
    values, kinds = array("d"), _Places(KINDS)
    objects: dict[str, list[object]] = {"position": [], "started": [], "finished": []}
    remaining = iter(ratings)
    while block := list(islice(remaining, _BLOCK)):
        for name in ("rater", "item", "criterion", "scale", "pair"):
            coded[name].extend(list(map(attrgetter(name), block)))
        targets = [one.target for one in block]
        named = {target: _named(target) for target in dict.fromkeys(targets)}
        coded["system"].extend([named[target][0] for target in targets])
        references = [named[target][1] for target in targets]
        coded["reference"].extend(_of_items([one.item for one in block], references))
        kinds.extend([one.kind for one in block])
        values.extend([one.value for one in block])
        for name, column in objects.items():
            column.extend(map(attrgetter(name), block))
    return {"values": np.array(values), "kinds": kinds.places, **objects, **_coded(coded)}


def plain_columns(
    raters: Sequence[str],
    items: Sequence[str],
    systems: Sequence[str | None] | None,
    references: Sequence[str | None] | None,
    values: Sequence[float] | Array,
    kinds: Sequence[Kind] | None,
    order: tuple[Sequence[str], Sequence[str]] | None,
) -> dict[str, Any]:
    """What `RatingTable` takes, from columns; see `RatingTable.of`."""
    columns = (raters, items, systems, references, values, kinds)
    if len({len(one) for one in columns if one is not None}) != 1:
        raise InputError("give one rater, item, system and value for each rating")
    if kinds is not None and (wrong := set(kinds) - set(KINDS)):
        raise InputError(f"kinds must be among {', '.join(KINDS)}, got {min(wrong)!r}")
    try:
        numbers = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        raise InputError("values must hold one number a rating") from None
    nobody = [None] * len(numbers)
    known = order or ((), ())
    coded = {
        "rater": _Places(),
        "item": _Places(known[0]),
        "system": _Places(known[1]),
        "reference": _Places(),
    }
    named = (raters, items, systems or nobody, _of_items(items, references or nobody))
    for places, column in zip(coded.values(), named, strict=True):
        places.extend(column)
    said = _Places(KINDS)
    said.extend(kinds or ())
    return {"values": numbers, "kinds": said.places, **_coded(coded)}


def moved_places(
    places: Ints, old: Sequence[Hashable], new: Sequence[Hashable], missing: int = -1
) -> Ints:
    """Places among old names as places among new ones; -1, no name, stays."""
    there = {name: place for place, name in enumerate(new)}
    # The last place stands for -1.
    moved = np.array([*(there.get(name, missing) for name in old), -1], dtype=np.int64)
    return moved[places]


def _coded(coded: dict[str, _Places]) -> dict[str, Any]:
    names = {NAMES[name]: one.names for name, one in coded.items()}
    return names | {name: one.places for name, one in coded.items()}


def _of_items(
    items: Sequence[str], references: Sequence[str | None]
) -> list[tuple[str, str] | None]:
    """The names of references: of which item, and its id there."""
    both = zip(items, references, strict=True)
    return [None if name is None else (item, name) for item, name in both]


def _named(target: str) -> tuple[str | None, str | None]:
    """The system or the reference that a target names."""
    sort, _, name = target.partition(":")
    if sort not in ("system", "reference") or not name:
        raise InputError(f"target must be system:NAME or reference:ID, got {target!r}")
    return (name, None) if sort == "system" else (None, name)
