"""A lock that says whose it is, for folders that one process at a time may write to."""

from __future__ import annotations

import os
from pathlib import Path

from deltableu.errors import InputError, Problem
from deltableu.io.owner import Owner

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

#: A link would lead elsewhere.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class JobLock:
    """Held from its making until it is released, or the process ends in whatever way.

    The system's own lock (flock) decides, so that two processes never both get it, and it goes
    with its process. The file says which process has it. A file system of several machines may
    not lock between them; so where a process of another one has not released it, people decide.

    Parameters
    ----------
    path : Path
        The lock's file; its folder is there.

    Raises
    ------
    FileNotFoundError
        If the folder went away meanwhile.
    InputError
        If another process has it, or may have it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._descriptor = os.open(path, _FLAGS, 0o666)
            try:
                if self._get():
                    return
            except BaseException:
                self._close()
                raise
            # Whoever had it removed it, and locked is only what has no name any more.
            self._close()

    def _get(self) -> bool:
        decided = _lock(self._descriptor)
        held = os.pread(self._descriptor, 4096, 0)
        owner = Owner.from_bytes(held)
        here = Owner.here()
        if decided is False:
            raise self._refusal(owner)
        if not self._is_there():
            return False
        if held and owner is None:
            raise InputError(Problem("is not a lock of deltableu: move it away", file=self._name))
        if owner is not None and not _is_free(owner, here, decided):
            raise self._refusal(owner)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, here.to_bytes(), 0)
        return True

    @property
    def _name(self) -> str:
        return str(self._path)

    def _is_there(self) -> bool:
        """Whether the file that is open is still the one of this name."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _refusal(self, owner: Owner | None) -> InputError:
        folder = str(self._path.parent)
        who = "another process" if owner is None else f"process {owner.pid} on {owner.host}"
        message = f"{who} is at work here: wait until it ends, or stop it and start this again"
        if owner is not None and owner.host != Owner.here().host:
            message = f"{who} is at work here: if it runs no more, remove {self._path}"
        return InputError(Problem(message, file=folder))

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor >= 0:
            try:
                os.ftruncate(self._descriptor, 0)
            except OSError:  # on this machine the system's own lock is enough
                pass
            finally:
                self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            self.release()


def _lock(descriptor: int) -> bool | None:
    """Whether the system's lock was got; None where the file system has none."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_free(owner: Owner, here: Owner, decided: bool | None) -> bool:
    """Whether the last owner, which did not release its lock, surely has it no more."""
    if decided:
        # A lock on this machine went with its process, even if that was in another container.
        return owner.host == here.host or owner.boot == here.boot != ""
    return owner.is_gone()
