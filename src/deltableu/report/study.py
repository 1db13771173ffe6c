"""What is in a study, as tables."""

from __future__ import annotations

from collections.abc import Mapping

from deltableu.corpus import CheckResult
from deltableu.io import Cell, Table

__all__ = ["contents_table", "systems_table"]


def contents_table(result: CheckResult) -> Table:
    """Counts of items, references and ratings."""
    references, ratings = result.references, result.ratings
    facts: dict[str, str] = {
        "items": f"{result.items} ({result.contexts} with earlier turns)",
        "references": (
            f"{references.total} ({references.least}-{references.most} an item, "
            f"median {references.median:g})"
        ),
        "references by origin": _counts(references.by_origin),
        "references by weight": _counts(
            {
                "positive": references.positive,
                "zero": references.zero,
                "negative": references.negative,
                "unrated": references.unrated,
            }
        ),
    }
    if references.items_without_positive:
        facts["items without a positive reference"] = str(references.items_without_positive)
    facts["systems"] = str(len(result.systems))
    if ratings.rows:
        facts |= {
            "ratings": f"{ratings.rows} by {ratings.raters} raters",
            "ratings of": _counts(ratings.by_target),
            "ratings by criterion": _counts(ratings.by_criterion),
            "ratings by kind": _counts(ratings.by_kind),
        }
    else:
        facts["ratings"] = "none"
    rows = tuple((Cell(name), Cell(value)) for name, value in facts.items())
    return Table(("study", result.path.name or str(result.path)), rows, align=("left", "left"))


def systems_table(result: CheckResult) -> Table:
    """What each system's outputs look like; the last two columns are contamination."""
    rows = tuple(
        (
            Cell(system.name),
            Cell(system.type or "-"),
            Cell(str(system.outputs)),
            Cell(str(system.empty)),
            Cell(f"{system.mean_words:.1f}"),
            Cell(str(sum(system.matches.by_origin.values()))),
            Cell(str(system.matches.messages)),
        )
        for system in result.systems
    )
    return Table(
        ("system", "type", "outputs", "empty", "mean words", "= a reference", "= the message"),
        rows,
        align=("left", "left", "right", "right", "right", "right", "right"),
    )


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"
