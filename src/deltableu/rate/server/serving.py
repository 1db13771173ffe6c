"""A campaign's folder in; a server that answers until it is stopped."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deltableu.errors import InputError, Problem
from deltableu.io import JobLock, read_csv
from deltableu.rate.server.app import rating_app
from deltableu.rate.server.campaign import read_campaign
from deltableu.rate.server.database import Database
from deltableu.rate.server.guard import refusal
from deltableu.rate.server.service import Service

try:
    import resource
except ImportError:  # Windows has none
    resource = None  # type: ignore[assignment]

#: Seconds and bytes for the head of a request, and connections at a time.
_HEAD_SECONDS, _HEAD_BYTES, _CONNECTIONS = 15.0, 32 * 1024, 4_000
_LOCK_FILE = ".serving.lock"
#: Seconds between looks whether this is the only server.
_LOOK = 1.0
_log = logging.getLogger("deltableu.rate")


class _PatientProtocol(HttpToolsProtocol):
    """HTTP, but who begins a request and does not go on, or never ends, is not waited for."""

    _deadline: asyncio.TimerHandle | None = None
    _in_head = False
    _head = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > _CONNECTIONS:
            self._refuse(503, "busy", "Too many people are here at the moment. Please try again.")
        else:
            self._wait()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head and self._head > _HEAD_BYTES:
            self._refuse(431, "too-large", "The head of this request is too large.")
            return
        self._head += len(data)
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        self._wait()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.more_body:
            # What is left of a request that was answered already is not waited for either.
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "malformed", "This is not a request that can be understood.")

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: int, error: str, sentence: str) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(refusal(status, error, sentence))
            self.transport.close()


def serve_campaign(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    url: str = "",
    database: str = "",
    trust_proxy: str = "",
    haste: float = 20.0,
    seed: int | None = None,
    order: Path | None = None,
    ready: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Serve a campaign until the process is told to stop.

    Parameters
    ----------
    folder
        A campaign.
    host, port
        Where to listen; port 0 is any that is free.
    url
        By which raters reach it, if that is another address: see `rating_app`.
    database
        Where answers are, if not where the campaign says.
    trust_proxy
        The address of a proxy whose word on who calls is taken.
    haste
        Most requests per second of one rater.
    seed
        For the order of tasks.
    order
        A CSV file with the columns item and target: what is to be rated first; several lines of a
        target are as many ratings of it.
    ready
        Called with the address when requests are answered.
    stop
        Ends the server when it is set.
    """
    _check_options(port, url, trust_proxy, haste)
    campaign = read_campaign(folder)
    first = None if order is None else read_order(order)
    stop = stop or threading.Event()
    lock = JobLock(folder / _LOCK_FILE)
    opened = Database.at(folder, database or campaign.database)
    try:
        with _OnlyServer(opened.open()) as only:
            service = Service(campaign, opened, seed, first)
            address = url or campaign.url or _own_url(host, port)
            application = rating_app(service, url=address, haste=haste)
            config = uvicorn.Config(
                application,
                host=host,
                port=port,
                http=_PatientProtocol,
                ws="none",
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=bool(trust_proxy),
                forwarded_allow_ips=trust_proxy or None,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=30,
                backlog=4_096,
            )
            _allow_connections()
            only.watch(stop)
            _Server(config, ready, stop).run()
    finally:
        opened.close()
        lock.release()


def _check_options(port: int, url: str, trust_proxy: str, haste: float) -> None:
    """Complain about what a server cannot listen at, or would take for something else."""
    if not 0 <= port <= 65_535:
        raise InputError(f"a port lies between 0 and 65535, got {port}")
    if not 0 < haste < math.inf:
        raise InputError(f"haste must be a positive number, got {haste}")
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise InputError(f"url must begin with http:// or https:// and a host, got {url!r}")
    for one in trust_proxy.split(",") if trust_proxy else ():
        try:
            ipaddress.ip_network(one.strip(), strict=False)
        except ValueError:
            message = f"trust-proxy takes an address such as 127.0.0.1, got {one!r}"
            raise InputError(message) from None


def check_not_served(folder: Path) -> None:
    """Complain where a server of this campaign is running."""
    JobLock(folder / _LOCK_FILE).release()


