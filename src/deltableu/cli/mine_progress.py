"""How far mining is: a bar on a terminal, else a line on standard error now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from deltableu.cli.output import note
from deltableu.mine import Progress

__all__ = ["MiningProgress", "progress_text", "time_text"]

#: Seconds until a bar appears, and between two lines where there is no terminal.
_PATIENCE = 0.5
_PAUSE = 30.0


class MiningProgress:
    """Call it with `Progress`; use it as a context manager.

    Parameters
    ----------
    first : callable, optional
        Called before anything is shown.
    clock : callable
        Seconds since some time.
    """

    def __init__(
        self,
        first: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._first = first
        self._clock = clock
        self._last = clock()
        self._terminal = sys.stderr.isatty()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> None:
        if self._first is not None:
            self._first()
            self._first = None
        waited = self._clock() - self._last
        if not self._terminal:
            if waited >= _PAUSE:
                self._last = self._clock()
                note(f"{progress.stage}: {progress_text(progress)}")
        elif self._bar is not None or waited >= _PATIENCE:
            self._draw(progress)

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[said]}"),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        if progress.stage not in self._tasks:
            for task in self._tasks.values():
                self._bar.remove_task(task)
            self._tasks = {progress.stage: self._bar.add_task(progress.stage, said="")}
        self._bar.update(
            self._tasks[progress.stage],
            completed=progress.done,
            total=progress.total,
            said=progress_text(progress),
        )

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


def progress_text(progress: Progress) -> str:
    """Rows, rows a second and the time left.

    Examples
    --------
    >>> progress_text(Progress("counting", 12_300_000, 500, 2_000, 100, 15.0))
    '12,300,000 rows, 820,000 rows/s, 56 s left'
    """
    rate = float(f"{progress.rate:.3g}")
    parts = [f"{progress.rows:,} rows", f"{rate:,.0f} rows/s"]
    if progress.left is not None:
        parts.append(f"{time_text(progress.left)} left")
    return ", ".join(parts)


def time_text(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> [time_text(seconds) for seconds in (3.2, 200, 9000)]
    ['3 s', '3 min', '2 h 30 min']
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
