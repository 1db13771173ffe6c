"""Keys of some rows of logs, and the logs again -> the texts of these rows as numbers."""

from __future__ import annotations

import numpy as np

from deltableu._types import Bools, Hashes, Ints, Ints32, Keys
from deltableu.errors import InputError
from deltableu.logs import Block
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.mixing import different, fresh
from deltableu.neural.row_keys import KeyedRows, row_keys
from deltableu.neural.vocabulary import Vocabulary
from deltableu.text import Texts, WordNumbers, empty_keys, hash_texts, pair_keys


class RowTexts:
    """The texts of wanted rows.

    Rows that say the same in other spellings are one; chance decides whose spelling is kept, and
    not the order of the logs. Texts are told apart by their exact bytes.

    Parameters
    ----------
    wanted
        Some may be there twice.
    """

    def __init__(
        self, wanted: KeyedRows, vocabulary: Vocabulary, max_length: int, salt: np.uint64
    ) -> None:
        self._vocabulary = vocabulary
        self._max_length = max_length
        self._salt = salt
        rows = wanted.sorted()
        self._utterances, self._responses = (WordNumbers.of(empty_keys(0)) for _ in range(2))
        pairs = self._utterances.add(rows.utterances)[0], self._responses.add(rows.responses)[0]
        self._rows = WordNumbers.of(pair_keys(*pairs))
        self._found = np.zeros(len(rows), np.bool_)
        self._ranks: Hashes = np.zeros(len(rows), np.uint64)
        self._spelt = KeyedRows(empty_keys(len(rows)), empty_keys(len(rows)))
        self._spellings: list[Keys] = []
        self._texts: list[EncodedTexts] = []
        self._long: list[Bools] = []

    def _places(self, rows: KeyedRows) -> Ints32:
        """Where rows are among the wanted ones, -1 where they are not."""
        utterances = self._utterances.find(rows.utterances)
        responses = self._responses.find(rows.responses)
        places = self._rows.find(pair_keys(np.maximum(utterances, 0), np.maximum(responses, 0)))
        places[(utterances < 0) | (responses < 0)] = -1
        return places

    def add(self, block: Block) -> None:
        """Take the texts of a block that are asked for."""
        keys, worded = row_keys(block)
        places = self._places(keys)
        (rows,) = np.nonzero((places >= 0) & worded)
        if not len(rows):
            return
        places = places[rows]
        sides = [one.choose(rows) for one in (block.utterances, block.responses)]
        spelt = KeyedRows(*map(hash_texts, sides))
        ranks = spelt.ranks(self._salt)
        order = np.lexsort((ranks, places))
        best = order[fresh(places[order])]
        at = places[best]
        better = ~self._found[at] | (ranks[best] < self._ranks[at])
        best, at = best[better], at[better]
        self._found[at] = True
        self._ranks[at] = ranks[best]
        for kept, keys_of, texts in (
            (self._spelt.utterances, spelt.utterances, sides[0]),
            (self._spelt.responses, spelt.responses, sides[1]),
        ):
            kept[at] = keys_of[best]
            self._encode(texts, keys_of, best)

    def _encode(self, texts: Texts, keys: Keys, rows: Ints) -> None:
        _, firsts = WordNumbers.of(empty_keys(0)).add(keys[rows])
        rows = rows[firsts]
        encoded = self._vocabulary.encode(texts.choose(rows))
        self._spellings.append(keys[rows])
        self._long.append(encoded.lengths > self._max_length)
        self._texts.append(encoded.cut(self._max_length))

    def end(self) -> tuple[EncodedTexts, Bools]:
        """Every text that a row needs, once, and whether it was cut."""
        if not self._found.all():
            raise InputError("the logs changed while they were read: read them again")
        needed = different(np.concatenate((self._spelt.utterances, self._spelt.responses)))
        held = WordNumbers.of(empty_keys(0))
        _, firsts = held.add(np.concatenate(self._spellings))
        chosen = firsts[held.find(needed)]
        self._needed = WordNumbers.of(needed)
        texts, long = EncodedTexts.joined(self._texts), np.concatenate(self._long)[chosen]
        self._texts, self._spellings, self._long = [], [], []
        return texts.choose(chosen), long

    def texts_of(self, rows: KeyedRows) -> tuple[Ints, Ints]:
        """The places of utterance and response of wanted rows among the texts."""
        spelt = self._spelt[self._places(rows)]
        utterances, responses = map(self._needed.find, (spelt.utterances, spelt.responses))
        return utterances.astype(np.int64), responses.astype(np.int64)
