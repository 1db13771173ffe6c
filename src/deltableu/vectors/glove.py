"""Logs in, word vectors out."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from pathlib import Path

import numpy as np

from deltableu._types import BytesRead, Progress
from deltableu._version import __version__
from deltableu.errors import InputError, Problem
from deltableu.io import PathLike, WorkFolder, fingerprint
from deltableu.logs import Logs, Partition, find_partitions
from deltableu.text import WordRule, WordVectors
from deltableu.vectors.cooccurrence import Cooccurrences, PairTable, merge_counts
from deltableu.vectors.strata import Entries, arrange
from deltableu.vectors.training import Model
from deltableu.vectors.vocabulary import CountedWords, count_words, texts_of

_WORDS = WordRule()
#: What words without a vector get, as the authors' program calls it.
UNKNOWN = "<unk>"
#: Its vector is the mean of those of so many of the rarest words.
_RAREST = 100
#: What is kept in a work folder: the counts, and where training was.
_COUNTED, STATE = "counted", "state"
_MOST = {"dimension": 10_000, "window": 1_000}


@dataclass(frozen=True, slots=True)
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
    kept : bool
        Whether an earlier run did it, with which this one goes on.
    """

    number: int
    of: int
    loss: float
    words: int
    tokens: int
    steps: int
    seconds: float
    kept: bool = False


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
    save: Callable[[WordVectors], None] | None = None,
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
        Numbers per vector.
    window
        A word counts 1/d for another one d words away, up to this distance, on both sides.
    min_count, max_vocabulary
        Words occur so often, and there are at most so many.
    x_max, alpha
        f(x) = min(1, (x / x_max)^alpha) weighs a co-occurrence count.
    learning_rate
        The learning rate of AdaGrad.
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
        A folder for that and for checkpoints: after being killed, the same call goes on after the
        last epoch that was done. They are removed at the end. By default nothing is kept, and the
        rest goes to the system's folder for temporary files.
    progress
    on_epoch
        Called after each epoch, and first with those of the run that this one goes on with.
    save
        Called with the vectors before checkpoints are removed, to write them.

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
    rule = WordRule(tokenize)
    partitions = find_partitions(logs)
    settings = (dimension, window, min_count, max_vocabulary, x_max, alpha, learning_rate)
    described = f"vectors {__version__} {settings} {epochs} {seed} {tokenize}"
    kept = WorkFolder(work, fingerprint((described, *(one.fingerprint for one in partitions))))
    workers = threads or os.cpu_count() or 1
    with kept.worth_keeping(STATE):

        def count(folder: Path) -> _Corpus:
            vocabulary, counts = count_cooccurrences(
                partitions,
                window=window,
                min_count=min_count,
                max_vocabulary=max_vocabulary,
                rule=rule,
                threads=workers,
                memory=memory,
                folder=folder,
                progress=progress,
            )
            entries = arrange(counts, x_max=x_max, alpha=alpha, memory=memory, folder=folder)
            return _Corpus(vocabulary.words, vocabulary.tokens, entries)

        with _counted(kept, count) as corpus:
            model = Model(len(corpus.words), dimension, learning_rate, seed)
            run = _Run(corpus, model, kept, epochs, on_epoch)
            run.train(workers, progress)
        made = _with_unknown(corpus.words, model, rule)
        if save is not None:
            save(made)
    kept.end()
    return made


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What is learnt from."""

    words: tuple[str, ...]
    tokens: int
    entries: Entries


@contextmanager
def _counted(work: WorkFolder, count: Callable[[Path], _Corpus]) -> Iterator[_Corpus]:
    """The corpus, as it was counted by an earlier run or is now."""
    found = _kept_corpus(work)
    if found is None:
        with work.scratch() as folder:
            found = count(folder)
            if work.folder is None:
                yield found
                return
            notes = {"words": found.words, "tokens": found.tokens}
            work.keep(_COUNTED, found.entries.arrays(), notes)
        # From here on it is read from where it is kept: scratch may have been as large.
        found = _kept_corpus(work) or found
    yield found


def _kept_corpus(work: WorkFolder) -> _Corpus | None:
    kept = work.kept(_COUNTED, mapped=True)
    if kept is None:
        return None
    arrays, notes = kept
    return _Corpus(tuple(notes["words"]), notes["tokens"], Entries(**arrays))


@dataclass(slots=True)
class _Run:
    """Epochs, from the beginning or from the last one that was done."""

    corpus: _Corpus
    model: Model
    work: WorkFolder
    epochs: int
    on_epoch: Callable[[VectorEpoch], None] | None
    done: list[VectorEpoch] = field(default_factory=list)

    def train(self, workers: int, progress: Progress | None) -> None:
        self._go_on()
        entries = self.corpus.entries
        sizes = (len(self.corpus.words), self.corpus.tokens, entries.steps)
        for number in range(len(self.done), self.epochs):
            started = time.perf_counter()
            tell = _meter(progress, f"epoch {number + 1} of {self.epochs}", len(entries.pairs))
            loss = self.model.learn(entries, number, workers, tell)
            seconds = time.perf_counter() - started
            self.done.append(VectorEpoch(number + 1, self.epochs, loss, *sizes, seconds))
            self.work.keep(STATE, self.model.state(), {"done": [asdict(one) for one in self.done]})
            self._tell(self.done[-1])

    def _go_on(self) -> None:
        kept = self.work.kept(STATE)
        if kept is None:
            return
        self.model.restore(kept[0])
        self.done = [VectorEpoch(**one) for one in kept[1]["done"]]
        for epoch in self.done:
            self._tell(replace(epoch, kept=True))

    def _tell(self, epoch: VectorEpoch) -> None:
        if self.on_epoch is not None:
            self.on_epoch(epoch)


def count_cooccurrences(
    partitions: Sequence[Partition],
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


def _with_unknown(words: Sequence[str], model: Model, rule: WordRule) -> WordVectors:
    vectors = model.vectors()
    unknown = vectors[-_RAREST:].mean(axis=0, dtype=np.float64).astype(np.float32)
    rows = {word: row for row, word in enumerate((*words, UNKNOWN))}
    numbers = np.concatenate((vectors, unknown[np.newaxis]))
    return WordVectors(rows, numbers, rule.tokenize)


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


def _check(seed: int, **counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and not isinstance(value, Integral):
            raise InputError(Problem(f"must be a whole number, got {value!r}", field=name))
        if value is not None and value < 1:
            raise InputError(Problem(f"must be 1 or more, got {value}", field=name))
        if value is not None and value > (most := _MOST.get(name, value)):
            raise InputError(Problem(f"must be at most {most:,}, got {value}", field=name))
    if seed < 0:
        raise InputError(Problem(f"must not be negative, got {seed}", field="seed"))
