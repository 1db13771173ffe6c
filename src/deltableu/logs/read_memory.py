"""Rows in memory in, blocks of rows out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from deltableu.errors import InputError, Problem
from deltableu.io import Checker, fail, shown
from deltableu.logs.blocks import FIELDS, Block, Columns, text_columns
from deltableu.text import NotUnicodeError


def read_memory(rows: Sequence[object], block_rows: int = 16384) -> Iterator[Block]:
    """Yield pairs of texts, or mappings or objects with an utterance and a response."""
    read = 0
    for first in range(0, len(rows), block_rows):
        part = rows[first : first + block_rows]
        texts = _pairs(part) or _records(part, first)
        read += sum(len(text.data) for text in texts if text is not None)
        yield Block(first, *texts, read)


def _pairs(rows: Sequence[object]) -> Columns | None:
    """The texts of pairs, or None where one of them is something else."""
    # Rows of other types may have their own idea of what comes first.
    if not set(map(type, rows)) <= {tuple, list}:
        return None
    pairs = cast(Sequence[Sequence[str]], rows)
    if set(map(len, pairs)) != {2}:
        return None
    try:
        return text_columns([pair[0] for pair in pairs], [pair[1] for pair in pairs], (), ())
    except (TypeError, NotUnicodeError):
        return None  # the slow way finds out which one it was


def _records(rows: Sequence[object], first: int) -> Columns:
    utterances, responses, ids, threads = [], [], [], []
    checker = Checker(None, fail)
    for number, row in enumerate(rows, first):
        place = f"logs[{number}]"
        utterance, response, id, thread = _values(row, place)
        utterances.append(checker.text(utterance, f"{place}.utterance"))
        responses.append(checker.text(response, f"{place}.response"))
        ids.append(checker.name(id, f"{place}.id"))
        threads.append(checker.name(thread, f"{place}.thread"))
    return text_columns(utterances, responses, ids, threads)


def _values(row: object, place: str) -> Sequence[object]:
    if isinstance(row, Mapping):
        return [row.get(name) for name in FIELDS]
    if isinstance(row, tuple | list) and not hasattr(row, "utterance"):
        if len(row) != 2:
            message = f"must be an utterance and a response, got {len(row)} values"
            raise InputError(Problem(message, field=place))
        return (*row, None, None)
    if not hasattr(row, "utterance"):
        message = f"must be a path, or a row with utterance and response, got {shown(row)}"
        raise InputError(Problem(message, field=place))
    return [getattr(row, name, None) for name in FIELDS]
