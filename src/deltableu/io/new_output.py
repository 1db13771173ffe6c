"""May this output be written? One rule, asked before long work and not after it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from deltableu.errors import InputError, Problem
from deltableu.io.atomic import interrupted_copy, unwritable
from deltableu.io.names import PathLike, is_standard_stream
from deltableu.io.own_files import Own, was_written_here


def check_new_file(
    path: PathLike,
    inputs: Iterable[PathLike] = (),
    *,
    own: Own | None = None,
    replace: bool = True,
) -> None:
    """Complain where a file could not be written in the end, or would overwrite what is read.

    Parameters
    ----------
    path
        The file, also one that lines are added to.
    inputs
        Files and folders that are read: the new file is none of them, and lies in none of them.
    own
        What is written: an old file is only replaced, or added to, if it is one too. Without it,
        lines are added to any file.
    replace
        Whether an old file may be there.
    """
    if is_standard_stream(path):
        return
    name, target = os.fspath(path), Path(os.path.realpath(path))
    if target.is_dir():
        raise _refusal(name, "is a folder, but a file is to be written")
    if target.exists() and not target.is_file():
        # A pipe or device is written to, never replaced.
        if not os.access(target, os.W_OK):
            raise _refusal(name, "cannot be written by this user: change its permissions")
        return
    _check_parent(name, target)
    if not replace and target.exists():
        raise _refusal(name, "is there already: choose another name, or replace it")
    check_apart(path, inputs)
    if own is not None and target.exists() and not was_written_here(target, own):
        message = "is there already, and no such file of this tool's: choose another name"
        raise _refusal(name, f"{message}, or move it away")


def check_new_folder(
    path: PathLike,
    inputs: Iterable[PathLike] = (),
    *,
    replace: bool,
    what: str,
    strangers: Callable[[Path], Sequence[str]],
    source: PathLike | None = None,
    replaceable: bool = True,
) -> None:
    """Complain where a folder could not be written in the end, or would swallow something.

    Parameters
    ----------
    path
        The folder.
    inputs
        Files and folders that are read: none of them is the new folder or lies in it, nor does it
        lie in one of them.
    replace
        Whether an old folder may be there that holds nothing but what such a folder holds.
    what
        What the folder is, such as "a study".
    strangers
        The names in an old folder that have no place in such a one.
    source
        The folder that the new one is made from: with `replace`, the only input that it may be.
    replaceable
        Whether who asks could say `replace`.
    """
    if is_standard_stream(path):
        raise _refusal("-", f"is standard output, but {what} is written to a folder")
    name, target = os.fspath(path), Path(os.path.realpath(path))
    _check_parent(name, target)
    if target.exists() and not target.is_dir():
        raise _refusal(name, f"is a file, but {what} is written to a folder")
    check_apart(path, inputs)
    # An interrupted write is undone by the next one, and then the old folder is there again.
    old = target if target.exists() else interrupted_copy(target)
    if old.exists():
        if not replace and any(old.iterdir()):
            way = ", or replace it (--replace)" if replaceable else ""
            raise _refusal(name, f"the folder is not empty: choose another one{way}")
        if replace and (others := strangers(old)):
            message = f"is not replaced, because it holds more than {what}"
            raise _refusal(name, f"{message}: move {_name_some(others)} away")
    if source is not None:
        check_apart(path, [source], in_place=replace)


def check_work(
    path: PathLike, outputs: Iterable[PathLike], inputs: Iterable[PathLike] = ()
) -> None:
    """Complain if a folder for checkpoints is a file, or lies where results are or inputs."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise _refusal(os.fspath(path), "is a file, but checkpoints are kept in a folder")
    # What is kept lies in a folder of its own in there, so that results may lie beside it.
    for use, places in (("written", outputs), ("read", inputs)):
        for place in places:
            if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(place)):
                message = f"lies in {os.fspath(place)}, which is {use} here: choose a place outside"
                raise _refusal(os.fspath(path), message)


def check_apart(
    path: PathLike, others: Iterable[PathLike], use: str = "read", *, in_place: bool = False
) -> None:
    """Complain if a place is, holds or lies in one of the others, wherever links lead.

    Parameters
    ----------
    path
        The place.
    others
        Files and folders; of a folder, all that is in it.
    use
        What is done with them.
    in_place
        Whether the place may be one of them.
    """
    name, target = os.fspath(path), Path(os.path.realpath(path))
    for other in others:
        place = Path(os.path.realpath(other))
        if _is_same(place, target):
            if in_place:
                continue
            raise _refusal(name, f"is {use} here too: choose another place")
        for inner in _reached(place):
            if inner != place and _is_same(inner, target):
                raise _refusal(name, f"is {use} here too, as part of {os.fspath(other)}")
            if inner.is_relative_to(target):
                message = f"holds {os.fspath(other)}, which is {use} here: choose another"
                raise _refusal(name, message)
            if target.is_relative_to(inner):
                message = f"lies in {os.fspath(other)}, which is {use} here: choose a place outside"
                raise _refusal(name, message)


def _is_same(one: Path, other: Path) -> bool:
    """Also by another name of the same file."""
    try:
        return one == other or one.samefile(other)
    except OSError:
        return False


def _reached(place: Path) -> Iterator[Path]:
    """A place itself; what links in it lead to; files in it that have other names elsewhere."""
    waiting, seen = [place], set[Path]()
    while waiting:
        start = waiting.pop()
        if start in seen:
            continue
        seen.add(start)
        yield start
        for folder, folders, files in os.walk(start):
            for name in (*folders, *files):
                inner = os.path.join(folder, name)
                try:
                    status = os.lstat(inner)
                except OSError:
                    continue
                if stat.S_ISLNK(status.st_mode):
                    waiting.append(Path(os.path.realpath(inner)))
                elif stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                    yield Path(inner)


def _name_some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")


def _check_parent(name: str, target: Path) -> None:
    if not target.parent.is_dir():
        raise unwritable(name, FileNotFoundError())
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise unwritable(name, PermissionError())


def _refusal(name: str, message: str) -> InputError:
    return InputError(Problem(message, file=name))
