"""One question in, one answer out: sent again where that may help, and never when it cannot."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from deltableu.errors import InputError
from deltableu.judges.llm.dialect import Dialect
from deltableu.judges.llm.endpoint import Endpoint, Sampling, Sending, without_key
from deltableu.judges.llm.prompts import Question
from deltableu.judges.llm.replies import Reply, read_reply

#: The longest pause between two tries, and the longest that a server may ask for.
_LONGEST_PAUSE, _LONGEST_WAIT = 60.0, 600.0
_LARGEST_BODY = 8 << 20
#: Tries before a server that never answered counts as not there.
_FIRST_TRIES = 3
#: Changes of dialect are no tries; there are fewer than this.
_MOST_LESSONS = 6


def httpx_module() -> Any:
    """The library of the extra `llm`, or what to install."""
    try:
        return import_module("httpx")
    except ImportError as error:
        raise InputError(
            f"an LLM as judge needs httpx: run pip install 'deltableu[llm]' ({error})"
        ) from None


class EndpointError(Exception):
    """Nothing more is to be asked; its text says why."""


class Client:
    """Asks one server.

    Parameters
    ----------
    endpoint, sampling, sending
    rng : random.Random, optional
        Draws how long pauses are, so that many requests do not come back at the same moment.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling,
        sending: Sending,
        rng: random.Random | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._key = endpoint.key()
        self._sending = sending
        self._dialect = Dialect(endpoint.model, sampling)
        self._rng = rng or random.Random()
        self._free: list[Any] = []
        self._httpx = httpx_module()
        self._quiet_until = 0.0
        self._over = asyncio.Event()
        self._answered = False
        self.sent = 0
        self.retried = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Connections, for as long as there is something to ask."""
        headers = {"Accept": "application/json"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.reveal()}"
        context = self._httpx.create_ssl_context()
        async with AsyncExitStack() as stack:
            # A connection each: a pool of many looks through all of them for every request.
            for _ in range(self._sending.concurrency):
                one = self._httpx.AsyncClient(
                    headers=headers,
                    timeout=None,
                    verify=context,
                    follow_redirects=False,
                    # No proxy stands between this machine and its own network.
                    trust_env=not self._endpoint.is_near,
                )
                self._free.append(await stack.enter_async_context(one))
            yield

    def stop(self) -> None:
        """Let nobody wait for another try."""
        self._over.set()

    async def ask(self, question: Question) -> Reply:
        """The answer (fate `answered`), or what this text has in its place (`failed`, `again`).

        `again` is what is left when all retries are used up. Raises `EndpointError` where asking
        anything else would be as useless.
        """
        lessons = tries = 0
        while True:
            await self._pause()
            body = self._dialect.body(question)
            reply = await self._send(body)
            if reply.fate == "answered":
                self._answered = True
                return reply
            if lessons < _MOST_LESSONS and self._dialect.learn(body, reply.status, reply.text):
                lessons += 1
                continue
            # What other texts were not refused for lies in this one.
            alone = self._answered and reply.status in (400, 422)
            if reply.fate == "failed" or alone:
                return replace(reply, fate="failed")
            if reply.fate == "over":
                raise EndpointError(self._sentence(reply))
            tries += 1
            if reply.status == 0 and not self._answered and tries >= _FIRST_TRIES:
                raise EndpointError(self._sentence(reply))
            if tries > self._sending.retries:
                return reply
            if reply.wait > _LONGEST_WAIT:
                raise EndpointError(
                    f"{self._sentence(reply)}; it asks to wait {reply.wait:,.0f} seconds"
                )
            self.retried += 1
            self._be_quiet(reply)
            await self._sleep(self._delay(tries))

    def _delay(self, tries: int) -> float:
        longest = min(_LONGEST_PAUSE, self._sending.pause * 2.0 ** (tries - 1))
        return longest * self._rng.uniform(0.5, 1.0)

    def _be_quiet(self, reply: Reply) -> None:
        """Where the server says how long, everybody waits."""
        if reply.wait > 0.0:
            now = asyncio.get_running_loop().time()
            self._quiet_until = max(self._quiet_until, now + reply.wait)

    async def _pause(self) -> None:
        while (left := self._quiet_until - asyncio.get_running_loop().time()) > 0.0:
            # Not all in the same moment.
            await self._sleep(left + self._rng.uniform(0.0, min(1.0, left)))

    async def _sleep(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return
        raise EndpointError("")

    async def _send(self, body: dict[str, Any]) -> Reply:
        self.sent += 1
        http = self._free.pop()
        # ASCII, whatever the texts hold.
        content_type = {"Content-Type": "application/json"}
        content = json.dumps(body).encode()
        try:
            async with asyncio.timeout(self._sending.timeout):
                async with http.stream(
                    "POST", self._endpoint.address, content=content, headers=content_type
                ) as response:
                    received = bytearray()
                    async for piece in response.aiter_bytes():
                        received += piece
                        if len(received) > _LARGEST_BODY:
                            return Reply("failed", "its response is larger than 8 MB")
        except TimeoutError:
            said = f"no answer within {self._sending.timeout:g} seconds (--timeout)"
            return Reply("again", said, status=-1)
        except self._httpx.ConnectError as error:
            return Reply("again", f"cannot be reached: {self._safe(str(error))}", status=0)
        except self._httpx.HTTPError as error:
            said = f"the connection was cut ({type(error).__name__})"
            return Reply("again", said, status=-1)
        finally:
            self._free.append(http)
        reply = read_reply(response.status_code, response.headers, bytes(received))
        return replace(reply, text=self._safe(reply.text))

    def _safe(self, text: str) -> str:
        return without_key(text, self._key)

    def _sentence(self, reply: Reply) -> str:
        status = f" ({reply.status})" if reply.status > 200 else ""
        return f"{self._endpoint.shown_url}{status}: {reply.text}"
