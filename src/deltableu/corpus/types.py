"""The nouns of the product: items, references, outputs, ratings, studies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from deltableu.errors import InputError

__all__ = ["Item", "Kind", "Origin", "Rating", "Reference", "Scale", "Source", "Study", "System"]

Origin = Literal["original", "mined", "parrot", "written", "random"]
Kind = Literal["item", "bad-reference", "reference", "repeat"]

ORIGINS: tuple[str, ...] = get_args(Origin)
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a mined reference came from; a rater needs its utterance."""

    utterance: str | None = None
    id: str | None = None
    score: float | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """One acceptable, doubtful or bad response; `weight` is None until somebody rated it."""

    id: str
    text: str
    weight: float | None = None
    origin: Origin = "original"
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """What a system answers: earlier turns, the message, and references for the answer."""

    id: str
    references: tuple[Reference, ...]
    context: tuple[str, ...] = ()
    message: str | None = None
    meta: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rating:
    """One raw judgement, never overwritten; `target` is `system:NAME` or `reference:ID`."""

    rater: str
    item: str
    target: str
    value: float
    criterion: str = "overall"
    scale: str | None = None
    kind: Kind = "item"
    pair: str | None = None
    position: int | None = None
    started: str | None = None
    finished: str | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale, written `LOW-HIGH` in files: `1-5` (Likert), `0-100` (slider), `-1-1`.

    Examples
    --------
    >>> round(Scale.parse("1-5").weight(4.2), 9)
    0.6
    >>> Scale.parse("0-100").weight(50)
    0.0
    """

    low: float
    high: float

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read `LOW-HIGH`; either end may be negative."""
        found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*-\s*(-?\d+(?:\.\d+)?)\s*", text)
        if found is None or float(found[1]) >= float(found[2]):
            raise InputError(f"a scale is written LOW-HIGH, such as 1-5 or 0-100, got {text!r}")
        return cls(float(found[1]), float(found[2]))

    def weight(self, value: float) -> float:
        """Map a (mean) rating to a weight in [-1, 1], the middle of the scale to 0."""
        return (2 * value - self.low - self.high) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class System:
    """What `systems.toml` says of one system; `type` groups systems in correlations."""

    name: str
    type: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """Items, the outputs of each system in item order, raw ratings and system descriptions.

    `note` is what readers of a report should know of the study.
    """

    items: tuple[Item, ...]
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ratings: tuple[Rating, ...] = ()
    systems: Mapping[str, System] = field(default_factory=dict)
    path: Path | None = None
    note: str | None = None
