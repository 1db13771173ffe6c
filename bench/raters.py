"""Simulated raters in a process of their own: links in; what they sent and what was confirmed, out.

`python -m bench.raters` reads a plan from its standard input and writes what happened to its
standard output, both as JSON. A process of its own takes no time from the server's. Who is asked to
end (SIGTERM) sends what was begun, and takes no more tasks.
"""

from __future__ import annotations

import asyncio
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

import msgspec
import uvloop

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_COOKIE = re.compile(rb"set-cookie: ([^;]+);", re.IGNORECASE)
_CSRF = re.compile(rb'name="csrf" content="([^"]+)"')
#: Statuses after which a page tries again.
_PASSING = (408, 429, 500, 502, 503)

__all__ = ["Plan", "Seen", "Sent", "rate", "start_rating", "what_they_saw"]


class Plan(msgspec.Struct, frozen=True):
    """Who rates where, and how.

    Attributes
    ----------
    address : str
        Of the server.
    tokens : list of str
        Of links, one per rater; all rate at the same time.
    most : int
        Ratings in all; 0 is until nothing is left.
    revise, repeat : float
        How often somebody changes an answer, and sends one again that was confirmed.
    patience : float
        Seconds for which something is tried again that failed.
    seed : int
    """

    address: str
    tokens: list[str]
    most: int = 0
    revise: float = 0.0
    repeat: float = 0.0
    patience: float = 60.0
    seed: int = 0


class Sent(msgspec.Struct, array_like=True):
    """An answer that somebody gave, and its number when it was confirmed."""

    rater: int
    task: int
    values: list[list[float]]
    revises: int | None
    number: int | None = None


class Seen(msgspec.Struct):
    """What happened.

    Attributes
    ----------
    seconds : float
        From the first question to the last answer, when all had come in.
    sent : dict
        By key.
    asking, answering : list of float
        How long requests took that were answered.
    statuses : dict
        How often a request was answered by which status; `lost` where none came.
    wrong : list of str
        What should not have happened.
    """

    seconds: float = 0.0
    sent: dict[str, Sent] = msgspec.field(default_factory=dict)
    asking: list[float] = msgspec.field(default_factory=list)
    answering: list[float] = msgspec.field(default_factory=list)
    statuses: dict[str, int] = msgspec.field(default_factory=dict)
    wrong: list[str] = msgspec.field(default_factory=list)

    @property
    def confirmed(self) -> int:
        """Number of answers that were confirmed."""
        return sum(one.number is not None for one in self.sent.values())


