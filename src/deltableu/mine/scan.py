"""Logs in, what a visitor makes of all their rows out: for those who look for no similarity."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile
from deltableu.logs import Logs
from deltableu.mine.admission import RowFilter
from deltableu.mine.join import OnError, PartitionJob, Problems, Tell
from deltableu.mine.log_join import LogRun
from deltableu.mine.rows import LogRows
from deltableu.mine.run import Stage, meter
from deltableu.text import WordRule

T = TypeVar("T")


class Visitor(Protocol[T]):
    """What is made of rows, in whatever parts and order they come; it is sent to where they are."""

    def empty(self) -> T:
        """A result that nothing was added to yet."""

    def visit(self, found: T, rows: LogRows, places: Ints) -> T:
        """Add the rows of a block that are fit to be responses."""

    def merge(self, found: T, other: T) -> T:
        """Add what came of other rows."""


@dataclass(frozen=True, slots=True)
class Scanned(Generic[T]):
    """What a visitor found in a part of the logs, or in all of them.

    Attributes
    ----------
    found : object
    rows : int
        Rows that were read.
    left_out : mapping of reason to number
        Rows that were not fit to be responses.
    content : int
        A number that tells logs apart: made of their rows, in whatever order.
    skipped : int
        Rows that could not be read.
    unreadable : tuple of Problem
        Partitions that could not be read.
    """

    found: T
    rows: int
    left_out: Mapping[str, int]
    content: int
    skipped: int
    unreadable: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Scanning(Generic[T]):
    visitor: Visitor[T]
    filter: RowFilter
    rule: WordRule
    on_error: OnError

    def __call__(self, job: PartitionJob, tell: Tell) -> Scanned[T]:
        partition = job.partition
        found, left_out = self.visitor.empty(), Tally[str]()
        count, content, read = 0, 0, 0
        problems = Problems(self.on_error)
        try:
            for block in partition.blocks(problems.report):
                rows = LogRows(block, self.rule)
                admission = self.filter.admit(rows)
                left_out.update(admission.dropped)
                found = self.visitor.visit(found, rows, np.flatnonzero(admission.rows))
                count += len(rows)
                content += content_number(rows)
                tell(len(rows), block.read - read)
                read = block.read
        except BrokenFile as error:
            if self.on_error == "stop":
                raise
            tell(0, partition.size - read)
            return Scanned(self.visitor.empty(), 0, {}, 0, 0, (error.problem,))
        tell(0, partition.size - read)
        return Scanned(found, count, left_out, content, problems.count, ())


def content_number(rows: LogRows) -> int:
    """The sum of the rows' numbers, which is the same in any order."""
    return int(rows.numbers.sum(dtype=np.uint64))


def content_name(content: int, rows: int) -> str:
    """How signatures call logs: by their rows, wherever they lie and in whatever order.

    Examples
    --------
    >>> content_name(255, 3)
    '3-00000000000000ff'
    """
    return f"{rows}-{content % (1 << 64):016x}"


def scan_logs(
    logs: Logs,
    visitor: Visitor[T],
    filter: RowFilter,
    rule: WordRule,
    run: LogRun,
    stage: Stage = "reading",
) -> Scanned[T]:
    """Show all rows of logs to a visitor.

    Parameters
    ----------
    logs
        As `deltableu.logs.find_partitions` takes them.
    visitor
        What is made of the rows.
    filter, rule
        Which rows are fit to be responses, and what a word is.
    run
        Where and how it is done; nothing is kept in `work`.
    stage
        As progress names it.
    """
    closed: list[Problem] = []
    partitions = run.find(logs, closed)
    jobs = [PartitionJob(index, one) for index, one in enumerate(partitions)]
    task = _Scanning(visitor, filter, rule, run.on_error)
    tell = meter(stage, partitions, jobs, run.progress)
    found, left_out, unreadable = visitor.empty(), Tally[str](), list[Problem]()
    rows, content, skipped = 0, 0, 0
    with run.make_engine() as engine, closing(engine.run(task, jobs, tell)) as finished:
        for _, part in finished:
            found = visitor.merge(found, part.found)
            left_out.update(part.left_out)
            unreadable += part.unreadable
            rows += part.rows
            content += part.content
            skipped += part.skipped
    if rows == 0:
        raise InputError(f"the logs hold no rows: {partitions[0].name}")
    unreadable.sort(key=str)
    return Scanned(found, rows, left_out, content, skipped, (*closed, *unreadable))
