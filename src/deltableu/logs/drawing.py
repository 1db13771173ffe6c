"""Threads of a period in, those that are drawn of what could be test items out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import heappop, heappush

import numpy as np

from deltableu._types import Hashes
from deltableu.corpus import Item, Reference, Source
from deltableu.logs.sample_types import NOUNS, REASONS, SamplePlan
from deltableu.logs.times import time_text
from deltableu.logs.types import Pair, Thread
from deltableu.text import Texts, WordRule, hash_texts, text_keys

HUMAN = "human"


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What no item may have.

    Attributes
    ----------
    numbers : set of int
        Numbers of the test pairs that are training data too.
    threads : array
        Hashes of the threads of excluded logs, sorted.
    frequent : set of int, optional
        The numbers of test pairs with a frequent bigram.
    """

    pairs: int
    numbers: set[int]
    threads: Hashes
    frequent: set[int] | None

    def has_thread(self, thread: str) -> bool:
        if not len(self.threads):
            return False
        (key,) = hash_texts(Texts.of([thread]))
        place = np.searchsorted(self.threads, key)
        return bool(place < len(self.threads) and self.threads[place] == key)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A message with its response, and another one where there is one."""

    pair: Pair
    other: Pair | None
    id: str

    def item(self) -> Item:
        pair = self.pair
        meta = {"thread": pair.thread, "response": pair.id, "time": time_text(pair.time)}
        if self.other is not None:
            meta[HUMAN] = self.other.id
        reference = Reference("original", pair.response, source=Source(id=pair.id))
        return Item(
            self.id,
            (reference,),
            () if pair.context is None else (pair.context,),
            pair.utterance,
            {name: value for name, value in meta.items() if value},
        )


@dataclass(frozen=True, slots=True)
class _Said:
    """A pair of the period, and why it is in no item, if it is not."""

    pair: Pair
    reason: str


class Drawing:
    """Looks at one thread after the other, and keeps what is drawn of them so far."""

    def __init__(self, plan: SamplePlan, training: Training) -> None:
        self._plan = plan
        self._training = training
        self._best: dict[tuple[int, int], tuple[int, Chosen]] = {}
        self._worst: list[tuple[int, tuple[int, int]]] = []
        self._utterances: dict[bytes, list[_Said]] = {}
        self.candidates = 0
        self.fit = 0
        self.dropped: Counter[str] = Counter()

    def add(self, number: int, thread: Thread) -> None:
        """Look at a thread, whose pairs are numbered from `number` on."""
        if self._plan.kind == "answers":
            self._remember(number, thread)
            return
        if self._plan.kind == "upsilon":
            self.candidates += 1
            made = self._replies(number, thread)
            if isinstance(made, str):
                self.dropped[made] += 1
            else:
                self._offer(made)
            return
        known = self._training.has_thread(thread.id)
        fits = self._fit_words(thread.pairs)
        for place, pair in enumerate(thread.pairs):
            if pair.context is None:
                continue
            self.candidates += 1
            if reason := self._wrong(number + place, known=known, fits=fits[place]):
                self.dropped[reason] += 1
            else:
                self._offer(Chosen(pair, None, pair.id))

    def _replies(self, number: int, thread: Thread) -> Chosen | str:
        """A reference and another reply to the first utterance, or why there are no two."""
        replies = [(place, pair) for place, pair in enumerate(thread.pairs) if pair.context is None]
        if len(replies) < 2:
            return "few_replies"
        known = self._training.has_thread(thread.id)
        fits = self._fit_words([pair for _, pair in replies])
        reasons = [
            self._wrong(number + place, known=known, fits=fit)
            for (place, _), fit in zip(replies, fits, strict=True)
        ]
        good = [pair for (_, pair), reason in zip(replies, reasons, strict=True) if not reason]
        if len(good) < 2:
            return next(reason for reason in reasons if reason)
        good.sort(key=lambda pair: self._rank(pair.id))
        keys = text_keys([pair.response for pair in good]).keys
        others = np.flatnonzero(keys != keys[0])
        if not len(others):
            return "same_reply"
        return Chosen(good[0], good[others[0]], thread.id)

    def _remember(self, number: int, thread: Thread) -> None:
        """Keep the pairs by utterance: what else answers it may come last."""
        known = self._training.has_thread(thread.id)
        fits = self._fit_words(thread.pairs)
        found = text_keys([pair.utterance for pair in thread.pairs])
        for place, (pair, key) in enumerate(zip(thread.pairs, found.keys.tolist(), strict=True)):
            if found.worded[place]:
                reason = self._wrong(number + place, known=known, fits=fits[place])
                self._utterances.setdefault(key, []).append(_Said(pair, reason))

    def _answers(self, said: Sequence[_Said]) -> Chosen | str:
        """Replies to one utterance in two dialogues that differ, or why there are none."""
        if len({one.pair.thread for one in said}) < 2:
            return "one_dialogue"
        said = sorted(said, key=lambda one: self._rank(one.pair.id))
        good = [one.pair for one in said if not one.reason]
        if len({pair.thread for pair in good}) < 2:
            return next(one.reason for one in said if one.reason)
        keys = text_keys([pair.response for pair in good]).keys.tolist()
        if len(set(keys)) < 2:
            return "same_reply"
        # Good pairs in several dialogues with several replies: two of them differ in both. What the
        # first one lacks, the first unlike it has, so that this is no square of their number.
        different: dict[tuple[str, bytes], Pair] = {}
        for pair, key in zip(good, keys, strict=True):
            different.setdefault((pair.thread, key), pair)
        return next(
            Chosen(pair, other, pair.id)
            for (thread, key), pair in different.items()
            for (elsewhere, another), other in different.items()
            if thread != elsewhere and key != another
        )

    def _wrong(self, number: int, *, known: bool, fits: bool) -> str:
        training = self._training
        if known:
            return "known_thread"
        if number in training.numbers:
            return "known_pair"
        if not fits:
            return "length"
        if training.frequent is not None and number not in training.frequent:
            return "rare_words"
        return ""

    def _fit_words(self, pairs: Sequence[Pair]) -> list[bool]:
        plan = self._plan
        texts = [*(pair.utterance for pair in pairs), *(pair.response for pair in pairs)]
        words = np.diff(WordRule().hash(Texts.of(texts)).bounds)
        fits = words >= plan.min_words
        if plan.max_words is not None:
            fits &= words <= plan.max_words
        both: list[bool] = (fits[: len(pairs)] & fits[len(pairs) :]).tolist()
        return both

    def _rank(self, id: str) -> int:
        """By a hash of the id and the seed, so that the order of files does not matter."""
        digest = blake2b(f"{self._plan.seed}\0{id}".encode(), digest_size=16).digest()
        return int.from_bytes(digest, "little")

    def _offer(self, chosen: Chosen, rank: int | None = None) -> None:
        """Keep it if it is among the first; of those that say the same, the first one."""
        self.fit += 1
        rank = self._rank(chosen.id) if rank is None else rank
        if len(self._best) == self._plan.items and rank > self._limit():
            return
        message, response = text_keys([chosen.pair.utterance, chosen.pair.response]).keys.tolist()
        key = (message, response)
        if key in self._best and self._best[key][0] <= rank:
            return
        self._best[key] = (rank, chosen)
        heappush(self._worst, (-rank, key))
        if len(self._best) > self._plan.items:
            self._limit()
            del self._best[heappop(self._worst)[1]]

    def _limit(self) -> int:
        """The last rank that is kept."""
        while self._best.get(self._worst[0][1], (None,))[0] != -self._worst[0][0]:
            heappop(self._worst)  # another of the same text took its place
        return -self._worst[0][0]

    def chosen(self) -> list[Chosen]:
        """What was drawn, in the order of ranks, so that fewer items are the first of more."""
        for said in self._utterances.values():
            self.candidates += 1
            made = self._answers(said)
            if isinstance(made, str):
                self.dropped[made] += 1
            else:
                # The first of many ids comes early; another hash of it favours no utterance.
                self._offer(made, self._rank(f"{made.id}\0"))
        self._utterances.clear()
        return [chosen for _, chosen in sorted(self._best.values(), key=lambda one: one[0])]

    def why_none(self, period: str) -> str:
        """What to say where nothing was drawn."""
        noun = NOUNS[self._plan.kind]
        where = f" of {period}" if period else ""
        if not self.candidates:
            return f"the logs have no {noun}{where} to sample"
        reason, number = self.dropped.most_common(1)[0]
        total = f"{self.candidates} {noun}{'s' if self.candidates > 1 else ''}"
        return f"none of {total}{where} can be an item, most often ({number}): {REASONS[reason]}"
