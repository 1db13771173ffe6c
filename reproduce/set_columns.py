"""Metrics on one public set: a column of a table, with intervals over items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from deltableu.stats import ConfidenceInterval, correlate
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.permutation import permutation_test
from reproduce.agreement_cells import RESAMPLES, SEED, Agreed, by_item, of_outputs
from reproduce.layout import NOTHING, p_value, with_interval
from reproduce.negative_references import auc
from reproduce.soft_sets import Judged

__all__ = ["Column", "Score"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Of items, where nothing else says how many.
DRAWS = 300

Score = Callable[[Judged], Array | None]


def _area(scores: Array) -> float:
    half = len(scores) // 2
    return auc(scores[:half], scores[half:])


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One set: its scores by metric, and how they are summed up."""

    name: str
    sets: Sequence[Judged]
    scores: Mapping[str, list[Array]]

    @classmethod
    def of(cls, name: str, sets: Sequence[Judged], metrics: Mapping[str, Score]) -> Column:
        found = {}
        for metric, score in metrics.items():
            values = [score(one) for one in sets]
            known = [one for one in values if one is not None]
            if len(known) == len(sets):
                found[metric] = known
        return cls(name, sets, found)

    @property
    def labelled(self) -> bool:
        return self.name.startswith("DailyDialog++")

    def value(self, metric: str) -> float:
        """The mean of its sets."""
        if self.labelled:
            return float(np.mean([_area(one) for one in self.scores[metric]]))
        pairs = zip(self.scores[metric], self.sets, strict=True)
        return float(np.mean([correlate(own, one.human, "spearman") for own, one in pairs]))

    def cell(self, metric: str) -> str:
        if metric not in self.scores:
            return NOTHING
        if not self.labelled and len(self.sets) == 1:
            own, human = by_item(self.sets[0].items, self.scores[metric][0], self.sets[0].human)
            return str(of_outputs(own, human, "spearman"))
        drawn = self._drawn(metric)
        return str(Agreed(self.value(metric), _interval(drawn)))

    def difference(self, metric: str, ours: str) -> tuple[str, str]:
        """How much better one of ours is, and the p-value."""
        if metric not in self.scores:
            return NOTHING, NOTHING
        tables = by_item(
            self.sets[0].items, self.scores[ours][0], self.scores[metric][0], self.sets[0].human
        )
        options: dict[str, Any] = {"method": "spearman", "level": "pooled", "seed": SEED}
        if self.labelled or len(self.sets) > 1:
            drawn = self._drawn(ours) - self._drawn(metric)
            shown = with_interval(self.value(ours) - self.value(metric), _interval(drawn))
            if len(self.sets) > 1:
                return shown, NOTHING
        else:
            options["resamples"] = RESAMPLES
            found = bootstrap_difference(*tables, resample="items", **options)
            shown = with_interval(found.difference, found.interval)
        options["resamples"] = RESAMPLES
        return shown, p_value(permutation_test(*tables, **options).p_value)

    def _drawn(self, metric: str) -> Array:
        """Values for draws of items, the same draws for every metric."""
        rng = np.random.default_rng(SEED)
        items = len(set(self.sets[0].items))
        draws = rng.integers(items, size=(DRAWS, items))
        rows = len(self.sets[0].items) // items
        values = np.zeros(DRAWS)
        for own, one in zip(self.scores[metric], self.sets, strict=True):
            if self.labelled:
                good, bad = own.reshape(rows, items)
                values += [auc(good[draw], bad[draw]) for draw in draws]
            else:
                # Ranks of all outputs: those of a draw hardly differ, and would take minutes.
                x, y = (rankdata(column).reshape(rows, items) for column in (own, one.human))
                values += [
                    np.corrcoef(x[:, draw].ravel(), y[:, draw].ravel())[0, 1] for draw in draws
                ]
        return values / len(self.sets)


def _interval(drawn: Array) -> ConfidenceInterval:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return ConfidenceInterval(low, high, 0.95, "percentile")
