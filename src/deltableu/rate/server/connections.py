"""Connections to a campaign's database, and why one did not do what it should."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from deltableu.errors import InputError

#: Seconds to wait for others who write, and for a machine that does not answer.
_PATIENCE, _SILENCE = 20, 10


def parsed_address(address: str) -> URL:
    """The address of a PostgreSQL database, as a user wrote it."""
    try:
        url = make_url(address)
    except ArgumentError:
        message = "a database is written postgresql://USER@HOST/NAME"
        raise InputError(f"{message}, got {address.partition('@')[2] or address!r:.80}") from None
    if url.get_backend_name() == "sqlite":
        raise InputError("SQLite is what a campaign has in its folder: leave --database out")
    if url.get_backend_name() != "postgresql":
        raise InputError(f"databases are PostgreSQL, got {url.get_backend_name()!r}")
    return url.set(drivername="postgresql+psycopg")


def new_engine(url: URL) -> Engine:
    """What connects to a database, with each connection made ready."""
    # Errors reach logs, and what people said and by which key does not belong there.
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": _PATIENCE})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    # A machine that is gone must be noticed: by default a connection waits for it for hours.
    alive = {
        "connect_timeout": _SILENCE,
        "keepalives_idle": _SILENCE,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 2_000 * _SILENCE,
    }
    engine = create_engine(
        url, hide_parameters=True, pool_pre_ping=True, pool_size=4, connect_args=alive
    )
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # Transactions begin where we say so, not where the driver thinks best.
    connection.isolation_level = None
    mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        # What a commit promises was considered for this journal alone.
        raise InputError(f"SQLite cannot write ahead on this disk (its journal is {mode!r})")
    connection.execute("PRAGMA synchronous=FULL")
    # Macs have a stronger kind of writing to the disk, others ignore this.
    connection.execute("PRAGMA fullfsync=ON")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("deltableu_writes", False)
    # A transaction that reads first and writes then may find that somebody was faster.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _prepare_postgresql(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        # A commit that is confirmed is on the disk, whatever the server's usual habit.
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )
        cursor.execute(f"SET lock_timeout = '{_PATIENCE}s'")
    connection.commit()


def reason(error: BaseException) -> str:
    """Why a database did not do what it should, for whoever runs it."""
    cause = _cause(error)
    first = (str(cause).strip() or type(cause).__name__).splitlines()[0]
    return f"{public_reason(error)}: {first[:1].lower()}{first[1:]}"


def public_reason(error: BaseException) -> str:
    """Why a database did not do what it should, without anything that strangers should not know."""
    cause = _cause(error)
    # SQLite has a number for each kind of trouble, of which the last byte says enough here.
    number = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    state = str(getattr(cause, "sqlstate", None) or "")
    if number == sqlite3.SQLITE_FULL or state == "53100":
        return "the disk is full"
    if number == sqlite3.SQLITE_IOERR:
        return "the disk is full or does not work"
    if number in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or state in ("55P03", "57014"):
        return "the database is busy"
    if isinstance(cause, sqlite3.Error) or (state and state[:2] not in ("08", "57")):
        return "the database refused it"
    return "the database does not answer"


def _cause(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
