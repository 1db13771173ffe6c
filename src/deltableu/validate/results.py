"""What a validation gives: how well each metric agrees with people, and which agree best."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deltableu.corpus import ScoreTable, labelled, labelled_rows, says_simulated
from deltableu.io import Better, Cell, Column, Table, Tabular, field_record, written
from deltableu.rate import DirectAssessment
from deltableu.stats import ConfidenceInterval, Method, interval_cells
from deltableu.validate.accuracy_results import Accuracy, MeasuredAccuracy
from deltableu.validate.levels import Level
from deltableu.validate.rater_summary import RaterSummary
from deltableu.validate.winners import MetricComparison

_TITLES = {
    "system": "systems by their scores",
    "pooled": "all outputs together",
    "item": "systems within each item, averaged over items",
}
_UNITS = {"system": "systems", "pooled": "outputs", "item": "items"}
_MEASURES: dict[Level, tuple[tuple[str, str], ...]] = {
    "system": (("pairwise", "pairs right"), ("spa", "SPA")),
    "pooled": (),
    "item": (("acc-eq", "acc*eq"),),
}


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric's correlation with people at one level.

    Attributes
    ----------
    value : float
        NaN where undefined, as for a constant metric.
    interval : ConfidenceInterval or None
        None where there are too few systems or items for one.
    p_value : float
        The p-value of no correlation, two-sided.
    units, dropped : int
        Systems, outputs or items that count, and those that could not be used.
    population : str
        What the interval and the p-value speak about.
    without_length : float or None
        The correlation with the outputs' lengths partialled out (level pooled).
    """

    metric: str
    level: Level
    method: Method
    value: float
    interval: ConfidenceInterval | None
    p_value: float
    units: int
    dropped: int
    population: str
    without_length: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Validation(Tabular):
    """Metrics against people.

    Attributes
    ----------
    human : ScoreTable
        One metric, people, on the systems and items that were used.
    source : str
        How human scores were made.
    assessment : DirectAssessment or None
        What people think of the systems, with ranks and tests, where there are raw ratings.
    agreements : tuple of Agreement
        Every metric at every level by every method.
    accuracies : tuple of Accuracy
    comparisons : tuple of MetricComparison
        One a level: which metrics agree better than which, and the winners.
    raters : RaterSummary or None
        How people agree with people, where outputs have several raters.
    sentinels : tuple of str
        Metrics that know nothing of quality.
    notes : tuple of str
        What was left out, and why.
    signature : str
    signatures : mapping of str to str
        Those of the metrics that have one.
    scores : ScoreTable or None
        The metrics' scores on the systems and items that were used, as they were given.
    measured : tuple of MeasuredAccuracy
        Every metric by every accuracy that was among the methods.
    accuracy_comparisons : tuple of MetricComparison
        One per accuracy: which metrics are right more often than which.
    simulated : bool
        Whether ratings of outputs, or weights of references, are simulated. Then metrics stand in
        the order in which they were given, and none is compared with another.
    """

    human: ScoreTable
    source: str
    assessment: DirectAssessment | None
    metrics: tuple[str, ...]
    agreements: tuple[Agreement, ...]
    accuracies: tuple[Accuracy, ...]
    comparisons: tuple[MetricComparison, ...]
    raters: RaterSummary | None
    sentinels: tuple[str, ...]
    notes: tuple[str, ...]
    signature: str
    signatures: Mapping[str, str] = field(default_factory=dict)
    scores: ScoreTable | None = None
    measured: tuple[MeasuredAccuracy, ...] = ()
    accuracy_comparisons: tuple[MetricComparison, ...] = ()
    simulated: bool = False

    def __repr__(self) -> str:
        """How well metrics agree by the first correlation at the first level; `table` has all."""
        first = self.agreements[0]
        rows = [
            one for one in self.agreements if (one.level, one.method) == (first.level, first.method)
        ]
        shown = [f"{one.metric} {one.value:.3f}" for one in rows[:4]]
        more = ", ..." if len(rows) > 4 else ""
        sizes = f"{len(self.human.systems)} systems, {len(self.human.items)} items"
        return (
            f"Validation({sizes}; {first.method} with {self.whom} at level {first.level}: "
            f"{', '.join(shown)}{more})"
        )

    @property
    def whom(self) -> str:
        """Whom metrics are compared with: people, or simulated raters."""
        return "simulated raters" if says_simulated(self.source) else "people"

    def agreement(self, metric: str, level: Level, method: Method) -> Agreement:
        """One of the agreements."""
        for one in self.agreements:
            if (one.metric, one.level, one.method) == (metric, level, method):
                return one
        raise KeyError(f"{metric!r} was not validated at level {level!r} by {method!r}")

    def table(self, level: Level | None = None, *, digits: int = 3) -> Table:
        """Metrics in rows, best first, at one level (by default the first); winners in bold.

        Where raters are simulated: in the order in which they were given, and none in bold.
        """
        level = level or self.agreements[0].level
        rows = [one for one in self.agreements if one.level == level]
        methods = list(dict.fromkeys(one.method for one in rows))
        found = {(one.metric, one.method): one for one in rows}
        first = {one.metric: one for one in rows if one.method == methods[0]}
        names = self._ordered({name: one.value for name, one in first.items()})
        form = f".{digits}r"
        winners = {name for one in self.comparisons if one.level == level for name in one.winners}
        columns: dict[Column, Mapping[str, object]] = {
            Column("metric"): {
                name: Cell(name, note="(sentinel)" * (name in self.sentinels), best=name in winners)
                for name in names
            }
        }
        better: Better | None = None if self.simulated else "higher"
        ceiling = self.raters and self.raters.ceiling(level, methods[0])
        for place, method in enumerate(methods):
            own = {name: found[name, method] for name in names}
            columns[Column(method, form, better=better, drop=place)] = {
                name: Cell(one.value, one.interval) for name, one in own.items()
            }
            if place == 0:
                columns[Column("p", "p", align="right", drop=1)] = {
                    name: None if math.isnan(one.p_value) else one.p_value
                    for name, one in own.items()
                }
                if ceiling and method in ("pearson", "spearman"):
                    columns[Column("disattenuated", form, drop=5)] = {
                        name: ceiling.disattenuated(one.value) for name, one in own.items()
                    }
        if level == "pooled" and any(one.without_length is not None for one in rows):
            columns[Column("less length", form, drop=5)] = {
                name: math.nan if one.without_length is None else one.without_length
                for name, one in first.items()
            }
        spans = self.raters.annotators if self.raters and level == "pooled" else {}
        if spans:
            columns[Column("single raters", form, drop=6)] = {
                name: spans[name].cell(form) if name in spans else math.nan for name in names
            }
        for measure, title in _MEASURES[level]:
            shares = {
                one.metric: Cell(one.value, note=f"chance {written(one.chance, form)}")
                for one in self.accuracies
                if one.measure == measure and one.reason is None
            }
            # Totals of systems have no soft accuracy.
            if shares or self.human.items:
                columns[Column(title, form, better=better, drop=4)] = shares
        body = [[values.get(name) for values in columns.values()] for name in names]
        if ceiling:
            empty = [None] * (len(columns) - 2)
            people = f"({self.whom} with {self.whom})"
            for name, note, value in (
                ("one rater", people, ceiling.one_rater),
                ("half of the raters", people, ceiling.halves),
                ("a perfect metric", "(ceiling)", ceiling.perfect),
            ):
                body.append([Cell(name, note=note), value, *empty])
        units = max((one.units for one in rows), default=0)
        caption = f"{level}: {_TITLES[level]} ({units} {_UNITS[level]})"
        return self._labelled(Table(columns, body, caption))

    def _ordered(self, values: Mapping[str, float]) -> list[str]:
        """Metrics, best first, or as they were given where nothing tells which is best."""
        if self.simulated:
            return [name for name in self.metrics if name in values]
        return sorted(values, key=lambda name: (math.isnan(values[name]), -values[name], name))

    def accuracy_table(self, *, digits: int = 3) -> Table | None:
        """Metrics in rows, and the accuracies that were asked for in columns."""
        if not self.measured:
            return None
        form = f".{digits}r"
        methods = list(dict.fromkeys(one.method for one in self.measured))
        found = {(one.metric, one.method): one for one in self.measured}
        first = {one.metric: one.value for one in self.measured if one.method == methods[0]}
        names = self._ordered(first)
        winners = {(name, one.method) for one in self.accuracy_comparisons for name in one.winners}
        rows = []
        for name in names:
            cells: list[object] = [Cell(name, note="(sentinel)" * (name in self.sentinels))]
            for method in methods:
                one = found.get((name, method))
                note = "" if one is None else f"chance {written(one.chance, form)}"
                best = (name, method) in winners
                cells.append(one and Cell(one.value, one.interval, note=note, best=best))
            rows.append(cells)
        columns = [Column("metric"), *(Column(method, form) for method in methods)]
        caption = f"how often metrics prefer what {self.whom} prefer"
        return self._labelled(Table(columns, rows, caption))

    def people_tables(self, *, digits: int = 3) -> list[Table]:
        """What people think of the systems and how far they agree, where there are raw ratings."""
        tables = []
        if self.assessment is not None:
            caption = f"{'ratings' if self.simulated else 'people'} ({self.source})"
            tables.append(replace(self.assessment.table(digits=digits), caption=caption))
        if self.raters is not None:
            tables.append(self.raters.table(digits=digits))
        return [self._labelled(one) for one in tables]

    def matrix_tables(self) -> list[Table]:
        """For each level, p-values of the row's metric agreeing better than the column's."""
        compared = (*self.comparisons, *self.accuracy_comparisons)
        return [self._labelled(one.table()) for one in compared]

    def _notes(self) -> dict[str, str]:
        """What readers of the tables must know."""
        populations = {one.level: one.population for one in self.agreements}
        ranked = {
            "bold": "no other metric agrees significantly better at this level",
            "sentinels": "know nothing of quality and cannot win; p-values against them are "
            "one-sided and not corrected",
        }
        unranked = {
            "simulated raters": "how metrics agree with them says nothing about the metrics, which "
            "stand in the order in which they were given"
            if says_simulated(self.source)
            else "gave the weights of references: how metrics that use them agree with people says "
            "nothing about these metrics; all stand in the order in which they were given",
            "sentinels": "know nothing of quality",
        }
        return {
            **(unranked if self.simulated else ranked),
            "intervals": "; ".join(f"{level}: {who}" for level, who in populations.items()),
            **{
                name.replace("people", self.whom): text
                for name, text in (self.raters.notes() if self.raters else {}).items()
            },
            **{f"note {place}": text for place, text in enumerate(self.notes, start=1)},
        }

    def _signatures(self) -> dict[str, str]:
        return {"validation": self.signature, **self.signatures}

    def _labelled(self, table: Table) -> Table:
        """With what its readers must know."""
        noted = Table(table.columns, table.rows, table.caption, self._notes(), self._signatures())
        return labelled(noted, self.simulated)

    def tidy_table(self) -> Table:
        """A row for each level, metric and method, for programs."""
        winners = {(one.level, name) for one in self.comparisons for name in one.winners}
        columns = (
            *("level", "metric", "method", "agreement", "low", "high", "confidence", "interval"),
            *("p", "units", "dropped", "without_length", "winner", "sentinel"),
            *("validation", "signature"),
        )
        rows = [
            (
                *(one.level, one.metric, one.method, one.value, *interval_cells(one.interval)),
                *(one.p_value, one.units, one.dropped, one.without_length),
                None if self.simulated else (one.level, one.metric) in winners,
                one.metric in self.sentinels,
                *(self.signature, self.signatures.get(one.metric)),
            )
            for one in self.agreements
        ]
        return labelled_rows(Table(columns, rows), self.simulated)

    def tidy_matrix(self) -> Table:
        """A row for each level and pair of metrics, for programs."""
        columns = ("level", "first", "second", "p", "p_corrected", "correction", "test", "method")
        rows = [
            (
                *(found.level, one.metric, two.metric),
                *(float(found.p_values[i, j]), float(found.adjusted[i, j])),
                *(found.correction, found.test, found.method),
            )
            for found in self.comparisons
            if not found.unranked
            for i, one in enumerate(found.metrics)
            for j, two in enumerate(found.metrics)
            if (i != j if found.correction == "wmt" else i < j)
        ]
        return labelled_rows(Table(columns, rows), self.simulated)

    def record(self) -> dict[str, Any]:
        """All of it; what is known of people stands together."""
        found = [] if self.assessment is None else self.assessment.table().records()
        known = {one["system"]: one for one in found}
        systems = [
            {"system": name, "score": total, **known.get(name, {})}
            for name, total in zip(self.human.systems, self.human.totals[0].tolist(), strict=True)
        ]
        human = {"source": self.source, "systems": systems, "raters": self.raters}
        without = ("human", "source", "assessment", "raters", "scores")
        return {"human": human, **field_record(self, without=without)}
