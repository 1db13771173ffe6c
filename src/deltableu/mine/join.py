"""The two passes over a partition: count it, then join it with the items."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

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

OnError: TypeAlias = Literal["stop", "skip"]
#: Called with the rows and the bytes that were read since it was called last.
Tell: TypeAlias = Callable[[int, int], None]


class Floors:
    """What candidates must reach to be of use, as other partitions have shown so far."""

    def __init__(self, items: int) -> None:
        self.values: Array = np.zeros(items)

    def thresholds(self) -> Array:
        """What they must exceed: one that equals a floor may come earlier in the log."""
        return np.where(self.values > 0.0, np.nextafter(self.values, 0.0), 0.0)


@dataclass(frozen=True, slots=True)
class PartitionJob:
    """A partition to be counted, or joined: then its first row has position `offset`.

    `floors` lives as long as its process: threads see it change, workers what it was.
    """

    index: int
    partition: Partition
    offset: int = 0
    floors: Floors | None = None

    @property
    def name(self) -> str:
        return self.partition.name


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

    def __call__(self, job: PartitionJob, tell: Tell) -> Counted:
        partition = job.partition
        sums, rows, read = self.counter.empty(), 0, 0
        problems = Problems(self.on_error)
        try:
            for block in partition.blocks(problems.report):
                sums = self.counter.add(sums, self.counter.count(LogRows(block, self.rule)))
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


class Problems:
    """Raises at the first problem, or counts them."""

    def __init__(self, on_error: OnError) -> None:
        self.count = 0
        self.report: Report = fail if on_error == "stop" else self._count

    def _count(self, problem: Problem) -> None:
        self.count += 1


@dataclass(slots=True, eq=False)
class Joined:
    """What the second pass found in a partition, or in all of them.

    Attributes
    ----------
    heaps : Heaps
        Positions count over all partitions.
    pairs : dict of position to LoggedPair
        Every row that a heap holds.
    picked : dict of position to LoggedPair
        Rows that were asked for by position.
    leaks : array
        How many rows are each item's own logged pair.
    dropped : Counter of reasons
        Rows that were not fit to be references.
    rows : int
    """

    heaps: Heaps
    pairs: dict[int, LoggedPair]
    picked: dict[int, LoggedPair]
    leaks: Ints
    dropped: Tally[str]
    rows: int

    @classmethod
    def empty(cls, items: int, places: int) -> Joined:
        return cls(Heaps.empty(items, places), {}, {}, np.zeros(items, np.int64), Tally(), 0)

    def merge(self, other: Joined) -> None:
        """Take what other rows have brought."""
        self.heaps.merge(other.heaps)
        self.keep_texts(other.pairs)
        self.picked.update(other.picked)
        self.leaks += other.leaks
        self.dropped.update(other.dropped)
        self.rows += other.rows

    def keep_texts(self, pairs: Mapping[int, LoggedPair]) -> None:
        """Add texts, of which better rows may displace some."""
        self.pairs.update(pairs)
        if len(self.pairs) > 2 * self.heaps.positions.size:
            self.forget_displaced()

    def forget_displaced(self) -> None:
        """Drop the texts of rows that no heap holds any more."""
        self.pairs = {position: self.pairs[position] for position in self.heaps.held().tolist()}


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
    rule : WordRule
        What a word is.
    """

    scorer: Scorer
    own: OwnPairs
    rows: RowFilter
    items: int
    places: int
    picks: Ints
    rule: WordRule
    on_error: OnError = "stop"

    def __call__(self, job: PartitionJob, tell: Tell) -> Joined:
        found = Joined.empty(self.items, self.places)
        read = 0
        for block in job.partition.blocks(Problems(self.on_error).report):
            rows = LogRows(block, self.rule)
            self._join(rows, job.offset + block.first, job.floors or Floors(self.items), found)
            tell(len(block), block.read - read)
            read = block.read
        tell(0, job.partition.size - read)
        found.forget_displaced()
        return found

    def _join(self, rows: LogRows, offset: int, floors: Floors, found: Joined) -> None:
        """Add a block whose first row has position `offset`."""
        admission = self.rows.admit(rows)
        found.dropped.update(admission.dropped)
        found.leaks += self.own.leaks(rows, self.items)
        found.rows += len(rows)
        begin = 0
        while begin < len(rows):
            thresholds = np.maximum(found.heaps.floors(), floors.thresholds())
            best = self.scorer.candidates(rows, begin, admission.rows, thresholds)
            kept = self.own.allowed(rows, best.items, best.rows)
            chosen = best.rows[kept]
            keys = rows.response_keys_at(chosen)
            found.heaps.offer(best.items[kept], best.scores[kept], chosen + offset, keys)
            begin = best.done
        positions = found.heaps.positions
        found.keep_texts(rows.pairs_at(np.unique(positions[positions >= offset]), offset))
        picks = self.picks[slice(*np.searchsorted(self.picks, (offset, offset + len(rows))))]
        found.picked.update(rows.pairs_at(picks[admission.rows[picks - offset] == 1], offset))


def check_unchanged(partition: Partition, counted: Counted, joined: Joined) -> None:
    """A log that grew between the passes has other statistics."""
    if counted.rows != joined.rows:
        raise InputError(
            f"{partition.name}: had {counted.rows} rows when they were counted and "
            f"{joined.rows} when they were scored; do not change logs while they are mined"
        )
