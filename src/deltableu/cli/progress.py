"""How far work is: a bar on a terminal when it takes long, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from deltableu._visible import visible
from deltableu.cli.output import note
from deltableu.cli.streams import has_listener
from deltableu.io import told_line

#: Seconds until a bar appears, and between two lines.
_PATIENCE = 0.5
_PAUSE = 30.0
#: Seconds between two lines to a process that listens.
_TOLD_PAUSE = 0.1


def duration(seconds: float) -> str:
    """A time as people say it.

    Examples
    --------
    >>> [duration(one) for one in (0.2, 44, 100, 3000, 3700, 20_000)]
    ['1 s', '44 s', '2 min', '50 min', '1 h 2 min', '5 h 33 min']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


class ProgressBar:
    """Call it with (what, done, total); use it as a context manager.

    Parameters
    ----------
    lines : bool
        Whether to print a line now and then where there is no terminal.
    clock : callable
        Seconds since some time.
    """

    def __init__(self, *, lines: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.visible = sys.stderr.isatty()
        self._lines = lines
        self._is_told = has_listener()
        self._last_told = float("-inf")
        self._clock = clock
        self._started = self._told = clock()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._begun: dict[str, tuple[float, int]] = {}

    def __call__(self, what: str, done: int, total: int, said: str = "") -> None:
        """Show how far it is; `said` in place of the share that is done."""
        if self._is_told:
            if self._clock() - self._last_told >= _TOLD_PAUSE or done == total:
                self._last_told = self._clock()
                sys.stderr.write(told_line(what, done, total))
        elif self.visible:
            if self._clock() - self._started >= _PATIENCE:
                self._draw(what, done, total, said)
        elif self._lines:
            self.line(f"{what}: {said or self._share(what, done, total)}")

    def _share(self, what: str, done: int, total: int) -> str:
        """The share that is done, and how long the rest takes if it goes on like that."""
        began, first = self._begun.setdefault(what, (self._clock(), done))
        share = f"{done / total:.0%}"
        if done <= first:
            return share
        left = (self._clock() - began) / (done - first) * (total - done)
        return f"{share}, about {duration(left)} left"

    def line(self, text: str) -> None:
        """Print a line, unless there was one a short while ago."""
        if self._clock() - self._told >= _PAUSE:
            self._told = self._clock()
            note(text)

    def _draw(self, what: str, done: int, total: int, said: str) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        # What is done may be named after users' files, whose names are no markup.
        what, said = visible(what), visible(said)
        if self._bar is None:
            name = TextColumn("{task.description}", markup=False)
            share: list[ProgressColumn] = [TaskProgressColumn(), TimeRemainingColumn()]
            words: list[ProgressColumn] = [TextColumn("{task.fields[said]}", markup=False)]
            columns = [name, BarColumn(), *(words if said else share)]
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(what, said=said)
        self._bar.update(self._tasks[what], completed=done, total=total, said=said)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
