"""A server is killed, a disk is full, a database goes away: what was confirmed stays."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from bench.raters import Plan, Seen, start_rating, what_they_saw
from deltableu.rate import server
from deltableu.rate.server import connections
from tests.kills.moments import can_mount, disk
from tests.rate.server.kit import (
    Postgres,
    ServerProcess,
    export,
    make_campaign,
    new_key,
    raters,
    running,
    small_study,
)
from tests.rate.server.records import check_kept

RATERS, PER_ITEM = 60, 5


@contextmanager
def under_load(
    folder: Path, address: str, times: int, seed: int
) -> Iterator[tuple[ServerProcess, Seen]]:
    """A server and raters who rate until the block ends; then what they saw is known."""
    names = server.random_names(RATERS)
    study = small_study(500 + 250 * times, ())
    new = make_campaign(folder, address, study=study, raters=names, per_item=PER_ITEM)
    tokens = [link.token for link in new.links]
    seen = Seen()
    with ServerProcess(folder) as process:
        plan = Plan(process.address, tokens, revise=0.05, repeat=0.05, patience=120, seed=seed)
        rating = start_rating(plan)
        yield process, seen
        assert rating.poll() is None, "there was nothing left to rate"
        rating.terminate()
        found = what_they_saw(rating)
    for name in Seen.__struct_fields__:
        setattr(seen, name, getattr(found, name))


def kill_server(folder: Path, address: str, times: int, seed: int) -> None:
    moments = random.Random(seed)
    with under_load(folder, address, times, seed) as (process, seen):
        for _ in range(times):
            time.sleep(moments.uniform(0.3, 1.0))
            process.kill()
            process.start()
        time.sleep(0.5)
    assert seen.confirmed > 100
    assert seen.statuses["lost"] > times
    # A lease that was not yet on the disk when the server was killed is forgotten.
    check_kept(folder, seen, beyond=times * RATERS)


def test_a_server_is_killed(folder: Path):
    kill_server(folder, "", 3, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_server_is_killed_again_and_again(
    folder: Path, kind: str, request: pytest.FixtureRequest
):
    address = ""
    if kind == "postgresql":
        found: Postgres = request.getfixturevalue("postgres")
        address = found.new_place()
    kill_server(folder, address, 20, seed=2)


def crash_database(folder: Path, postgres: Postgres, times: int, seed: int) -> None:
    moments = random.Random(seed)
    address = postgres.new_place()
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    with under_load(folder, address, times, seed) as (process, seen):
        for _ in range(times):
            time.sleep(moments.uniform(0.5, 1.5))
            postgres.stop("immediate")
            time.sleep(moments.uniform(0.0, 1.0))
            postgres.start()
        time.sleep(2)
        shutil.copy(folder / "campaign.toml", elsewhere)
        # The lock went with the connection, and is taken again.
        with pytest.raises(ValueError, match="another server"), running(elsewhere):
            pass
    assert seen.confirmed > 100
    assert seen.statuses["503"] > 0
    assert "lost" not in seen.statuses, "the server itself never goes away"
    check_kept(folder, seen, beyond=0)
    assert "Traceback" not in process.said


def test_postgresql_crashes(folder: Path, postgres: Postgres):
    crash_database(folder, postgres, 1, seed=3)


@pytest.mark.long
def test_postgresql_crashes_again_and_again(folder: Path, postgres: Postgres):
    crash_database(folder, postgres, 20, seed=4)


def test_a_server_stops_when_another_took_its_database(folder: Path, postgres: Postgres):
    address = postgres.new_place()
    make_campaign(folder, address)
    with psycopg.connect(address, autocommit=True) as other, running(folder) as url:
        find = "SELECT pid, (classid::bigint << 32) + objid::bigint FROM pg_locks"
        pid, key = other.execute(f"{find} WHERE locktype = 'advisory' AND granted").fetchone()
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
        other.execute("SELECT pg_advisory_lock(%s)", [key])
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                httpx.get(f"{url}/health")
            except httpx.HTTPError:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("two servers serve one campaign")


def test_the_disk_has_it_before_the_rater_hears_of_it(folder: Path):
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    new = make_campaign(folder)
    trace = folder.parent / "trace"
    calls = "trace=pwrite64,fdatasync,fsync,write,writev,sendto,sendmsg"
    process = ServerProcess(
        folder, "strace", "-f", "-y", "-s", "400", "-o", str(trace), "-e", calls
    )
    process.start()
    try:
        with raters(process.address, new) as (ann, _):
            answers = [ann.answer(ann.task())["answer"] for _ in range(3)]
    finally:
        process.stop()
    events = list(traced(trace.read_text(errors="replace")))
    if not any("answers.sqlite-wal" in one for one in events):
        pytest.skip("strace may not look at processes here")
    before = 0
    for number in answers:
        told = next(
            place
            for place, one in enumerate(events)
            if re.match(r"(write|writev|sendto|sendmsg)\(", one)
            and f'\\"answer\\":{number},' in one
        )
        window = events[before:told]
        written = [
            place for place, one in enumerate(window)
            if one.startswith("pwrite64(") and "answers.sqlite-wal>" in one
        ]  # fmt: skip
        synced = [
            place for place, one in enumerate(window)
            if re.match(r"(fdatasync|fsync)\(\d+<[^>]*answers\.sqlite-wal>\) += 0", one)
        ]  # fmt: skip
        assert written, "an answer was confirmed that was not written"
        assert synced, "an answer was confirmed that is on no disk"
        assert written[-1] < synced[-1], "something was written and not synced"
        before = told


def traced(text: str) -> Iterator[str]:
    """System calls in the order in which they were done; of those that wait, when they ended."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        process, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[process] = call.removesuffix("<unfinished ...>").rstrip()
            # What is sent may arrive as soon as the call begins.
            if call.startswith(("write", "send")):
                yield begun.pop(process)
        elif call.startswith("<... "):
            rest = call.partition("resumed>")[2]
            if process in begun:
                yield begun.pop(process) + rest.lstrip(" ")
        else:
            yield call


