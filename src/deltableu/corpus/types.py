"""The nouns of the product: items, references, systems, studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from deltableu.corpus.rating_table import RatingTable

Origin = Literal["original", "mined", "parrot", "written", "random"]

ORIGINS: tuple[str, ...] = get_args(Origin)


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
class System:
    """What `systems.toml` says of one system; `type` and `tags` group systems in correlations.

    `variant_of` names the system of which this one is a variation.
    """

    name: str
    type: str | None = None
    description: str | None = None
    variant_of: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    def tag(self, name: str) -> str | None:
        """Its type, or another tag."""
        return self.type if name == "type" else self.tags.get(name)


@dataclass(frozen=True, slots=True)
class Study:
    """Items, the outputs of each system in item order, raw ratings and system descriptions.

    `note` is what readers of a report should know of the study.
    """

    items: Sequence[Item]
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    ratings: RatingTable = field(default_factory=RatingTable.from_records)
    systems: Mapping[str, System] = field(default_factory=dict)
    path: Path | None = None
    note: str | None = None
