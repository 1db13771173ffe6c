"""Rows of a log that were read together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deltableu.text import Texts

#: What is read of a row; a row needs the first two.
FIELDS = ("utterance", "response", "id", "thread")
#: A column for each of them; None where no row has such a value.
Columns: TypeAlias = tuple[Texts, Texts, Texts | None, Texts | None]


def text_columns(
    utterances: Sequence[str], responses: Sequence[str], ids: Sequence[str], threads: Sequence[str]
) -> Columns:
    """The texts of rows; an empty id or thread is none."""
    return (
        Texts.of(utterances),
        Texts.of(responses),
        Texts.of(ids) if any(ids) else None,
        Texts.of(threads) if any(threads) else None,
    )


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
