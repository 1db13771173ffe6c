"""What runs on the workers of a Dask cluster."""

from __future__ import annotations

import pickle
import signal
import unicodedata
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from deltableu._version import __version__
from deltableu.errors import InputError, Problem

R = TypeVar("R")

Installed: TypeAlias = tuple[str, str]
#: Versions of this package and of Unicode: texts are hashed where items are and where logs are.
INSTALLED: Installed = (__version__, unicodedata.unidata_version)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[R]):
    """What comes home: a result and what was told on the way, or why there is none."""

    result: R | None
    rows: int = 0
    size: int = 0
    problem: Problem | None = None


def work(installed: Installed, task: bytes, job: bytes) -> Outcome[Any]:
    """Do a job; both are pickled, the task being a callable of job and `Tell`."""
    rows = size = 0

    def tell(more_rows: int, more_bytes: int) -> None:
        nonlocal rows, size
        rows += more_rows
        size += more_bytes

    try:
        _check_installed(installed)
        result = pickle.loads(task)(pickle.loads(job), tell)
    except InputError as error:
        # Dask would log what is raised, and not every error can be sent; a problem can.
        return Outcome(None, problem=error.problem)
    return Outcome(result, rows, size)


def _check_installed(theirs: Installed) -> None:
    if theirs == INSTALLED:
        return
    from distributed import get_worker

    name, here, there = next(
        (name, here, there)
        for name, here, there in zip(("deltableu", "Unicode"), INSTALLED, theirs, strict=True)
        if here != there
    )
    raise InputError(
        f"the Dask worker at {get_worker().address} has {name} {here}, but who mines has {there}: "
        "install the same deltableu and Python everywhere"
    )


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the process that started the workers, and ends them; close the web server.

    Dask calls this where the module is named as a preload.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.http_server.stop()
