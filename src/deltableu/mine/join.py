"""The two passes over a partition: count it, then join it with the items."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile, Report, fail
from deltableu.logs import Partition
from deltableu.mine.admission import OwnPairs, RowFilter
from deltableu.mine.heaps import Heaps
from deltableu.mine.rows import LoggedPair, LogRows
from deltableu.mine.similarity import Counter, Scorer
from deltableu.text import WordRule

__all__ = ["Counted", "Counting", "Floors", "Joined", "Joining", "OnError", "Tell"]

OnError: TypeAlias = Literal["stop", "skip"]
#: Called with the rows and the bytes that were read since it was called last.
Tell: TypeAlias = Callable[[int, int], None]


def nobody(rows: int, size: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What the first pass found in a partition.

    Attributes
    ----------
    rows : int
    sums : array
        As the similarity counts.
    skipped : int
        Rows that could not be read.
    problem : Problem, optional
        Why the partition cannot be used; then it counts nothing.
    """

    rows: int
    sums: Ints
    skipped: int = 0
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Counting:
    """The first pass."""

    counter: Counter
    rule: WordRule
    on_error: OnError = "stop"

    def __call__(self, partition: Partition, tell: Tell = nobody) -> Counted:
        sums, rows, read = self.counter.empty(), 0, 0
        problems = _Problems(self.on_error)
        try:
            for block in partition.blocks(problems.report):
                sums += self.counter.count(LogRows(block, self.rule))
                rows += len(block)
                tell(len(block), block.read - read)
                read = block.read
        except BrokenFile as error:
            if self.on_error == "stop":
                raise
            tell(0, partition.size - read)
            return Counted(0, self.counter.empty(), 0, error.problem)
        tell(0, partition.size - read)
        return Counted(rows, sums, problems.count)


class _Problems:
    """Raises at the first problem, or counts them."""

    def __init__(self, on_error: OnError) -> None:
        self.count = 0
        self.report: Report = fail if on_error == "stop" else self._count

    def _count(self, problem: Problem) -> None:
        self.count += 1


class Floors:
    """What candidates must reach to be of use, as other partitions have shown so far."""

    def __init__(self, items: int) -> None:
        self.values: Array = np.zeros(items)

    def thresholds(self) -> Array:
        """What they must exceed: one that equals a floor may come earlier in the log."""
        return np.where(self.values > 0.0, np.nextafter(self.values, 0.0), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """What the second pass found in a partition.

    Attributes
    ----------
    heaps : Heaps
        Positions count over all partitions.
    pairs : mapping of position to LoggedPair
        Every row that a heap holds.
    picked : mapping of position to LoggedPair
        Rows that were asked for by position.
    leaks : array
        How many rows are each item's own logged pair.
    dropped : mapping of reason to number
    """

    heaps: Heaps
    pairs: Mapping[int, LoggedPair]
    picked: Mapping[int, LoggedPair]
    leaks: Ints
    dropped: Mapping[str, int]
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Joining:
    """The second pass.

    Parameters
    ----------
    scorer : Scorer
    own : OwnPairs
    rows : RowFilter
    items : int
    places : int
        How many candidates of each item are kept.
    picks : array
        Positions of rows to return whatever their score, sorted.
    floors : Floors
        Changes while partitions are joined side by side.
    rule : WordRule
        What a word is.
    """

    scorer: Scorer
    own: OwnPairs
    rows: RowFilter
    items: int
    places: int
    picks: Ints
    floors: Floors
    rule: WordRule
    on_error: OnError = "stop"

    def __call__(self, partition: Partition, offset: int, tell: Tell = nobody) -> Joined:
        """Join a partition whose first row has position `offset`."""
        work = _Work(self, Heaps.empty(self.items, self.places))
        read = 0
        for block in partition.blocks(_Problems(self.on_error).report):
            rows = LogRows(block, self.rule)
            work.join(rows, offset + block.first)
            tell(len(block), block.read - read)
            read = block.read
        tell(0, partition.size - read)
        return work.result()


@dataclass(slots=True)
class _Work:
    joining: Joining
    heaps: Heaps
    pairs: dict[int, LoggedPair] = field(default_factory=dict)
    picked: dict[int, LoggedPair] = field(default_factory=dict)
    dropped: Tally[str] = field(default_factory=Tally)
    leaks: Any = 0
    rows: int = 0

    def join(self, rows: LogRows, offset: int) -> None:
        joining = self.joining
        admission = joining.rows.admit(rows)
        self.dropped.update(admission.dropped)
        self.leaks = self.leaks + joining.own.leaks(rows, joining.items)
        self.rows += len(rows)
        begin = 0
        while begin < len(rows):
            thresholds = np.maximum(self.heaps.floors(), joining.floors.thresholds())
            found = joining.scorer.candidates(rows, begin, admission.rows, thresholds)
            kept = joining.own.allowed(rows, found.items, found.rows)
            chosen = found.rows[kept]
            self.heaps.offer(
                found.items[kept],
                found.scores[kept],
                chosen + offset,
                rows.response_keys[chosen],
            )
            begin = found.done
        self._keep_texts(rows, offset)
        self._pick(rows, offset, admission.rows)

    def _keep_texts(self, rows: LogRows, offset: int) -> None:
        positions = self.heaps.positions
        new = np.unique(positions[positions >= offset])
        self.pairs.update(zip(new.tolist(), rows.pairs(new - offset), strict=True))
        if len(self.pairs) > 2 * positions.size:
            self._forget()

    def _forget(self) -> None:
        """Drop texts of rows that better ones have displaced."""
        self.pairs = {position: self.pairs[position] for position in self.heaps.held().tolist()}

    def _pick(self, rows: LogRows, offset: int, admitted: Any) -> None:
        picks = self.joining.picks
        begin, end = np.searchsorted(picks, (offset, offset + len(rows)))
        chosen = picks[begin:end]
        chosen = chosen[admitted[chosen - offset] == 1]
        self.picked.update(zip(chosen.tolist(), rows.pairs(chosen - offset), strict=True))

    def result(self) -> Joined:
        self._forget()
        leaks = self.leaks + np.zeros(self.joining.items, np.int64)
        return Joined(self.heaps, self.pairs, self.picked, leaks, dict(self.dropped), self.rows)


def check_unchanged(partition: Partition, counted: Counted, joined: Joined) -> None:
    """A log that grew between the passes has other statistics."""
    if counted.rows != joined.rows:
        raise InputError(
            f"{partition.name}: had {counted.rows} rows when they were counted and "
            f"{joined.rows} when they were scored; do not change logs while they are mined"
        )
