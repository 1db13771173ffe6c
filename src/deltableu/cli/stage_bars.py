"""How far an experiment is: a bar per stage on a terminal, elsewhere a line where one ends."""

from __future__ import annotations

import sys
from typing import Any, Self

from deltableu._visible import visible
from deltableu.cli.output import note
from deltableu.cli.progress import duration
from deltableu.experiment import StageEvent


class StageBars:
    """Call it with each `StageEvent`; use it as a context manager."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}
        self._kept: list[str] = []

    def __call__(self, event: StageEvent) -> None:
        if event.kind == "kept":
            self._kept.append(event.stage)
            return
        self._say_kept()
        if self._is_shown:
            self._draw(event)
        if event.kind == "finished" and event.record is not None:
            self.say(
                f"{event.stage}: done in {duration(event.record.seconds)} "
                f"({event.done} of {event.of})"
            )
            for text in event.record.notes:
                self.say(f"{event.stage}: {text}")

    def say(self, text: str) -> None:
        """A sentence above the bars."""
        if self._progress is None:
            note(text)
        else:
            self._progress.console.print(f"deltableu: {visible(text)}", markup=False)

    def _say_kept(self) -> None:
        if self._kept:
            names = ", ".join(self._kept)
            self.say(f"done before: {names}")
            self._kept = []

    def _draw(self, event: StageEvent) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[what]}", markup=False),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
        if event.kind == "started":
            self._tasks[event.stage] = self._progress.add_task(event.stage, total=None, what="")
        elif event.kind == "told":
            self._progress.update(
                self._tasks[event.stage],
                completed=event.steps,
                total=event.total,
                what=visible(event.what),
            )
        else:
            self._progress.remove_task(self._tasks.pop(event.stage))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._say_kept()
        if self._progress is not None:
            self._progress.stop()
