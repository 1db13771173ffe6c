"""Size of the tests between systems that people rated, and coverage where few outputs are rated."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np

from deltableu.corpus import RatingTable
from deltableu.errors import InputWarning
from deltableu.rate.direct_assessment import direct_assessment
from deltableu.rate.fewer_ratings import estimate_difference, estimate_quality
from deltableu.rate.mixed_effects import fit_mixed_model
from deltableu.rate.quality_fits import EstimateMethod
from deltableu.stats.resampling import stream
from simulations.replications import Outcome
from simulations.validate_populations import Array

__all__ = [
    "ESTIMATES",
    "SYSTEM_TESTS",
    "FewRatings",
    "RatedSystems",
    "few_ratings",
    "rated_systems",
]

Shape = Literal["normal", "skewed", "five-point"]
#: Who rates what: any output by any raters; a few raters most of it, and outputs by different
#: numbers of raters; or a third of the raters one system only, and a third the other.
Design = Literal["any raters", "busy raters", "partial raters"]

SYSTEM_TESTS = (
    "rank-sum, higher mean first",
    "rank-sum, doubled",
    "mixed model",
    "mixed model without tastes",
)
#: `stratified` is simulated where outputs are drawn in its strata: see estimated_quality.
ESTIMATES: tuple[EstimateMethod, ...] = ("control-variates", "ppi", "ratings")
SIGNIFICANCE = 0.05

#: Ratings of each output, each by another random rater.
_EACH = 3
_OUTPUTS = 300


def _shaped(values: Array, shape: Shape) -> Array:
    if shape == "five-point":
        return np.asarray(np.clip(np.rint(3.0 + values), 1.0, 5.0))
    return values if shape == "normal" else np.exp(0.5 * values)


@dataclass(frozen=True, slots=True)
class RatedSystems:
    """Two equal systems, whose outputs are rated by people of different strictness and taste.

    `model`: fit the mixed model; `taste`: the standard deviation of what a rater thinks of a
    system, where that of an error is 1.
    """

    shape: Shape
    raters: int
    n: int
    same_items: bool = True
    model: bool = True
    taste: float = 0.0
    design: Design = "any raters"

    @property
    def data(self) -> str:
        taste = f" with taste {self.taste:g}" if self.taste else ""
        return f"{self.shape}, {self.raters} raters{taste}"

    @property
    def relation(self) -> str:
        items = "same items" if self.same_items else "items of their own"
        return items if self.design == "any raters" else f"{items}, {self.design}"

    def sampler(self) -> RatedSystems:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = stream(seed, crc32(f"people|{self.data}|{self.relation}|{self.n}".encode()), number)
        judgements = self._judgements(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # of raters with a single rating
            found = direct_assessment(judgements)
        p_value = float(np.nanmin(found.p_values))
        p_values = {SYSTEM_TESTS[0]: p_value, SYSTEM_TESTS[1]: 2.0 * p_value}
        if self.model:
            p_values[SYSTEM_TESTS[2]] = float(fit_mixed_model(judgements).p_values[0, 1])
        if self.model and self.taste and self.design == "any raters":
            bare = fit_mixed_model(judgements, tastes=False)
            z = abs(bare.differences[0, 1]) / bare.difference_errors[0, 1]
            p_values[SYSTEM_TESTS[3]] = math.erfc(z / math.sqrt(2.0))
        for method, p_value in p_values.items():
            yield Outcome("size", method, "two systems", p_value < SIGNIFICANCE)

    def _judgements(self, rng: np.random.Generator) -> RatingTable:
        items = self.n if self.same_items else 2 * self.n
        system, place = (one.ravel() for one in np.mgrid[:2, : self.n])
        item = place if self.same_items else place + system * self.n
        effects = rng.normal(size=items)[item] + rng.normal(size=2 * self.n)
        keys = rng.random((2 * self.n, self.raters))
        if self.design == "busy raters":
            keys **= 1.0 / np.arange(1, self.raters + 1)
        elif self.design == "partial raters":
            # Those of the first third see the first system only, those of the next the second.
            group = 3 * np.arange(self.raters) // self.raters
            keys[(group == 1 - system[:, None]) & (group < 2)] = 2.0
        rater = np.argsort(keys, axis=1)[:, :_EACH].ravel()
        latent = np.repeat(effects, _EACH) + rng.normal(size=2 * self.n * _EACH)
        latent += rng.normal(size=self.raters)[rater]
        if self.taste:
            tastes = rng.normal(0.0, self.taste, (self.raters, 2))
            latent += tastes[rater, np.repeat(system, _EACH)]
        values = _shaped(latent, self.shape)
        made = RatingTable(
            tuple(f"r{one}" for one in range(self.raters)),
            tuple(f"i{one}" for one in range(items)),
            ("A", "B"),
            rater,
            np.repeat(item, _EACH),
            np.repeat(system, _EACH),
            values,
            np.zeros(len(values), np.int64),
        )
        return made[rng.random(len(made)) < 0.8] if self.design == "busy raters" else made


@dataclass(frozen=True, slots=True)
class FewRatings:
    """Some outputs of one or two systems are rated, and a metric is known for all."""

    shape: Shape
    n: int

    @property
    def data(self) -> str:
        return f"{self.shape} ratings"

    @property
    def relation(self) -> str:
        return f"metric on {_OUTPUTS}"

    def sampler(self) -> FewRatings:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = stream(seed, crc32(f"few|{self.data}|{self.n}".encode()), number)
        item, *own = rng.normal(size=(3, _OUTPUTS))
        ratings, metrics = zip(*(self._side(rng, item, one) for one in own), strict=True)
        rated = slice(self.n)
        known = [np.where(np.arange(_OUTPUTS) < self.n, one, np.nan) for one in ratings]
        for method in ESTIMATES:
            one: Any = estimate_quality(
                ratings[0][rated], metrics[0][rated], metrics[0], method=method
            )
            yield _held(method, "mean of a system", one, _true_mean(self.shape))
            two = estimate_difference(*known, *metrics, method=method)
            yield _held(method, "difference of two", two, 0.0)

    def _side(self, rng: np.random.Generator, item: Array, own: Array) -> tuple[Array, Array]:
        quality = 0.7 * item + 0.7 * own
        ratings = _shaped(quality + 0.5 * rng.normal(size=_OUTPUTS), self.shape)
        return ratings, _shaped(quality + 0.7 * rng.normal(size=_OUTPUTS), self.shape)


def _true_mean(shape: Shape) -> float:
    """Of ratings whose normal scores have mean 0 and variance .49 + .49 + .25."""
    if shape == "skewed":
        return float(np.exp(0.5**2 * 1.23 / 2.0))
    return 3.0 if shape == "five-point" else 0.0


def _held(method: str, target: str, found: Any, truth: float) -> Outcome:
    hit = bool(found.interval.low <= truth <= found.interval.high)
    return Outcome("coverage", method, target, hit)


def rated_systems() -> list[RatedSystems]:
    """All that is simulated of tests between systems; models take long to fit."""
    return [
        RatedSystems("normal", 3, 30),
        RatedSystems("normal", 12, 30),
        RatedSystems("skewed", 12, 30),
        RatedSystems("normal", 3, 30, taste=0.3),
        RatedSystems("normal", 12, 30, taste=0.3),
        RatedSystems("normal", 30, 30, taste=0.3),
        RatedSystems("five-point", 5, 30, taste=0.6, design="busy raters"),
        RatedSystems("normal", 6, 30, taste=0.3, design="partial raters"),
        RatedSystems("normal", 12, 30, taste=0.6, design="partial raters"),
        RatedSystems("normal", 12, 200, model=False),
        RatedSystems("normal", 12, 200, same_items=False, model=False),
        RatedSystems("skewed", 12, 200, same_items=False, model=False),
    ]


def few_ratings() -> list[FewRatings]:
    """All that is simulated of ratings that a metric completes."""
    return [FewRatings(shape, n) for shape in get_args(Shape) for n in (12, 30, 100)]
