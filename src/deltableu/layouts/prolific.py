"""Ratings of Prolific's participants, and Prolific's own export of who was approved.

The export's columns and the statuses of submissions are those of docs.prolific.com ("Export
demographic data", "Submission object"); rows below the header that describe the columns are
those of Qualtrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report
from deltableu.layouts.foreign import Rows, columns_of, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import ColumnMap, as_text, cell, is_gap
from deltableu.layouts.table import RowReader, is_wanted, stem_of

_EXPORT = ("Submission id", "Participant id", "Status")
_PARTICIPANT = ("prolific_pid", "participant id", "participant_id", "prolific_id", "prolific id")
_COUNTED = ("APPROVED", "AWAITING REVIEW")


class ProlificLayout(Layout):
    """Tables of ratings; beside them an export by which only approved participants count."""

    name: ClassVar[str] = "prolific"
    summary: ClassVar[str] = "ratings by PROLIFIC_PID, with Prolific's export of submissions"
    example: ClassVar[str] = "prolific ratings.csv prolific_export_123.csv --scale 0-100"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        exports = [path for path in request.paths if _is_export(path)]
        tables = [path for path in request.paths if path not in exports]
        if not tables:
            raise InputError("name the table of ratings, which has a column PROLIFIC_PID")
        statuses = _statuses(exports, report, understood) if exports else None
        for path in tables:
            columns, rater = _mapped(request.columns, path)
            of_rows = replace(request, columns=columns, where={})
            reader = RowReader(str(path), of_rows, report, understood, stem_of(path.name))
            rows = _without_descriptions(foreign_rows(path, report))
            yield from reader.read(
                _approved(rows, rater, statuses, path, request, report, understood)
            )
            columns.check_used(dict.fromkeys(reader.meanings), reader.columns, str(path))


def _first_row(path: Path) -> Mapping[str, object]:
    for _, row in foreign_rows(path):
        return row
    raise InputError(Problem("holds no row", str(path)))


def _is_export(path: Path) -> bool:
    return set(_EXPORT) <= _first_row(path).keys()


def _statuses(exports: list[Path], report: Report, understood: Understanding) -> dict[str, str]:
    """Participants and the status of their submission; one that counts wins over others."""
    statuses: dict[str, str] = {}
    for path in exports:
        understood.columns[str(path)] = {
            "Participant id": "rater: who rated",
            "Status": f"rows count if it is {' or '.join(_COUNTED)}",
        }
        for _, row in foreign_rows(path, report):
            who, status = (as_text(row[one]).strip() for one in _EXPORT[1:])
            if statuses.get(who) not in _COUNTED:
                statuses[who] = status.upper()
    return statuses


def _mapped(given: ColumnMap, path: Path) -> tuple[ColumnMap, str]:
    """The columns, and that of the participant."""
    row = _first_row(path)
    small = {column.lower(): column for column in row}
    usual = next((small[one] for one in _PARTICIPANT if one in small), None)
    named = given.of(tuple(row)).get("rater") if "rater" in given.given else None
    rater = named[0] if named else usual
    if rater is None:
        message = f"there is no such column: it has {columns_of(row)}; name it as rater=..."
        raise InputError(Problem(message, str(path), 1, "PROLIFIC_PID"))
    return ColumnMap({**given.given, "rater": (rater,)}, given.constants), rater


def _without_descriptions(rows: Rows) -> Rows:
    """Leave out the two rows with which Qualtrics describes its columns."""
    first = list(islice(rows, 2))
    if len(first) == 2 and any('"ImportId"' in str(one) for one in first[1][1].values()):
        first = []
    for line, row in chain(first, rows):
        if "StartDate" in row:
            # Whether somebody came to the end, and not when.
            row = {name: value for name, value in row.items() if name != "Finished"}
        yield line, row


def _approved(
    rows: Rows,
    rater: str,
    statuses: Mapping[str, str] | None,
    path: Path,
    request: Request,
    report: Report,
    understood: Understanding,
) -> Rows:
    for line, row in rows:
        if not is_wanted(row, request, understood):
            continue
        if is_gap(cell(row, rater)):
            report(Problem("the participant's id is missing", str(path), line, rater))
            continue
        if statuses is not None:
            status = statuses.get(as_text(cell(row, rater)).strip())
            if status is None:
                understood.leave_out("the participant is not in Prolific's export")
                continue
            if status not in _COUNTED:
                understood.leave_out(f"the submission is {status}")
                continue
        yield line, row
