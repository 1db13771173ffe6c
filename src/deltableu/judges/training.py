"""Logs in, trained judges out (Tsuta et al. 2020, Tao et al. 2018)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltableu._types import Progress
from deltableu.errors import check_kind
from deltableu.io import WorkFolder
from deltableu.judges.ruber_settings import RuberSettings, RuberTraining, ruber_preset
from deltableu.judges.settings import (
    NetworkSettings,
    RaterSettings,
    TrainingSettings,
    preset,
)
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import (
    STATE,
    Run,
    TrainedModel,
    TrainingEpoch,
    TrainingPlan,
    Vocabulary,
    check_minutes,
    check_size,
    check_threads,
    log_teller,
    log_vocabulary,
    need,
    training_key,
)

if TYPE_CHECKING:
    from deltableu.logs import Logs, Partition


#: Seconds between two checkpoints.
PAUSE = 60.0
_PAIRS = "pairs"

_Training = TrainingSettings | RuberTraining


def train_rater(
    logs: Logs,
    *,
    settings: RaterSettings | None = None,
    training: TrainingSettings | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    work: Path | None = None,
    keep_work: bool = False,
    pause: float = PAUSE,
    progress: Progress | None = None,
    on_epoch: Callable[[TrainingEpoch], None] | None = None,
    on_plan: Callable[[TrainingPlan], None] | None = None,
) -> TrainedModel:
    """Train the NN-rater on utterances of logs that have several responses.

    Two responses to the same utterance are a positive example, two pairs of different utterances
    a negative one. Utterances are held out, never single examples.

    Parameters
    ----------
    logs
        As `deltableu.mine_references` takes them.
    settings, training
        By default the preset `small`.
    minutes : float, optional
        About how long it may take, reading included: where all examples would take longer, every
        epoch learns from some random ones (see `fit_plan`), and how many depends on the machine.
        The card's `plan` says it; the same number as `training.examples` gives the same model.
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
        Called with each `TrainingEpoch`, also with those of the run that this one goes on with.
    on_plan : callable, optional
        Called with the `TrainingPlan` before the first epoch.
    """
    shape, how = preset("small")
    settings, how = settings or shape, training or how
    check_kind("settings", settings, RaterSettings)
    check_kind("training", how, TrainingSettings)
    return _train(
        logs, settings, how, minutes, threads, work, keep_work, pause, progress, on_epoch, on_plan
    )


def train_ruber(
    logs: Logs,
    *,
    settings: RuberSettings | None = None,
    training: RuberTraining | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    work: Path | None = None,
    keep_work: bool = False,
    pause: float = PAUSE,
    progress: Progress | None = None,
    on_epoch: Callable[[TrainingEpoch], None] | None = None,
    on_plan: Callable[[TrainingPlan], None] | None = None,
) -> TrainedModel:
    """Train RUBER's unreferenced scorer on logged messages and their replies.

    A reply should score above the reply to another message. Messages are held out, with all
    their replies.

    Parameters
    ----------
    logs, minutes, threads, work, keep_work, pause, progress, on_epoch, on_plan
        See `train_rater`.
    settings, training
        By default the preset `small`.
    """
    shape, how = ruber_preset("small")
    settings, how = settings or shape, training or how
    check_kind("settings", settings, RuberSettings)
    check_kind("training", how, RuberTraining)
    return _train(
        logs, settings, how, minutes, threads, work, keep_work, pause, progress, on_epoch, on_plan
    )


def _train(
    logs: Logs,
    settings: RaterSettings | RuberSettings,
    training: _Training,
    minutes: float | None,
    threads: int | None,
    work: Path | None,
    keep_work: bool,
    pause: float,
    progress: Progress | None,
    on_epoch: Callable[[TrainingEpoch], None] | None,
    on_plan: Callable[[TrainingPlan], None] | None,
) -> TrainedModel:
    began = time.monotonic()
    check_minutes(minutes)
    check_threads(threads)
    fields = "embedding, hidden, layer, layers or vocabulary"
    check_size(settings, training.vocabulary_size, "judge", fields)
    need("torch", "training a judge")
    need("safetensors", "training a judge")
    # Here, so that those who only rate need not wait for what reads logs.
    from deltableu.logs import find_partitions
    from deltableu.neural.networks import threads_of_torch

    partitions = find_partitions(logs)
    kept = WorkFolder(work, training_key(partitions, settings, training, minutes))
    with kept.worth_keeping(STATE):
        vocabulary = log_vocabulary(partitions, training, kept, progress)
        pairs = _pairs(partitions, vocabulary, settings, training, kept, progress)
        with threads_of_torch(threads):
            run = Run(
                _task(settings, training, vocabulary, pairs),
                kept,
                pause,
                minutes=minutes,
                spent=time.monotonic() - began,
                progress=progress,
                on_epoch=on_epoch,
                on_plan=on_plan,
            )
            made = run.train()
    if not keep_work:
        kept.end()
    return made


def _task(
    settings: NetworkSettings, training: _Training, vocabulary: Vocabulary, pairs: TrainingPairs
) -> Any:
    if isinstance(settings, RuberSettings):
        from deltableu.judges.ruber_task import RuberTask

        assert isinstance(training, RuberTraining)
        return RuberTask(settings, training, vocabulary, pairs)
    from deltableu.judges.rater_task import RaterTask

    assert isinstance(settings, RaterSettings)
    assert isinstance(training, TrainingSettings)
    return RaterTask(settings, training, vocabulary, pairs)


def _pairs(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    settings: NetworkSettings,
    training: _Training,
    work: WorkFolder,
    progress: Progress | None,
) -> TrainingPairs:
    kept = work.kept(_PAIRS)
    if kept is not None:
        return TrainingPairs.of(*kept)
    from deltableu.judges.log_pairs import read_training_pairs

    which: dict[str, Any]
    if isinstance(training, RuberTraining):
        which = {"several": False, "other": training.max_pairs}
    else:
        which = {"max_responses": training.max_responses}
    made = read_training_pairs(
        partitions,
        vocabulary,
        validation=training.validation,
        seed=training.seed,
        max_length=settings.max_length,
        tell=log_teller(progress, "pairs", partitions, 2),
        **which,
    )
    work.keep(_PAIRS, made.arrays(), asdict(made.counts))
    return made
