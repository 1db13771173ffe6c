"""Where results of stages are kept: each in a folder of its own, which is there whole or not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io import atomic_write, decode_object, json_text, unwritable

_RECORD = "stage.json"
_PART = ".part"


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a finished stage.

    Attributes
    ----------
    stage, key : str
    command : str
        As people may type it.
    seconds : float
        What it took, with the time of runs that were killed left out.
    finished : str
        When it ended.
    size : int
        Bytes of its results.
    notes : tuple of str
        What the command said beside its results.
    """

    stage: str
    key: str
    command: str
    seconds: float
    finished: str
    size: int
    notes: tuple[str, ...] = ()


class StageStore:
    """Results of stages in the folder of an experiment.

    Parameters
    ----------
    folder : Path
        Results of a stage are in `stages/NAME/KEY` in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stages = folder / "stages"

    def place(self, stage: str, key: str) -> Path:
        """The folder of a finished stage."""
        return self._stages / stage / key

    def part(self, stage: str, key: str) -> Path:
        """The folder of a stage that is not finished."""
        return self._stages / stage / f"{key}{_PART}"

    def record(self, stage: str, key: str) -> Record | None:
        """What is known of a stage, if it is finished."""
        with suppress(OSError, ValueError, TypeError):
            found: dict[str, Any] = decode_object(
                (self.place(stage, key) / _RECORD).read_text("utf-8")
            )
            return Record(**{**found, "notes": tuple(found["notes"])})
        return None

    def began(self, stage: str, key: str) -> bool:
        """Whether a run of it was cut off."""
        return self.part(stage, key).is_dir()

    def begin(self, stage: str, key: str, makes: tuple[str, ...]) -> Path:
        """A folder to work in: new, or with what an earlier run can go on from."""
        part = self.part(stage, key)
        try:
            part.mkdir(parents=True, exist_ok=True)
            # A result that was finished just before the end would be in the way of itself.
            for name in makes:
                _remove(part / name)
        except OSError as error:
            raise unwritable(part, error) from None
        return part

    def finish(self, record: Record) -> None:
        """The stage's folder gets its name: from now on it is finished."""
        part, place = self.part(record.stage, record.key), self.place(record.stage, record.key)
        text = json_text(asdict(record))
        try:
            with atomic_write(part / _RECORD) as file:
                file.write(text)
            _remove(place)
            os.replace(part, place)
        except OSError as error:
            raise unwritable(place, error) from None

    def others(self, keys: Mapping[str, str]) -> list[Path]:
        """Results that belong to other settings than these."""
        used = {self.place(stage, key) for stage, key in keys.items()}
        used |= {self.part(stage, key) for stage, key in keys.items()}
        return sorted(one for one in self._stages.glob("*/*") if one not in used)

    def remove(self, place: Path) -> None:
        """Remove the results in a folder that `others` named."""
        _remove(place)
        with suppress(OSError):
            place.parent.rmdir()


def folder_size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def check_experiment_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an experiment."""
    if folder.exists() and not folder.is_dir():
        raise InputError(Problem("is a file, but an experiment needs a folder", file=str(folder)))
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "stages").is_dir():
        message = "holds something else than an experiment: choose another folder"
        raise InputError(Problem(message, file=str(folder)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
