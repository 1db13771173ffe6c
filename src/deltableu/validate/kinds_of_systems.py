"""System scores in; how a metric agrees with people among systems of one kind out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ScoreTable, align_scores
from deltableu.io import Cell, Column, Table, Tabular
from deltableu.stats import (
    ConfidenceInterval,
    Method,
    best_fit,
    correlate,
    correlation_interval,
)

ALL_SYSTEMS = "all systems"
#: Systems for which a correlation, and for which an interval of one, means anything.
_FOR_VALUE, _FOR_INTERVAL = 3, 5


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """A metric's agreement with people among systems of one kind.

    Attributes
    ----------
    metric, kind : str
    systems : tuple of str
    value : float
        The correlation; NaN below three systems.
    interval : ConfidenceInterval or None
    spread : float
        Standard deviation of people's scores about the kind's own line of best fit, in people's
        units: a metric of small spread orders such systems well even if they lie close together.
        NaN below three systems.
    offset : float
        How much higher people place these systems, on average, than the line of all systems does:
        a metric that is unfair to a kind shows here.
    """

    metric: str
    kind: str
    systems: tuple[str, ...]
    value: float
    interval: ConfidenceInterval | None
    spread: float
    offset: float


@dataclass(frozen=True, slots=True)
class KindsOfSystems(Tabular):
    """Agreement at system level by kind of system.

    Attributes
    ----------
    tag : str
        What says of which kind a system is: `type`, or another tag.
    method : str
    kinds : tuple of KindAgreement
        For each metric all systems, then each kind.
    untagged : tuple of str
        Systems of no kind, which only count among all.
    """

    tag: str
    method: Method
    kinds: tuple[KindAgreement, ...]
    untagged: tuple[str, ...]

    def table(self, *, digits: int = 3) -> Table:
        """One row per metric and kind."""
        form = f".{digits}r"
        rows = [
            (
                one.metric,
                one.kind,
                len(one.systems),
                Cell(one.value, one.interval),
                one.spread,
                None if one.kind == ALL_SYSTEMS else one.offset,
            )
            for one in self.kinds
        ]
        columns = (
            "metric",
            Column(self.tag, key="kind"),
            "systems",
            Column(self.method, form),
            Column("spread", f".{digits}f"),
            Column("offset", f"+.{digits}f"),
        )
        notes = {
            "spread": "of people's scores about the kind's own line",
            "offset": "people's scores above the line of all systems: where it is positive, the "
            "metric is too hard on the kind",
        }
        if self.untagged:
            notes["not tagged"] = ", ".join(self.untagged)
        return Table(columns, rows, f"by {self.tag} of system", notes)


def kinds_of_systems(
    scores: ScoreTable,
    human: ScoreTable,
    kinds: Mapping[str, str | None],
    *,
    tag: str = "type",
    metrics: Sequence[str] | None = None,
    method: Method = "pearson",
    confidence: float = 0.95,
) -> KindsOfSystems:
    """Correlate whole systems' scores with people's, for all systems and for those of each kind.

    Parameters
    ----------
    scores, human : ScoreTable
        `human` has one metric, people.
    kinds : mapping of str to str
        The kind of each system; None, or no entry, where nobody knows.
    tag : str
        What the kinds are called.
    metrics : list of str, optional
    method, confidence

    References
    ----------
    Wei, "On conducting better validation studies", section 4.3 and his Figures 7 and 8;
    Callison-Burch et al. 2006, "Re-evaluating the role of BLEU in machine translation research".

    Examples
    --------
    >>> people = ScoreTable.of({"people": {name: [y] for name, y in zip("ABCDEF", range(6))}})
    >>> metric = ScoreTable.of({"m": dict(zip("ABCDEF", [[0], [1], [2], [5], [6], [7]]))})
    >>> found = kinds_of_systems(metric, people, dict(zip("ABCDEF", ["rule"] * 3 + ["neural"] * 3)))
    >>> [(one.kind, round(one.value, 2), round(one.offset, 2)) for one in found.kinds[1:]]
    [('neural', 1.0, -0.1), ('rule', 1.0, 0.1)]
    """
    scores, human, _ = align_scores(scores.select(metrics=metrics).turned(), human.turned())
    people = human.totals[0]
    names = list(scores.systems)
    known = [kinds.get(name) for name in names]
    found = []
    for metric in scores.metrics:
        own = scores.total(metric)
        line = best_fit(own, people)
        for kind in (ALL_SYSTEMS, *sorted({one for one in known if one is not None})):
            mine = np.array([kind in (ALL_SYSTEMS, one) for one in known])
            x, y = own[mine], people[mine]
            count = len(x)
            value, interval = float("nan"), None
            if count >= _FOR_VALUE:
                value = float(correlate(x, y, method))
            if count >= _FOR_INTERVAL and abs(value) < 1.0:
                interval = correlation_interval(value, count, method, confidence)
            found.append(
                KindAgreement(
                    metric,
                    kind,
                    tuple(name for name, one in zip(names, mine, strict=True) if one),
                    value,
                    interval,
                    _spread(x, y),
                    float((y - line[0] - line[1] * x).mean()),
                )
            )
    untagged = tuple(name for name, one in zip(names, known, strict=True) if one is None)
    return KindsOfSystems(tag, method, tuple(found), untagged)


def _spread(x: Array, y: Array) -> float:
    """Residual standard deviation, two parameters being fitted."""
    if len(x) < _FOR_VALUE:
        return float("nan")
    low, slope = best_fit(x, y)
    rest = y - low - slope * x
    return float(np.sqrt(rest @ rest / (len(x) - 2)))
