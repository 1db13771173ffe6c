"""Rows of a log, cut into words when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

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
    text_ends,
    text_keys,
)

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class LoggedPair(NamedTuple):
    """An utterance of a log and the response to it; there are many, so they must be cheap."""

    utterance: str
    response: str
    id: str | None = None
    thread: str | None = None


class _TextKeys:
    """Keys of texts, made where somebody asks for them: few are needed of most logs."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._keys = empty_keys(len(texts))
        self._made = np.zeros(len(texts), np.bool_)

    def at(self, places: Ints) -> Keys:
        new = np.zeros(len(self._texts), np.bool_)
        new[places] = True
        new &= ~self._made
        if new.any():
            self._keys[new] = text_keys(self._texts.choose(new)).keys
            self._made |= new
        return self._keys[places]


class LogRows:
    """A block, and what is computed of it once at most."""

    def __init__(self, block: Block, rule: WordRule) -> None:
        self.block = block
        self._rule = rule
        self._utterance_keys = _TextKeys(block.utterances)
        self._response_keys = _TextKeys(block.responses)

    def __len__(self) -> int:
        return len(self.block)

    @cached_property
    def utterances(self) -> TokenArrays:
        """The words of the utterances, hashed."""
        return self._rule.hash(self.block.utterances)

    @cached_property
    def responses(self) -> TokenArrays:
        """The words of the responses, hashed."""
        return self._rule.hash(self.block.responses)

    @property
    def plain_responses(self) -> TokenArrays:
        """Responses by the default rule."""
        own = WordRule()
        return self.responses if self._rule == own else own.hash(self.block.responses)

    def utterance_keys_at(self, places: Ints) -> Keys:
        """Keys of some rows' utterances: equal texts have equal keys."""
        return self._utterance_keys.at(places)

    def response_keys_at(self, places: Ints) -> Keys:
        """Keys of some rows' responses."""
        return self._response_keys.at(places)

    @cached_property
    def utterance_ends(self) -> Keys:
        """What tells most utterances apart that have different keys."""
        return text_ends(self.block.utterances)

    @cached_property
    def response_ends(self) -> Keys:
        """What tells most responses apart that have different keys."""
        return text_ends(self.block.responses)

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
        block, rows = self.block, positions - offset
        ids, threads = (
            [text or None for text in texts.choose(rows).strings()]
            if texts is not None
            else repeat(None)
            for texts in (block.ids, block.threads)
        )
        chosen = (texts.choose(rows).strings() for texts in (block.utterances, block.responses))
        return dict(zip(positions.tolist(), map(LoggedPair, *chosen, ids, threads), strict=True))


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
