"""Files and folders that appear whole or not at all: written beside, then renamed."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deltableu.errors import InputError, Problem


def unwritable(path: object, error: OSError) -> InputError:
    """What to raise where writing raised this."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        message = "cannot be written, because its folder does not exist: make the folder first"
    elif isinstance(error, PermissionError):
        message = "cannot be written by this user: change the folder's permissions"
    else:
        message = f"cannot be written: {error.strerror or type(error).__name__}"
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


def _temporary_beside(target: Path) -> Path:
    return target.parent / f".{secrets.token_hex(6)}.tmp"


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary file to write; it takes the name `path` when the block ends well."""
    if Path(path).is_dir():
        raise InputError(Problem("is a folder, but a file is to be written", file=os.fspath(path)))
    if Path(path).exists() and not Path(path).is_file():
        yield Path(path)  # a pipe or device is written to, never replaced
        return
    target = Path(os.path.realpath(path))
    temporary = _temporary_beside(target)
    try:
        # os.open gives the permissions that the user's umask asks for; tempfile would not.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise unwritable(path, error) from None
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(target.parent)


def interrupted_copy(target: Path) -> Path:
    """Where `atomic_folder` keeps the old folder for the moment between its two renames."""
    return target.parent / f".{target.name}.deltableu-old"


def _recover(target: Path) -> None:
    """Undo or finish a swap that was cut off."""
    old = interrupted_copy(target)
    if not old.exists():
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
    temporary = _temporary_beside(target)
    try:
        temporary.mkdir()
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        yield temporary
        for folder, _, names in os.walk(temporary, topdown=False):
            for name in (*names, "."):
                _sync(Path(folder, name))
        if replace and target.exists():
            target.rename(interrupted_copy(target))
        try:
            temporary.rename(target)
        except OSError as error:
            raise unwritable(path, error) from None
    except BaseException:
        _recover(target)
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _recover(target)
    _sync(target.parent)
