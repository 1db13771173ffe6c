"""What sweeps give: how agreement on units depends on references, units and orders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deltableu.corpus import SIMULATED_LABEL, labelled_rows
from deltableu.io import Cell, Column, Table, Tabular, written
from deltableu.stats import ConfidenceInterval, Method
from deltableu.validate.sweep_plan import SweepName

_TITLES: Mapping[SweepName, str] = {
    "settings": "which references count",
    "threshold": "least weight of a reference",
    "unit-size": "sentences per unit",
    "order": "longest n-gram",
    "references": "references per item, drawn at random",
    "origin": "origin of references",
}
_HEADINGS: Mapping[SweepName, str] = {
    "settings": "references",
    "threshold": "references",
    "unit-size": "sentences",
    "order": "order",
    "references": "references",
    "origin": "origins",
}


@dataclass(frozen=True, slots=True)
class UnitAgreement:
    """A metric's correlation with people on units of M sentences.

    Attributes
    ----------
    metric, setting : str
        The metric, and the place of the sweep.
    method : str
    value : float
        The mean over assignments; NaN where there is none.
    interval : ConfidenceInterval or None
    unit_size, units : int
        Sentences per unit (M), and units of all pairs of systems.
    spread : float or None
        Standard deviation over random choices of references.
    """

    metric: str
    setting: str
    method: Method
    value: float
    interval: ConfidenceInterval | None
    unit_size: int
    units: int
    spread: float | None = None


@dataclass(frozen=True, slots=True)
class Sweep(Tabular):
    """Agreement of all metrics at each place of a sweep.

    Attributes
    ----------
    name : str
    agreements : tuple of UnitAgreement
    without_positive : mapping of str to int
        Items that a setting leaves without a positive reference; they count at no setting.
    simulated, outputs_simulated : bool
        Whether raters of outputs or references are; whether those of outputs are.
    """

    name: SweepName
    agreements: tuple[UnitAgreement, ...]
    without_positive: Mapping[str, int] = field(default_factory=dict)
    simulated: bool = False
    outputs_simulated: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The places of the sweep."""
        return tuple(dict.fromkeys(one.setting for one in self.agreements))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that were swept."""
        return tuple(dict.fromkeys(one.metric for one in self.agreements))

    @property
    def methods(self) -> tuple[Method, ...]:
        """The correlations that were made."""
        return tuple(dict.fromkeys(one.method for one in self.agreements))

    @property
    def whom(self) -> str:
        """Whom metrics are compared with."""
        return "simulated raters" if self.outputs_simulated else "people"

    def agreement(self, metric: str, setting: str, method: Method | None = None) -> UnitAgreement:
        """One of the agreements; by default by the first correlation."""
        wanted = (metric, setting, method or self.methods[0])
        for one in self.agreements:
            if (one.metric, one.setting, one.method) == wanted:
                return one
        raise KeyError(f"the sweep has no {wanted[2]!r} of {metric!r} at {setting!r}")

    def table(self, *, digits: int = 3) -> Table:
        """Settings in rows and metrics in columns; of several correlations, these in columns."""
        form = f".{digits}r"
        if len(self.methods) > 1:
            return self._long_table(form)
        found = {(one.metric, one.setting): one for one in self.agreements}
        rows = []
        for setting in self.settings:
            here = [found.get((name, setting)) for name in self.metrics]
            cells = [None if one is None else _cell(one, form) for one in here]
            rows.append([setting, *cells, max(one.units for one in here if one is not None)])
        numbers = (Column(name, form) for name in self.metrics)
        columns = [Column(_HEADINGS[self.name]), *numbers, Column("units")]
        return Table(columns, rows, self._caption(self.methods[0]))

    def _long_table(self, form: str) -> Table:
        rows = []
        for metric in self.metrics:
            for setting in self.settings:
                cells = [
                    _cell(self.agreement(metric, setting, method), form) for method in self.methods
                ]
                rows.append([metric, setting, *cells])
        numbers = (Column(name, form) for name in self.methods)
        columns = [Column("metric"), Column(_HEADINGS[self.name]), *numbers]
        return Table(columns, rows, self._caption(" and ".join(self.methods)))

    def _caption(self, methods: str) -> str:
        sizes = sorted({one.unit_size for one in self.agreements})
        units = f"units of {sizes[0]}" if len(sizes) == 1 else "units"
        caption = f"{_TITLES[self.name]}: {methods} with {self.whom} on {units}"
        return f"{caption} {SIMULATED_LABEL}" if self.simulated else caption


def _cell(one: UnitAgreement, form: str) -> Cell:
    note = "" if one.spread is None else f"sd {written(one.spread, form)}"
    return Cell(one.value, one.interval, note=note)


@dataclass(frozen=True, slots=True)
class Sweeps:
    """All that was swept through, of the same items and pairs of systems.

    Attributes
    ----------
    sweeps : tuple of Sweep
    pairs : tuple of (str, str)
    items : int
        Items that count.
    dropped : tuple of str
        Items left out everywhere, because some setting leaves them no positive reference.
    human : str
        How human scores were made.
    notes : tuple of str
        What readers must know.
    signature : str
    simulated : bool
        As in each of the sweeps.
    """

    sweeps: tuple[Sweep, ...]
    pairs: tuple[tuple[str, str], ...]
    items: int
    dropped: tuple[str, ...]
    human: str
    notes: tuple[str, ...]
    signature: str
    simulated: bool = False

    def sweep(self, name: SweepName) -> Sweep:
        """One of the sweeps."""
        for one in self.sweeps:
            if one.name == name:
                return one
        raise KeyError(f"{name!r} was not swept through")

    def tables(self, *, digits: int = 3) -> list[Table]:
        """A table for each sweep."""
        notes = {
            **{f"note {place}": text for place, text in enumerate(self.notes, start=1)},
            "sweep": self.signature,
        }
        made = [one.table(digits=digits) for one in self.sweeps]
        return [Table(one.columns, one.rows, one.caption, notes) for one in made]

    def tidy_table(self) -> Table:
        """One row per sweep, setting, metric and correlation, for programs."""
        rows = [
            (
                *(sweep.name, one.setting, one.metric, one.method),
                Cell(one.value, one.interval),
                *(one.unit_size, one.units, one.spread),
            )
            for sweep in self.sweeps
            for one in sweep.agreements
        ]
        names = ("sweep", "setting", "metric", "method", "value", "unit_size", "units", "spread")
        return labelled_rows(Table(names, rows), self.simulated)
