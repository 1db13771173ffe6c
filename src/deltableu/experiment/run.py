"""Stages in, their results out: what is kept is not made again, and what can run side by side does.

Each stage is a process of its own, so that one that fails takes nothing else with it, and one
that needs much memory gives it back. Should this process die, so do they.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from deltableu.errors import InputError, Problem, check_at_least
from deltableu.experiment.keys import FileHashes, stage_keys
from deltableu.experiment.stage import Made, Stage, in_order
from deltableu.experiment.store import Record, StageStore, check_experiment_folder, folder_files
from deltableu.io import TOLD, told

#: What a command's notes begin with.
_NAME = "deltableu: "
_BAD_INPUT = 2
#: Of what stages print.
_COLUMNS = "100"


@dataclass(frozen=True, slots=True)
class StageEvent:
    """Something happened to a stage.

    Attributes
    ----------
    stage : str
    kind : {"started", "told", "finished", "kept", "failed"}
        `kept`: an earlier run had finished it.
    done, of : int
        Stages that are finished, of all.
    what : str
        What it is doing, or why it failed.
    steps, total : int
        How far that is.
    record : Record, optional
        Of a finished stage.
    """

    stage: str
    kind: Literal["started", "told", "finished", "kept", "failed"]
    done: int
    of: int
    what: str = ""
    steps: int = 0
    total: int = 0
    record: Record | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """An experiment whose stages are finished.

    Attributes
    ----------
    stages : tuple of Stage
        In order.
    records : mapping
        What is known of each.
    kept : tuple of str
        Stages that an earlier run had finished.
    """

    stages: tuple[Stage, ...]
    records: Mapping[str, Record]
    kept: tuple[str, ...]
    store: StageStore = field(repr=False)

    def path(self, stage: str, name: str) -> Path:
        """Where a result is."""
        return self.store.place(stage, self.records[stage].key) / name


OnEvent: TypeAlias = Callable[[StageEvent], None]


def run_stages(
    stages: Sequence[Stage],
    folder: Path,
    *,
    jobs: int = 2,
    on_event: OnEvent | None = None,
) -> Ran:
    """Run stages whose results are not there yet.

    Parameters
    ----------
    stages
        In any order.
    folder
        Holds all results, also those of other settings; one run at a time works in it.
    jobs : int
        Stages side by side.
    on_event : callable, optional
        Called with each `StageEvent`.
    """
    check_at_least("jobs", jobs, 1)
    ordered = in_order(stages)
    check_experiment_folder(folder)
    store = StageStore(folder)
    hashes = FileHashes(store.hashes)
    # A file that is not there is said before anything is made.
    keys = stage_keys(ordered, hashes)
    with store.at_work():
        hashes.keep()
        return _Run(ordered, keys, store, jobs, on_event or (lambda event: None)).go()


class _Run:
    """One run over all stages."""

    def __init__(
        self,
        stages: tuple[Stage, ...],
        keys: Mapping[str, str],
        store: StageStore,
        jobs: int,
        tell: OnEvent,
    ) -> None:
        self._stages, self._keys, self._store = stages, keys, store
        self._jobs, self._tell = jobs, tell
        self._records: dict[str, Record] = {}
        self._lines: queue.Queue[tuple[str, str | None]] = queue.Queue()
        self._running: dict[str, _Process] = {}

    def go(self) -> Ran:
        for stage in self._stages:
            record = self._store.record(stage.name, self._keys[stage.name])
            if record is not None:
                self._records[stage.name] = record
                self._say(stage.name, "kept", record=record)
        kept = tuple(self._records)
        failed: dict[str, str] = {}
        try:
            while True:
                if not failed:
                    self._start_ready()
                if not self._running:
                    break
                name, line = self._lines.get()
                process = self._running[name]
                if line is not None:
                    self._hear(process, line)
                    continue
                del self._running[name]
                reason = self._ended(process)
                if reason:
                    failed[name] = reason
                    self._say(name, "failed", what=reason)
        finally:
            for process in self._running.values():
                process.stop()
        if failed:
            name, reason = next(iter(failed.items()))
            raise InputError(Problem(reason, field=f"stage {name}"))
        return Ran(self._stages, self._records, kept, self._store)

    def _say(self, stage: str, kind: object, **more: object) -> None:
        event = StageEvent(stage, "told", len(self._records), len(self._stages))
        self._tell(replace(event, kind=kind, **more))  # type: ignore[arg-type]

    def _start_ready(self) -> None:
        for stage in self._stages:
            if len(self._running) == self._jobs:
                return
            there = stage.name in self._records or stage.name in self._running
            if not there and all(name in self._records for name in stage.needs):
                self._start(stage)

    def _start(self, stage: Stage) -> None:
        part = self._store.begin(stage.name, self._keys[stage.name], stage.makes)
        self._running[stage.name] = _Process(
            stage,
            # By names that are the same wherever the experiment is, as results may hold them.
            stage.arguments(part.relative_to(self._store.folder), self._path),
            self._store.folder,
            part / (stage.printed or "printed.txt"),
            self._lines,
        )
        self._say(stage.name, "started")

    def _path(self, made: Made) -> Path:
        place = self._store.place(made.stage, self._records[made.stage].key)
        return place.relative_to(self._store.folder) / made.name

    def _hear(self, process: _Process, line: str) -> None:
        found = told(line)
        if found is None:
            process.heard(line)
            return
        self._say(process.stage.name, "told", what=found.what, steps=found.done, total=found.total)

    def _ended(self, process: _Process) -> str:
        """Keep what it made; why it failed, where it did."""
        stage, status = process.stage, process.wait()
        notes = process.notes()
        if status == _BAD_INPUT and notes:
            return notes[-1]
        if status:
            how = f"was ended by signal {-status}" if status < 0 else f"ended with code {status}"
            return f"{how}{': ' + notes[-1] if notes else ''} (the same command goes on from here)"
        key = self._keys[stage.name]
        part = self._store.part(stage.name, key)
        # Where it wrote something is another place when it is finished.
        own = str(part.relative_to(self._store.folder))
        record = Record(
            stage.name,
            key,
            stage.described(),
            round(process.seconds, 2),
            datetime.now(UTC).isoformat(timespec="seconds"),
            folder_files(part),
            tuple(note for note in notes if own not in note),
        )
        self._store.finish(record)
        self._records[stage.name] = record
        self._say(stage.name, "finished", record=record)
        return ""


class _Process:
    """A stage that is running."""

    def __init__(
        self,
        stage: Stage,
        arguments: Sequence[str],
        folder: Path,
        printed: Path,
        lines: queue.Queue[tuple[str, str | None]],
    ) -> None:
        self.stage = stage
        self._began = time.monotonic()
        self._said: list[str] = []
        self._lines = lines
        # A terminal's width is none of its business: what it prints goes to a file.
        environment = dict(os.environ) | {"COLUMNS": _COLUMNS, TOLD: "1"}
        environment["PYTHONIOENCODING"] = "utf-8"
        # Threads of two stages that wait busily would take each other's cores.
        environment.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        with open(printed, "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "deltableu", *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=environment,
            )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        for line in stream:
            self._lines.put((self.stage.name, line.decode("utf-8", "replace")))
        self._lines.put((self.stage.name, None))

    def heard(self, line: str) -> None:
        """Keep a sentence for people."""
        if line.strip():
            self._said.append(line.rstrip())

    def notes(self) -> list[str]:
        """What it said, without its name."""
        return [line.removeprefix(_NAME) for line in self._said]

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def wait(self) -> int:
        """Its exit code."""
        status = self._process.wait()
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                stream.close()
        return status

    def stop(self) -> None:
        """End it, letting it tidy up."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._listener.join()
        self.wait()
