"""Scores computed elsewhere: a table of system, item and score in, `ScoreTable` out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deltableu.corpus.checker import number_text, shown
from deltableu.corpus.files import PathLike, file_name
from deltableu.corpus.records import read_table_rows
from deltableu.corpus.report import Report, fail
from deltableu.errors import InputError, Problem

__all__ = ["ScoreTable", "read_scores"]

Array = np.ndarray[Any, np.dtype[np.float64]]


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
                values[m, systems.index(name)] = np.asarray(row, dtype=np.float64)
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
            places = [_place(name, self.systems, "system") for name in systems]
            chosen = replace(chosen, systems=tuple(systems), values=chosen.values[:, places])
        if metrics is not None:
            places = [_place(name, self.metrics, "metric") for name in metrics]
            chosen = replace(chosen, metrics=tuple(metrics), values=chosen.values[places])
        return chosen

    def first_missing(self) -> tuple[str, str, str] | None:
        """Metric, system and item of the first score that is not there."""
        missing = np.argwhere(np.isnan(self.values))
        if len(missing) == 0:
            return None
        m, s, i = missing[0].tolist()
        return self.metrics[m], self.systems[s], self.items[i]


def _place(name: str, names: Sequence[str], what: str) -> int:
    if name not in names:
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(names)}")
    return names.index(name)


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
    file = file_name(path)
    for line, row in read_table_rows(path, ("system", "item", "score"), report, ("metric",)):
        names = (str(row.get("metric") or metric), str(row["system"]), str(row["item"]))
        score = _number(row["score"])
        problem: tuple[str, str] | None = None
        if not names[1] or not names[2]:
            problem = ("system" if not names[1] else "item", "is empty")
        elif score is None:
            problem = ("score", f"must be a number, got {shown(row['score'])}")
        elif not math.isfinite(score):
            problem = ("score", f"must be finite, got {number_text(score)}")
        if problem is not None or score is None:
            field, message = problem or ("score", "is missing")
            report(Problem(message, file=file, line=line, field=field))
            continue
        key = tuple(
            known.setdefault(name, len(known)) for known, name in zip(places, names, strict=True)
        )
        if key in cells:
            message = f"system {names[1]!r} and item {names[2]!r} have a score already"
            report(Problem(message, file=file, line=line, field="item"))
            continue
        cells[key] = score
    if not cells:
        report(Problem("holds no scores", file=file))
    values = np.full(tuple(map(len, places)), np.nan)
    for key, score in cells.items():
        values[key] = score
    metrics, systems, items = (tuple(known) for known in places)
    return ScoreTable(metrics, systems, items, values)


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(str(value))
    except ValueError:
        return None
