"""Logs in, trained responders out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from deltableu._types import Progress
from deltableu.errors import check_kind
from deltableu.io import WorkFolder
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
from deltableu.respond.neural.conversations import PASSES, Conversations, read_conversations
from deltableu.respond.neural.settings import (
    ResponderKind,
    ResponderSettings,
    ResponderTraining,
    Seq2SeqSettings,
    VHREDSettings,
    responder_preset,
)

if TYPE_CHECKING:
    from deltableu.logs import Logs, Partition

#: Seconds between two checkpoints.
PAUSE = 60.0
_CONVERSATIONS = "conversations"


def train_responder(
    logs: Logs,
    *,
    kind: ResponderKind = "seq2seq",
    settings: ResponderSettings | None = None,
    training: ResponderTraining | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    work: Path | None = None,
    keep_work: bool = False,
    pause: float = PAUSE,
    progress: Progress | None = None,
    on_epoch: Callable[[TrainingEpoch], None] | None = None,
    on_plan: Callable[[TrainingPlan], None] | None = None,
) -> TrainedModel:
    """Train a sequence-to-sequence model or VHRED on logged messages and their responses.

    Where the logs name threads, the turns before a message are known, and `settings.turns` says
    how many are read. Whole threads are held out (utterances, where there are none).

    Parameters
    ----------
    logs
        As `deltableu.mine_references` takes them.
    kind : {"seq2seq", "vhred"}
    settings, training
        By default the preset `small` of this kind.
    minutes : float, optional
        About how long it may take, reading included: where all pairs would take longer, every
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
        Loss is per word; accuracy is how often the most likely word is the true one.
    on_plan : callable, optional
        Called with the `TrainingPlan` before the first epoch.
    """
    began = time.monotonic()
    shape, how = responder_preset(kind)
    settings, training = settings or shape, training or how
    check_kind("settings", settings, VHREDSettings if kind == "vhred" else Seq2SeqSettings)
    check_kind("training", training, ResponderTraining)
    check_minutes(minutes)
    check_threads(threads)
    check_size(
        settings, training.vocabulary_size, "responder", "embedding, hidden, context or vocabulary"
    )
    need("torch", "training a responder")
    need("safetensors", "training a responder")
    # Here, so that those who only look at settings need not wait for torch and what reads logs.
    from deltableu.logs import find_partitions
    from deltableu.neural.networks import threads_of_torch
    from deltableu.respond.neural.task import ResponderTask

    partitions = find_partitions(logs)
    kept = WorkFolder(work, training_key(partitions, settings, training, minutes))
    with kept.worth_keeping(STATE):
        lowercase = {} if training.vocabulary == "words" else {"lowercase": training.lowercase}
        vocabulary = log_vocabulary(partitions, training, kept, progress, **lowercase)
        found = _conversations(partitions, vocabulary, settings, training, kept, progress)
        with threads_of_torch(threads):
            made = Run(
                ResponderTask(settings, training, vocabulary, found),
                kept,
                pause,
                minutes=minutes,
                spent=time.monotonic() - began,
                progress=progress,
                on_epoch=on_epoch,
                on_plan=on_plan,
            ).train()
    if not keep_work:
        kept.end()
    return made


def _conversations(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    settings: ResponderSettings,
    training: ResponderTraining,
    work: WorkFolder,
    progress: Progress | None,
) -> Conversations:
    kept = work.kept(_CONVERSATIONS)
    if kept is not None:
        return Conversations.of(*kept)
    made = read_conversations(
        partitions,
        vocabulary,
        turns=settings.turns,
        validation=training.validation,
        seed=training.seed,
        max_length=settings.max_length,
        max_pairs=training.max_pairs,
        tell=log_teller(progress, "conversations", partitions, PASSES),
    )
    work.keep(_CONVERSATIONS, made.arrays(), asdict(made.counts))
    return made
