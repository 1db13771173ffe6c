"""Databases of campaigns: what they promise, copies of them, and old ones."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, select, text

from deltableu.errors import InputError
from deltableu.rate import server
from deltableu.rate.server import schema
from deltableu.rate.server.connections import public_reason, reason
from deltableu.rate.server.database import Database
from deltableu.rate.server.writer import NewAnswer
from tests.rate.server.kit import (
    Postgres,
    export,
    make_campaign,
    new_key,
    raters,
    running,
    small_study,
    status,
)


def content(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in a database."""
    with database.reading() as connection:
        return {
            table.name: sorted(tuple(row) for row in connection.execute(select(table)))
            for table in schema.METADATA.sorted_tables
        }


def test_every_connection_writes_ahead_and_waits_for_the_disk(folder: Path):
    make_campaign(folder)
    _, database = server.open_database(folder)
    connections = [database.engine.connect() for _ in range(8)]
    for one in connections:
        for name, value in (
            ("journal_mode", "wal"),
            ("synchronous", 2),
            ("foreign_keys", 1),
            ("secure_delete", 1),
        ):
            assert one.execute(text(f"PRAGMA {name}")).scalar() == value, name
    for one in connections:
        one.close()
    with database.engine.connect() as one:
        assert one.execute(text("PRAGMA synchronous")).scalar() == 2, "also when used again"
    database.close()


def test_the_writer_of_a_server_waits_for_the_disk(folder: Path):
    make_campaign(folder)
    campaign, database = server.open_database(folder)
    service = server.Service(campaign, database)
    try:
        service.writer._commit_once([])
        connection = service.writer._connection
        assert connection is not None
        assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
        assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        connection.rollback()
    finally:
        service.close()
        database.close()


def test_a_journal_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch):
    # A database in memory has no journal on a disk.
    with pytest.raises(InputError, match="cannot write ahead"):
        Database.at_file(Path(":memory:")).facts()


def test_postgresql_commits_wait_for_the_disk(folder: Path, postgres: Postgres):
    address = postgres.new_database()
    make_campaign(folder, address)
    _, database = server.open_database(folder)
    with database.writing() as connection:
        name = database.url.database
        connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
    database.close()
    _, database = server.open_database(folder)
    connections = [database.engine.connect() for _ in range(4)]
    for one in connections:
        assert one.execute(text("SHOW synchronous_commit")).scalar() == "on"
        assert one.execute(text("SHOW lock_timeout")).scalar() == "20s"
        one.close()
    database.close()


def test_backup_while_raters_rate_and_restore(
    folder: Path, address: str, tmp_path: Path, request: pytest.FixtureRequest
):
    study = small_study(40)
    new = make_campaign(folder, address, study=study)
    backups = [tmp_path / f"{place}.sqlite" for place in range(3)]
    with running(folder, haste=10_000.0) as url, raters(url, new) as (ann, bob):
        ann.answer(ann.task(), [[2]])
        last = ann.last()
        ann.answer(last["task"], [[3]], revises=last["answer"])
        done = threading.Event()

        def go_on() -> None:
            while not done.is_set() and (given := bob.tasks()["tasks"]):
                bob.answer(given[0], [[5]])

        thread = threading.Thread(target=go_on)
        thread.start()
        counts = [status(folder).given]
        for one in backups:
            server.backup_campaign(folder, one)
            counts.append(status(folder).given)
        done.set()
        thread.join()
    for place, one in enumerate(backups):
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
        assert not list(one.parent.glob(f"{one.name}-*")), "a backup is one file"
        copied = Database.at_file(one)
        copied.check()
        with copied.reading() as connection:
            known = connection.execute(text("SELECT COUNT(*) FROM answers")).scalar() or 0
        # One answer was changed.
        assert counts[place] <= known - 1 <= counts[place + 1]
        copied.close()
    with pytest.raises(InputError, match="is there already"):
        server.backup_campaign(folder, backups[0])
    with pytest.raises(InputError, match=r"the campaign has a database|holds a campaign already"):
        server.restore_campaign(backups[-1], folder)
    final = tmp_path / "final.sqlite"
    server.backup_campaign(folder, final)
    before = final.read_bytes()
    _, database = server.open_database(folder)
    wanted, ratings = content(database), export(folder)
    database.close()
    found: Postgres = request.getfixturevalue("postgres")
    for place, target in enumerate(["", found.new_place()]):
        copy = tmp_path / f"copy-{place}"
        copy.mkdir()
        settings = server.read_campaign(folder)
        server.write_campaign(copy, server.settings_from({**_values(settings, target)}, "test"))
        server.restore_campaign(final, copy)
        assert final.read_bytes() == before
        _, restored = server.open_database(copy)
        assert content(restored) == wanted
        restored.close()
        assert export(copy) == ratings
        with running(copy) as url, raters(url, new) as (ann, bob):
            assert ann.last()["values"] == [[3]], "who has a link goes on"
            task = ann.task()
            ann.answer(task)
        assert len(export(copy)) == len(ratings) + 1


def _values(campaign: server.Campaign, address: str) -> dict[str, object]:
    return {
        **server.preset("delta-bleu"),
        "what": campaign.what,
        "per_item": campaign.per_item,
        "practice": [],
        "database": address,
    }


