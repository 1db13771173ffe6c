"""What mining has done so far: told to a log file, and found again after being killed."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

from deltableu.cli.output import note
from deltableu.errors import InputError, Problem
from deltableu.mine import Event

__all__ = ["Journal"]

_DONE = {"counting": "counted", "scoring": "scored"}


class Journal:
    """Call it with each event; use it as a context manager around the mining.

    Parameters
    ----------
    work : Path
        The folder with checkpoints.
    file : Path, optional
        Where a line is added for every event.
    """

    def __init__(self, work: Path, file: Path | None) -> None:
        self._work, self._file = work, file
        self._kept: Counter[str] = Counter()
        self._rows = 0
        self._partitions = 0
        if file is not None:
            _check_log(file)
        if work.exists() and not work.is_dir():
            raise InputError(Problem("is a file, but --work takes a folder", file=str(work)))
        self._found = set(work.iterdir()) if work.exists() else None
        self._strange = _has_checkpoints(work)

    def __call__(self, event: Event) -> None:
        self._partitions = event.partitions
        self._rows += event.rows
        if event.kept:
            self._kept[event.stage] += 1
        else:
            self.say_what_was_kept()
        if self._file is not None:
            # Closed each time: whoever finds it after a crash must see what was done.
            with open(self._file, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(asdict(event)) + "\n")

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
        self._leave_nothing()
        if isinstance(error, KeyboardInterrupt) and _has_checkpoints(self._work):
            note(f"{self._work} keeps what was done: the same command goes on from there")

    def _leave_nothing(self) -> None:
        """Remove folders that were made for checkpoints, where no row has come into them."""
        with suppress(OSError):
            for folder in set(self._work.iterdir()) - (self._found or set()):
                if self._rows == 0:
                    shutil.rmtree(folder, ignore_errors=True)
            if self._found is None:
                self._work.rmdir()


def _check_log(file: Path) -> None:
    if not file.parent.is_dir():
        message = "cannot be written, because its folder does not exist: make the folder first"
    elif file.is_dir():
        message = "is a folder, but --log takes a file"
    elif not os.access(file if file.exists() else file.parent, os.W_OK):
        message = "cannot be written by this user: change the permissions"
    else:
        return
    raise InputError(Problem(message, file=str(file)))


def _has_checkpoints(work: Path) -> bool:
    return next(work.glob("*/*.npz"), None) is not None
