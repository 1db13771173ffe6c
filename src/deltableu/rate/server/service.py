"""A campaign that is being served: requests of raters in; tasks and acknowledgements out."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection, func, select

from deltableu.errors import InputError
from deltableu.rate.server import schema
from deltableu.rate.server.assignment import Assignment
from deltableu.rate.server.campaign import Campaign, PracticeTask
from deltableu.rate.server.database import (
    Database,
    RaterRow,
    digest,
    read_answers,
    read_blocks,
    read_raters,
    read_tasks,
    utc_now,
    utc_text,
)
from deltableu.rate.server.security import Session, Signer, Ticket
from deltableu.rate.server.tasks import TaskContent, content_bytes
from deltableu.rate.server.writer import NewAnswer, NewLease, NewPractice, NotWritten, Writer

#: Seconds between looks for what others changed in the database, and of a session.
_LOOK, _SESSION = 1.0, 60 * 86_400


class Refusal(Exception):  # noqa: N818
    """A request that is not done, and what the rater is told."""

    def __init__(self, status: int, error: str, sentence: str, retry: float = 0.0) -> None:
        self.status, self.error, self.sentence, self.retry = status, error, sentence, retry
        super().__init__(sentence)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """What the page sends."""

    key: str
    ticket: str
    values: Sequence[Sequence[float]]
    elapsed: float
    waited: float
    revises: int | None


class Service:
    """Everything that the pages need, kept in memory, and written through one writer.

    Only one process at a time serves a campaign: what it gave to whom is in its memory. All
    methods are called in one event loop.

    Parameters
    ----------
    campaign : Campaign
    database : Database
    seed : int or None
        For the order in which tasks are given.
    """

    def __init__(self, campaign: Campaign, database: Database, seed: int | None = None) -> None:
        self.campaign = campaign
        self.database = database
        facts = database.facts()
        self.id = facts["campaign"]
        self.signer = Signer(facts["secret"])
        self._secret = facts["secret"].encode()
        self._seed = seed
        self._raters: dict[int, RaterRow] = {}
        self._by_token: dict[str, int] = {}
        self._contents: dict[int, bytes] = {}
        self._facts = facts
        self._assignment = Assignment(campaign.lease_minutes * 60, campaign.per_rater, seed)
        self._load()
        self.writer = Writer(database)

    def _load(self) -> None:
        with self.database.reading() as connection:
            self._read_new(connection)
            for answer in read_answers(connection):
                revises = answer.supersedes is not None
                self._assignment.add_answer(
                    answer.rater, answer.task, answer.number, revises=revises
                )
            now = utc_now()
            table = schema.leases
            for block, rater, until in connection.execute(
                select(table.c.block, table.c.rater, table.c.until).where(table.c.until > now)
            ):
                end = datetime.fromisoformat(until).timestamp()
                self._assignment.add_lease(block, rater, end)
            done = schema.practice
            for rater, places in connection.execute(
                select(done.c.rater, func.count(func.distinct(done.c.place))).group_by(done.c.rater)
            ):
                self._assignment.rater(rater).practised = places

    def _read_new(self, connection: Connection) -> None:
        """Read raters, and blocks and tasks that were added; what raters answered is known."""
        rows = read_raters(connection)
        self._raters = {row.number: row for row in rows}
        self._by_token = {row.token: row.number for row in rows if row.token is not None}
        for block, wanted in read_blocks(connection).items():
            self._assignment.add_block(block, wanted)
        shows_reference = self.campaign.layout == "assessment"
        for task in read_tasks(connection, max(self._contents, default=0)):
            self._assignment.add_task(task.number, task.block, task.thing)
            content = task.content
            if not shows_reference:
                # The page must not know what it does not show.
                read = msgspec.json.decode(content, type=TaskContent)
                shown = TaskContent(read.context, read.message, None, read.responses)
                content = content_bytes(shown)
            self._contents[task.number] = content

    async def watch(self) -> None:
        """Look again and again whether somebody added raters, tasks, or changed the state."""
        while True:
            await asyncio.sleep(_LOOK)
            try:
                facts = await asyncio.to_thread(self.database.facts)
                if facts["changes"] != self._facts["changes"]:
                    self.refresh(facts)
            except (InputError, KeyError):
                # Whoever rates hears of it; when the database is back, all goes on.
                continue

    def refresh(self, facts: dict[str, str] | None = None) -> None:
        """Read what others changed in the database."""
        with self.database.reading() as connection:
            self._read_new(connection)
        self._facts = facts or self.database.facts()

    def close(self) -> None:
        """Write what is waiting."""
        self.writer.close()

    # Who is there

    def enter(self, token: str) -> Session | None:
        """The session of somebody who has a link."""
        number = self._by_token.get(digest(token))
        if number is None or not self._raters[number].may_rate(utc_now()):
            return None
        return Session(number, digest(token)[:16], int(time.time()) + _SESSION)

    def enter_admin(self, secret: str) -> Session | None:
        """The session of the organiser."""
        given = digest(secret)
        if not hmac.compare_digest(given, self._facts["admin"]):
            return None
        return Session(0, given[:16], int(time.time()) + 86_400)

    def session(self, cookie: str | None) -> Session | None:
        """The session of a cookie, if it still holds."""
        found = Session.read(self.signer, cookie, time.time())
        if found is None:
            return None
        if found.rater == 0:
            return found if self._facts["admin"].startswith(found.token) else None
        row = self._raters.get(found.rater)
        if row is None or row.token is None or not row.token.startswith(found.token):
            return None
        return found if row.may_rate(utc_now()) else None

    def opaque_name(self, rater: int) -> str:
        """What a page may call a rater, which says nothing of who that is."""
        return self.signer.sign("name", str(rater)).rpartition(".")[2][:12]

    # What raters get

    def tasks(self, rater: int, count: int) -> bytes:
        """The answer to a request for tasks."""
        state = self._assignment.rater(rater)
        given: list[bytes] = []
        if self._facts["state"] != "open":
            said = "paused"
        elif state.practised < len(self.campaign.practice):
            said = "practice"
            given = [self._practice(rater, state.practised)]
        else:
            now = time.time()
            before = dict(self._assignment.leases_of(rater))
            numbers = self._assignment.next_tasks(rater, count, now)
            for block, until in self._assignment.leases_of(rater):
                if before.get(block) != until:
                    lease = NewLease(block, rater, utc_text(datetime.fromtimestamp(until, UTC)))
                    self.writer.note(lease)
            given = [self._task(rater, number) for number in numbers]
            if numbers:
                said = "rating"
            else:
                said = "waiting" if self._assignment.may_come(rater) else "done"
        done, total = len(state.answered), self._assignment.total(rater)
        head = f'{{"state":"{said}","done":{done},"total":{total},"tasks":['
        return head.encode() + b",".join(given) + b"]}"

    def last(self, rater: int) -> bytes:
        """The answer to a request for the last answer, to change it."""
        last = self._assignment.rater(rater).last
        if last is None:
            return b'{"task":null,"answer":null,"values":null}'
        task, number = last
        with self.database.reading() as connection:
            table = schema.answers
            chosen = select(table.c["values"]).where(table.c.number == number)
            values = connection.execute(chosen).scalar() or "null"
        shown = self._task(rater, task)
        return b'{"task":%b,"answer":%d,"values":%b}' % (shown, number, values.encode())

    def _flipped(self, rater: int, task: int) -> bool:
        """Whether a rater sees the second response of a pair first: always the same for a task."""
        if self.campaign.responses < 2:
            return False
        return bool(hmac.digest(self._secret, f"order {rater} {task}".encode(), "sha256")[0] & 1)

    def _task(self, rater: int, number: int) -> bytes:
        flipped = self._flipped(rater, number)
        ticket = Ticket(rater, number, flipped, int(time.time() * 1000)).signed(self.signer)
        content = self._contents[number]
        if flipped:
            read = msgspec.json.decode(content, type=TaskContent)
            content = content_bytes(
                TaskContent(read.context, read.message, read.reference, read.responses[::-1])
            )
        return _page_task(ticket, number, "task", content)

    def _practice(self, rater: int, place: int) -> bytes:
        one = self.campaign.practice[place]
        issued = int(time.time() * 1000)
        ticket = Ticket(rater, place, False, issued, practice=True).signed(self.signer)
        content = TaskContent(one.context, one.message, one.reference, one.responses)
        return _page_task(ticket, place, "practice", content_bytes(content))

    # What raters say

    async def answer(self, rater: int, given: GivenAnswer) -> bytes:
        """Keep an answer; when this returns, it is on the disk."""
        ticket = Ticket.read(self.signer, given.ticket)
        if ticket is None or ticket.rater != rater:
            raise Refusal(403, "ticket", "This task was not given to you.")
        self._check_values(given.values)
        if self._facts["state"] != "open":
            raise Refusal(503, "paused", "The organiser has paused this for now.", retry=30)
        now = time.time()
        finished = min(now, max(now - given.waited / 1000, ticket.issued / 1000))
        started = max(finished - given.elapsed / 1000, ticket.issued / 1000)
        times = [utc_text(datetime.fromtimestamp(one, UTC)) for one in (started, finished, now)]
        values = msgspec.json.encode(given.values).decode()
        state = self._assignment.rater(rater)
        feedback = None
        try:
            if ticket.practice:
                if ticket.task >= len(self.campaign.practice):
                    raise Refusal(409, "answered", "The practice round has changed: go on.")
                record = NewPractice(given.key, rater, ticket.task, values, times[2])
                written = await self.writer.add(record)
                feedback = _feedback(self.campaign.practice[ticket.task], given.values)
                if written.outcome == "new" and ticket.task == state.practised:
                    state.practised += 1
            else:
                answer = NewAnswer(
                    given.key, rater, ticket.task, given.revises, ticket.flipped, values, *times
                )
                written = await self.writer.add(answer)
                if written.outcome == "new":
                    revises = given.revises is not None
                    self._assignment.add_answer(rater, ticket.task, written.number, revises=revises)
        except NotWritten as error:
            sentence = f"Your answer could not be saved ({error}). It will be sent again."
            raise Refusal(503, "not-saved", sentence, retry=5) from None
        if written.outcome == "conflict":
            raise Refusal(409, "answered", "You have answered this before.")
        done, total = len(state.answered), self._assignment.total(rater)
        return msgspec.json.encode(
            {"answer": written.number, "done": done, "total": total, "feedback": feedback}
        )

    def _check_values(self, values: Sequence[Sequence[float]]) -> None:
        rows, columns = self.campaign.answer_rows, len(self.campaign.criteria)
        if len(values) != rows or any(len(row) != columns for row in values):
            raise Refusal(422, "values", "Something is still without an answer.")
        if not all(self.campaign.accepts(value) for row in values for value in row):
            raise Refusal(422, "values", "An answer is not on the scale.")


def _page_task(ticket: str, number: int, kind: str, content: bytes) -> bytes:
    head = f'{{"ticket":"{ticket}","task":{number},"kind":"{kind}",'
    return head.encode() + content[1:]


def _feedback(task: PracticeTask, values: Sequence[Sequence[float]]) -> dict[str, object]:
    """What somebody hears of a practice answer; the first question counts."""
    right = all(low <= row[0] <= high for row, (low, high) in zip(values, task.accept, strict=True))
    return {"right": right, "text": task.right if right else task.wrong}
