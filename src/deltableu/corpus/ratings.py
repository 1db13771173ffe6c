"""Raw ratings: CSV, TSV, JSON Lines or Parquet in, a `RatingTable` out, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from deltableu.corpus.rating import KINDS, Kind, Rating, Scale
from deltableu.corpus.rating_table import RatingTable
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    Row,
    as_number,
    fail,
    file_form,
    file_name,
    number_text,
    read_csv,
    read_records,
    read_rows,
    read_tsv,
    shown,
    write_csv,
    write_records,
    write_rows,
    write_tsv,
)

RATING_FORMS = ("csv", "tsv", "jsonl", "parquet")
REQUIRED = ("rater", "item", "target", "value")
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


def read_ratings(path: PathLike, report: Report = fail) -> RatingTable:
    """Read ratings, checking each.

    Parameters
    ----------
    path
        `ratings.csv`, `.tsv`, `.jsonl` (each also with `.gz`) or `.parquet`, with the columns
        rater, item, target and value, and any of criterion, scale, kind, pair, position,
        started and finished, in any order; standard input (`-`) is read as CSV.
    report
        Called with each problem; the rating is then left out. The default raises InputError.
    """
    return RatingTable.from_records(rating for _, rating in numbered_ratings(path, report))


def numbered_ratings(path: PathLike, report: Report = fail) -> Iterator[tuple[int, Rating]]:
    """Read ratings one after another, with the number of the line each starts on."""
    checker = Checker(file_name(path), report)
    for line, values in _records(path, report):
        checker.start(line)
        rating = _parse_rating(values, checker)
        if rating is not None:
            yield line, rating


def _records(path: PathLike, report: Report) -> Iterator[tuple[int, Mapping[str, object]]]:
    form = file_form(path) or "csv"
    if form in ("csv", "tsv"):
        read = read_csv if form == "csv" else read_tsv
        rows = read(path, REQUIRED, COLUMNS, report)
        # The header has warned of columns that are not known; the rows need not.
        return ((line, _typed(row)) for line, row in rows)
    if form == "jsonl":
        return read_records(path, report)
    if form == "parquet":
        return read_rows(path, report)
    report(Problem(f"ratings are read from {_ENDINGS}", file=file_name(path)))
    return iter(())


def _typed(row: Row) -> Mapping[str, object]:
    numbers = {name: as_number(row.get(name)) for name in ("value", "position")}
    return {name: row.get(name) for name in COLUMNS} | numbers


def _parse_rating(values: Mapping[str, object], checker: Checker) -> Rating | None:
    checker.unknown(values, COLUMNS)
    texts = {name: checker.identifier(values.get(name), name) for name in REQUIRED[:3]}
    value = checker.number(values.get("value"), "value")
    if values.get("value") is None:
        checker.complain("value", "is missing")
    _check_target(texts["target"], checker)
    scale = checker.optional_identifier(values.get("scale"), "scale")
    if scale is not None and value is not None:
        _check_scale(value, scale, checker)
    kind = checker.optional_identifier(values.get("kind"), "kind") or "item"
    if kind not in KINDS:
        checker.complain("kind", f"must be one of {', '.join(KINDS)}, got {shown(kind)}")
    rating = Rating(
        rater=texts["rater"],
        item=texts["item"],
        target=texts["target"],
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


def _check_target(target: str, checker: Checker) -> None:
    sort, colon, name = target.partition(":")
    if target and (sort not in ("system", "reference") or not colon or not name):
        checker.complain("target", f"must be system:NAME or reference:ID, got {shown(target)}")


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
