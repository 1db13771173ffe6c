"""Populations whose truth is known: 20,000 rows of two systems, from which samples are drawn.

How the two systems relate:

- exchangeable: each pair of outputs is in the pool in both orders, so that nothing tells the
  systems apart;
- equal: the two have the same score in the pool, but distributions of their own;
- different: one is better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from deltableu.compare.observations import Observations, observe
from deltableu.score.engine.encoding import Encoded
from deltableu.score.engine.statistics import Statistics
from deltableu.score.metrics.bleu import BLEU
from deltableu.score.metrics.delta_bleu import DeltaBLEU
from deltableu.stats.resampling import stream
from simulations.texts import Quality, Writer

__all__ = [
    "BOTH_0",
    "EQUAL",
    "POOL",
    "PROFILE",
    "RELATIONS",
    "SHORTER",
    "Population",
    "populations",
]

Array = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

POOL = 20_000
EQUAL = "equal, B more variable"
SHORTER = "equal, B shorter"
PROFILE = "equal, B right in bits"
BOTH_0 = "both 0"
_SEED = 20_040_702


@dataclass(frozen=True, eq=False)
class Population(ABC):
    """Two systems, A and B, on the same items.

    Attributes
    ----------
    relation : str
        How the two systems relate.
    """

    relation: str

    @abstractmethod
    def systems(self, chosen: Ints | slice) -> Mapping[str, Any]:
        """The two systems on some of the items."""

    def observe(self, chosen: Ints | slice) -> Observations:
        """What is seen of them there."""
        (found,) = observe(self.systems(chosen))
        return found

    @cached_property
    def size(self) -> int:
        """Items of the pool."""
        return len(self.observe(slice(None)).items)

    @cached_property
    def truth(self) -> Array:
        """The two scores of the whole pool."""
        return self.observe(slice(None)).scores()

    @cached_property
    def by_difference(self) -> Ints:
        """The items, from those best for B to those best for A."""
        exchange = self.observe(slice(None)).exchange
        if exchange is None:
            raise TypeError(f"{self.relation}: nothing can be exchanged")
        return np.argsort(exchange.influences[0] - exchange.influences[1], kind="stable")

    def draw_groups(self, owners: Ints, correlation: float, rng: np.random.Generator) -> Ints:
        """Items of groups: what tells the systems apart correlates within each.

        Places among the sorted items are drawn, which those of a group share in part.
        """
        from scipy.special import ndtr

        shared = rng.normal(size=int(owners.max()) + 1)[owners]
        own = rng.normal(size=len(owners))
        latent = correlation**0.5 * shared + (1.0 - correlation) ** 0.5 * own
        places = np.minimum(ndtr(latent), 1.0 - 1e-12) * self.size
        return np.asarray(self.by_difference[places.astype(np.int64)])


@dataclass(frozen=True, eq=False)
class TextPopulation(Population):
    """Rows of statistics of a metric."""

    first: Statistics
    second: Statistics

    def systems(self, chosen: Ints | slice) -> dict[str, Statistics]:
        return {"A": self.first[chosen], "B": self.second[chosen]}


@dataclass(frozen=True, eq=False)
class ScorePopulation(Population):
    """Scores of segments; a system's score is their mean."""

    first: Array
    second: Array

    def systems(self, chosen: Ints | slice) -> dict[str, list[float]]:
        return {"A": self.first[chosen].tolist(), "B": self.second[chosen].tolist()}


@cache
def populations(data: str) -> Mapping[str, Population]:
    """All populations of one kind of data, by how the systems relate."""
    return {one.relation: one for one in _MAKERS[data]()}


@cache
def _bleu() -> list[TextPopulation]:
    writer = Writer(POOL, 15, _SEED)
    metric = BLEU(tokenize="none")
    encoded = metric.encode([[text] for text in writer.references()])

    def rows(quality: Quality, key: int) -> Statistics:
        return metric.statistics(writer.outputs(quality, key), encoded)

    steady = rows(Quality(0.35, 0.2), 0)
    better = rows(Quality(0.45, 0.2), 1)
    wild = _equal(steady, rows(Quality(0.3, 1.0), 2), rows(Quality(0.0, 1.0), 3))
    terse = _equal(
        steady,
        rows(Quality(0.75, 0.2, dropped=0.15, added=0.0), 4),
        rows(Quality(0.55, 0.2, dropped=0.15, added=0.0), 5),
    )

    def other(texts: list[str]) -> Statistics:
        return metric.statistics(texts, encoded)

    bits = other(writer.shuffled(3, 6))
    runs = _even(bits, lambda share, key: other(writer.beginnings(share, key)))
    return [
        _exchangeable(steady, better),
        TextPopulation(EQUAL, steady, wild),
        TextPopulation(SHORTER, steady, terse),
        TextPopulation(PROFILE, runs, bits),
        TextPopulation("different", steady, better),
    ]


