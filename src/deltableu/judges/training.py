"""Logs in, a trained NN-rater out (Tsuta et al. 2020, sections 4.2 and 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deltableu._types import Progress
from deltableu._version import __version__
from deltableu.errors import check_kind
from deltableu.io import WorkFolder, fingerprint
from deltableu.judges.epochs import STATE, Run, TrainedRater, TrainingEpoch
from deltableu.judges.neural import check_threads, need
from deltableu.judges.piece_vocabulary import piece_vocabulary
from deltableu.judges.settings import RaterSettings, TrainingSettings, check_size, preset
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.judges.vocabulary import Vocabulary, vocabulary_from_bytes
from deltableu.judges.word_vocabulary import word_vocabulary

if TYPE_CHECKING:
    from deltableu.logs import Logs, Partition


#: Seconds between two checkpoints.
PAUSE = 60.0
_VOCABULARY, _PAIRS = "vocabulary", "pairs"
#: Texts that pieces are made from.
_SAMPLE = 200_000


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
    on_epoch: Callable[[TrainingEpoch], None] | None = None,
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
        Called with each `TrainingEpoch`, also with those of the run that this one goes on with.
    """
    shape, how = preset("small")
    settings, how = settings or shape, training or how
    check_kind("settings", settings, RaterSettings)
    check_kind("training", how, TrainingSettings)
    check_threads(threads)
    check_size(settings, how.vocabulary_size)
    need("torch", "training a judge")
    need("safetensors", "training a judge")
    # Here, so that those who only rate need not wait for what reads logs.
    from deltableu.judges.learning import threads_of_torch
    from deltableu.logs import find_partitions

    partitions = find_partitions(logs)
    kept = WorkFolder(work, _key(partitions, settings, how))
    with kept.worth_keeping(STATE):
        vocabulary = _vocabulary(partitions, how, kept, progress)
        pairs = _pairs(partitions, vocabulary, settings, how, kept, progress)
        with threads_of_torch(threads):
            run = Run(settings, how, vocabulary, pairs, kept, pause, progress, on_epoch)
            made = run.train()
    if not keep_work:
        kept.end()
    return made


def _key(
    partitions: Sequence[Partition], settings: RaterSettings, training: TrainingSettings
) -> str:
    shape = f"{__version__} {settings} {training}"
    return fingerprint((shape, *(partition.fingerprint for partition in partitions)))


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
    kept = work.kept(_VOCABULARY)
    if kept is not None:
        return vocabulary_from_bytes(training.vocabulary, kept[0]["data"].tobytes())
    tell = _teller(progress, "vocabulary", partitions, 1)
    size = training.vocabulary_size
    made: Vocabulary
    if training.vocabulary == "words":
        made = word_vocabulary(partitions, size=size, tell=tell)
    else:
        made = piece_vocabulary(
            partitions, size=size, sample=_SAMPLE, seed=training.seed, tell=tell
        )
    work.keep(_VOCABULARY, {"data": np.frombuffer(made.to_bytes(), np.uint8)})
    return made


def _pairs(
    partitions: Sequence[Partition],
    vocabulary: Vocabulary,
    settings: RaterSettings,
    training: TrainingSettings,
    work: WorkFolder,
    progress: Progress | None,
) -> TrainingPairs:
    kept = work.kept(_PAIRS)
    if kept is not None:
        return TrainingPairs.of(*kept)
    from deltableu.judges.log_pairs import read_training_pairs

    made = read_training_pairs(
        partitions,
        vocabulary,
        validation=training.validation,
        seed=training.seed,
        max_length=settings.max_length,
        max_responses=training.max_responses,
        tell=_teller(progress, "pairs", partitions, 2),
    )
    work.keep(_PAIRS, made.arrays(), asdict(made.counts))
    return made
