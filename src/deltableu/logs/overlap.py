"""Pairs in; utterances with several responses, and pairs that several periods share, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from deltableu.logs.spill import Array, Records, Store

__all__ = ["Overlap", "PairTexts", "TextCounts", "same_text"]

_WORD = re.compile(r"\w+")
_BATCH = 16384


def same_text(text: str) -> str:
    """Equal for texts of the same words, whatever their case, punctuation and spacing.

    Examples
    --------
    >>> same_text("Oh,  REALLY?"), same_text(" :-) ")
    ('oh really', ':-)')
    """
    return " ".join(_WORD.findall(text.lower())) or " ".join(text.split())


@lru_cache(maxsize=4096)  # what was a response is an utterance next
def _key(text: str) -> tuple[bytes, bool]:
    """A hash of what is the same, and whether there are words."""
    text = same_text(text)
    return blake2b(text.encode(), digest_size=8).digest(), _WORD.search(text) is not None


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Utterances by their words, whatever case and punctuation; those without a word do not count.

    Attributes
    ----------
    utterances : int
        Different ones.
    with_2_responses, with_5_responses : int
        Those with at least so many different responses.
    """

    utterances: int
    with_2_responses: int
    with_5_responses: int


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Pairs of the same words in several periods.

    Attributes
    ----------
    texts : int
        Different ones.
    pairs : int
        Those in all periods but the last of each.
    numbers : array
        Of these pairs, in order.
    """

    texts: int
    pairs: int
    numbers: Array


class PairTexts:
    """Remembers the texts of pairs as hashes, 26 bytes a pair, by utterance."""

    def __init__(self, store: Store, buckets: int, periods: int) -> None:
        fields = [("utterance", "<u8"), ("response", "<u8"), ("number", "<i8"), ("period", "u1")]
        self._records = Records(store, buckets, [*fields, ("words", "?")])
        self._periods = periods
        self._keys: list[bytes] = []
        self._rest: list[tuple[int, int, bool]] = []

    def add(self, number: int, period: int, utterance: str, response: str) -> None:
        """Remember a pair."""
        (first, has_words), (second, answers_with_words) = _key(utterance), _key(response)
        self._keys.append(first + second)
        self._rest.append((number, period, has_words and answers_with_words))
        if len(self._keys) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._keys:
            return
        keys = np.frombuffer(b"".join(self._keys), "<u8").reshape(-1, 2)
        numbers, periods, words = zip(*self._rest, strict=True)
        records = self._records.make(
            utterance=keys[:, 0],
            response=keys[:, 1],
            number=numbers,
            period=periods,
            words=words,
        )
        size = np.uint64(self._records.count)
        self._records.add(records, (keys[:, 0] % size).astype(np.int64))
        self._keys, self._rest = [], []

    def _buckets(self) -> Iterator[Array]:
        self._flush()
        for bucket in range(self._records.count):
            records = self._records.load(bucket)
            order = np.lexsort((records["period"], records["response"], records["utterance"]))
            yield records[order]

    def overlap(self) -> Overlap:
        """Find the pairs that lie in several periods; each stays in the last one."""
        texts, numbers = 0, [np.zeros(0, np.int64)]
        for records in self._buckets():
            new = _changes(records, "utterance", "response")
            group = np.cumsum(new) - 1
            last = np.flatnonzero(np.append(new[1:], True)) if len(records) else group
            # Periods are in order, so that the last record of a group is of its last period.
            earlier = records["period"] != records["period"][last][group]
            texts += len(np.unique(group[earlier]))
            numbers.append(records["number"][earlier])
        found = np.sort(np.concatenate(numbers))
        return Overlap(texts, len(found), found)

    def counts(self, without: Array | None = None) -> list[TextCounts]:
        """Count the texts of each period, perhaps without some pairs."""
        totals = np.zeros((self._periods, 3), np.int64)
        for records in self._buckets():
            if without is not None:
                records = records[~np.isin(records["number"], without)]
            records = records[records["words"]]
            for period in range(self._periods):
                own = records[records["period"] == period]
                different = own[_changes(own, "utterance", "response")]
                starts = np.flatnonzero(_changes(different, "utterance"))
                sizes = np.diff(np.append(starts, len(different)))
                totals[period] += (len(sizes), (sizes >= 2).sum(), (sizes >= 5).sum())
        return [TextCounts(*row) for row in totals.tolist()]


def _changes(records: Array, *fields: str) -> Array:
    """Where a record differs from the one before."""
    new = np.zeros(len(records), np.bool_)
    new[:1] = True
    for field in fields:
        new[1:] |= records[field][1:] != records[field][:-1]
    return new
