"""A study's folder in, the files it is made of out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deltableu.corpus.items import FORMS as ITEM_FORMS
from deltableu.corpus.outputs import OUTPUT_FORMS
from deltableu.corpus.plain import WEIGHTS_FILE
from deltableu.corpus.ratings import RATING_FORMS
from deltableu.errors import Problem
from deltableu.io import PathLike, Report, fail, file_form, interrupted_copy


@dataclass(frozen=True, slots=True)
class StudyFiles:
    """Where the parts of a study stand; `plain` holds `r0.txt`, `r1.txt`, ... instead of items."""

    items: Path | None = None
    plain: tuple[Path, ...] = ()
    plain_weights: Path | None = None
    outputs: Mapping[str, Path] = field(default_factory=dict)
    ratings: Path | None = None
    systems: Path | None = None


def find_study_files(folder: PathLike, report: Report = fail) -> StudyFiles:
    """Find a study's files; dotfiles are passed over."""
    path = Path(folder)
    try:
        if not path.is_dir():
            report(Problem(_no_folder(path), file=str(path)))
            return StudyFiles()
        inside = sorted(path.iterdir())
    except OSError as error:
        report(Problem(f"cannot be read: {error.strerror}", file=str(path)))
        return StudyFiles()
    present = {one.name: one for one in inside if not one.name.startswith(".")}
    items = _only_one("items", ITEM_FORMS, present, report)
    plain = _plain_streams(present) if items is None else ()
    if items is None and not plain:
        message = "is no study: it holds no items.jsonl, items.tsv, items.parquet or r0.txt"
        report(Problem(message, file=str(path)))
    return StudyFiles(
        items,
        plain,
        present.get(WEIGHTS_FILE) if plain else None,
        _find_outputs(present.get("outputs"), report),
        _only_one("ratings", RATING_FORMS, present, report),
        present.get("systems.toml"),
    )


def _no_folder(path: Path) -> str:
    if path.exists():
        return "is a file, but a study is a folder: give the folder that holds items.jsonl"
    old = interrupted_copy(path.absolute())
    if old.exists():
        return f"there is no such folder, but an interrupted write left it as {old}: rename it"
    return "there is no such folder"


def _names(stem: str, forms: Sequence[str]) -> list[str]:
    packed = [f"{stem}.{form}.gz" for form in forms if form != "parquet"]
    return [f"{stem}.{form}" for form in forms] + packed


def _only_one(
    stem: str, forms: Sequence[str], present: Mapping[str, Path], report: Report
) -> Path | None:
    found = [present[name] for name in _names(stem, forms) if name in present]
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        message = f"there is more than one {stem} file ({names}): keep the right one"
        report(Problem(message, file=str(found[0].parent)))
    return found[0] if found else None


def _plain_streams(present: Mapping[str, Path]) -> tuple[Path, ...]:
    streams: list[Path] = []
    while (path := present.get(f"r{len(streams)}.txt")) is not None:
        streams.append(path)
    return tuple(streams)


def _find_outputs(folder: Path | None, report: Report) -> dict[str, Path]:
    if folder is None:
        return {}
    if not folder.is_dir():
        report(Problem("must be a folder with one file per system", file=str(folder)))
        return {}
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        name = system_name(path)
        if name is None or path.is_dir():
            endings = ", ".join(f".{form}" for form in OUTPUT_FORMS)
            message = f"is not read: the outputs of a system stand in a file that ends in {endings}"
            report(Problem(message, file=str(path), severity="warning"))
        elif name in found:
            message = f"the system {name!r} has two output files: keep this or {found[name].name}"
            report(Problem(message, file=str(path)))
        else:
            found[name] = path
    return dict(sorted(found.items()))


def system_name(path: Path) -> str | None:
    """The system whose outputs a file holds; None if the name does not say."""
    name = path.name.removesuffix(".gz")
    form = file_form(name)
    packed = name != path.name
    if form not in OUTPUT_FORMS or (packed and form == "parquet"):
        return None
    return name[: -len(form) - 1]


def strangers(folder: Path) -> list[str]:
    """What is in a folder but no file of a study, so that nobody loses it by replacing the study.

    A study is what would be read as one, as plain files: whatever else is there, hidden files and
    links too, was not written by this tool.
    """
    files = find_study_files(folder, lambda _: None)
    found = (files.items, *files.plain, files.plain_weights, *files.outputs.values())
    study = {path for path in (*found, files.ratings, files.systems) if _is_plain(path)}
    inside = sorted(folder.iterdir())
    outputs = folder / "outputs"
    if outputs in inside and outputs.is_dir() and not outputs.is_symlink():
        inside.remove(outputs)
        inside += sorted(outputs.iterdir())
    return [str(path.relative_to(folder)) for path in inside if path not in study]


def _is_plain(path: Path | None) -> bool:
    return path is not None and path.is_file() and not path.is_symlink()
