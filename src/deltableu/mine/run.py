"""Both passes over all partitions, on an engine, with checkpoints: the join itself."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError, Problem
from deltableu.io import WorkFolder
from deltableu.logs import Partition
from deltableu.mine.admission import OwnPairs, RowFilter
from deltableu.mine.checkpoints import keep_counted, keep_joined, kept_counted, kept_joined
from deltableu.mine.engines import Engine
from deltableu.mine.heaps import Heaps
from deltableu.mine.join import (
    Counted,
    Counting,
    Floors,
    Joined,
    Joining,
    OnError,
    Tell,
    check_unchanged,
)
from deltableu.mine.rows import LoggedPair
from deltableu.mine.similarity import Counter
from deltableu.text import WordRule

__all__ = ["Event", "Found", "Log", "MiningRun", "Progress"]

Stage: TypeAlias = Literal["counting", "scoring"]


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
        """Rows a second."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What all partitions brought.

    Attributes
    ----------
    heaps : Heaps
    pairs : mapping of position to LoggedPair
        Every row that a heap holds.
    picked : mapping of position to LoggedPair
    rows, skipped : int
        Rows of the logs, and rows that could not be read.
    broken : tuple of Problem
        Partitions that could not be used.
    leaks : array
        How many rows are each item's own logged pair.
    dropped : mapping of reason to number
    """

    heaps: Heaps
    pairs: Mapping[int, LoggedPair]
    picked: Mapping[int, LoggedPair]
    rows: int
    skipped: int
    broken: tuple[Problem, ...]
    leaks: Ints
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Job:
    """`floors` lives as long as its process: threads see it change, workers what it was."""

    index: int
    partition: Partition
    offset: int = 0
    floors: Floors | None = None

    @property
    def name(self) -> str:
        return self.partition.name


@dataclass(frozen=True, slots=True)
class _Count:
    counting: Counting

    def __call__(self, job: _Job, tell: Tell) -> Counted:
        return self.counting(job.partition, tell)


@dataclass(frozen=True, slots=True, eq=False)
class _Join:
    joining: Joining

    def __call__(self, job: _Job, tell: Tell) -> Joined:
        joining = self.joining
        if job.floors is not None:
            joining = replace(joining, floors=job.floors)
        return joining(job.partition, job.offset, tell)


class _Meter:
    """Adds up what threads tell."""

    def __init__(
        self, stage: Stage, total: int, kept: int, progress: Callable[[Progress], None] | None
    ) -> None:
        self._stage: Stage = stage
        self._total, self._kept, self._done = total, kept, kept
        self._rows = 0
        self._progress = progress
        self._started = time.monotonic()
        self._lock = threading.Lock()

    def tell(self, rows: int, size: int) -> None:
        with self._lock:
            self._rows += rows
            self._done += size
            if self._progress is not None:
                seconds = time.monotonic() - self._started
                self._progress(
                    Progress(self._stage, self._rows, self._done, self._total, self._kept, seconds)
                )


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
    _floors: Floors = field(init=False)

    def __post_init__(self) -> None:
        self._floors = Floors(self.items)

    def find(self) -> Found:
        """Both passes."""
        self.work.begin()
        with self.engine:
            return self._find()

    def _find(self) -> Found:
        counted = self._count()
        sums = self.counter.empty()
        for result in counted:
            sums += result.sums
        rows = sum(result.rows for result in counted)
        if rows == 0:
            self.work.end()
            raise InputError(f"the logs hold no rows: {self.partitions[0].name}")
        joining = Joining(
            self.counter.scorer(sums),
            self.own,
            self.rows,
            self.items,
            self.places,
            self.picks(rows),
            self._floors,
            self.rule,
            self.on_error,
        )
        heaps, pairs, picked, leaks, dropped = self._join(counted, joining)
        return Found(
            heaps,
            pairs,
            picked,
            rows,
            sum(result.skipped for result in counted),
            tuple(result.problem for result in counted if result.problem is not None),
            leaks,
            dropped,
        )

    def _count(self) -> list[Counted]:
        results: dict[int, Counted] = {}
        for index, partition in enumerate(self.partitions):
            kept = kept_counted(self.work, index)
            if kept is None or (self.on_error == "stop" and (kept.problem or kept.skipped)):
                continue
            results[index] = kept
            self._tell("counting", index, partition, kept.rows, kept=True)
        jobs = [
            _Job(index, partition)
            for index, partition in enumerate(self.partitions)
            if index not in results
        ]
        meter = self._meter("counting", results)
        task = _Count(Counting(self.counter, self.rule, self.on_error))
        with closing(self.engine.run(task, jobs, meter.tell)) as finished:
            for job, result in finished:
                keep_counted(self.work, job.index, result)
                results[job.index] = result
                self._tell("counting", job.index, job.partition, result.rows)
        return [results[index] for index in range(len(self.partitions))]

    def _join(
        self, counted: Sequence[Counted], joining: Joining
    ) -> tuple[Heaps, dict[int, LoggedPair], dict[int, LoggedPair], Ints, dict[str, int]]:
        heaps = Heaps.empty(self.items, self.places)
        pairs: dict[int, LoggedPair] = {}
        picked: dict[int, LoggedPair] = {}
        leaks = np.zeros(self.items, np.int64)
        dropped: Tally[str] = Tally()

        def add(index: int, result: Joined) -> None:
            nonlocal pairs
            check_unchanged(self.partitions[index], counted[index], result)
            heaps.merge(result.heaps)
            self._floors.values = heaps.floors()
            pairs.update(result.pairs)
            if len(pairs) > 4 * heaps.scores.size:
                held = set(heaps.held().tolist())
                pairs = {position: pair for position, pair in pairs.items() if position in held}
            picked.update(result.picked)
            np.add(leaks, result.leaks, out=leaks)
            dropped.update(result.dropped)

        done: dict[int, None] = {}
        jobs = []
        offset = 0
        for index, partition in enumerate(self.partitions):
            if counted[index].problem is not None:
                done[index] = None
            elif (kept := kept_joined(self.work, index)) is not None:
                add(index, kept)
                done[index] = None
                self._tell("scoring", index, partition, kept.rows, kept=True)
            else:
                jobs.append(_Job(index, partition, offset, self._floors))
            offset += counted[index].rows
        meter = self._meter("scoring", done)
        with closing(self.engine.run(_Join(joining), jobs, meter.tell)) as finished:
            for job, result in finished:
                keep_joined(self.work, job.index, result)
                add(job.index, result)
                self._tell("scoring", job.index, job.partition, result.rows)
        held = heaps.held().tolist()
        return heaps, {at: pairs[at] for at in held}, picked, leaks, dict(dropped)

    def _meter(self, stage: Stage, done: Mapping[int, object]) -> _Meter:
        total = sum(partition.size for partition in self.partitions)
        kept = sum(self.partitions[index].size for index in done)
        return _Meter(stage, total, kept, self.progress)

    def _tell(
        self, stage: Stage, index: int, partition: Partition, rows: int, *, kept: bool = False
    ) -> None:
        if self.log is not None:
            self.log(Event(stage, index, len(self.partitions), partition.name, rows, kept))
