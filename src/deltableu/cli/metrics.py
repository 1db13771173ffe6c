"""`deltableu metrics`."""

from __future__ import annotations

from typing import Any

from deltableu.cli.output import Format, emit
from deltableu.io import Table
from deltableu.score import Metric, installed_metrics

_COLUMNS = ("metric", "range", "better", "levels", "needs", "what it is")


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
    emit(Table(_COLUMNS, rows), records, format)


def _record(name: str, found: type[Metric]) -> dict[str, Any]:
    low, high = found.limits
    return {
        "metric": name,
        "range": f"{low:g} to {high:g}".replace("inf", "any"),
        "better": "higher" if found.higher_is_better else "lower",
        "levels": "corpus, segment" if found.has_segments else "corpus",
        "needs": ", ".join(sorted(found.needs)) or "-",
        "what it is": found.summary,
    }


def _broken(name: str, reason: str) -> dict[str, Any]:
    return dict.fromkeys(_COLUMNS, "?") | {"metric": name, "what it is": reason}
