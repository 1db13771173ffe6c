"""Texts, and which references count, in; rows of every system out, none counted twice.

Rows of order 4 hold those of orders 1 to 3, and BLEU and sentence BLEU count the same n-grams.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score import Metric, NgramMetric, Statistics
from deltableu.validate.unit_rows import SummedScores

#: References of each item that count, by their positions.
Positions = tuple[tuple[int, ...], ...]
Ordered = TypeVar("Ordered", bound=Metric)


@dataclass(slots=True, eq=False)
class SweepRows:
    """Rows of systems under any choice of references.

    Attributes
    ----------
    references : ReferenceSet
        All of them, of the items that count.
    outputs : mapping of str to list of str
        Texts of each system for these items.
    longest : int
        The longest n-gram that any metric will be asked for.
    threads : int or None
    """

    references: ReferenceSet
    outputs: Mapping[str, Sequence[str]]
    longest: int
    threads: int | None = None
    _kept: dict[tuple[Positions, Hashable], list[Array]] = field(default_factory=dict)

    def scores(self, metric: Metric, positions: Positions, name: str) -> SummedScores:
        """What gives any of the items a score with these references."""
        long = at_order(metric, max(self.longest, _order(metric)))
        key = (positions, _shared_key(long))
        if key not in self._kept:
            self._kept[key] = self._counted(long, positions, name)
        rows = self._kept[key]
        if isinstance(metric, NgramMetric):
            rows = [metric.rows_from(one) for one in rows]
        return summed_scores(metric, rows)

    def forget(self, positions: Positions) -> None:
        """Free the memory of a choice of references that will not come again."""
        for key in [one for one in self._kept if one[0] == positions]:
            del self._kept[key]

    def _counted(self, metric: Metric, positions: Positions, name: str) -> list[Array]:
        chosen = self.references.keep(positions, name)
        metric = metric.for_outputs(self.references, self.outputs)
        encoded = metric.encode(chosen, threads=self.threads)
        found = []
        for texts in self.outputs.values():
            made = metric.statistics(texts, encoded, threads=self.threads)
            check_summed(made)
            found.append(metric.counts(made.rows) if isinstance(metric, NgramMetric) else made.rows)
        return found


def summed_scores(metric: Metric, rows: Sequence[Array]) -> SummedScores:
    """Scores of any set of sentences, turned so that higher ones are better."""
    sign = 1.0 if metric.higher_is_better else -1.0
    if metric.averages_segments:  # two columns in place of many
        return SummedScores.of_means(sign * np.stack([metric.segment_scores(one) for one in rows]))
    aggregate: Any = metric.aggregate if sign > 0 else (lambda sums: -metric.aggregate(sums))
    return SummedScores(np.stack(rows), aggregate)


def check_summed(rows: Statistics) -> None:
    """Refuse metrics whose score of a set of sentences is no sum over them."""
    if not rows.adds_up:
        raise InputError(
            f"{rows.metric.name} of a unit is no sum over its sentences: leave it out of units"
        )


def at_order(metric: Ordered, order: int) -> Ordered:
    """The same metric up to another order, if it has one."""
    if not isinstance(metric, NgramMetric) or metric.order == order:
        return metric
    changed: Ordered = replace(metric, order=order)
    return changed


def _order(metric: Metric) -> int:
    return metric.order if isinstance(metric, NgramMetric) else 0


def _shared_key(metric: Metric) -> Hashable:
    """Metrics with equal keys have the same counts; one with a rater has its own weights."""
    return metric.encoding_key if isinstance(metric, NgramMetric) else metric
