"""A study's folder in, a `Study` out, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from deltableu.corpus.bulk import read_item_columns
from deltableu.corpus.item_columns import LazyItems, item_ids
from deltableu.corpus.items import SeenItems, numbered_items, write_items
from deltableu.corpus.layout import StudyFiles, find_study_files, strangers
from deltableu.corpus.missing import Missing, settle_missing
from deltableu.corpus.outputs import match_outputs, write_outputs
from deltableu.corpus.plain import read_plain_lines, write_plain_files
from deltableu.corpus.plain_columns import read_plain_columns
from deltableu.corpus.rating_table import RatingTable
from deltableu.corpus.rating_targets import RatingTargets
from deltableu.corpus.ratings import read_ratings, write_ratings
from deltableu.corpus.runs import with_runs
from deltableu.corpus.systems import read_note, read_systems, write_systems
from deltableu.corpus.types import Item, Study
from deltableu.errors import InputError, Problem, check_kind, hint_at
from deltableu.io import (
    ColumnNames,
    PathLike,
    Report,
    atomic_folder,
    check_new_folder,
    fail,
    file_form,
    shown,
)

Form: TypeAlias = Literal["jsonl", "tsv", "parquet", "plain"]


def read_study(
    path: PathLike,
    *,
    ratings: bool = True,
    columns: ColumnNames | None = None,
    missing: Missing = "error",
    systems: Sequence[str] | None = None,
    report: Report = fail,
) -> Study:
    """Read a study: items, the outputs of each system, ratings, what is said of the systems.

    Parameters
    ----------
    path
        A folder with `items.jsonl` (or `.tsv`, `.parquet`; or plain `r0.txt`, `r1.txt`, ... and
        `weights.tsv`) and, as far as there are any, `outputs/SYSTEM.jsonl` (or `.txt`, `.tsv`,
        `.parquet`), `ratings.csv` (or `.tsv`, `.jsonl`, `.parquet`) and `systems.toml`. All but
        Parquet and TOML may be packed as `.gz`.
    ratings
        Whether to read the ratings, which may be many. What they rate may be called by its name
        alone, where it is a system or a reference of the item, and not both.
    columns
        What the file of ratings calls its columns: see `read_ratings`.
    missing
        What to do with items for which a system has no output: "error"; "empty" takes an empty
        text; "drop" leaves the item out, with its ratings. A warning says how many there are. Plain
        text must have one line per item in any case.
    systems
        Only the outputs of these systems, and their runs; by default of all.
    report
        Called with each problem; the record is then left out. The default raises InputError.

    Returns
    -------
    Study
        Systems sorted by name, and outputs in item order. When an item's id could not be read
        and `report` did not raise, there are no outputs, since none could be matched.
    """
    files = find_study_files(path, report)
    seen = SeenItems()
    items = _read_items(files, report, seen)
    if not items and seen.complete and (files.items or files.plain):
        report(Problem("holds no items", file=str(files.items or files.plain[0])))
    ids = item_ids(items)
    kept = frozenset(ids)
    chosen = files.outputs
    if systems is not None:
        check_kind("systems", systems, Sequence)
        chosen = {name: files.outputs[name] for name in _known_systems(systems, files, path)}
    outputs: dict[str, Sequence[str | None]] = {}
    for name, file in chosen.items():
        all_ids = tuple(seen.lines) if seen.complete else None
        texts = match_outputs(file, all_ids, report, missing)
        if seen.complete and len(kept) == len(seen.lines):
            outputs[name] = texts
        elif seen.complete:
            matched = zip(seen.lines, texts, strict=True)
            outputs[name] = tuple(text for id, text in matched if id in kept)
    rated = RatingTable.from_records()
    if ratings and files.ratings:
        targets = RatingTargets.of(items, files.outputs)
        rated = read_ratings(files.ratings, report, columns=columns, targets=targets)
    settled = settle_missing(outputs, len(items), missing, str(Path(path) / "outputs"), report)
    if len(settled.kept) < len(items):
        dropped = kept.difference(items[place].id for place in settled.kept)
        items = tuple(items[place] for place in settled.kept)
        rated = RatingTable.from_records(one for one in rated if one.item not in dropped)
    return Study(
        items,
        settled.outputs,
        rated,
        read_systems(files.systems, report) if files.systems else {},
        Path(path),
        read_note(files.systems) if files.systems else None,
    )


def _read_items(files: StudyFiles, report: Report, seen: SeenItems) -> Sequence[Item]:
    """All items, at once where nothing in their files is unusual."""
    columns = None
    if files.items is None:
        columns = read_plain_columns(files.plain, files.plain_weights) if files.plain else None
    elif file_form(files.items) == "jsonl":
        columns = read_item_columns(files.items)
    if columns is None:
        return tuple(item for _, item in read_study_items(files, report, seen))
    seen.lines.update(zip(columns.ids, columns.lines, strict=True))
    return LazyItems(columns)


def _known_systems(systems: Sequence[str], files: StudyFiles, path: PathLike) -> list[str]:
    there = tuple(files.outputs)
    wanted = with_runs(systems, there)
    for name in wanted if there else ():
        if name not in there:
            meant = hint_at(name, there)
            message = f"there is no system {name!r}; it has {', '.join(there)}{meant}"
            raise InputError(Problem(message, file=str(path)))
    return [name for name in there if name in wanted]


def read_study_items(
    files: StudyFiles, report: Report, seen: SeenItems
) -> Iterator[tuple[int, Item]]:
    """Yield line numbers and items of a study, whatever form they have."""
    if files.items is not None:
        yield from numbered_items(files.items, report, seen)
        return

    def lost(problem: Problem) -> None:
        seen.complete = False
        report(problem)

    seen.complete = bool(files.plain)
    for item in read_plain_lines(files.plain, files.plain_weights, lost) if files.plain else ():
        seen.lines[item.id] = int(item.id)
        yield int(item.id), item


def write_study(
    study: Study, folder: PathLike, form: Form = "jsonl", *, replace: bool = False
) -> None:
    """Write a study as a folder that appears whole or not at all.

    Parameters
    ----------
    study
        What to write.
    folder
        Where; refused when it holds something, unless `replace` is true.
    form
        "jsonl" (ratings as CSV), "tsv", "parquet", or "plain": one line per item and a file a
        reference stream, which has no place for ids, contexts and messages, nor for ratings.
    replace
        Swap the new folder for an old study. A folder that holds anything else is refused.
    """
    if form not in get_args(Form):
        choices = ", ".join(get_args(Form))
        raise InputError(Problem(f"must be one of {choices}, got {shown(form)}", field="form"))
    ids = tuple(item.id for item in study.items)
    if form == "plain" and study.ratings:
        message = "plain text has no ids that ratings could name: write JSON Lines instead"
        raise InputError(Problem(message, field="ratings"))
    check_new_study(folder, replace=replace)
    with atomic_folder(folder, replace=replace) as temporary:
        if form == "plain":
            write_plain_files(temporary, study.items)
        else:
            write_items(temporary / f"items.{form}", study.items)
        if study.outputs:
            (temporary / "outputs").mkdir()
        for name in sorted(study.outputs):
            file = output_file(name, "txt" if form == "plain" else form)
            write_outputs(temporary / "outputs" / file, ids, study.outputs[name])
        if study.ratings:
            file = f"ratings.{'csv' if form == 'jsonl' else form}"
            write_ratings(temporary / file, study.ratings)
        if study.systems or study.note is not None:
            write_systems(temporary / "systems.toml", study.systems, study.note)


def check_new_study(
    folder: PathLike,
    inputs: Iterable[PathLike] = (),
    *,
    replace: bool = False,
    source: PathLike | None = None,
) -> None:
    """Complain where `write_study` would, or where it would replace one of the inputs.

    The study `source`, which the new one is made from, may be replaced if that is asked for.
    """
    check_new_folder(
        folder, inputs, replace=replace, what="a study", strangers=strangers, source=source
    )


def output_file(system: str, form: str = "jsonl") -> str:
    """The name of the file that holds a system's outputs."""
    return f"{_file_stem(system)}.{form}"


def _file_stem(system: str) -> str:
    if not system or system.startswith(".") or "/" in system or "\\" in system or "\0" in system:
        message = "a system's name must be usable as a file name: rename the system"
        raise InputError(Problem(message, field=f"outputs[{system!r}]"))
    return system
