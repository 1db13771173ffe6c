"""Partitions on a Dask cluster: one that runs somewhere, or processes of this machine."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

from deltableu.errors import InputError
from deltableu.io import open_binary, scratch_folder
from deltableu.mine.dask_jobs import DaskJobs
from deltableu.mine.engines import Job
from deltableu.mine.join import Tell

J = TypeVar("J", bound=Job)
R = TypeVar("R")

#: Seconds to wait for a scheduler.
CONNECT = 10.0
_SILENT = logging.CRITICAL + 1
_NOISY = ("distributed", "tornado", "asyncio")
_WITH_HTTP = ("scheduler", "worker")


class Dask:
    """A cluster that works on partitions.

    Parameters
    ----------
    address : str, optional
        HOST:PORT of a scheduler. Without it, processes are started on this machine, with one
        thread each; they end with the run, and speak TLS with certificates that only they have.
    workers : int, optional
        How many processes; all cores by default. With an address: how many partitions are sent at
        once; two for each thread of the cluster by default.
    security : distributed.Security, optional
        Certificates for the scheduler at the address; by default those of Dask's configuration.
    """

    def __init__(
        self, address: str | None = None, workers: int | None = None, security: Any = None
    ) -> None:
        self.address = address
        self.workers = workers
        self.security = security
        self._depth = 0
        self._stack = ExitStack()
        self._client: Any = None

    def __repr__(self) -> str:
        return f"Dask({self.address!r}, {self.workers!r})"

    def __enter__(self) -> Dask:
        self._depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._client = None
            self._stack.close()

    def run(
        self, task: Callable[[J, Tell], R], jobs: Sequence[J], tell: Tell
    ) -> Generator[tuple[J, R], None, None]:
        """Yield each job with its result as soon as it is there; the first error ends all."""
        if not jobs:
            return
        with self:
            if self._client is None:
                # Only now: where all is done already, no cluster is needed.
                self._client = self._open()
            name, limit = "the Dask cluster of this machine", None
            if self.address is not None:
                name, limit = f"the Dask cluster at {self._url}", self.workers
            sent: DaskJobs[J, R] = DaskJobs(self._client, name, task, limit)
            try:
                yield from sent.run(jobs, tell)
            finally:
                sent.close()

    @property
    def _url(self) -> str:
        """The address with its protocol: TLS where certificates, or Dask's configuration, ask."""
        address = self.address or ""
        if "://" in address:
            return address
        security = self.security or _dask()[1].Security()
        return f"{'tls' if security.require_encryption else 'tcp'}://{address}"

    def _open(self) -> Any:
        dask, distributed = _dask()
        enter = self._stack.enter_context
        enter(_silence())
        # Logs that are in memory travel with the jobs, and are as large as they are.
        enter(dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}))
        if self.address is not None:
            return enter(_connected(distributed, self._url, self.security))
        # Its web servers know nothing to tell, for the moment until they are stopped.
        enter(dask.config.set({f"distributed.{one}.http.routes": [] for one in _WITH_HTTP}))
        cluster = enter(_local_cluster(distributed, self.workers or os.cpu_count() or 1))
        return enter(_connected(distributed, cluster, cluster.security))


def client_certificates(ca: str, cert: str, key: str | None = None) -> Any:
    """What `Dask` takes as its security.

    Parameters
    ----------
    ca, cert, key : str
        Files in PEM format: the authority that signed the cluster's certificates, the certificate
        to show, and its key, which may also stand in the file of the certificate.
    """
    _, distributed = _dask()
    security = distributed.Security(
        require_encryption=True, tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key
    )
    for path in filter(None, (ca, cert, key)):
        with open_binary(path):
            pass
    try:
        security.get_connection_args("client")
    except OSError as error:  # as ssl.SSLError is one
        files = ", ".join(filter(None, (ca, cert, key)))
        raise InputError(f"no certificates with their key are in {files}: {error}") from None
    return security


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError:
        message = "the engine dask needs Dask: run pip install 'deltableu[cluster]'"
        raise InputError(message) from None
    return dask, distributed


@contextmanager
def _silence() -> Iterator[None]:
    """What a cluster says about its own life is of no use to who mines references."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in _NOISY]
    loggers = [logging.getLogger(name) for name in {*_NOISY, *names}]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(_SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def _local_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        # A new worker runs its parent's script once more, and has come to the call that made it.
        sys.exit()
    with scratch_folder() as folder:
        try:
            security = distributed.Security.temporary()
        except ImportError:
            message = "the engine dask needs cryptography: run pip install 'deltableu[cluster]'"
            raise InputError(message) from None
        try:
            cluster = distributed.LocalCluster(
                # Whoever can connect can run code: so nobody else of this machine can.
                security=security,
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                # Any free port: the well-known one may be another cluster's.
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                preload=["deltableu.mine.dask_worker"],
                silence_logs=_SILENT,
                memory_limit=None,
                local_directory=str(folder),
            )
        except RuntimeError as error:
            raise InputError(
                f"the Dask workers of this machine did not start ({error}): in a script, the call "
                'must stand under `if __name__ == "__main__":`'
            ) from None
        try:
            cluster.sync(_stop_http, cluster.scheduler)
            yield cluster
        finally:
            cluster.close()


async def _stop_http(node: Any) -> None:
    node.http_server.stop()


@contextmanager
def _connected(distributed: Any, cluster: Any, security: Any) -> Iterator[Any]:
    problem = ""
    try:
        with warnings.catch_warnings():
            # Dask warns of other versions on the workers; those that matter are checked there.
            warnings.simplefilter("ignore")
            client = distributed.Client(
                cluster,
                timeout=CONNECT,
                set_as_default=False,
                name="deltableu",
                security=security,
            )
    except OSError:
        secured = str(cluster).startswith("tls://")
        problem = (
            f"no Dask scheduler answers at {cluster}: start one with `dask scheduler`, or check "
            f"host and port, and {'its certificates' if secured else 'whether it speaks TLS'}"
        )
    except TypeError:  # as Dask complains where it has no certificates
        problem = (
            f"the Dask scheduler at {cluster} cannot be used without certificates: give them, or "
            "name them in Dask's configuration"
        )
    except (ImportError, ValueError, RuntimeError) as error:
        sentence = str(error).partition("\n")[0].rstrip(".")
        problem = f"the Dask scheduler at {cluster} cannot be used: {sentence}"
    if problem:
        # A client that could not be made closes itself when it is forgotten. If that were while
        # another one is made, both would wait for the same lock.
        gc.collect()
        raise InputError(problem)
    try:
        yield client
    finally:
        with suppress(Exception):  # whoever is gone need not be told good-bye
            client.close(timeout=CONNECT)
