"""Systems, items, people and metrics whose true agreement is known.

An output is as good as its system, its item and its own luck make it. People see that through
noise. A metric sees it through more noise, and may have a bias of its own for each system.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from deltableu.stats.correlation import Method, correlate
from deltableu.stats.resampling import stream
from deltableu.validate.levels import Level, agreement

__all__ = ["BIAS", "LEVELS", "POOL", "SETS", "Items", "Shape", "Table", "item_pools", "true_value"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Shape = Literal["normal", "skewed"]

LEVELS: tuple[Level, ...] = ("system", "pooled", "item")
#: Standard deviation of a biased metric's bias for a system; that of the systems' quality is 1.
BIAS = 0.5
#: Items that the fixed systems have answered, and how many such sets of systems there are.
POOL = 20_000
SETS = 10

_PEOPLE, _METRIC = 0.7, 1.5
#: Scores are exp(this times the normal ones): their spread is about as large as their mean.
_SKEW = 0.4
_SEED = 1959
_TRUTH, _SYSTEMS = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Scores of two metrics and people, systems x items."""

    x: Array
    y: Array
    human: Array


@dataclass(frozen=True, slots=True, eq=False)
class Latent:
    """Normal scores of a metric without bias, and of people."""

    metrics: Array
    human: Array

    @classmethod
    def of(
        cls,
        rng: np.random.Generator,
        quality: Array,
        items: int,
        metrics: int,
        *,
        own: bool = False,
    ) -> Latent:
        """With `own`, each output has an item of its own."""
        size = (len(quality), items)
        item = rng.normal(size=size if own else items)
        outputs = quality[:, np.newaxis] + item + rng.normal(size=size)
        human = outputs + _PEOPLE * rng.normal(size=size)
        return cls(outputs + _METRIC * rng.normal(size=(metrics, *size)), human)


def scores(latent: Array, shape: Shape) -> Array:
    return latent if shape == "normal" else np.exp(_SKEW * latent)


def draw(rng: np.random.Generator, shape: Shape, bias: float, systems: int, items: int) -> Table:
    """A study with other systems and items each time; nothing tells metric X from metric Y."""
    latent = Latent.of(rng, rng.normal(size=systems), items, 2)
    biases = bias * rng.normal(size=(2, systems, 1))
    x, y = scores(latent.metrics + biases, shape)
    return Table(x, y, scores(latent.human, shape))


def unrelated(
    rng: np.random.Generator, shape: Shape, bias: float, systems: int, items: int
) -> Table:
    """The metric knows nothing of quality, but may prefer some systems to others."""
    table = draw(rng, shape, 0.0, systems, items)
    own = bias * rng.normal(size=(systems, 1)) + _METRIC * rng.normal(size=(systems, items))
    return Table(scores(own, shape), table.y, table.human)


@cache
def true_value(
    shape: Shape, bias: float, level: Level, method: Method, systems: int, items: int | None
) -> float:
    """Agreement of X over all systems, on so many items each (None: on all).

    Only at level system does it depend on the number of items, only at level item on that of
    systems.
    """
    rng = stream(_SEED, _TRUTH)
    if level == "pooled":
        quality = rng.normal(size=400_000)
        latent = Latent.of(rng, quality, 1, 1, own=True)
        metric = latent.metrics[0] + bias * rng.normal(size=(len(quality), 1))
        x, human = scores(metric[:, 0], shape), scores(latent.human[:, 0], shape)
        return float(correlate(x, human, method))
    if level == "item":
        quality = rng.normal(size=200_000 // systems * systems)
        latent = Latent.of(rng, quality, 1, 1)
        metric = latent.metrics[0] + bias * rng.normal(size=(len(quality), 1))
        # Within an item its difficulty does not matter: one is enough for all.
        x, human = (scores(side.reshape(systems, -1), shape) for side in (metric, latent.human))
        return float(agreement(x, human, method=method, level="item"))
    if items is None:
        quality = rng.normal(size=400_000)
        metric = quality + bias * rng.normal(size=len(quality))
        return float(correlate(scores(metric, shape), scores(quality, shape), method))
    found = []
    for _ in range(50):
        table = draw(rng, shape, bias, 2000, items)
        found.append(float(agreement(table.x, table.human, method=method, level="system")))
    return float(np.mean(found))


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Some systems and all items they might be tried on: nothing but items is drawn.

    Attributes
    ----------
    x, human : array
        Systems x the pool's items.
    y : dict of level to array
        Another metric that agrees exactly as well with people at that level.
    """

    x: Array
    human: Array
    y: dict[Level, Array]

    def draw(self, rng: np.random.Generator, items: int) -> dict[Level, Table]:
        """A sample of items, with each level's Y."""
        chosen = rng.integers(self.x.shape[1], size=items)
        x, human = self.x[:, chosen], self.human[:, chosen]
        return {level: Table(x, y[:, chosen], human) for level, y in self.y.items()}


@lru_cache(maxsize=1)
def item_pools(shape: Shape, bias: float, systems: int) -> tuple[Items, ...]:
    """Some sets of systems, each with the items of its pool."""
    return tuple(
        _pool(stream(_SEED, _SYSTEMS, number), shape, bias, systems) for number in range(SETS)
    )


def _pool(rng: np.random.Generator, shape: Shape, bias: float, systems: int) -> Items:
    quality = rng.normal(size=systems)
    mine, other = (_direction(rng, quality) for _ in range(2))
    latent = Latent.of(rng, quality, POOL, 2)
    human = scores(latent.human, shape)
    x, y = latent.metrics
    if not bias:
        # Each pair of scores is there in both orders.
        half = slice(POOL // 2)
        x, y = np.hstack((x[:, half], y[:, half])), np.hstack((y[:, half], x[:, half]))
        human = np.hstack((human[:, half], human[:, half]))
        return Items(scores(x, shape), human, dict.fromkeys(LEVELS, scores(y, shape)))
    x = scores(x + bias * mine, shape)
    return Items(x, human, {level: _equal(level, x, y, other, human, shape) for level in LEVELS})


def _direction(rng: np.random.Generator, quality: Array) -> Array:
    """A bias of standard deviation 1 that has nothing to do with quality, so that it only harms."""
    away = quality - quality.mean()
    bias = rng.normal(size=len(quality))
    bias -= bias.mean()
    bias -= away * (away @ bias) / (away @ away)
    return np.asarray(bias / bias.std())[:, np.newaxis]


def _equal(level: Level, x: Array, y: Array, bias: Array, human: Array, shape: Shape) -> Array:
    """Y with so much of its bias that it agrees with people exactly as well as X does."""
    from scipy.optimize import brentq

    aim = float(agreement(x, human, level=level))

    def biased(much: float) -> Array:
        return scores(y + much * bias, shape)

    def apart(much: float) -> float:
        return float(agreement(biased(much), human, level=level)) - aim

    return biased(brentq(apart, 0.0, 4.0 * BIAS, xtol=1e-10))
