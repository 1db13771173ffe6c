"""Items and logs in; the logged pairs that are most like each item out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deltableu._types import Ints
from deltableu._version import __version__
from deltableu.corpus import Item
from deltableu.errors import InputError, Problem
from deltableu.io import WorkFolder
from deltableu.logs import Logs
from deltableu.mine.admission import OwnPairs, RowFilter
from deltableu.mine.log_join import LogRun, join_logs
from deltableu.mine.mining import described
from deltableu.mine.rows import LoggedPair, LogRows, Queries
from deltableu.mine.scan import content_number
from deltableu.mine.similarity import Counter, PairSimilarity, Scorer
from deltableu.text import WordRule


class NearPair(NamedTuple):
    """A logged pair and how much it is like an item."""

    pair: LoggedPair
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """The logged pairs that are most like each item.

    Attributes
    ----------
    items : tuple of tuples of NearPair
        Of each item, by falling score, then by position in the log; each response once.
    rows : int
        Rows of the logs.
    left_out : mapping of reason to number
        Rows that were not fit to be responses.
    leaks : tuple of int
        How many rows are each item's own pair.
    content : int
        A number that tells logs apart: made of their rows, in whatever order.
    skipped : int
        Rows that could not be read.
    unreadable : tuple of Problem
        Partitions that could not be read.
    work : WorkFolder
        Its `end()` is to be called when what came of the pairs is safe.
    """

    items: tuple[tuple[NearPair, ...], ...]
    rows: int
    left_out: Mapping[str, int]
    leaks: tuple[int, ...]
    content: int
    skipped: int
    unreadable: tuple[Problem, ...]
    work: WorkFolder


def nearest_pairs(
    items: Sequence[Item],
    texts: Sequence[str],
    logs: Logs,
    similarity: PairSimilarity,
    *,
    keep: int,
    rows: RowFilter,
    tokenize: str,
    run: LogRun,
) -> NearPairs:
    """Find the logged pairs whose utterance is most like a text of each item.

    Exact, as mining is. A pair that is an item's message with its original response, or was logged
    with it (its id or thread), is not found for it; what a reference says may be found.

    Parameters
    ----------
    items
    texts
        What logged utterances are compared with: of every item, its message, say.
    logs
        As `deltableu.logs.find_partitions` takes them.
    similarity
        On the utterance alone.
    keep
        So many pairs of each item.
    rows, tokenize
        Which responses are fit at all, and what a word is.
    run
        Where and how it is done.
    """
    if not items:
        raise InputError("there are no items to find logged pairs for")
    rule = WordRule(tokenize)
    queries = Queries.of(texts, [""] * len(texts), rule)
    about = ("nearest", similarity.signature, rows.signature, tokenize, str(keep), __version__)
    with join_logs(
        logs,
        similarity,
        _ContentCounter(similarity.counter(queries)),
        OwnPairs.of(items, pairs=True),
        rows,
        len(items),
        keep,
        rule,
        (*about, *texts, *map(described, items)),
        run,
    ) as joined:
        found, heaps = joined.found, joined.found.heaps
        lists = heaps.positions.tolist(), heaps.scores.tolist(), heaps.sizes.tolist()
        return NearPairs(
            tuple(
                tuple(map(NearPair, map(found.pairs.__getitem__, positions[:size]), scores[:size]))
                for positions, scores, size in zip(*lists, strict=True)
            ),
            found.rows,
            dict(found.dropped),
            tuple(found.leaks.tolist()),
            sum(int(one.sums[0]) for one in joined.counted),
            joined.skipped,
            joined.unreadable,
            joined.work,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _ContentCounter:
    """Adds up numbers of rows, which tell logs apart, before what another one counts."""

    counter: Counter

    def empty(self) -> Ints:
        return np.append(np.zeros(1, np.int64), self.counter.empty())

    def count(self, rows: LogRows) -> Ints:
        content = np.array([content_number(rows)], np.uint64).view(np.int64)
        return np.append(content, self.counter.count(rows))

    def add(self, sums: Ints, more: Ints) -> Ints:
        return np.append(sums[:1] + more[:1], self.counter.add(sums[1:], more[1:]))

    def scorer(self, sums: Ints) -> Scorer:
        return self.counter.scorer(sums[1:])
