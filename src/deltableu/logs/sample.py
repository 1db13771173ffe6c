"""Logs in, a study of test items out: items that no other period has."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import heappop, heappush
from pathlib import Path
from typing import Literal

import numpy as np

from deltableu._types import Hashes, Progress
from deltableu.corpus import Item, Reference, Source, Study, System, check_new_study, write_study
from deltableu.errors import InputError, Problem
from deltableu.io import PathLike, find_files
from deltableu.logs.bigrams import FrequentBigrams
from deltableu.logs.columns import Columns
from deltableu.logs.fates import Fate
from deltableu.logs.overlap import PairTexts
from deltableu.logs.partitions import find_partitions
from deltableu.logs.periods import Period, Split, TimeSplit
from deltableu.logs.raw_logs import MEMORY, Memory, OpenLogs, RawLogs
from deltableu.logs.rules import PairRules
from deltableu.logs.sample_types import REASONS, SampledItems, SamplePlan
from deltableu.logs.times import parse_span, time_text
from deltableu.logs.types import Pair, Thread
from deltableu.text import Texts, WordRule, empty_keys, hash_texts, text_keys

_TEST, _TRAINING = 0, 1
_HUMAN = "human"


def sample_items(
    logs: PathLike | Sequence[PathLike],
    output: PathLike,
    plan: SamplePlan,
    *,
    period: str | None = None,
    split: Split | None = None,
    exclude: Sequence[PathLike] = (),
    rules: PairRules | None = None,
    columns: Columns | None = None,
    name_by_file: bool = False,
    replace: bool = False,
    on_error: Literal["stop", "skip"] = "stop",
    memory: int = MEMORY,
    buckets: int | None = None,
    work: PathLike | None = None,
    progress: Progress | None = None,
) -> SampledItems:
    """Draw test items from logs, and write them as a study.

    Which items are drawn depends on the seed and on the ids in the logs alone, not on the order of
    files and rows, and more items are the same ones and others.

    Parameters
    ----------
    logs
        As for `write_pairs`.
    output
        The folder of the new study.
    plan
        What to draw.
    period
        Where to draw from: with a split, the name of one of its periods; all others are training
        data. Without one, dates such as ``2019`` or ``2019-01..2019-06``; all else in the logs is
        training data then.
    split
        As for `write_pairs`.
    exclude
        Logs of pairs that are training data too, as `write_pairs` writes them. No item has a pair
        that training data has (`deltableu.text.text_keys`), or is in a thread of these logs.
    rules, columns, name_by_file, replace, on_error, memory, buckets, work, progress
        As for `write_pairs`.

    References
    ----------
    Galley et al. (2015), section 4.1; Tsuta et al. (2020), section 5.2.
    """
    place, name = _places(period, split)
    rules = rules or PairRules()
    if rules.first:
        raise InputError("first is what upsilon items are anyway: leave it out")
    raw = RawLogs.find(logs, columns, on_error, name_by_file)
    excluded = [file.name for file in (find_files(list(exclude)) if exclude else ())]
    check_new_study(output, [*raw.inputs, *excluded], replace=replace)
    work = work if work is not None else Path(os.path.realpath(output)).parent
    with raw.opened(rules, Memory(memory, buckets, work), progress) as found:
        if plan.kind == "upsilon" and found.layout != "posts":
            message = (
                f"the logs hold {found.layout}, in which an utterance has one reply: upsilon items "
                "need two, which only posts have"
            )
            raise InputError(Problem(message, field="kind"))
        training = _training(found, place, plan, exclude)
        drawing = _Drawing(plan, training)
        number = 0
        for thread in found.threads():
            where = place(thread)
            if where == _TEST:
                drawing.add(number, thread)
            number += 0 if isinstance(where, Fate) else len(thread.pairs)
        found.reading.check_unchanged()
        chosen = drawing.chosen()
        if not chosen:
            raise InputError(drawing.why_none(name))
        result = SampledItems(
            *found.read_counts(),
            plan.kind,
            name,
            drawing.candidates,
            training.pairs,
            {reason: drawing.dropped[reason] for reason in REASONS if drawing.dropped[reason]},
            drawing.fit,
            len(chosen),
            plan.items,
        )
        write_study(_study(chosen, plan), output, replace=replace)
    return result


def _places(period: str | None, split: Split | None) -> tuple[Callable[[Thread], int | Fate], str]:
    """Which threads are tests and which training data; what the period is called."""
    if split is None and period is None:
        return lambda _: _TEST, ""
    if split is None:
        try:
            only = TimeSplit((Period("test", parse_span(period or "")),))
        except ValueError as error:
            raise InputError(Problem(str(error), field="period")) from None
        return lambda thread: _TEST if only.place(thread) == 0 else _TRAINING, period or ""
    names = ", ".join(split.names)
    if period is None:
        raise InputError(f"a split needs the period to sample from: name one of {names}")
    if period not in split.names:
        raise InputError(Problem(f"must be one of {names}, got {period!r}", field="period"))
    test = split.names.index(period)

    def place(thread: Thread) -> int | Fate:
        where = split.place(thread)
        return where if isinstance(where, Fate) else _TEST if where == test else _TRAINING

    return place, period


@dataclass(frozen=True, slots=True, eq=False)
class _Training:
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


def _training(
    found: OpenLogs,
    place: Callable[[Thread], int | Fate],
    plan: SamplePlan,
    exclude: Sequence[PathLike],
) -> _Training:
    """Go through all pairs once, and count what became of the posts."""
    texts = PairTexts(found.store, found.buckets, 2)
    bigrams = FrequentBigrams(found.store, found.buckets) if plan.min_bigram_count else None
    number = pairs = 0
    for thread in found.threads():
        where = place(thread)
        found.counts.add(where if isinstance(where, Fate) else Fate.KEPT, thread.posts)
        if isinstance(where, Fate):
            continue
        texts.add(number, where, thread.pairs)
        if bigrams is not None:
            bigrams.add(number, thread.pairs, asked=where == _TEST)
        number += len(thread.pairs)
        pairs += len(thread.pairs) if where == _TRAINING else 0
    threads = [empty_keys(0)]
    for partition in find_partitions(exclude) if exclude else ():
        for block in partition.blocks():
            texts.add_texts(_TRAINING, block.utterances, block.responses)
            pairs += len(block)
            if block.threads is not None:
                threads.append(np.unique(hash_texts(block.threads)))
    _, numbers = texts.overlap()
    frequent = None if bigrams is None else set(bigrams.numbers(plan.min_bigram_count).tolist())
    names = np.unique(np.concatenate(threads))
    # The empty name of rows without a thread is nobody's.
    return _Training(pairs, set(numbers.tolist()), names[names != b""], frequent)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A message with its response, and another one where there is one."""

    pair: Pair
    other: Pair | None = None

    @property
    def id(self) -> str:
        return self.pair.id if self.other is None else self.pair.thread

    def item(self) -> Item:
        pair = self.pair
        meta = {"thread": pair.thread, "response": pair.id, "time": time_text(pair.time)}
        if self.other is not None:
            meta[_HUMAN] = self.other.id
        reference = Reference("original", pair.response, source=Source(id=pair.id))
        return Item(
            self.id,
            (reference,),
            () if pair.context is None else (pair.context,),
            pair.utterance,
            {name: value for name, value in meta.items() if value},
        )


