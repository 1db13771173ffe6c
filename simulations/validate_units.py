"""Observation units of sentences: how often intervals of their correlations hold the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal
from zlib import crc32

import numpy as np

from deltableu._types import Ints
from deltableu.stats import ConfidenceInterval, Method, correlation_interval, stream
from deltableu.validate import (
    PairedRows,
    SummedScores,
    UnitIntervalPlan,
    UnitPlan,
    draw_units,
    unit_correlations,
)
from simulations.replications import Outcome
from simulations.validate_populations import Array

__all__ = ["UNIT_INTERVALS", "Units", "units"]

Kind = Literal["none", "weak", "strong", "biased", "ties"]

UNIT_INTERVALS = (
    "draws of items",
    "draws of dialogues",
    "Fisher, N = units",
    "Fisher, N = 2 units",
)
TURNS = 10

_METHODS: tuple[Method, ...] = ("spearman", "kendall-b")
_ASSIGNMENTS = 200
_HOW = UnitIntervalPlan()
_SEED = 1962
#: How much of an output's quality shows in its matches.
_RELATIONS: dict[Kind, float] = {
    "none": 0.0,
    "weak": 0.15,
    "strong": 0.9,
    "biased": 0.4,
    "ties": 0.3,
}


@dataclass(frozen=True, slots=True)
class Units:
    """A corpus score (matches over words) and mean ratings of three people on five points."""

    kind: Kind
    systems: int
    n: int
    size: int
    dialogues: bool = False

    @property
    def data(self) -> str:
        return f"{self.systems} systems, units of {self.size}"

    @property
    def relation(self) -> str:
        return self.kind + ", dialogues" * self.dialogues

    def sampler(self) -> Units:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = stream(seed, crc32(f"units|{self.data}|{self.relation}|{self.n}".encode()), number)
        paired = draw(rng, self, self.n)
        again = int(rng.integers(1 << 62))
        plan = UnitPlan(size=self.size, assignments=_ASSIGNMENTS, seed=again)
        found = unit_correlations(paired, plan, _METHODS, threads=1)
        codes: dict[str, Ints | None] = {"items": None}
        if self.dialogues:
            codes["dialogues"] = np.repeat(np.arange(self.n // TURNS), TURNS)
        for name, numbers in codes.items():
            drawn = draw_units(paired, plan, _METHODS, _HOW, codes=numbers, threads=1)
            for place, method in enumerate(_METHODS):
                value = float(found.mean()[0, place])
                interval = drawn.interval(0, place, value, 0.95)
                yield self._held(f"draws of {name}", method, place, interval)
        for place, method in enumerate(_METHODS):
            value = float(found.mean()[0, place])
            for name, n in (("units", found.units), ("2 units", 2 * found.units)):
                formula = correlation_interval(value, n, method, se="fisher")
                yield self._held(f"Fisher, N = {name}", method, place, formula)

    def _held(
        self, how: str, method: str, place: int, interval: ConfidenceInterval | None
    ) -> Outcome:
        truth = true_values(self)[place]
        held = interval is not None and interval.low <= truth <= interval.high
        return Outcome("coverage", how, method, held)


def draw(rng: np.random.Generator, cell: Units, items: int) -> PairedRows:
    """Rows of all pairs of systems that stay the same, on items that are drawn."""
    systems, relation = cell.systems, _RELATIONS[cell.kind]
    means = np.linspace(-0.25, 0.35, systems)[:, np.newaxis]
    taste = 0.25 * np.cos(3.0 * np.arange(systems))[:, np.newaxis] * (cell.kind == "biased")
    shape = (systems, items)
    shared, own = rng.normal(size=items), rng.normal(size=shape)
    if cell.dialogues:
        turns = np.repeat(rng.normal(size=(systems + 1, items // TURNS)), TURNS, axis=1)
        shared = np.sqrt(0.5) * (shared + turns[0])
        own = np.sqrt(0.7) * own + np.sqrt(0.3) * turns[1:]
    quality = means + 0.6 * shared + 0.8 * own
    ratings = np.clip(np.rint(3.0 + quality + 0.9 * rng.normal(size=(3, *shape))), 1.0, 5.0)
    lengths = rng.integers(2, 25, size=shape).astype(np.float64)
    start = -2.5 if cell.kind == "ties" else -0.8
    odds = start + relation * (quality - 0.3 * shared) + taste + 0.5 * rng.normal(size=shape)
    matches = rng.binomial(lengths.astype(np.int64), 1.0 / (1.0 + np.exp(-odds)))
    if cell.kind == "ties":  # no match is worth anything below two, as with long n-grams
        matches = np.maximum(matches - 2, 0)
    rows = np.stack([matches.astype(np.float64), lengths], axis=-1)
    pairs = list(combinations(range(systems), 2))
    metric = SummedScores(rows, _precision)
    people = SummedScores.of_means(ratings.mean(axis=0))
    return PairedRows.of({"m": metric}, people, pairs, np.ones((len(pairs), items), bool))


def _precision(sums: Array) -> Array:
    share: Array = sums[..., 0] / sums[..., 1]
    return share


@cache
def true_values(cell: Units) -> tuple[float, ...]:
    """On units of sentences of which each is drawn for one unit only."""
    found = []
    for number in range(4):
        paired = draw(stream(_SEED, number), cell, 50_000)
        plan = UnitPlan(size=cell.size, assignments=2)
        found.append(unit_correlations(paired, plan, _METHODS).mean()[0])
    return tuple(np.mean(found, axis=0).tolist())


def units() -> list[Units]:
    """All that is simulated of units."""
    return [
        Units("none", 5, 120, 20),
        Units("weak", 5, 40, 10),
        Units("weak", 5, 120, 20),
        Units("weak", 7, 400, 50),
        Units("strong", 5, 40, 10),
        Units("strong", 5, 120, 20),
        Units("biased", 5, 120, 20),
        Units("ties", 5, 120, 20),
        Units("ties", 4, 120, 1),
        Units("strong", 5, 200, 20, dialogues=True),
        Units("weak", 5, 400, 20, dialogues=True),
    ]
