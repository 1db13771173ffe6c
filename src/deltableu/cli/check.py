"""`deltableu check`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from deltableu.cli.output import emit
from deltableu.corpus import check_study
from deltableu.errors import InputError
from deltableu.io import named_columns


def check(
    study: Path,
    *,
    columns: str | None = None,
    format: Literal["table", "json"] = "table",
    most: int = 20,
) -> int:
    """Say what is in a study, and everything that is wrong with it.

    Ends with exit code 2 where something is wrong, with 0 where there are only warnings.

    Parameters
    ----------
    study
        The folder.
    columns
        What the ratings call their columns: rater=annotator,value=score.
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
    result = check_study(
        study, most=most, columns=named_columns(columns, "rater=annotator,value=score")
    )
    tables = [result.table()]
    if result.systems:
        tables.append(result.systems_table())
    emit(tables, result, format)
    return 2 if result.errors else 0
