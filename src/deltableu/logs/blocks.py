"""Rows of a log that were read together."""

from __future__ import annotations

from dataclasses import dataclass

from deltableu.text import Texts


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of a log that were read together."""

    first: int
    """Number of the first row within its partition, from 0; rows left out do not count."""
    utterances: Texts
    responses: Texts
    ids: Texts | None = None
    """None where no row has one; an empty text where a row has none."""
    threads: Texts | None = None
    read: int = 0
    """Bytes of the partition that have been read so far."""

    def __len__(self) -> int:
        return len(self.utterances)
