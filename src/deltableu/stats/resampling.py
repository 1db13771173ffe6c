"""Rows in, sums of random samples of them out: the bootstrap and random exchanges.

Trials are made in chunks with a random stream of their own, so that results depend on the seed
alone and not on the number of threads, and memory does not grow with the number of trials.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Bools, Bytes, Ints, Ints32, Steps

#: Drawn row numbers held in memory at once, per thread.
_DRAWS = 4_000_000
#: Rows that are added to the sums of all trials of a chunk before the next ones are.
_TILE = 64
#: Bytes of choices held in memory at once, per thread.
_CHOICES = 8_000_000
_LARGEST_CHUNK = 1024
#: Columns whose subsets of eight rows are held in the cache.
_WIDTH = 32
_EXCHANGES = 1  # its random streams differ from the bootstrap's

_kernel = _kernels.load("stats._resampling")

Made = TypeVar("Made")


def stream(seed: int, *key: int) -> np.random.Generator:
    """A random stream of its own for each key: equal for equal seeds, else independent."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def choice_streams(size: int, trials: int, seed: int) -> Iterator[Bools]:
    """The subsets that `chosen_sums` takes, a trial a row, chunk by chunk."""
    for number, (first, last) in enumerate(_chunks(trials, _choices_chunk(size))):
        choices = choose_subsets(size, last - first, seed, number)
        yield np.unpackbits(choices, axis=1, count=size, bitorder="little").astype(bool)


