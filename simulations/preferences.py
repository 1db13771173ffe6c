"""Do intervals of strengths hold the truth, and how often is position blamed for nothing?

Raters see two systems' outputs and prefer one, or neither. What they feel is the difference of the
systems' strengths, plus how good each output is for its system, plus the rater's taste for either
system, plus the rater's own leaning towards what is shown first; they answer by Davidson's model.
The truth is the model's strengths for all items and all raters of the population, which are a
little smaller than those of one rater on one item, since other items and raters blur them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from deltableu.rate import Preferences, Resampled, rank_by_preference
from deltableu.stats import Preferred, stream
from simulations.replications import Outcome, Progress, Tally, replicate
from simulations.tables import Row, figure, measured, pivot

__all__ = ["METHODS", "Cell", "cells", "simulate", "tables"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

METHODS: tuple[Resampled, ...] = ("items,raters", "items", "raters")
SIGNIFICANCE, CONFIDENCE, RESAMPLES = 0.05, 0.95, 400
_SPREAD = (0.6, 0.2, -0.2, -0.6)
_EQUAL = (0.0, 0.0, 0.0, 0.0)
_POSITION = 0.4
#: Standard deviations of outputs around their system, of tastes, and of leanings to the first.
_OUTPUTS, _TASTE, _LEANING = 0.7, 0.3, 0.2


@dataclass(frozen=True, slots=True)
class Cell:
    """One population and one way to collect judgements of it.

    Attributes
    ----------
    data : str
        What the table calls it.
    strengths : tuple of float
    items, raters, each : int
        How many there are, and how many raters judge one pair of outputs.
    tie : float or None
        The logarithm of Davidson's nu; None lets nobody tie.
    shares : tuple of float
        How many of the items each pair of systems is shown on; all by default.
    taste : float
        How much raters differ, relative to what is usual here.
    position : float
    """

    data: str
    strengths: tuple[float, ...] = _SPREAD
    items: int = 60
    raters: int = 12
    each: int = 2
    tie: float | None = -0.3
    shares: tuple[float, ...] = ()
    taste: float = 1.0
    position: float = 0.0

    @property
    def key(self) -> int:
        """Of its random stream: adding another cell changes nothing in this one."""
        return crc32(repr(self).encode())

    @property
    def relation(self) -> str:
        """How the systems relate."""
        return "equal" if self.strengths == _EQUAL else "different"

    def sampler(self) -> Cell:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Of replication `number`: which intervals cover the truth, and which tests reject."""
        said = self._judge(stream(seed, self.key, number))
        strengths, position = _truth(self)
        for method in METHODS:
            found = rank_by_preference(
                said, resample=method, resamples=RESAMPLES, confidence=CONFIDENCE, seed=number
            )
            if self.relation == "equal":
                yield Outcome("size", method, "any difference", found.significant > 0)
            else:
                best = next(one for one in found.pairs if {one.first, one.second} == {"A", "B"})
                sign = 1.0 if best.first == "A" else -1.0
                low, high = sorted((sign * best.interval.low, sign * best.interval.high))
                inside = low <= strengths[0] - strengths[1] <= high
                yield Outcome("coverage", method, "A - B", inside)
            effect = found.position
            if effect is None or effect.interval is None or effect.p_value is None:
                raise RuntimeError("positions were recorded, and are not in the result")
            if self.position == 0.0:
                yield Outcome("size", method, "position", effect.p_value < SIGNIFICANCE)
            else:
                inside = effect.interval.low <= position <= effect.interval.high
                yield Outcome("coverage", method, "position", inside)
                yield Outcome("power", method, "position", effect.p_value < SIGNIFICANCE)

    def _judge(self, rng: np.random.Generator) -> Preferences:
        size = len(self.strengths)
        pairs = np.array(list(combinations(range(size), 2)))
        shown = rng.random((self.items, len(pairs))) < np.array(self.shares or [1.0] * len(pairs))
        item, pair = (np.repeat(one, self.each) for one in np.nonzero(shown))
        drawn = np.argsort(rng.random((int(shown.sum()), self.raters)), axis=1)
        rater = drawn[:, : self.each].ravel()
        first, second = pairs[pair].T
        order = rng.choice((-1, 1), size=len(item))
        felt = np.array(self.strengths) + rng.normal(0.0, _OUTPUTS, size=(self.items, size))
        taste = rng.normal(0.0, self.taste * _TASTE, size=(self.raters, size))
        leaning = rng.normal(self.position, self.taste * _LEANING, size=self.raters)
        apart = felt[item, first] - felt[item, second] + taste[rater, first] - taste[rater, second]
        chances = _chances(apart + order * leaning[rater], self.tie)
        above = rng.random(len(item))[:, np.newaxis] > np.cumsum(chances, axis=1)[:, :2]
        outcome = 1 - above.sum(axis=1)
        judged = Preferred(first, second, outcome, order)
        names = tuple("ABCDEFGH"[:size])
        items, raters = (tuple(map(str, range(n))) for n in (self.items, self.raters))
        return Preferences(names, items, raters, judged, item, rater, "overall", 0)


