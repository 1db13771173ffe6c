"""Where partitions are worked on: the threads of this process, or a Dask cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol, TypeVar

from deltableu.errors import InputError
from deltableu.mine.join import Tell


class Job(Protocol):
    """What is sent to where it is done."""

    @property
    def name(self) -> str:
        """As problems name it."""


J = TypeVar("J", bound=Job)
R = TypeVar("R")


class Engine(Protocol):
    """Does jobs, in any order. What it needs for that may live as long as it is entered."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...

    def run(
        self, task: Callable[[J, Tell], R], jobs: Sequence[J], tell: Tell
    ) -> Generator[tuple[J, R], None, None]:
        """Yield each job with its result as soon as it is there; the first error ends all.

        Jobs are sent, or copied, no sooner than they can be done: what they refer to may change.
        """


class _Stopped(Exception):  # noqa: N818
    """Ends a thread whose work nobody waits for."""


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of this process; kernels release the interpreter's lock."""

    threads: int | None = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None: ...

    def run(
        self, task: Callable[[J, Tell], R], jobs: Sequence[J], tell: Tell
    ) -> Generator[tuple[J, R], None, None]:
        """Do jobs with a task, and yield each with its result as it gets ready."""
        count = self.threads or os.cpu_count() or 1
        stopped = threading.Event()

        def told(rows: int, size: int) -> None:
            if stopped.is_set():
                raise _Stopped
            tell(rows, size)

        waiting = list(reversed(jobs))
        running: dict[Future[R], J] = {}
        with ThreadPoolExecutor(count) as pool:
            try:
                while waiting or running:
                    # No more than can run: what finished first tells the next ones its floors.
                    while waiting and len(running) < count:
                        job = waiting.pop()
                        running[pool.submit(task, job, told)] = job
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield running.pop(future), future.result()
            finally:
                stopped.set()


def make_engine(name: str, threads: int | None = None, security: object = None) -> Engine:
    """The engine of a name.

    Parameters
    ----------
    name : str
        `threads`, `dask` (a cluster on this machine), or a scheduler: `dask://HOST:PORT`, with TLS
        `tls://HOST:PORT`.
    threads : int, optional
        How much is done at once; all cores by default.
    security : distributed.Security, optional
        Certificates for that scheduler; by default those of Dask's configuration.
    """
    if threads is not None and threads < 1:
        raise InputError(f"threads must be 1 or more, got {threads}")
    kind, colon, address = name.partition("://")
    if security is not None and not colon:
        raise InputError(f"certificates are of no use with the engine {name}")
    if name == "threads":
        return Threads(threads)
    if (kind == "dask" and bool(colon) == bool(address)) or (kind == "tls" and address):
        from deltableu.mine.dask_engine import Dask

        return Dask(name if kind == "tls" else address or None, threads, security)
    raise InputError(
        f"engine must be threads, dask, dask://HOST:PORT or tls://HOST:PORT, got {name!r}"
    )
