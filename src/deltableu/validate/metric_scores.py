"""What metrics say of each output and each system, turned so that higher is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.score import Scoring
from deltableu.stats import row_means

__all__ = ["SENTINELS", "MetricScores"]


#: Metrics that know nothing of quality: what a metric must beat.
SENTINELS = ("length", "message-overlap", "random", "constant")


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """Scores of one or more metrics.

    Attributes
    ----------
    systems, items : tuple of str
    segments : mapping of str to array
        Systems x items of each metric that scores single outputs; NaN where a score is missing.
    totals : mapping of str to array
        The score of each system under every metric: a corpus score where the metric has one of
        its own, else the mean of its outputs' scores.
    lengths : array or None
        Tokens of each output, systems x items.
    signatures : mapping of str to str
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    segments: Mapping[str, Array]
    totals: Mapping[str, Array]
    lengths: Array | None
    signatures: Mapping[str, str]

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics, sentinels last."""
        return tuple(sorted(self.totals, key=lambda name: name in SENTINELS))

    @classmethod
    def from_scoring(cls, scoring: Scoring) -> MetricScores:
        """From scored systems."""
        systems = tuple(dict.fromkeys(scored.system for scored in scoring.scores))
        segments: dict[str, Array] = {}
        totals: dict[str, Array] = {}
        signatures: dict[str, str] = {}
        lengths = None
        for name in dict.fromkeys(scored.score.name for scored in scoring.scores):
            of_metric = {one.system: one for one in scoring.only(name).scores}
            found = [of_metric[system] for system in systems]
            metric = found[0].rows.metric
            sign = 1.0 if metric.higher_is_better else -1.0
            totals[name] = sign * np.array([one.score.score for one in found])
            signatures[name] = str(found[0].score.signature)
            if metric.has_segments:
                values = np.stack([one.rows.segment_scores() for one in found])
                segments[name] = sign * values
                lengths = values if name == "length" else lengths
        return cls(systems, scoring.item_ids, segments, totals, lengths, signatures)

    @classmethod
    def from_table(cls, table: ScoreTable, *, lower_is_better: Sequence[str] = ()) -> MetricScores:
        """From scores computed elsewhere; a system's score is the mean of its outputs'."""
        for name in lower_is_better:
            table.only(name)
        segments = {
            name: -values if name in lower_is_better else values
            for name, values in zip(table.metrics, table.values, strict=True)
        }
        totals = {name: row_means(values) for name, values in segments.items()}
        signatures = {name: f"metric:{name}|table" for name in segments}
        return cls(table.systems, table.items, segments, totals, None, signatures)

    def joined(self, other: MetricScores) -> MetricScores:
        """The metrics of both, on the systems and items that both have."""
        twice = set(self.totals) & set(other.totals)
        if twice:
            raise InputError(f"there are two metrics {min(twice)!r}")
        systems = tuple(name for name in self.systems if name in other.systems)
        items = tuple(name for name in self.items if name in set(other.items))
        one, two = self.select(systems, items), other.select(systems, items)
        return replace(
            one,
            segments={**one.segments, **two.segments},
            totals={**one.totals, **two.totals},
            lengths=two.lengths if one.lengths is None else one.lengths,
            signatures={**one.signatures, **two.signatures},
        )

    def select(self, systems: Sequence[str], items: Sequence[str]) -> MetricScores:
        """Some systems and items, in the order asked for; systems keep their scores."""
        numbers = {name: place for place, name in enumerate(self.items)}
        rows = [self.systems.index(name) for name in systems]
        columns = [numbers[name] for name in items]
        cells = np.ix_(rows, columns)
        return replace(
            self,
            systems=tuple(systems),
            items=tuple(items),
            segments={name: values[cells] for name, values in self.segments.items()},
            totals={name: values[rows] for name, values in self.totals.items()},
            lengths=None if self.lengths is None else self.lengths[cells],
        )
