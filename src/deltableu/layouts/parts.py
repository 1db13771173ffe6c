"""What files of any layout are taken apart into, before it is put together as a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from deltableu.corpus import Origin, Rating


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class FoundReference:
    """A reference of an item; one of the same text is found only once."""

    text: str
    weight: float | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class FoundItem:
    """What is known of an item here; other places may know more."""

    id: str
    message: str | None = None
    context: tuple[str, ...] = ()
    references: tuple[FoundReference, ...] = ()
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundOutput:
    """A system's output for an item."""

    system: str
    item: str
    text: str


Part: TypeAlias = FoundItem | FoundOutput | Rating
