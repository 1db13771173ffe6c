"""Agreement with people and the interval that goes with its kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu.stats.correlation import Method, correlate
from deltableu.stats.correlation_intervals import correlation_interval
from deltableu.stats.intervals import ConfidenceInterval
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.levels import Level
from reproduce.layout import with_interval

__all__ = ["Agreed", "by_item", "of_outputs", "of_systems"]

Array = np.ndarray[Any, np.dtype[np.float64]]

RESAMPLES = 1000
SEED = 0


@dataclass(frozen=True, slots=True)
class Agreed:
    """A correlation with people and its 95% interval."""

    value: float
    interval: ConfidenceInterval

    def __str__(self) -> str:
        return with_interval(self.value, self.interval)


def of_systems(metric: ArrayLike, human: ArrayLike, method: Method = "pearson") -> Agreed:
    """Over whole systems, which are few and independent: an interval by formula."""
    x, y = np.asarray(metric, np.float64), np.asarray(human, np.float64)
    value = float(correlate(x, y, method))
    return Agreed(value, correlation_interval(value, len(x), method))


def of_outputs(
    metric: ArrayLike, human: ArrayLike, method: Method = "pearson", level: Level = "pooled"
) -> Agreed:
    """Over outputs (systems x items): Percentile bootstrap over items."""
    found = bootstrap_agreement(
        metric, human, method=method, level=level, resamples=RESAMPLES, seed=SEED
    )
    return Agreed(found.value, found.interval)


def by_item(items: Sequence[Hashable], *columns: ArrayLike) -> list[Array]:
    """Scores of single outputs as tables whose columns are items; NaN where there is none.

    Rows stand for nothing: the pooled level does not ask which system an output comes from, but
    outputs of one item must be drawn together. There are at least two, as agreement wants.
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(items))}
    seen = [0] * len(places)
    cells = []
    for item in items:
        column = places[item]
        cells.append((seen[column], column))
        seen[column] += 1
    rows = max(2, max(seen))
    tables = []
    for values in columns:
        made = np.full((rows, len(places)), np.nan)
        for (row, column), value in zip(cells, np.asarray(values, np.float64), strict=True):
            made[(row + column) % rows, column] = value
        tables.append(made)
    return tables
