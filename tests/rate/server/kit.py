"""Campaigns, servers and raters of tests."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from deltableu.corpus import Item, Reference, Study
from deltableu.rate import server


def small_study(items: int = 6, systems: Sequence[str] = ("east", "west"), first: int = 0) -> Study:
    """Items with an original and a mined reference, and outputs of systems."""
    places = range(first, first + items)
    return Study(
        tuple(
            Item(
                f"i{place}",
                (
                    Reference("r0", f"response {place}"),
                    Reference("r1", f"mined response {place}", None, "mined"),
                ),
                (f"earlier {place}",),
                f"message {place}",
            )
            for place in places
        ),
        {name: tuple(f"{name} says {place}" for place in places) for name in systems},
    )


def make_campaign(
    folder: Path,
    address: str = "",
    *,
    study: Study | None = None,
    raters: Sequence[str] = ("ann", "bob"),
    preset: str = "delta-bleu",
    expires: timedelta | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    **settings: object,
) -> server.NewCampaign:
    """A campaign without practice, unless something else is asked for."""
    values = {
        **server.preset(preset),
        "what": "references",
        "per_item": 2,
        "practice": [],
        "database": address,
        **settings,
    }
    campaign = server.settings_from(values, "test")
    study = study or small_study()
    return server.new_campaign(folder, campaign, study, raters=raters, expires=expires, pairs=pairs)


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[str]:
    """The address of a campaign's server, in a thread of this process."""
    ready, stop = threading.Event(), threading.Event()
    found: list[str] = []
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            server.serve_campaign(
                folder, port=0, ready=lambda one: (found.append(one), ready.set()), stop=stop,
                **options,
            )  # fmt: skip
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=serve)
    thread.start()
    ready.wait(30)
    try:
        if failed:
            raise failed[0]
        yield found[0]
    finally:
        stop.set()
        thread.join(60)
    if failed:
        raise failed[0]


class ServerProcess:
    """A campaign's server in a process of its own, at a port that stays the same."""

    _SERVE = (
        "import sys\n"
        "from pathlib import Path\n"
        "from deltableu.rate import server\n"
        "server.serve_campaign(Path(sys.argv[1]), port=int(sys.argv[2]), haste=1000.0,\n"
        "    ready=lambda address: print(address, flush=True))\n"
    )

    def __init__(self, folder: Path, *before: str) -> None:
        self.folder, self._before = folder, before
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = folder.parent / f"{folder.name}.log"

    def start(self) -> ServerProcess:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._before, sys.executable, "-c", self._SERVE, self.folder, str(self.port)],
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == self.address.encode(), self.said
        return self

    @property
    def said(self) -> str:
        """What it wrote to its standard error."""
        return self.log.read_text()

    def kill(self) -> None:
        """End it without a word."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end."""
        self._end(signal.SIGTERM)

    def _end(self, sign: signal.Signals) -> None:
        # Also whatever it runs under.
        os.killpg(self.process.pid, sign)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> ServerProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop()


class Rater:
    """Somebody with a link, who does by hand what the page does."""

    def __init__(self, address: str, token: str = "", **options: Any) -> None:
        self.client = httpx.Client(base_url=address, verify=False, timeout=60, **options)
        self.csrf = ""
        if token:
            self.enter(token)

    def enter(self, token: str) -> None:
        answer = self.client.get(f"r/{token}")
        assert answer.status_code == 303, answer.text
        self.open_page()

    def open_page(self) -> str:
        page = self.client.get("")
        assert page.status_code == 200, page.text
        found = re.search(r'name="csrf" content="([^"]+)"', page.text)
        assert found is not None
        self.csrf = found[1]
        return page.text

    def tasks(self, count: int = 1) -> dict[str, Any]:
        answer = self.client.get("api/tasks", params={"count": count})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert isinstance(found, dict)
        return found

    def task(self) -> dict[str, Any]:
        return self.tasks()["tasks"][0]  # type: ignore[no-any-return]

    def last(self) -> dict[str, Any]:
        return self.client.get("api/last").json()  # type: ignore[no-any-return]

    def send(self, task: dict[str, Any], values: Any = ((4,),), **changes: Any) -> httpx.Response:
        """Send an answer; what it holds can be changed."""
        body = {
            "key": new_key(),
            "ticket": task["ticket"],
            "values": values,
            "elapsed": 1500,
            "waited": 0,
            "revises": None,
            **changes,
        }
        return self.client.post("api/answers", json=body, headers={"X-CSRF-Token": self.csrf})

    def answer(self, task: dict[str, Any], values: Any = ((4,),), **changes: Any) -> dict[str, Any]:
        """Send an answer that is taken."""
        answer = self.send(task, values, **changes)
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    def answer_all(self, values: Any = ((4,),)) -> list[int]:
        """Answer until there is nothing more; which tasks those were."""
        found = []
        while given := self.tasks()["tasks"]:
            self.answer(given[0], values)
            found.append(given[0]["task"])
        return found

    def __enter__(self) -> Rater:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.client.close()


@contextmanager
def raters(address: str, new: server.NewCampaign, **options: Any) -> Iterator[list[Rater]]:
    """All raters of a campaign at their pages."""
    with ExitStack() as stack:
        found = [stack.enter_context(Rater(address, **options)) for _ in new.links]
        for one, link in zip(found, new.links, strict=True):
            one.enter(link.token)
        yield found


def new_key() -> str:
    return str(uuid.uuid4())


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def export(folder: Path) -> list[Any]:
    """All ratings of a campaign."""
    campaign, database = server.open_database(folder)
    try:
        return list(server.campaign_ratings(campaign, database))
    finally:
        database.close()


def status(folder: Path) -> server.CampaignStatus:
    campaign, database = server.open_database(folder)
    try:
        return server.campaign_status(campaign, database, server.utc_now())
    finally:
        database.close()


class Postgres:
    """A PostgreSQL of the tests' own, whose commits wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._programs = _postgres_programs()
        self._folder = folder
        self._user: list[str] = []
        if os.getuid() == 0:
            # It refuses to run as root.
            self._user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres")
        self.port = free_port()
        self._run("initdb", "-D", folder / "db", "-A", "trust", "-U", "test", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1"
        options += f" -c unix_socket_directories={self._folder}"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", self._folder / "db", "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", self._folder / "db", "-m", mode, "-w", "stop")

    def new_database(self) -> str:
        """The address of a database without tables."""
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self._address(name)

    def _address(self, name: str) -> str:
        return f"postgresql://test@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: object) -> None:
        command = [*self._user, self._programs / program, *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{program} failed"


def _postgres_programs() -> Path:
    """Where its programs are; without any, tests that need them are skipped."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not found and named is None:
        pytest.skip("PostgreSQL is not installed")
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is not installed")
    return found[-1].parent if found else Path(str(named)).resolve().parent
