"""False winners and found ones: several metrics, of which none or two agree better with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal
from zlib import crc32

import numpy as np

from deltableu.stats.resampling import stream
from deltableu.validate.levels import Level, agreement
from deltableu.validate.permutation import Swap, permutation_test
from deltableu.validate.winners import MetricComparison, MetricCorrection, rank_metrics
from simulations.replications import Outcome
from simulations.validate_populations import Array

__all__ = ["CORRECTIONS", "Winners", "winners"]

CORRECTIONS: tuple[MetricCorrection, ...] = ("wmt", "none", "bh", "holm")
Shape = Literal["normal", "skewed", "five-point"]

METRICS = 5
#: As many as Holm's correction for ten pairs needs.
_EXCHANGES = 400
#: Noise of metrics, and of the two better ones where some are better.
_NOISE = 1.5
_LESS: dict[Level, float] = {"pooled": 1.25, "system": 0.5}


@dataclass(frozen=True, slots=True)
class Winners:
    """Five metrics that agree equally well, or of which two agree better."""

    shape: Shape
    level: Level
    systems: int
    n: int
    better: int = 0
    shared: bool = False

    @property
    def data(self) -> str:
        return f"{self.shape}, {self.systems} systems"

    @property
    def relation(self) -> str:
        errors = ", shared errors" * self.shared
        return (f"{self.better} of {METRICS} better" if self.better else "all equal") + errors

    def sampler(self) -> Winners:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        name = f"winners|{self.data}|{self.level}|{self.relation}|{self.n}"
        rng = stream(seed, crc32(name.encode()), number)
        human, metrics = self._draw(rng)
        again = int(rng.integers(1 << 62))
        for correction, found in self._compared(human, metrics, again):
            places = {one.metric: place for place, one in enumerate(found.metrics)}
            told = {
                (one, two): bool(found.adjusted[places[one], places[two]] < found.significance)
                for one, two in combinations(sorted(places), 2)
            }
            if correction == "wmt":
                for one, two in told:
                    other = found.adjusted[places[two], places[one]] < found.significance
                    told[one, two] |= bool(other)
            true = {pair for pair in told if (pair[0] < self.good) != (pair[1] < self.good)}
            wrong = any(hit for pair, hit in told.items() if pair not in true)
            yield Outcome("size", correction, f"{self.level}, any false claim", wrong)
            for pair in sorted(true)[:1]:  # one stands for all: studies are counted, not pairs
                yield Outcome("coverage", correction, f"{self.level}, a true one", told[pair])

    @property
    def good(self) -> str:
        """Names below it are the better metrics."""
        return f"m{self.better}"

    def _compared(
        self, human: Array, metrics: dict[str, Array], again: int
    ) -> Iterator[tuple[MetricCorrection, MetricComparison]]:
        swap: Swap = "systems" if self.level == "system" else "items"
        two_sided, one_sided = np.ones((2, METRICS, METRICS))
        for one, two in combinations(range(METRICS), 2):
            found = permutation_test(
                metrics[f"m{one}"],
                metrics[f"m{two}"],
                human,
                level=self.level,
                swap=swap,
                resamples=_EXCHANGES,
                seed=again,
                threads=1,
            )
            two_sided[one, two] = two_sided[two, one] = found.p_value
            one_sided[one, two], one_sided[two, one] = found.p_values()
        values = [float(agreement(table, human, level=self.level)) for table in metrics.values()]
        for correction in CORRECTIONS:
            p_values = one_sided if correction == "wmt" else two_sided
            yield correction, rank_metrics([*metrics], values, p_values, correction=correction)

    def _draw(self, rng: np.random.Generator) -> tuple[Array, dict[str, Array]]:
        size = (self.systems, self.n)
        outputs = (
            rng.normal(size=(self.systems, 1)) + rng.normal(size=self.n) + rng.normal(size=size)
        )
        human = outputs + 0.7 * rng.normal(size=size)
        metrics = {}
        for place in range(METRICS):
            noise = _LESS[self.level] if place < self.better else _NOISE
            errors = rng.normal(size=size)
            if self.shared:  # a metric that does not understand an item errs on all its outputs
                errors = np.sqrt(0.5) * (errors + rng.normal(size=self.n))
            metrics[f"m{place}"] = self._shaped(outputs + noise * errors)
        return self._shaped(human), metrics

    def _shaped(self, latent: Array) -> Array:
        if self.shape == "five-point":
            return np.asarray(np.clip(np.rint(3.0 + latent / 1.5), 1.0, 5.0))
        return latent if self.shape == "normal" else np.exp(0.4 * latent)


def winners() -> list[Winners]:
    """All that is simulated of winners."""
    return [
        Winners("normal", "pooled", 10, 50),
        Winners("skewed", "pooled", 10, 50),
        Winners("five-point", "pooled", 10, 50),
        Winners("five-point", "pooled", 4, 50),
        Winners("normal", "pooled", 10, 50, shared=True),
        Winners("normal", "system", 12, 50),
        Winners("skewed", "system", 12, 50),
        Winners("normal", "pooled", 10, 50, better=2),
        Winners("normal", "system", 12, 50, better=2),
    ]