def test_a_full_disk(tmp_path: Path):
    if not can_mount(tmp_path / "probe"):
        pytest.skip("needs an account that may mount")
    small = tmp_path / "disk"
    small.mkdir()
    with disk(small, 600):
        folder = small / "campaign"
        new = make_campaign(folder, study=small_study(40), per_item=1)
        kept = 0
        with running(folder) as url, raters(url, new) as (ann, bob):
            filler = small / "filler"
            fill(filler)
            refused = None
            for _ in range(60):
                task, key = ann.task(), new_key()
                refused = ann.send(task, key=key)
                if refused.status_code != 200:
                    break
                kept += 1
            assert refused is not None
            assert refused.status_code == 503, refused.text
            said = refused.json()
            assert said["error"] == "not-saved"
            assert said["message"] == (
                "Your answer could not be saved (the disk is full). It will be sent again."
            )
            assert int(refused.headers["retry-after"]) >= 1
            assert ann.tasks()["done"] == kept, "the rest works, and counts what is kept"
            assert len(export(folder)) == kept
            other = bob.task()
            assert bob.send(other).status_code == 503
            filler.unlink()
            assert ann.answer(task, key=key)["done"] == kept + 1
            bob.answer(other)
            ann.answer(ann.task())
        state = export(folder)
        assert len(state) == kept + 3
        _, database = server.open_database(folder)
        database.check()
        database.close()


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as file:
        for size in (4096, 512, 64, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def test_somebody_else_writes_for_a_while(folder: Path, address: str):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, _):
        ann.answer(ann.task())
        task = ann.task()
        with locked(folder, address):
            threading.Timer(1.5, release.set).start()
            start = time.monotonic()
            ann.answer(task)
            assert time.monotonic() - start > 1.0
    assert len(export(folder)) == 2


def test_somebody_else_writes_for_too_long(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "_PATIENCE", 1)
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, _):
        task, key = ann.task(), new_key()
        with locked(folder, address):
            refused = ann.send(task, key=key)
            assert refused.status_code == 503
            assert "(the database is busy)" in refused.json()["message"]
            assert ann.tasks()["done"] == 0
            release.set()
        assert ann.answer(task, key=key)["done"] == 1
    assert len(export(folder)) == 1


release = threading.Event()


@contextmanager
def locked(folder: Path, address: str) -> Iterator[None]:
    """Somebody else has the database until `release` is set."""
    release.clear()
    has_it = threading.Event()

    def hold() -> None:
        if address:
            with psycopg.connect(address) as connection:
                connection.execute("LOCK TABLE answers IN ACCESS EXCLUSIVE MODE")
                has_it.set()
                release.wait(30)
        else:
            connection = sqlite3.connect(folder / "answers.sqlite", isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            has_it.set()
            release.wait(30)
            connection.execute("ROLLBACK")
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    has_it.wait(10)
    try:
        yield
    finally:
        release.set()
        thread.join()
