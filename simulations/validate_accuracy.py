"""Accuracies: how often intervals over items hold the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal
from zlib import crc32

import numpy as np

from deltableu.corpus import ScoreTable
from deltableu.stats import stream
from deltableu.validate.accuracy_draws import AccuracyDraws, DrawnAccuracy
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.scored_study import ScoredStudy
from simulations.replications import Outcome
from simulations.validate_populations import Array

__all__ = ["ACCURACIES", "Accuracies", "accuracies"]

Labels = Literal["five-point", "good or bad"]

ACCURACIES = ("acc-eq", "acc-eq-by-system", "auc", "average-precision", "pairwise-accuracy")
_SYSTEMS, _SEED, _RESAMPLES = 5, 1963, 300
#: Items of a population; pairs of outputs of a system grow with their square.
_MANY, _FEWER = 20_000, 600


@dataclass(frozen=True, slots=True)
class Accuracies:
    """Five systems; a metric is people's taste and noise of so much."""

    labels: Labels
    noise: float
    n: int

    @property
    def data(self) -> str:
        return f"{self.labels}, {_SYSTEMS} systems"

    @property
    def relation(self) -> str:
        return f"noise {self.noise:g}"

    def sampler(self) -> Accuracies:
        return self

    @property
    def methods(self) -> tuple[str, ...]:
        return ACCURACIES[2:4] if self.labels == "good or bad" else (*ACCURACIES[:2], ACCURACIES[4])

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = stream(
            seed, crc32(f"accuracies|{self.data}|{self.relation}|{self.n}".encode()), number
        )
        drawn = draw(rng, self, self.n, _RESAMPLES, int(rng.integers(1 << 62)))
        for method in self.methods:
            interval = measured(drawn, method).interval(0.95)
            truth = true_value(self.labels, self.noise, method)
            held = interval is not None and interval.low <= truth <= interval.high
            yield Outcome("coverage", method, "over all items", held)


def measured(draws: AccuracyDraws, method: str) -> DrawnAccuracy:
    match method:
        case "acc-eq":
            return draws.tied("m", "item")
        case "acc-eq-by-system":
            return draws.tied("m", "system")
        case "auc":
            return draws.labelled("m", "auc")
        case "average-precision":
            return draws.labelled("m", "average-precision")
    return draws.pairwise("m")


def draw(
    rng: np.random.Generator, cell: Accuracies, items: int, resamples: int, seed: int
) -> AccuracyDraws:
    """A study of systems that stay."""
    shape = (_SYSTEMS, items)
    quality = np.linspace(-0.4, 0.4, _SYSTEMS)[:, np.newaxis] + 0.5 * rng.normal(size=items)
    quality = quality + rng.normal(size=shape)
    people = np.clip(np.rint(3.0 + quality), 1.0, 5.0)
    if cell.labels == "good or bad":
        people = (quality > 0.5).astype(np.float64)
    metric = _table("m", quality + cell.noise * rng.normal(size=shape))
    study = ScoredStudy(metric, _table("people", people), metric, (), None)
    return AccuracyDraws(study, ValidationPlan(resamples=resamples, seed=seed), 1)


def _table(name: str, values: Array) -> ScoreTable:
    systems, items = (list(map(str, range(size))) for size in values.shape)
    return ScoreTable.from_arrays([name], systems, items, values[np.newaxis])


@cache
def true_value(labels: Labels, noise: float, method: str) -> float:
    items = _FEWER if method == "acc-eq-by-system" else _MANY
    cell = Accuracies(labels, noise, items)
    found = [
        measured(draw(stream(_SEED, number), cell, items, 2, 0), method).value
        for number in range(4)
    ]
    return float(np.mean(found))


def accuracies() -> list[Accuracies]:
    """All that is simulated of accuracies."""
    return [
        Accuracies(labels, noise, n)
        for labels in ("five-point", "good or bad")
        for noise in (0.5, 3.0)
        for n in (40, 200)
    ]
