"""Parts in any order in, a study out; what does not fit into memory waits on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal, cast

from deltableu.corpus import (
    Item,
    Origin,
    Rating,
    RatingTable,
    Reference,
    Study,
    check_new_study,
    default_origin,
    output_file,
    write_items,
    write_output_pairs,
    write_ratings,
)
from deltableu.errors import InputError, Problem
from deltableu.io import (
    PathLike,
    Report,
    atomic_folder,
    decode,
    decode_object,
    encode,
    fail,
    scratch_folder,
    shown,
)
from deltableu.layouts.parts import FoundItem, FoundOutput, Part, Place
from deltableu.text import same_text

Missing = Literal["error", "empty", "drop"]

_TABLES = """
CREATE TABLE items (place INTEGER PRIMARY KEY, id TEXT UNIQUE, message TEXT, context TEXT,
                    meta TEXT);
CREATE TABLE refs (place INTEGER PRIMARY KEY, item TEXT, text TEXT, weight REAL, origin TEXT,
                   UNIQUE (item, text));
CREATE TABLE systems (place INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE outputs (system TEXT, item TEXT, text TEXT, PRIMARY KEY (system, item));
CREATE TABLE ratings (place INTEGER PRIMARY KEY, rater TEXT, item TEXT, target TEXT, value REAL,
                      criterion TEXT, scale TEXT, kind TEXT, pair TEXT, position INTEGER,
                      started TEXT, finished TEXT);
"""
_RATING = "rater, item, target, value, criterion, scale, kind, pair, position, started, finished"
#: Items of which it is known what was said of them last.
_REMEMBERED = 100_000
#: Kilobytes of pages that SQLite keeps in memory.
_CACHE = 64_000


@dataclass(frozen=True, slots=True)
class Gathered:
    """How much was found.

    Attributes
    ----------
    items, references, outputs, ratings : int
    systems, raters, criteria : tuple of str
        Raters and criteria by name, systems in the order in which they were found.
    without_references : int
        Items that have none.
    missing : int
        Outputs that some system lacks.
    dropped : int
        Items that were left out because a system has no output for them.
    unknown : int
        Ratings that were left out because nothing of their system is there.
    """

    items: int
    references: int
    outputs: int
    ratings: int
    systems: tuple[str, ...]
    raters: int
    criteria: tuple[str, ...]
    without_references: int
    missing: int
    dropped: int
    unknown: int


class Gathering:
    """Puts a study together, in files of its own.

    Parameters
    ----------
    folder : Path
        Where its database is.
    report : callable
        Called where parts contradict each other; the later part is then left out.
    """

    def __init__(self, folder: Path, report: Report = fail) -> None:
        self._report = report
        self._base = sqlite3.connect(folder / "parts.db")
        self._base.executescript(
            f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-{_CACHE};"
            "PRAGMA temp_store=FILE;" + _TABLES
        )
        self._dropped = self._unknown = 0
        self._told: dict[str, int] = {}

    def close(self) -> None:
        self._base.close()

    def add(self, part: Part, place: Place) -> None:
        """Add what was found somewhere."""
        if isinstance(part, FoundItem):
            self._add_item(part, place)
        elif isinstance(part, FoundOutput):
            self._add_output(part, place)
        else:
            values = [getattr(part, name.strip()) for name in _RATING.split(",")]
            marks = ", ".join("?" * len(values))
            self._base.execute(f"INSERT INTO ratings ({_RATING}) VALUES ({marks})", values)

    def _add_item(self, part: FoundItem, place: Place) -> None:
        # Tables repeat an item in every row that is about it.
        told = hash((part.message, part.context, part.references, repr(part.meta)))
        if self._told.get(part.id) == told:
            return
        if len(self._told) >= _REMEMBERED:
            self._told.clear()
        self._told[part.id] = told
        context = encode(part.context) if part.context else None
        meta = encode(part.meta) if part.meta else None
        fresh = self._base.execute(
            "INSERT OR IGNORE INTO items (id, message, context, meta) VALUES (?, ?, ?, ?)",
            (part.id, part.message, context, meta),
        )
        if fresh.rowcount == 0 and (part.message is not None or context or meta):
            self._complete(part, context, place)
        if part.references:
            self._base.executemany(
                "INSERT INTO refs (item, text, weight, origin) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET weight = coalesce(refs.weight, excluded.weight)",
                [(part.id, one.text, one.weight, one.origin) for one in part.references],
            )

    def _complete(self, part: FoundItem, context: str | None, place: Place) -> None:
        """Add to an item that is known what is new of it, and refuse what contradicts it."""
        message, before, meta = self._base.execute(
            "SELECT message, context, meta FROM items WHERE id = ?", (part.id,)
        ).fetchone()
        for field, old, new in (
            ("message", message, part.message),
            ("context", before, context),
        ):
            if old is not None and new is not None and old != new:
                wrong = f"was {shown(old)} before and is {shown(new)} here: is the item's id right?"
                self._complain(wrong, place, part.id, field)
                return
        known = {} if meta is None else decode_object(meta)
        self._base.execute(
            "UPDATE items SET message = coalesce(message, ?), context = coalesce(context, ?), "
            "meta = ? WHERE id = ?",
            (part.message, context, encode({**part.meta, **known}) or None, part.id),
        )

    def _add_output(self, part: FoundOutput, place: Place) -> None:
        self._base.execute("INSERT OR IGNORE INTO systems (name) VALUES (?)", (part.system,))
        fresh = self._base.execute(
            "INSERT OR IGNORE INTO outputs VALUES (?, ?, ?)", (part.system, part.item, part.text)
        )
        if fresh.rowcount == 0:
            (old,) = self._base.execute(
                "SELECT text FROM outputs WHERE system = ? AND item = ?", (part.system, part.item)
            ).fetchone()
            if old != part.text and not same_text(old, part.text):
                wrong = f"system {part.system!r} said {shown(old)} before, {shown(part.text)} here"
                self._complain(wrong, place, part.item, "prediction")

    def _complain(self, message: str, place: Place, item: str, field: str) -> None:
        self._report(Problem(message, place.file, place.line, field, item))

    def finish(self, missing: Missing = "error", *, keep_all: bool = False) -> None:
        """All parts are there: look whether they make a study.

        Parameters
        ----------
        missing
            What to do with items for which a system has no output.
        keep_all
            Also keep items without a reference, which most metrics need.
        """
        base = self._base
        systems = self._one("SELECT count(*) FROM systems")
        # Outputs and ratings alone may name items, too.
        for table in ("refs", "outputs"):
            base.execute(
                f"INSERT OR IGNORE INTO items (id) SELECT item FROM {table} ORDER BY rowid"
            )
        if not keep_all:
            if not self._one("SELECT count(*) FROM refs") and self._one(
                "SELECT count(*) FROM items"
            ):
                message = "no item has a reference: say which columns hold them (references=NAME)"
                raise InputError(f"{message}, or keep items without (--without-references keep)")
            base.execute("DELETE FROM items WHERE id NOT IN (SELECT item FROM refs)")
        if missing == "drop":
            counted = "SELECT item FROM outputs GROUP BY item HAVING count(*) = ?"
            gone = base.execute(f"DELETE FROM items WHERE id NOT IN ({counted})", (systems,))
            self._dropped = gone.rowcount if systems else 0
        if not self._one("SELECT count(*) FROM items"):
            raise InputError("there is no item left: see what was understood with --dry-run")
        if missing == "error":
            self._check_complete()
        base.execute("DELETE FROM outputs WHERE item NOT IN (SELECT id FROM items)")
        base.execute("DELETE FROM ratings WHERE item NOT IN (SELECT id FROM items)")
        if systems:
            known = "SELECT 'system:' || name FROM systems"
            gone = base.execute(
                f"DELETE FROM ratings WHERE target LIKE 'system:%' AND target NOT IN ({known})"
            )
            self._unknown = gone.rowcount

    def _check_complete(self) -> None:
        lacking = self._base.execute(
            "SELECT systems.name, items.id FROM systems JOIN items LEFT JOIN outputs ON "
            "outputs.system = systems.name AND outputs.item = items.id "
            "WHERE outputs.item IS NULL ORDER BY systems.place, items.place LIMIT 1"
        ).fetchone()
        if lacking is not None:
            system, item = lacking
            message = f"system {system!r} has no output for it: --missing empty or drop goes on"
            raise InputError(Problem(message, item=item))

    def _one(self, query: str) -> int:
        return int(self._base.execute(query).fetchone()[0])

    def counts(self) -> Gathered:
        """How much there is."""
        one = self._one
        items = one("SELECT count(*) FROM items")
        systems = tuple(self._systems())
        outputs = one("SELECT count(*) FROM outputs")
        return Gathered(
            items,
            one("SELECT count(*) FROM refs WHERE item IN (SELECT id FROM items)"),
            outputs,
            one("SELECT count(*) FROM ratings"),
            systems,
            one("SELECT count(DISTINCT rater) FROM ratings"),
            tuple(name for (name,) in self._base.execute("SELECT DISTINCT criterion FROM ratings")),
            one("SELECT count(*) FROM items WHERE id NOT IN (SELECT item FROM refs)"),
            items * len(systems) - outputs,
            self._dropped,
            self._unknown,
        )

    def _systems(self) -> Iterator[str]:
        return (name for (name,) in self._base.execute("SELECT name FROM systems ORDER BY place"))

    def items(self) -> Iterator[Item]:
        """Items in the order in which they were found, with all their references."""
        rows = self._base.execute(
            "SELECT items.id, message, context, meta, text, weight, origin FROM items "
            "LEFT JOIN refs ON refs.item = items.id ORDER BY items.place, refs.place"
        )
        for id, several in groupby(rows, itemgetter(0)):
            group = list(several)
            _, message, context, meta, *_ = group[0]
            references = tuple(
                Reference(
                    f"r{number}",
                    text,
                    weight,
                    cast(Origin, origin) if origin else default_origin(number),
                )
                for number, (*_, text, weight, origin) in enumerate(group)
                if text is not None
            )
            turns = () if context is None else tuple(cast(list[str], decode(context)))
            known = {} if meta is None else decode_object(meta)
            yield Item(id, references, turns, message, known)

    def outputs(self, system: str) -> Iterator[tuple[str, str]]:
        """Item ids and a system's outputs, empty where it has none."""
        return (
            (id, text or "")
            for id, text in self._base.execute(
                "SELECT items.id, text FROM items LEFT JOIN outputs ON outputs.item = items.id "
                "AND outputs.system = ? ORDER BY items.place",
                (system,),
            )
        )

    def ratings(self) -> Iterator[Rating]:
        """Ratings in the order in which they were found."""
        for row in self._base.execute(f"SELECT {_RATING} FROM ratings ORDER BY place"):
            yield Rating(*row)

    def study(self) -> Study:
        """The study, in memory."""
        items = tuple(self.items())
        outputs = {name: tuple(text for _, text in self.outputs(name)) for name in self._systems()}
        return Study(items, outputs, RatingTable.from_records(self.ratings()))

    def write(self, folder: PathLike, *, replace: bool = False) -> None:
        """Write the study, one record after the other, so that it appears whole or not at all."""
        check_new_study(folder, replace=replace)
        with atomic_folder(folder, replace=replace) as temporary:
            write_items(temporary / "items.jsonl", self.items())
            systems = list(self._systems())
            if systems:
                (temporary / "outputs").mkdir()
            for name in systems:
                write_output_pairs(temporary / "outputs" / output_file(name), self.outputs(name))
            if self._one("SELECT count(*) FROM ratings"):
                write_ratings(temporary / "ratings.csv", self.ratings())


@contextmanager
def gathering(report: Report = fail) -> Iterator[Gathering]:
    """A gathering that leaves nothing behind."""
    with scratch_folder() as folder:
        made = Gathering(folder, report)
        try:
            yield made
        except sqlite3.Error as error:
            raise InputError(f"{folder}: cannot hold what was read: {error}") from None
        finally:
            made.close()


def gather(parts: Iterable[tuple[Part, Place]], into: Gathering) -> Iterator[int]:
    """Add parts; yields now and then how many were added."""
    count = 0
    for count, (part, place) in enumerate(parts, start=1):
        into.add(part, place)
        if count % 1000 == 0:
            yield count
    yield count
