"""Rows of a log, cut into words when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

from deltableu._types import Hashes, Ints
from deltableu.logs import Block, Texts
from deltableu.text import WordArrays, hash_texts, hash_words

__all__ = ["LoggedPair", "Queries", "Rows"]


class LoggedPair(NamedTuple):
    """An utterance of a log and the response to it; there are many, so they must be cheap."""

    utterance: str
    response: str
    id: str | None = None
    thread: str | None = None


def _words(texts: Texts) -> WordArrays:
    return hash_words(texts.data, texts.starts, texts.ends)


class Rows:
    """A block, and what is computed of it once at most."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def utterances(self) -> WordArrays:
        return _words(self.block.utterances)

    @cached_property
    def responses(self) -> WordArrays:
        return _words(self.block.responses)

    def hashes(self, name: str) -> Hashes | None:
        """Of the rows' `ids` or `threads`; 0 where a row has none."""
        texts: Texts | None = getattr(self.block, name)
        return None if texts is None else hash_texts(texts.data, texts.starts, texts.ends)

    def pairs(self, rows: Ints) -> list[LoggedPair]:
        """The texts of some rows."""
        block = self.block
        ids, threads = (
            [text or None for text in texts.choose(rows)] if texts is not None else repeat(None)
            for texts in (block.ids, block.threads)
        )
        chosen = block.utterances.choose(rows), block.responses.choose(rows)
        return list(map(LoggedPair, *chosen, ids, threads))


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """What is looked for: of every item, its message and its response, as texts and words."""

    utterance_texts: Texts
    response_texts: Texts
    utterances: WordArrays
    responses: WordArrays

    @classmethod
    def of(cls, utterances: Sequence[str], responses: Sequence[str]) -> Queries:
        texts = Texts.of(utterances), Texts.of(responses)
        return cls(*texts, *map(_words, texts))

    def __len__(self) -> int:
        return len(self.utterance_texts)
