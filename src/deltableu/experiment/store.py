"""Where results of stages are kept: each in a folder of its own, which is there whole or not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from deltableu.errors import InputError, Problem
from deltableu.io import JobLock, atomic_write, json_text, unwritable

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
    files : mapping of str to int
        Its results by their names in its folder, and the bytes of each.
    notes : tuple of str
        What the command said beside its results.
    """

    stage: str
    key: str
    command: str
    seconds: float
    finished: str
    files: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of its results."""
        return sum(self.files.values())


class StageStore:
    """Results of stages in the folder of an experiment.

    Parameters
    ----------
    folder : Path
        Results of a stage are in `stages/NAME/KEY` in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hashes = folder / "files.json"
        self._stages = folder / "stages"

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Nobody else runs or removes stages here meanwhile; who is second is refused."""
        self._stages.mkdir(parents=True, exist_ok=True)
        lock = JobLock(self.folder / "lock")
        try:
            yield
        finally:
            lock.release()

    def place(self, stage: str, key: str) -> Path:
        """The folder of a finished stage."""
        return self._stages / stage / key

    def part(self, stage: str, key: str) -> Path:
        """The folder of a stage that is not finished."""
        return self._stages / stage / f"{key}{_PART}"

    def record(self, stage: str, key: str) -> Record | None:
        """What is known of a stage, if it is finished and all of its results are there."""
        place = self.place(stage, key)
        try:
            found = msgspec.json.decode((place / _RECORD).read_bytes(), type=Record)
        except (OSError, ValueError, RecursionError):
            return None
        whole = (found.stage, found.key) == (stage, key) and all(
            _size(place / name) == size for name, size in found.files.items()
        )
        return found if whole else None

    def lost(self, stage: str, key: str) -> bool:
        """Whether it was finished, and its results were removed or changed since."""
        return self.place(stage, key).is_dir() and self.record(stage, key) is None

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


def folder_files(folder: Path) -> dict[str, int]:
    """The bytes of each file in a folder, by its name there."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _size(path: Path) -> int | None:
    """The bytes of a file; None where there is none."""
    try:
        return path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        return None


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
