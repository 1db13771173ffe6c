"""Keys of some rows of logs, and the logs again -> the texts of these rows as numbers."""

from __future__ import annotations

import numpy as np

from deltableu._types import Bools, Hashes, Ints, Keys
from deltableu.errors import InputError
from deltableu.judges.encoded_texts import EncodedTexts
from deltableu.judges.mixing import different, fresh, places_in
from deltableu.judges.row_keys import KeyedRows, row_keys
from deltableu.judges.vocabulary import Vocabulary
from deltableu.logs import Block
from deltableu.text import Texts, empty_keys, hash_texts


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
        self._keys = different(wanted.joined_keys())
        self._found = np.zeros(len(self._keys), np.bool_)
        self._ranks: Hashes = np.zeros(len(self._keys), np.uint64)
        self._spelt = KeyedRows(empty_keys(len(self._keys)), empty_keys(len(self._keys)))
        self._spellings: list[Keys] = []
        self._texts: list[EncodedTexts] = []
        self._long: list[Bools] = []

    def _places(self, rows: KeyedRows) -> tuple[Ints, Bools]:
        """Where rows are among the wanted ones, and whether they are."""
        keys = rows.joined_keys()
        places = places_in(self._keys, keys)
        return places, self._keys[places] == keys

    def add(self, block: Block) -> None:
        keys, worded = row_keys(block)
        places, found = self._places(keys)
        (rows,) = np.nonzero(found & worded)
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
        spellings, firsts = np.unique(keys[rows], return_index=True)
        rows = rows[firsts]
        encoded = self._vocabulary.encode(texts.choose(rows))
        self._spellings.append(spellings)
        self._long.append(encoded.lengths > self._max_length)
        self._texts.append(encoded.cut(self._max_length))

    def end(self) -> tuple[EncodedTexts, Bools]:
        """Every text that a row needs, once, and whether it was cut."""
        if not self._found.all():
            raise InputError("the logs changed while they were read: read them again")
        needed = different(np.concatenate((self._spelt.utterances, self._spelt.responses)))
        held, firsts = np.unique(np.concatenate(self._spellings), return_index=True)
        chosen = firsts[places_in(held, needed)]
        self._needed = needed
        texts, long = EncodedTexts.joined(self._texts), np.concatenate(self._long)[chosen]
        self._texts, self._spellings, self._long = [], [], []
        return texts.choose(chosen), long

    def texts_of(self, rows: KeyedRows) -> tuple[Ints, Ints]:
        """The places of utterance and response of wanted rows among the texts."""
        spelt = self._spelt[self._places(rows)[0]]
        return (
            places_in(self._needed, spelt.utterances),
            places_in(self._needed, spelt.responses),
        )
