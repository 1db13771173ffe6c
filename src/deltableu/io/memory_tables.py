"""Tables in memory in, rows out: data frames are known by what they can do, never imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from deltableu.errors import InputError


def is_frame(value: object) -> bool:
    """Whether this is a data frame, or a table of Arrow."""
    if isinstance(value, Mapping | type):
        return False
    rows = hasattr(value, "to_dicts") or hasattr(value, "to_pylist")
    return (rows or hasattr(value, "to_dict")) and (
        hasattr(value, "columns") or hasattr(value, "column_names")
    )


def is_table(value: object) -> bool:
    """Whether this is a data frame, a mapping of columns, or a list of rows."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    return isinstance(value, Mapping) or is_frame(value)


def table_records(table: Any, name: str) -> Iterable[Mapping[str, object]]:
    """The rows of a table, by what it can do: pandas, polars, Arrow, columns, or rows."""
    if isinstance(table, Mapping):
        return _columns_as_rows({str(key): list(value) for key, value in table.items()}, name)
    for method in ("to_dicts", "to_pylist"):  # polars; Arrow
        if hasattr(table, method):
            rows: Iterable[Mapping[str, object]] = getattr(table, method)()
            return rows
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas
        return _columns_as_rows({str(key): table[key].tolist() for key in table.columns}, name)
    if isinstance(table, Iterable) and not isinstance(table, str | bytes):  # lists, data sets
        return _checked_rows(table, name)
    raise InputError(
        f"{name} is no table: give a data frame, a mapping of lists, or a list of rows"
    )


def _columns_as_rows(
    columns: Mapping[str, list[object]], name: str
) -> Iterator[Mapping[str, object]]:
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns of {name} are not equally long: {lengths}")
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


def _checked_rows(rows: Iterable[Any], name: str) -> Iterator[Mapping[str, object]]:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise InputError(f"{name}, row {number}: must be a mapping, got {row!r:.60}")
        for key in row:  # csv.DictReader calls the column of surplus cells None
            if not isinstance(key, str):
                message = f"names of columns must be strings, got {key!r:.60}"
                raise InputError(f"{name}, row {number}: {message}")
        yield row
