"""`deltableu check`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from deltableu.cli.output import emit
from deltableu.corpus import CheckResult, check_study
from deltableu.errors import InputError
from deltableu.report import contents_table, systems_table

__all__ = ["check"]


def check(study: Path, *, format: Literal["table", "json"] = "table", most: int = 20) -> int:
    """Say what is in a study, and everything that is wrong with it.

    Ends with exit code 2 where something is wrong, with 0 where there are only warnings.

    Parameters
    ----------
    study
        The folder.
    format
        How results are printed.
    most
        How many problems of one kind are listed; the rest are counted.
    """
    if not study.is_dir():
        wrong = (
            "is a file, but a study is a folder" if study.exists() else "there is no such folder"
        )
        raise InputError(f"{study}: {wrong}")
    result = check_study(study, most=most)
    problems = {
        f"{problem.severity} {number}": str(problem)
        for number, problem in enumerate(result.problems, start=1)
    }
    if result.unlisted:
        problems["and"] = f"{result.unlisted} more like these"
    tables = [contents_table(result)]
    if result.systems:
        tables.append(systems_table(result))
    emit(tables, lambda: _record(result), format, comments=problems)
    return 2 if result.errors else 0


def _record(result: CheckResult) -> dict[str, Any]:
    return asdict(result, dict_factory=_with_text_paths)


def _with_text_paths(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: str(value) if isinstance(value, Path) else value for key, value in pairs}