def bootstrap_sums(
    rows: Array,
    trials: int,
    seed: int,
    *,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Array:
    """Sums of as many rows as there are, drawn with replacement; a trial a row.

    Columns that belong together (those of several systems) share their draws: they stay paired.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)

    def work(number: int, first: int, last: int) -> Array:
        draws = _draw(len(rows), last - first, seed, number)
        sums = np.zeros((last - first, rows.shape[1]))
        _kernel.sum_counted(rows, draws, np.zeros_like(draws), sums, _TILE)
        return sums

    return in_chunks(work, trials, _draws_chunk(len(rows)), threads, progress)


def bootstrap_counts(size: int, trials: int, seed: int) -> Ints:
    """How often `bootstrap_sums` draws each row; a trial a row."""
    chunks = enumerate(_chunks(trials, _draws_chunk(size)))
    parts = [_draw(size, last - first, seed, number) for number, (first, last) in chunks]
    return draw_counts(np.concatenate(parts), size)


def draw_counts(draws: Ints | Ints32, size: int) -> Ints:
    """How often each place was drawn, for each row of draws."""
    places = draws + size * np.arange(len(draws))[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=size * len(draws)).reshape(-1, size)


def chosen_sums(
    rows: Array,
    trials: int,
    seed: int,
    *,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Array:
    """Sums of the rows of random subsets, each row in with probability one half; a trial a row."""
    rows = np.ascontiguousarray(rows, dtype=np.float64)

    def work(number: int, first: int, last: int) -> Array:
        return sum_subsets(rows, choose_subsets(len(rows), last - first, seed, number))

    return in_chunks(work, trials, _choices_chunk(len(rows)), threads, progress)


def assigned_sums(rows: Array, units: Ints32, count: int) -> Array:
    """Sums of the rows of each unit, trials x units x columns.

    Parameters
    ----------
    rows
        Rows x columns.
    units
        The number of each row's unit in each trial, trials x rows; -1 is in none.
    count
        Units per trial.

    Examples
    --------
    >>> assigned_sums(np.array([[1.0], [2.0], [4.0]]), np.array([[1, 0, 1]], np.int32), 2).tolist()
    [[[2.0], [5.0]]]
    """
    sums = np.zeros((len(units), count, rows.shape[1]))
    _kernel.sum_assigned(np.ascontiguousarray(rows, dtype=np.float64), units, sums, _TILE)
    return sums


def random_orders(generator: np.random.Generator, trials: int, size: int) -> Ints32:
    """The numbers from 0 on in random order, a trial a row.

    Places are drawn from 32 bits: no order is more likely than another by more than size / 2**32.

    Examples
    --------
    >>> sorted(random_orders(stream(0), 1, 5)[0].tolist())
    [0, 1, 2, 3, 4]
    """
    draws = generator.integers(2**32, size=(trials, size), dtype=np.int64)
    orders = np.zeros((trials, size), dtype=np.int32)
    _kernel.shuffle_rows(orders, draws)
    return orders


def all_choices(rows: Array) -> Array:
    """Sums of the rows of every subset, the empty one first: 2 to the number of rows of them."""
    return sum_subsets(rows, all_subsets(len(rows), 0, 1 << len(rows)))


def sum_subsets(rows: Array, subsets: Bytes) -> Array:
    """Sums of the rows of subsets, a subset a row: a bit a row, eight rows a byte."""
    sums = np.zeros((len(subsets), rows.shape[1]))
    given = np.ascontiguousarray(rows, dtype=np.float64)
    _kernel.sum_chosen(given, subsets, np.empty((256, _WIDTH)), sums)
    return sums


def all_subsets(size: int, begin: int, end: int) -> Bytes:
    """Some of the 2^size subsets of so many rows, in the order of binary numbers."""
    numbers = np.arange(begin, end, dtype="<u8")
    return np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, 8)[:, : (size + 7) // 8])


def _draw(size: int, trials: int, seed: int, number: int) -> Ints32:
    return stream(seed, 0, number).integers(size, size=(trials, size), dtype=np.int32)


def chosen_subsets(size: int, trials: int, seed: int) -> Bytes:
    """The subsets that `chosen_sums` takes, as `sum_subsets` does."""
    chunks = enumerate(_chunks(trials, _choices_chunk(size)))
    parts = [choose_subsets(size, last - first, seed, number) for number, (first, last) in chunks]
    return np.concatenate(parts)


def choose_subsets(size: int, trials: int, seed: int, number: int) -> Bytes:
    """Random subsets of so many rows, each row in with probability one half."""
    blocks = (size + 7) // 8
    choices = stream(seed, _EXCHANGES, number).bytes(trials * blocks)
    return np.frombuffer(choices, np.uint8).reshape(trials, blocks)


def _choices_chunk(size: int) -> int:
    return max(8, min(_LARGEST_CHUNK, 8 * _CHOICES // size))


def _draws_chunk(size: int) -> int:
    return max(1, min(_LARGEST_CHUNK // 4, _DRAWS // size))


def _chunks(trials: int, chunk: int) -> list[tuple[int, int]]:
    return [(first, min(first + chunk, trials)) for first in range(0, trials, chunk)]


def in_chunks(
    work: Callable[[int, int, int], Array],
    trials: int,
    chunk: int,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Array:
    """All trials, in chunks that have random streams of their own: threads change nothing.

    `work` is called with the number of the chunk, its first trial and the one after its last.
    """
    pieces = _chunks(trials, chunk)
    told = None if progress is None else lambda done, _: progress(pieces[done - 1][1], trials)
    return np.concatenate(
        in_threads(lambda number: work(number, *pieces[number]), len(pieces), threads, told)
    )


def in_threads(
    work: Callable[[int], Made],
    number: int,
    threads: int | None = None,
    progress: Steps | None = None,
) -> list[Made]:
    """What `work` makes of 0, 1, ... up to a number, in this order; threads are one a core."""
    workers = min(threads or os.cpu_count() or 1, number)
    if workers <= 1:
        return list(_told(map(work, range(number)), number, progress))
    with ThreadPoolExecutor(workers) as pool:
        return list(_told(pool.map(work, range(number)), number, progress))


def _told(results: Iterator[Made], number: int, progress: Steps | None) -> Iterator[Made]:
    for done, result in enumerate(results, start=1):
        if progress is not None:
            progress(done, number)
        yield result
