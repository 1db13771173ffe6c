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


def _is_section(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and bool(value) and all(isinstance(o, Mapping) for o in value)


def _words(key: str) -> str:
    return key.replace("_", " ")
