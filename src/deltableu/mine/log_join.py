"""Items and logs in, what the join of both found out: what all who look into logs share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError, Problem
from deltableu.io import PathLike, WorkFolder, fail, fingerprint
from deltableu.logs import Logs, MemoryPartition, Partition, find_partitions
from deltableu.mine.admission import OwnPairs, RowFilter
from deltableu.mine.engines import Engine, make_engine
from deltableu.mine.join import Counted, Joined, OnError
from deltableu.mine.run import Log, MiningRun, Progress
from deltableu.mine.similarity import Counter, PairSimilarity
from deltableu.text import WordRule


@dataclass(frozen=True, slots=True)
class LogRun:
    """Where and how logs are worked on; no result depends on it.

    Parameters
    ----------
    engine : {"threads", "dask", "dask://HOST:PORT", "tls://HOST:PORT"} or Engine
        Where partitions are worked on.
    threads : int, optional
        How many at once; all cores by default.
    work : path, optional
        A folder for checkpoints: after being killed, the same call goes on where it was. They are
        removed at the end.
    on_error : {"stop", "skip"}
        Whether a row or partition that cannot be read ends the run, or is counted and left out.
    partition_bytes : int, optional
        About so much of a file is one partition.
    progress, log : callable, optional
        Called as rows are read, and as partitions are finished.
    """

    engine: str | Engine = "threads"
    threads: int | None = None
    work: PathLike | None = None
    on_error: OnError = "stop"
    partition_bytes: int | None = None
    progress: Callable[[Progress], None] | None = None
    log: Log | None = None

    def find(self, logs: Logs, closed: list[Problem]) -> tuple[Partition, ...]:
        """The partitions of logs; `closed` gets what is wrong with files that are skipped."""
        report = fail if self.on_error == "stop" else closed.append
        return find_partitions(logs, partition_bytes=self.partition_bytes, report=report)

    def make_engine(self, *, own_threads: bool = False) -> Engine:
        """The engine; `own_threads` where one partition keeps all cores busy."""
        threads = self.threads
        if threads is None and self.engine == "threads" and own_threads:
            threads = 1
        return (
            self.engine if not isinstance(self.engine, str) else make_engine(self.engine, threads)
        )


@dataclass(frozen=True, slots=True)
class JoinedLogs:
    """What both passes found, and the folder that keeps it."""

    counted: Sequence[Counted]
    found: Joined
    closed: Sequence[Problem]
    work: WorkFolder

    @property
    def skipped(self) -> int:
        """Rows that could not be read."""
        return sum(one.skipped for one in self.counted)

    @property
    def unreadable(self) -> tuple[Problem, ...]:
        """Partitions that could not be read."""
        return (*self.closed, *(one.problem for one in self.counted if one.problem is not None))


def no_picks(rows: int) -> Ints:
    """No row is wanted whatever its score."""
    return np.empty(0, np.int64)


@contextmanager
def join_logs(
    logs: Logs,
    similarity: PairSimilarity,
    counter: Counter,
    own: OwnPairs,
    rows: RowFilter,
    items: int,
    places: int,
    rule: WordRule,
    about: Iterable[str],
    run: LogRun,
    picks: Callable[[int], Ints] = no_picks,
) -> Iterator[JoinedLogs]:
    """Join items with logs; what was kept stays until the block has ended, and longer if it fails.

    Parameters
    ----------
    logs
        As `deltableu.logs.find_partitions` takes them.
    similarity, counter
        How alike items and rows are, and what counts for it.
    own, rows
        Which rows items must not get, and which nobody wants.
    items, places : int
        How many items there are, and rows of each that are kept.
    rule
        What a word is.
    about
        All that results depend on, but the logs.
    run
        Where and how it is done.
    picks
        As `MiningRun` takes it.
    """
    closed: list[Problem] = []
    find = partial(run.find, logs, closed)
    partitions = find()
    whole = MiningRun(
        partitions,
        counter,
        own,
        rows,
        items,
        places,
        picks,
        rule,
        run.make_engine(own_threads=similarity.own_threads),
        WorkFolder(
            run.work,
            fingerprint((*about, *(partition.fingerprint for partition in partitions))),
        ),
        run.on_error,
        run.progress,
        run.log,
    )
    with whole.work.worth_keeping():
        counted, found = whole.find()
        if not any(isinstance(partition, MemoryPartition) for partition in partitions):
            closed.clear()
            check_at_rest(partitions, find())
        yield JoinedLogs(counted, found, closed, whole.work)


def check_at_rest(before: Sequence[Partition], after: Sequence[Partition]) -> None:
    """Counts of one state of a log and scores of another belong to none."""
    for one, other in zip_longest(before, after):
        if one is None or other is None or one.fingerprint != other.fingerprint:
            name = (one or other).name
            raise InputError(
                f"{name}: has changed while it was mined, so that nothing was written; run it "
                "again when the logs are at rest"
            )
