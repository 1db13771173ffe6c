"""Stages and what is kept of them, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deltableu.experiment.design import Design
from deltableu.experiment.keys import FileHashes, stage_keys
from deltableu.experiment.store import Record, StageStore, check_experiment_folder, folder_files
from deltableu.io import Column, Table, Tabular

State = Literal["done", "begun", "lost", "to do"]


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage and how far it is.

    Attributes
    ----------
    name : str
    after : tuple of str
        The stages whose results it reads.
    state : {"done", "begun", "lost", "to do"}
        `begun`: a run was cut off, and the next one goes on from what it kept. `lost`: it was done,
        but results were removed or changed since, and the next run makes them again.
    record : Record, optional
        Of a finished stage.
    command : str
        As people may type it.
    """

    name: str
    after: tuple[str, ...]
    state: State
    record: Record | None
    command: str


@dataclass(frozen=True, slots=True)
class Progression(Tabular):
    """All stages of an experiment.

    Attributes
    ----------
    title : str
    folder : str
        Where results are kept.
    stages : tuple of StageState
    others : int
        Results of other settings that are kept too.
    """

    title: str
    folder: str
    stages: tuple[StageState, ...]
    others: int

    def table(self, *, commands: bool = False) -> Table:
        """A row per stage, after those whose results it reads."""
        columns = [
            *map(Column, ("stage", "after", "state")),
            Column("seconds", ".1f"),
            Column("MB", ".2f"),
        ]
        columns += [Column("command")] if commands else []
        rows: list[list[object]] = []
        for one in self.stages:
            found = one.record
            row: list[object] = [one.name, ", ".join(one.after), one.state]
            row += [None, None] if found is None else [found.seconds, found.size / 1e6]
            rows.append([*row, one.command] if commands else row)
        done = sum(one.state == "done" for one in self.stages)
        notes = {"stages": f"{done} of {len(self.stages)} done, in {self.folder}"}
        if lost := [one.name for one in self.stages if one.state == "lost"]:
            notes["lost"] = (
                f"results of {', '.join(lost)} were removed or changed; "
                "the next run makes them again"
            )
        if self.others:
            notes["others"] = f"{self.others} results of other settings are kept too"
        return Table(tuple(columns), rows, notes=notes)


def experiment_state(design: Design, folder: Path) -> Progression:
    """How far an experiment is; nothing is written."""
    check_experiment_folder(folder)
    store = StageStore(folder)
    keys = stage_keys(design.stages, FileHashes(store.hashes))
    states = []
    for stage in design.stages:
        record = store.record(stage.name, keys[stage.name])
        state: State = "done"
        if record is None:
            lost = store.lost(stage.name, keys[stage.name])
            begun = store.began(stage.name, keys[stage.name])
            state = "begun" if begun else "lost" if lost else "to do"
        states.append(StageState(stage.name, stage.needs, state, record, stage.described()))
    return Progression(design.title, str(folder), tuple(states), len(store.others(keys)))


def unused_results(design: Design, folder: Path) -> tuple[int, int]:
    """Remove results of other settings; how many there were, and their bytes."""
    check_experiment_folder(folder)
    store = StageStore(folder)
    if not folder.is_dir() or not any(folder.iterdir()):
        return 0, 0
    with store.at_work():
        others = store.others(stage_keys(design.stages, FileHashes(store.hashes)))
        size = sum(sum(folder_files(one).values()) for one in others)
        for place in others:
            store.remove(place)
    return len(others), size
