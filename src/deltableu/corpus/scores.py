"""Scores computed elsewhere: a table of system, item and score in, `ScoreTable` out."""

from __future__ import annotations

import math

import numpy as np

from deltableu.corpus.score_table import ScoreTable
from deltableu.errors import Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    SeenProblems,
    as_number,
    fail,
    file_name,
    read_table_rows,
)


def read_scores(path: PathLike, *, metric: str = "score", report: Report = fail) -> ScoreTable:
    """Read a table with the columns system, item and score, and perhaps metric.

    Parameters
    ----------
    path
        `.csv`, `.tsv`, `.jsonl` (each also `.gz`) or `.parquet`; other columns are ignored.
    metric
        What the scores are called where there is no column `metric`.
    report
        Called with each problem; the row is then left out. The default raises InputError.
    """
    places: tuple[dict[str, int], ...] = ({}, {}, {})
    cells: dict[tuple[int, ...], float] = {}
    problems = SeenProblems(report)
    checker = Checker(file_name(path), problems.report)
    columns = ("system", "item", "score")
    for line, row in read_table_rows(path, columns, problems.report, ("metric",)):
        checker.start(line)
        names = (
            checker.optional_identifier(row.get("metric"), "metric") or metric,
            _name(row["system"], "system", checker),
            _name(row["item"], "item", checker),
        )
        score = _score(row["score"], checker)
        if checker.failed:
            continue
        key = tuple(
            known.setdefault(name, len(known)) for known, name in zip(places, names, strict=True)
        )
        if key in cells:
            message = f"system {names[1]!r} and item {names[2]!r} have a score already"
            checker.complain("item", message)
            continue
        cells[key] = score
    if not cells and problems.readable and not problems.lines:
        report(Problem("holds no scores", file=file_name(path)))
    values = np.full(tuple(map(len, places)), np.nan)
    for key, score in cells.items():
        values[key] = score
    metrics, systems, items = (tuple(known) for known in places)
    return ScoreTable.from_arrays(metrics, systems, items, values)


def _name(value: object, field: str, checker: Checker) -> str:
    if value == "":
        checker.complain(field, "is empty")
        return ""
    return checker.identifier(value, field)


def _score(value: object, checker: Checker) -> float:
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, str) and number.strip().lower().lstrip("+-") in ("nan", "inf"):
        number = float(number)
    if value == "":
        checker.complain("score", "is missing")
    elif isinstance(number, float) and not math.isfinite(number):
        checker.complain("score", f"must be finite, got {number}")
    else:
        return checker.number(number, "score") or 0.0
    return 0.0
