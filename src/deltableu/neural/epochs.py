"""Training examples in, a trained model out: epochs, from the beginning or a checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from deltableu._types import AnyArray, Progress, Singles
from deltableu._version import __version__
from deltableu.errors import InputError
from deltableu.io import WorkFolder
from deltableu.neural.batches import cut_batches
from deltableu.neural.learning_task import Drawn, LearningTask
from deltableu.neural.settings import NetworkShape
from deltableu.neural.training_plan import Pace, TrainingPlan, fit_plan
from deltableu.neural.vocabulary import Vocabulary

#: The checkpoint in a work folder: where training was.
STATE = "state"

_PLAN = "plan"
#: Steps that are measured before training, after one more, and the seconds after which no other
#: one is; held-out examples that are judged for that.
_MEASURED, _MEASURING = 8, 4.0
_JUDGED = 500
_VALIDATION_EPOCH = 0


@dataclass(frozen=True, slots=True)
class TrainingEpoch:
    """One pass over the training examples.

    Attributes
    ----------
    number, of : int
    examples : int
    loss : float
        Mean loss while training.
    validation_loss, accuracy : float
        Loss and accuracy on held-out utterances after the epoch.
    best : bool
        Whether no epoch before had a lower held-out loss.
    seconds : float
    kept : bool
        Whether an earlier run did it, with which this one goes on.
    """

    number: int
    of: int
    examples: int
    loss: float
    validation_loss: float
    accuracy: float
    best: bool
    seconds: float
    kept: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel:
    """A model's parameters and vocabulary, and a card that says how they came about."""

    settings: NetworkShape
    vocabulary: Vocabulary
    state: Mapping[str, Singles]
    card: Mapping[str, Any]
    work: WorkFolder = field(repr=False)