class _Drawing:
    """Looks at one thread after the other, and keeps what is drawn of them so far."""

    def __init__(self, plan: SamplePlan, training: _Training) -> None:
        self._plan = plan
        self._training = training
        self._best: dict[tuple[int, int], tuple[int, _Chosen]] = {}
        self._worst: list[tuple[int, tuple[int, int]]] = []
        self.candidates = 0
        self.fit = 0
        self.dropped: Counter[str] = Counter()

    def add(self, number: int, thread: Thread) -> None:
        """Look at a thread, whose pairs are numbered from `number` on."""
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
                self._offer(_Chosen(pair))

    def _replies(self, number: int, thread: Thread) -> _Chosen | str:
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
        return _Chosen(good[0], good[others[0]]) if len(others) else "same_reply"

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

    def _offer(self, chosen: _Chosen) -> None:
        """Keep it if it is among the first; of those that say the same, the first one."""
        self.fit += 1
        rank = self._rank(chosen.id)
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

    def chosen(self) -> list[_Chosen]:
        """What was drawn, in the order of ranks, so that fewer items are the first of more."""
        return [chosen for _, chosen in sorted(self._best.values(), key=lambda one: one[0])]

    def why_none(self, period: str) -> str:
        """What to say where nothing was drawn."""
        noun = "dialogue" if self._plan.kind == "upsilon" else "triple"
        where = f" of {period}" if period else ""
        if not self.candidates:
            return f"the logs have no {noun}{where} to sample"
        reason, number = self.dropped.most_common(1)[0]
        total = f"{self.candidates} {noun}{'s' if self.candidates > 1 else ''}"
        return f"none of {total}{where} can be an item, most often ({number}): {REASONS[reason]}"


def _study(chosen: Sequence[_Chosen], plan: SamplePlan) -> Study:
    items = tuple(one.item() for one in chosen)
    if plan.kind == "triples":
        return Study(items)
    said = tuple(_human_replies(chosen))
    return Study(items, {_HUMAN: said}, systems={_HUMAN: System(_HUMAN, type="human")})


def _human_replies(chosen: Sequence[_Chosen]) -> Iterator[str]:
    for one in chosen:
        if one.other is not None:
            yield one.other.response