@dataclass(frozen=True, eq=False)
class _Dialogue:
    """Short answers with references that people rated, some of them badly."""

    writer: Writer
    metric: DeltaBLEU
    encoded: Encoded
    worst: list[str]

    def rows(self, quality: Quality, key: int) -> Statistics:
        return self.metric.statistics(self.writer.outputs(quality, key), self.encoded)


@cache
def _dialogue() -> _Dialogue:
    writer = Writer(POOL, 9, _SEED + 1)
    rng = stream(_SEED, 1)
    good = [writer.outputs(Quality(0.3, 0.8), key) for key in (10, 11, 12)]
    bad = [writer.outputs(Quality(-1.2, 0.5), key) for key in (13, 14, 15)]
    # Means of five answers on a scale of five, moved to [-1, 1].
    weights = np.concatenate(
        (
            rng.integers(4, 11, size=(POOL, 1)),
            rng.integers(-2, 10, size=(POOL, 3)),
            rng.integers(-10, 0, size=(POOL, 3)),
        ),
        axis=1,
    )
    metric = DeltaBLEU(tokenize="none")
    references = [list(texts) for texts in zip(writer.references(), *good, *bad, strict=True)]
    return _Dialogue(writer, metric, metric.encode(references, (weights / 10.0).tolist()), bad[0])


def _delta_bleu() -> list[TextPopulation]:
    dialogue = _dialogue()
    steady = dialogue.rows(Quality(-0.4, 0.2), 0)
    better = dialogue.rows(Quality(-0.2, 0.2), 1)
    # Sometimes right, sometimes what people rated badly.
    bad = dialogue.metric.statistics(dialogue.worst, dialogue.encoded)
    wild = _equal(steady, dialogue.rows(Quality(0.2, 1.0), 2), bad)

    def other(texts: list[str]) -> Statistics:
        return dialogue.metric.statistics(texts, dialogue.encoded)

    writer = dialogue.writer
    bits = other(writer.shuffled(1, 6))
    runs = _even(bits, lambda share, key: other(writer.beginnings(share, key)))
    return [
        _exchangeable(steady, better),
        TextPopulation(EQUAL, steady, wild),
        TextPopulation(PROFILE, runs, bits),
        TextPopulation("different", steady, better),
    ]


def _delta_bleu_near_0() -> list[TextPopulation]:
    """Systems so poor that small samples have no bigram right and score 0."""
    rows = _dialogue().rows
    steady, better = rows(Quality(-2.8, 0.2), 20), rows(Quality(-2.5, 0.2), 21)
    wild = _equal(steady, rows(Quality(-2.8, 1.0), 22), rows(Quality(-3.8, 1.0), 23))
    return [
        _exchangeable(steady, better),
        TextPopulation(EQUAL, steady, wild),
        TextPopulation("different", steady, better),
    ]


def _delta_bleu_at_0() -> list[TextPopulation]:
    """Two systems whose bigrams do as much harm as good, so that both truly score 0."""
    dialogue = _dialogue()
    bad = dialogue.metric.statistics(dialogue.worst, dialogue.encoded)

    def harmful(quality: Quality, key: int) -> Statistics:
        good = dialogue.rows(quality, key)
        order = stream(_SEED, 6, key).permutation(POOL)
        gained = (good.rows - bad.rows)[np.argsort(order), 1]
        matches = bad.rows[:, 1].sum() + np.concatenate(([0.0], np.cumsum(gained)))
        most = int(np.flatnonzero(matches <= 0.0)[-1])
        return replace(good, rows=np.where((order < most)[:, None], good.rows, bad.rows))

    return [TextPopulation(BOTH_0, harmful(Quality(-0.4, 0.5), 30), harmful(Quality(0.2, 0.5), 31))]


def _normal() -> list[ScorePopulation]:
    rng = stream(_SEED, 2)
    item, own, other = rng.normal(size=(3, POOL))
    steady = 70.0 + 10.0 * (item + 0.7 * own)
    wild = 70.0 + 10.0 * (item + 1.5 * other)
    better = 72.0 + 10.0 * (item + 0.7 * other)
    return _of_scores(steady, wild + (steady - wild).mean(), better)


def _skewed() -> list[ScorePopulation]:
    rng = stream(_SEED, 3)
    item, own, other = rng.normal(size=(3, POOL))
    steady = np.exp(0.5 * item + 0.3 * own)
    wild = np.exp(0.5 * item + 0.8 * other)
    better = 1.1 * np.exp(0.5 * item + 0.3 * other)
    return _of_scores(steady, wild * (steady.mean() / wild.mean()), better)


