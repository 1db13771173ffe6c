"""A table of pairs that a metric and people have compared in, `PastComparisons` out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError, Problem
from deltableu.io import (
    PathLike,
    Report,
    as_number,
    fail,
    file_name,
    number_text,
    read_table_rows,
    shown,
)
from deltableu.score import metric_label

_WORDS = {"first": 1.0, "second": -1.0, "tie": 0.0}
_VERDICTS = "a number, or one of first, second and tie"


@dataclass(frozen=True, slots=True, eq=False)
class PastComparisons:
    """Pairs of systems that a metric and people have compared.

    Attributes
    ----------
    differences : array
        The metric's score of the first system minus that of the second.
    verdicts : array
        1 where people preferred the first system, -1 the second, 0 neither.
    groups : tuple of str or None
        The campaign or test set of each pair.
    metric : str or None
    """

    differences: Array
    verdicts: Array
    groups: tuple[str, ...] | None = None
    metric: str | None = None

    @classmethod
    def of(
        cls,
        differences: Sequence[float] | Array,
        verdicts: Sequence[float | str] | Array,
        groups: Sequence[str] | None = None,
        *,
        metric: str | None = None,
    ) -> PastComparisons:
        """From parallel lists; a verdict is a number (its sign counts) or first, second or tie.

        Examples
        --------
        >>> PastComparisons.of([1.5, -0.2], ["first", 0.3]).verdicts.tolist()
        [1.0, 1.0]
        """
        sizes = {len(differences), len(verdicts), len(differences if groups is None else groups)}
        if len(sizes) > 1:
            raise InputError("give as many differences as verdicts, and as groups if there are any")
        numbers = [_difference(value) for value in differences]
        signs = [_verdict(value) for value in verdicts]
        for place, (number, sign) in enumerate(zip(numbers, signs, strict=True)):
            if number is None:
                wrong = shown(differences[place])
                raise InputError(f"differences[{place}] must be a finite number, got {wrong}")
            if sign is None:
                raise InputError(f"verdicts[{place}] must be {_VERDICTS}, got {verdicts[place]!r}")
        names = None if groups is None else tuple(map(str, groups))
        return cls(np.array(numbers, np.float64), np.array(signs, np.float64), names, metric)


def read_past_comparisons(
    path: PathLike, metric: str | None = None, *, report: Report = fail
) -> PastComparisons:
    """Read a table with the columns difference and verdict, and perhaps metric and group.

    Parameters
    ----------
    path
        `.csv`, `.tsv`, `.jsonl` (each also `.gz`) or `.parquet`; other columns are ignored.
        `difference` is the metric's score of the first system minus that of the second;
        `verdict` is the same difference as people see it (its sign counts), or first, second or
        tie.
    metric
        Only the rows of this metric. It must be named where the table has several.
    report
        Called with each problem; the row is then left out. The default raises InputError.
    """
    file = file_name(path)
    rows: list[tuple[str, float, float, str]] = []
    for line, row in read_table_rows(path, ("difference", "verdict"), report, ("metric", "group")):
        difference, verdict = _difference(row["difference"]), _verdict(row["verdict"])
        if difference is None:
            message = f"must be a finite number, got {shown(row['difference'])}"
            report(Problem(message, file=file, line=line, field="difference"))
        elif verdict is None:
            message = f"must be {_VERDICTS}, got {shown(row['verdict'])}"
            report(Problem(message, file=file, line=line, field="verdict"))
        else:
            names = (_name(row.get("metric")), _name(row.get("group")))
            rows.append((names[0], difference, verdict, names[1]))
    metrics = list(dict.fromkeys(row[0] for row in rows if row[0]))
    if metrics:
        if metric is None and len(metrics) > 1:
            there = ", ".join(metrics)
            raise InputError(Problem(f"has several metrics: choose one of {there}", file=file))
        metric = metrics[0] if metric is None else metric
        # An older table may say delta-bleu where labels now carry the order.
        wanted = (metric, metric_label(metric))
        rows = [row for row in rows if row[0] in wanted or metric_label(row[0]) in wanted]
        if not rows:
            message = f"has no comparison by {metric!r}; it has {', '.join(metrics)}"
            raise InputError(Problem(message, file=file))
    groups = [row[3] for row in rows]
    if any(groups) and not all(groups):
        message = "is missing in some rows: name the group of every pair, or of none"
        raise InputError(Problem(message, file=file, field="group"))
    return PastComparisons.of(
        [row[1] for row in rows],
        [row[2] for row in rows],
        groups if any(groups) else None,
        metric=metric,
    )


def names_metrics(path: PathLike, *, report: Report = fail) -> bool:
    """Whether a table of past comparisons says by which metric each was made."""
    rows = read_table_rows(path, ("difference", "verdict"), report, ("metric",))
    return any(_name(row.get("metric")) for _, row in rows)


def _difference(value: object) -> float | None:
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float | np.number):
        return None
    try:
        return float(number) if math.isfinite(number) else None
    except OverflowError:  # a whole number of hundreds of digits
        return None


def _verdict(value: object) -> float | None:
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    number = _difference(value)
    return None if number is None else float(np.sign(number))


def _name(value: object) -> str:
    if value is None:
        return ""
    return number_text(value) if isinstance(value, float) else str(value)
