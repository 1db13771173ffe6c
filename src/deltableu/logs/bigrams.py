"""Texts in, pairs with a pair of words that the logs have often out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu._types import Ints, Keys
from deltableu.logs.spill import Records, Store
from deltableu.logs.types import Pair
from deltableu.text import Texts, WordRule, joined_keys, key_numbers, span_keys


class FrequentBigrams:
    """Counts how often two words follow on each other, in memory that does not grow.

    Sordoni et al. (2015), whose triples delta-BLEU's are drawn from, took those with at least one
    bigram that their corpus has more than three times.
    """

    def __init__(self, store: Store, buckets: int) -> None:
        self._logged = Records(store, buckets, [("bigram", "S16")])
        self._asked = Records(store, buckets, [("bigram", "S16"), ("number", "<i8")])

    def add(self, number: int, pairs: Sequence[Pair], *, asked: bool) -> None:
        """Count the bigrams of responses; those of pairs that are asked for are remembered."""
        bigrams, _ = _bigrams([pair.response for pair in pairs])
        self._logged.add(self._logged.make(bigram=bigrams), key_numbers(bigrams))
        if asked:
            for texts in ([pair.utterance for pair in pairs], [pair.response for pair in pairs]):
                bigrams, rows = _bigrams(texts)
                records = self._asked.make(bigram=bigrams, number=rows + number)
                self._asked.add(records, key_numbers(bigrams))

    def numbers(self, least: int) -> Ints:
        """The numbers of pairs that have a bigram which the logs have so often."""
        found = [np.zeros(0, np.int64)]
        for bucket in range(self._logged.count):
            bigrams, counts = np.unique(self._logged.take(bucket)["bigram"], return_counts=True)
            asked = self._asked.take(bucket)
            is_frequent = np.isin(asked["bigram"], bigrams[counts >= least])
            found.append(np.unique(asked["number"][is_frequent]))
        return np.unique(np.concatenate(found))


def _bigrams(texts: Sequence[str]) -> tuple[Keys, Ints]:
    """Keys of all bigrams, and the text that each is in."""
    words = WordRule().hash(Texts.of(texts))
    rows: Ints = np.repeat(np.arange(len(texts)), np.diff(words.bounds))
    inside = rows[1:] == rows[:-1]
    both = joined_keys(words.keys[:-1][inside], words.keys[1:][inside])
    ends = np.arange(1, len(both) + 1) * both.itemsize
    return span_keys(both.tobytes(), ends - both.itemsize, ends), rows[1:][inside]
