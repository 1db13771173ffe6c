"""What a validation gives: how well each metric agrees with people, and which agree best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deltableu.corpus import ScoreTable
from deltableu.io import Table, field_record
from deltableu.rate import DirectAssessment
from deltableu.stats import ConfidenceInterval, Method
from deltableu.validate.levels import Level
from deltableu.validate.rater_summary import RaterSummary
from deltableu.validate.tables import agreement_table, people_tables, table_notes
from deltableu.validate.winners import MetricComparison

__all__ = ["Accuracy", "Agreement", "Validation"]


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
        Of no correlation, two-sided.
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


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a metric orders two outputs or systems as people do.

    Attributes
    ----------
    measure : str
        `pairwise` (systems), `spa` (soft, systems) or `acc-eq` (outputs of an item, ties
        calibrated).
    chance : float
        What is reached without knowing anything.
    epsilon : float or None
        The calibrated tie of `acc-eq`.
    """

    metric: str
    measure: str
    value: float
    chance: float
    pairs: int
    epsilon: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
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

    def agreement(self, metric: str, level: Level, method: Method) -> Agreement:
        """One of the agreements."""
        for one in self.agreements:
            if (one.metric, one.level, one.method) == (metric, level, method):
                return one
        raise KeyError(f"{metric!r} was not validated at level {level!r} by {method!r}")

    def table(self, level: Level | None = None, *, digits: int = 3) -> Table:
        """Metrics in rows, best first, at one level (by default the first); winners in bold."""
        return agreement_table(self, level or self.agreements[0].level, digits)

    def people_tables(self, *, digits: int = 3) -> list[Table]:
        """What people think of the systems and how far they agree, where there are raw ratings."""
        return people_tables(self, digits)

    def matrix_tables(self) -> list[Table]:
        """For each level, p-values of the row's metric agreeing better than the column's."""
        return [replace(one.table(), notes=table_notes(self)) for one in self.comparisons]

    def record(self) -> dict[str, Any]:
        """All of it; what is known of people stands together."""
        found = [] if self.assessment is None else self.assessment.table().records()
        known = {one["system"]: one for one in found}
        systems = [
            {"system": name, "score": total, **known.get(name, {})}
            for name, total in zip(self.human.systems, self.human.totals[0].tolist(), strict=True)
        ]
        human = {"source": self.source, "systems": systems, "raters": self.raters}
        without = ("human", "source", "assessment", "raters")
        return {"human": human, **field_record(self, without=without)}
