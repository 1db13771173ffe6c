"""Both passes over all partitions, on an engine, with checkpoints: the join itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Literal, TypeAlias, TypeVar

from deltableu._types import Ints
from deltableu.errors import InputError
from deltableu.io import WorkFolder
from deltableu.logs import Partition
from deltableu.mine.admission import OwnPairs, RowFilter
from deltableu.mine.checkpoints import keep_counted, keep_joined, kept_counted, kept_joined
from deltableu.mine.engines import Engine
from deltableu.mine.join import (
    Counted,
    Counting,
    Floors,
    Joined,
    Joining,
    OnError,
    PartitionJob,
    Tell,
    check_unchanged,
)
from deltableu.mine.similarity import Counter
from deltableu.text import WordRule

Stage: TypeAlias = Literal["counting", "scoring", "reading", "drawing"]
R = TypeVar("R", Counted, Joined)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pass is.

    Attributes
    ----------
    rows : int
        Rows read so far in this run.
    done, total : int
        Bytes of the logs; what an earlier run had done counts as done.
    kept : int
        Bytes that an earlier run had done.
    seconds : float
        Since the pass began.
    """

    stage: Stage
    rows: int
    done: int
    total: int
    kept: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the pass is over, if it goes on like this."""
        worked = self.done - self.kept
        return (self.total - self.done) * self.seconds / worked if worked > 0 else None


@dataclass(frozen=True, slots=True)
class Event:
    """A partition was counted or scored, or had been by an earlier run (`kept`)."""

    stage: Stage
    partition: int
    partitions: int
    name: str
    rows: int
    kept: bool


Log: TypeAlias = Callable[[Event], None]


@dataclass(slots=True)
class MiningRun:
    """One join of items with logs.

    Parameters
    ----------
    partitions : sequence of Partition
    counter : Counter
    own : OwnPairs
    rows : RowFilter
    items, places : int
    picks : callable
        From the number of rows to the positions that are wanted whatever their score, sorted.
    rule : WordRule
        What a word is.
    engine : Engine
    work : WorkFolder
    on_error : {"stop", "skip"}
    progress, log : callable, optional
    """

    partitions: Sequence[Partition]
    counter: Counter
    own: OwnPairs
    rows: RowFilter
    items: int
    places: int
    picks: Callable[[int], Ints]
    rule: WordRule
    engine: Engine
    work: WorkFolder
    on_error: OnError = "stop"
    progress: Callable[[Progress], None] | None = None
    log: Log | None = None

    def find(self) -> tuple[list[Counted], Joined]:
        """What both passes found: the first one in each partition, the second one in all."""
        with self.engine:
            counted = self._count()
            return counted, self._join(counted)

    def _count(self) -> list[Counted]:
        results: dict[int, Counted] = {}

        def kept(work: WorkFolder, index: int) -> Counted | None:
            found = kept_counted(work, index)
            wrong = found is not None and (found.problem or found.skipped)
            return None if wrong and self.on_error == "stop" else found

        jobs = [PartitionJob(index, one) for index, one in enumerate(self.partitions)]
        task = Counting(self.counter, self.rule, self.on_error)
        self._pass("counting", task, jobs, kept, keep_counted, results.__setitem__)
        return [results[index] for index in range(len(self.partitions))]

    def _join(self, counted: Sequence[Counted]) -> Joined:
        rows = sum(result.rows for result in counted)
        if rows == 0:
            self.work.end()
            raise InputError(f"the logs hold no rows: {self.partitions[0].name}")
        found = Joined.empty(self.items, self.places)
        floors = Floors(self.items)
        offsets = accumulate((result.rows for result in counted), initial=0)
        jobs = [
            PartitionJob(index, partition, offset, floors)
            for index, (partition, offset) in enumerate(zip(self.partitions, offsets, strict=False))
            if counted[index].problem is None
        ]

        def add(index: int, result: Joined) -> None:
            check_unchanged(self.partitions[index], counted[index], result)
            found.merge(result)
            floors.values = found.heaps.floors()

        sums = reduce(self.counter.add, (result.sums for result in counted), self.counter.empty())
        task = Joining(
            self.counter.scorer(sums),
            self.own,
            self.rows,
            self.items,
            self.places,
            self.picks(rows),
            self.rule,
            self.on_error,
        )
        self._pass("scoring", task, jobs, kept_joined, keep_joined, add)
        found.forget_displaced()
        return found

    def _pass(
        self,
        stage: Stage,
        task: Callable[[PartitionJob, Tell], R],
        jobs: Sequence[PartitionJob],
        kept: Callable[[WorkFolder, int], R | None],
        keep: Callable[[WorkFolder, int, R], None],
        add: Callable[[int, R], None],
    ) -> None:
        """Add the result of every job: what an earlier run kept, then what is kept of this one."""

        def log(job: PartitionJob, result: R, *, kept: bool) -> None:
            if self.log is not None:
                count = len(self.partitions)
                self.log(Event(stage, job.index, count, job.name, result.rows, kept))

        waiting = []
        for job in jobs:
            if (earlier := kept(self.work, job.index)) is None:
                waiting.append(job)
                continue
            add(job.index, earlier)
            log(job, earlier, kept=True)
        tell = meter(stage, self.partitions, waiting, self.progress)
        with closing(self.engine.run(task, waiting, tell)) as finished:
            for job, result in finished:
                keep(self.work, job.index, result)
                add(job.index, result)
                log(job, result, kept=False)


def meter(
    stage: Stage,
    partitions: Sequence[Partition],
    waiting: Sequence[PartitionJob],
    progress: Callable[[Progress], None] | None,
) -> Tell:
    """Adds up what threads tell; what waits for nobody was done before."""
    total = sum(partition.size for partition in partitions)
    kept = total - sum(job.partition.size for job in waiting)
    rows, done = 0, kept
    started = time.monotonic()
    lock = threading.Lock()

    def tell(more_rows: int, more_bytes: int) -> None:
        nonlocal rows, done
        with lock:
            rows += more_rows
            done += more_bytes
            if progress is not None:
                seconds = time.monotonic() - started
                progress(Progress(stage, rows, done, total, kept, seconds))

    return tell
