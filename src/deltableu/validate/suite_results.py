"""What a suite of studies gives: agreement in each, beside controls, and ranks over all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from deltableu.io import Cell, Column, Table, Tabular, field_record
from deltableu.stats import ConfidenceInterval, Method
from deltableu.validate.levels import Level

#: What stands beside a metric: a sentinel, which knows nothing of quality; the metric with the
#: references of other items; the metric with the weights of other references.
Control = Literal["sentinel", "blind", "shuffled"]
#: What intervals over a suite draw again.
SuiteResample = Literal["items", "studies"]

POPULATIONS: dict[SuiteResample, str] = {
    "items": "these studies, as many other items",
    "studies": "other studies like these",
}
_WORDS: dict[Control, str] = {
    "sentinel": "(control)",
    "blind": "(control: other items' references)",
    "shuffled": "(control: shuffled weights)",
}


@dataclass(frozen=True, slots=True)
class SuiteAgreement:
    """Agreement with people of a metric, or of a control, in one study.

    Attributes
    ----------
    metric : str
        Its own name, or that of the metric that the control belongs to.
    control : str or None
        None is the metric itself.
    value : float
        NaN where it gives all outputs the same score.
    interval : ConfidenceInterval or None
    gain : float or None
        Of `blind` and `shuffled`: by how much the metric itself agrees better.
    gain_interval : ConfidenceInterval or None
    """

    metric: str
    control: Control | None
    level: Level
    method: Method
    value: float
    interval: ConfidenceInterval | None
    gain: float | None = None
    gain_interval: ConfidenceInterval | None = None


@dataclass(frozen=True, slots=True)
class SuiteStudy(Tabular):
    """One study of a suite.

    Attributes
    ----------
    criterion : str
        Which ratings.
    systems, items, outputs : int
        That have ratings and scores.
    group : str or None
        The field that says which items belong together; None where each is for itself.
    agreements : tuple of SuiteAgreement
    missing : mapping of str to str
        Metrics that could not be computed here, and why; controls as `NAME (blind)`.
    notes : tuple of str
    signatures : mapping of str to str
        Of the metrics.
    """

    name: str
    criterion: str
    systems: int
    items: int
    outputs: int
    group: str | None
    agreements: tuple[SuiteAgreement, ...]
    missing: Mapping[str, str]
    notes: tuple[str, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)

    def agreement(
        self, metric: str, level: Level, method: Method, control: Control | None = None
    ) -> SuiteAgreement | None:
        """One of the agreements; None where it could not be computed."""
        for one in self.agreements:
            if (one.metric, one.level, one.method, one.control) == (metric, level, method, control):
                return one
        return None

    def measures(self) -> list[tuple[Level, Method]]:
        """What was measured here."""
        return list(dict.fromkeys((one.level, one.method) for one in self.agreements))

    def table(self, *, digits: int = 3) -> Table:
        """Metrics in rows, best first, with the controls of the first measure beside them."""
        form = f".{digits}r"
        measures = self.measures()
        first = measures[0]
        own = [one for one in self.agreements if (one.level, one.method) == first]
        metrics = _by_value([one for one in own if one.control is None])
        sentinels = _by_value([one for one in own if one.control == "sentinel"])
        kinds: tuple[Control, ...] = ("blind", "shuffled")
        shown = [kind for kind in kinds if any(one.control == kind for one in own)]
        columns = [Column("metric")]
        columns += [Column(f"{method}, {level}", form) for level, method in measures]
        for kind in shown:
            columns += [Column(kind, form), Column("gain", form, key=f"gain over {kind}")]
        best = next((one.metric for one in metrics if not math.isnan(one.value)), None)
        rows = []
        for one in (*metrics, *sentinels):
            row: list[object] = [
                Cell(one.metric, note=_WORDS["sentinel"] * (one.control is not None))
            ]
            for level, method in measures:
                found = self.agreement(one.metric, level, method, one.control)
                bold = one.metric == best and (level, method) == first
                row.append(found and Cell(found.value, found.interval, best=bold))
            for kind in shown:
                control = self.agreement(one.metric, *first, kind) if one.control is None else None
                row.append(control and control.value)
                row.append(control and Cell(control.gain, control.gain_interval))
            rows.append(row)
        groups = "" if self.group is None else f", in groups by {self.group}"
        caption = (
            f"{self.name}: {self.criterion} ({self.systems} "
            f"system{'s' * (self.systems != 1)}, {self.items:,} items, "
            f"{self.outputs:,} outputs{groups})"
        )
        notes = {
            **{f"{self.name}: {name}": f"left out: {why}" for name, why in self.missing.items()},
            **{f"{self.name}, note {n}": text for n, text in enumerate(self.notes, start=1)},
        }
        return Table(columns, rows, caption, notes)


@dataclass(frozen=True, slots=True)
class Standing:
    """A metric's, or a control's, standing over several studies.

    Attributes
    ----------
    rank : float
        Average over the studies, 1 is best; of a control, the place that it would take among the
        metrics.
    agreement : float
        Mean over the studies.
    best : int
        Studies in which it agrees best; of a control, in which it agrees better than every metric.
    letters : str
        Metrics that share a letter do not differ significantly in their mean agreement.
    """

    metric: str
    control: Control | None
    rank: float
    rank_interval: ConfidenceInterval | None
    agreement: float
    agreement_interval: ConfidenceInterval | None
    best: int
    studies: int
    letters: str = ""


@dataclass(frozen=True, slots=True)
class SuiteRanking(Tabular):
    """Metrics over the studies in which all of them could be computed.

    Attributes
    ----------
    standings : tuple of Standing
        The best average rank first, controls last.
    studies : tuple of str
        Over which.
    level, method
        What ranks go by.
    higher, lower : mapping of str to tuple of str
        For each metric, those whose mean agreement is significantly higher, and lower.
    """

    standings: tuple[Standing, ...]
    studies: tuple[str, ...]
    level: Level
    method: Method
    higher: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lower: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[Standing, ...]:
        """Without the controls."""
        return tuple(one for one in self.standings if one.control is None)

    def table(self, *, digits: int = 3) -> Table:
        """Metrics in rows, the best average rank first, controls below."""
        form = f".{digits}r"
        metrics = self.metrics
        best = min(one.rank for one in metrics)
        rows = [
            (
                Cell(
                    one.metric,
                    note="" if one.control is None else _WORDS[one.control],
                    best=one.control is None and one.rank == best and len(metrics) > 1,
                ),
                Cell(one.rank, one.rank_interval),
                Cell(one.agreement, one.agreement_interval, letters=one.letters),
                one.best,
                one.studies,
            )
            for one in self.standings
        ]
        columns = (
            "metric",
            Column("average rank", ".2f"),
            Column(f"mean {self.method}, {self.level}", form, key="agreement"),
            "best in",
            "studies",
        )
        number = len(self.studies)
        caption = f"{len(metrics)} metric{'s' * (len(metrics) != 1)} over "
        caption += f"{number} stud{'y' if number == 1 else 'ies'}: {', '.join(self.studies)}"
        return Table(columns, rows, caption)


@dataclass(frozen=True, slots=True)
class SuiteGain:
    """By how much a metric agrees better than a control, averaged over the studies with both.

    Attributes
    ----------
    over : str
        The sentinel's name, or `blind` or `shuffled` for the metric's own control.
    ahead : int
        Studies in which the metric agrees better.
    """

    metric: str
    over: str
    value: float
    interval: ConfidenceInterval | None
    ahead: int
    studies: int

    @property
    def shown(self) -> bool:
        """Whether the metric is shown to agree better."""
        return self.interval is not None and self.interval.low > 0.0


@dataclass(frozen=True, slots=True)
class SuiteFailure:
    """A study that could not be used, and why."""

    study: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class SuiteValidation(Tabular):
    """Metrics against people in many studies.

    Attributes
    ----------
    studies : tuple of SuiteStudy
    rankings : tuple of SuiteRanking
        Of the metrics that all studies have, over all studies; and, where some studies lack some
        metrics, of all metrics over the studies that have them all.
    gains : tuple of SuiteGain
        Over controls.
    failures : tuple of SuiteFailure
        Studies that could not be used.
    population : str
        What the intervals of averages speak about; those of one study speak about other items.
    notes : tuple of str
    signature : str
    """

    studies: tuple[SuiteStudy, ...]
    rankings: tuple[SuiteRanking, ...]
    gains: tuple[SuiteGain, ...]
    failures: tuple[SuiteFailure, ...]
    level: Level
    method: Method
    population: str
    notes: tuple[str, ...]
    signature: str

    def __repr__(self) -> str:
        """Ranks and mean agreements; `tables` has all."""
        shown = ""
        if self.rankings:
            some = self.rankings[0].metrics
            parts = [f"{one.metric} {one.rank:.2f}" for one in some[:4]]
            shown = f"; average rank: {', '.join(parts)}{', ...' * (len(some) > 4)}"
        return f"SuiteValidation({len(self.studies)} studies{shown})"

    def study(self, name: str) -> SuiteStudy:
        """One of the studies."""
        for one in self.studies:
            if one.name == name:
                return one
        raise KeyError(f"the suite has no study {name!r}")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those that could be computed in some study, in the order asked for."""
        return tuple(
            dict.fromkeys(
                one.metric
                for study in self.studies
                for one in study.agreements
                if one.control is None
            )
        )

    def table(self, *, digits: int = 3) -> Table:
        """Studies in rows; metrics and sentinels in columns; the best of each study in bold."""
        form = f".{digits}r"
        sentinels = dict.fromkeys(
            one.metric
            for study in self.studies
            for one in study.agreements
            if one.control == "sentinel"
        )
        names: list[tuple[str, Control | None]] = [(one, None) for one in self.metrics]
        names += [(one, "sentinel") for one in sentinels]
        columns = [
            Column("study"),
            *(Column(f"{one} (control)" if kind else one, form) for one, kind in names),
        ]
        rows = []
        for study in self.studies:
            found = [
                study.agreement(name, self.level, self.method, control) for name, control in names
            ]
            values = [one.value for one in found if one and one.control is None]
            top = max((value for value in values if not math.isnan(value)), default=math.nan)
            rows.append(
                [
                    Cell(study.name, note=f"({study.criterion})"),
                    *(
                        one and Cell(one.value, best=one.control is None and one.value == top)
                        for one in found
                    ),
                ]
            )
        caption = f"{self.method} with people, level {self.level}"
        return Table(columns, rows, caption, self._notes())

    def gains_table(self, *, digits: int = 3) -> Table:
        """By how much metrics agree better than controls, on average."""
        form = f".{digits}r"
        rows = [
            (one.metric, one.over, Cell(one.value, one.interval), one.ahead, one.studies)
            for one in self.gains
        ]
        columns = ("metric", "control", Column("mean gain", form), "ahead in", "studies")
        caption = f"gain in {self.method}, level {self.level}, over controls"
        return Table(columns, rows, caption, self._notes())

    def tables(
        self,
        names: Sequence[str] = ("ranks", "studies", "gains", "details"),
        *,
        digits: int = 3,
    ) -> list[Table]:
        """Those named: ranks, studies (one row each), gains over controls, details (one each)."""
        found: list[Table] = []
        for name in names:
            if name == "ranks":
                found += [one.table(digits=digits) for one in self.rankings]
            elif name == "studies":
                found.append(self.table(digits=digits))
            elif name == "gains":
                found += [self.gains_table(digits=digits)] if self.gains else []
            else:
                found += [
                    replace(one.table(digits=digits), notes=self._notes()) for one in self.studies
                ]
        return found

    def _notes(self) -> dict[str, str]:
        return {
            "intervals": f"averages: {self.population}; one study: other items",
            "letters": "metrics that share one do not differ significantly in mean agreement",
            "controls": "are not ranked: their rank is the place that they would take",
            **{f"note {place}": text for place, text in enumerate(self.notes, start=1)},
            "suite": self.signature,
        }

    def record(self) -> dict[str, Any]:
        """All of it, for programs."""
        return field_record(self)


def _by_value(rows: list[SuiteAgreement]) -> list[SuiteAgreement]:
    return sorted(rows, key=lambda one: (math.isnan(one.value), -one.value, one.metric))
