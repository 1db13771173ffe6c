"""Jobs to the workers of a Dask cluster, and results back."""

from __future__ import annotations

import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from deltableu._version import __version__
from deltableu.errors import InputError, Problem
from deltableu.mine.dask_worker import INSTALLED, Outcome, work
from deltableu.mine.engines import Job
from deltableu.mine.join import Tell

J = TypeVar("J", bound=Job)
R = TypeVar("R")
T = TypeVar("T")

#: Seconds to wait for workers when there are none.
PATIENCE = 60.0
_GLANCE = 1.0
#: Said in words, for Dask ends a worker that cannot unpickle what it is sent: one without this
#: package, or with another version of it, should live to tell.
_CALL = f"__import__({work.__module__!r}, fromlist=['work']).work(installed, task, job)"


class DaskJobs(Generic[J, R]):
    """A task that the workers of a cluster do for many jobs.

    Parameters
    ----------
    client : distributed.Client
    cluster : str
        As problems name it.
    task : callable
        Each worker gets it once.
    limit : int, optional
        How many jobs are sent at once; two for each thread by default.
    """

    def __init__(
        self, client: Any, cluster: str, task: Callable[[J, Tell], R], limit: int | None
    ) -> None:
        import cloudpickle  # type: ignore[import-untyped]
        import distributed

        self._lost = (distributed.CancelledError, OSError)
        self._killed = distributed.KilledWorker
        self._pack = cloudpickle.dumps  # takes what a user's own script defines, too
        self._client = client
        self._cluster = cluster
        self._limit = limit
        self._room, self._looked = 0, 0.0
        self._run = f"mine-{uuid.uuid4().hex}"
        self._sent = 0
        self._running: dict[Any, J] = {}
        self._finished: SimpleQueue[Any] = SimpleQueue()
        # Made on a worker, from where the others get it; made again should all of these die.
        self._task = self._submit("task", bytes, self._pack(task))
        with self._connection():
            self._patiently(lambda seconds: self._task.exception(timeout=seconds))
            # Dask likes to work where the data are.
            with suppress(ValueError):  # nobody is there just now
                client.replicate([self._task])

    def run(self, jobs: Sequence[J], tell: Tell) -> Iterator[tuple[J, R]]:
        """Yield each job with its result as soon as it is there."""
        waiting = deque(jobs)
        suspects: deque[J] = deque()
        alone = False
        while waiting or self._running or suspects:
            while waiting and len(self._running) < self._capacity():
                self._send(waiting.popleft())
            if not self._running:
                # Dask blames all jobs of a worker that died. One by one, the guilty is found.
                alone = True
                self._send(suspects.popleft())
            future = self._patiently(lambda seconds: self._finished.get(timeout=seconds))
            outcome = self._outcome(future)
            job = self._running.pop(future)
            # Workers forget results only when nobody here refers to them.
            del future
            if outcome is None and alone:
                raise InputError(
                    f"{job.name}: every Dask worker that reads it dies, perhaps for want of "
                    "memory: give workers more of it, or cut smaller partitions"
                )
            if outcome is None:
                suspects.append(job)
                continue
            if outcome.problem is not None:
                raise InputError(_as_seen_from_here(outcome.problem))
            tell(outcome.rows, outcome.size)
            yield job, outcome.result  # type: ignore[misc]

    def close(self) -> None:
        """End what still runs: nobody waits for it."""
        if self._running:
            with suppress(Exception):  # the cluster may be what ended the run
                self._client.cancel(list(self._running), force=True)
        self._running.clear()
        self._task = None

    def _send(self, job: J) -> None:
        self._sent += 1
        names = {"installed": INSTALLED, "task": self._task, "job": self._pack(job)}
        future = self._submit(str(self._sent), eval, _CALL, names)
        self._running[future] = job
        future.add_done_callback(self._finished.put)

    def _submit(self, name: str, function: Callable[..., object], *arguments: object) -> Any:
        key = f"{self._run}-{name}"
        with self._connection():
            return self._client.submit(function, *arguments, key=key, pure=False)

    def _outcome(self, future: Any) -> Outcome[R] | None:
        """None where workers died of it."""
        with self._connection():
            found = self._patiently(_Fetching(future))
        if isinstance(found, self._killed):
            return None
        if isinstance(found, ModuleNotFoundError) and str(found.name).startswith("deltableu"):
            raise InputError(
                f"a worker of {self._cluster} has no deltableu {__version__}: install it there"
            )
        if isinstance(found, BaseException):
            raise found
        outcome: Outcome[R] = found
        return outcome

    def _capacity(self) -> int:
        """How many jobs may be on their way; workers come and go."""
        if self._limit is not None:
            return self._limit
        if self._room == 0 or time.monotonic() - self._looked > _GLANCE:
            self._room = 2 * max(1, self._threads())
            self._looked = time.monotonic()
        return self._room

    def _threads(self) -> int:
        with self._connection():
            return sum(self._client.nthreads().values())

    def _patiently(self, wait: Callable[[float], T]) -> T:
        """Wait, but not forever for workers that never come."""
        deserted: float | None = None
        while True:
            try:
                return wait(_GLANCE)
            except (Empty, TimeoutError):
                if self._threads() > 0:
                    deserted = None
                    continue
            deserted = deserted or time.monotonic()
            if time.monotonic() - deserted > PATIENCE:
                raise InputError(
                    f"{self._cluster} has had no workers for {PATIENCE:g} seconds: start some with "
                    "`dask worker`"
                )

    @contextmanager
    def _connection(self) -> Iterator[None]:
        try:
            yield
        except self._lost:
            raise InputError(
                f"the connection to {self._cluster} was lost; the same call goes on where it was "
                "if it keeps checkpoints"
            ) from None


class _Fetching:
    """Brings an outcome, or what was raised in its stead.

    How long large ones travel, nobody knows; so every attempt may take longer than that before.
    """

    def __init__(self, future: Any) -> None:
        self._future = future
        self._patience = 1.0

    def __call__(self, seconds: float) -> Any:
        self._patience *= 2.0
        if self._future.status == "error":
            return self._future.exception()
        return self._future.result(timeout=max(seconds, self._patience))


def _as_seen_from_here(problem: Problem) -> Problem:
    """Workers may live on other machines, or in another folder."""
    if "no such file" in problem.message and os.path.exists(problem.file or ""):
        message = "is not there for the Dask workers: give a whole path or URL that all can read"
        return replace(problem, message=message)
    return problem
