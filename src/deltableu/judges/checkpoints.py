"""Where training was, to be kept in a work folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deltableu._types import AnyArray, Singles
from deltableu.io import WorkFolder

__all__ = ["STATE", "Checkpoint"]

STATE = "state"
_NUMBERS = ("epoch", "step", "steps", "loss", "examples", "seconds", "history")


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

    def keep(self, work: WorkFolder) -> None:
        """Replace the last checkpoint."""
        arrays: dict[str, AnyArray] = {f"state/{name}": array for name, array in self.state.items()}
        arrays |= {f"best/{name}": array for name, array in self.best.items()}
        work.keep(STATE, arrays, {name: getattr(self, name) for name in _NUMBERS})

    @classmethod
    def kept(cls, work: WorkFolder) -> Checkpoint | None:
        """The last checkpoint; None if there is none, or it is damaged."""
        found = work.kept(STATE)
        if found is None:
            return None
        arrays, numbers = found
        parts: dict[str, dict[str, Singles]] = {"state": {}, "best": {}}
        for name, array in arrays.items():
            part, _, own = name.partition("/")
            parts[part][own] = array
        return cls(**numbers, state=parts["state"], best=parts["best"])
