"""What commands that take long share: where they keep what is done, and what they say of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

from deltableu.cli.output import note
from deltableu.corpus import check_new_study
from deltableu.errors import InputError
from deltableu.io import (
    Journal,
    Own,
    PathLike,
    check_apart,
    check_new_file,
    check_work,
    holds_work,
    is_standard_stream,
)


def work_folder(
    work: Path | None, output: Path, ending: str, inputs: Sequence[PathLike] = ()
) -> Path:
    """Where to keep what is done: what was asked for, or a folder beside the output."""
    if work is None and is_standard_stream(output):
        work = Path(f"deltableu.{ending}")
    work = work or Path(f"{os.path.realpath(output)}.{ending}")
    check_work(work, [output], inputs)
    return work


def check_new_study_run(
    study: Path, output: Path, log: Path | None, inputs: Sequence[PathLike], *, replace: bool
) -> Callable[[Any], None]:
    """Complain where a new study or its log cannot be written; what adds an event to the log."""
    check_new_study(output, inputs, replace=replace, source=study)
    if log is None:
        return lambda event: None
    if is_standard_stream(log):
        raise InputError("--log takes a file, because the summary goes to standard output")
    check_apart(log, [output], "written")
    check_new_file(log, [*inputs, study], own=Own.LOG)
    journal = Journal(log)
    return lambda event: journal.add([asdict(event)])


@contextmanager
def says_where_it_goes_on(work: Path) -> Iterator[None]:
    """When it ends too early, say what to do next, if something was kept."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, OSError, MemoryError):
        if holds_work(work):
            note(f"{work} keeps what was done: the same command goes on from there")
        raise
    except InputError as error:
        if not holds_work(work):
            raise
        message = f"{error.problem.message} ({work} keeps what was done)"
        raise InputError(changed(error.problem, message=message)) from None
