"""False alarms, false passes and power of `deltableu gate`, by drawing samples from populations.

Equal systems are held against each other both ways, since a test of one side may err on one side
only. Systems that differ are held to a margin that is exactly their difference in the population:
there an alarm is false, and so is a pass of the other two modes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal
from zlib import crc32

import numpy as np

from deltableu.compare.gate import GatePlan, gate_systems
from deltableu.compare.gate_results import GateCheck
from deltableu.stats import log_capital
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
    populations,
)
from simulations.replications import Outcome, Progress, replicate
from simulations.tables import Row, figure, measured, pivot

__all__ = [
    "CELLS",
    "LOOKS",
    "LOSSES",
    "SEQUENCES",
    "GateCell",
    "Looks",
    "Loss",
    "simulate",
    "tables",
]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: What errs: an alarm about a system that is not worse, a pass of one that is.
MODES = ("worse", "non-inferior", "equivalent")
SEQUENTIAL = ("sequential", "every look at 5%")
LOOKS = 100
BREAKS = "equal, B rarely breaks"
RIGHT = "equal, right on other items"
_TURNS = 5
_LONG = 10
_CORRELATION = 0.36


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
        population = _population(self.data, self.relation)
        rng = stream(seed, crc32(f"gate|{self.data}|{self.told}|{self.n}".encode()), number)
        groups = None
        if self.groups:
            owners = np.repeat(np.arange(self.n // _TURNS), _TURNS)
            chosen = population.draw_groups(owners, _CORRELATION, rng)
            groups = owners.astype(str).tolist()
        else:
            chosen = rng.integers(population.size, size=self.n)
        truth = float(population.truth[0] - population.truth[1])
        plan = GatePlan(trials=RESAMPLES, seed=int(rng.integers(1 << 62)))
        check = _held(population.systems(chosen), plan, groups)
        yield from self._errors(check, abs(truth), "A on trial")
        if abs(truth) < 1e-5:
            # Exchanges know no direction: held the other way, the bounds only change their signs.
            turned = replace(check, gain=-check.gain, low=-check.high, high=-check.low)
            yield from self._errors(turned, 0.0, "B on trial")

    def _errors(self, check: GateCheck, margin: float, target: str) -> Iterator[Outcome]:
        """With B better than A by the margin, and A on trial, or with the two equal."""
        tested = not check.untested
        yield Outcome("size", "worse", target, tested and check.high < -margin)
        if margin > 1e-5:
            passes = tested and check.low > -margin
            yield Outcome("size", "non-inferior", target, passes)
            yield Outcome("size", "equivalent", target, passes and check.high < margin)


@dataclass(frozen=True, slots=True)
class Looks:
    """A hundred looks at equal systems, B against A or, turned, A against B.

    commits: at the same items, each time at another candidate, whose differences from the baseline
    are the same on a share of the items. items: at the same systems, with new items each time that
    are drawn at random; or, which bets do not allow, in dialogues, or those that B is bad at first.
    """

    data: str
    kind: Literal["commits", "items"]
    n: int
    turned: bool = False
    same: float = 0.0
    order: Literal["random", "dialogues", "worst first"] = "random"

    def sampler(self) -> Looks:
        return self

    @property
    def told(self) -> str:
        """What the table says of it."""
        on_trial = "A" if self.turned else "B"
        relation = _EXTREME.get(self.data, EQUAL)
        if self.kind == "items":
            order = {"dialogues": ", in dialogues of 10", "worst first": ", the worst first"}
            new = f"so many new items at each look{order.get(self.order, '')}"
            return f"{relation}; {on_trial} on trial, {new}"
        kept = f", {self.same:.0%} of differences kept" if self.same else ""
        return f"{relation}; {on_trial} on trial, so many items for all commits{kept}"

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Whether any of the looks raises a false alarm, with bets and without."""
        rng = stream(seed, crc32(f"looks|{self.data}|{self.told}|{self.n}".encode()), number)
        differences, spread = _differences(self.data, _EXTREME.get(self.data, EQUAL), self.turned)
        if self.kind == "items":
            every = self._items(differences, rng)
            seen = [every[: self.n * look] for look in range(1, LOOKS + 1)]
            shares = [1.0] * LOOKS
        else:
            drawn = rng.integers(len(differences), size=self.n)
            seen = []
            for _ in range(LOOKS):
                kept = rng.random(self.n) < self.same
                drawn = np.where(kept, drawn, rng.integers(len(differences), size=self.n))
                seen.append(differences[drawn])
            shares = [spent_share(look) for look in range(1, LOOKS + 1)]
        alarm = any(
            _alarms(one, spread, SIGNIFICANCE * share)
            for one, share in zip(seen, shares, strict=True)
        )
        naive = any(_student(one) < SIGNIFICANCE for one in seen)
        yield Outcome("size", "sequential", "any look", alarm)
        yield Outcome("size", "every look at 5%", "any look", naive)

    def _items(self, differences: Array, rng: np.random.Generator) -> Array:
        size = self.n * LOOKS
        if self.order == "dialogues":
            owners = np.repeat(np.arange(size // _LONG), _LONG)
            population = _population(self.data, _EXTREME.get(self.data, EQUAL))
            return np.asarray(differences[population.draw_groups(owners, _CORRELATION, rng)])
        drawn = rng.choice(differences, size=size)
        if self.order == "worst first":
            # Roughly so: what can be known of items beforehand.
            return np.asarray(drawn[np.argsort(drawn + 3.0 * drawn.std() * rng.normal(size=size))])
        return np.asarray(drawn)


@dataclass(frozen=True, slots=True)
class Loss:
    """A system that is truly worse: how often each kind of gate sees it."""

    data: str
    n: int

    def sampler(self) -> Loss:
        return self

    @property
    def told(self) -> str:
        """What the table says of it: the loss, beside the spread of differences and the limits."""
        differences, spread = _differences(self.data, "different", False)
        return (
            f"worse by {-differences.mean():.2g}, standard deviation "
            f"{differences.std():.2g}, limits {spread:.3g} apart"
        )

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Whether there is an alarm."""
        rng = stream(seed, crc32(f"loss|{self.data}|{self.n}".encode()), number)
        differences, spread = _differences(self.data, "different", False)
        seen = rng.choice(differences, size=self.n)
        systems = {"A": seen.tolist(), "B": np.zeros(self.n).tolist()}
        check = _held(systems, GatePlan(trials=RESAMPLES, seed=number))
        yield Outcome("power", "one look", "alarm", not check.untested and not check.passed)
        for method, share in _SPENT.items():
            alarm = _alarms(seen, spread, SIGNIFICANCE * share)
            yield Outcome("power", method, "alarm", alarm)


_SPENT = {"items": 1.0, **{f"commits, look {look}": spent_share(look) for look in (1, 10, 100)}}


def _held(systems: Any, plan: GatePlan, groups: list[str] | None = None) -> GateCheck:
    gate = gate_systems(systems, baseline="B", groups=groups, plan=plan, threads=1)
    return gate.checks[0]


def _alarms(differences: Array, spread: float, significance: float) -> bool:
    """Whether a sequential gate does, as tests/compare/test_gate.py holds the gate to."""
    aim = -math.log(significance)
    # No gambler wins more than the sum of all gains, which is far from enough most of the time.
    if -float(differences.sum()) / spread < aim:
        return False
    return float(log_capital(differences, 0.0, spread)) >= aim


def _student(differences: Array) -> float:
    """One-sided p-value of a negative mean."""
    from scipy.special import stdtr

    spread = float(differences.std(ddof=1))
    if spread == 0.0:
        return 1.0
    ratio = float(differences.mean()) / spread * math.sqrt(len(differences))
    return float(stdtr(len(differences) - 1, ratio))


CELLS = (
    GateCell("BLEU", "exchangeable", 12),
    GateCell("BLEU", "exchangeable", 50),
    GateCell("BLEU", "exchangeable", 200),
    GateCell("BLEU", EQUAL, 12),
    GateCell("BLEU", EQUAL, 50),
    GateCell("BLEU", EQUAL, 200),
    GateCell("BLEU", PROFILE, 200),
    GateCell("BLEU", SHORTER, 200),
    GateCell("delta-BLEU", "exchangeable", 50),
    GateCell("delta-BLEU", EQUAL, 50),
    GateCell("delta-BLEU", EQUAL, 200),
    GateCell("delta-BLEU", EQUAL, 1000),
    GateCell("delta-BLEU", PROFILE, 200),
    GateCell("delta-BLEU", EQUAL, 200, groups=True),
    GateCell("five-point scores", "exchangeable", 12),
    GateCell("five-point scores", EQUAL, 12),
    GateCell("five-point scores", EQUAL, 50),
    GateCell("five-point scores", EQUAL, 200),
    GateCell("normal scores", EQUAL, 12),
    GateCell("normal scores", EQUAL, 200),
    GateCell("normal scores", EQUAL, 200, groups=True),
    GateCell("sentence BLEU", EQUAL, 50),
    GateCell("sentence BLEU", EQUAL, 200),
    GateCell("right or wrong", RIGHT, 200),
    # Where a few items decide, or a score is nearly clamped.
    GateCell("skewed scores", EQUAL, 12),
    GateCell("skewed scores", EQUAL, 50),
    GateCell("skewed scores", EQUAL, 200),
    GateCell("skewed scores", EQUAL, 1000),
    GateCell("rare events", BREAKS, 50),
    GateCell("rare events", BREAKS, 200),
    GateCell("rare events", BREAKS, 1000),
    GateCell("delta-BLEU near 0", EQUAL, 50),
    GateCell("delta-BLEU near 0", EQUAL, 200),
    # At the margin.
    GateCell("BLEU", "different", 50),
    GateCell("BLEU", "different", 200),
    GateCell("delta-BLEU", "different", 200),
    GateCell("five-point scores", "different", 50),
    GateCell("five-point scores", "different", 200),
)
SEQUENCES = (
    Looks("normal scores", "commits", 200),
    Looks("five-point scores", "commits", 100),
    Looks("five-point scores", "commits", 100, same=0.9),
    Looks("sentence BLEU", "commits", 200),
    Looks("skewed scores", "commits", 200),
    Looks("skewed scores", "commits", 200, turned=True),
    Looks("rare events", "commits", 200),
    Looks("rare events", "commits", 200, turned=True),
    Looks("rare events", "commits", 1000, turned=True),
    Looks("right or wrong", "commits", 200),
    Looks("five-point scores", "items", 20),
    Looks("skewed scores", "items", 20, turned=True),
    Looks("rare events", "items", 20),
    Looks("rare events", "items", 20, turned=True),
    Looks("right or wrong", "items", 20),
    # What is not promised.
    Looks("normal scores", "items", 20, order="dialogues"),
    Looks("normal scores", "items", 20, order="worst first"),
)
LOSSES = (
    *(Loss("five-point scores", n) for n in (50, 200, 1000)),
    *(Loss("normal scores", n) for n in (200, 1000)),
    *(Loss("sentence BLEU", n) for n in (200, 1000)),
)


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[GateCell | Looks | Loss] = (*CELLS, *SEQUENCES, *LOSSES),
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """How often the gate errs, and how often it sees a loss."""
    tallies = replicate(chosen, replications, seed, processes=processes, progress=progress)
    rows = []
    for cell, tally in zip(chosen, tallies, strict=True):
        for (what, method, target), hits in tally.hits.items():
            about = (what, method, cell.data, cell.told, cell.n, target)
            count = tally.counts[what, method, target]
            if what == "power":
                rows.append(figure(*about, hits / count, count))
                continue
            # A union of looks need not spend all, nor do few items, ties, or two bounds at once.
            loose = isinstance(cell, Looks) or cell.n < 20 or cell.data == "right or wrong"
            exact = loose or method == "equivalent"
            rows.append(measured(*about, SIGNIFICANCE, hits, count, exact=exact))
    return rows


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Those of docs/how-to/gate.md."""
    sizes = [row for row in rows if row.what == "size" and row.method in MODES]
    looks = [row for row in rows if row.what == "size" and row.method in SEQUENTIAL]
    seen = [row for row in rows if row.what == "power"]
    margins = {row.null for row in sizes if row.method == "non-inferior"}
    return {
        "gate errors": pivot([row for row in sizes if row.null not in margins], ("worse",)),
        "gate margins": pivot([row for row in sizes if row.null in margins], MODES),
        "gate looks": pivot(looks, SEQUENTIAL),
        "gate power": pivot(seen, ("one look", *_SPENT)),
    }


#: How the systems relate in populations that only a gate is tried on.
_EXTREME = {"rare events": BREAKS, "right or wrong": RIGHT}


@cache
def _population(data: str, relation: str) -> Population:
    if data == "rare events":
        return _rare()
    return _right_or_wrong() if data == "right or wrong" else populations(data)[relation]


def _rare() -> ScorePopulation:
    """B is a little better, and on 3 items of 100 much worse."""
    rng = stream(20_040_702, 40)
    first = rng.normal(50.0, 10.0, size=POOL)
    broken = np.arange(POOL) < 0.03 * POOL
    second = first + rng.normal(0.0, 1.0, size=POOL) - 30.0 * broken
    second += first.mean() - second.mean()
    return ScorePopulation(BREAKS, first, second)


def _right_or_wrong() -> ScorePopulation:
    """A is wrong on 5 of 100 items, and B on as many others."""
    places = np.arange(POOL) % 100
    return ScorePopulation(RIGHT, (places >= 5).astype(float), (places < 95).astype(float))


@cache
def _differences(data: str, relation: str, turned: bool) -> tuple[Array, float]:
    """Of the system on trial from the baseline, item by item, and how far apart the limits are.

    Where the two differ, the worse one, A, is on trial.
    """
    population = _population(data, relation)
    if not isinstance(population, ScorePopulation):
        raise TypeError(f"{data} has no scores of items")
    both = np.concatenate((population.first, population.second))
    apart = population.second - population.first
    if turned or relation == "different":
        apart = -apart
    return apart, float(np.ceil(both.max()) - np.floor(both.min()))
