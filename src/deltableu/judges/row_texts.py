"""Keys of some rows of logs, and the logs again -> the texts of these rows as numbers."""

from __future__ import annotations

import numpy as np

from deltableu._types import Bools, Hashes, Ints
from deltableu.errors import InputError
from deltableu.judges.encoded_texts import EncodedTexts
from deltableu.judges.mixing import different, fresh, mixed, places_in
from deltableu.judges.row_keys import KeyedRows, row_keys
from deltableu.judges.vocabulary import Vocabulary
from deltableu.logs import Block
from deltableu.text import Texts, hash_texts


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
        self._keys, firsts = np.unique(self._mixed(wanted), return_index=True)
        self._rows = wanted[firsts]
        self._found = np.zeros(len(firsts), np.bool_)
        self._ranks: Hashes = np.zeros(len(firsts), np.uint64)
        self._spelt = KeyedRows(np.zeros(len(firsts), np.uint64), np.zeros(len(firsts), np.uint64))
        self._hashes: list[Hashes] = []
        self._texts: list[EncodedTexts] = []
        self._long: list[Bools] = []

    def _mixed(self, rows: KeyedRows) -> Hashes:
        return mixed(self._salt, rows.utterances, rows.responses)

    def _places(self, rows: KeyedRows) -> tuple[Ints, Bools]:
        """Where rows are among the wanted ones, and whether they are."""
        places = places_in(self._keys, self._mixed(rows))
        same = self._rows[places]
        found = (same.utterances == rows.utterances) & (same.responses == rows.responses)
        return places, found

    def add(self, block: Block) -> None:
        keys, worded = row_keys(block)
        places, found = self._places(keys)
        (rows,) = np.nonzero(found & worded)
        if not len(rows):
            return
        places = places[rows]
        sides = [one.choose(rows) for one in (block.utterances, block.responses)]
        spelt = KeyedRows(*map(hash_texts, sides))
        ranks = self._mixed(spelt)
        order = np.lexsort((ranks, places))
        best = order[fresh(places[order])]
        at = places[best]
        better = ~self._found[at] | (ranks[best] < self._ranks[at])
        best, at = best[better], at[better]
        self._found[at] = True
        self._ranks[at] = ranks[best]
        for kept, hashes, texts in (
            (self._spelt.utterances, spelt.utterances, sides[0]),
            (self._spelt.responses, spelt.responses, sides[1]),
        ):
            kept[at] = hashes[best]
            self._encode(texts, hashes, best)

    def _encode(self, texts: Texts, hashes: Hashes, rows: Ints) -> None:
        different_hashes, firsts = np.unique(hashes[rows], return_index=True)
        rows = rows[firsts]
        encoded = self._vocabulary.encode(texts.choose(rows))
        self._hashes.append(different_hashes)
        self._long.append(encoded.lengths > self._max_length)
        self._texts.append(encoded.cut(self._max_length))

    def end(self) -> tuple[EncodedTexts, Bools]:
        """Every text that a row needs, once, and whether it was cut."""
        if not self._found.all():
            raise InputError("the logs changed while they were read: read them again")
        needed = different(np.concatenate((self._spelt.utterances, self._spelt.responses)))
        held, firsts = np.unique(np.concatenate(self._hashes), return_index=True)
        chosen = firsts[places_in(held, needed)]
        self._needed = needed
        texts, long = EncodedTexts.joined(self._texts), np.concatenate(self._long)[chosen]
        self._texts, self._hashes, self._long = [], [], []
        return texts.choose(chosen), long

    def texts_of(self, rows: KeyedRows) -> tuple[Ints, Ints]:
        """The places of utterance and response of wanted rows among the texts."""
        spelt = self._spelt[self._places(rows)[0]]
        return (
            places_in(self._needed, spelt.utterances),
            places_in(self._needed, spelt.responses),
        )
