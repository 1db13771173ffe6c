"""Which process something on the disk belongs to, and whether that process is surely gone."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from dataclasses import asdict, dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Owner:
    """A process.

    Attributes
    ----------
    pid : int
    host : str
        The name of its machine.
    started : int
        When it began, as its machine counts, so that another process that gets the same number
        later is not taken for it; 0 where that is not known.
    place : str
        A digest of where its number means something: the machine, and on Linux the container.
    boot : str
        The machine's run, the same in all containers; empty where that is not known.
    """

    pid: int
    host: str
    started: int
    place: str
    boot: str

    @classmethod
    def here(cls) -> Owner:
        """This process."""
        return _of_process(os.getpid())

    @classmethod
    def from_bytes(cls, data: bytes) -> Owner | None:
        """What `to_bytes` made; None if this is something else."""
        try:
            found = cls(**json.loads(data))
        except (TypeError, ValueError, RecursionError):
            return None
        kinds = {name: type(value) for name, value in asdict(cls.here()).items()}
        right = all(type(getattr(found, name)) is kind for name, kind in kinds.items())
        return found if right and found.pid > 0 else None

    def to_bytes(self) -> bytes:
        """For a file that says whose it is."""
        return json.dumps(asdict(self)).encode() + b"\n"

    def is_gone(self) -> bool:
        """Whether it surely runs no more; of other machines and containers nothing is known."""
        return self.place == Owner.here().place and is_gone(self.pid, self.started)


def is_gone(pid: int, started: int) -> bool:
    """Whether no process here has this number and began then."""
    if os.name != "posix" or pid <= 0:
        return False  # elsewhere asking may end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    state, now = _state(pid)
    return state in ("Z", "X") or (started != 0 and now not in (0, started))


@lru_cache(maxsize=2)
def _of_process(pid: int) -> Owner:
    host = socket.gethostname()
    try:
        room = os.readlink("/proc/self/ns/pid")
    except OSError:
        room = ""
    place = hashlib.sha256(os.fsencode(f"{host} {room}")).hexdigest()[:8]
    return Owner(pid, host, _state(pid)[1], place, _read("/proc/sys/kernel/random/boot_id").strip())


def _state(pid: int) -> tuple[str, int]:
    """The letter of a process's state, and when it began; "" and 0 where that is not known."""
    # The name of the program stands before, in brackets, and may hold anything.
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], int(fields[19])) if len(fields) > 19 else ("", 0)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
