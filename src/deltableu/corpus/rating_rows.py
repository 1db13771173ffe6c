"""Rows of a table of ratings in, one record per rater out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deltableu.errors import InputError, Problem
from deltableu.io import Checker, ColumnNames, TableColumns, as_number, decode

REQUIRED = ("rater", "item", "target", "value")
_OPTIONAL = ("criterion", "scale", "kind", "pair", "position", "started", "finished", "system")


def rating_columns(names: ColumnNames) -> TableColumns:
    """What is read of a table of ratings, by what it calls its columns."""
    if "raters" in names:
        for name in ("rater", "value"):
            if name in names:
                message = f"raters are columns that hold their values: leave out {name}"
                raise InputError(Problem(message, field="columns"))
    return TableColumns(
        required=("item", "target") if "raters" in names else REQUIRED,
        optional=_OPTIONAL,
        several=("raters",),
        names=names,
        instead={"target": "system"},
        excused=("rater",),
        option="--columns",
    )


def is_list(cell: object) -> bool:
    """Whether a cell has the values of several raters."""
    return isinstance(cell, list) or (isinstance(cell, str) and cell.lstrip(" ").startswith("["))


def spread(
    row: Mapping[str, object], checker: Checker, *, spelt: bool
) -> Iterator[Mapping[str, object]]:
    """The row itself, or one for each of the raters that share it.

    Parameters
    ----------
    row
    checker
    spelt
        Whether numbers and lists are spelt as text, as they are in CSV.
    """
    if spelt and "position" in row:
        row = {**row, "position": _unspelt(row["position"])}
    wide = row.get("raters")
    if not isinstance(wide, Mapping):
        yield from _rated(row, checker, spelt=spelt)
        return
    for rater, cell in wide.items():
        if is_list(cell):
            # Lists in several columns are several groups of raters.
            name = "{place}" if len(wide) == 1 else f"{rater}[{{place}}]"
            yield from _listed(row, cell, rater, name, checker)
            continue
        value = _unspelt(cell) if spelt else cell
        if checker.number(value, rater) is not None:
            yield {**row, "rater": rater, "value": value}


def _rated(
    row: Mapping[str, object], checker: Checker, *, spelt: bool
) -> Iterator[Mapping[str, object]]:
    cell = row.get("value")
    if not is_list(cell):
        yield {**row, "value": _unspelt(cell)} if spelt else row
    elif row.get("rater") not in (None, ""):
        checker.complain("value", "is a list, whose raters are its places: leave out the rater")
    else:
        yield from _listed(row, cell, "value", "{place}", checker)


def _listed(
    row: Mapping[str, object], cell: object, field: str, name: str, checker: Checker
) -> Iterator[Mapping[str, object]]:
    for place, value in enumerate(_values(cell, field, checker), start=1):
        if checker.number(value, f"{field}[{place - 1}]") is not None:
            yield {**row, "rater": name.replace("{place}", str(place)), "value": value}


def _values(cell: object, field: str, checker: Checker) -> list[object]:
    if isinstance(cell, list):
        return cell
    try:
        values = decode(str(cell))
    except ValueError as error:
        checker.complain(field, str(error))
        return []
    return values if isinstance(values, list) else []


def _unspelt(cell: object) -> object:
    return as_number(cell) if isinstance(cell, str) else cell
