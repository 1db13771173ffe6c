"""Parallel plain text, as sacreBLEU reads it: one file per reference in, items out, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deltableu.corpus.item_columns import LazyItems
from deltableu.corpus.item_records import WEIGHTS, default_origin
from deltableu.corpus.outputs import line_text
from deltableu.corpus.plain_columns import read_plain_columns
from deltableu.corpus.types import Item, Reference
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    SeenProblems,
    as_number,
    atomic_folder,
    fail,
    file_name,
    number_text,
    read_lines,
    shown,
    write_lines,
)

_STREAM = re.compile(r"r(0|[1-9][0-9]{0,2})")
WEIGHTS_FILE = "weights.tsv"


@dataclass(frozen=True, slots=True)
class _Stream:
    """A file's lines by number; a line that could not be read is counted, but not there."""

    name: str
    lines: dict[int, str]
    count: int
    readable: bool


def read_plain(
    refs: Sequence[PathLike], weights: PathLike | None = None, report: Report = fail
) -> Sequence[Item]:
    """Read items from one file per reference stream: line i of each belongs to item i.

    Parameters
    ----------
    refs
        The files. The first holds the original references, the others written ones; a blank
        line says that the item has no such reference. Item ids are line numbers ("1", "2", ...),
        reference ids are stream numbers ("r0", "r1", ...).
    weights
        One line per item and one tab-separated weight a stream; where there is no reference, the
        weight may be empty and is ignored.
    report
        Called with each problem; the item is then left out. The default raises InputError.

    Returns
    -------
    sequence of Item
        In file order; none when the files differ in length.
    """
    if not refs:
        report(Problem("there is no reference file: give at least one"))
        return ()
    columns = read_plain_columns(refs, weights)
    if columns is not None:
        return LazyItems(columns)
    return read_plain_lines(refs, weights, report)


def read_plain_lines(
    refs: Sequence[PathLike], weights: PathLike | None, report: Report
) -> tuple[Item, ...]:
    """The same, line by line, whatever the files hold."""
    streams = [_read_stream(path, report) for path in refs]
    weighing = None if weights is None else _read_stream(weights, report)
    first = streams[0]
    aligned = True
    for stream in [*streams, *([weighing] if weighing is not None else [])]:
        aligned = aligned and stream.readable and stream.count == first.count
        if stream.readable and first.readable and stream.count != first.count:
            counts = f"has {stream.count} lines, but {first.name} has {first.count}"
            report(Problem(f"{counts}: line i of each must belong to item i", file=stream.name))
    if not aligned:
        return ()
    items = (_item(number, streams, weighing, report) for number in range(1, first.count + 1))
    return tuple(item for item in items if item is not None)


def _read_stream(path: PathLike, report: Report) -> _Stream:
    problems = SeenProblems(report)
    lines = dict(read_lines(path, problems.report))
    count = max((*lines, *problems.lines), default=0)
    return _Stream(file_name(path), lines, count, problems.readable)


def _item(
    number: int, streams: Sequence[_Stream], weighing: _Stream | None, report: Report
) -> Item | None:
    texts = [stream.lines.get(number) for stream in streams]
    if None in texts or (weighing is not None and number not in weighing.lines):
        return None
    present = [text is not None and text.strip() != "" for text in texts]
    if not any(present):
        message = "no reference file has a text on this line: each item needs at least one"
        report(Problem(message, file=streams[0].name, line=number))
        return None
    weights: list[float | None] | None = [None] * len(streams)
    if weighing is not None:
        weights = _weights(number, streams, present, weighing, report)
    if weights is None:
        return None
    references = tuple(
        Reference(f"r{index}", text or "", weight, default_origin(index))
        for index, (text, weight) in enumerate(zip(texts, weights, strict=True))
        if present[index]
    )
    return Item(str(number), references)


def _weights(
    number: int,
    streams: Sequence[_Stream],
    present: Sequence[bool],
    weighing: _Stream,
    report: Report,
) -> list[float | None] | None:
    cells = weighing.lines[number].split("\t")
    if len(cells) != len(streams):
        message = f"the line must hold {len(streams)} tab-separated weights, one a reference file"
        report(Problem(f"{message}, got {len(cells)}", file=weighing.name, line=number))
        return None
    checker = Checker(weighing.name, report)
    checker.start(number)
    weights: list[float | None] = []
    for index, cell in enumerate(cells):
        field = f"column {index + 1}"
        if present[index]:
            weights.append(checker.number(as_number(cell), field, WEIGHTS) if cell else None)
            if not cell:
                where = f"{streams[index].name} has a reference on this line"
                checker.complain(field, f"the weight is missing, but {where}")
        else:
            weights.append(None)
            if cell.strip() and not _numeric(cell):
                checker.complain(field, f"must be a number or empty, got {shown(cell)}")
    return None if checker.failed else weights


def _numeric(cell: str) -> bool:
    return cell.strip().lower() == "nan" or not isinstance(as_number(cell), str)


def write_plain(folder: PathLike, items: Iterable[Item]) -> None:
    """Write `r0.txt`, `r1.txt`, ... and, if references are rated, `weights.tsv` to a new folder.

    Plain text has no place for contexts, messages, sources and ids: reading it gives items named
    by line numbers. References whose ids are all of the form `r0`, `r1`, ... keep their stream.
    """
    with atomic_folder(folder) as temporary:
        write_plain_files(temporary, tuple(items))


def write_plain_files(folder: Path, items: Sequence[Item]) -> None:
    """Write the files of `write_plain` to a folder that exists."""
    by_id = _by_id(items)
    placed = [_streams(item, by_id) for item in items]
    width = 1 + max((stream for item in placed for stream in item), default=0)
    for stream in range(width):
        lines = (
            _plain_line(item, reference) if (reference := streams.get(stream)) else ""
            for item, streams in zip(items, placed, strict=True)
        )
        write_lines(folder / f"r{stream}.txt", lines)
    if all(one.weight is None for item in items for one in item.references):
        return
    rows = (
        "\t".join(_weight_cell(item, streams.get(stream)) for stream in range(width))
        for item, streams in zip(items, placed, strict=True)
    )
    write_lines(folder / WEIGHTS_FILE, rows)


def _by_id(items: Sequence[Item]) -> bool:
    return all(_STREAM.fullmatch(one.id) for item in items for one in item.references)


def _streams(item: Item, by_id: bool) -> dict[int, Reference]:
    """Map stream numbers to references; the first stream is for an original reference only."""
    if by_id:
        return {int(reference.id[1:]): reference for reference in item.references}
    original = next((one for one in item.references if one.origin == "original"), None)
    streams = {} if original is None else {0: original}
    others = (one for one in item.references if one is not original)
    return streams | dict(enumerate(others, start=1))


def _plain_line(item: Item, reference: Reference) -> str:
    field = f"reference {reference.id}"
    if not reference.text.strip():
        message = "is blank, which in plain text means that there is no reference"
        raise InputError(Problem(message, item=item.id, field=field))
    return line_text(reference.text, item.id, field)


def _weight_cell(item: Item, reference: Reference | None) -> str:
    if reference is None:
        return ""
    if reference.weight is None:
        message = "has no weight, but others do: plain text needs all or none"
        raise InputError(Problem(message, item=item.id, field=f"reference {reference.id}"))
    return number_text(reference.weight)
