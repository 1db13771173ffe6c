"""Scores that Appraise exports as CSV without a header (`ExportSystemScoresToCSV`).

The order of the columns is that of `get_system_data` in the models of
github.com/AppraiseDev/Appraise: user, system, item, type, languages, score; campaigns of
documents add the document, whether it is complete and, since there are error spans, those; then
when a rating began and ended; with --batch-info also the batch and the item's number in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from deltableu.corpus import Kind, Rating
from deltableu.errors import InputError, Problem
from deltableu.io import Report, shown
from deltableu.layouts.appraise_items import (
    Copy,
    copy_of,
    document_of,
    places_in_documents,
)
from deltableu.layouts.foreign import foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.parts import Place
from deltableu.layouts.segments import OnePair, Segments
from deltableu.layouts.table import is_wanted, number_of

_KINDS: dict[str, Kind] = {
    "TGT": "item",
    "BAD": "bad-reference",
    "REF": "reference",
    "CHK": "repeat",
}
_FIRST = ("username", "system", "item", "type", "source", "target", "score")
_OF_DOCUMENTS = ("document", "complete")
_TIMES = ("started", "finished")
_BATCH = ("batch", "number")
_MEANINGS = {
    "username": "rater: who rated",
    "system": "system: who wrote the prediction",
    "item": "item: the segment, a line of the text files",
    "type": "kind: TGT, BAD, REF or CHK",
    "score": "value: the rating",
    "document": "document: what the segment belongs to",
    "spans": "errors that were marked",
    "started": "started: when the rating began",
    "finished": "finished: when it ended",
}


@dataclass(frozen=True, slots=True)
class AppraiseRow:
    """A score, and the error spans beside it."""

    rating: Rating
    spans: str | None
    place: Place


class AppraiseLayout(Layout):
    """A row is a rating; the item is the number of a line, or a place in its document."""

    name: ClassVar[str] = "appraise"
    summary: ClassVar[str] = "scores that Appraise exports as CSV, texts from plain files"
    example: ClassVar[str] = (
        "appraise scores.csv --refs ref.txt --sources source.txt --systems outputs/*.txt"
    )

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        segments = Segments(request)
        for row in appraise_rows(request, segments, report, understood):
            yield row.rating, row.place
        yield from segments.read(report, field="item")


def appraise_rows(
    request: Request, segments: Segments, report: Report, understood: Understanding
) -> Iterator[AppraiseRow]:
    """The rows of all exports, checked; what fills up tasks is left out."""
    if not request.paths:
        raise InputError("name the CSV files that Appraise has exported")
    pair = OnePair(request.pair, understood)
    places = places_in_documents(_all_rows(request))
    if places is not None and segments.have_texts:
        message = (
            "items are numbered anew in every task, so that they do not tell lines of text files: "
            "leave out --refs, --sources, --systems and --documents"
        )
        raise InputError(Problem(message, str(request.paths[0]), field="item"))
    for path in request.paths:
        file = str(path)
        for line, row in foreign_rows(path, report, named=partial(_named, path)):
            understood.columns[file] = {one: _MEANINGS[one] for one in row if one in _MEANINGS}
            place = Place(file, line)
            try:
                if not is_wanted(row, request, understood) or _fills_up(row, understood):
                    continue
                if not pair.keeps(f"{row['source']}-{row['target']}"):
                    continue
                item = _item(row, segments, places)
                for rating in _ratings(row, item, segments, request.scale, place, understood):
                    spans = row.get("spans")
                    yield AppraiseRow(rating, None if spans is None else str(spans), place)
            except InputError as error:
                problem = error.problem
                report(Problem(problem.message, file, line, problem.field))


def _named(path: Path, cells: Sequence[str]) -> Sequence[str]:
    """Names for columns, told from how many there are and from True or False in the ninth."""
    of_documents = len(cells) > 8 and cells[8] in ("True", "False")
    rest = len(cells) - (9 if of_documents else 7)
    spans = rest % 2 if of_documents else 0
    if len(cells) < 7 or cells[3] not in _KINDS or rest - spans not in (0, 2, 4):
        message = (
            "is no row of Appraise, whose fourth cell is TGT, BAD, REF or CHK: give the CSV of "
            "ExportSystemScoresToCSV, without a header"
        )
        raise InputError(Problem(message, str(path), 1))
    return (
        *_FIRST,
        *(_OF_DOCUMENTS if of_documents else ()),
        *(("spans",) if spans else ()),
        *(_TIMES if rest - spans >= 2 else ()),
        *(_BATCH if rest - spans == 4 else ()),
    )


def _fills_up(row: Mapping[str, object], understood: Understanding) -> bool:
    """Whether a row is a tutorial's, or one that only fills up a task, as the WMT marks them."""
    if "tutorial" in str(row["system"]):
        understood.leave_out("it is of the tutorial")
        return True
    for mark in ("incomplete", "dup"):
        if f"#{mark}" in str(row.get("document", "")):
            understood.leave_out(f"the document is marked #{mark}")
            return True
    return False


def _all_rows(request: Request) -> Iterator[Mapping[str, object]]:
    """The rows before they are read in earnest, of what is no filling."""
    for path in request.paths:
        for _, row in foreign_rows(path, lambda _: None, named=partial(_named, path)):
            if not _fills_up(row, Understanding()):
                yield row


def _item(
    row: Mapping[str, object], segments: Segments, places: Mapping[tuple[Copy, str], int] | None
) -> str:
    item = str(row["item"])
    if places is not None:
        return f"{document_of(row)}/{places[copy_of(row), item]}"
    if "document" in row and not segments.have_texts:
        return f"{document_of(row)}/{item}"
    return item


def _ratings(
    row: Mapping[str, object],
    item: str,
    segments: Segments,
    scale: str | None,
    place: Place,
    understood: Understanding,
) -> Iterator[Rating]:
    sort = str(row["type"])
    if sort not in _KINDS:
        message = f"must be one of {', '.join(_KINDS)}, got {shown(sort)}"
        raise InputError(Problem(message, field="type"))
    value = number_of(row["score"], "score")
    document = document_of(row) if "document" in row else None
    for name in _systems(str(row["system"]), segments):
        system = segments.system(name)
        if system is None:
            understood.leave_out(f"system {name} has no file in --systems")
            continue
        segments.saw(item, place, document)
        yield Rating(
            rater=str(row["username"]),
            item=item,
            target=f"system:{system}",
            value=value,
            scale=scale,
            kind=_KINDS[sort],
            started=_time(row, "started"),
            finished=_time(row, "finished"),
        )


def _systems(name: str, segments: Segments) -> list[str]:
    """Systems whose outputs are the same share a row; some names hold a plus sign, too."""
    return [name] if name in segments.systems else name.split("+")


def _time(row: Mapping[str, object], column: str) -> str | None:
    """Seconds since 1970 as a date."""
    if column not in row:
        return None
    seconds = number_of(row[column], column)
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        message = f"must be seconds since 1970, got {shown(row[column])}"
        raise InputError(Problem(message, field=column)) from None
