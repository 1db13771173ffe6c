"""How raters agree in; tables over several criteria, for people and for programs, out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deltableu._types import Array
from deltableu.corpus import labelled, labelled_rows
from deltableu.io import Cell, Column, Table, written
from deltableu.rate.agreement_results import RaterAgreement

#: No study asks more people.
_MOST = 1000


def summary_table(found: Sequence[RaterAgreement], *, digits: int = 2) -> Table:
    """A row for each criterion of each sort of targets."""
    form = f".{digits}r"
    columns = (
        *(Column("criterion"), Column("of"), Column("raters", drop=1), Column("units", drop=1)),
        Column("per unit", ".3g", drop=1),
        Column("alpha", form),
        Column("ICC1", form, drop=2),
        Column("reliability", form),
        Column("ceiling", form),
        Column("enough"),
    )
    rows = (
        (
            *(one.criterion, one.targets, one.raters, one.units, one.per_unit),
            Cell(one.alpha, one.interval),
            *(one.one_way, one.reliability, one.ceiling),
            one.enough if one.enough is not None else f">{_MOST}",
        )
        for one in found
    )
    target = written(found[0].target, ".3r")
    notes = {
        "alpha": "Krippendorff's, interval data; 1 is perfect, 0 is chance",
        "reliability, ceiling": "of averaged ratings, and the highest correlation that a metric "
        "can have with them",
        "enough": f"ratings per unit for a correlation of {target} with what ever more raters say",
    }
    made = Table(columns, rows, "how far raters agree", notes)
    return labelled(made, _simulated(found))


def _simulated(found: Sequence[RaterAgreement]) -> bool:
    return any(one.simulated for one in found)


def tidy_measures(found: Sequence[RaterAgreement]) -> Table:
    """A row for each measure, for programs."""
    columns = ("criterion", "targets", "measure", "value", "low", "high", "from")
    rows = []
    for one in found:
        for name, cell, of in one.measures():
            if cell is None:
                continue
            value = cell.value if isinstance(cell, Cell) else cell
            ends = cell.interval if isinstance(cell, Cell) else None
            low, high = (None, None) if ends is None else (ends.low, ends.high)
            rows.append((one.criterion, one.targets, name, value, low, high, of))
    return labelled_rows(Table(columns, rows), _simulated(found))


def tidy_raters(found: Sequence[RaterAgreement]) -> Table:
    """A row for each rater, for programs."""
    names = ("ratings", "shared", "mean", "deviation", "severity", "noise", "correlation")
    rows = (
        (one.criterion, one.targets, who.rater, *(getattr(who, name) for name in names))
        for one in found
        for who in one.rater_use
    )
    made = Table(("criterion", "targets", "rater", *names), rows)
    return labelled_rows(made, _simulated(found))


def tidy_enough(found: Sequence[RaterAgreement]) -> Table:
    """A row for each number of ratings, for programs."""
    columns = ("criterion", "targets", "ratings", "reliability", "correlation", "measured")
    rows: list[tuple[object, ...]] = []
    for one in found:
        curve: Array | None = None if one.consistency is None else one.consistency.correlations
        for number in range(1, max(one.enough or 10, 10, 0 if curve is None else len(curve)) + 1):
            measured = curve[number - 1] if curve is not None and number <= len(curve) else None
            expected = one.expected(number)
            rows.append(
                (
                    *(one.criterion, one.targets, number, expected, math.sqrt(expected)),
                    None if measured is None else float(measured),
                )
            )
    return labelled_rows(Table(columns, rows), _simulated(found))
