"""Answers in; on the disk, many in one commit, before anybody is told that they are."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, RowMapping, Table, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError

from deltableu.rate.server import schema
from deltableu.rate.server.connections import public_reason, reason
from deltableu.rate.server.database import Database

#: Most records of one commit, and seconds that a lease waits for an answer to share one with.
_MOST, _LEASE_WAIT = 500, 0.05
#: Columns that are the same where something was sent again.
_SAME = {"answers": ("rater", "task", "supersedes"), "practice": ("rater", "place")}
_log = logging.getLogger("deltableu.rate")


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

    `outcome` is "new"; "known" where the same key was there before; "conflict" where the rater
    answered this before, or what is to be superseded was superseded before; or "refused" where the
    database knows no such task. Where there is an answer, `number` and `values` are what is kept.
    """

    outcome: Literal["new", "known", "conflict", "refused"]
    number: int = 0
    values: str = ""


Answer: TypeAlias = NewAnswer | NewPractice
Record: TypeAlias = Answer | NewLease


class NotWritten(Exception):  # noqa: N818
    """Nothing was kept; the message says why, to anybody."""


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
        self._thread.start()

    async def add(self, record: Answer) -> Written:
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
            batch, ended = self._gather()
            if batch:
                self._settle(batch)
        self._disconnect()

    def _gather(self) -> tuple[list[_Waiting], bool]:
        """What is waiting, and whether that was all."""
        batch: list[_Waiting] = []
        one = self._queue.get()
        end = time.monotonic() + _LEASE_WAIT
        somebody_waits = False
        while one is not None:
            batch.append(one)
            somebody_waits = somebody_waits or one.future is not None
            left = 0.0 if somebody_waits else end - time.monotonic()
            if len(batch) >= _MOST:
                return batch, False
            try:
                one = self._queue.get(timeout=left) if left > 0 else self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _settle(self, batch: Sequence[_Waiting]) -> None:
        results: Sequence[Written] | NotWritten
        try:
            results = self._commit([one.record for one in batch])
        except Exception as error:  # raters must hear of it, whatever it was
            self._disconnect()
            known = isinstance(error, SQLAlchemyError)
            _log.error("answers could not be saved: %s", reason(error), exc_info=not known)
            results = NotWritten(public_reason(error))
        waiting = [one.future for one in batch]
        for loop in {future.get_loop() for future in waiting if future is not None}:
            try:
                loop.call_soon_threadsafe(_deliverer(waiting, results))
            except RuntimeError:  # the loop was closed, and nobody waits any more
                continue

    def _commit(self, records: Sequence[Record]) -> list[Written]:
        """Write records in one transaction; a connection that was lost meanwhile is made anew.

        Records of which one is refused are written one by one: the others are none the worse.
        """
        was_connected = self._connection is not None
        try:
            return self._commit_once(records)
        except (IntegrityError, DataError):
            if len(records) > 1:
                return [self._commit([record])[0] for record in records]
            _log.exception("an answer was refused by the database")
            return [Written("refused")]
        except DBAPIError as error:
            if not (was_connected and error.connection_invalidated):
                raise
            # Keys show what of it was kept already.
            self._disconnect()
            return self._commit_once(records)

    def _commit_once(self, records: Sequence[Record]) -> list[Written]:
        if self._connection is None:
            connection = self._database.engine.connect()
            self._connection = connection.execution_options(deltableu_writes=True)
        connection = self._connection
        results = [Written("new")] * len(records)
        leases = {(one.block, one.rater): one for one in records if isinstance(one, NewLease)}
        with connection.begin():
            if leases:
                connection.execute(
                    self._statements["leases"], [_columns(one) for one in leases.values()]
                )
            for table, kind in ((schema.answers, NewAnswer), (schema.practice, NewPractice)):
                places = [place for place, one in enumerate(records) if isinstance(one, kind)]
                chosen: list[Any] = [records[place] for place in places]
                for place, written in zip(
                    places, self._insert(connection, table, chosen), strict=True
                ):
                    results[place] = written
        return results

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.invalidate()
                connection.close()
            except SQLAlchemyError:
                pass

    def _insert(
        self, connection: Connection, table: Table, records: Sequence[Answer]
    ) -> list[Written]:
        """Insert answers of one kind, and find those that were there before by their keys."""
        if not records:
            return []
        results = [Written("conflict")] * len(records)
        allowed = _allowed(connection, records)
        numbers: dict[str, int] = {}
        if allowed:
            rows = [_columns(records[place]) for place in allowed]
            for number, key in connection.execute(self._statements[table.name], rows):
                numbers[key] = number
        left = set(range(len(records)))
        for place in allowed:
            # Of two with one key, the first was inserted.
            number = numbers.pop(records[place].key, None)
            if number is not None:
                results[place] = Written("new", number, records[place].values)
                left.remove(place)
        if left:
            keys = [records[place].key for place in left]
            chosen = select(table).where(table.c.key.in_(keys))
            there = {row["key"]: row for row in connection.execute(chosen).mappings()}
            for place in left:
                results[place] = _known(connection, table, records[place], there)
        return results


def _columns(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _allowed(connection: Connection, records: Sequence[Answer]) -> list[int]:
    """Places of answers that supersede nothing, or an answer of the same rater to the same task."""
    wanted = {one.supersedes for one in records if isinstance(one, NewAnswer)} - {None}
    owners: dict[int | None, tuple[int, int]] = {}
    if wanted:
        table = schema.answers
        chosen = select(table.c.number, table.c.rater, table.c.task)
        for number, *owner in connection.execute(chosen.where(table.c.number.in_(wanted))):
            owners[number] = (owner[0], owner[1])
    return [
        place
        for place, one in enumerate(records)
        if isinstance(one, NewPractice)
        or one.supersedes is None
        or owners.get(one.supersedes) == (one.rater, one.task)
    ]


def _known(
    connection: Connection, table: Table, record: Answer, there: Mapping[str, RowMapping]
) -> Written:
    """What became of an answer that was not inserted."""
    row = there.get(record.key)
    if row is not None:
        same = all(row[name] == getattr(record, name) for name in _SAME[table.name])
        return Written("known", row["number"], row["values"]) if same else Written("conflict")
    if isinstance(record, NewPractice):
        return Written("conflict")
    chosen = select(table.c.number, table.c["values"]).where(
        table.c.rater == record.rater, table.c.task == record.task
    )
    last = connection.execute(chosen.order_by(table.c.number.desc()).limit(1)).first()
    return Written("conflict") if last is None else Written("conflict", last[0], last[1])


def _statements(database: Database) -> Mapping[str, Any]:
    """By names of tables."""
    insert: Any = sqlite.insert if database.is_sqlite else postgresql.insert
    made = {
        table.name: insert(table).on_conflict_do_nothing().returning(table.c.number, table.c.key)
        for table in (schema.answers, schema.practice)
    }
    lease = insert(schema.leases)
    made["leases"] = lease.on_conflict_do_update(
        index_elements=["block", "rater"], set_={"until": lease.excluded.until}
    )
    return made


def _deliverer(
    waiting: Sequence[asyncio.Future[Written] | None], results: Sequence[Written] | NotWritten
) -> Callable[[], None]:
    def deliver() -> None:
        for place, future in enumerate(waiting):
            # Who went away meanwhile asks again with the same key.
            if future is None or future.done():
                continue
            if isinstance(results, NotWritten):
                future.set_exception(results)
            else:
                future.set_result(results[place])

    return deliver
