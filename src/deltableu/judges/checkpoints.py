"""What a training run keeps on the disk, so that it goes on after being killed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltableu._types import Singles
from deltableu.errors import InputError, Problem
from deltableu.io import atomic_path
from deltableu.judges.neural import need

__all__ = ["PAIRS", "VOCABULARY", "Checkpoint", "WorkFolder"]


_STATE, _KEY = "state.safetensors", "key"
VOCABULARY, PAIRS = "vocabulary", "pairs.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Where training was.

    Attributes
    ----------
    epoch, step : int
        Of the epoch that goes on, from 0; steps of it that are done.
    steps : int
        In all epochs.
    loss, examples : float
        Sums over the steps of the epoch.
    seconds : float
        That training took so far.
    history : list of dicts
        What is known of the epochs before.
    state : mapping
        Of the learner.
    best : mapping
        The parameters with the least held-out loss, if an epoch has ended.
    """

    epoch: int
    step: int
    steps: int
    loss: float
    examples: int
    seconds: float
    history: list[dict[str, Any]]
    state: Mapping[str, Singles]
    best: Mapping[str, Singles]


class WorkFolder:
    """A folder that belongs to one training run.

    Parameters
    ----------
    folder : Path, optional
        Without one nothing is kept.
    key : str
        Changes when logs or settings do: what another key left behind is not used.
    """

    def __init__(self, folder: Path | None, key: str) -> None:
        self._folder = folder
        self.found_another = False
        self._made = folder is not None and not folder.exists()
        if folder is None:
            return
        if folder.exists() and not folder.is_dir():
            raise InputError(Problem("is a file, but a folder is needed", file=str(folder)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                before = (folder / _KEY).read_text("utf-8")
                if before == key:
                    return
                self.found_another = True
                self.remove_content()
        except OSError as error:
            raise InputError(Problem(f"cannot be used: {error}", file=str(folder))) from None
        with atomic_path(folder / _KEY) as file:
            file.write_text(key, "utf-8")

    def path(self, name: str) -> Path | None:
        """Where to keep something."""
        return None if self._folder is None else self._folder / name

    def keep(self, name: str, data: bytes) -> None:
        """Keep bytes, behind their digest."""
        path = self.path(name)
        if path is not None:
            with atomic_path(path) as file:
                file.write_bytes(hashlib.sha256(data).digest() + data)

    def kept(self, name: str) -> bytes | None:
        """What was kept; None if there is nothing, or it is damaged."""
        path = self.path(name)
        if path is None or not path.exists():
            return None
        found = path.read_bytes()
        digest, data = found[:32], found[32:]
        return data if hashlib.sha256(data).digest() == digest else None

    def write(self, made: Checkpoint) -> None:
        """Replace the last checkpoint."""
        if self._folder is None:
            return
        save = need("safetensors.numpy", "training a rater").save_file
        numbers = {
            name: getattr(made, name)
            for name in ("epoch", "step", "steps", "loss", "examples", "seconds", "history")
        }
        tensors = dict(made.state) | {f"best/{name}": array for name, array in made.best.items()}
        with atomic_path(self._folder / _STATE) as file:
            save(tensors, file, metadata={"training": json.dumps(numbers)})

    def read(self) -> Checkpoint | None:
        """The last checkpoint; None if there is none, or it is damaged."""
        path = self.path(_STATE)
        if path is None or not path.exists():
            return None
        opened = need("safetensors", "training a rater")
        try:
            with opened.safe_open(path, framework="np") as file:
                numbers = json.loads(file.metadata()["training"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (opened.SafetensorError, OSError, KeyError, TypeError, ValueError):
            return None
        best = {
            name.removeprefix("best/"): array
            for name, array in tensors.items()
            if name.startswith("best/")
        }
        state = {name: array for name, array in tensors.items() if not name.startswith("best/")}
        return Checkpoint(**numbers, state=state, best=best)

    def remove_content(self) -> None:
        """Remove what a run keeps, and nothing else."""
        if self._folder is None:
            return
        for name in (_STATE, _KEY, VOCABULARY, PAIRS):
            (self._folder / name).unlink(missing_ok=True)

    def end(self) -> None:
        """Remove what was kept, once the model is written."""
        self.remove_content()
        if self._folder is not None:
            with suppress(OSError):
                self._folder.rmdir()

    def give_up(self) -> None:
        """After a fault of the user: leave no folder that was made for nothing."""
        path = self.path(_STATE)
        if self._made and path is not None and not path.exists():
            self.end()
