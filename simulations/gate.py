"""False alarms and false passes of `deltableu gate`, by drawing samples from populations.

Equal systems are held against each other both ways, since a test of one side may err on one side
only. Systems that differ are held to a margin that is exactly their difference in the population:
there an alarm is false, and so is a pass of the other two modes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import Any, Literal
from zlib import crc32

import numpy as np

from deltableu.compare.gate import GatePlan, gate_systems
from deltableu.compare.gate_results import GateCheck
from deltableu.stats.resampling import stream
from deltableu.stats.sequential import spent_share
from simulations.compare import RESAMPLES, SIGNIFICANCE
from simulations.populations import (
    EQUAL,
    POOL,
    PROFILE,
    SHORTER,
    Population,
    ScorePopulation,
    TextPopulation,
    populations,
)
from simulations.replications import Outcome, Progress, replicate
from simulations.tables import Row, measured

__all__ = ["CELLS", "LOOKS", "METHODS", "SEQUENCES", "GateCell", "Looks", "simulate"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: What errs: an alarm about a system that is not worse, a pass of one that is.
METHODS = ("worse", "non-inferior", "equivalent")
LOOKS = 100
BREAKS = "equal, B rarely breaks"
_TURNS = 5
#: No bound reaches less far than this part of the normal distribution's.
_NEARLY = 0.85


@dataclass(frozen=True, slots=True)
class GateCell:
    """One population, a sample size, and whether items come in groups of five."""

    data: str
    relation: str
    n: int
    groups: bool = False

    def sampler(self) -> GateCell:
        return self

    @property
    def told(self) -> str:
        """What the table says of it."""
        return f"{self.relation}; groups of {_TURNS}" if self.groups else self.relation

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Of replication `number`: whether the gate errs, with either system as the baseline."""
        population, order, truth = _population(self.data, self.relation)
        rng = stream(seed, crc32(f"gate|{self.data}|{self.told}|{self.n}".encode()), number)
        groups = None
        if self.groups:
            count = self.n // _TURNS
            owners = np.repeat(np.arange(count), _TURNS)
            latent = 0.6 * rng.normal(size=count)[owners] + 0.8 * rng.normal(size=self.n)
            chosen = order[(_normal(latent) * len(order)).astype(np.int64)]
            groups = owners.astype(str).tolist()
        else:
            chosen = rng.integers(population.size, size=self.n)
        systems = population.systems(chosen)
        plan = GatePlan(trials=RESAMPLES, seed=int(rng.integers(1 << 62)))
        gate = gate_systems(systems, baseline="B", groups=groups, plan=plan, threads=1)
        check = gate.checks[0]
        yield from self._errors(check, abs(truth), "A on trial")
        if abs(truth) < 1e-6:
            # Exchanges know no direction: held the other way, the bounds only change their signs.
            turned = replace(check, gain=-check.gain, low=-check.high, high=-check.low)
            yield from self._errors(turned, 0.0, "B on trial")

    def _errors(self, check: GateCheck, margin: float, target: str) -> Iterator[Outcome]:
        """With B better than A by the margin, and A on trial, or with the two equal."""
        tested = not check.untested
        yield Outcome("size", "worse", target, tested and check.high < -margin)
        if margin > 1e-6:
            passes = tested and check.low > -margin
            yield Outcome("size", "non-inferior", target, passes)
            yield Outcome("size", "equivalent", target, passes and check.high < margin)


