"""Pairs in; utterances with several responses, and pairs that several periods share, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deltableu._types import Ints
from deltableu.logs.spill import Array, Records, Store, changes
from deltableu.text import TextKeys, Texts, key_numbers, key_order, text_keys

if TYPE_CHECKING:
    from deltableu.logs.thread_blocks import PairColumns
    from deltableu.logs.types import Pair

_BATCH = 16384


@dataclass(frozen=True, slots=True)
class TextCounts:
    """Different utterances (`deltableu.text.text_keys`); those without a word do not count.

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


class PairTexts:
    """Remembers the texts of pairs as keys, 42 bytes per pair, by utterance."""

    def __init__(self, store: Store, buckets: int, periods: int) -> None:
        fields = [("utterance", "S16"), ("response", "S16"), ("number", "<i8"), ("period", "u1")]
        self._records = Records(store, buckets, [*fields, ("words", "?")])
        self._periods = periods
        self._in_order = False
        self._waiting: tuple[list[int], list[int], list[str], list[str]] = ([], [], [], [])

    def add(self, number: int, period: int, pairs: Sequence[Pair]) -> None:
        """Remember pairs, which are numbered from `number` on."""
        numbers, periods, utterances, responses = self._waiting
        numbers += range(number, number + len(pairs))
        periods += [period] * len(pairs)
        utterances += [pair.utterance for pair in pairs]
        responses += [pair.response for pair in pairs]
        if len(numbers) >= _BATCH:
            self._flush()

    def add_columns(self, numbers: Ints, periods: Ints, pairs: PairColumns) -> None:
        """Remember pairs of these numbers and periods."""
        if len(pairs):
            found = text_keys(pairs.texts)
            utterances, responses = (
                TextKeys(found.keys[rows], found.worded[rows])
                for rows in (pairs.utterances, pairs.responses)
            )
            self._put(numbers, periods, utterances, responses)

    def add_texts(self, period: int, utterances: Texts, responses: Texts) -> None:
        """Remember pairs that nobody will ask for by their numbers."""
        self._put(-1, period, text_keys(utterances), text_keys(responses))

    def _flush(self) -> None:
        numbers, periods, utterances, responses = self._waiting
        if numbers:
            self._put(numbers, periods, text_keys(utterances), text_keys(responses))
        self._waiting = ([], [], [], [])

    def _put(self, numbers: Any, periods: Any, utterances: TextKeys, responses: TextKeys) -> None:
        records = self._records.make(
            utterance=utterances.keys,
            response=responses.keys,
            number=numbers,
            period=periods,
            words=utterances.worded & responses.worded,
        )
        self._records.add(records, key_numbers(utterances.keys))
        self._in_order = False

    def _buckets(self) -> Iterator[Array]:
        """The records by utterance, response and period; sorted where something is new."""
        self._flush()
        for bucket in range(self._records.count):
            records = self._records.load(bucket)
            if not self._in_order:
                keys = records["utterance"], records["response"]
                records = records[key_order(*keys, within=records["period"])]
                self._records.put(bucket, records)
            yield records
        self._in_order = True

    def overlap(self) -> tuple[int, Ints]:
        """How many different pairs lie in several periods, and the numbers of all but the last.

        Pairs are the same where `deltableu.text.text_keys` are.
        """
        texts, numbers = 0, [np.zeros(0, np.int64)]
        for records in self._buckets():
            new = changes(records, "utterance", "response")
            group = np.cumsum(new) - 1
            last = np.flatnonzero(np.append(new[1:], True)) if len(records) else group
            # Periods are in order, so that the last record of a group is of its last period.
            earlier = records["period"] != records["period"][last][group]
            texts += len(np.unique(group[earlier]))
            numbers.append(records["number"][earlier])
        return texts, np.sort(np.concatenate(numbers))

    def counts(self, without: Array | None = None) -> list[TextCounts]:
        """Count the texts of each period, perhaps without some pairs."""
        totals = np.zeros((self._periods, 3), np.int64)
        for records in self._buckets():
            if without is not None:
                records = records[~np.isin(records["number"], without)]
            records = records[records["words"]]
            for period in range(self._periods):
                own = records[records["period"] == period]
                different = own[changes(own, "utterance", "response")]
                starts = np.flatnonzero(changes(different, "utterance"))
                sizes = np.diff(np.append(starts, len(different)))
                totals[period] += (len(sizes), (sizes >= 2).sum(), (sizes >= 5).sum())
        return [TextCounts(*row) for row in totals.tolist()]
