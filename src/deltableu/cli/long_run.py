"""What commands that take long share: where they keep what is done, and what they say of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deltableu.cli.output import note
from deltableu.corpus import check_new_study
from deltableu.io import Journal, PathLike, check_apart, check_new_file, check_work


def work_folder(work: Path | None, output: Path, ending: str) -> Path:
    """Where to keep what is done: what was asked for, or a folder beside the output."""
    work = work or Path(f"{os.path.realpath(output)}.{ending}")
    check_work(work, [output])
    return work


def check_new_study_run(
    study: Path, output: Path, log: Path | None, inputs: Sequence[PathLike], *, replace: bool
) -> Callable[[Any], None]:
    """Complain where a new study or its log cannot be written; what adds an event to the log."""
    check_new_study(output, inputs, replace=replace)
    if log is None:
        return lambda event: None
    check_apart(log, [output], "written")
    check_new_file(log, [*inputs, study])
    journal = Journal(log)
    return lambda event: journal.add([asdict(event)])


@contextmanager
def says_where_it_goes_on(work: Path, has_something: Callable[[], bool]) -> Iterator[None]:
    """When interrupted, say what to do next, if something was kept."""
    try:
        yield
    except KeyboardInterrupt:
        if has_something():
            note(f"{work} keeps what was done: the same command goes on from there")
        raise
