"""Batch results of Amazon Mechanical Turk: a row for each assignment.

The columns are those of the CSV that the requester's page offers ("Download CSV"; Amazon
Mechanical Turk Requester UI Guide): `Input.*` is what the worker saw, `Answer.*` the answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, as_number, decode, shown
from deltableu.layouts.foreign import Rows, columns_of, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import ColumnMap, as_text, is_gap
from deltableu.layouts.table import RowReader, is_wanted, number_of, stem_of

_NEEDED = ("WorkerId", "AssignmentStatus")
_INPUT, _ANSWER = "Input.", "Answer."
_TIMES = {"started": "AcceptTime", "finished": "SubmitTime"}
#: Crowd HTML elements answer in one column, as JSON.
_ALL_ANSWERS = "Answer.taskAnswers"
_BUTTON = re.compile(r"(.+)\.(-?[0-9]+(?:\.[0-9]+)?)")
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}


class MTurkLayout(Layout):
    """A row is a worker's answers about one output; each answer that is a number is a criterion."""

    name: ClassVar[str] = "mturk"
    summary: ClassVar[str] = "batch results of Amazon Mechanical Turk (CSV)"
    example: ClassVar[str] = "mturk Batch_123_batch_results.csv --scale 1-5"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the batch results, such as Batch_123_batch_results.csv")
        for path in request.paths:
            answers = _Answers.of(path, request.columns)
            columns = _mapped(request.columns, _first_row(path))
            of_rows = replace(request, columns=columns, where={})
            reader = RowReader(str(path), of_rows, report, understood, stem_of(path.name))
            rows = foreign_rows(path, report)
            yield from reader.read(_wanted_rows(rows, path, request, answers, report, understood))
            columns.check_used(dict.fromkeys(reader.meanings), reader.columns, str(path))


def _first_row(path: Path) -> Mapping[str, object]:
    for _, row in foreign_rows(path):
        for column in _NEEDED:
            if column not in row:
                message = f"there is no such column: it has {columns_of(row)}"
                raise InputError(Problem(message, str(path), 1, column))
        return row
    raise InputError(Problem("holds no assignment", str(path)))


def _mapped(given: ColumnMap, row: Mapping[str, object]) -> ColumnMap:
    """Which columns are what: those of the input go by their names without `Input.`."""
    bare = [one.removeprefix(_INPUT) for one in row if one.startswith(_INPUT)]
    theirs = {
        ours: tuple(one if one in row or f"{_INPUT}{one}" not in row else f"{_INPUT}{one}"
                    for one in names)
        for ours, names in given.given.items()
    }  # fmt: skip
    usual = {
        ours: tuple(f"{_INPUT}{one}" for one in names)
        for ours, names in ColumnMap(constants=given.constants).of(bare).items()
    }
    times = {ours: (column,) for ours, column in _TIMES.items() if column in row}
    found = {**usual, **times, "rater": ("WorkerId",), **theirs, "ratings": ("Answer",)}
    return ColumnMap(found, given.constants)


def _wanted_rows(
    rows: Rows,
    path: Path,
    request: Request,
    answers: _Answers,
    report: Report,
    understood: Understanding,
) -> Rows:
    for line, row in rows:
        if not is_wanted(row, request, understood):
            continue
        if row["AssignmentStatus"] == "Rejected" or not is_gap(row.get("Reject")):
            understood.leave_out("the assignment was rejected")
            continue
        shown_to = {name: value for name, value in row.items() if name.startswith(_INPUT)}
        times = {name: _date(row[name]) for name in _TIMES.values() if name in row}
        try:
            said = answers.in_row(row)
        except InputError as error:
            report(Problem(error.problem.message, str(path), line, error.problem.field))
            continue
        if not said:
            understood.leave_out("no answer is a number")
            continue
        yield line, {**shown_to, "WorkerId": row["WorkerId"], **times, "Answer": said}


@dataclass(frozen=True, slots=True)
class _Answers:
    """The columns whose answers are numbers.

    Attributes
    ----------
    numbers
        Columns of one number.
    buttons
        Columns of radio buttons, which are true or false: criterion and number of each.
    """

    numbers: tuple[str, ...]
    buttons: Mapping[str, tuple[str, float]]

    @classmethod
    def of(cls, path: Path, columns: ColumnMap) -> _Answers:
        """Look at the first answer in each column, or take those the user names."""
        first: dict[str, str] = {}
        names: Sequence[str] = ()
        for _, row in foreign_rows(path):
            names = names or [one for one in row if one.startswith(_ANSWER)]
            for name in names:
                if name not in first and not is_gap(row.get(name)):
                    first[name] = as_text(row[name])
            if len(first) == len(names):
                break
        buttons = {}
        for name, text in first.items():
            found = _BUTTON.fullmatch(name.removeprefix(_ANSWER))
            if found is not None and text.lower() in ("true", "false"):
                buttons[name] = (found[1], float(found[2]))
        wanted = columns.given.get("ratings")
        if wanted is not None:
            chosen = ColumnMap({"ratings": wanted}).of(names).get("ratings", ())
            bare = ColumnMap({"ratings": tuple(f"{_ANSWER}{one}" for one in wanted)}).of(names)
            chosen = (*chosen, *bare.get("ratings", ()))
            if not chosen:
                message = f"has no answers {', '.join(wanted)}: it has {', '.join(names)}"
                raise InputError(Problem(message, str(path), field="columns"))
            return cls(chosen, {})
        numbers = [name for name, text in first.items() if not isinstance(as_number(text), str)]
        return cls(tuple(numbers), buttons)

    def in_row(self, row: Mapping[str, object]) -> dict[str, float]:
        said = {
            name.removeprefix(_ANSWER): number_of(row[name], name)
            for name in self.numbers
            if not is_gap(row[name])
        }
        for name, (criterion, value) in self.buttons.items():
            if as_text(row[name]).lower() == "true":
                said[criterion] = value
        said.update(_from_json(row.get(_ALL_ANSWERS)))
        return said


def _from_json(value: object) -> Iterator[tuple[str, float]]:
    """Numbers among the answers of crowd HTML elements, chosen radio buttons among them."""
    if is_gap(value):
        return
    try:
        found = decode(as_text(value))
    except ValueError as error:
        message = f"is not valid JSON: {error}"
        raise InputError(Problem(message, field=_ALL_ANSWERS)) from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        message = f"must be a list of objects, got {shown(found)}"
        raise InputError(Problem(message, field=_ALL_ANSWERS))
    for name, answer in ((name, answer) for one in found for name, answer in one.items()):
        if isinstance(answer, dict):
            answer = next((label for label, is_on in answer.items() if is_on is True), None)
        number = as_number(answer) if isinstance(answer, str) else answer
        if isinstance(number, int | float) and not isinstance(number, bool):
            yield name, float(number)


def _date(value: object) -> str | None:
    """`Tue Jan 05 10:11:12 PST 2021` in the order of ISO 8601; other dates as they are."""
    if is_gap(value):
        return None
    words = as_text(value).split()
    if len(words) == 6 and words[4] in _ZONES:
        zone = timezone(timedelta(hours=_ZONES[words[4]]))
        try:
            when = datetime.strptime(" ".join((*words[1:4], words[5])), "%b %d %H:%M:%S %Y")
        except ValueError:
            return as_text(value)
        return when.replace(tzinfo=zone).isoformat()
    return as_text(value)
