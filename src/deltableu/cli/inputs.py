"""References and system outputs from a study folder, or from plain text files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.options import STANDARD_INPUT, listed, no_use
from deltableu.cli.output import remark, tell
from deltableu.corpus import (
    Missing,
    RatingTable,
    RatingTargets,
    ReferenceSet,
    ScoreTable,
    Study,
    item_groups,
    item_ids,
    match_outputs,
    read_plain,
    read_ratings,
    read_scores,
    read_study,
    reference_set,
    settle_missing,
    with_runs,
)
from deltableu.errors import InputError, InputWarning, find_name, hint_at
from deltableu.io import ColumnNames, Own, PathLike, check_new_file
from deltableu.score import metric_label


@dataclass(frozen=True, slots=True)
class Inputs:
    """What `score` works on."""

    references: ReferenceSet
    outputs: dict[str, Sequence[str]]
    study: Study | None = None

    def groups(self, field: str | None) -> tuple[str, ...] | None:
        """What each item belongs to, by a field of its meta."""
        return None if field is None else item_groups(self.references.items or (), field)


def check_outputs(study: Study, path: object, systems: Sequence[str] = ()) -> None:
    """Complain where a study has no outputs, or none of a system that was asked for."""
    if not study.outputs:
        raise InputError(f"{path}: the study has no system outputs; put them in outputs/")
    for name in systems:
        if name not in study.outputs:
            there, meant = ", ".join(study.outputs), hint_at(name, study.outputs)
            raise InputError(f"{path}: there is no system {name!r}; it has {there}{meant}")


def check_results(
    output: Path | None, inputs: Iterable[PathLike | None], own: Own | None = Own.RESULTS
) -> None:
    """Complain if results, where they go to a file, could not be written or overwrite others."""
    if output is not None:
        check_new_file(output, [one for one in inputs if one and one != STANDARD_INPUT], own=own)


def read_inputs(
    paths: Sequence[str],
    refs: Sequence[str] | None,
    weights: str | None,
    systems: Sequence[str] | None,
    missing: Missing = "error",
    *,
    ratings: bool = False,
    drop_failed: bool = False,
) -> Inputs:
    """Read a study (`paths` is its folder) or, with `refs`, parallel text files."""
    if "" in (*paths, *(refs or ()), weights):
        raise InputError("a path is empty")
    if systems is not None and not systems:
        raise InputError("--systems names no system")
    if refs is None:
        if weights is not None:
            raise InputError("--weights goes with --refs; a study has its weights in its items")
        return _from_study(paths, systems, missing, ratings, drop_failed)
    if drop_failed:
        raise InputError("--drop-failed needs a study, whose raters can be checked")
    if systems is not None:
        raise InputError("--systems chooses from a study; with --refs, name the systems' files")
    return _from_files(
        [_dash(path) for path in paths],
        [_dash(path) for path in refs],
        None if weights is None else _dash(weights),
        missing,
    )


def read_people(
    path: PathLike,
    *,
    drop_failed: bool,
    ratings: bool = True,
    columns: ColumnNames | None = None,
    missing: Missing = "error",
    systems: Sequence[str] | None = None,
    rated: PathLike | None = None,
) -> Study:
    """Read a study, with its ratings where they are wanted, and without those of failed raters.

    What was dropped is said when the command has ended. `rated` is a file of ratings that stand in
    the place of the study's own.
    """
    study = read_study(
        path,
        ratings=rated is None and (ratings or drop_failed),
        columns=columns,
        missing=missing,
        systems=systems,
        report=tell,
    )
    if rated is not None:
        targets = RatingTargets.of(study.items, study.outputs)
        told = read_ratings(rated, tell, columns=columns, targets=targets)
        study = replace(study, ratings=told)
    if not drop_failed:
        return study
    from deltableu.rate import without_failed_raters

    study, text = without_failed_raters(study)
    remark(text)
    # Pages show a study's note; nobody should read them without knowing.
    said = f"{text[0].upper()}{text[1:]}."
    return replace(study, note=said if study.note is None else f"{study.note} {said}")


def output_ratings(study: Study, criterion: str | None) -> RatingTable | None:
    """What people said of the study's outputs, mapped to [-1, 1], if they did.

    Ratings that cannot be used are left out with a remark, unless a criterion was asked for.
    """
    if not (study.ratings.system >= 0).any():
        if criterion is not None:
            raise InputError(f"--criterion {criterion}: the study has no ratings of outputs")
        return None
    try:
        with warnings.catch_warnings():
            # Of other systems than those that are shown, which is no surprise.
            warnings.simplefilter("ignore", InputWarning)
            return RatingTable.from_study(
                study, criterion=criterion, normalise=True, unknown="drop"
            )
    except InputError as error:
        if criterion is not None:
            raise
        remark(f"examples have no human scores: {error}")
        return None


def ready_scores(
    path: str,
    columns: ColumnNames | None,
    metrics: str | None,
    options: MetricOptions,
    lower_is_better: bool,
) -> ScoreTable:
    """Scores that were computed elsewhere, of the metrics asked for."""
    no_use(options.changed(), "ready --scores")
    table = read_scores(path, columns=columns)
    if metrics:
        there = table.metrics
        found = [find_name(name, there) for name in listed(metrics)]
        wanted = [
            label if name not in there and (label := metric_label(name)) in there else name
            for name in found
        ]
        table = table.select(metrics=wanted)
    return table.with_lower_better(table.metrics) if lower_is_better else table


def _from_study(
    paths: Sequence[str],
    systems: Sequence[str] | None,
    missing: Missing,
    ratings: bool,
    drop_failed: bool,
) -> Inputs:
    if not paths:
        raise InputError("give a study folder, or system files with --refs")
    if len(paths) > 1 or not Path(paths[0]).is_dir():
        wrong = next((path for path in paths if not Path(path).is_dir()), paths[-1])
        if len(paths) == 1 and not Path(wrong).exists():
            raise InputError(f"{wrong}: there is no such study folder")
        raise InputError(
            f"{wrong}: give one study folder, or system files together with --refs r0.txt ..."
        )
    study = read_people(
        paths[0], ratings=ratings, drop_failed=drop_failed, missing=missing, systems=systems
    )
    wanted = with_runs(systems or study.outputs, tuple(study.outputs))
    check_outputs(study, paths[0], wanted)
    outputs = {name: study.outputs[name] for name in wanted}
    return Inputs(reference_set(study), outputs, study)


def _dash(path: str) -> str:
    return "-" if path == STANDARD_INPUT else path


def _from_files(
    paths: Sequence[str], refs: Sequence[str], weights: str | None, missing: Missing
) -> Inputs:
    if not paths:
        raise InputError(
            "no system was given: everything after --refs was read as references; "
            "name the systems first, or set them apart with another option or with --"
        )
    if [*paths, *refs, weights].count("-") > 1:
        raise InputError("standard input (-) can be read only once")
    plain = [path if path == "-" else Path(path) for path in paths]
    for path, one in zip(paths, plain, strict=True):
        if plain.count(one) > 1:
            raise InputError(f"{path}: the system is named twice")
    items = read_plain(list(refs), weights)
    if not items:
        raise InputError(f"{refs[0]}: the file is empty, so there is nothing to score")
    ids = item_ids(items)
    found = {
        name: match_outputs(path, ids, tell, missing)
        for name, path in zip(system_names(paths), paths, strict=True)
    }
    settled = settle_missing(found, len(ids), missing, "the outputs", tell)
    references = replace(
        reference_set(
            items if len(settled.kept) == len(ids) else [items[place] for place in settled.kept]
        ),
        weights_from="none" if weights is None else Path(weights).name,
    )
    return Inputs(references, settled.outputs)


def system_names(paths: Sequence[str]) -> list[str]:
    """What systems are called by their files: as much of the paths as tells them apart.

    Examples
    --------
    >>> system_names(["base.txt", "a/out.txt", "b/out.txt"])
    ['base', 'a/out', 'b/out']
    >>> system_names(["out.txt", "out.jsonl"])
    ['out.txt', 'out.jsonl']
    """
    parts = [_parts(path) for path in paths]
    names = [_ending(one, 1) for one in parts]
    for name in {name for name in names if names.count(name) > 1}:
        alike = [place for place, other in enumerate(names) if other == name]
        depths = range(2, max(len(parts[place]) for place in alike) + 1)
        longer = ([_ending(parts[place], depth) for place in alike] for depth in depths)
        apart = next((made for made in longer if len(set(made)) == len(alike)), None)
        whole = [_shown(paths[place]) for place in alike]
        for place, made in zip(alike, apart or whole, strict=True):
            names[place] = made
    return names if len(set(names)) == len(names) else [_shown(path) for path in paths]


def _parts(path: str) -> tuple[str, ...]:
    if path == "-":
        return ("stdin",)
    *folders, name = map(_shown, Path(path).parts or (path,))
    for ending in (".gz", ".txt", ".jsonl", ".tsv", ".parquet"):
        name = name.removesuffix(ending) or name
    return (*folders, name)


def _shown(path: str) -> str:
    """A name that is no UTF-8 must not break what prints it."""
    return "stdin" if path == "-" else os.fsencode(path).decode(errors="replace")


def _ending(parts: Sequence[str], depth: int) -> str:
    return "/".join(parts[-depth:])


def system_pairs(given: Sequence[str], systems: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of systems that `--pairs` names: two with a comma, which names may have too."""
    if not given:
        raise InputError("--pairs names no pair of systems")
    found = []
    for text in given:
        parts = text.split(",")
        cuts = [
            (",".join(parts[:place]).strip(), ",".join(parts[place:]).strip())
            for place in range(1, len(parts))
        ]
        known = [cut for cut in cuts if cut[0] in systems and cut[1] in systems]
        if not cuts:
            raise InputError(f"--pairs takes two systems with a comma between them, got {text!r}")
        found.append((known or cuts)[0])
    return found
