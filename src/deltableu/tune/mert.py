"""Minimum error rate training: from many starts, line by line, to weights that score best."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from deltableu._types import Array, Steps
from deltableu.errors import InputError, check_at_least, check_choice, check_kind
from deltableu.tune.line_search import score_line
from deltableu.tune.problem import Objective, TuningProblem

Regularization = Literal["none", "l2", "l1"]

#: Less is the work of rounding.
_GAIN = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MertSettings:
    """How minimum error rate training searches.

    Parameters
    ----------
    restarts : int
        Starts: the given weights, and for the others random ones.
    directions : int, optional
        Random directions per sweep, beside that of each feature; by default as many as features.
    sweeps : int
        At most so often all directions are tried; it ends earlier where none helps.
    regularization : {"none", "l2", "l1"}
        What the distance from the starting weights costs: nothing, its square, or the sum of the
        absolute changes. Both vectors have length 1 in units of the features' spreads: only
        directions of weights matter, and their length must not.
    strength : float
        Points of score per unit of that.
    """

    restarts: int = 20
    directions: int | None = None
    sweeps: int = 50
    regularization: Regularization = "none"
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("restarts", self.restarts, 1)
        check_at_least("sweeps", self.sweeps, 1)
        if self.directions is not None:
            check_at_least("directions", self.directions, 0)
        check_choice("regularization", self.regularization, get_args(Regularization))
        check_kind("strength", self.strength, int, float)
        if not 0.0 <= self.strength < np.inf:
            raise InputError(f"strength must be a number from 0 on, got {self.strength!r}")

    def signature(self, features: int) -> str:
        """What weights depend on beside the candidates and the metric."""
        directions = features if self.directions is None else self.directions
        penalty = "none"
        if self.regularization != "none":
            penalty = f"{self.regularization}-{self.strength:g}"
        return (
            f"restarts:{self.restarts}|directions:{directions}|sweeps:{self.sweeps}"
            f"|regularization:{penalty}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Restart:
    """One of the searches.

    Attributes
    ----------
    weights : array
        Where it ended, in units of spreads, of length 1.
    path : tuple of float
        The score at its start and after every step, in points of the metric.
    objective : float
        What was maximised: more is better, and the penalty is taken off.
    tie : float
        What decides between equal objectives.
    """

    weights: Array
    path: tuple[float, ...]
    objective: float
    tie: float


class _Place(NamedTuple):
    """Weights, what they make of all candidates, and how good that is."""

    weights: Array
    totals: Array
    score: float
    objective: float
    tie: float

    def beats(self, other: _Place) -> bool:
        if self.objective > other.objective + _GAIN:
            return True
        return self.objective >= other.objective and self.tie > other.tie + _GAIN


def run_restarts(
    problem: TuningProblem,
    start: Array,
    settings: MertSettings,
    *,
    seed: int = 0,
    threads: int | None = None,
    progress: Steps | None = None,
) -> tuple[Restart, ...]:
    """Search from every start; each has randomness of its own, so threads change nothing.

    Parameters
    ----------
    problem
    start : array
        Weights in units of spreads.
    settings
    seed : int
    threads : int, optional
        All cores by default; the result does not depend on it.
    progress : callable, optional
        Called with (searches that have ended, all of them).
    """
    search = _Search(problem, start, settings)
    seeds = np.random.SeedSequence(seed).spawn(settings.restarts)
    workers = min(threads or os.cpu_count() or 1, settings.restarts)
    found: dict[int, Restart] = {}
    with ThreadPoolExecutor(workers) as pool:
        jobs = {
            pool.submit(search.run, number, np.random.default_rng(one)): number
            for number, one in enumerate(seeds)
        }
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                found[jobs[job]] = job.result()
                if progress is not None:
                    progress(done, settings.restarts)
        except BaseException:
            search.stopped = True
            pool.shutdown(cancel_futures=True)
            raise
    return tuple(found[number] for number in range(settings.restarts))


def best_restart(restarts: tuple[Restart, ...]) -> int:
    """The number of the search that ended best, the first of those that tie."""
    ends = [(one.objective, one.tie) for one in restarts]
    return ends.index(max(ends))


class _Search:
    """One direction after the other, each exactly, until none helps."""

    def __init__(self, problem: TuningProblem, start: Array, settings: MertSettings) -> None:
        self.problem = problem
        self.objective = Objective(problem.metric)
        self.settings = settings
        self.start = unit_length(start)
        self.moving = np.flatnonzero(problem.spreads > 0.0)
        self.sign = 1.0 if problem.metric.higher_is_better else -1.0
        #: Set by who does not wait for the end.
        self.stopped = False

    def run(self, number: int, rng: np.random.Generator) -> Restart:
        here = self._place(self.start if number == 0 else self._random(rng))
        path = [here.score]
        for _ in range(self.settings.sweeps):
            before = here
            for direction in self._directions(rng):
                if self.stopped:
                    break
                found = self._step(here, direction)
                if found.beats(here):
                    here = found
                    path.append(here.score)
            if here is before:
                break
        return Restart(here.weights, tuple(path), here.objective, here.tie)

    def _directions(self, rng: np.random.Generator) -> Iterator[Array]:
        """Those of all features in random order, then random ones."""
        for feature in rng.permutation(self.moving).tolist():
            direction = np.zeros(len(self.start))
            direction[feature] = 1.0
            yield direction
        more = self.settings.directions
        for _ in range(len(self.moving) if more is None else more):
            yield self._random(rng)

    def _random(self, rng: np.random.Generator) -> Array:
        """A vector that is as likely to point anywhere as elsewhere."""
        drawn = np.zeros(len(self.start))
        drawn[self.moving] = rng.normal(size=len(self.moving))
        return unit_length(drawn)

    def _step(self, here: _Place, direction: Array) -> _Place:
        """The best place along a direction."""
        line = score_line(self.problem, here.totals, self.problem.totals(direction))
        scores, ties = self.objective.values(line.sums)
        values = scores
        if self.settings.regularization != "none":
            weights = here.weights + line.steps[:, np.newaxis] * direction
            values = scores - self._penalties(weights)
        best = np.flatnonzero(values >= values.max() - _GAIN)
        best = best[ties[best] >= ties[best].max() - _GAIN]
        if values[best[0]] <= here.objective + _GAIN and ties[best].max() <= here.tie + _GAIN:
            return here
        # Of equally good places the nearest.
        step = float(line.steps[best[np.argmin(np.abs(line.steps[best]))]])
        return self._place(unit_length(here.weights + step * direction))

    def _place(self, weights: Array) -> _Place:
        """How good weights are, by the candidates that they really choose."""
        totals = self.problem.totals(weights)
        sums = self.problem.chosen_sums(self.problem.lists.best(totals))
        (value,), (tie,) = self.objective.values(sums)
        penalty = 0.0
        if self.settings.regularization != "none":
            penalty = float(self._penalties(weights[np.newaxis])[0])
        return _Place(weights, totals, self.sign * float(value), float(value) - penalty, float(tie))

    def _penalties(self, weights: Array) -> Array:
        lengths = np.linalg.norm(weights, axis=1, keepdims=True)
        apart = weights / np.where(lengths > 0.0, lengths, 1.0) - self.start
        power = 2 if self.settings.regularization == "l2" else 1
        penalties: Array = self.settings.strength * (np.abs(apart) ** power).sum(axis=1)
        return penalties


def unit_length(weights: Array) -> Array:
    """The same direction with length 1; nothing stays nothing."""
    largest = float(np.abs(weights).max(initial=0.0))
    if largest == 0.0:
        return weights
    scaled = weights / largest
    unit: Array = scaled / np.linalg.norm(scaled)
    return unit
