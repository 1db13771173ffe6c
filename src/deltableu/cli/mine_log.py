"""What mining has done so far: shown, told to a log file, and found again after being killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from deltableu.cli.output import note
from deltableu.cli.progress import ProgressBar
from deltableu.io import holds_work
from deltableu.mine import Event, Progress

_DONE = {"counting": "counted", "scoring": "scored"}


class MiningLog:
    """Call it with each event.

    Parameters
    ----------
    work : Path
        The folder with checkpoints.
    add : callable
        Adds an event to a log file.
    bar : ProgressBar
    """

    def __init__(self, work: Path, add: Callable[[Event], None], bar: ProgressBar) -> None:
        self._work = work
        self._add = add
        self._bar = bar
        self._kept: Counter[str] = Counter()
        self._partitions = 0
        self._strange = holds_work(work)

    def __call__(self, event: Event) -> None:
        self._partitions = event.partitions
        if event.kept:
            self._kept[event.stage] += 1
        else:
            self.say_what_was_kept()
        self._add(event)

    def show(self, progress: Progress) -> None:
        """How far it is, after what was kept."""
        self.say_what_was_kept()
        self._bar(progress.stage, progress.done, progress.total, progress_text(progress))

    def say_what_was_kept(self) -> None:
        """Tell what of an earlier run is used, once, before new work is done."""
        if self._kept:
            parts = [
                f"{number} of {self._partitions} partitions were {_DONE[stage]}"
                if place == 0
                else f"{number} {_DONE[stage]}"
                for place, (stage, number) in enumerate(self._kept.items())
            ]
            note(f"goes on: {', '.join(parts)} before")
        elif self._strange:
            note(f"starts anew: what {self._work} keeps is of other items, logs or settings")
        self._kept.clear()
        self._strange = False


def progress_text(progress: Progress) -> str:
    """Rows, rows per second and the time left.

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
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
