"""The optional extra `neural`, imported where it is used."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from deltableu.errors import InputError, Problem

_THREADS = 1024

_ENDINGS = {
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait: an exception out of a handler while torch sets itself up would abort it."""
    if not hasattr(signal, "pthread_sigmask") or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDINGS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def need(module: str, what: str) -> Any:
    """Import a module of the extra, or say what to install.

    Parameters
    ----------
    module : str
        Such as `torch`.
    what : str
        What needs it, to begin the sentence with.
    """
    try:
        with _undisturbed():
            return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InputError(
            f"{what} needs {package}: run pip install 'deltableu[neural]' ({error})"
        ) from error


def check_threads(threads: int | None) -> None:
    """Complain about a number of threads that torch cannot start."""
    if threads is not None and not 1 <= threads <= _THREADS:
        message = f"must lie between 1 and {_THREADS}, got {threads}"
        raise InputError(Problem(message, field="threads"))
