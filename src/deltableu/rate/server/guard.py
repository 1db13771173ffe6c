"""Around the application: what every request must be, and what every answer says to browsers."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any, TypeAlias
from urllib.parse import quote

import msgspec

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Largest body of a request, and how long it may take to come.
_MOST_BYTES, _SECONDS = 64 * 1024, 15.0

#: What every answer tells browsers.
HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::[0-9]*)?")
_log = logging.getLogger("deltableu.rate")


class Refusal(Exception):  # noqa: N818
    """A request that is not done, and what the rater is told."""

    def __init__(self, status: int, error: str, sentence: str, retry: float = 0.0) -> None:
        self.status, self.error, self.sentence, self.retry = status, error, sentence, retry
        super().__init__(sentence)


_TOO_LARGE = (413, "too-large", "This request is too large.")


class Guard:
    """Refuses what is too large, too slow or meant for another host, and adds headers.

    Parameters
    ----------
    application
        What answers the rest.
    hosts
        Names by which this server may be called, without a port.
    prefix
        What paths begin with where a proxy leaves it on, such as `/study`.
    """

    def __init__(self, application: Application, hosts: Iterable[str], prefix: str = "") -> None:
        self.application = application
        self._hosts = frozenset(host.lower() for host in hosts)
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        guarded = _Answer(send)
        host, length = b"", b"0"
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"content-length":
                length = value
        if _host(host) not in self._hosts:
            await guarded.refuse(400, "host", "This server is not known by that name.")
            return
        if not length.isdigit() or len(length) > 9 or int(length) > _MOST_BYTES:
            await guarded.refuse(*_TOO_LARGE)
            return
        if self._prefix:
            if scope["path"] == self._prefix:
                await guarded.redirect(f"{self._prefix}/")
                return
            if scope["path"].startswith(f"{self._prefix}/"):
                scope = {**scope, "path": scope["path"][len(self._prefix) :], "raw_path": b""}
        try:
            await self.application(scope, _Body(receive), guarded)
        except Exception:
            _log.exception("a request failed")
            await guarded.refuse(500, "fault", "Something went wrong here. Please try again.")


class _Body:
    """Reads a request's body, up to a size and for some time; else raises Refusal."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._size = 0
        self._whole = False
        self._end = asyncio.get_running_loop().time() + _SECONDS

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(408, "too-slow", "This request took too long.") from None
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._size > _MOST_BYTES:
                raise Refusal(*_TOO_LARGE)
        return message


class _Answer:
    """Sends an answer with our headers."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            headers = [*message.get("headers", ()), *HEADERS]
            if not any(name == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        await self._send(message)

    async def refuse(self, status: int, error: str, sentence: str) -> None:
        if self._begun:
            return
        body = msgspec.json.encode({"error": error, "message": sentence})
        kind = (b"content-type", b"application/json")
        await self._whole(status, [kind, (b"connection", b"close")], body)

    async def redirect(self, path: str) -> None:
        await self._whole(308, [(b"location", quote(path).encode())])

    async def _whole(self, status: int, headers: list[Header], body: bytes = b"") -> None:
        length = (b"content-length", str(len(body)).encode())
        start = {"type": "http.response.start", "status": status, "headers": [*headers, length]}
        await self(start)
        await self({"type": "http.response.body", "body": body})


def refusal(status: int, error: str, sentence: str) -> bytes:
    """A whole answer of HTTP/1.1, for requests that do not get as far as an application."""
    body = msgspec.json.encode({"error": error, "message": sentence})
    headers = (
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        *HEADERS,
    )
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
    lines += [b"%b: %b" % header for header in headers]
    return b"\r\n".join([*lines, b"", body])


def _host(header: bytes) -> str:
    """The host's name without its port."""
    found = _HOST.fullmatch(header)
    return found[1].decode("latin-1").lower() if found else ""
