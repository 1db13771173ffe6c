"""Several runs of two systems: size of the test and coverage of intervals, beside ignoring runs.

Two systems are drawn from populations of runs. In each replication some runs of both answer the
same items. A run differs from others of its system by a mean effect (its luck in training), and
from item to item. What is asked for is the score of the system: the mean over all runs that might
have been made, on all items of the kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np

from deltableu.compare.runs import RunEvidence
from deltableu.score.metrics.delta_bleu import DeltaBLEU
from deltableu.stats.resampling import stream
from deltableu.stats.studentized import Exchange, mean_score, mean_score_gradient
from simulations.populations import populations
from simulations.replications import Outcome, Progress, replicate
from simulations.tables import Row, measured

__all__ = ["METHODS", "Cell", "cells", "simulate", "table"]

Array = np.ndarray[Any, np.dtype[np.float64]]

METHODS = ("items and runs", "one run each", "all outputs as items")
SIGNIFICANCE = 0.05
LEVEL = 0.95
#: Points at which the quality of runs is taken for the truth of a system.
_POINTS = 2000


@dataclass(frozen=True, slots=True)
class Cell:
    """What is simulated.

    Attributes
    ----------
    data : {"means", "delta-BLEU"}
    luck : (float, float)
        Standard deviation of the two systems' runs: of their means, or of the share of good
        outputs.
    noise : float
        Of a run from item to item: its standard deviation, or the share of outputs that are drawn
        anew in each run.
    runs : (int, int)
        Of the two systems.
    n : int
        Items.
    """

    data: str
    luck: tuple[float, float]
    noise: float
    runs: tuple[int, int]
    n: int = 200

    @property
    def key(self) -> int:
        """Of its random stream: adding another cell changes nothing in this one."""
        return crc32(f"{self.data}|{self.luck}|{self.noise}|{self.runs}|{self.n}".encode())

    def sampler(self) -> Sampler:
        return Sampler(self, _Means() if self.data == "means" else _delta_bleu())


def cells() -> list[Cell]:
    """All that is simulated."""
    means = [
        Cell("means", (luck, luck), 0.7, (runs, runs))
        for luck in (0.0, 0.05, 0.3)
        for runs in (2, 3, 5, 10)
    ]
    means += [Cell("means", (luck, luck), 3.0, (3, 3)) for luck in (0.0, 0.1)]
    means += [Cell("means", (0.3, 0.3), 0.7, runs) for runs in ((2, 10), (3, 5))]
    means += [Cell("means", (0.3, 0.0), 0.7, (runs, runs)) for runs in (2, 3, 5)]
    means.append(Cell("means", (0.3, 0.3), 0.7, (3, 3), n=50))
    rows = [
        Cell("delta-BLEU", (luck, luck), 0.3, (runs, runs))
        for luck in (0.0, 0.02, 0.1)
        for runs in (2, 3, 5)
    ]
    rows += [Cell("delta-BLEU", (luck, luck), 1.0, (3, 3)) for luck in (0.0, 0.05)]
    rows.append(Cell("delta-BLEU", (0.1, 0.1), 0.3, (3, 10)))
    return means + rows


class _Means:
    """Scores of items; effects of item (1), of system by item (.7), of the run, and noise."""

    def draw(self, cell: Cell, rng: np.random.Generator) -> tuple[list[Array], Any, Any]:
        item = rng.normal(size=cell.n)
        found = []
        for count, luck in zip(cell.runs, cell.luck, strict=True):
            own = 0.7 * rng.normal(size=cell.n)
            mean = luck * rng.normal(size=(count, 1))
            scores = item + own + mean + cell.noise * rng.normal(size=(count, cell.n))
            found.append(np.stack((scores, np.ones_like(scores)), axis=-1))
        return found, mean_score, mean_score_gradient

    def truth(self, cell: Cell) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class _DeltaBLEU:
    """A run answers well on a share of the items, on others badly; pools of rows of both."""

    metric: DeltaBLEU
    good: Array
    bad: Array

    def draw(self, cell: Cell, rng: np.random.Generator) -> tuple[list[Array], Any, Any]:
        chosen = rng.integers(len(self.good), size=cell.n)
        found = []
        for count, luck in zip(cell.runs, cell.luck, strict=True):
            share = _clipped(rng.normal(size=(count, 1)), luck)
            hard = rng.random(cell.n)
            anew = rng.random((count, cell.n)) < cell.noise
            hard = np.where(anew, rng.random((count, cell.n)), hard)
            right = (hard < share)[..., None]
            found.append(np.where(right, self.good[chosen], self.bad[chosen]))
        return found, self.metric.aggregate, self.metric.gradient

    def truth(self, cell: Cell) -> float:
        normal = NormalDist()
        points = (np.arange(_POINTS) + 0.5) / _POINTS
        share = _clipped(
            np.array([[normal.inv_cdf(float(point))] for point in points]), cell.luck[0]
        )
        sums = share * self.good.mean(axis=0) + (1.0 - share) * self.bad.mean(axis=0)
        return float(self.metric.aggregate(sums).mean())


def _clipped(deviates: Array, luck: float) -> Array:
    return np.clip(0.7 + luck * deviates, 0.0, 1.0)


@cache
def _delta_bleu() -> _DeltaBLEU:
    good = populations("delta-BLEU")["different"].second  # type: ignore[attr-defined]
    bad = populations("delta-BLEU near 0")["different"].first  # type: ignore[attr-defined]
    return _DeltaBLEU(DeltaBLEU(tokenize="none"), good.rows, bad.rows)


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws runs of two systems that are equally good, and tries every method on them."""

    cell: Cell
    population: _Means | _DeltaBLEU

    @cached_property
    def truth(self) -> float:
        """The score of both systems."""
        return self.population.truth(self.cell)

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Of replication `number`: which tests reject, and which intervals hold the truth."""
        rows, aggregate, gradient = self.population.draw(
            self.cell, stream(seed, self.cell.key, number)
        )
        fewest = min(self.cell.runs)
        looked_at = (
            rows,
            [some[:1] for some in rows],
            # Outputs of several runs on an item as if they were of several items.
            [some[:fewest].reshape(1, -1, some.shape[2]) for some in rows],
        )
        for method, seen in zip(METHODS, looked_at, strict=True):
            exchanges = [Exchange(some, aggregate, gradient) for some in seen]
            evidence = RunEvidence(
                ("A", "B"),
                tuple(one.scores for one in exchanges),
                tuple(one.influences for one in exchanges),
                np.zeros(2, dtype=bool),
                (-np.inf, np.inf),
            )
            rejected = evidence.verdict(0, 1).p_value < SIGNIFICANCE
            yield Outcome("size", method, "difference", rejected)
            interval = evidence.estimate(0, None, LEVEL).interval
            held = interval is not None and interval.low <= self.truth <= interval.high
            yield Outcome("coverage", method, "score of A", held)


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Cell] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[tuple[Cell, Row]]:
    """Size and coverage in every cell; the same for any number of processes."""
    wanted = cells() if chosen is None else chosen
    tallies = replicate(wanted, replications, seed, processes=processes, progress=progress)
    return [
        (
            cell,
            measured(
                what,
                method,
                cell.data,
                "equal",
                cell.n,
                target,
                SIGNIFICANCE if what == "size" else LEVEL,
                hits,
                replications,
            ),
        )
        for cell, tally in zip(wanted, tallies, strict=True)
        for (what, method, target), hits in tally.hits.items()
    ]


def table(found: Sequence[tuple[Cell, Row]]) -> str:
    """A line for each cell: false claims, then how often intervals of a score hold the truth."""
    headings = [f"{what}: {method}" for what in ("size", "coverage") for method in METHODS]
    lines = [
        ["data", "run sd", "run x item", "runs", "n", *headings],
        ["---", *(["--:"] * (4 + len(headings)))],
    ]
    for cell in dict.fromkeys(cell for cell, _ in found):
        rows = {f"{row.what}: {row.method}": row.cell() for other, row in found if other == cell}
        luck, runs = (
            " and ".join(f"{one:g}" for one in dict.fromkeys(both))
            for both in (cell.luck, cell.runs)
        )
        shown = (cell.data, luck, f"{cell.noise:g}", runs, str(cell.n))
        lines.append([*shown, *(rows[heading] for heading in headings)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