class Run:
    """Epochs, from the beginning or from the last checkpoint.

    Parameters
    ----------
    task : LearningTask
    work : WorkFolder
    pause : float
        Seconds between two checkpoints.
    minutes : float, optional
        The budget, of which `spent` seconds are gone.
    progress, on_epoch, on_plan
        As `train_rater` takes them.
    """

    def __init__(
        self,
        task: LearningTask,
        work: WorkFolder,
        pause: float,
        *,
        minutes: float | None = None,
        spent: float = 0.0,
        progress: Progress | None = None,
        on_epoch: Callable[[TrainingEpoch], None] | None = None,
        on_plan: Callable[[TrainingPlan], None] | None = None,
    ) -> None:
        from deltableu.neural.networks.learning import Learner

        self._task, self._training, self._work = task, task.training, work
        self._pause, self._progress = pause, progress
        self._on_epoch, self._on_plan = on_epoch, on_plan
        self._minutes, self._spent = minutes, spent
        self._learner = Learner(task.first_network(), task.training.learning_rate, task.clip)
        self._history: list[TrainingEpoch] = []
        self._best: Mapping[str, Singles] = {}
        self._steps, self._step = 0, 0
        self._loss, self._examples = 0.0, 0
        self._began = self._written = time.monotonic()

    def train(self) -> TrainedModel:
        """Train from where an earlier run stopped, and return the best model."""
        self._plan = self._kept_plan() or self._new_plan()
        if self._on_plan is not None:
            self._on_plan(self._plan)
        self._began = self._written = time.monotonic()
        self._go_on()
        held_out = self._task.draw("validation", _VALIDATION_EPOCH, self._plan.held_out)
        while not self._is_over():
            self._epoch(len(self._history), held_out)
        return self._made(held_out)

    def _kept_plan(self) -> TrainingPlan | None:
        kept = self._work.kept(_PLAN)
        return None if kept is None else TrainingPlan(**kept[1])

    def _new_plan(self) -> TrainingPlan:
        """Measure a few steps of a network that is thrown away, and plan the time."""
        from deltableu.neural.networks.learning import Learner

        task, training = self._task, self._training
        drawn = task.draw("training", 0, training.examples)
        held_out = task.draw("validation", _VALIDATION_EPOCH)
        first = self._learner.network.state()
        batches = cut_batches(task.lengths(drawn), training.batch, training.seed, 0)
        batches = batches[: _MEASURED + 1]
        began = time.monotonic()
        seconds = learned = 0.0
        for number, rows in enumerate(batches):
            started = time.monotonic()
            self._learn(drawn, rows)
            # The first step takes longer, because memory is got; alone it has to do.
            if number or len(batches) == 1:
                seconds += time.monotonic() - started
                learned += len(rows)
            if learned and time.monotonic() - began > _MEASURING:
                break
        some = Drawn(held_out.chosen[:_JUDGED], held_out.labels[:_JUDGED])
        started = time.monotonic()
        task.judge(self._learner.network, some)
        judging = (time.monotonic() - started) / max(len(some), 1)
        self._learner = Learner(task.network(first), training.learning_rate, task.clip)
        plan = fit_plan(
            len(drawn),
            len(held_out),
            training.epochs,
            training.batch,
            Pace(max(seconds / max(learned, 1.0), 1e-9), max(judging, 1e-9)),
            minutes=self._minutes,
            spent=self._spent + time.monotonic() - began,
        )
        self._work.keep(_PLAN, {}, asdict(plan))
        return plan

    def _learn(self, drawn: Drawn, rows: Any) -> float:
        loss = self._task.loss(
            self._learner.network, drawn.chosen[rows], drawn.labels[rows], self._steps
        )
        return self._learner.step(loss)

    def _is_over(self) -> bool:
        if len(self._history) == self._plan.epochs:
            return True
        since = 0
        for epoch in self._history:
            since = 0 if epoch.best else since + 1
        return since >= int(self._training.patience)

    def _epoch(self, number: int, held_out: Drawn) -> None:
        training, plan = self._training, self._plan
        drawn = self._task.draw("training", number, plan.examples)
        batches = cut_batches(self._task.lengths(drawn), training.batch, training.seed, number)
        for place in range(self._step, len(batches)):
            rows = batches[place]
            loss = self._learn(drawn, rows)
            if not math.isfinite(loss):
                raise InputError(
                    f"training went astray in epoch {number + 1} (the loss is {loss}): lower the "
                    f"learning rate, which is {training.learning_rate:g}"
                )
            self._loss += loss * len(rows)
            self._examples += len(rows)
            self._step += 1
            self._steps += 1
            if self._progress is not None:
                what = f"epoch {number + 1} of {plan.epochs}"
                self._progress(what, place + 1, len(batches))
            if time.monotonic() - self._written >= self._pause:
                self._write(number)
        judged = self._task.judge(self._learner.network, held_out)
        best = all(judged.loss < before.validation_loss for before in self._history)
        if best:
            self._best = self._learner.network.state()
        made = TrainingEpoch(
            number + 1,
            plan.epochs,
            self._examples,
            self._loss / self._examples,
            judged.loss,
            judged.accuracy,
            best,
            round(time.monotonic() - self._began, 3),
        )
        self._history.append(made)
        self._loss, self._examples, self._step = 0.0, 0, 0
        self._write(number + 1)
        if self._on_epoch is not None:
            self._on_epoch(made)

    def _write(self, epoch: int) -> None:
        self._written = time.monotonic()
        arrays: dict[str, AnyArray] = {
            f"{part}/{name}": array
            for part, found in (("state", self._learner.state()), ("best", self._best))
            for name, array in found.items()
        }
        numbers = {
            "epoch": epoch,
            "step": self._step,
            "steps": self._steps,
            "loss": self._loss,
            "examples": self._examples,
            "seconds": self._written - self._began,
            "history": [_record(before) for before in self._history],
        }
        self._work.keep(STATE, arrays, numbers)

    def _go_on(self) -> None:
        kept = self._work.kept(STATE)
        if kept is None:
            return
        arrays, numbers = kept
        parts: dict[str, dict[str, Singles]] = {"state": {}, "best": {}}
        for name, array in arrays.items():
            part, _, own = name.partition("/")
            parts[part][own] = array
        self._learner.restore(parts["state"], numbers["steps"])
        self._history = [TrainingEpoch(**before) for before in numbers["history"]]
        self._best = parts["best"]
        self._steps, self._step = numbers["steps"], numbers["step"]
        self._loss, self._examples = numbers["loss"], numbers["examples"]
        self._began -= numbers["seconds"]
        if self._on_epoch is not None:
            for epoch in self._history:
                self._on_epoch(replace(epoch, kept=True))

    def _made(self, held_out: Drawn) -> TrainedModel:
        task = self._task
        judged = task.judge(task.network(self._best), held_out)
        card = {
            "training": {"version": __version__, **asdict(self._training)},
            "plan": asdict(self._plan),
            "data": dict(task.counts),
            "epochs": [_record(epoch) for epoch in self._history],
            "held out": task.quality(judged, held_out),
        }
        return TrainedModel(task.settings, task.vocabulary, self._best, card, self._work)


def _record(epoch: TrainingEpoch) -> dict[str, Any]:
    return {name: value for name, value in asdict(epoch).items() if name != "kept"}
