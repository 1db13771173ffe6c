"""Small files of any layout, and what comes of importing them."""

from __future__ import annotations

from pathlib import Path

from deltableu.corpus import Study, check_study, read_study
from deltableu.layouts import ColumnMap, Request, import_study


def write(folder: Path, files: dict[str, str | bytes]) -> dict[str, Path]:
    made = {}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        made[name] = path
    return made


def imported(layout: str, folder: Path, request: Request, **options: object) -> Study:
    """What a written study holds; `deltableu check` must find nothing wrong with it."""
    output = folder / "the-study"
    import_study(layout, request, output, **options)  # type: ignore[arg-type]
    result = check_study(output)
    assert result.errors == 0, [str(one) for one in result.problems]
    return read_study(output)


def table(folder: Path, content: str, columns: str = "", name: str = "t.csv", **more: object):
    """One table, imported."""
    paths = write(folder, {name: content})
    options = {key: more.pop(key) for key in ("missing", "keep_all") if key in more}
    request = Request((paths[name],), ColumnMap.parse(columns or None), **more)
    return imported("table", folder, request, **options)


def texts(study: Study) -> list[list[str]]:
    return [[one.text for one in item.references] for item in study.items]


def judgements(study: Study) -> list[tuple[str, str, str, str, float]]:
    return [(one.rater, one.item, one.target, one.criterion, one.value) for one in study.ratings]
