"""Training examples in, a trained rater out: epochs, from the beginning or a checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from deltableu._types import AnyArray, Progress, Singles
from deltableu._version import __version__
from deltableu.errors import InputError
from deltableu.io import WorkFolder
from deltableu.judges.batches import cut_batches
from deltableu.judges.combination import combined_weights
from deltableu.judges.examples import Examples, draw_examples
from deltableu.judges.quality import OverlapBaseline, area_under_curve, calibration
from deltableu.judges.settings import RaterSettings, TrainingSettings
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.judges.vocabulary import Vocabulary

#: The checkpoint in a work folder: where training was.
STATE = "state"

#: Training examples that the baseline learns from.
_BASELINE = 50_000
_VALIDATION_EPOCH = 0


@dataclass(frozen=True, slots=True)
class TrainingEpoch:
    """One pass over the training examples.

    Attributes
    ----------
    number, of : int
    examples : int
    loss : float
        Mean cross entropy while training.
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
class TrainedRater:
    """A rater's parameters and vocabulary, and a card that says how they came about."""

    settings: RaterSettings
    vocabulary: Vocabulary
    state: Mapping[str, Singles]
    card: Mapping[str, Any]
    work: WorkFolder = field(repr=False)


class Run:
    """Epochs, from the beginning or from the last checkpoint."""

    def __init__(
        self,
        settings: RaterSettings,
        training: TrainingSettings,
        vocabulary: Vocabulary,
        pairs: TrainingPairs,
        work: WorkFolder,
        pause: float,
        progress: Progress | None,
        on_epoch: Callable[[TrainingEpoch], None] | None,
    ) -> None:
        from deltableu.judges.learning import Learner, first_network

        self._settings, self._training = settings, training
        self._vocabulary, self._pairs, self._work = vocabulary, pairs, work
        self._pause, self._progress = pause, progress
        self._on_epoch = on_epoch
        network = first_network(settings, training, pairs, len(vocabulary))
        self._learner = Learner(network, training.learning_rate)
        self._history: list[TrainingEpoch] = []
        self._best: Mapping[str, Singles] = {}
        self._steps, self._step = 0, 0
        self._loss, self._examples = 0.0, 0
        self._began = self._written = time.monotonic()

    def train(self) -> TrainedRater:
        self._go_on()
        held_out = self._draw("validation", _VALIDATION_EPOCH)
        while not self._is_over():
            self._epoch(len(self._history), held_out)
        return self._made(held_out)

    def _draw(self, split: Any, epoch: int, most: int | None = None) -> Examples:
        training = self._training
        return draw_examples(
            self._pairs,
            split,
            seed=training.seed,
            epoch=epoch,
            negatives=training.negatives,
            most=most,
        )

    def _is_over(self) -> bool:
        if len(self._history) == self._training.epochs:
            return True
        since = 0
        for epoch in self._history:
            since = 0 if epoch.best else since + 1
        return since >= self._training.patience

    def _epoch(self, number: int, held_out: Examples) -> None:
        training = self._training
        examples = self._draw("training", number)
        batches = cut_batches(self._pairs, examples, training.batch, training.seed, number)
        for place in range(self._step, len(batches)):
            chosen, labels = batches[place]
            loss = self._learner.step(self._pairs, chosen, labels)
            if not math.isfinite(loss):
                raise InputError(
                    f"training went astray in epoch {number + 1} (the loss is {loss}): lower the "
                    f"learning rate, which is {training.learning_rate:g}"
                )
            self._loss += loss * len(labels)
            self._examples += len(labels)
            self._step += 1
            self._steps += 1
            if self._progress is not None:
                what = f"epoch {number + 1} of {training.epochs}"
                self._progress(what, place + 1, len(batches))
            if time.monotonic() - self._written >= self._pause:
                self._write(number)
        loss, probabilities = self._learner.judge(self._pairs, held_out)
        best = all(loss < before.validation_loss for before in self._history)
        if best:
            self._best = self._learner.network.state()
        seconds = time.monotonic() - self._began
        weights = combined_weights(probabilities)
        made = TrainingEpoch(
            number + 1,
            training.epochs,
            self._examples,
            self._loss / self._examples,
            loss,
            float(np.mean((weights > 0) == held_out.labels)),
            best,
            round(seconds, 3),
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

    def _made(self, held_out: Examples) -> TrainedRater:
        from deltableu.judges.network import RaterNetwork

        self._learner.network = RaterNetwork.of(self._settings, self._best)
        judged = self._learner.judge(self._pairs, held_out)
        baseline = OverlapBaseline(self._pairs, self._draw("training", 0, _BASELINE))
        card = {
            "training": {"version": __version__, **asdict(self._training)},
            "data": asdict(self._pairs.counts),
            "epochs": [_record(epoch) for epoch in self._history],
            "held out": _quality(*judged, held_out, baseline),
        }
        return TrainedRater(self._settings, self._vocabulary, self._best, card, self._work)


def _record(epoch: TrainingEpoch) -> dict[str, Any]:
    return {name: value for name, value in asdict(epoch).items() if name != "kept"}


def _quality(
    loss: float, probabilities: Singles, held_out: Examples, baseline: OverlapBaseline
) -> dict[str, Any]:
    labels = held_out.labels
    weights = combined_weights(probabilities)
    overlap = baseline.scores(held_out)
    return {
        "examples": len(labels),
        "loss": loss,
        "accuracy": float(np.mean((weights > 0) == labels)),
        "area under curve": area_under_curve(weights, labels),
        "accuracy of word overlap": float(np.mean((overlap > 0) == labels)),
        "area under curve of word overlap": area_under_curve(overlap, labels),
        "calibration": [asdict(bin) for bin in calibration((weights + 1) / 2, labels)],
    }