def _likert() -> list[ScorePopulation]:
    rng = stream(_SEED, 4)
    item, own, other = rng.normal(size=(3, POOL))

    def answers(latent: Array) -> Array:
        return np.clip(np.rint(latent), 1.0, 5.0)

    steady = answers(3.7 + 0.6 * item + 0.5 * own)
    wild = answers(4.2 + 0.6 * item + 2.0 * other)
    better = answers(3.9 + 0.6 * item + 0.5 * other)
    return _of_scores(steady, _same_sum(wild, steady.sum()), better)


def _sentence_bleu() -> list[ScorePopulation]:
    """Segment scores of BLEU without smoothing: most segments have no 4-gram right."""
    metric = BLEU(tokenize="none", smooth="none")
    found = {one.relation: one for one in _bleu()}
    steady = metric.segment_scores(found[EQUAL].first.rows)
    wild = metric.segment_scores(found[EQUAL].second.rows)
    better = metric.segment_scores(found["different"].second.rows)
    return _of_scores(steady, wild * (steady.mean() / wild.mean()), better)


def _of_scores(steady: Array, wild: Array, better: Array) -> list[ScorePopulation]:
    return [
        ScorePopulation("exchangeable", *_both_orders(steady, better)),
        ScorePopulation(EQUAL, steady, wild),
        ScorePopulation("different", steady, better),
    ]


def _exchangeable(first: Statistics, second: Statistics) -> TextPopulation:
    rows, turned = _both_orders(first.rows, second.rows)
    return TextPopulation("exchangeable", replace(first, rows=rows), replace(first, rows=turned))


def _both_orders(first: Array, second: Array) -> tuple[Array, Array]:
    """Half of the pairs, each in both orders."""
    half = slice(len(first) // 2)
    return (
        np.concatenate((first[half], second[half])),
        np.concatenate((second[half], first[half])),
    )


def _same_sum(answers: Array, total: float) -> Array:
    """The answers, as many of them moved by one as it takes to reach the sum."""
    moved = answers.copy()
    missing = int(total - answers.sum())
    step = float(np.sign(missing))
    able = np.flatnonzero((moved + step >= 1.0) & (moved + step <= 5.0))
    moved[able[: abs(missing)]] += step
    return moved


def _equal(target: Statistics, good: Statistics, bad: Statistics) -> Statistics:
    """On some items the good outputs, on the others the bad ones, so that the scores are equal."""
    aggregate: Callable[[Array], Array] = target.metric.aggregate
    aim = float(aggregate(target.rows.sum(axis=0)))

    def mixed(chosen: Bools) -> Array:
        return np.where(chosen[:, None], good.rows, bad.rows)

    order = stream(_SEED, 5).permutation(POOL)
    fewest, most = 0, POOL
    while most - fewest > 1:
        middle = (fewest + most) // 2
        above = float(aggregate(mixed(order < middle).sum(axis=0))) > aim
        fewest, most = (fewest, middle) if above else (middle, most)
    chosen = order < fewest
    # What is left is less than one item's effect: change the items whose effect is just that.
    for _ in range(5):
        rows = mixed(chosen)
        without = aggregate(rows.sum(axis=0) + mixed(~chosen) - rows)
        if abs(float(aggregate(rows.sum(axis=0))) - aim) < 1e-7:
            break
        chosen[np.argmin(np.abs(without - aim))] ^= True
    return replace(target, rows=mixed(chosen))


def _even(target: Statistics, system: Callable[[float, int], Statistics]) -> Statistics:
    """A system of nearly the same share on all items that has the target's score."""
    aim, shares = target.score().score, np.arange(0.1, 1.0, 0.02)
    above = next(k for k, share in enumerate(shares) if system(share, 7).score().score > aim)
    return _equal(target, system(shares[above], 7), system(shares[above - 1], 8))


_MAKERS: Mapping[str, Callable[[], Sequence[Population]]] = {
    "BLEU": _bleu,
    "delta-BLEU": _delta_bleu,
    "delta-BLEU near 0": _delta_bleu_near_0,
    "delta-BLEU at 0": _delta_bleu_at_0,
    "normal scores": _normal,
    "skewed scores": _skewed,
    "five-point scores": _likert,
    "sentence BLEU": _sentence_bleu,
}
#: Kinds of data, and how the systems relate in the populations of each.
RELATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_MAKERS, ("exchangeable", EQUAL, "different")),
    "BLEU": ("exchangeable", EQUAL, SHORTER, PROFILE, "different"),
    "delta-BLEU": ("exchangeable", EQUAL, PROFILE, "different"),
    "delta-BLEU at 0": (BOTH_0,),
}
