"""The tables of docs/statistics-validate.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simulations import validate, validate_people
from simulations.replications import Progress
from simulations.tables import Row, What, pivot
from simulations.validate import Cell, NoAgreement, OtherSystems, TheseSystems
from simulations.validate_people import FewRatings, RatedSystems

__all__ = ["everything", "simulate", "tables"]

_METRICS = ("scores", "metrics", "items", "level")
#: Name of each table, whose lines it has, what they count, their methods and the first headings.
_TABLES: Mapping[str, tuple[type, What, Sequence[str], Sequence[str]]] = {
    "validated tests, other systems": (OtherSystems, "size", validate.TESTS, _METRICS),
    "validated tests, these systems": (TheseSystems, "size", validate.TESTS, _METRICS),
    "validated intervals, other systems": (
        OtherSystems,
        "coverage",
        validate.INTERVALS,
        _METRICS,
    ),
    "validated intervals, these systems": (
        TheseSystems,
        "coverage",
        validate.INTERVALS,
        _METRICS,
    ),
    "validated zero agreement": (NoAgreement, "size", validate.ZERO_TESTS, _METRICS),
    "validated people": (
        RatedSystems,
        "size",
        validate_people.SYSTEM_TESTS,
        ("ratings", "systems", "items", "claim"),
    ),
    "validated few ratings": (
        FewRatings,
        "coverage",
        validate_people.ESTIMATES,
        ("ratings", "metric", "rated", "target"),
    ),
}


def everything() -> list[Cell]:
    """All that is simulated."""
    return [
        *validate.cells(),
        *validate_people.rated_systems(),
        *validate_people.few_ratings(),
    ]


def simulate(
    replications: int, seed: int = 0, *, progress: Progress | None = None
) -> dict[str, str]:
    """Everything simulated, as tables by name."""
    return tables(validate.simulate(replications, seed, chosen=everything(), progress=progress))


def tables(found: Mapping[Cell, Sequence[Row]]) -> dict[str, str]:
    """Markdown tables by name."""
    made = {}
    for name, (kind, what, methods, heading) in _TABLES.items():
        rows = [
            row
            for cell, own in found.items()
            if isinstance(cell, kind)
            for row in own
            if row.what == what
        ]
        _, *lines = pivot(rows, methods).splitlines()
        shown = [method for method in methods if any(row.method == method for row in rows)]
        made[name] = "\n".join(["| " + " | ".join((*heading, *shown)) + " |", *lines])
    return made
