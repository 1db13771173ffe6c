"""Whether a new study can be written, asked before long work and not after it."""

from __future__ import annotations

import os
from pathlib import Path

from deltableu.corpus import strangers
from deltableu.errors import InputError, Problem
from deltableu.io import interrupted_copy

__all__ = ["check_new_study", "lies_in"]


def check_new_study(folder: Path, *, replace: bool) -> None:
    """Complain where `write_study` would; it decides all the same when the time has come."""
    target = Path(os.path.realpath(folder))
    if not target.parent.is_dir():
        message = "cannot be written, because its folder does not exist: make the folder first"
        raise InputError(Problem(message, file=str(folder)))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        message = "cannot be written by this user: change the folder's permissions"
        raise InputError(Problem(message, file=str(folder)))
    if target.exists() and not target.is_dir():
        raise InputError(Problem("is a file, but a folder is to be written", file=str(folder)))
    # An interrupted write is undone by the next one, and then the old folder is there again.
    old = target if target.exists() else interrupted_copy(target)
    if not old.exists():
        return
    if not replace:
        if any(old.iterdir()):
            message = "the folder is not empty: choose another one, or --replace it"
            raise InputError(Problem(message, file=str(folder)))
    elif others := strangers(old):
        names = ", ".join(others[:3]) + (" and others" if len(others) > 3 else "")
        message = f"is not replaced, because it holds more than a study: move {names} away"
        raise InputError(Problem(message, file=str(folder)))


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or something in it, wherever links lead."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
