"""A campaign's database: SQLite in its folder, or PostgreSQL."""

from __future__ import annotations

import hashlib
import os
import secrets
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import URL, Connection, func, insert, inspect, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from deltableu.errors import InputError, Problem, check_known
from deltableu.rate.server import schema
from deltableu.rate.server.connections import new_engine, parsed_address, reason
from deltableu.rate.server.tasks import Task, content_bytes

DATABASE_FILE = "answers.sqlite"
#: Rows that are copied at once.
_BATCH = 1_000
#: Letters of a rater's name: what is longer was not meant as one.
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class RaterLink:
    """A rater and the secret part of the link, which is known only now."""

    name: str
    token: str


@dataclass(frozen=True, slots=True)
class RaterRow:
    """What is known of a rater; times are ISO 8601, and `token` is a digest."""

    number: int
    name: str
    token: str | None
    created: str
    expires: str | None
    revoked: str | None
    excluded: str | None

    def may_rate(self, now: str) -> bool:
        """Whether the link still works."""
        in_time = self.expires is None or now < self.expires
        return self.token is not None and self.revoked is None and in_time


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task as it is kept; `content` is what the page gets."""

    number: int
    block: int
    item: str
    kind: str
    pair: str | None
    targets: str
    thing: str
    content: bytes


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """What somebody said of a task, with the values as JSON."""

    number: int
    rater: int
    task: int
    supersedes: int | None
    flipped: bool
    values: str
    started: str
    finished: str


def utc_now() -> str:
    """The time, as it is written everywhere: such texts sort by time."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """A moment in UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def digest(secret: str) -> str:
    """What is kept of a secret: it has 160 random bits, so that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_secret() -> str:
    """The part of a link that cannot be guessed."""
    return secrets.token_urlsafe(20)


class Database:
    """A campaign's tables.

    Parameters
    ----------
    url
        `sqlite:///PATH` or `postgresql://...`.
    """

    def __init__(self, url: URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.engine = new_engine(url)

    @classmethod
    def at(cls, folder: Path, address: str = "") -> Database:
        """The database of a campaign's folder: the file in it, or the one at an address."""
        if not address:
            return cls.at_file(folder / DATABASE_FILE)
        return cls(parsed_address(address))

    @classmethod
    def at_file(cls, path: Path) -> Database:
        """The SQLite database in a file."""
        return cls(URL.create("sqlite", database=str(path)))

    @property
    def name(self) -> str:
        """Where it is, without any password."""
        if self.is_sqlite:
            return str(self.url.database)
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction; what cannot be done is said in one sentence."""
        with self._named(), self.engine.connect() as connection:
            connection = connection.execution_options(deltableu_writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of all tables, whoever writes meanwhile."""
        with self._named(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise InputError(Problem(reason(error), file=self.name)) from error
        except (UnicodeDecodeError, msgspec.DecodeError) as error:
            # Names of tables and what stands in cells, as a broken disk leaves them.
            raise InputError(Problem(f"is damaged: {error}", file=self.name)) from error

    def create(self, *, campaign: str, admin: str) -> None:
        """Make all tables; refused where there are some."""
        if self.is_sqlite:
            path = Path(str(self.url.database))
            # What raters say is nobody else's business.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with self.writing() as connection:
            if inspect(connection).has_table("facts"):
                message = "holds a campaign already: choose another database"
                raise InputError(Problem(message, file=self.name))
            schema.METADATA.create_all(connection)
            values = {
                "schema": str(schema.VERSION),
                "campaign": campaign,
                "secret": secrets.token_hex(32),
                "admin": digest(admin),
                "state": "open",
                "changes": "0",
            }
            rows = [{"name": name, "value": value} for name, value in values.items()]
            connection.execute(insert(schema.facts), rows)

    def drop(self) -> None:
        """Remove all tables."""
        with self.writing() as connection:
            schema.METADATA.drop_all(connection)

    def open(self) -> Database:
        """Itself, after bringing old tables to the present version."""
        if self.is_sqlite and not os.path.exists(str(self.url.database)):
            raise InputError(Problem("the campaign's database is not there", file=self.name))
        try:
            with self.writing() as connection:
                schema.migrate(connection, self.name)
        except BaseException:
            self.close()
            raise
        return self

    def facts(self) -> dict[str, str]:
        """What is kept of the campaign as a whole."""
        with self.reading() as connection:
            return read_facts(connection)

    def set_fact(self, name: str, value: str) -> None:
        """Change what is kept of the campaign, and let a server know."""
        with self.writing() as connection:
            table = schema.facts
            done = connection.execute(update(table).where(table.c.name == name).values(value=value))
            if not done.rowcount:
                connection.execute(insert(table).values(name=name, value=value))
            count_change(connection)

    def add_tasks(self, made: Sequence[Sequence[Task]], wanted: Sequence[int]) -> int:
        """Add blocks of tasks, each for some number of raters; how many were there before."""
        with self.writing() as connection:
            block = (connection.execute(select(func.max(schema.blocks.c.number))).scalar() or 0) + 1
            first = (connection.execute(select(func.max(schema.tasks.c.number))).scalar() or 0) + 1
            number = first
            block_rows: list[dict[str, Any]] = []
            task_rows: list[dict[str, Any]] = []
            for tasks, raters in zip(made, wanted, strict=True):
                block_rows.append({"number": block, "wanted": raters})
                for place, task in enumerate(tasks):
                    task_rows.append(_task_values(task, number, block, place))
                    number += 1
                block += 1
            for table, rows in ((schema.blocks, block_rows), (schema.tasks, task_rows)):
                for start in range(0, len(rows), _BATCH):
                    connection.execute(insert(table), rows[start : start + _BATCH])
            count_change(connection)
        return first - 1

    def set_wanted(self, wanted: Mapping[int, int]) -> None:
        """Change for how many raters blocks are."""
        with self.writing() as connection:
            table = schema.blocks
            for block, number in wanted.items():
                statement = update(table).where(table.c.number == block).values(wanted=number)
                connection.execute(statement)
            count_change(connection)

    def things(self) -> set[str]:
        """Everything that is rated."""
        with self.reading() as connection:
            return set(connection.execute(select(schema.tasks.c.thing)).scalars())

    def add_raters(self, names: Iterable[str], expires: timedelta | None = None) -> list[RaterLink]:
        """Add raters; their links are returned, and only digests of them kept."""
        links = [RaterLink(name, new_secret()) for name in names]
        until = None if expires is None else utc_text(datetime.now(UTC) + expires)
        with self.writing() as connection:
            _check_new_names(connection, [link.name for link in links])
            for link in links:
                connection.execute(
                    insert(schema.raters).values(
                        name=link.name, token=digest(link.token), created=utc_now(), expires=until
                    )
                )
            count_change(connection)
        return links

    def check_new_raters(self, names: Iterable[str]) -> None:
        """Complain about names that `add_raters` would refuse."""
        with self.reading() as connection:
            _check_new_names(connection, names)

    def new_link(self, name: str, expires: timedelta | None = None) -> RaterLink:
        """Another link for a rater; the old one ends."""
        return self.new_links([name], expires)[0]

    def new_links(self, names: Iterable[str], expires: timedelta | None = None) -> list[RaterLink]:
        """Other links for raters, for all of them or for none; the old ones end."""
        links = [RaterLink(name, new_secret()) for name in dict.fromkeys(names)]
        until = None if expires is None else utc_text(datetime.now(UTC) + expires)
        self._change_raters(
            {
                link.name: {"token": digest(link.token), "expires": until, "revoked": None}
                for link in links
            }
        )
        return links

    def new_admin(self) -> str:
        """Another secret for the organiser; the old one ends, and so do its sessions."""
        secret = new_secret()
        self.set_fact("admin", digest(secret))
        return secret

    def revoke(self, *names: str) -> None:
        """End raters' links; what was answered stays."""
        self._change_raters({name: {"revoked": utc_now()} for name in names})

    def exclude(self, *names: str) -> None:
        """Let nothing count that raters said, and others do it; it stays, and the links end."""
        now = utc_now()
        self._change_raters({name: {"excluded": now, "revoked": now} for name in names})

    def forget(self, *names: str) -> list[str]:
        """Put names that say nothing in place of raters', and end their links."""
        # A damaged database cannot be written anew, and then names would stay in its file.
        self.check()
        others = {name: f"forgotten-{secrets.token_hex(6)}" for name in names}
        self._change_raters(
            {
                name: {"name": other, "token": None, "revoked": utc_now()}
                for name, other in others.items()
            }
        )
        # What was overwritten must not be readable in the database's files either.
        with self._named(), self.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            if self.is_sqlite:
                raw = connection.connection.driver_connection
                assert isinstance(raw, sqlite3.Connection)
                raw.execute("VACUUM")
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                connection.execute(text("VACUUM FULL raters"))
        return list(others.values())

    def _change_raters(self, changes: Mapping[str, Mapping[str, object]]) -> None:
        with self.writing() as connection:
            table = schema.raters
            there = list(connection.execute(select(table.c.name)).scalars())
            for name, values in changes.items():
                check_known("rater", name, there)
                connection.execute(update(table).where(table.c.name == name).values(**values))
            count_change(connection)

    def copy_to(self, other: Database) -> None:
        """Copy everything, as it is at this moment, into a database without tables."""
        if other.is_sqlite:
            os.close(os.open(str(other.url.database), os.O_CREAT | os.O_RDWR, 0o600))
        with self.reading() as source, other.writing() as target:
            if inspect(target).has_table("facts"):
                message = "holds a campaign already: choose another database"
                raise InputError(Problem(message, file=other.name))
            schema.METADATA.create_all(target)
            for table in schema.METADATA.sorted_tables:
                order = list(table.primary_key.columns)
                rows = source.execute(select(table).order_by(*order)).mappings()
                while part := rows.fetchmany(_BATCH):
                    target.execute(insert(table), [dict(row) for row in part])
            if not other.is_sqlite:
                _advance_numbers(target)

    def check(self) -> None:
        """Complain where the database is damaged."""
        with self.reading() as connection:
            if self.is_sqlite:
                found = connection.execute(text("PRAGMA integrity_check")).scalar()
                if found != "ok":
                    raise InputError(Problem(f"is damaged: {found}", file=self.name))
                if (
                    wrong := connection.execute(text("PRAGMA foreign_key_check")).first()
                ) is not None:
                    raise InputError(Problem(f"is damaged: {wrong[0]}", file=self.name))


def count_change(connection: Connection) -> None:
    """Let a running server know that there is something new to read."""
    table = schema.facts
    found = connection.execute(select(table.c.value).where(table.c.name == "changes")).scalar()
    value = str(int(found or 0) + 1)
    connection.execute(update(table).where(table.c.name == "changes").values(value=value))


def read_facts(connection: Connection) -> dict[str, str]:
    """What is kept of the campaign as a whole."""
    rows = connection.execute(select(schema.facts.c.name, schema.facts.c.value))
    return {row.name: row.value for row in rows}


def read_raters(connection: Connection) -> list[RaterRow]:
    """All raters."""
    table = schema.raters
    columns = (table.c[name] for name in RaterRow.__dataclass_fields__)
    rows = connection.execute(select(*columns).order_by(table.c.number))
    return [RaterRow(*row) for row in rows]


def read_blocks(connection: Connection) -> dict[int, int]:
    """For how many raters each block is."""
    table = schema.blocks
    rows = connection.execute(select(table.c.number, table.c.wanted).order_by(table.c.number))
    return {row.number: row.wanted for row in rows}


def read_tasks(
    connection: Connection, after: int = 0, rater: int | None = None
) -> Iterator[TaskRow]:
    """Tasks, block by block; those after some number, and those that a rater answered."""
    table, answers = schema.tasks, schema.answers
    columns = (table.c[name] for name in TaskRow.__dataclass_fields__)
    chosen = select(*columns).where(table.c.number > after).order_by(table.c.block, table.c.place)
    if rater is not None:
        chosen = chosen.where(table.c.number.in_(select(answers.c.task).filter_by(rater=rater)))
    for row in connection.execute(chosen):
        values = dict(row._mapping)
        yield TaskRow(**{**values, "content": values["content"].encode()})


def read_answers(connection: Connection, rater: int | None = None) -> Iterator[AnswerRow]:
    """Answers in the order in which they came, also those that were superseded later."""
    table = schema.answers
    columns = (table.c[name] for name in AnswerRow.__dataclass_fields__)
    chosen = select(*columns).order_by(table.c.number)
    if rater is not None:
        chosen = chosen.where(table.c.rater == rater)
    for number, rater, task, supersedes, flipped, *rest in connection.execute(chosen):
        yield AnswerRow(number, rater, task, supersedes, bool(flipped), *rest)


def _task_values(task: Task, number: int, block: int, place: int) -> dict[str, Any]:
    return {
        "number": number,
        "block": block,
        "place": place,
        "item": task.item,
        "kind": task.kind,
        "pair": task.label,
        "targets": msgspec.json.encode(task.targets).decode(),
        "thing": task.thing,
        "content": content_bytes(task.content).decode(),
    }


def _check_new_names(connection: Connection, names: Iterable[str]) -> None:
    """Names that nobody has, and that files, pages and terminals can show in one line."""
    there = set(connection.execute(select(schema.raters.c.name)).scalars())
    for name in names:
        if not name.strip():
            raise InputError("the name of a rater is empty")
        if len(name) > _LONGEST_NAME:
            most = f"{_LONGEST_NAME} at most"
            raise InputError(f"the name of a rater has {len(name):,} letters: {most}")
        if any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in name):
            raise InputError(f"the name of a rater has letters that cannot be shown: {name!r}")
        if name in there:
            raise InputError(f"the rater {name!r} is there already")
        there.add(name)


def _advance_numbers(connection: Connection) -> None:
    """Let PostgreSQL number new rows after those that were copied."""
    for table in (schema.raters, schema.answers, schema.practice):
        name = table.name
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'number'), "
                f"COALESCE((SELECT MAX(number) FROM {name}), 0) + 1, false)"
            )
        )
