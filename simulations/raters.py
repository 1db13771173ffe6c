"""Do intervals hold the score under the true mean weights, when weights are from a few raters?

The pool has 20,000 items with eight references each, of known quality. A replication draws items
and raters; a rater answers on a scale of five with the quality of a reference, plus a harshness of
the rater (standard deviation .2 on the scale of weights), plus noise (.5), rounded. The true mean
weight of a reference is the mean answer of all such raters. The truth is delta-BLEU of the whole
pool under these.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from zlib import crc32

import numpy as np

from deltableu.compare.raters import resample_rated
from deltableu.corpus import Item, RatingTable, Reference, ReferenceSet, reference_set
from deltableu.score.metrics.delta_bleu import DeltaBLEU
from deltableu.stats.resampling import stream
from simulations.replications import Outcome, Progress, Tally, replicate
from simulations.tables import Row, figure, measured, pivot

__all__ = ["METHODS", "Cell", "cells", "simulate"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Quality = Literal["graded", "unrelated to text", "alike", "two kinds"]

METHODS = ("items and raters", "items only")
SIGNIFICANCE = 0.05
LEVEL = 0.95
RESAMPLES = 200

_POOL = 20_000
_REFERENCES = 8
_SEED = 20_150_731
_HARSHNESS = 0.2
_NOISE = 0.5
_METRIC = DeltaBLEU(tokenize="none")


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of references, rated in one way.

    Attributes
    ----------
    quality : str
        How good references are. "graded": the first is good, the others anything, and good ones
        have words that bad ones lack; "unrelated to text": anything, and words tell nothing;
        "alike": all nearly equally good; "two kinds": good or bad, and nothing between.
    raters, each : int
        How many people there are, and how many of them rate each reference.
    once : float
        Share of references that only one of them rates.
    exchangeable : bool
        Whether nothing tells the two systems apart; else B is better.
    """

    quality: Quality
    raters: int
    each: int
    once: float = 0.0
    exchangeable: bool = False
    n: int = 150

    @property
    def data(self) -> str:
        """What the table says of it."""
        who = f"{self.each} of {self.raters} raters"
        if self.raters == self.each:
            who = f"the same {self.each} raters"
        return f"{self.quality}, {who}" + (f", {self.once:.0%} by one" if self.once else "")

    @property
    def key(self) -> int:
        """Of its random stream: adding another cell changes nothing in this one."""
        return crc32(f"{self.data}|{self.exchangeable}|{self.n}".encode())

    def sampler(self) -> Sampler:
        return Sampler(self, _population(self.quality, self.exchangeable))


