"""Items that belong together, and corpus scores: what resampling must know of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal
from zlib import crc32

import numpy as np

from deltableu.stats.resampling import stream
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.levels import agreement
from deltableu.validate.permutation import Swap, permutation_test
from simulations.replications import Outcome
from simulations.validate_populations import Array

__all__ = ["GROUPED", "Dialogues", "dialogues"]

Shape = Literal["normal", "skewed", "five-point"]

_HOW = ("by item", "by dialogue")
_SWAPS: dict[Swap, str] = {"items": "PERM-INPUT", "both": "PERM-BOTH"}
GROUPED = tuple(f"{what}, {how}" for what in ("interval", *_SWAPS.values()) for how in _HOW)
TURNS = 10
SYSTEMS = 5
#: Correlation of what two turns of a dialogue share: difficulty, and a metric's errors.
WITHIN = 0.3

_EXCHANGES, _RESAMPLES = 200, 500
_SEED = 1960


@dataclass(frozen=True, slots=True)
class Dialogues:
    """Some dialogues of ten turns, answered by five systems that stay; n is items in all."""

    shape: Shape
    n: int
    within: float = WITHIN

    @property
    def data(self) -> str:
        return f"{self.shape}, {SYSTEMS} systems"

    @property
    def relation(self) -> str:
        return f"{self.n // TURNS} dialogues, within {self.within:g}"

    def sampler(self) -> Dialogues:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        name = f"dialogues|{self.data}|{self.relation}"
        rng = stream(seed, crc32(name.encode()), number)
        human, x, y = draw(rng, self.shape, self.within, self.n // TURNS)
        again = int(rng.integers(1 << 62))
        groups = np.repeat(np.arange(self.n // TURNS), TURNS).tolist()
        for how, labels in zip(_HOW, (None, groups), strict=True):
            drawn = bootstrap_agreement(
                x,
                human,
                level="pooled",
                resamples=_RESAMPLES,
                groups=labels,
                seed=again,
                threads=1,
            )
            truth = true_value(self.shape, self.within)
            held = drawn.interval.low <= truth <= drawn.interval.high
            yield Outcome("coverage", f"interval, {how}", "pooled", bool(held))
            for swap, test in _SWAPS.items():
                found = permutation_test(
                    x,
                    y,
                    human,
                    level="pooled",
                    swap=swap,
                    groups=labels,
                    resamples=_EXCHANGES,
                    seed=again,
                    threads=1,
                )
                yield Outcome("size", f"{test}, {how}", "pooled", bool(found.p_value < 0.05))


def draw(
    rng: np.random.Generator, shape: Shape, within: float, dialogues: int
) -> tuple[Array, Array, Array]:
    """Scores of people and of two metrics that nothing tells apart, systems x items."""
    size = (SYSTEMS, dialogues * TURNS)

    def of_items() -> Array:
        """Of variance 1; turns of a dialogue are alike."""
        shared = np.repeat(rng.normal(size=dialogues), TURNS)
        return np.asarray(np.sqrt(within) * shared + np.sqrt(1 - within) * rng.normal(size=size[1]))

    quality = np.linspace(-1.0, 1.0, SYSTEMS)[:, np.newaxis]
    outputs = quality + of_items() + rng.normal(size=size)
    people = outputs + 0.7 * rng.normal(size=size)
    x, y = (outputs + of_items() + rng.normal(size=size) for _ in range(2))
    human, x, y = (_shaped(one, shape) for one in (people, x, y))
    return human, x, y


@cache
def true_value(shape: Shape, within: float) -> float:
    """Pooled Pearson correlation over all dialogues that there might be."""
    human, x, _ = draw(stream(_SEED), shape, within, 40_000)
    return float(agreement(x, human, level="pooled"))


def _shaped(latent: Array, shape: Shape) -> Array:
    if shape == "five-point":
        return np.asarray(np.clip(np.rint(3.0 + latent / 1.5), 1.0, 5.0))
    return latent if shape == "normal" else np.exp(0.4 * latent)


def dialogues() -> list[Dialogues]:
    """All that is simulated of items that belong together."""
    return [
        *(Dialogues("normal", n) for n in (120, 300, 1000)),
        Dialogues("skewed", 300),
        Dialogues("five-point", 300),
        Dialogues("normal", 300, within=0.0),
    ]
