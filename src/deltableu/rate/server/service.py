"""A campaign that is being served: requests of raters in; tasks and acknowledgements out."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, TypeAlias
from urllib.parse import quote

import msgspec
from sqlalchemy import Connection, func, select

from deltableu.errors import InputError
from deltableu.rate.rater_checks import check_raters
from deltableu.rate.server import schema
from deltableu.rate.server.assignment import Assignment
from deltableu.rate.server.campaign import Campaign, PracticeTask
from deltableu.rate.server.database import (
    Database,
    RaterRow,
    TaskRow,
    digest,
    read_answers,
    read_blocks,
    read_facts,
    read_raters,
    read_tasks,
    utc_now,
    utc_text,
)
from deltableu.rate.server.guard import Refusal
from deltableu.rate.server.results import campaign_ratings, check_plan
from deltableu.rate.server.security import Session, Signer, Ticket
from deltableu.rate.server.tasks import TaskContent, content_bytes, task_content, task_targets
from deltableu.rate.server.writer import NewAnswer, NewLease, NewPractice, NotWritten, Writer

#: Seconds between looks for what others changed in the database, and of a session.
_LOOK, _SESSION = 1.0, 60 * 86_400
_log = logging.getLogger("deltableu.rate")


_Row: TypeAlias = Annotated[
    list[Annotated[float, msgspec.Meta(ge=0, le=100)]], msgspec.Meta(min_length=1, max_length=12)
]
_Milliseconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e10)]


class GivenAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the page sends; times are in milliseconds."""

    key: Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9-]{16,64}$")]
    ticket: Annotated[str, msgspec.Meta(min_length=10, max_length=200)]
    values: Annotated[list[_Row], msgspec.Meta(min_length=1, max_length=2)]
    elapsed: _Milliseconds = 0.0
    waited: _Milliseconds = 0.0
    revises: Annotated[int, msgspec.Meta(ge=1, le=2**53)] | None = None


@dataclass(frozen=True, slots=True)
class _LastAnswer:
    task: int
    number: int
    values: str


