"""Annotations that Label Studio exports, as JSON, JSON-MIN or CSV.

The fields are those of labelstud.io ("Label Studio task format", "Export annotations"): a task
has its `data` and `annotations`, whose results have the name of the control and its value; the
flat forms have a column for each control between `id` and `annotator`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, as_number, decode, shown
from deltableu.layouts.foreign import Rows, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import ColumnMap, as_text, is_gap
from deltableu.layouts.table import RowReader, is_wanted, stem_of

#: More than any scale has, and less than a float can hold.
_LARGEST = 1e300
_TYPES = ("rating", "number", "choices")
_OWN = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
#: What a row of ours holds beside the task's data.
_GIVEN = {
    "rater": ("annotator",),
    "ratings": ("results",),
    "started": ("started",),
    "finished": ("created_at",),
}
_TELLING = ("item", "message", "context", "references")


class LabelStudioLayout(Layout):
    """A task is an output to rate; each control with a number is a criterion."""

    name: ClassVar[str] = "label-studio"
    summary: ClassVar[str] = "annotations of Label Studio (JSON, JSON-MIN or CSV)"
    example: ClassVar[str] = "label-studio project-1.json --columns prediction=answer --scale 1-5"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the export, such as project-1.json")
        columns = ColumnMap({**request.columns.given, **_GIVEN}, request.columns.constants)
        of_rows = replace(request, columns=columns, where={})
        for path in request.paths:
            reader = RowReader(str(path), of_rows, report, understood, stem_of(path.name))
            yield from reader.read(_annotated(path, request, report, understood))
            request.columns.check_used(dict.fromkeys(reader.meanings), reader.columns, str(path))


def _annotated(path: Path, request: Request, report: Report, understood: Understanding) -> Rows:
    """A row for each annotation of each task."""
    for line, record in foreign_rows(path, report):
        try:
            if "data" in record:
                found = list(_of_task(record, understood))
            elif "annotator" in record:
                found = [_flat(record, understood)]
            else:
                message = "is no task of Label Studio, which has data and annotations"
                raise InputError(Problem(message))
        except InputError as error:
            report(Problem(error.problem.message, str(path), line, error.problem.field))
            continue
        for data, annotation in found:
            if is_wanted(data, request, understood):
                yield line, {**_identified(data, record, request.columns), **annotation}


def _identified(
    data: Mapping[str, object], record: Mapping[str, object], columns: ColumnMap
) -> Mapping[str, object]:
    """The data with the task's number, where nothing else tells items apart."""
    known = columns.of(tuple(data))
    tells = any(one in known or one in columns.constants for one in _TELLING)
    return data if tells or is_gap(record.get("id")) else {"id": record["id"], **data}


Row = tuple[Mapping[str, object], Mapping[str, object]]


def _of_task(task: Mapping[str, Any], understood: Understanding) -> Iterator[Row]:
    data, annotations = task["data"], task.get("annotations", [])
    if not isinstance(data, Mapping):
        raise InputError(Problem(f"must be an object, got {shown(data)}", field="data"))
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        message = f"must be a list of objects, got {shown(annotations)}"
        raise InputError(Problem(message, field="annotations"))
    counted = [one for one in annotations if not one.get("was_cancelled")]
    for _ in range(len(annotations) - len(counted)):
        understood.leave_out("the annotation was cancelled")
    if not counted:
        yield data, _annotation(None, None, None, {})
    for one in counted:
        results: dict[str, float] = {}
        for name, value in _results(one.get("result")):
            _add(results, name, value, understood)
        rater = one.get("completed_by")
        if isinstance(rater, Mapping):
            rater = rater.get("email") or rater.get("id")
        if is_gap(rater):
            raise InputError(Problem("it is not said who rated", field="completed_by"))
        yield data, _annotation(rater, one.get("created_at"), one.get("lead_time"), results)


def _results(found: object) -> Iterator[tuple[str, object]]:
    """Names of controls and what was given."""
    if not isinstance(found, list):
        raise InputError(Problem(f"must be a list, got {shown(found)}", field="result"))
    for one in found:
        if not isinstance(one, Mapping) or not isinstance(one.get("from_name"), str):
            message = f"must hold objects with from_name, type and value, got {shown(one)}"
            raise InputError(Problem(message, field="result"))
        value = one.get("value")
        known = [value[sort] for sort in _TYPES if sort in value] if isinstance(value, dict) else []
        yield one["from_name"], known[0] if known else value


def _add(results: dict[str, float], name: str, value: object, understood: Understanding) -> None:
    """Take a value if it is a number, or one choice that is called by a number."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or abs(number) > _LARGEST:
        understood.leave_out(f"what was said of {name} is not a number")
        return
    if name in results:
        message = "is rated twice in one annotation: rate whole outputs, not regions of them"
        raise InputError(Problem(message, field=name))
    results[name] = float(number)


def _flat(record: Mapping[str, object], understood: Understanding) -> Row:
    """A row of CSV or JSON-MIN."""
    if "id" not in record:
        raise InputError(Problem("there is no such column, which divides data from controls: "
                                 "export again as CSV or JSON", field="id"))  # fmt: skip
    names = list(record)
    controls = names[names.index("id") + 1 : names.index("annotator")]
    results: dict[str, float] = {}
    data = {one: record[one] for one in names if one not in (*controls, *_OWN, "id")}
    for name in controls:
        value = _cell(record[name], name)
        if not is_gap(value):
            _add(results, name, value, understood)
    if is_gap(record["annotator"]):
        raise InputError(Problem("it is not said who rated", field="annotator"))
    made = record.get("created_at")
    return data, _annotation(record["annotator"], made, record.get("lead_time"), results)


def _cell(value: object, name: str) -> object:
    """What is in a cell such as `[{"rating": 4}]`."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            value = decode(value)
        except ValueError as error:
            raise InputError(Problem(f"is not valid JSON: {error}", field=name)) from None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        return next((value[sort] for sort in _TYPES if sort in value), value)
    return value


def _annotation(
    rater: object, made: object, seconds: object, results: Mapping[str, float]
) -> Mapping[str, object]:
    finished = None if is_gap(made) else as_text(made)
    return {
        "annotator": None if is_gap(rater) else as_text(rater),
        "results": results,
        "started": _begun(finished, seconds),
        "created_at": finished,
    }


def _begun(finished: str | None, seconds: object) -> str | None:
    """When an annotation was begun, by when it was made and how long it took."""
    number = as_number(seconds) if isinstance(seconds, str) else seconds
    if finished is None or isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        return (datetime.fromisoformat(finished) - timedelta(seconds=number)).isoformat()
    except (ValueError, OverflowError):
        return None
