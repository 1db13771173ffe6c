"""Answers in; on the disk, many in one commit, before anybody is told that they are."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from deltableu.rate.server import schema
from deltableu.rate.server.database import Database, reason

#: Most records of one commit.
_MOST = 500


@dataclass(frozen=True, slots=True)
class NewAnswer:
    """An answer that somebody gave."""

    key: str
    rater: int
    task: int
    supersedes: int | None
    flipped: bool
    values: str
    started: str
    finished: str
    received: str


@dataclass(frozen=True, slots=True)
class NewPractice:
    """An answer of the practice round."""

    key: str
    rater: int
    place: int
    values: str
    received: str


@dataclass(frozen=True, slots=True)
class NewLease:
    """A block that was given to a rater; nobody waits until that is on the disk."""

    block: int
    rater: int
    until: str


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a record.

    `outcome` is "new"; "known" where the same key was there before, with what was kept then; or
    "conflict" where the rater answered this before, or this answer was superseded before.
    """

    outcome: Literal["new", "known", "conflict"]
    number: int = 0


Record: TypeAlias = NewAnswer | NewPractice | NewLease


class NotWritten(Exception):  # noqa: N818
    """Nothing was kept; the message says why."""


@dataclass(slots=True)
class _Waiting:
    record: Record
    future: asyncio.Future[Written] | None


class Writer:
    """The one who writes: a thread that commits what is waiting, as much as there is, at once.

    A commit takes as long for one answer as for hundreds, so that the more raters there are, the
    more answers a commit has. `add` returns when the commit is done.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._statements = _statements(database)
        self._thread = threading.Thread(target=self._run, name="deltableu-writer", daemon=True)
        self.commits = 0
        self._thread.start()

    async def add(self, record: NewAnswer | NewPractice) -> Written:
        """Keep a record; raises NotWritten where that was not possible."""
        future: asyncio.Future[Written] = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(record, future))
        return await future

    def note(self, lease: NewLease) -> None:
        """Keep a lease soon."""
        self._queue.put(_Waiting(lease, None))

    def close(self) -> None:
        """Write what is waiting, then end."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        ended = False
        while not ended:
            batch: list[_Waiting] = []
            one = self._queue.get()
            while True:
                if one is None:
                    ended = True
                    break
                batch.append(one)
                if len(batch) >= _MOST:
                    break
                try:
                    one = self._queue.get_nowait()
                except queue.Empty:
                    break
            if batch:
                self._settle(batch)
        self._disconnect()

    def _settle(self, batch: Sequence[_Waiting]) -> None:
        error: NotWritten | None = None
        results: list[Written] = []
        try:
            results = self._commit([one.record for one in batch])
        except SQLAlchemyError as caught:
            error = NotWritten(reason(caught))
            self._disconnect()
        except Exception as caught:  # a rater must hear of it, whatever it was
            error = NotWritten(f"{type(caught).__name__}")
            self._disconnect()
        waiting = [one.future for one in batch]
        loops = {future.get_loop() for future in waiting if future is not None}
        for loop in loops:
            deliver = _deliverer(waiting, results, error)
            if not loop.is_closed():
                loop.call_soon_threadsafe(deliver)

    def _commit(self, records: Sequence[Record]) -> list[Written]:
        if self._connection is None:
            connection = self._database.engine.connect()
            self._connection = connection.execution_options(deltableu_writes=True)
        with self._connection.begin():
            results = [self._write(self._connection, record) for record in records]
        self.commits += 1
        return results

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except SQLAlchemyError:
                pass

    def _write(self, connection: Connection, record: Record) -> Written:
        if isinstance(record, NewLease):
            values = {"block": record.block, "rater": record.rater, "until": record.until}
            connection.execute(self._statements.lease, values)
            return Written("new")
        if isinstance(record, NewPractice):
            statement, table = self._statements.practice, schema.practice
        else:
            statement, table = self._statements.answer, schema.answers
            if record.supersedes is not None and not _may_supersede(connection, record):
                return Written("conflict")
        names = type(record).__dataclass_fields__
        values = {name: getattr(record, name) for name in names}
        number = connection.execute(statement, values).scalar()
        if number is not None:
            return Written("new", number)
        found = (
            connection.execute(select(table).where(table.c.key == record.key)).mappings().first()
        )
        same = ("rater", "task", "supersedes") if table is schema.answers else ("rater", "place")
        if found is not None and all(found[name] == values[name] for name in same):
            return Written("known", found["number"])
        return Written("conflict")


def _may_supersede(connection: Connection, record: NewAnswer) -> bool:
    table = schema.answers
    chosen = select(table.c.rater, table.c.task).where(table.c.number == record.supersedes)
    found = connection.execute(chosen).first()
    return found is not None and tuple(found) == (record.rater, record.task)


@dataclass(frozen=True, slots=True)
class _Statements:
    answer: Any
    practice: Any
    lease: Any


def _statements(database: Database) -> _Statements:
    insert: Any = sqlite.insert if database.is_sqlite else postgresql.insert
    lease = insert(schema.leases)
    return _Statements(
        insert(schema.answers).on_conflict_do_nothing().returning(schema.answers.c.number),
        insert(schema.practice).on_conflict_do_nothing().returning(schema.practice.c.number),
        lease.on_conflict_do_update(
            index_elements=["block", "rater"], set_={"until": lease.excluded.until}
        ),
    )


def _deliverer(
    waiting: Sequence[asyncio.Future[Written] | None],
    results: Sequence[Written],
    error: NotWritten | None,
) -> Callable[[], None]:
    def deliver() -> None:
        for place, future in enumerate(waiting):
            # Who went away meanwhile asks again with the same key.
            if future is None or future.done():
                continue
            if error is not None:
                future.set_exception(error)
            else:
                future.set_result(results[place])

    return deliver
