"""Do intervals of quality from few ratings hold: outputs of two systems that are equally good.

Both systems are rated in the order that `estimate_systems` asks for, all at once or in rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.rate import Allocation, QualityEstimates, estimate_systems
from deltableu.stats import stream
from simulations.replications import Progress

__all__ = ["DESIGNS", "POPULATIONS", "Covered", "estimate_table", "simulate_estimates"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, Array, Array], tuple[Array, Array]]

_KEY = 20_181_118
_OUTPUTS, _SYSTEMS = 150, 2
_LARGE = 200_000


def _ceiling(_: np.random.Generator, metric: Array, noise: Array) -> tuple[Array, Array]:
    return np.clip(np.round(4.6 + 0.5 * metric + 0.7 * noise), 1, 5), metric


def _zeros(rng: np.random.Generator, metric: Array, noise: Array) -> tuple[Array, Array]:
    there = rng.random(metric.shape) < 1 / (1 + np.exp(1.8 - 1.2 * metric))
    return np.where(there, np.exp(0.5 * noise), 0.0), metric


def _rare(rng: np.random.Generator, metric: Array, noise: Array) -> tuple[Array, Array]:
    return np.where(rng.random(metric.shape) < 0.06, -3.0, 0.0) + 0.1 * noise, metric


def _outlier(rng: np.random.Generator, metric: Array, noise: Array) -> tuple[Array, Array]:
    far = metric.copy()
    far[np.arange(len(far)), rng.integers(far.shape[1], size=len(far))] = 200.0
    return 0.6 * np.clip(far, -3, 3) + 0.8 * noise, far


def _sorted_ties(_: np.random.Generator, metric: Array, noise: Array) -> tuple[Array, Array]:
    slope = np.linspace(-2.0, 2.0, metric.shape[1])
    return slope + 0.5 * noise, np.where(metric > 1.0, metric, 0.0)


#: Ratings and metric from a metric with mean 0 and noise; names say what is peculiar.
POPULATIONS: dict[str, Draw] = {
    "normal": lambda _, m, e: (0.6 * m + 0.8 * e, m),
    "1 to 5, most at the top": _ceiling,
    "most are 0, the others skewed": _zeros,
    "log-normal": lambda _, m, e: (np.exp(0.6 * m + 0.9 * e), m),
    "6% are catastrophes": _rare,
    "noisier where the metric is high": lambda _, m, e: (0.5 * m + np.exp(m) * e * 0.6, m),
    "the metric tells of extremes only (U)": lambda _, m, e: (m**2 + 0.4 * e, m),
    "the metric is wrong way round": lambda _, m, e: (0.6 * e - 1.2 * m, m),
    "one metric score far out": _outlier,
    "items sorted by quality, many equal scores": _sorted_ties,
}


@dataclass(frozen=True, slots=True)
class Design:
    """Ratings of each system in each round, and how rounds are allotted to strata."""

    name: str
    rounds: int
    ratings: int
    allocation: Allocation = "proportional"


DESIGNS = (
    Design("20 at once", 1, 20),
    Design("60 at once", 1, 60),
    Design("3 rounds of 20", 3, 20),
    Design("3 rounds, neyman", 3, 20, "neyman"),
)


@dataclass(frozen=True, slots=True)
class Covered:
    """What held in one population under one design.

    Attributes
    ----------
    means, pairs : float
        Share of intervals that hold the truth of all outputs the systems might give.
    these_means, these_pairs : float
        The same for these outputs.
    last, any_round : float
        How often the two systems, equally good, were told apart: in the end, in any round.
    studies : int
        Some give no interval: all ratings are equal.
    """

    population: str
    design: str
    means: float
    pairs: float
    these_means: float
    these_pairs: float
    last: float
    any_round: float
    studies: int


def simulate_estimates(
    replications: int, seed: int = 0, progress: Progress | None = None
) -> list[Covered]:
    """All populations under all designs."""
    found = []
    for name in POPULATIONS:
        for design in DESIGNS:
            found.append(_covered(name, design, replications, seed))
            if progress is not None:
                progress(len(found), len(POPULATIONS) * len(DESIGNS))
    return found


def _drawn(name: str, rng: np.random.Generator, size: int) -> tuple[Array, Array]:
    item = rng.normal(size=size)
    metric = 0.7 * item + 0.7 * rng.normal(size=(_SYSTEMS, size))
    return POPULATIONS[name](rng, metric, rng.normal(size=(_SYSTEMS, size)))


def _covered(name: str, design: Design, replications: int, seed: int) -> Covered:
    place = list(POPULATIONS).index(name)
    truth = float(_drawn(name, stream(_KEY, place), _LARGE)[0].mean())
    rows = []
    for replication in range(replications):
        ratings, metric = _drawn(name, stream(seed, _KEY, place, replication), _OUTPUTS)
        row = _study(ratings, metric, truth, design, replication)
        if row is not None:
            rows.append(row)
    means, pairs, these_means, these_pairs, last, any_round = np.mean(rows, axis=0).tolist()
    return Covered(
        name,
        design.name,
        means,
        pairs,
        these_means,
        these_pairs,
        last,
        any_round,
        len(rows),
    )


def _study(
    ratings: Array, metric: Array, truth: float, design: Design, seed: int
) -> list[float] | None:
    helper = _table("m", metric)
    said = np.full(ratings.shape, np.nan)
    order = estimate_systems(_table("human", said), helper, seed=seed).order
    apart = []
    for _ in range(design.rounds):
        for step in order[: _SYSTEMS * design.ratings]:
            s, i = int(step.target.removeprefix("system:")), int(step.item)
            said[s, i] = ratings[s, i]
        people = _table("human", said)
        try:
            found = estimate_systems(people, helper, allocation=design.allocation, seed=seed)
        except InputError:
            order = order[_SYSTEMS * design.ratings :]
            apart.append(0.0)
            continue
        order = found.order
        apart.append(float(any(one.significant for one in found.pairs)))
    try:
        found = estimate_systems(people, helper, seed=seed)
        these = estimate_systems(people, helper, finite=True, seed=seed)
    except InputError:
        return None
    means = ratings.mean(axis=1)
    return [
        *_held(found, np.full(_SYSTEMS, truth)),
        *_held(these, means),
        apart[-1],
        max(apart),
    ]


def _held(found: QualityEstimates, truth: Array) -> tuple[float, float]:
    systems = [
        one.quality.interval.low <= truth[int(one.system)] <= one.quality.interval.high
        for one in found.systems
    ]
    pairs = [
        one.difference.interval.low
        <= truth[int(one.better)] - truth[int(one.worse)]
        <= one.difference.interval.high
        for one in found.pairs
    ]
    return float(np.mean(systems)), float(np.mean(pairs))


def _table(name: str, values: Array) -> ScoreTable:
    systems, items = map(list, (map(str, range(values.shape[0])), map(str, range(values.shape[1]))))
    return ScoreTable.from_arrays([name], systems, items, values[np.newaxis])


def estimate_table(found: list[Covered]) -> str:
    """Markdown: per cent."""
    lines = [
        "| population | rated | means | pairs | these means | these pairs | told apart "
        "| in any round |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for one in found:
        shares = (one.means, one.pairs, one.these_means, one.these_pairs, one.last, one.any_round)
        cells = " | ".join(f"{100 * share:.1f}" for share in shares)
        # Sorted items are not drawn from anything: there is no truth beyond these.
        if one.population.startswith("items sorted"):
            cells = " | ".join(["-", *cells.split(" | ")[1:]])
        lines.append(f"| {one.population} | {one.design} | {cells} |")
    return "\n".join(lines)
