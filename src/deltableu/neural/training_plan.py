"""How much is learned from, and how long that takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Fewest batches per epoch, and the share of the time that held-out examples may take.
_BATCHES, _HELD_OUT = 10, 0.1
_FEWEST_HELD_OUT = 500


@dataclass(frozen=True, slots=True)
class Pace:
    """Measured seconds per example, learning from it and judging a held-out one."""

    learning: float
    judging: float


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What training goes through.

    Attributes
    ----------
    examples, available : int
        Examples per epoch, drawn afresh for each, and how many there are.
    epochs, epochs_wanted : int
        Epochs, and the largest number that was asked for.
    held_out, held_out_available : int
        Examples of the held-out utterances that every epoch ends with.
    seconds : float
        How long that takes on this machine, if it does not end early.
    seconds_of_all : float
        How long it would take with all examples and epochs.
    minutes : float, optional
        The budget that this was fitted to.
    """

    examples: int
    available: int
    epochs: int
    epochs_wanted: int
    held_out: int
    held_out_available: int
    seconds: float
    seconds_of_all: float
    minutes: float | None = None

    @property
    def cut(self) -> bool:
        """Whether the budget left something out."""
        return self.examples < self.available or self.epochs < self.epochs_wanted


def fit_plan(
    available: int,
    held_out: int,
    epochs: int,
    batch: int,
    pace: Pace,
    *,
    minutes: float | None = None,
    spent: float = 0.0,
) -> TrainingPlan:
    """What fits into the time: all of it, or random examples, or fewer epochs too.

    Every epoch draws its examples afresh, so it is rather epochs than data that become smaller.
    Only where they would have fewer than ten batches there are fewer epochs, one at least.

    Parameters
    ----------
    available, held_out : int
        Examples per epoch that there are, and held-out ones.
    epochs, batch : int
    pace : Pace
    minutes : float, optional
        The budget; none takes everything.
    spent : float
        Seconds of it that are gone, of which four fifths of the budget count at most.

    Examples
    --------
    >>> pace = Pace(learning=0.001, judging=0.0005)
    >>> plan = fit_plan(600_000, 30_000, 6, 250, pace, minutes=10)
    >>> plan.examples, plan.held_out, plan.epochs, round(plan.seconds), round(plan.seconds_of_all)
    (90000, 20000, 6, 600, 3690)
    >>> fit_plan(600_000, 30_000, 6, 250, pace, minutes=0.02).epochs
    1
    """

    def seconds(examples: int, judged: int, times: int) -> float:
        return times * (examples * pace.learning + judged * pace.judging)

    whole = seconds(available, held_out, epochs)
    budget = math.inf
    if minutes is not None:
        budget = max(60.0 * minutes - spent, 12.0 * minutes)
    if whole <= budget:
        return TrainingPlan(
            available, available, epochs, epochs, held_out, held_out, whole, whole, minutes
        )
    fewest = min(available, _BATCHES * batch)
    few = min(held_out, _FEWEST_HELD_OUT)
    times = min(epochs, max(1, int(budget / seconds(fewest, few, 1))))
    each = budget / times
    judged = min(held_out, max(few, int(_HELD_OUT * each / pace.judging)))
    examples = int((each - judged * pace.judging) / pace.learning) // batch * batch
    examples = min(available, max(fewest, examples))
    return TrainingPlan(
        examples, available, times, epochs, judged, held_out,
        seconds(examples, judged, times), whole, minutes,
    )  # fmt: skip
