"""A progress bar that shows itself only on a terminal, and only when work takes long."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

__all__ = ["ProgressBar"]

_PATIENCE = 0.5


class ProgressBar:
    """Call it with (what, done, total); use it as a context manager."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self.visible = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self.visible or time.monotonic() - self._started < _PATIENCE:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, total=total)
        self._bar.update(self._tasks[what], completed=done, total=total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
