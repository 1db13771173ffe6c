"""KeyedRows of logs -> 32 bytes for each different one, and which of them to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deltableu._types import Bools, Hashes, Ints, Keys
from deltableu.neural.mixing import fresh, mixed
from deltableu.text import empty_keys, halves, key_numbers, key_order, text_keys

if TYPE_CHECKING:
    from deltableu.logs import Block


#: KeyedRows that are sorted at once, about.
_AT_ONCE = 1 << 21
_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class KeyedRows:
    """Keys of the utterance and the response of rows, as `deltableu.text.text_keys` makes them."""

    utterances: Keys
    responses: Keys

    def __len__(self) -> int:
        return len(self.utterances)

    def __getitem__(self, rows: Any) -> KeyedRows:
        return KeyedRows(self.utterances[rows], self.responses[rows])

    def ranks(self, salt: np.uint64) -> Hashes:
        """A number of each row, for choices by chance."""
        return mixed(salt, key_numbers(self.utterances), key_numbers(self.responses))

    def sorted(self) -> KeyedRows:
        """Different ones by utterance, then response."""
        rows = self[key_order(self.utterances, self.responses)]
        return rows[fresh(rows.utterances, rows.responses)]

    @classmethod
    def joined(cls, parts: list[KeyedRows]) -> KeyedRows:
        """The rows of all parts, one part after the other."""
        none = empty_keys(0)
        return cls(
            np.concatenate([none, *(part.utterances for part in parts)]),
            np.concatenate([none, *(part.responses for part in parts)]),
        )


def row_keys(block: Block) -> tuple[KeyedRows, Bools]:
    """Keys of a block's rows, and which rows have words in both texts."""
    utterances, responses = map(text_keys, (block.utterances, block.responses))
    return KeyedRows(utterances.keys, responses.keys), utterances.worded & responses.worded


def starts_of(groups: Any) -> Ints:
    """Where each run of equal numbers begins, and where the last one ends."""
    return np.append(np.flatnonzero(fresh(groups)), len(groups))


class RowKeys:
    """All different rows of the logs that have words in both texts.

    Attributes
    ----------
    rows, empty : int
        KeyedRows that were added, and those of them without words.
    """

    def __init__(self) -> None:
        self.rows = self.empty = 0
        self._blocks: list[KeyedRows] = []

    def add(self, block: Block) -> None:
        """Take the rows of a block in which both texts have words."""
        keys, worded = row_keys(block)
        self.rows += len(keys)
        self.empty += len(keys) - int(worded.sum())
        # Sorted, so that a range of utterances is a part of each block.
        self._blocks.append(keys[worded].sorted())

    def several(self, most: int, salt: np.uint64) -> tuple[KeyedRows, int, int]:
        """KeyedRows of utterances with two or more responses, `most` of each at most.

        Also the number of different utterances, and of rows that were too many.
        """
        kept: list[KeyedRows] = []
        utterances = too_many = 0
        for rows in self._ranges():
            starts = starts_of(rows.utterances)
            sizes = np.diff(starts)
            utterances += len(sizes)
            rows = rows[np.repeat(sizes > 1, sizes)]
            if (sizes > most).any():
                few = rows[_first_of_each(rows, most, salt)]
                too_many += len(rows) - len(few)
                rows = few
            kept.append(rows)
        return KeyedRows.joined(kept), utterances, too_many

    def others(self, number: int, salt: np.uint64) -> KeyedRows:
        """Random rows of all; fewer where there are fewer."""
        kept = KeyedRows.joined([])
        for rows in self._ranges() if number else ():
            kept = KeyedRows.joined([kept, rows])
            if len(kept) > number:
                ranks = kept.ranks(salt)
                kept = kept[np.argpartition(ranks, number - 1)[:number]]
        return kept.sorted()

    def _ranges(self) -> Iterator[KeyedRows]:
        """All different rows, sorted, so many at once as is fast."""
        bits = (sum(map(len, self._blocks)) // _AT_ONCE).bit_length()
        edges = np.arange(1, 1 << bits, dtype=np.uint64) << np.uint64(_BITS - bits if bits else 0)
        cuts = [
            [0, *np.searchsorted(halves(block.utterances)[0], edges).tolist(), len(block)]
            for block in self._blocks
        ]
        for place in range(1 << bits):
            parts = [
                block[cut[place] : cut[place + 1]]
                for block, cut in zip(self._blocks, cuts, strict=True)
            ]
            yield KeyedRows.joined(parts).sorted()


def _first_of_each(rows: KeyedRows, most: int, salt: np.uint64) -> Ints:
    """The rows of each utterance that come first in an order of chance, sorted."""
    ranks = rows.ranks(salt)
    starts = starts_of(rows.utterances)
    order = np.lexsort((ranks, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
    within = np.arange(len(rows)) - np.repeat(starts[:-1], np.diff(starts))
    return np.sort(order[within < most])
