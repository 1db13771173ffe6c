"""Logs in, a vocabulary out, which a killed run has kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deltableu._types import Progress
from deltableu._version import __version__
from deltableu.io import WorkFolder, fingerprint
from deltableu.neural.piece_vocabulary import piece_vocabulary
from deltableu.neural.settings import HowTrained, NetworkShape
from deltableu.neural.vocabulary import Vocabulary, vocabulary_from_bytes
from deltableu.neural.word_vocabulary import word_vocabulary

if TYPE_CHECKING:
    from deltableu.logs import Partition

_VOCABULARY = "vocabulary"
#: Texts that pieces are made from.
_SAMPLE = 200_000


def training_key(
    partitions: Sequence[Partition],
    settings: NetworkShape,
    training: HowTrained,
    minutes: float | None,
) -> str:
    """A short name of all that a trained model depends on."""
    shape = f"{__version__} {settings} {training} {minutes}"
    return fingerprint((shape, *(partition.fingerprint for partition in partitions)))


def log_teller(
    progress: Progress | None, what: str, partitions: Sequence[Partition], passes: int
) -> Callable[[int], None]:
    """Told how many bytes were read, it tells `progress` how much of the logs that is."""
    total = max(passes * sum(partition.size for partition in partitions), 1)
    done = 0

    def tell(size: int) -> None:
        nonlocal done
        done += size
        if progress is not None:
            progress(what, min(done, total), total)

    return tell


def log_vocabulary(
    partitions: Sequence[Partition],
    training: HowTrained,
    work: WorkFolder,
    progress: Progress | None,
    **pieces: Any,
) -> Vocabulary:
    """The vocabulary of logs, of words or of pieces; one that was kept is not made again.

    Parameters
    ----------
    partitions, training, work, progress
    **pieces
        Settings of `piece_vocabulary` beside size, sample and seed.
    """
    kept = work.kept(_VOCABULARY)
    if kept is not None:
        return vocabulary_from_bytes(training.vocabulary, kept[0]["data"].tobytes())
    tell = log_teller(progress, "vocabulary", partitions, 1)
    size = training.vocabulary_size
    made: Vocabulary
    if training.vocabulary == "words":
        made = word_vocabulary(partitions, size=size, tell=tell)
    else:
        made = piece_vocabulary(
            partitions, size=size, sample=_SAMPLE, seed=training.seed, tell=tell, **pieces
        )
    work.keep(_VOCABULARY, {"data": np.frombuffer(made.to_bytes(), np.uint8)})
    return made
