"""What mining has done so far: told to a log file, and found again after being killed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from deltableu.cli.output import note
from deltableu.io import Journal
from deltableu.mine import Event

__all__ = ["MiningLog"]

_DONE = {"counting": "counted", "scoring": "scored"}


class MiningLog:
    """Call it with each event; use it as a context manager around the mining.

    Parameters
    ----------
    work : Path
        The folder with checkpoints.
    file : Path, optional
        Where a line is added for every event.
    """

    def __init__(self, work: Path, file: Path | None) -> None:
        self._work = work
        self._file = None if file is None else Journal(file)
        self._kept: Counter[str] = Counter()
        self._partitions = 0
        self._strange = _has_checkpoints(work)

    def __call__(self, event: Event) -> None:
        self._partitions = event.partitions
        if event.kept:
            self._kept[event.stage] += 1
        else:
            self.say_what_was_kept()
        if self._file is not None:
            self._file.add([asdict(event)])

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
            note(
                f"starts anew: what {self._work} holds is of other items, logs or settings, "
                "and may be removed"
            )
        self._kept.clear()
        self._strange = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.say_what_was_kept()
            return
        if isinstance(error, KeyboardInterrupt) and _has_checkpoints(self._work):
            note(f"{self._work} keeps what was done: the same command goes on from there")


def _has_checkpoints(work: Path) -> bool:
    return next(work.glob("*/*.npz"), None) is not None
