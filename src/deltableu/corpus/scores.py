"""Scores computed elsewhere: a table of system, item and score in, `ScoreTable` out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deltableu.corpus.score_table import ScoreTable
from deltableu.errors import Problem, check_kind
from deltableu.io import (
    Checker,
    ColumnNames,
    PathLike,
    Report,
    SeenProblems,
    TableColumns,
    as_number,
    fail,
    file_name,
    read_table_rows,
)


def read_scores(
    path: PathLike | Any,
    *,
    columns: ColumnNames | None = None,
    metric: str | None = None,
    report: Report = fail,
) -> ScoreTable:
    """Read a table with the columns system, item and score, and perhaps metric.

    Parameters
    ----------
    path
        `.csv`, `.tsv`, `.jsonl` (each also `.gz`) or `.parquet`; or a data frame, a mapping of
        columns or a list of rows. Other columns are ignored. A table
        without a column `item` has the totals of systems, and nothing else.
    columns
        What the table calls them: `{"system": "model", "item": "segment_id", "score": "comet"}`.
        `metrics` in place of `score` names columns each of which is a metric, as `bleu+comet` or
        by a pattern such as `score_*`; an empty cell there is no score.
    metric
        What the scores are called where there is no column `metric`: by default as their column.
    report
        Called with each problem; the row is then left out. The default raises InputError.
    """
    names = {} if columns is None else columns
    check_kind("columns", names, Mapping)
    problems = SeenProblems(report)
    checker = Checker(file_name(path), problems.report)
    read = _Scores(checker, metric or names.get("score", "score"))
    for line, row in read_table_rows(path, _columns(names), problems.report):
        checker.start(line)
        read.add(row)
    if not read.cells and problems.readable and not problems.lines:
        report(Problem("holds no scores", file=file_name(path)))
    return read.table()


def _columns(names: ColumnNames) -> TableColumns:
    wide = "metrics" in names
    return TableColumns(
        required=("system",) if wide else ("system", "score"),
        optional=("item",) if wide else ("item", "metric"),
        several=("metrics",),
        names=names,
        option="--columns",
    )


class _Scores:
    """Scores as they are met, of items or of whole systems."""

    def __init__(self, checker: Checker, metric: str) -> None:
        self.cells: dict[tuple[int, ...], float] = {}
        self._checker = checker
        self._metric = metric
        self._totals: bool | None = None
        self._places: tuple[dict[str, int], ...] = ({}, {}, {})

    def add(self, row: Mapping[str, object]) -> None:
        """The score, or scores, of one row."""
        checker = self._checker
        if self._totals is None:
            self._totals = "item" not in row
        system = _name(row["system"], "system", checker)
        item = self._item(row)
        scores = list(self._scores(row))
        if checker.failed:
            return
        for metric, score in scores:
            names = (metric, system) if self._totals else (metric, system, item)
            places = zip(self._places[: len(names)], names, strict=True)
            key = tuple(known.setdefault(name, len(known)) for known, name in places)
            if key in self.cells:
                self._complain_twice(system, item, row)
                return
            self.cells[key] = score

    def _item(self, row: Mapping[str, object]) -> str:
        if not self._totals:
            if row.get("item") is None:
                self._checker.complain("item", "is missing")
                return ""
            return _name(row["item"], "item", self._checker)
        if row.get("item") is not None:
            message = "the rows before have no item: give totals of systems, or scores of items"
            self._checker.complain("item", message)
        return ""

    def _scores(self, row: Mapping[str, object]) -> Iterator[tuple[str, float]]:
        wide = row.get("metrics")
        if not isinstance(wide, Mapping):
            name = self._checker.optional_identifier(row.get("metric"), "metric")
            yield name or self._metric, _score(row["score"], "score", self._checker)
            return
        for column, cell in wide.items():
            if cell is not None and cell != "":
                yield column, _score(cell, column, self._checker)

    def _complain_twice(self, system: str, item: str, row: Mapping[str, object]) -> None:
        if not self._totals:
            message = f"system {system!r} and item {item!r} have a score already"
            self._checker.complain("item", message)
            return
        others = ", ".join(key for key in row if key != "system")
        self._checker.complain(
            "system",
            f"{system!r} has a score already, and no column is called item; there are "
            f"{others:.60}: say which it is with --columns item=NAME",
        )

    def table(self) -> ScoreTable:
        """All scores that were met."""
        metrics, systems, items = (tuple(known) for known in self._places)
        shape = (len(metrics), len(systems))
        found = np.full(shape if self._totals else (*shape, len(items)), np.nan)
        for key, score in self.cells.items():
            found[key] = score
        if not self._totals:
            return ScoreTable.from_arrays(metrics, systems, items, found)
        none = np.empty((*shape, 0))
        return ScoreTable.from_arrays(metrics, systems, (), none, totals=found)


def _name(value: object, field: str, checker: Checker) -> str:
    if value == "":
        checker.complain(field, "is empty")
        return ""
    return checker.identifier(value, field)


def _score(value: object, field: str, checker: Checker) -> float:
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, str) and number.strip().lower().lstrip("+-") in ("nan", "inf"):
        number = float(number)
    if value == "":
        checker.complain(field, "is missing")
    elif isinstance(number, float) and not math.isfinite(number):
        checker.complain(field, f"must be finite, got {number}")
    else:
        return checker.number(number, field) or 0.0
    return 0.0
