"""A campaign's folder in; a server that answers until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import text
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deltableu.errors import InputError
from deltableu.io import JobLock
from deltableu.rate.server.app import rating_app
from deltableu.rate.server.campaign import read_campaign
from deltableu.rate.server.database import Database
from deltableu.rate.server.service import Service

#: Seconds for the head of a request to come.
_HEAD_SECONDS = 15.0
_LOCK_FILE = ".serving.lock"


class _PatientProtocol(HttpToolsProtocol):
    """HTTP, but who begins a request and does not go on is not waited for."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(_HEAD_SECONDS, self._end)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self.transport is not None and not self.transport.is_closing():
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
    ready: Callable[[str], None] | None = None,
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
    ready
        Called with the address when requests are answered.
    """
    campaign = read_campaign(folder)
    lock = JobLock(folder / _LOCK_FILE)
    opened = Database.at(folder, database or campaign.database).open()
    try:
        with _only_server(opened):
            service = Service(campaign, opened, seed)
            application = rating_app(service, url=url or campaign.url, haste=haste)
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
                limit_concurrency=4_000,
                backlog=4_096,
            )
            _Server(config, ready).run()
    finally:
        opened.close()
        lock.release()


class _Server(uvicorn.Server):
    """A server that says when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[str], None] | None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen."""
        try:
            await super().startup(sockets)
        except SystemExit:
            where = f"{self.config.host}:{self.config.port}"
            raise InputError(f"cannot listen at {where}: choose another --port") from None
        if self._ready is not None and self.started:
            place = self.servers[0].sockets[0].getsockname()
            host = f"[{place[0]}]" if ":" in place[0] else place[0]
            self._ready(f"http://{host}:{place[1]}")


class _only_server:  # noqa: N801
    """Of a PostgreSQL database, wherever other servers may run; a folder has a lock of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Any = None

    def __enter__(self) -> None:
        if self._database.is_sqlite:
            return
        self._connection = self._database.engine.connect()
        key = int(self._database.facts()["campaign"][:12], 16)
        got = self._connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key})
        if not got.scalar():
            self._connection.close()
            raise InputError("another server is serving this campaign: stop it first")
        self._connection.commit()

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
