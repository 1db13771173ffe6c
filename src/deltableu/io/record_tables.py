"""Nested records in, tables out: what people see of a model card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deltableu.io.table import Column, Table, fact_table


def record_tables(record: Mapping[str, Any], name: str) -> Iterator[Table]:
    """Tables of a nested record: plain facts first, then its lists of records and its sections."""
    inner = {key: value for key, value in record.items() if _is_section(value)}
    facts = {_words(key): value for key, value in record.items() if key not in inner}
    if facts:
        yield fact_table((_words(name), ""), facts)
    for key, value in inner.items():
        if isinstance(value, Mapping):
            yield from record_tables(value, key)
        else:
            columns = list(dict.fromkeys(key for one in value for key in one))
            rows = [[one.get(column) for column in columns] for one in value]
            yield Table(
                [Column(_words(column), key=column) for column in columns], rows, _words(key)
            )


def tidy_record(record: Mapping[str, Any]) -> Table:
    """All of a nested record in one table, for programs: a row for each value.

    Examples
    --------
    >>> tidy_record({"size": 3, "epochs": [{"loss": 0.5}]}).records()
    [{'part': '', 'row': None, 'name': 'size', 'value': 3}, \
{'part': 'epochs', 'row': 1, 'name': 'loss', 'value': 0.5}]
    """
    return Table(("part", "row", "name", "value"), _values(record, ""))


def _values(
    record: Mapping[str, Any], part: str, row: int | None = None
) -> Iterator[tuple[str, int | None, str, Any]]:
    for key, value in record.items():
        inside = f"{part}.{key}" if part else key
        if not _is_section(value):
            yield part, row, key, value
        elif isinstance(value, Mapping):
            yield from _values(value, inside)
        else:
            for number, one in enumerate(value, start=1):
                yield from _values(one, inside, number)


def _is_section(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and bool(value) and all(isinstance(o, Mapping) for o in value)


def _words(key: str) -> str:
    return key.replace("_", " ")