@dataclass(frozen=True, slots=True)
class _News:
    """What may change while a campaign is served."""

    facts: dict[str, str]
    raters: list[RaterRow]
    blocks: dict[int, int]
    tasks: list[TaskRow]


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
    order : mapping
        Places of items and targets in the order in which they are to be rated, one for each rating;
        what is not in it comes last. By default the order is random.
    """

    def __init__(
        self,
        campaign: Campaign,
        database: Database,
        seed: int | None = None,
        order: Mapping[tuple[str, str], Sequence[int]] | None = None,
    ) -> None:
        self.campaign = campaign
        self.database = database
        self._order = order or {}
        self._raters: dict[int, RaterRow] = {}
        self._by_token: dict[str, int] = {}
        self._contents: dict[int, bytes] = {}
        self._last: dict[int, _LastAnswer] = {}
        self._codes: dict[int, dict[str, str | int]] = {}
        self._facts: dict[str, str] = {}
        self._looking, self._joining = asyncio.Lock(), asyncio.Lock()
        self._assignment = Assignment(campaign.lease_minutes * 60, campaign.per_rater, seed)
        self._load()
        self.id = self._facts["campaign"]
        self._secret = self._facts["secret"].encode()
        self.signer = Signer(self._facts["secret"])
        self.writer = Writer(database)

    def _load(self) -> None:
        with self.database.reading() as connection:
            self._take(self._news(connection))
            for answer in read_answers(connection):
                self._note(answer.rater, answer.task, answer.number, answer.values)
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

    def _news(self, connection: Connection) -> _News:
        """Read raters and blocks, and tasks that were added; what raters answered is known."""
        tasks = read_tasks(connection, max(self._contents, default=0))
        return _News(
            read_facts(connection), read_raters(connection), read_blocks(connection), list(tasks)
        )

    def _take(self, news: _News) -> None:
        self._facts = news.facts
        self._raters = {row.number: row for row in news.raters}
        self._by_token = {row.token: row.number for row in news.raters if row.token is not None}
        self._assignment.exclude({row.number for row in news.raters if row.excluded is not None})
        for block, wanted in news.blocks.items():
            self._assignment.add_block(block, wanted)
        shows_reference = self.campaign.layout == "assessment"
        for task in news.tasks:
            # The same original may be a control of several sets: who did one may do the others.
            control = task.kind in ("bad-reference", "reference")
            thing = f"{task.thing}\n{task.number}" if control else task.thing
            self._assignment.add_task(task.number, task.block, thing)
            content = task.content
            if not shows_reference:
                # The page must not know what it does not show.
                content = content_bytes(replace(task_content(content), reference=None))
            self._contents[task.number] = content
            places = (self._order.get((task.item, one)) for one in task_targets(task.targets))
            found = [place for place in places if place is not None]
            if found:
                # What comes first in a block takes the others along.
                priorities = self._assignment.priorities
                known = [priorities[task.block]] if task.block in priorities else []
                priorities[task.block] = min([*known, *found], key=lambda places: places[0])

    def _note(self, rater: int, task: int, number: int, values: str) -> None:
        """An answer was kept; a revision is noted after what it revises."""
        last = self._last.get(rater)
        known = task in self._assignment.rater(rater).answered
        if not known or (last is not None and last.task == task and last.number < number):
            self._last[rater] = _LastAnswer(task, number, values)
        self._assignment.add_answer(rater, task)

    async def watch(self) -> None:
        """Look again and again whether somebody added raters, tasks, or changed the state."""
        while True:
            await asyncio.sleep(_LOOK)
            try:
                await self.refresh()
            except InputError:
                # Whoever rates hears of it; when the database is back, all goes on.
                continue
            except Exception:
                _log.exception("looking for changes of the campaign failed")

    async def refresh(self) -> None:
        """Read what others changed in the database."""
        # One after the other, as what is new depends on what is known; and in a thread, as whoever
        # rates does not wait for a database that does not answer.
        async with self._looking:
            if (news := await asyncio.to_thread(self._look)) is not None:
                self._take(news)

    def _look(self) -> _News | None:
        with self.database.reading() as connection:
            if read_facts(connection)["changes"] == self._facts["changes"]:
                return None
            return self._news(connection)

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

    async def join(self, secret: str, worker: str) -> Session | None:
        """The session of somebody whom a crowd platform sent; the first time a rater is made.

        A worker's id is no secret: whoever has the campaign's link and an id can go on for that
        worker, as on the platforms themselves.
        """
        expected = self._facts.get("join", "")
        if not expected or not hmac.compare_digest(digest(secret), expected):
            return None
        name = f"crowd-{worker}"
        async with self._joining:
            row = self._rater_named(name)
            if row is None:
                await asyncio.to_thread(self.database.add_raters, [name])
                await self.refresh()
                row = self._rater_named(name)
        if row is None or row.token is None or not row.may_rate(utc_now()):
            return None
        return Session(row.number, row.token[:16], int(time.time()) + _SESSION)

    def _rater_named(self, name: str) -> RaterRow | None:
        return next((row for row in self._raters.values() if row.name == name), None)

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
        code = b""
        if said == "done" and rater in self._codes:
            code = b',"completion":' + msgspec.json.encode(self._codes[rater])
        return head.encode() + b",".join(given) + b"]" + code + b"}"

    async def end(self, rater: int) -> None:
        """Find the code of a rater who is done, and exclude one who fails if that is asked for."""
        campaign, state = self.campaign, self._assignment.rater(rater)
        known = self._codes.get(rater)
        if not state.answered or not (campaign.completion_code or campaign.exclude_failed):
            return
        if known is not None and known["answers"] == len(state.answered):
            return
        failed = await asyncio.to_thread(_fails, campaign, self.database, rater)
        code = campaign.failed_code if failed and campaign.failed_code else campaign.completion_code
        address = campaign.completion_url.replace("{code}", quote(code, safe=""))
        self._codes[rater] = {"code": code, "url": address, "answers": len(state.answered)}
        if failed and campaign.exclude_failed:
            await asyncio.to_thread(self.database.exclude, self._raters[rater].name)
            await self.refresh()

    def last(self, rater: int) -> bytes:
        """The answer to a request for the last answer, to change it."""
        last = self._last.get(rater)
        if last is None:
            return b'{"task":null,"answer":null,"values":null}'
        shown = self._task(rater, last.task)
        return b'{"task":%b,"answer":%d,"values":%b}' % (shown, last.number, last.values.encode())

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
            read = task_content(content)
            content = content_bytes(replace(read, responses=read.responses[::-1]))
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
        if ticket is None or ticket.rater != rater or not self._is_there(ticket):
            raise Refusal(403, "ticket", "This task was not given to you.")
        self._check_values(given.values)
        if self._facts["state"] != "open":
            raise Refusal(503, "paused", "The organiser has paused this for now.", retry=30)
        try:
            written = await self.writer.add(_record(ticket, given))
        except NotWritten as error:
            sentence = f"Your answer could not be saved ({error}). It will be sent again."
            raise Refusal(503, "not-saved", sentence, retry=5) from None
        if written.outcome == "refused":
            raise Refusal(409, "refused", "This answer does not belong to this campaign.")
        state, feedback = self._assignment.rater(rater), None
        if written.number and not ticket.practice:
            # Also what was kept at a time when the database could not say so any more.
            self._note(rater, ticket.task, written.number, written.values)
        if written.outcome == "conflict":
            raise Refusal(409, "answered", "You have answered this before.")
        if ticket.practice:
            state.practised = max(state.practised, ticket.task + 1)
            feedback = _feedback(self.campaign.practice[ticket.task], given.values)
        done, total = len(state.answered), self._assignment.total(rater)
        return msgspec.json.encode(
            {"answer": written.number, "done": done, "total": total, "feedback": feedback}
        )

    def _is_there(self, ticket: Ticket) -> bool:
        """Whether a task is still part of the campaign, which may be an older one brought back."""
        if ticket.practice:
            return ticket.task < len(self.campaign.practice)
        return ticket.task in self._contents

    def _check_values(self, values: Sequence[Sequence[float]]) -> None:
        rows, columns = self.campaign.answer_rows, len(self.campaign.criteria)
        if len(values) != rows or any(len(row) != columns for row in values):
            raise Refusal(422, "values", "Something is still without an answer.")
        if not all(self.campaign.accepts(value) for row in values for value in row):
            raise Refusal(422, "values", "An answer is not on the scale.")


def _fails(campaign: Campaign, database: Database, rater: int) -> bool:
    """Whether a rater's answers to control items, or habits, show that they are not to be used."""
    own = campaign_ratings(campaign, database, excluded=True, rater=rater)
    found = check_raters(own, check_plan(campaign)).raters
    return any(one.passed is False for one in found)


def _page_task(ticket: str, number: int, kind: str, content: bytes) -> bytes:
    head = f'{{"ticket":"{ticket}","task":{number},"kind":"{kind}",'
    return head.encode() + content[1:]


def _record(ticket: Ticket, given: GivenAnswer) -> NewAnswer | NewPractice:
    """What is kept of an answer; nobody can have begun before getting the task."""
    now, issued = time.time(), ticket.issued / 1000
    finished = min(now, max(now - given.waited / 1000, issued))
    started = min(finished, max(finished - given.elapsed / 1000, issued))
    times = [utc_text(datetime.fromtimestamp(one, UTC)) for one in (started, finished, now)]
    values = msgspec.json.encode(given.values).decode()
    if ticket.practice:
        return NewPractice(given.key, ticket.rater, ticket.task, values, times[2])
    return NewAnswer(
        given.key, ticket.rater, ticket.task, given.revises, ticket.flipped, values, *times
    )


def _feedback(task: PracticeTask, values: Sequence[Sequence[float]]) -> dict[str, object]:
    """What somebody hears of a practice answer; the first question counts."""
    right = all(low <= row[0] <= high for row, (low, high) in zip(values, task.accept, strict=True))
    return {"right": right, "text": task.right if right else task.wrong}
