"""Scores computed elsewhere: a table of system, item and score in, `ScoreTable` out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    Heard,
    PathLike,
    Report,
    as_number,
    fail,
    file_name,
    read_table_rows,
)

__all__ = ["ScoreTable", "read_scores"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of each metric for each system and item; NaN where there is none.

    Attributes
    ----------
    metrics, systems, items : tuple of str
        In the order in which they were first met.
    values : array
        `values[m, s, i]` is what metric m gives to the output of system s for item i.

    Examples
    --------
    >>> table = ScoreTable.of({"comet": {"A": [0.8, 0.6], "B": [0.7, 0.7]}})
    >>> table.only("comet").shape, table.systems
    ((2, 2), ('A', 'B'))
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    values: Array

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Mapping[str, Sequence[float]]],
        items: Sequence[str] | None = None,
    ) -> ScoreTable:
        """From metric -> system -> scores in the order of the items."""
        if not any(scores.values()):
            raise InputError("there are no scores: give metric -> system -> scores")
        systems = tuple(dict.fromkeys(name for metric in scores.values() for name in metric))
        lengths = {len(row) for metric in scores.values() for row in metric.values()}
        if len(lengths) != 1:
            raise InputError("give the same number of scores for every metric and system")
        size = lengths.pop()
        names = tuple(map(str, range(size))) if items is None else tuple(items)
        if len(names) != size:
            raise InputError(f"there are {len(names)} items, but {size} scores a system")
        values = np.full((len(scores), len(systems), size), np.nan)
        for m, metric in enumerate(scores.values()):
            for name, row in metric.items():
                try:
                    values[m, systems.index(name)] = np.asarray(row, dtype=np.float64)
                except (TypeError, ValueError, OverflowError):
                    message = f"the scores of system {name!r} must be one number an item"
                    raise InputError(message) from None
        return cls(tuple(scores), systems, names, values)

    def only(self, metric: str) -> Array:
        """Systems x items of one metric."""
        if metric not in self.metrics:
            raise InputError(f"there is no metric {metric!r}; there are {', '.join(self.metrics)}")
        scores: Array = self.values[self.metrics.index(metric)]
        return scores

    def select(
        self, *, systems: Sequence[str] | None = None, metrics: Sequence[str] | None = None
    ) -> ScoreTable:
        """Some systems and metrics, in the order asked for."""
        chosen = self
        if systems is not None:
            places = _places(systems, self.systems, "system")
            chosen = replace(chosen, systems=tuple(systems), values=chosen.values[:, places])
        if metrics is not None:
            places = _places(metrics, self.metrics, "metric")
            chosen = replace(chosen, metrics=tuple(metrics), values=chosen.values[places])
        return chosen

    def first_missing(self) -> tuple[str, str, str] | None:
        """Metric, system and item of the first score that is not there."""
        missing = np.argwhere(np.isnan(self.values))
        if len(missing) == 0:
            return None
        m, s, i = missing[0].tolist()
        return self.metrics[m], self.systems[s], self.items[i]


def _places(wanted: Sequence[str], names: Sequence[str], what: str) -> list[int]:
    for name in wanted:
        if name not in names:
            raise InputError(f"there is no {what} {name!r}; there are {', '.join(names)}")
        if list(wanted).count(name) > 1:
            raise InputError(f"{what} {name!r} is named twice")
    return [names.index(name) for name in wanted]


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
    heard = Heard(report)
    checker = Checker(file_name(path), heard.report)
    columns = ("system", "item", "score")
    for line, row in read_table_rows(path, columns, heard.report, ("metric",)):
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
    if not cells and heard.readable and not heard.lines:
        report(Problem("holds no scores", file=file_name(path)))
    values = np.full(tuple(map(len, places)), np.nan)
    for key, score in cells.items():
        values[key] = score
    metrics, systems, items = (tuple(known) for known in places)
    return ScoreTable(metrics, systems, items, values)


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
