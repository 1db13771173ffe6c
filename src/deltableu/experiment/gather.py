"""A study, outputs of systems and ratings in; one study with all of it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deltableu.corpus import (
    Missing,
    RatingTable,
    RatingTargets,
    Study,
    System,
    match_outputs,
    read_ratings,
    settle_missing,
)
from deltableu.errors import InputError, Problem, check_known
from deltableu.io import PathLike, Report, fail


def gather_study(
    study: Study,
    outputs: Mapping[str, PathLike],
    *,
    types: Mapping[str, str] | None = None,
    ratings: Sequence[PathLike] = (),
    note: str | None = None,
    missing: Missing = "error",
    report: Report = fail,
) -> Study:
    """Add outputs of systems, what is known of these, and ratings to a study.

    Parameters
    ----------
    study
    outputs
        The file of each new system.
    types
        What type a system is of.
    ratings
        Files of ratings.
    note
        A sentence for readers of reports, after those that the study has.
    missing
        What to do with items for which a system has no output, as `read_study` takes it.
    report
        Called with each problem.
    """
    for name in outputs:
        if name in study.outputs:
            message = "has outputs in the study already: give it another name"
            raise InputError(Problem(message, field=f"system {name}"))
    ids = [item.id for item in study.items]
    found: dict[str, Sequence[str | None]] = dict(study.outputs)
    for name, path in outputs.items():
        found[name] = match_outputs(path, ids, report, missing)
    systems = dict(study.systems)
    for name, type_ in (types or {}).items():
        check_known("system", name, found)
        systems[name] = replace(systems.get(name, System(name)), type=type_)
    settled = settle_missing(found, len(ids), missing, "the outputs", report)
    kept = {ids[place] for place in settled.kept}
    items = tuple(study.items[place] for place in settled.kept)
    targets = RatingTargets.of(study.items, found)
    rated = [*study.ratings]
    for path in ratings:
        rated += read_ratings(path, report, targets=targets)
    return replace(
        study,
        items=items,
        outputs=settled.outputs,
        systems=systems,
        ratings=RatingTable.from_records(one for one in rated if one.item in kept),
        note=" ".join(part for part in (study.note, note) if part) or None,
    )