def start_rating(plan: Plan) -> subprocess.Popen[bytes]:
    """Start raters."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.raters"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(plan))
    process.stdin.close()
    process.stdin = None
    return process


def rate(plan: Plan) -> Seen:
    """Let raters rate until they are done."""
    return what_they_saw(start_rating(plan))


def what_they_saw(process: subprocess.Popen[bytes]) -> Seen:
    """Wait for raters that were started."""
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"raters ended with {process.returncode}")
    return msgspec.json.decode(output, type=Seen)


class _Connection:
    """HTTP/1.1 of one rater, who connects again where that is necessary."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = str(parts.hostname), parts.port or 80
        self._root = parts.path.rstrip("/")
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cookie = ""

    async def ask(
        self, method: str, path: str, head: str = "", body: bytes = b""
    ) -> tuple[int, bytes, bytes]:
        """Status, head and body of the answer; OSError or EOFError where there is none."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._host, self._port)
            reader, writer = self._streams
            if body:
                head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            request = (
                f"{method} {self._root}{path} HTTP/1.1\r\nhost: {self._host}:{self._port}\r\n"
                f"cookie: {self.cookie}\r\n{head}\r\n"
            )
            writer.write(request.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(answer)
            content = await reader.readexactly(int(length[1])) if length else b""
        except (OSError, EOFError):
            self.close()
            raise
        if b"connection: close" in answer:
            self.close()
        return int(answer[9:12]), answer, content

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class _Rater:
    def __init__(self, place: int, plan: Plan, seen: Seen) -> None:
        self._place, self._plan, self._seen = place, plan, seen
        self._connection = _Connection(plan.address)
        self._random = random.Random(f"{plan.seed} {place}")
        self._csrf = ""
        self.ends = False

    async def enter(self) -> None:
        """Open the link, then the page."""
        _, head, _ = await self._insist("GET", f"/r/{self._plan.tokens[self._place]}")
        cookie = _COOKIE.search(head)
        assert cookie is not None, head
        self._connection.cookie = cookie[1].decode()
        _, _, page = await self._insist("GET", "/")
        csrf = _CSRF.search(page)
        assert csrf is not None, page[:200]
        self._csrf = f"x-csrf-token: {csrf[1].decode()}\r\n"

    async def rate(self) -> None:
        """Take tasks and answer them until there are no more."""
        while not self.ends and not 0 < self._plan.most <= len(self._seen.sent):
            status, _, content = await self._insist("GET", "/api/tasks", self._seen.asking)
            if status != 200:
                self._seen.wrong.append(f"GET api/tasks: {status} {content[:200]!r}")
                return
            given = msgspec.json.decode(content)
            if given["tasks"]:
                await self._answer(given["tasks"][0])
            elif given["state"] == "done":
                return
            else:
                await asyncio.sleep(0.2)

    async def _answer(self, task: dict[str, Any]) -> None:
        number = await self._send(task, None)
        if number is not None and self._random.random() < self._plan.revise:
            _, _, content = await self._insist("GET", "/api/last")
            last = msgspec.json.decode(content)
            if last["answer"] != number:
                self._seen.wrong.append(f"the last answer is {last['answer']}, not {number}")
            else:
                await self._send(last["task"], number)

    async def _send(self, task: dict[str, Any], revises: int | None) -> int | None:
        key = str(uuid.UUID(int=self._random.getrandbits(128)))
        values = [[float(self._random.randint(1, 5))]]
        sent = self._seen.sent[key] = Sent(self._place, task["task"], values, revises)
        body = msgspec.json.encode(
            {
                "key": key,
                "ticket": task["ticket"],
                "values": values,
                "elapsed": 2000.5,
                "waited": 0,
                "revises": revises,
            }
        )
        status, _, content = await self._insist("POST", "/api/answers", self._seen.answering, body)
        if status != 200:
            self._seen.wrong.append(f"POST api/answers: {status} {content[:200]!r}")
            return None
        sent.number = int(msgspec.json.decode(content)["answer"])
        if self._random.random() < self._plan.repeat:
            status, _, again = await self._insist("POST", "/api/answers", None, body)
            if status != 200 or msgspec.json.decode(again)["answer"] != sent.number:
                self._seen.wrong.append(f"sent again: {status} {again[:200]!r}")
        return sent.number

    async def _insist(
        self, method: str, path: str, times: list[float] | None = None, body: bytes = b""
    ) -> tuple[int, bytes, bytes]:
        """Ask until there is an answer that will stay the same."""
        end = time.perf_counter() + self._plan.patience
        while True:
            start = time.perf_counter()
            try:
                found = await self._connection.ask(method, path, self._csrf if body else "", body)
                status = str(found[0])
            except (OSError, EOFError):
                found, status = None, "lost"
            self._seen.statuses[status] = self._seen.statuses.get(status, 0) + 1
            if found is not None and found[0] not in _PASSING:
                if times is not None:
                    times.append(time.perf_counter() - start)
                return found
            if time.perf_counter() > end:
                self._seen.wrong.append(f"{method} {path.partition('/r/')[0]}: {status} to the end")
                return found or (0, b"", b"")
            await asyncio.sleep(0.05 + 0.1 * self._random.random())


async def _run(plan: Plan) -> Seen:
    seen = Seen()
    raters = [_Rater(place, plan, seen) for place in range(len(plan.tokens))]

    def end() -> None:
        for one in raters:
            one.ends = True

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    await asyncio.gather(*(one.enter() for one in raters))
    start = time.perf_counter()
    await asyncio.gather(*(one.rate() for one in raters))
    seen.seconds = time.perf_counter() - start
    return seen


if __name__ == "__main__":
    plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
    found = msgspec.json.encode(uvloop.run(_run(plan)))
    # Where Python does not buffer, one write may be cut short.
    with open(sys.stdout.fileno(), "wb", closefd=False) as output:
        output.write(found)