def cells() -> list[Cell]:
    """All that is simulated."""
    return [
        Cell("12 raters, 3 for each pair of outputs", each=3),
        Cell("12 raters, 2"),
        Cell("60 raters, 2", raters=60),
        Cell("5 raters, 2", raters=5),
        Cell("3 raters, 2", raters=3),
        Cell("5 raters, 2, who differ by chance only", raters=5, taste=0.0),
        Cell("5 raters, 2, of strong tastes", raters=5, taste=2.0),
        Cell("12 raters, 2, nobody ties", tie=None),
        Cell("12 raters, 2, half are ties", tie=0.8),
        Cell("12 raters, 2, some pairs 10 times as often", shares=(1, 0.1, 0.1, 1, 0.1, 1)),
        Cell("12 raters, 2, A nearly always wins", strengths=(3.2, -0.7, -1.1, -1.4)),
        Cell("12 raters, 2", items=15),
        Cell("12 raters, 2, first preferred", position=_POSITION),
        Cell("5 raters, 2, first preferred", raters=5, position=_POSITION),
        Cell("12 raters, 2", strengths=_EQUAL),
        Cell("5 raters, 2", strengths=_EQUAL, raters=5),
    ]


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Cell] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Coverage and size in every cell; the same for any number of processes."""
    wanted = cells() if chosen is None else chosen
    tallies = replicate(wanted, replications, seed, processes=processes, progress=progress)
    return [
        row
        for cell, tally in zip(wanted, tallies, strict=True)
        for row in _rows(cell, tally, replications)
    ]


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Those of docs/how-to/rate.md."""
    covered, sizes, seen = (
        pivot([row for row in rows if row.what == what], METHODS)
        for what in ("coverage", "size", "power")
    )
    return {
        "preference intervals": covered,
        "preference alarms": sizes,
        "preference power": seen,
    }


def _rows(cell: Cell, tally: Tally, replications: int) -> Iterator[Row]:
    for (what, method, target), hits in tally.hits.items():
        about = (what, method, cell.data, cell.relation, cell.items, target)
        if what == "power":
            yield figure(*about, hits / replications, replications)
        else:
            nominal = SIGNIFICANCE if what == "size" else CONFIDENCE
            yield measured(*about, nominal, hits, replications)


def _chances(differences: Array, tie: float | None) -> Array:
    """That the first wins, of a tie, and that the second wins."""
    level = 0.0 if tie is None else np.exp(tie)
    weights = np.stack(
        (np.exp(differences / 2.0), np.full(len(differences), level), np.exp(-differences / 2.0)),
        axis=1,
    )
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


@cache
def _truth(cell: Cell) -> tuple[Array, float]:
    """Strengths and position effect of the whole population: the expected likelihood's maximum."""
    from scipy.optimize import minimize

    size = len(cell.strengths)
    pairs = list(combinations(range(size), 2))
    shares = cell.shares or (1.0,) * len(pairs)
    blur = np.sqrt(2.0 * _OUTPUTS**2 + cell.taste**2 * (2.0 * _TASTE**2 + _LEANING**2))
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    seen = [
        (a, b, order, share * (weights @ _chances(apart + blur * points, cell.tie)))
        for (a, b), share in zip(pairs, shares, strict=True)
        for order in (1.0, -1.0)
        for apart in [cell.strengths[a] - cell.strengths[b] + order * cell.position]
    ]

    def loss(values: Array) -> float:
        strengths = np.append(values[: size - 1], -values[: size - 1].sum())
        level = None if cell.tie is None else float(values[size])
        total = 0.0
        for a, b, order, chances in seen:
            apart = np.array([strengths[a] - strengths[b] + order * values[size - 1]])
            modelled = np.maximum(_chances(apart, level)[0], 1e-300)
            total -= float(chances @ np.log(modelled))
        return total

    found = minimize(loss, np.zeros(size + 1), method="BFGS", options={"gtol": 1e-8})
    strengths = np.append(found.x[: size - 1], -found.x[: size - 1].sum())
    return strengths, float(found.x[size - 1])
