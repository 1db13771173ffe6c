"""Logs in, word vectors out."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deltableu._types import BytesRead, Progress
from deltableu.errors import InputError, Problem
from deltableu.io import PathLike
from deltableu.logs import Logs, find_partitions
from deltableu.text import WordRule, WordVectors
from deltableu.vectors.cooccurrence import Cooccurrences, PairTable, merge_counts
from deltableu.vectors.strata import arrange
from deltableu.vectors.training import Model
from deltableu.vectors.vocabulary import CountedWords, count_words, texts_of

_WORDS = WordRule()
#: What words without a vector get, as the authors' program calls it.
UNKNOWN = "<unk>"
#: Its vector is the mean of those of so many of the rarest words.
_RAREST = 100
_MOST = {"dimension": 10_000, "window": 1_000}


@dataclass(frozen=True, slots=True, eq=False)
class VectorEpoch:
    """An epoch that is done.

    Attributes
    ----------
    number, of : int
        From 1.
    loss : float
        Mean of f(X) (w . c + b + b' - log X)^2 / 2 over all X, each before its step.
    words : int
        In the vocabulary.
    tokens : int
        Words of the logs.
    steps : int
        How many X there are.
    seconds : float
        Since the epoch began.
    """

    number: int
    of: int
    loss: float
    words: int
    tokens: int
    steps: int
    seconds: float
    _vectors: Callable[[], WordVectors]

    def vectors(self) -> WordVectors:
        """The vectors as they are now; call it before the next epoch."""
        return self._vectors()


def train_vectors(
    logs: Logs,
    *,
    dimension: int = 100,
    window: int = 15,
    min_count: int = 5,
    max_vocabulary: int | None = None,
    x_max: float = 100.0,
    alpha: float = 0.75,
    learning_rate: float = 0.05,
    epochs: int = 25,
    seed: int = 0,
    tokenize: str = "words",
    threads: int | None = None,
    memory: int = 2 << 30,
    work: PathLike | None = None,
    progress: Progress | None = None,
    on_epoch: Callable[[VectorEpoch], None] | None = None,
) -> WordVectors:
    """Train GloVe vectors on the utterances and responses of logs.

    Words are those that mining compares, in small letters. Words that are too rare are taken out of
    the texts before distances are counted, as by the authors' program. Nothing is counted across
    texts.

    Parameters
    ----------
    logs
        As `find_partitions` takes them; they are read twice.
    dimension
        Numbers a vector.
    window
        A word counts 1/d for another one d words away, up to this distance, on both sides.
    min_count, max_vocabulary
        Words occur so often, and there are at most so many.
    x_max, alpha
        f(x) = min(1, (x / x_max)^alpha) weighs a co-occurrence count.
    learning_rate
        Of AdaGrad.
    epochs
        Passes over all co-occurrence counts.
    seed
        The same seed gives the same vectors to the bit, whatever `threads` and `memory`.
    tokenize
        What a word is (`deltableu.text.WordRule`); the vectors remember it.
    threads
        All cores by default; more than 16 have nothing to do.
    memory
        Bytes for co-occurrence counts; the rest of them goes to disk. Vectors come on top: 16 bytes
        for each number of each word.
    work
        The folder for that; by default the system's for temporary files.
    progress
    on_epoch
        Called after each epoch.

    Returns
    -------
    WordVectors
        Words by falling frequency, each with the sum of its main and context vector; then "<unk>",
        the mean of the 100 rarest.

    References
    ----------
    Pennington, Socher and Manning (2014), "GloVe: Global Vectors for Word Representation".

    Examples
    --------
    >>> pairs = [("tea or coffee", "some tea please"), ("tea or milk", "some milk please")]
    >>> vectors = train_vectors(pairs, dimension=4, min_count=2, epochs=2)
    >>> list(vectors.rows)
    ['tea', 'milk', 'or', 'please', 'some', '<unk>']
    """
    _check(
        seed,
        dimension=dimension,
        window=window,
        min_count=min_count,
        max_vocabulary=max_vocabulary,
        epochs=epochs,
        threads=threads,
        memory=memory,
    )
    for value, name in ((x_max, "x_max"), (alpha, "alpha"), (learning_rate, "learning_rate")):
        if not (math.isfinite(value) and value > 0):
            raise InputError(Problem(f"must be a number above 0, got {value}", field=name))
    workers = threads or os.cpu_count() or 1
    with _scratch(work) as folder:
        vocabulary, counts = count_cooccurrences(
            logs,
            window=window,
            min_count=min_count,
            max_vocabulary=max_vocabulary,
            rule=WordRule(tokenize),
            threads=workers,
            memory=memory,
            folder=folder,
            progress=progress,
        )
        entries = arrange(counts, x_max=x_max, alpha=alpha, memory=memory, folder=folder)
        del counts
        model = Model(len(vocabulary), dimension, learning_rate, seed)

        def made() -> WordVectors:
            return _with_unknown(vocabulary, model)

        steps = entries.steps
        for number in range(epochs):
            started = time.perf_counter()
            tell = _meter(progress, f"epoch {number + 1} of {epochs}", len(entries.pairs))
            loss = model.learn(entries, number, workers, tell)
            if on_epoch is not None:
                sizes = (len(vocabulary), vocabulary.tokens, steps)
                seconds = time.perf_counter() - started
                on_epoch(VectorEpoch(number + 1, epochs, loss, *sizes, seconds, made))
        return made()


def count_cooccurrences(
    logs: Logs,
    *,
    window: int,
    min_count: int,
    max_vocabulary: int | None = None,
    rule: WordRule = _WORDS,
    threads: int = 1,
    memory: int = 2 << 30,
    folder: Path,
    progress: Progress | None = None,
) -> tuple[CountedWords, Cooccurrences]:
    """The words of logs, and how often two of them stand near each other."""
    partitions = find_partitions(logs)
    total = sum(partition.size for partition in partitions)
    vocabulary = count_words(
        partitions,
        min_count=min_count,
        most=max_vocabulary,
        rule=rule,
        tell=_meter(progress, "counting words", total),
    )
    bits = min(threads, 16).bit_length() - 1
    tables = [
        PairTable(window, memory // 2 >> bits, folder, share=share, bits=bits)
        for share in range(1 << bits)
    ]
    # Each thread sees all texts, and counts those pairs that are its own.
    with ThreadPoolExecutor(len(tables)) as pool:
        for texts in texts_of(partitions, _meter(progress, "counting pairs", total)):
            words, bounds = vocabulary.numbered(texts)
            jobs = [pool.submit(table.add, words, bounds) for table in tables]
            for job in jobs:
                job.result()
    parts = [part for table in tables for part in table.end()]
    return vocabulary, merge_counts(parts, folder, memory)


def _with_unknown(vocabulary: CountedWords, model: Model) -> WordVectors:
    vectors = model.vectors()
    unknown = vectors[-_RAREST:].mean(axis=0, dtype=np.float64).astype(np.float32)
    rows = {word: row for row, word in enumerate((*vocabulary.words, UNKNOWN))}
    numbers = np.concatenate((vectors, unknown[np.newaxis]))
    return WordVectors(rows, numbers, vocabulary.rule.tokenize)


def _meter(progress: Progress | None, what: str, total: int) -> BytesRead:
    done = 0
    lock = threading.Lock()

    def tell(more: int) -> None:
        nonlocal done
        with lock:
            done += more
            if progress is not None:
                progress(what, done, total)

    return tell


@contextmanager
def _scratch(work: PathLike | None) -> Iterator[Path]:
    if work is not None and not Path(work).is_dir():
        raise InputError(Problem("there is no such folder: make it first", file=os.fspath(work)))
    with tempfile.TemporaryDirectory(
        prefix=".vectors-", dir=work, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def _check(seed: int, **counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and value < 1:
            raise InputError(Problem(f"must be 1 or more, got {value}", field=name))
        if value is not None and value > (most := _MOST.get(name, value)):
            raise InputError(Problem(f"must be at most {most:,}, got {value}", field=name))
    if seed < 0:
        raise InputError(Problem(f"must not be negative, got {seed}", field="seed"))
