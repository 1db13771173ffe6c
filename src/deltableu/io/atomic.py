"""Files and folders that appear whole or not at all: written beside, then renamed."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace as changed
from pathlib import Path

from deltableu.errors import InputError, Problem
from deltableu.io.names import is_standard_stream
from deltableu.io.owner import Owner, is_gone

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: How much of a target's name is in those of its temporaries, which must not be too long.
_SHOWN = 40


def unwritable(path: object, error: OSError) -> InputError:
    """What to raise where writing raised this."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        message = "cannot be written, because its folder does not exist: make the folder first"
    elif isinstance(error, PermissionError):
        message = "cannot be written by this user: change the folder's permissions"
    else:
        # NumPy says only how much of an array there was no room for.
        short = "requested and" in str(error)
        reason = os.strerror(errno.ENOSPC) if short else error.strerror or type(error).__name__
        message = f"cannot be written: {reason}"
    return InputError(Problem(message, file=str(path)))


def _sync(path: Path) -> None:
    """Force a file or folder to the disk, so that a rename never outruns its content."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # some systems do not open folders
        return
    try:
        os.fsync(descriptor)
    except OSError:  # nor sync them
        pass
    finally:
        os.close(descriptor)


def _before_owner(target: Path) -> str:
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]
    return f".{target.name[:_SHOWN]}.{digest}"


def temporary_beside(target: Path) -> Path:
    """A new name beside a target, which says what it is for and whose it is."""
    owner = Owner.here()
    whose = f"{owner.place}-{owner.pid}-{owner.started}-{secrets.token_hex(4)}"
    return target.parent / f"{_before_owner(target)}.{whose}.deltableu.tmp"


def remove_left_behind(target: Path) -> None:
    """Remove a target's temporaries whose process is gone, and nothing else."""
    place = Owner.here().place
    pattern = re.compile(
        re.escape(_before_owner(target))
        + rf"\.{place}-([1-9][0-9]{{0,9}})-([0-9]{{1,20}})-[0-9a-f]{{8}}\.deltableu\.tmp"
    )
    with suppress(OSError):
        for entry in list(os.scandir(target.parent)):
            match = pattern.fullmatch(entry.name)
            if match is not None and is_gone(int(match[1]), int(match[2])):
                remove(Path(entry.path))


def scratch_name(parent: str | os.PathLike[str] | None = None) -> Path:
    """A new name for a folder of this process alone, by default among the system's temporaries.

    What processes that were killed left there under such names is removed.
    """
    target = Path(tempfile.gettempdir() if parent is None else parent) / "scratch"
    remove_left_behind(target)
    return temporary_beside(target)


@contextmanager
def scratch_folder(parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Such a folder, until the block ends."""
    place = scratch_name(parent)
    try:
        place.mkdir(0o700)
        yield place
    finally:
        remove(place)


def remove(path: Path) -> None:
    """Remove a temporary, whether file or folder, as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def _temporary(target: Path, path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new temporary's name; nothing of that name is left, whatever happens."""
    temporary = temporary_beside(target)
    try:
        yield temporary
    except OSError as error:
        remove(temporary)
        # A full disk is found while writing, by an error that names no file.
        if error.errno in _FULL and error.filename in (None, str(temporary)):
            raise unwritable(path, error) from None
        raise
    except InputError as error:
        remove(temporary)
        problem, inside = error.problem, str(temporary)
        if problem.file is not None and problem.file.startswith(inside):
            # Nobody has seen the temporary, and it is gone.
            name = f"{os.fspath(path)}{problem.file.removeprefix(inside)}"
            raise InputError(changed(problem, file=name)) from None
        raise
    except BaseException:
        remove(temporary)
        raise


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file to write; it takes the name `path` when the block ends well.

    What a process that was killed left of it before is removed first.
    """
    if is_standard_stream(path):
        with _standard_output() as written:
            yield written
        return
    if Path(path).is_dir():
        raise InputError(Problem("is a folder, but a file is to be written", file=os.fspath(path)))
    if Path(path).exists() and not Path(path).is_file():
        yield Path(path)  # a pipe or device is written to, never replaced
        return
    target = Path(os.path.realpath(path))
    remove_left_behind(target)
    with replacing(target, path) as temporary:
        yield temporary


@contextmanager
def _standard_output() -> Iterator[Path]:
    """Standard output gets the file whole when the block ends well."""
    with scratch_folder() as folder:
        path = folder / "output"
        path.touch()
        yield path
        sys.stdout.flush()
        with open(path, "rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@contextmanager
def replacing(target: Path, path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same without a look around, in a folder that is one's own."""
    with _temporary(target, path) as temporary:
        try:
            # os.open gives the permissions that the user's umask asks for; tempfile would not.
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        except OSError as error:
            raise unwritable(path, error) from None
        yield temporary
        _sync(temporary)
        os.replace(temporary, target)
    _sync(target.parent)


def interrupted_copy(target: Path) -> Path:
    """Where `atomic_folder` keeps the old folder for the moment between its two renames."""
    return target.parent / f".{target.name}.deltableu-old"


def _recover(target: Path) -> None:
    """Undo or finish a swap that was cut off."""
    old = interrupted_copy(target)
    if old.is_symlink() or not old.is_dir():
        return
    if target.exists():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.rename(target)


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary folder to fill; it takes the name `path` when the block ends well.

    Parameters
    ----------
    path
        The folder to make. One that holds something is refused unless `replace` is true.
    replace
        Swap the new folder for the old one. If the process is killed between the two renames,
        both are whole on the disk and the next call puts the old one back first.
    """
    target = Path(os.path.realpath(path))
    _recover(target)
    if target.exists() and not target.is_dir():
        raise InputError(Problem("is a file, but a folder is to be written", file=os.fspath(path)))
    if not replace and target.is_dir() and any(target.iterdir()):
        message = "the folder is not empty: choose another one, or ask for it to be replaced"
        raise InputError(Problem(message, file=os.fspath(path)))
    remove_left_behind(target)
    with _temporary(target, path) as temporary:
        try:
            temporary.mkdir()
        except OSError as error:
            raise unwritable(path, error) from None
        yield temporary
        for folder, _, names in os.walk(temporary, topdown=False):
            for name in (*names, "."):
                _sync(Path(folder, name))
        try:
            if replace and target.exists():
                target.rename(interrupted_copy(target))
            temporary.rename(target)
        except OSError as error:
            raise unwritable(path, error) from None
        finally:
            _recover(target)
    _sync(target.parent)
