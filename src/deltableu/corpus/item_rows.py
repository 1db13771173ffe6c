"""Items as a table: one row per reference, the rows of an item together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from deltableu.corpus.item_records import WEIGHTS, parse_meta, parse_origin
from deltableu.corpus.types import Item, Reference, Source
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    Row,
    as_number,
    decode,
    encode,
    file_name,
    number_text,
    read_tsv,
    shown,
    write_tsv,
)

ROW_COLUMNS = (
    "id",
    "context",
    "message",
    "reference_id",
    "reference",
    "weight",
    "origin",
    "utterance",
    "source_id",
    "source_score",
    "source_rank",
    "meta",
)
_OF_ITEM = ("context", "message", "meta")


def items_from_rows(
    path: PathLike, report: Report, lost: Report
) -> Iterator[tuple[int, str | None, Item | None]]:
    """Yield first line, id and item (None if a row is wrong); `lost` hears of rows without id."""
    checker = Checker(file_name(path), report)
    rows = read_tsv(path, ("id", "reference"), ROW_COLUMNS, lost)
    ended: dict[str, int] = {}
    for id, group in groupby(rows, key=lambda numbered: numbered[1]["id"]):
        together = list(group)
        line = together[0][0]
        checker.start(line)
        checker.identifier(id, "id")
        if not id:
            yield line, None, None
            continue
        checker.item = id
        if id in ended:
            message = "the rows of an item must stand together, but others end on line"
            checker.complain("id", f"{message} {ended[id]}")
            continue
        ended[id] = together[-1][0]
        yield line, id, _parse_group(id, together, checker)


def _parse_group(id: str, rows: list[tuple[int, Row]], checker: Checker) -> Item | None:
    line, first = rows[0]
    context = _parse_context(first.get("context"), checker)
    meta = parse_meta(first.get("meta"), checker)
    references: list[Reference] = []
    lines: dict[str, int] = {}
    for position, (number, row) in enumerate(rows):
        checker.line = number
        for column in _OF_ITEM:
            if row.get(column) not in (None, first.get(column)):
                checker.complain(column, f"differs from that of the same item on line {line}")
        reference = _parse_row(row, position, checker)
        references.append(reference)
        before = lines.setdefault(reference.id, number)
        if before != number:
            message = f"the id {shown(reference.id)} was used on line {before}"
            checker.complain("reference_id", message)
    if checker.failed:
        return None
    return Item(id, tuple(references), context, first.get("message"), meta)


def _parse_context(cell: str | None, checker: Checker) -> tuple[str, ...]:
    """A JSON array of turns, or one turn as it is (which may well start with a bracket)."""
    if cell is None:
        return ()
    if cell.startswith("["):
        try:
            turns = decode(cell)
        except ValueError:
            return (cell,)
        if isinstance(turns, list) and all(isinstance(turn, str) for turn in turns):
            return checker.texts(turns, "context")
    return (cell,)


def _parse_row(row: Row, position: int, checker: Checker) -> Reference:
    source = Source(
        row.get("utterance"),
        row.get("source_id") or None,
        checker.number(as_number(row.get("source_score")), "source_score"),
        checker.integer(as_number(row.get("source_rank")), "source_rank"),
    )
    return Reference(
        row.get("reference_id") or f"r{position}",
        row["reference"] or "",
        checker.number(as_number(row.get("weight")), "weight", WEIGHTS),
        parse_origin(row.get("origin"), "origin", position, checker),
        None if source == Source() else source,
    )


def write_item_rows(path: PathLike, items: Iterable[Item]) -> None:
    """Write one row per reference; what belongs to the item is repeated on each of its rows."""
    write_tsv(path, ROW_COLUMNS, (row for item in items for row in _item_rows(item)))


def _item_rows(item: Item) -> Iterator[Row]:
    if not item.references:
        message = "there are none, but TSV has a row per reference: write JSON Lines instead"
        raise InputError(Problem(message, item=item.id, field="references"))
    of_item = {
        "id": item.id,
        "context": encode(list(item.context)) if item.context else None,
        "message": item.message,
        "meta": encode(dict(item.meta)) if item.meta else None,
    }
    for reference in item.references:
        source = reference.source or Source()
        yield of_item | {
            "reference_id": reference.id,
            "reference": reference.text,
            "weight": None if reference.weight is None else number_text(reference.weight),
            "origin": reference.origin,
            "utterance": source.utterance,
            "source_id": source.id,
            "source_score": None if source.score is None else number_text(source.score),
            "source_rank": None if source.rank is None else str(source.rank),
        }