@dataclass(frozen=True, slots=True)
class Looks:
    """A hundred looks at equal systems.

    commits: at the same items, each time at another candidate, whose differences from the baseline
    correlate with those of the one before. items: at the same systems, with new items each time.
    """

    data: str
    kind: Literal["commits", "items"]
    n: int
    correlation: float = 0.0

    def sampler(self) -> Looks:
        return self

    @property
    def told(self) -> str:
        """What the table says of it."""
        if self.kind == "items":
            return f"{LOOKS} looks, {self.n} new items each"
        return f"{LOOKS} commits, correlated by {self.correlation:g}"

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Whether any of the looks raises a false alarm, with the correction and without."""
        rng = stream(seed, crc32(f"looks|{self.data}|{self.told}|{self.n}".encode()), number)
        differences = _differences(self.data)
        alarm = naive = False
        looks: list[Array] = []
        if self.kind == "items":
            every = rng.choice(differences, size=self.n * LOOKS)
            looks = [every[: self.n * look] for look in range(1, LOOKS + 1)]
        else:
            drawn = rng.integers(len(differences), size=self.n)
            for _ in range(LOOKS):
                kept = rng.random(self.n) < self.correlation
                drawn = np.where(kept, drawn, rng.integers(len(differences), size=self.n))
                looks.append(differences[drawn])
        for look, seen in enumerate(looks, start=1):
            spread = float(seen.std(ddof=1)) / len(seen) ** 0.5
            ratio = float(seen.mean()) / spread if spread > 0.0 else 0.0
            systems = {"A": np.zeros(len(seen)).tolist(), "B": seen.tolist()}
            # Bounds reach nearly as far as the normal distribution's: most looks need no exchanges.
            if not naive and ratio < -_NEARLY * _quantile(SIGNIFICANCE):
                naive = _alarms(systems, GatePlan(trials=RESAMPLES, seed=look))
            spent = spent_share(look) if self.kind == "commits" else 1.0
            if ratio >= -_NEARLY * _quantile(SIGNIFICANCE * spent):
                continue
            plan = GatePlan(
                sequential=self.kind, look=look, planned=self.n, trials=RESAMPLES, seed=look
            )
            alarm = _alarms(systems, plan)
            if alarm:
                break
        yield Outcome("size", "sequential", "any look", alarm)
        yield Outcome("size", "every look at 5%", "any look", naive or alarm)


def _alarms(systems: Mapping[str, Sequence[float]], plan: GatePlan) -> bool:
    check = gate_systems(systems, baseline="A", plan=plan, threads=1).checks[0]
    return not check.untested and not check.passed


CELLS = (
    GateCell("BLEU", "exchangeable", 50),
    GateCell("BLEU", "exchangeable", 200),
    GateCell("BLEU", EQUAL, 50),
    GateCell("delta-BLEU", EQUAL, 200),
    GateCell("BLEU", PROFILE, 200),
    GateCell("BLEU", SHORTER, 200),
    GateCell("BLEU", "different", 200),
    GateCell("delta-BLEU", "different", 200),
    GateCell("five-point scores", EQUAL, 100),
    GateCell("five-point scores", "different", 100),
    GateCell("five-point scores", "different", 1000),
    GateCell("normal scores", EQUAL, 200, groups=True),
    GateCell("delta-BLEU", EQUAL, 200, groups=True),
    GateCell("sentence BLEU", EQUAL, 100),
    # What was not chosen to do well.
    GateCell("five-point scores", "exchangeable", 8),
    GateCell("skewed scores", EQUAL, 50),
    GateCell("skewed scores", EQUAL, 200),
    GateCell("skewed scores", EQUAL, 1000),
    GateCell("rare events", BREAKS, 50),
    GateCell("rare events", BREAKS, 200),
    GateCell("rare events", BREAKS, 1000),
    GateCell("delta-BLEU near 0", EQUAL, 50),
    GateCell("delta-BLEU near 0", EQUAL, 200),
)
SEQUENCES = (
    Looks("normal scores", "commits", 200),
    Looks("five-point scores", "commits", 100, 0.9),
    Looks("five-point scores", "items", 20),
    Looks("rare events", "commits", 200),
    Looks("rare events", "items", 20),
)


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[GateCell | Looks] = (*CELLS, *SEQUENCES),
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """How often the gate errs."""
    tallies = replicate(chosen, replications, seed, processes=processes, progress=progress)
    return [
        measured(
            what,
            method,
            cell.data,
            cell.told,
            cell.n,
            target,
            SIGNIFICANCE,
            hits,
            tally.counts[what, method, target],
            # A union of looks need not spend all, nor do few items or two bounds at once.
            exact=isinstance(cell, Looks) or cell.n < 20 or method == "equivalent",
        )
        for cell, tally in zip(chosen, tallies, strict=True)
        for (what, method, target), hits in tally.hits.items()
    ]


def _quantile(significance: float) -> float:
    return NormalDist().inv_cdf(1.0 - significance)


def _normal(values: Any) -> Any:
    from scipy.special import ndtr

    return np.minimum(ndtr(values), 1.0 - 1e-12)


@cache
def _population(data: str, relation: str) -> tuple[ScorePopulation | TextPopulation, Any, float]:
    """A population, its items sorted by how they tell systems apart, and the lead of A."""
    population: Population = (
        _rare(relation) if data == "rare events" else (populations(data)[relation])
    )
    if not isinstance(population, ScorePopulation | TextPopulation):
        raise TypeError(f"{data} has no items to draw")
    exchange = population.observe(slice(None)).exchange
    if exchange is None:
        raise TypeError(f"{data} cannot be exchanged")
    apart = exchange.influences[0] - exchange.influences[1]
    first, second = population.truth.tolist()
    return population, np.argsort(apart, kind="stable"), first - second


def _rare(relation: str) -> ScorePopulation:
    """B is a little better, and on 3 items of 100 much worse."""
    rng = stream(20_040_702, 40)
    first = rng.normal(50.0, 10.0, size=POOL)
    broken = np.arange(POOL) < 0.03 * POOL
    second = first + rng.normal(0.0, 1.0, size=POOL) - 30.0 * broken
    second += first.mean() - second.mean()
    return ScorePopulation(relation, first, second)


@cache
def _differences(data: str) -> Array:
    """Of B from A, item by item, in a population in which they are equal."""
    population, _, _ = _population(data, BREAKS if data == "rare events" else EQUAL)
    if not isinstance(population, ScorePopulation):
        raise TypeError(f"{data} has no scores of items")
    apart: Array = population.second - population.first
    return np.asarray(apart - apart.mean())
