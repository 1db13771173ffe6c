"""Metrics whose score of a system is no mean: what drawing items again must make anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from deltableu._types import Ints
from deltableu.stats.resampling import stream
from deltableu.validate.levels import Measure
from deltableu.validate.system_bootstrap import SystemScores, bootstrap_systems, means_of
from simulations.replications import Outcome
from simulations.validate_populations import POOL, SETS, Array, Shape, scores

__all__ = ["SCORED", "CorpusScores", "corpus_scores"]

SCORED = ("corpus scores", "means of segments")

_MEASURE = Measure("pearson", "system", "zero", 0.0)
_RESAMPLES = 200
_SEED = 1961


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Systems that stay and all items: lengths of outputs, scores of X, Y and people."""

    lengths: Array
    x: Array
    y: Array
    human: Array


@dataclass(frozen=True, slots=True)
class CorpusScores:
    """X and Y agree equally well with people, by scores weighted by length, over all items."""

    shape: Shape
    systems: int
    n: int

    @property
    def data(self) -> str:
        return f"{self.shape}, {self.systems} systems"

    @property
    def relation(self) -> str:
        return "biased"

    def sampler(self) -> CorpusScores:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = stream(seed, crc32(f"corpus|{self.data}|{self.n}".encode()), number)
        pool = _pools(self.shape, self.systems)[number % SETS]
        chosen = rng.integers(POOL, size=self.n)
        lengths, x, y, human = (
            side[:, chosen] for side in (pool.lengths, pool.x, pool.y, pool.human)
        )
        again = int(rng.integers(1 << 62))
        sides = {
            SCORED[0]: [weighted(x, lengths), weighted(y, lengths)],
            SCORED[1]: [means_of(x), means_of(y)],
        }
        for method, metrics in sides.items():
            found = bootstrap_systems(
                metrics,
                means_of(human),
                self.n,
                measure=_MEASURE,
                resamples=_RESAMPLES,
                seed=again,
                threads=1,
            )
            yield Outcome("size", method, "system", found.p_values(0, 1)[0] < 0.05)


def weighted(values: Array, lengths: Array) -> SystemScores:
    """A corpus score: the sum of numerators over that of denominators."""

    def of_systems(counts: Ints) -> Array:
        return np.asarray((counts @ (values * lengths).T) / (counts @ lengths.T))

    return of_systems


@lru_cache(maxsize=2)
def _pools(shape: Shape, systems: int) -> tuple[_Pool, ...]:
    return tuple(_pool(stream(_SEED, number), shape, systems) for number in range(SETS))


def _pool(rng: np.random.Generator, shape: Shape, systems: int) -> _Pool:
    from scipy.optimize import brentq

    size = (systems, POOL)
    outputs = rng.normal(size=(systems, 1)) + rng.normal(size=POOL) + rng.normal(size=size)
    human = scores(outputs + 0.7 * rng.normal(size=size), shape)
    log_length = 0.5 * rng.normal(size=size)
    lengths = np.exp(log_length)
    biases = rng.normal(size=(3, systems, 1))
    # X likes long outputs of some systems and short ones of others.
    x = scores(outputs + 0.5 * biases[0] + biases[1] * log_length + rng.normal(size=size), shape)
    noisy = outputs + 1.5 * rng.normal(size=size)
    once = np.ones((1, POOL), np.int64)

    def agree(values: Array) -> float:
        return float(np.corrcoef(weighted(values, lengths)(once)[0], human.mean(axis=1))[0, 1])

    aim = agree(x)

    def apart(much: float) -> float:
        return agree(scores(noisy + much * biases[2], shape)) - aim

    reach = next((much for much in (0.5, 1.0, 2.0, 4.0, -1.0, -4.0) if apart(much) < 0.0), None)
    if reach is None:  # this direction of bias does no harm: try another
        return _pool(rng, shape, systems)
    y = scores(noisy + brentq(apart, 0.0, reach, xtol=1e-9) * biases[2], shape)
    return _Pool(lengths, x, y, human)


def corpus_scores() -> list[CorpusScores]:
    """All that is simulated of corpus scores."""
    return [
        CorpusScores(shape, systems, n)
        for shape in ("normal", "skewed")
        for systems, n in ((6, 50), (10, 50), (10, 200))
    ]
