"""The tables of a campaign's database, and how older ones become the present ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.types import TypeEngine

from deltableu.errors import InputError

#: Of the tables below. A new number needs a step in `MIGRATIONS`.
VERSION = 2

METADATA = MetaData()
#: SQLite numbers rows by itself only where the type is INTEGER.
_NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")

#: Facts of the campaign: schema, id, secret, admin, state, changes.
facts = Table("facts", METADATA, Column("name", String, primary_key=True), Column("value", Text))

#: A block is what one rater takes at once; `wanted` is for how many raters it is.
blocks = Table(
    "blocks",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("wanted", Integer, nullable=False),
)

tasks = Table(
    "tasks",
    METADATA,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("block", ForeignKey("blocks.number"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("item", Text, nullable=False),
    Column("kind", String, nullable=False),
    Column("pair", Text),
    Column("targets", Text, nullable=False),
    Column("thing", Text, nullable=False),
    Column("content", Text, nullable=False),
    Index("tasks_of_a_block", "block", "place", unique=True),
)

#: `token` is a digest of the rater's link.
raters = Table(
    "raters",
    METADATA,
    Column("number", _NUMBER, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("token", String, unique=True),
    Column("created", String, nullable=False),
    Column("expires", String),
    Column("revoked", String),
    Column("excluded", String),
)

leases = Table(
    "leases",
    METADATA,
    Column("block", ForeignKey("blocks.number"), primary_key=True),
    Column("rater", ForeignKey("raters.number"), primary_key=True),
    Column("until", String, nullable=False),
)

#: Rows are added and never changed. An answer that somebody takes back is superseded by another.
answers = Table(
    "answers",
    METADATA,
    Column("number", _NUMBER, primary_key=True),
    Column("key", String, nullable=False, unique=True),
    Column("rater", ForeignKey("raters.number"), nullable=False),
    Column("task", ForeignKey("tasks.number"), nullable=False),
    Column("supersedes", ForeignKey("answers.number"), unique=True),
    Column("flipped", Boolean, nullable=False),
    Column("values", Text, nullable=False),
    Column("started", String, nullable=False),
    Column("finished", String, nullable=False),
    Column("received", String, nullable=False),
    Index("answers_of_a_rater", "rater", "task"),
)
Index(
    "one_first_answer",
    answers.c.rater,
    answers.c.task,
    unique=True,
    sqlite_where=answers.c.supersedes.is_(None),
    postgresql_where=answers.c.supersedes.is_(None),
)

practice = Table(
    "practice",
    METADATA,
    Column("number", _NUMBER, primary_key=True),
    Column("key", String, nullable=False, unique=True),
    Column("rater", ForeignKey("raters.number"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("values", Text, nullable=False),
    Column("received", String, nullable=False),
)

#: What turns the tables of a version into those of the next.
MIGRATIONS: Mapping[int, Callable[[Connection], None]] = {
    # Raters whose ratings do not count.
    1: lambda connection: _add_column(connection, raters.c.excluded),
}


def _add_column(connection: Connection, column: Column[str]) -> None:
    kind = column.type.compile(connection.dialect)
    connection.execute(text(f"ALTER TABLE {column.table.name} ADD COLUMN {column.name} {kind}"))


def migrate(connection: Connection, where: str) -> int:
    """Bring tables to the present version, and say which they had.

    All steps belong to one transaction: tables are those of the old version or of the new one.
    """
    if not inspect(connection).has_table("facts"):
        raise InputError(f"{where} holds no campaign: deltableu rate new makes one")
    # For whoever else brings them there at the same time.
    chosen = select(facts.c.value).where(facts.c.name == "schema").with_for_update()
    found = connection.execute(chosen).scalar()
    try:
        version = int(found or 0)
    except ValueError:
        message = f"{where} is damaged: it does not say of which version its tables are"
        raise InputError(message) from None
    if version > VERSION:
        raise InputError(
            f"{where} was made by a newer deltableu (tables of version {version}, this one knows "
            f"{VERSION}): install the newer one"
        )
    for old in range(version, VERSION):
        if old not in MIGRATIONS:
            raise InputError(f"{where} has tables of version {old}, which nobody knows any more")
        MIGRATIONS[old](connection)
    if version < VERSION:
        connection.execute(update(facts).where(facts.c.name == "schema").values(value=str(VERSION)))
    return version
