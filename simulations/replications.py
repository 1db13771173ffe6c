"""Runs replications in several processes and counts what came of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Protocol

from simulations.tables import What

__all__ = ["Outcome", "Progress", "Simulated", "Tally", "replicate"]

Progress = Callable[[int, int], None]
Key = tuple[What, str, str]

#: Replications that a process works on at a time; no result depends on it.
_BATCH = 250


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a test rejected or an interval covered; for exact tests, the level attainable.

    Of errors, the squared one is the `value`.
    """

    what: What
    method: str
    target: str
    hit: bool = False
    attainable: float | None = None
    value: float = 0.0


@dataclass(slots=True)
class Tally:
    """Sums of outcomes, by what, method and target, and how many there were of each."""

    hits: Counter[Key] = field(default_factory=Counter)
    counts: Counter[Key] = field(default_factory=Counter)
    values: dict[Key, float] = field(default_factory=dict)
    attainable: dict[Key, float] = field(default_factory=dict)

    def count(self, outcome: Outcome) -> None:
        key = (outcome.what, outcome.method, outcome.target)
        self.hits[key] += outcome.hit
        self.counts[key] += 1
        self.values[key] = self.values.get(key, 0.0) + outcome.value
        if outcome.attainable is not None:
            self.attainable[key] = self.attainable.get(key, 0.0) + outcome.attainable

    def add(self, other: Tally) -> None:
        self.hits.update(other.hits)
        self.counts.update(other.counts)
        for key, value in other.values.items():
            self.values[key] = self.values.get(key, 0.0) + value
        for key, level in other.attainable.items():
            self.attainable[key] = self.attainable.get(key, 0.0) + level


class Sampler(Protocol):
    """Makes replications, each from its own random stream."""

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]: ...


class Simulated(Protocol):
    """What is simulated: small enough to be sent to a process, which makes its sampler there."""

    def sampler(self) -> Sampler: ...


def replicate(
    cells: Sequence[Simulated],
    replications: int,
    seed: int,
    *,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Tally]:
    """One tally a cell; the same for any number of processes."""
    jobs = [
        (place, cell, range(first, min(first + _BATCH, replications)), seed)
        for place, cell in enumerate(cells)
        for first in range(0, replications, _BATCH)
    ]
    tallies = [Tally() for _ in cells]
    for done, (place, found) in enumerate(_worked(jobs, processes), start=1):
        tallies[place].add(found)
        if progress is not None:
            progress(done, len(jobs))
    return tallies


Job = tuple[int, Simulated, range, int]


def _worked(jobs: Sequence[Job], processes: int | None) -> Iterator[tuple[int, Tally]]:
    workers = min(processes or os.cpu_count() or 1, len(jobs))
    if workers <= 1:
        yield from map(_work, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_work, jobs)


def _work(job: Job) -> tuple[int, Tally]:
    place, cell, numbers, seed = job
    sampler = cell.sampler()
    tally = Tally()
    for number in numbers:
        for outcome in sampler.outcomes(number, seed):
            tally.count(outcome)
    return place, tally
