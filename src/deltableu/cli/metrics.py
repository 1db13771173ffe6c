"""`deltableu metrics`."""

from __future__ import annotations

from typing import Any

from deltableu.cli.output import Format, emit
from deltableu.io import Column, Table
from deltableu.score import Metric, installed_metrics

_COLUMNS = ("metric", "what it is", "better", "needs", "range", "levels")
#: What a narrow terminal can do without.
_DROP = {"needs": 1, "range": 2, "levels": 3}


def metrics(*, format: Format = "table") -> None:
    """List the metrics that are installed: range, direction, levels, what they need.

    Parameters
    ----------
    format
        How results are printed.
    """
    records = [
        _record(name, found) if isinstance(found, type) else _broken(name, str(found))
        for name, found in installed_metrics()
    ]
    rows = ([record[column] for column in _COLUMNS] for record in records)
    columns = [
        Column(name, drop=_DROP.get(name, 0), room=30 if name == "what it is" else 16)
        for name in _COLUMNS
    ]
    emit(Table(columns, rows), records, format)


def _record(name: str, found: type[Metric]) -> dict[str, Any]:
    low, high = found.limits
    needs = found.needs - {"weights"} if found.weights_optional else found.needs
    return {
        "metric": name,
        "what it is": found.summary,
        "better": "higher" if found.higher_is_better else "lower",
        "needs": ", ".join(sorted(needs)) or "-",
        "range": f"{low:g} to {high:g}".replace("-inf", "any").replace("inf", "any"),
        "levels": "corpus, segment" if found.has_segments else "corpus",
    }


def _broken(name: str, reason: str) -> dict[str, Any]:
    return dict.fromkeys(_COLUMNS, "?") | {"metric": name, "what it is": reason}
