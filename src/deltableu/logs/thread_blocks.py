"""Threads of pairs as columns: an object for each of them would take longer than all else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np

from deltableu._types import Ints
from deltableu.logs.times import NO_TIME
from deltableu.logs.types import Pair, Thread
from deltableu.text import Texts


@dataclass(frozen=True, slots=True, eq=False)
class PairColumns:
    """Pairs, a column for each attribute of `Pair`.

    Attributes
    ----------
    texts : Texts
        What utterances, responses and contexts (-1 where there is none) are numbers of. All texts
        and names lie in one buffer.
    times : array
        `NO_TIME` where nobody knows.
    """

    texts: Texts
    utterances: Ints
    responses: Ints
    contexts: Ints
    ids: Texts
    times: Ints
    threads: Texts
    users: Texts

    def __len__(self) -> int:
        return len(self.utterances)

    def choose(self, rows: Ints) -> PairColumns:
        """Some of the pairs."""
        return PairColumns(
            self.texts,
            self.utterances[rows],
            self.responses[rows],
            self.contexts[rows],
            self.ids.choose(rows),
            self.times[rows],
            self.threads.choose(rows),
            self.users.choose(rows),
        )

    def __iter__(self) -> Iterator[Pair]:
        texts = self.texts.strings()
        contexts = [None if row < 0 else texts[row] for row in self.contexts.tolist()]
        return map(
            Pair,
            [texts[row] for row in self.utterances.tolist()],
            [texts[row] for row in self.responses.tolist()],
            self.ids.strings(),
            _times(self.times),
            self.threads.strings(),
            self.users.strings(),
            contexts,
        )

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> PairColumns:
        """Pairs one by one."""
        size = len(pairs)
        (having,) = np.nonzero([pair.context is not None for pair in pairs])
        contexts = np.full(size, -1)
        contexts[having] = np.arange(len(having)) + 5 * size
        joined = Texts.of(
            [
                *(pair.utterance for pair in pairs),
                *(pair.response for pair in pairs),
                *(pair.id for pair in pairs),
                *(pair.thread for pair in pairs),
                *(pair.user for pair in pairs),
                *(pair.context for pair in pairs if pair.context is not None),
            ]
        )
        ids, threads, users = (joined[place * size : (place + 1) * size] for place in (2, 3, 4))
        times = [NO_TIME if pair.time is None else pair.time for pair in pairs]
        numbers = np.arange(2 * size)
        known = np.array(times, np.int64)
        return cls(joined, numbers[:size], numbers[size:], contexts, ids, known, threads, users)


@dataclass(frozen=True, slots=True, eq=False)
class ThreadBlock:
    """Threads, a column for each attribute of `Thread`; of thread i are the pairs
    bounds[i]:bounds[i + 1].
    """

    ids: Texts
    times: Ints
    earliest: Ints
    latest: Ints
    posts: Ints
    bounds: Ints
    pairs: PairColumns

    def __len__(self) -> int:
        return len(self.times)

    def heads(self) -> Iterator[Thread]:
        """The threads without their pairs."""
        times = [_times(one) for one in (self.times, self.earliest, self.latest)]
        rows = zip(self.ids.strings(), *times, self.posts.tolist(), strict=True)
        for id, time, earliest, latest, posts in rows:
            yield Thread(id, time, earliest, latest, posts, ())

    def __iter__(self) -> Iterator[Thread]:
        pairs = list(self.pairs)
        for head, (begin, end) in zip(self.heads(), pairwise(self.bounds.tolist()), strict=True):
            yield replace(head, pairs=tuple(pairs[begin:end]))

    @classmethod
    def of(cls, threads: Sequence[Thread]) -> ThreadBlock:
        """Threads one by one."""
        times = [[one.time, one.earliest, one.latest] for one in threads]
        known = [[NO_TIME if time is None else time for time in row] for row in times]
        time, earliest, latest = np.array(known, np.int64).reshape(-1, 3).T
        return cls(
            Texts.of([one.id for one in threads]),
            time,
            earliest,
            latest,
            np.array([one.posts for one in threads]),
            np.cumsum([0, *(len(one.pairs) for one in threads)]),
            PairColumns.of(list(chain.from_iterable(one.pairs for one in threads))),
        )


def _times(times: Ints) -> list[int | None]:
    return [None if time == NO_TIME else time for time in times.tolist()]
