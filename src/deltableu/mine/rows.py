"""Rows of a log, cut into words when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from deltableu._types import Hashes, Ints, Keys
from deltableu.logs import Block
from deltableu.text import (
    Texts,
    TokenArrays,
    WordRule,
    empty_keys,
    hash_texts,
    key_numbers,
    text_keys,
)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class LoggedPair(NamedTuple):
    """An utterance of a log and the response to it; there are many, so they must be cheap."""

    utterance: str
    response: str
    id: str | None = None
    thread: str | None = None


class LogRows:
    """A block, and what is computed of it once at most."""

    def __init__(self, block: Block, rule: WordRule) -> None:
        self.block = block
        self._rule = rule
        self._response_keys = empty_keys(len(block))
        self._keyed = np.zeros(len(block), np.bool_)

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def utterances(self) -> TokenArrays:
        return self._rule.hash(self.block.utterances)

    @cached_property
    def responses(self) -> TokenArrays:
        return self._rule.hash(self.block.responses)

    @property
    def plain_responses(self) -> TokenArrays:
        """Responses by the default rule."""
        own = WordRule()
        return self.responses if self._rule == own else own.hash(self.block.responses)

    @cached_property
    def utterance_keys(self) -> Keys:
        return text_keys(self.block.utterances).keys

    @property
    def response_keys(self) -> Keys:
        self.response_keys_at(np.flatnonzero(~self._keyed))
        return self._response_keys

    def response_keys_at(self, places: Ints) -> Keys:
        """Those of some rows; where nobody asks for all of them, few are needed."""
        new = np.zeros(len(self), np.bool_)
        new[places] = True
        new &= ~self._keyed
        if new.any():
            self._response_keys[new] = text_keys(self.block.responses.choose(new)).keys
            self._keyed |= new
        return self._response_keys[places]

    def keys(self, name: str) -> Keys | None:
        """Keys of the rows' `ids` or `threads`; `b""` where a row has none."""
        texts: Texts | None = getattr(self.block, name)
        return None if texts is None else hash_texts(texts)

    @cached_property
    def numbers(self) -> Hashes:
        """A number of each row, made of all that it says and of nothing else."""
        block = self.block
        found = np.zeros(len(self), np.uint64)
        for texts in (block.utterances, block.responses, block.ids, block.threads):
            found *= _FACTOR
            if texts is not None:
                found += key_numbers(hash_texts(texts))
        return found ^ (found >> np.uint64(31))

    def pairs_at(self, positions: Ints, offset: int) -> dict[int, LoggedPair]:
        """The texts of the rows at some positions, where that of the first row is `offset`."""
        return _logged_pairs(positions, self._texts_at(positions - offset))

    def _texts_at(self, rows: Ints) -> _PairTexts:
        block = self.block
        texts = (block.utterances, block.responses, block.ids, block.threads)
        return tuple(None if one is None else one.choose(rows) for one in texts)


#: Utterances, responses, ids and threads of some pairs.
_PairTexts: TypeAlias = tuple[Texts | None, ...]


def _logged_pairs(positions: Ints, texts: _PairTexts) -> dict[int, LoggedPair]:
    said, named = (
        [[""] * len(positions) if one is None else one.strings() for one in some]
        for some in (texts[:2], texts[2:])
    )
    names = ([name or None for name in column] for column in named)
    return dict(zip(positions.tolist(), map(LoggedPair, *said, *names), strict=True))


class KeptRows:
    """The texts of rows by position, as bytes: strings are made of those that are wanted at last.

    Attributes
    ----------
    count : int
        Rows that are kept.
    """

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[tuple[Ints, _PairTexts]] = []

    def add(self, rows: LogRows, positions: Ints, offset: int) -> None:
        """Keep rows of a block whose first row has position `offset`."""
        self._add(positions, rows._texts_at(positions - offset))

    def _add(self, positions: Ints, texts: _PairTexts) -> None:
        if len(positions):
            joined = tuple(None if one is None else one.joined() for one in texts)
            self._parts.append((positions, joined))
            self.count += len(positions)

    def forget_others(self, held: Ints) -> None:
        """Keep only rows at these positions."""
        parts, self._parts, self.count = self._parts, [], 0
        for positions, texts in parts:
            kept = np.isin(positions, held)
            chosen = tuple(None if one is None else one.choose(kept) for one in texts)
            self._add(positions[kept], chosen)

    def pairs(self) -> dict[int, LoggedPair]:
        """What is kept, by position."""
        found: dict[int, LoggedPair] = {}
        for part in self._parts:
            found.update(_logged_pairs(*part))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """What is looked for: of every item, its message and its response, as texts and words."""

    utterance_texts: Texts
    response_texts: Texts
    utterances: TokenArrays
    responses: TokenArrays

    @classmethod
    def of(cls, utterances: Sequence[str], responses: Sequence[str], rule: WordRule) -> Queries:
        texts = Texts.of(utterances), Texts.of(responses)
        return cls(*texts, *map(rule.hash, texts))

    def __len__(self) -> int:
        return len(self.utterance_texts)
