"""Raw ratings: CSV, TSV, JSON Lines or Parquet in, a `RatingTable` out, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from deltableu.corpus.rating import KINDS, Kind, Rating, Scale
from deltableu.corpus.rating_rows import REQUIRED, is_list, rating_columns, spread
from deltableu.corpus.rating_table import RatingTable
from deltableu.corpus.rating_targets import RatingTargets, has_prefix
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import (
    Checker,
    ColumnNames,
    PathLike,
    Report,
    Row,
    fail,
    file_form,
    file_name,
    is_standard_stream,
    number_text,
    shown,
    table_rows,
    write_csv,
    write_records,
    write_rows,
    write_tsv,
)

RATING_FORMS = ("csv", "tsv", "jsonl", "parquet")
_TYPES = {
    "rater": "string",
    "item": "string",
    "target": "string",
    "criterion": "string",
    "value": "float64",
    "scale": "string",
    "kind": "string",
    "pair": "string",
    "position": "int64",
    "started": "string",
    "finished": "string",
}
COLUMNS = tuple(_TYPES)
_ENDINGS = "a file whose name ends in .csv, .tsv, .jsonl or .parquet"


def read_ratings(
    path: PathLike | Any,
    report: Report = fail,
    *,
    columns: ColumnNames | None = None,
    targets: RatingTargets | None = None,
) -> RatingTable:
    """Read ratings, checking each.

    Parameters
    ----------
    path
        `ratings.csv`, `.tsv`, `.jsonl` (each also with `.gz`) or `.parquet`, with the columns
        rater, item, target (or system) and value, and any of criterion, scale, kind, pair,
        position, started and finished, in any order; standard input (`-`) is read as CSV; a data
        frame, a mapping of columns or a list of rows is read as it is. A value
        that is a list, `[4, 5, 3]`, has a rater for each place in it, and needs no rater.
    report
        Called with each problem; the rating is then left out. The default raises InputError.
    columns
        What the file calls them: `{"rater": "annotator", "value": "score"}`. `raters` in place of
        rater and value names columns each of which is a rater, as `ann+bob` or by a pattern such
        as `score_*`; an empty cell there is no rating.
    targets
        What can be rated, so that a target may be called by its name alone; without it, targets
        are written `system:NAME` or `reference:ID`.
    """
    numbered = numbered_ratings(path, report, columns=columns, targets=targets)
    return RatingTable.from_records(rating for _, rating in numbered)


def holds_ratings(path: PathLike, columns: ColumnNames | None = None) -> bool:
    """Whether a file's columns are those of ratings, one by one, as a campaign exports them."""
    if is_standard_stream(path):  # which is read once
        return False
    try:
        first = next(table_rows(path, rating_columns(columns or {}), form="csv"), None)
    except InputError:
        return False
    return first is not None and {"rater", "value"} <= first[1].keys()


def numbered_ratings(
    path: PathLike,
    report: Report = fail,
    *,
    columns: ColumnNames | None = None,
    targets: RatingTargets | None = None,
) -> Iterator[tuple[int, Rating]]:
    """Read ratings one after another, with the number of the line each starts on."""
    in_memory = not isinstance(path, str | os.PathLike)
    form = "jsonl" if in_memory else file_form(path) or "csv"
    if form not in RATING_FORMS:
        report(Problem(f"ratings are read from {_ENDINGS}", file=file_name(path)))
        return
    names = {} if columns is None else columns
    check_kind("columns", names, Mapping)
    wanted = rating_columns(names)
    checker = Checker(file_name(path), report)
    spelt = form in ("csv", "tsv")
    nameless = False
    for line, row in table_rows(path, wanted, report, form="csv"):
        checker.start(line)
        if not (spelt or names or in_memory):
            checker.unknown(row, (*wanted.required, *wanted.optional))
        # Only lists need no rater, and what a first line lacks is said once.
        if spelt and "raters" not in names and "rater" not in row and not is_list(row["value"]):
            if not nameless:
                nameless = True
                checker.complain(
                    "rater", f"the first line names no column {wanted.lack('rater', row)}"
                )
            continue
        for values in spread(row, checker, spelt=spelt):
            checker.failed = False
            rating = _parse_rating(values, checker, targets)
            if rating is None:
                break
            yield line, rating


