"""Logs in, a trained NN-rater out (Tsuta et al. 2020, sections 4.2 and 5.3)."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deltableu._version import __version__
from deltableu.errors import InputError, Problem
from deltableu.logs.partitions import Logs, Partition, find_partitions
from deltableu.raters._neural import need
from deltableu.raters.batches import Batches
from deltableu.raters.checkpoints import PAIRS, VOCABULARY, Checkpoint, WorkFolder
from deltableu.raters.combination import combined_weights
from deltableu.raters.examples import Examples, draw_examples
from deltableu.raters.log_pairs import TrainingPairs, read_training_pairs
from deltableu.raters.quality import OverlapBaseline, area_under_curve, calibration
from deltableu.raters.settings import (
    RaterSettings,
    TrainingSettings,
    parameter_shapes,
    preset,
)
from deltableu.raters.vocabulary import (
    Vocabulary,
    piece_vocabulary,
    vocabulary_from_bytes,
    word_vocabulary,
)

if TYPE_CHECKING:
    from deltableu.raters.learning import HeldOut

__all__ = ["Epoch", "TrainedRater", "train_rater"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Progress: TypeAlias = Callable[[str, int, int], None]

#: Seconds between two checkpoints.
PAUSE = 60.0
#: Training examples that the baseline learns from.
_BASELINE = 50_000
_VALIDATION_EPOCH = 0
_THREADS = 1024
#: Texts that pieces are made from.
_SAMPLE = 200_000


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the training examples.

    Attributes
    ----------
    number, of : int
    examples : int
    loss : float
        Mean cross entropy while training.
    validation_loss, accuracy : float
        Of held-out utterances, after it.
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
    state: Mapping[str, Floats]
    card: Mapping[str, Any]
    work: WorkFolder = field(repr=False)


def train_rater(
    logs: Logs,
    *,
    settings: RaterSettings | None = None,
    training: TrainingSettings | None = None,
    threads: int | None = None,
    work: Path | None = None,
    keep_work: bool = False,
    pause: float = PAUSE,
    progress: Progress | None = None,
    on_epoch: Callable[[Epoch], None] | None = None,
) -> TrainedRater:
    """Train the NN-rater on utterances of logs that have several responses.

    Two responses to the same utterance are a positive example, two pairs of different utterances
    a negative one. Utterances are held out, never single examples.

    Parameters
    ----------
    logs
        As `deltableu.mine_references` takes them.
    settings, training
        By default the preset `small`.
    threads : int, optional
        All cores by default. Sums of floats, and so the last digits, depend on it.
    work : Path, optional
        A folder for checkpoints; a killed run goes on from there.
    keep_work : bool
        Leave the folder when training is done; by default it is removed.
    pause : float
        Seconds between two checkpoints.
    progress : callable, optional
        Called with (what is done, done, in all).
    on_epoch : callable, optional
        Called with each `Epoch`, also with those of the run that this one goes on with.
    """
    shape, how = preset("small")
    settings, how = settings or shape, training or how
    if threads is not None and not 1 <= threads <= _THREADS:
        message = f"must lie between 1 and {_THREADS}, got {threads}"
        raise InputError(Problem(message, field="threads"))
    parameter_shapes(settings, how.vocabulary_size)  # complains where they are too many
    need("torch", "training a rater")
    need("safetensors", "training a rater")
    partitions = find_partitions(logs)
    kept = WorkFolder(work, _key(partitions, settings, how))
    from deltableu.raters.learning import threads_of_torch

    try:
        vocabulary = _vocabulary(partitions, how, kept, progress)
        pairs = _pairs(partitions, vocabulary, settings, how, kept, progress)
        with threads_of_torch(threads):
            run = _Run(settings, how, vocabulary, pairs, kept, pause, progress, on_epoch)
            made = run.train()
    except InputError:
        kept.give_up()
        raise
    if not keep_work:
        kept.end()
    return made


def _key(
    partitions: Sequence[Partition], settings: RaterSettings, training: TrainingSettings
) -> str:
    digest = hashlib.sha256(f"{__version__} {settings} {training}".encode())
    for partition in partitions:
        digest.update(partition.fingerprint.encode())
    return digest.hexdigest()


def _teller(
    progress: Progress | None, what: str, partitions: Sequence[Partition], passes: int
) -> Callable[[int], None]:
    total = max(passes * sum(partition.size for partition in partitions), 1)
    done = 0

    def tell(size: int) -> None:
        nonlocal done
        done += size
        if progress is not None:
            progress(what, min(done, total), total)

    return tell


def _vocabulary(
    partitions: Sequence[Partition],
    training: TrainingSettings,
    work: WorkFolder,
    progress: Progress | None,
) -> Vocabulary:
    kept = work.kept(VOCABULARY)
    if kept is not None:
        return vocabulary_from_bytes(training.vocabulary, kept)
    tell = _teller(progress, "vocabulary", partitions, 1)
    size = training.vocabulary_size
    made: Vocabulary
    if training.vocabulary == "words":
        made = word_vocabulary(partitions, size=size, tell=tell)
    else:
        made = piece_vocabulary(
            partitions, size=size, sample=_SAMPLE, seed=training.seed, tell=tell
        )
    work.keep(VOCABULARY, made.to_bytes())
    return made


def _pairs(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    settings: RaterSettings,
    training: TrainingSettings,
    work: WorkFolder,
    progress: Progress | None,
) -> TrainingPairs:
    path = work.path(PAIRS)
    if path is not None and path.exists():
        with suppress(InputError):  # damaged: made anew
            return TrainingPairs.read(path)
    made = read_training_pairs(
        partitions,
        vocabulary,
        validation=training.validation,
        seed=training.seed,
        max_length=settings.max_length,
        max_responses=training.max_responses,
        tell=_teller(progress, "pairs", partitions, 2),
    )
    if path is not None:
        made.write(path)
    return made


class _Run:
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
        on_epoch: Callable[[Epoch], None] | None,
    ) -> None:
        from deltableu.raters.learning import Learner, first_network

        self._settings, self._training = settings, training
        self._vocabulary, self._pairs, self._work = vocabulary, pairs, work
        self._pause, self._progress = pause, progress
        self._on_epoch = on_epoch
        network = first_network(settings, training, pairs, len(vocabulary))
        self._learner = Learner(network, training.learning_rate)
        self._history: list[Epoch] = []
        self._best: Mapping[str, Floats] = {}
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
        batches = Batches(self._pairs, examples, training.batch, training.seed, number)
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
        judged = self._learner.judge(self._pairs, held_out)
        best = all(judged.loss < before.validation_loss for before in self._history)
        if best:
            self._best = self._learner.network.state()
        seconds = time.monotonic() - self._began
        weights = combined_weights(judged.probabilities)
        made = Epoch(
            number + 1,
            training.epochs,
            self._examples,
            self._loss / self._examples,
            judged.loss,
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
        self._work.write(
            Checkpoint(
                epoch,
                self._step,
                self._steps,
                self._loss,
                self._examples,
                self._written - self._began,
                [_record(before) for before in self._history],
                self._learner.state(),
                self._best,
            )
        )

    def _go_on(self) -> None:
        found = self._work.read()
        if found is None:
            return
        self._learner.restore(found.state, found.steps)
        self._history = [Epoch(**before) for before in found.history]
        self._best = found.best
        self._steps, self._step = found.steps, found.step
        self._loss, self._examples = found.loss, found.examples
        self._began -= found.seconds
        if self._on_epoch is not None:
            for epoch in self._history:
                self._on_epoch(replace(epoch, kept=True))

    def _made(self, held_out: Examples) -> TrainedRater:
        from deltableu.raters.network import RaterNetwork

        self._learner.network = RaterNetwork.of(self._settings, self._best)
        judged = self._learner.judge(self._pairs, held_out)
        baseline = OverlapBaseline(self._pairs, self._draw("training", 0, _BASELINE))
        card = {
            "training": {"version": __version__, **asdict(self._training)},
            "data": asdict(self._pairs.counts),
            "epochs": [_record(epoch) for epoch in self._history],
            "held out": _quality(judged, held_out, baseline),
        }
        return TrainedRater(self._settings, self._vocabulary, self._best, card, self._work)


def _record(epoch: Epoch) -> dict[str, Any]:
    return {name: value for name, value in asdict(epoch).items() if name != "kept"}


def _quality(judged: HeldOut, held_out: Examples, baseline: OverlapBaseline) -> dict[str, Any]:
    labels = held_out.labels
    weights = combined_weights(judged.probabilities)
    overlap = baseline.scores(held_out)
    return {
        "examples": len(labels),
        "loss": judged.loss,
        "accuracy": float(np.mean((weights > 0) == labels)),
        "area under curve": area_under_curve(weights, labels),
        "accuracy of word overlap": float(np.mean((overlap > 0) == labels)),
        "area under curve of word overlap": area_under_curve(overlap, labels),
        "calibration": [asdict(bin) for bin in calibration((weights + 1) / 2, labels)],
    }