def test_a_backup_that_is_damaged_is_refused(folder: Path, tmp_path: Path):
    new = make_campaign(folder, study=small_study(40))
    backup = tmp_path / "backup.sqlite"
    server.backup_campaign(folder, backup)
    del new
    damaged = bytearray(backup.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 6000] = os.urandom(6000)
    backup.write_bytes(damaged)
    place = folder / "answers.sqlite"
    place.rename(tmp_path / "away")
    with pytest.raises(InputError):
        server.restore_campaign(backup, folder)
    assert not place.exists(), "nothing half-written"
    backup.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(InputError, match="not a database"):
        server.restore_campaign(backup, folder)


def test_old_tables_become_new_ones_whole_or_not_at_all(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, _):
        ann.answer(ann.task())
    before = export(folder)

    def step(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE notes (name VARCHAR PRIMARY KEY)"))
        connection.execute(text("INSERT INTO notes SELECT name FROM raters"))

    def wrong(connection: Connection) -> None:
        raise InputError("the second step does not work")

    now = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", now + 2)
    monkeypatch.setattr(schema, "MIGRATIONS", {now: step, now + 1: wrong})
    with pytest.raises(InputError, match="second step"):
        server.open_database(folder)
    settings = server.read_campaign(folder)
    raw = Database.at(folder, settings.database)
    assert raw.facts()["schema"] == str(now)
    with raw.reading() as connection:
        assert not inspect(connection).has_table("notes")
    monkeypatch.setattr(schema, "MIGRATIONS", {now: step, now + 1: lambda connection: None})
    opened = server.open_database(folder)[1]
    assert opened.facts()["schema"] == str(now + 2)
    with opened.reading() as connection:
        rows = connection.execute(text("SELECT name FROM notes ORDER BY name")).scalars()
        assert list(rows) == ["ann", "bob"]
    opened.close()
    assert export(folder) == before
    monkeypatch.setattr(schema, "VERSION", now + 1)
    with pytest.raises(InputError, match="made by a newer deltableu"):
        server.open_database(folder)
    monkeypatch.setattr(schema, "VERSION", now + 3)
    with pytest.raises(InputError, match="nobody knows any more"):
        server.open_database(folder)
    raw.close()


def test_tables_of_the_first_version(folder: Path, address: str, tmp_path: Path):
    new = make_campaign(folder, address)
    with running(folder) as url, raters(url, new) as (ann, _):
        ann.answer(ann.task())
    before = export(folder)
    backup = tmp_path / "old.sqlite"
    server.backup_campaign(folder, backup)
    for old in (Database.at(folder, address), Database.at_file(backup)):
        with old.writing() as connection:
            connection.execute(text("ALTER TABLE raters DROP COLUMN excluded"))
            connection.execute(text("UPDATE facts SET value = '1' WHERE name = 'schema'"))
        old.close()
    assert export(folder) == before
    with running(folder) as url, raters(url, new) as (ann, _):
        assert ann.tasks()["done"] == 1
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "campaign.toml").write_bytes((folder / "campaign.toml").read_bytes())
    server.restore_campaign(backup, copy, address="")
    _, restored = server.open_database(copy, "") if not address else (None, Database.at(copy))
    assert restored.facts()["schema"] == str(schema.VERSION)
    restored.close()


def test_a_database_without_a_campaign(folder: Path, address: str, tmp_path: Path):
    make_campaign(folder, address)
    _, database = server.open_database(folder)
    database.drop()
    with pytest.raises(InputError, match="holds no campaign"):
        server.open_database(folder)
    database.close()
    if not address:
        (folder / "answers.sqlite").unlink()
        with pytest.raises(InputError, match="is not there"):
            server.open_database(folder)


def test_two_campaigns_do_not_share_a_database(folder: Path, postgres: Postgres):
    address = postgres.new_place()
    make_campaign(folder, address)
    with pytest.raises(InputError, match="holds a campaign already"):
        make_campaign(folder.parent / "other", address)
    assert status(folder).tasks == 12, "the first is none the worse"


def test_a_database_that_is_not_there(folder: Path):
    with pytest.raises(InputError, match="the database does not answer"):
        make_campaign(folder, "postgresql://test@127.0.0.1:1/x")
    assert not folder.exists()


def test_what_strangers_hear_of_an_error_is_no_secret():
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert public_reason(full) == "the disk is full"
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
    assert public_reason(busy) == "the database is busy"
    hidden = Exception('connection to "10.1.2.3" failed for user "boss"')
    assert "boss" not in public_reason(hidden)
    assert "boss" in reason(hidden)


def test_an_answer_to_nothing_harms_no_other(folder: Path, address: str):
    """As after a restore of something older, of which a page knows nothing."""
    make_campaign(folder, address)
    campaign, database = server.open_database(folder)
    service = server.Service(campaign, database)
    try:
        now = server.utc_now()
        records = [
            NewAnswer(new_key(), 1, task, None, False, "[[4.0]]", now, now, now)
            for task in (1, 999, 2)
        ]
        written = service.writer._commit(records)
        assert [one.outcome for one in written] == ["new", "refused", "new"]
        with database.reading() as connection:
            keys = connection.execute(select(schema.answers.c.key)).scalars()
            assert set(keys) == {records[0].key, records[2].key}
    finally:
        service.close()
        database.close()