def _parse_rating(
    values: Mapping[str, object], checker: Checker, targets: RatingTargets | None = None
) -> Rating | None:
    texts = {name: checker.identifier(values.get(name), name) for name in REQUIRED[:2]}
    value = checker.number(values.get("value"), "value")
    if values.get("value") is None:
        checker.complain("value", "is missing")
    target = _target(values, texts["item"], checker, targets)
    scale = checker.optional_identifier(values.get("scale"), "scale")
    if scale is not None and value is not None:
        _check_scale(value, scale, checker)
    kind = checker.optional_identifier(values.get("kind"), "kind") or "item"
    if kind not in KINDS:
        checker.complain("kind", f"must be one of {', '.join(KINDS)}, got {shown(kind)}")
    rating = Rating(
        rater=texts["rater"],
        item=texts["item"],
        target=target,
        value=0.0 if value is None else value,
        criterion=checker.optional_identifier(values.get("criterion"), "criterion") or "overall",
        scale=scale,
        kind=cast(Kind, kind),
        pair=checker.optional_identifier(values.get("pair"), "pair"),
        position=checker.integer(values.get("position"), "position"),
        started=checker.optional_identifier(values.get("started"), "started"),
        finished=checker.optional_identifier(values.get("finished"), "finished"),
    )
    return None if checker.failed else rating


def _target(
    values: Mapping[str, object], item: str, checker: Checker, targets: RatingTargets | None
) -> str:
    """What is rated, with its prefix; a system may stand in a column of its own."""
    system = checker.optional_identifier(values.get("system"), "system")
    if values.get("target") is None and system is not None:
        return f"system:{system}"
    target = checker.identifier(values.get("target"), "target")
    if not target or has_prefix(target):
        return target
    if targets is None:
        checker.complain("target", f"must be system:NAME or reference:ID, got {shown(target)}")
        return target
    try:
        return targets.find(target, item)
    except LookupError as error:
        checker.complain("target", str(error))
        return target


def _check_scale(value: float, scale: str, checker: Checker) -> None:
    try:
        ends = Scale.parse(scale)
    except InputError as error:
        checker.complain("scale", error.problem.message)
        return
    if not ends.low <= value <= ends.high:
        shown_value = number_text(value)
        checker.complain("value", f"must lie on its scale {scale.strip()}, got {shown_value}")


def write_ratings(path: PathLike, ratings: RatingTable | Iterable[Rating]) -> None:
    """Write ratings so that reading them gives the same; the name's ending says the form."""
    form = file_form(path)
    records = _checked_records(ratings)
    if form in ("csv", "tsv"):
        write = write_csv if form == "csv" else write_tsv
        write(path, COLUMNS, map(_row, records))
    elif form == "jsonl":
        write_records(path, ({k: v for k, v in one.items() if v is not None} for one in records))
    elif form == "parquet":
        write_rows(path, records, _TYPES)
    else:
        raise InputError(Problem(f"ratings are written to {_ENDINGS}", file=file_name(path)))


def _checked_records(ratings: Iterable[Rating]) -> Iterator[dict[str, object]]:
    checker = Checker(None, fail)
    for rating in ratings:
        record = {name: getattr(rating, name) for name in COLUMNS}
        record["value"] = float(rating.value)
        checker.item = rating.item
        _parse_rating(record, checker)
        yield record


def _row(record: Mapping[str, object]) -> Row:
    return {
        name: None
        if (value := record[name]) is None
        else number_text(value)
        if isinstance(value, float)
        else str(value)
        for name in COLUMNS
    }