def cells() -> list[Cell]:
    """All that is simulated."""
    return [
        Cell("graded", 12, 3),
        Cell("graded", 12, 3, n=60),
        Cell("graded", 5, 5),
        Cell("graded", 3, 3),
        Cell("graded", 2, 2),
        Cell("graded", 12, 3, once=0.5),
        Cell("unrelated to text", 12, 3),
        Cell("two kinds", 12, 5),
        Cell("alike", 12, 5),
        Cell("alike", 5, 5),
        Cell("graded", 12, 3, exchangeable=True),
        Cell("graded", 3, 3, exchangeable=True),
    ]


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Cell] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Coverage and size in every cell; the same for any number of processes.

    Parameters
    ----------
    replications : int
        Samples of items and raters drawn for each cell.
    seed : int
    chosen : list of Cell, optional
        Only these.
    processes : int, optional
        All cores by default.
    progress : callable, optional
        Called with (batches done, in all).
    """
    wanted = cells() if chosen is None else chosen
    tallies = replicate(wanted, replications, seed, processes=processes, progress=progress)
    return [
        row
        for cell, tally in zip(wanted, tallies, strict=True)
        for row in _rows(cell, tally, replications)
    ]


def _rows(cell: Cell, tally: Tally, replications: int) -> Iterator[Row]:
    null = "exchangeable" if cell.exchangeable else "different"
    for key, hits in tally.hits.items():
        what, method, target = key
        nominal = SIGNIFICANCE if what == "size" else LEVEL
        if what == "error":
            rate = (tally.values[key] / replications) ** 0.5
            yield figure(what, method, cell.data, null, cell.n, target, rate, replications)
        else:
            about = (what, method, cell.data, null, cell.n, target)
            yield measured(*about, nominal, hits, replications)


@dataclass(frozen=True, slots=True, eq=False)
class _Population:
    texts: list[list[str]]
    outputs: dict[str, list[str]]
    quality: Array  # items x references
    truth: Array  # the score of each system


@cache
def _population(quality: Quality, exchangeable: bool) -> _Population:
    rng = stream(_SEED, crc32(quality.encode()))
    values = _qualities(quality, rng)
    telling = quality == "graded"
    # Each item has phrases of its own: four that good answers have, four that bad ones have.
    phrases = rng.integers(200, size=(_POOL, 8))
    texts = _references(rng, values, phrases, telling)
    shared = rng.normal(0.0, 0.2, size=_POOL)
    outputs = {
        "A": _outputs(rng, phrases, 0.55 + shared, 0.25),
        "B": _outputs(rng, phrases, 0.62 + shared, 0.15),
    }
    if exchangeable:
        half = _POOL // 2
        first, second = outputs["A"][:half], outputs["B"][:half]
        outputs = {"A": first + second, "B": second + first}
        texts, values = texts[:half] * 2, np.concatenate((values[:half], values[:half]))
    weights = _mean_answer(values)
    ready = _METRIC.reweighting(ReferenceSet(texts, weights.tolist()), list(outputs.values()))
    rows = ready.rows(weights.reshape(1, -1))[0]
    return _Population(texts, outputs, values, _METRIC.aggregate(rows.sum(axis=0)))


def _qualities(quality: Quality, rng: np.random.Generator) -> Array:
    shape = (_POOL, _REFERENCES)
    if quality == "two kinds":
        values = np.where(rng.random(shape) < 0.6, 0.5, -0.7)
        values[:, 0] = 0.5
        return values
    centre, spread = {
        "graded": (0.0, 0.5),
        "unrelated to text": (0.1, 0.4),
        "alike": (0.2, 0.1),
    }[quality]
    values = rng.normal(centre, spread, size=shape)
    if quality == "graded":
        values[:, 0] = 0.6
    return np.clip(values, -0.95, 0.95)


def _references(
    rng: np.random.Generator, values: Array, phrases: Ints, telling: bool
) -> list[list[str]]:
    """Two to four phrases each, good ones with a chance that grows with quality if that tells."""
    shape = (*values.shape, 4)
    good = rng.random(shape) < ((1.0 + values[..., None]) / 2.0 if telling else 0.5)
    which = rng.integers(4, size=shape) + 4 * ~good
    chosen = np.take_along_axis(phrases[:, None], which.reshape(_POOL, 1, -1), axis=2)
    lengths: Any = rng.integers(2, 5, size=values.shape)
    spoken: Any = chosen.reshape(shape).tolist()
    return [
        [" ".join(map(_phrase, one[:length])) for one, length in zip(row, sizes, strict=True)]
        for row, sizes in zip(spoken, lengths.tolist(), strict=True)
    ]


def _outputs(
    rng: np.random.Generator, phrases: Ints, good_share: Array, unknown: float
) -> list[str]:
    good = rng.random((_POOL, 4)) < good_share[:, None]
    which = rng.integers(4, size=(_POOL, 4)) + 4 * ~good
    chosen = np.take_along_axis(phrases, which, axis=1)
    chosen = np.where(rng.random((_POOL, 4)) < unknown, 200 + chosen, chosen)
    lengths: list[int] = rng.integers(2, 5, size=_POOL).tolist()
    return [
        " ".join(map(_phrase, one[:length]))
        for one, length in zip(chosen.tolist(), lengths, strict=True)
    ]


@cache
def _phrase(number: int) -> str:
    """Three words, of which the one between is common to several phrases."""
    return f"a{number} c{number % 8} b{number}" if number < 200 else f"x{number} y{number}"


def _mean_answer(values: Array) -> Array:
    from scipy.special import ndtr

    spread = float(np.hypot(_HARSHNESS, _NOISE))
    above = [1.0 - ndtr((cut - values) / spread) for cut in (-0.75, -0.25, 0.25, 0.75)]
    mean: Array = -1.0 + 0.5 * np.sum(above, axis=0)
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Draws items and raters of a cell's population and tries every method on them."""

    cell: Cell
    population: _Population

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Of replication `number`: which tests reject, and which intervals cover the truth."""
        rng = stream(seed, self.cell.key, number)
        chosen = rng.integers(len(self.population.texts), size=self.cell.n)
        references, answers = self._rate(chosen, rng)
        outputs = {
            name: [texts[place] for place in chosen.tolist()]
            for name, texts in self.population.outputs.items()
        }
        again = int(rng.integers(1 << 62))
        found = resample_rated(
            references,
            answers,
            outputs,
            _METRIC,
            no_positive="skip",
            resamples=RESAMPLES,
            seed=again,
            threads=1,
        )
        if self.cell.exchangeable:
            rejects = found.p_value("B", "A") < SIGNIFICANCE
            yield Outcome("size", METHODS[0], "difference", rejects)
            return
        truth = self.population.truth
        targets = {"score of A": ("A", None, truth[0]), "difference": ("B", "A", np.diff(truth)[0])}
        for target, (first, second, true) in targets.items():
            interval = found.interval(first, second, confidence=LEVEL)
            hit = interval is not None and interval.low <= true <= interval.high
            yield Outcome("coverage", METHODS[0], target, hit)
            for name, draws in (("as observed", found.observed), ("corrected", found.corrected)):
                place = list(found.systems).index
                value = draws.scores[place(first)]
                value -= 0.0 if second is None else draws.scores[place(second)]
                yield Outcome("error", name, target, value=float(value - true) ** 2)
        items = found.intervals[0]
        hit = items is not None and items.low <= truth[0] <= items.high
        yield Outcome("coverage", METHODS[1], "score of A", hit)

    def _rate(self, chosen: Ints, rng: np.random.Generator) -> tuple[ReferenceSet, RatingTable]:
        cell = self.cell
        values = self.population.quality[chosen].ravel()
        order = np.argsort(rng.random((len(values), cell.raters)), axis=1)
        who = np.sort(order[:, : cell.each], axis=1)
        harshness = rng.normal(0.0, _HARSHNESS, size=cell.raters)
        felt = values[:, None] + harshness[who] + rng.normal(0.0, _NOISE, size=who.shape)
        answers = np.clip(np.round(2.0 * felt) / 2.0, -1.0, 1.0)
        counts = np.where(rng.random(len(values)) < cell.once, 1, cell.each)
        given = np.arange(cell.each) < counts[:, None]
        weights = np.where(given, answers, 0.0).sum(axis=1) / counts
        texts = [self.population.texts[place] for place in chosen.tolist()]
        nested = weights.reshape(len(chosen), -1).tolist()
        items = [
            Item(str(number), tuple(map(Reference, map(str, range(_REFERENCES)), *row)))
            for number, row in enumerate(zip(texts, nested, strict=True))
        ]
        rated = np.repeat(np.arange(len(values)), counts)
        table = RatingTable.of(
            raters=[str(one) for one in who[given].tolist()],
            items=[str(one) for one in (rated // _REFERENCES).tolist()],
            references=[str(one) for one in (rated % _REFERENCES).tolist()],
            values=answers[given],
            scale="-1-1",
        )
        return reference_set(items), table.of_references(items)


def main() -> int:
    """Simulate and print the table; the number of replications may be given."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start = time.perf_counter()
    rows = simulate(replications)
    print(pivot(rows, METHODS))
    print(f"{replications} replications, {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
