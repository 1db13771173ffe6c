"""The tables of docs/statistics-validate.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from simulations import (
    validate,
    validate_accuracy,
    validate_corpus,
    validate_groups,
    validate_people,
    validate_units,
    validate_winners,
)
from simulations.replications import Progress
from simulations.tables import Row, What, pivot
from simulations.validate import Cell, NoAgreement, OtherSystems, TheseSystems
from simulations.validate_accuracy import Accuracies
from simulations.validate_corpus import CorpusScores
from simulations.validate_groups import Dialogues
from simulations.validate_people import FewRatings, RatedSystems
from simulations.validate_units import Units
from simulations.validate_winners import Winners

__all__ = ["FEWER_STUDIES", "PARTS", "everything", "simulate", "tables"]

_METRICS = ("scores", "metrics", "items", "level")
#: Name of each table, whose lines it has, what they count (None: both), their methods and the first
#: headings.
_TABLES: Mapping[str, tuple[type, What | None, Sequence[str], Sequence[str]]] = {
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
    "validated winners": (
        Winners,
        None,
        validate_winners.CORRECTIONS,
        ("scores", "metrics", "items", "level"),
    ),
    "validated dialogues": (
        Dialogues,
        None,
        validate_groups.GROUPED,
        ("scores", "items from", "items", "level"),
    ),
    "validated corpus scores": (CorpusScores, "size", validate_corpus.SCORED, _METRICS),
    "validated accuracies": (
        Accuracies,
        "coverage",
        validate_accuracy.ACCURACIES,
        ("ratings", "metric", "items", "target"),
    ),
    "validated units": (
        Units,
        "coverage",
        validate_units.UNIT_INTERVALS,
        ("units", "metric", "items", "correlation"),
    ),
    "validated few ratings": (
        FewRatings,
        "coverage",
        validate_people.ESTIMATES,
        ("ratings", "metric", "rated", "target"),
    ),
}


#: Parts whose studies take long, so that there are fewer of them.
FEWER_STUDIES = ("units", "accuracies")


def everything() -> list[Cell]:
    """All that is simulated with many studies."""
    return [cell for name, part in PARTS.items() if name not in FEWER_STUDIES for cell in part()]


#: What can be simulated by itself.
PARTS: Mapping[str, Callable[[], Sequence[Cell]]] = {
    "validation": lambda: [
        *validate.cells(),
        *validate_people.few_ratings(),
    ],
    "people": validate_people.rated_systems,
    "winners": validate_winners.winners,
    "dialogues": validate_groups.dialogues,
    "corpus-scores": validate_corpus.corpus_scores,
    "units": validate_units.units,
    "accuracies": validate_accuracy.accuracies,
}


def simulate(
    part: str, replications: int, seed: int = 0, *, progress: Progress | None = None
) -> dict[str, str]:
    """One part simulated, as tables by name."""
    return tables(validate.simulate(replications, seed, chosen=PARTS[part](), progress=progress))


def tables(found: Mapping[Cell, Sequence[Row]]) -> dict[str, str]:
    """Markdown tables by name."""
    made = {}
    for name, (kind, what, methods, heading) in _TABLES.items():
        rows = [
            row
            for cell, own in found.items()
            if isinstance(cell, kind)
            for row in own
            if what is None or row.what == what
        ]
        if not rows:
            continue
        if kind is Winners:  # how often a true difference is found is no rate of errors
            rows = [
                replace(row, low=0.0, high=1.0) if row.what == "coverage" else row for row in rows
            ]
        _, *lines = pivot(rows, methods).splitlines()
        shown = [method for method in methods if any(row.method == method for row in rows)]
        made[name] = "\n".join(["| " + " | ".join((*heading, *shown)) + " |", *lines])
    return made