def _own_url(host: str, port: int) -> str:
    """How raters reach a server that listens at one address, where nobody says otherwise."""
    if host in ("127.0.0.1", "localhost", "::1"):
        return ""
    if host in ("", "0.0.0.0", "::"):
        raise InputError("who listens at all addresses must say by which --url raters come")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _allow_connections() -> None:
    """Let this process have as many connections as the system allows it, if it may have more."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def read_order(path: Path) -> dict[tuple[str, str], list[int]]:
    """Places of items and targets in an order of rating, in which they may stand several times."""
    rows = read_csv(path, ("item", "target"), ("item", "target"), _errors_only)
    found: dict[tuple[str, str], list[int]] = {}
    for place, (_, row) in enumerate(rows):
        found.setdefault((str(row["item"]), str(row["target"])), []).append(place)
    if not found:
        raise InputError(Problem("names nothing that could be rated", file=str(path)))
    return found


def _errors_only(problem: Problem) -> None:
    if problem.severity == "error":
        raise InputError(problem)


class _Server(uvicorn.Server):
    """A server that says when it is ready, and can be told to stop."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[str], None] | None, stop: threading.Event
    ) -> None:
        super().__init__(config)
        self._ready, self._stop = ready, stop

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        said: list[str] = []

        def hear(record: logging.LogRecord) -> bool:
            said.append(record.getMessage().rpartition("]")[2].rpartition(":")[2].strip())
            return False

        # Why it cannot is one sentence of ours, not a line of the library's log.
        log = logging.getLogger("uvicorn.error")
        log.addFilter(hear)
        try:
            await super().startup(sockets)
        except SystemExit:
            where = f"{self.config.host}:{self.config.port}"
            why = f" ({said[-1].lower()})" if said else ""
            message = f"cannot listen at {where}{why}: choose another --host or --port"
            raise InputError(message) from None
        finally:
            log.removeFilter(hear)
        if self._ready is not None and self.started:
            place = self.servers[0].sockets[0].getsockname()
            host = f"[{place[0]}]" if ":" in place[0] else place[0]
            self._ready(f"http://{host}:{place[1]}")

    async def on_tick(self, counter: int) -> bool:
        """Whether to end."""
        return self._stop.is_set() or await super().on_tick(counter)


class _OnlyServer:
    """The only server of a PostgreSQL database, wherever others may run.

    A database in the campaign's folder is locked with that. A lock goes with its connection, so
    that it is taken again when a connection was lost; who finds then that another server was
    faster stops.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._process = 0
        self._ended = threading.Event()
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> _OnlyServer:
        if not self._database.is_sqlite:
            self._key = int(self._database.facts()["campaign"][:12], 16)
            with self._database.reading() as connection:
                if connection.execute(text("SHOW fsync")).scalar() != "on":
                    message = "PostgreSQL runs with fsync = off, so that a commit is on no disk"
                    raise InputError(Problem(message, file=self._database.name))
            if not self._take():
                self.__exit__()
                raise InputError("another server is serving this campaign: stop it first")
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._watcher is not None:
            self._watcher.join()
        self._disconnect()

    def watch(self, stop: threading.Event) -> None:
        """Look again and again whether this is still the only one; else tell it to stop."""
        if not self._database.is_sqlite:
            self._watcher = threading.Thread(target=self._watch, args=(stop,), daemon=True)
            self._watcher.start()

    def _watch(self, stop: threading.Event) -> None:
        while not self._ended.wait(_LOOK):
            try:
                if self._connection is not None:
                    self._connection.execute(text("SELECT 1"))
                    self._connection.commit()
                elif not self._take():
                    _log.error("another server took over this campaign: this one stops")
                    stop.set()
                    return
            except SQLAlchemyError:
                # Raters hear that there is no database; when it is back, so is the lock.
                self._disconnect()

    def _take(self) -> bool:
        self._connection = self._database.engine.connect()
        key = {"key": self._key, "before": self._process}
        # A connection of ours that is dead here may live on over there.
        self._connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' "
                "AND (classid::bigint << 32) + objid::bigint = :key AND pid = :before"
            ),
            key,
        )
        got = self._connection.execute(text("SELECT pg_try_advisory_lock(:key)"), key).scalar()
        process = self._connection.execute(text("SELECT pg_backend_pid()")).scalar()
        self._connection.commit()
        self._process = int(process or 0)
        return bool(got)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.invalidate()
                connection.close()
