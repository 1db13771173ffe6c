"""One system's outputs: JSON Lines, TSV, Parquet or plain lines in, texts in item order out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from deltableu.corpus.bulk import read_lines_at_once, read_output_columns
from deltableu.corpus.missing import Missing
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    SeenProblems,
    fail,
    file_form,
    file_name,
    is_standard_stream,
    read_lines,
    read_records,
    read_rows,
    read_tsv,
    shown,
    write_lines,
    write_records,
    write_rows,
    write_tsv,
)

OUTPUT_FORMS = ("jsonl", "tsv", "parquet", "txt")
_COLUMNS = ("id", "text")

_Records: TypeAlias = Iterator[tuple[int, Mapping[str, object]]]


def read_outputs(path: PathLike, item_ids: Sequence[str], report: Report = fail) -> tuple[str, ...]:
    """Read the outputs of one system and put them in item order.

    Parameters
    ----------
    path
        `SYSTEM.jsonl` (`{"id", "text"}` a line), `SYSTEM.tsv` (columns id and text),
        `SYSTEM.parquet` (likewise), or text with one line per item in order (any other name, and
        standard input). All but Parquet may be packed as `.gz`.
    item_ids
        The ids of the items, in order.
    report
        Called with each problem. The default raises InputError.

    Returns
    -------
    tuple of str
        One text per item; an empty one where an output is missing and `report` did not raise.
    """
    return tuple(text or "" for text in match_outputs(path, item_ids, report))


def match_outputs(
    path: PathLike,
    item_ids: Sequence[str] | None,
    report: Report = fail,
    missing: Missing = "error",
) -> Sequence[str | None]:
    """Like `read_outputs`, with None for what is missing; without ids, in file order.

    What is missing is reported only if it is an error.
    """
    form = file_form(path)
    if item_ids is not None:
        texts = None
        if form not in ("jsonl", "tsv", "parquet"):
            texts = read_lines_at_once(path)
        elif form == "jsonl":
            texts = read_output_columns(path, item_ids)
        if texts is not None and len(texts) == len(item_ids):
            return texts
    return match_outputs_by_line(path, item_ids, report, missing)


def match_outputs_by_line(
    path: PathLike, item_ids: Sequence[str] | None, report: Report, missing: Missing
) -> tuple[str | None, ...]:
    """The same, line by line, whatever the file holds."""
    problems = SeenProblems(report)
    form = file_form(path)
    if form not in ("jsonl", "tsv", "parquet"):
        return _lines_in_order(path, item_ids, problems)
    found = _texts_by_id(path, _records(path, form, problems.report), item_ids, report)
    if item_ids is None:
        return tuple(found.values())
    lost = [id for id in item_ids if id not in found] if missing == "error" else []
    if lost and problems.readable and (found or not problems.lines):
        examples = ", ".join(shown(id) for id in lost[:3])
        rest = " and others" if len(lost) > 3 else ""
        count = "1 item has" if len(lost) == 1 else f"{len(lost)} items have"
        report(Problem(f"{count} no output: {examples}{rest}", file=file_name(path)))
    return tuple(found.get(id) for id in item_ids)


def _records(path: PathLike, form: str, report: Report) -> _Records:
    if form == "jsonl":
        return read_records(path, report)
    if form == "parquet":
        return read_rows(path, report)
    rows = read_tsv(path, _COLUMNS, _COLUMNS, report)
    return ((line, {"id": row["id"], "text": row["text"] or ""}) for line, row in rows)


def _texts_by_id(
    path: PathLike,
    records: _Records,
    item_ids: Sequence[str] | None,
    report: Report,
) -> dict[str, str | None]:
    """Map ids to texts; an id whose text is wrong maps to None, so that it is not missing too."""
    known = None if item_ids is None else frozenset(item_ids)
    checker = Checker(file_name(path), report)
    lines: dict[str, int] = {}
    texts: dict[str, str | None] = {}
    for line, values in records:
        checker.start(line)
        id = checker.identifier(values.get("id"), "id")
        checker.item = id or None
        checker.unknown(values, _COLUMNS)
        text = checker.text(values.get("text"), "text")
        if not id:
            continue
        if id in lines:
            checker.complain("id", f"the id was used before, on line {lines[id]}")
            continue
        lines[id] = line
        if known is not None and id not in known:
            checker.complain("id", "there is no item with this id")
            continue
        texts[id] = None if checker.failed else text
    return texts


def _lines_in_order(
    path: PathLike, item_ids: Sequence[str] | None, problems: SeenProblems
) -> tuple[str | None, ...]:
    texts = dict(read_lines(path, problems.report))
    count = max((*texts, *problems.lines), default=0)
    if item_ids is not None and count != len(item_ids) and problems.readable:
        message = f"has {count} lines, but there are {len(item_ids)} items: write one line per item"
        problems.report(Problem(message, file=file_name(path)))
    wanted = count if item_ids is None else len(item_ids)
    return tuple(texts.get(number) for number in range(1, wanted + 1))


def line_text(text: str, item: str, field: str) -> str:
    """The text, if one line can hold it."""
    if "\n" in text or text.endswith("\r"):
        message = "holds a line break, which plain text cannot: write JSON Lines instead"
        raise InputError(Problem(message, item=item, field=field))
    return text


def write_outputs(path: PathLike, item_ids: Sequence[str], texts: Iterable[str]) -> None:
    """Write one system's outputs; the name's ending says the form.

    Standard output gets JSON Lines, which also say which items have no output.
    """
    texts = tuple(texts)
    if len(texts) != len(item_ids):
        message = f"there are {len(texts)} outputs, but {len(item_ids)} items"
        raise InputError(Problem(message, file=Path(path).name))
    write_output_pairs(path, zip(item_ids, texts, strict=True))


def write_output_pairs(path: PathLike, pairs: Iterable[tuple[str, str]]) -> None:
    """The same for ids and texts as they come."""
    records = ({"id": id, "text": text} for id, text in pairs)
    form = "jsonl" if is_standard_stream(path) else file_form(path)
    if form == "jsonl":
        write_records(path, records)
    elif form == "tsv":
        write_tsv(path, _COLUMNS, records)
    elif form == "parquet":
        write_rows(path, records, dict.fromkeys(_COLUMNS, "string"))
    else:
        write_lines(path, (line_text(record["text"], record["id"], "text") for record in records))
