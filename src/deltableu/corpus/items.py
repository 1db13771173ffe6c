"""Items with their references: JSON Lines, TSV or Parquet in, `Item` out, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from deltableu.corpus.item_records import ITEM_COLUMNS, item_record, parse_item
from deltableu.corpus.item_rows import items_from_rows, write_item_rows
from deltableu.corpus.types import Item
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    encode,
    fail,
    file_form,
    file_name,
    read_records,
    read_rows,
    write_records,
    write_rows,
)

FORMS = ("jsonl", "tsv", "parquet")


@dataclass(slots=True)
class SeenItems:
    """The line of every item id, also of items that were dropped because something was wrong."""

    lines: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    """False once a record was dropped whose id is not known."""


def read_items(path: PathLike, report: Report = fail) -> Iterator[Item]:
    """Read items one after another, checking each.

    Parameters
    ----------
    path
        `items.jsonl`, `items.tsv` (both also with `.gz`) or `items.parquet`; a name without a
        suffix, and standard input (`-`), are read as JSON Lines.
    report
        Called with each problem; the item is then left out. The default raises InputError.

    Yields
    ------
    Item
        Each item that has nothing wrong with it, in file order.
    """
    return (item for _, item in numbered_items(path, report))


def numbered_items(
    path: PathLike, report: Report = fail, seen: SeenItems | None = None
) -> Iterator[tuple[int, Item]]:
    """Like `read_items`, with line numbers; `seen` is filled on the way."""
    seen = SeenItems() if seen is None else seen
    for line, id, item in _parsed(path, report, seen):
        if id is None:
            seen.complete = False
        elif id in seen.lines:
            seen.complete = False
            message = f"the id was used before, on line {seen.lines[id]}"
            report(Problem(message, file_name(path), line, "id", id))
        else:
            seen.lines[id] = line
            if item is not None:
                yield line, item


def _parsed(
    path: PathLike, report: Report, seen: SeenItems
) -> Iterator[tuple[int, str | None, Item | None]]:
    """Yield line, id (None if unusable) and item (None if anything is wrong with it)."""

    def lost(problem: Problem) -> None:
        if problem.severity == "error":
            seen.complete = False
        report(problem)

    form = file_form(path) or "jsonl"
    if form == "tsv":
        yield from items_from_rows(path, report, lost)
        return
    if form == "jsonl":
        records = read_records(path, lost)
    elif form == "parquet":
        records = read_rows(path, lost)
    else:
        lost(Problem(f"items are read from {_ENDINGS}", file=file_name(path)))
        return
    checker = Checker(file_name(path), report)
    for line, values in records:
        checker.start(line)
        item = parse_item(values, checker)
        yield line, checker.item, item


_ENDINGS = "a file whose name ends in .jsonl, .tsv or .parquet"


def write_items(path: PathLike, items: Iterable[Item]) -> None:
    """Write items so that reading them gives the same items; the name's ending says the form.

    Items that could not be read again (a weight beyond [-1, 1], no reference, an id twice) raise
    InputError, and whatever stood at `path` stays.
    """
    form = file_form(path)
    if form == "jsonl":
        write_records(path, (record for _, record in _checked(items)))
    elif form == "tsv":
        write_item_rows(path, (item for item, _ in _checked(items)))
    elif form == "parquet":
        records = ({**record, "meta": _json_or_none(record)} for _, record in _checked(items))
        write_rows(path, records, ITEM_COLUMNS)
    else:
        raise InputError(Problem(f"items are written to {_ENDINGS}", file=file_name(path)))


def _checked(items: Iterable[Item]) -> Iterator[tuple[Item, Mapping[str, object]]]:
    """Yield items with their records, after reading each record as a reader would."""
    checker = Checker(None, fail)
    seen: set[str] = set()
    for item in items:
        checker.start(None)
        checker.item = item.id
        if item.id in seen:
            checker.complain("id", "the id was used before")
        seen.add(item.id)
        record = item_record(item)
        try:
            parse_item(record, checker)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            checker.complain("meta", f"cannot be written as JSON: {error}")
        yield item, record


def _json_or_none(record: Mapping[str, object]) -> str | None:
    return encode(record["meta"]) if "meta" in record else None
