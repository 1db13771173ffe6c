"""References and system outputs from a study folder, or from plain text files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deltableu.cli.options import STANDARD_INPUT
from deltableu.corpus import (
    ReferenceSet,
    Study,
    item_groups,
    read_outputs,
    read_plain,
    read_study,
    reference_set,
    with_runs,
)
from deltableu.errors import InputError
from deltableu.io import Own, PathLike, check_new_file


@dataclass(frozen=True, slots=True)
class Inputs:
    """What `score` works on."""

    references: ReferenceSet
    outputs: dict[str, tuple[str, ...]]

    def groups(self, field: str | None) -> tuple[str, ...] | None:
        """What each item belongs to, by a field of its meta."""
        return None if field is None else item_groups(self.references.items or (), field)


def check_outputs(study: Study, path: object, systems: Sequence[str] = ()) -> None:
    """Complain where a study has no outputs, or none of a system that was asked for."""
    if not study.outputs:
        raise InputError(f"{path}: the study has no system outputs; put them in outputs/")
    for name in systems:
        if name not in study.outputs:
            there = ", ".join(study.outputs)
            raise InputError(f"{path}: there is no system {name!r}; it has {there}")


def check_results(
    output: Path | None, inputs: Iterable[PathLike | None], own: Own = Own.RESULTS
) -> None:
    """Complain if results, where they go to a file, could not be written or overwrite others."""
    if output is not None:
        check_new_file(output, [one for one in inputs if one and one != STANDARD_INPUT], own=own)


def read_inputs(
    paths: Sequence[str],
    refs: Sequence[str] | None,
    weights: str | None,
    systems: Sequence[str] | None,
) -> Inputs:
    """Read a study (`paths` is its folder) or, with `refs`, parallel text files."""
    if "" in (*paths, *(refs or ()), weights):
        raise InputError("a path is empty")
    if systems is not None and not systems:
        raise InputError("--systems names no system")
    if refs is None:
        if weights is not None:
            raise InputError("--weights goes with --refs; a study has its weights in its items")
        return _from_study(paths, systems)
    if systems is not None:
        raise InputError("--systems chooses from a study; with --refs, name the systems' files")
    return _from_files(
        [_dash(path) for path in paths],
        [_dash(path) for path in refs],
        None if weights is None else _dash(weights),
    )


def _from_study(paths: Sequence[str], systems: Sequence[str] | None) -> Inputs:
    if not paths:
        raise InputError("give a study folder, or system files with --refs")
    if len(paths) > 1 or not Path(paths[0]).is_dir():
        wrong = next((path for path in paths if not Path(path).is_dir()), paths[-1])
        if len(paths) == 1 and not Path(wrong).exists():
            raise InputError(f"{wrong}: there is no such study folder")
        raise InputError(
            f"{wrong}: give one study folder, or system files together with --refs r0.txt ..."
        )
    study = read_study(paths[0], ratings=False)
    wanted = with_runs(systems or study.outputs, tuple(study.outputs))
    check_outputs(study, paths[0], wanted)
    outputs = {name: tuple(study.outputs[name]) for name in wanted}
    return Inputs(reference_set(study), outputs)


def _dash(path: str) -> str:
    return "-" if path == STANDARD_INPUT else path


def _from_files(paths: Sequence[str], refs: Sequence[str], weights: str | None) -> Inputs:
    if not paths:
        raise InputError(
            "no system was given: everything after --refs was read as references; "
            "name the systems first, or set them apart with another option or with --"
        )
    if [*paths, *refs, weights].count("-") > 1:
        raise InputError("standard input (-) can be read only once")
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"{path}: the system is named twice")
    items = read_plain(list(refs), weights)
    if not items:
        raise InputError(f"{refs[0]}: the file is empty, so there is nothing to score")
    ids = tuple(item.id for item in items)
    outputs: dict[str, tuple[str, ...]] = {}
    for path in paths:
        name = _system_name(path)
        outputs[path if name in outputs else name] = read_outputs(path, ids)
    references = replace(
        reference_set(items), weights_from="none" if weights is None else Path(weights).name
    )
    return Inputs(references, outputs)


def _system_name(path: str) -> str:
    if path == "-":
        return "stdin"
    # A name that is no UTF-8 must not break what prints it.
    name = os.fsencode(Path(path).name).decode(errors="replace")
    for ending in (".gz", ".txt", ".jsonl", ".tsv", ".parquet"):
        name = name.removesuffix(ending) or name
    return name
