"""Size of every paired test and coverage of every interval, by drawing samples from populations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from deltableu.compare.observations import Observations
from deltableu.compare.paired_tests import (
    bootstrap_p_value,
    koehn_p_value,
    moses_p_value,
    paired_t_test,
    wilcoxon_test,
)
from deltableu.stats.intervals import bca_interval, jackknife_interval, percentile_interval
from deltableu.stats.permutation import permutation_p_value
from deltableu.stats.resampling import stream
from deltableu.stats.studentized import critical_value
from simulations.populations import BOTH_0, RELATIONS, Population, populations
from simulations.replications import Outcome, Progress, Tally, replicate
from simulations.tables import Row, figure, measured

__all__ = ["INTERVALS", "TESTS", "Cell", "attainable_level", "cells", "simulate"]

Array = np.ndarray[Any, np.dtype[np.float64]]

TESTS = (
    "studentized",
    "randomization",
    "permutation",
    "bootstrap",
    "koehn",
    "moses",
    "t-test",
    "wilcoxon",
)
INTERVALS = ("studentized", "jackknife", "percentile", "bca")
SIGNIFICANCE = 0.05
LEVEL = 0.95
RESAMPLES = 1000

#: Exchanges of so few items are enumerated by the million, or nearly.
_FEW_ITEMS = {
    "BLEU": 12,
    "delta-BLEU": 12,
    "normal scores": 16,
    "skewed scores": 16,
    "five-point scores": 20,
    "sentence BLEU": 20,
}
#: Where a thousand items might still be too few.
_MANY_ITEMS = ("BLEU", "delta-BLEU", "delta-BLEU near 0", "delta-BLEU at 0", "skewed scores")


@dataclass(frozen=True, slots=True)
class Cell:
    """One population and one sample size; `exact` enumerates all exchanges of a few items."""

    data: str
    relation: str
    n: int
    exact: bool = False

    @property
    def key(self) -> int:
        """Of its random stream: adding another cell changes nothing in this one."""
        return crc32(f"{self.data}|{self.relation}|{self.n}|{self.exact}".encode())

    def sampler(self) -> Sampler:
        return Sampler(self, populations(self.data)[self.relation])


def cells() -> list[Cell]:
    """All that is simulated."""
    found = []
    for data, relations in RELATIONS.items():
        for relation in relations:
            found += [Cell(data, relation, n) for n in (50, 200)]
            if data in _MANY_ITEMS and relation != "different":
                found.append(Cell(data, relation, 1000))
            if data in _FEW_ITEMS and relation != "different":
                found.append(Cell(data, relation, _FEW_ITEMS[data], exact=True))
    return found


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Cell] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Size and coverage in every cell; the same for any number of processes.

    Parameters
    ----------
    replications : int
        Samples drawn from each population.
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
    for (what, method, target), hits in tally.hits.items():
        if what == "power":
            about = (what, method, cell.data, cell.relation, cell.n, target)
            yield figure(*about, hits / replications, replications)
            continue
        level = tally.attainable.get((what, method, target))
        # A clamped score has no interval: coverage is that of those that there are.
        count = tally.counts[what, method, target] if what == "coverage" else replications
        yield measured(
            what,
            method,
            cell.data,
            cell.relation,
            cell.n,
            target,
            SIGNIFICANCE if what == "size" else LEVEL,
            hits,
            count,
            exact=level is not None,
            attainable=None if level is None else level / replications,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sampler:
    """Draws samples of a cell's population and tries every method on them."""

    cell: Cell
    population: Population

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Of replication `number`: which tests reject, and which intervals cover the truth."""
        rng = stream(seed, self.cell.key, number)
        chosen = rng.integers(self.population.size, size=self.cell.n)
        sample = self.population.observe(chosen)
        again = int(rng.integers(1 << 62))
        if self.cell.exact:
            yield from self._exact_test(sample)
            return
        samples = sample.bootstrap(RESAMPLES, again, threads=1)
        exchange = sample.exchange
        if exchange is None:
            raise TypeError("rows of these populations can be exchanged")
        statistics = exchange.statistics([(0, 1)], RESAMPLES, again, threads=1)[:, 0]
        if self.cell.relation != "different":
            yield from self._tests(sample, samples[:, 0] - samples[:, 1], statistics, again)
        else:
            yield Outcome("power", "studentized", "difference", _rejects(sample, statistics))
            exchanged = sample.exchanges(RESAMPLES, again, threads=1)(0, 1)
            observed, scale = _difference(sample)
            p_value = float(permutation_p_value(exchanged, observed, scale=scale))
            yield Outcome("power", "randomization", "difference", p_value < SIGNIFICANCE)
        if self.cell.relation not in ("exchangeable", BOTH_0):
            yield from self._intervals(sample, samples, statistics)

    def _exact_test(self, sample: Observations) -> Iterator[Outcome]:
        if sample.exchange is not None:
            statistics = sample.exchange.all_statistics(0, 1)
            rejects = _rejects(sample, statistics, exact=True)
            level = attainable_level(np.nan_to_num(statistics, posinf=1e9, neginf=-1e9))
            yield Outcome("size", "studentized", "difference", rejects, level)
        exchanged = sample.all_exchanges(0, 1)
        observed, scale = _difference(sample)
        p_value = float(permutation_p_value(exchanged, observed, exact=True, scale=scale))
        yield _tested("permutation", p_value, attainable_level(exchanged))

    def _tests(
        self, sample: Observations, differences: Array, statistics: Array, again: int
    ) -> Iterator[Outcome]:
        found = _difference(sample)
        level = attainable_level(np.nan_to_num(statistics, posinf=1e9, neginf=-1e9))
        rejects = _rejects(sample, statistics)
        yield Outcome("size", "studentized", "difference", rejects, level)
        exchanged = sample.exchanges(RESAMPLES, again, threads=1)(0, 1)
        level = attainable_level(np.append(exchanged, found[0]))
        p_value = float(permutation_p_value(exchanged, found[0], scale=found[1]))
        yield _tested("randomization", p_value, level)
        yield _tested("bootstrap", bootstrap_p_value(differences, *found))
        yield _tested("koehn", koehn_p_value(differences, *found))
        yield _tested("moses", moses_p_value(differences, *found))
        # Systems with equal corpus scores need not have equal means of segment scores.
        if sample.segments is None:
            return
        means = sample.segments.mean(axis=1)
        if self.cell.relation == "exchangeable" or np.allclose(means, sample.scores()):
            yield _tested("t-test", paired_t_test(*sample.segments).p_value)
            yield _tested("wilcoxon", wilcoxon_test(*sample.segments).p_value)

    def _intervals(
        self, sample: Observations, samples: Array, statistics: Array
    ) -> Iterator[Outcome]:
        scores, left_out, clamped = sample.scores(), sample.leave_one_out(), sample.clamped()
        if sample.exchange is not None and not clamped.any():
            reach = critical_value(statistics, LEVEL) * sample.exchange.error(0, 1)
            true = float(self.population.truth[0] - self.population.truth[1])
            hit = abs(float(scores[0] - scores[1]) - true) <= reach
            yield Outcome("coverage", "studentized", "difference", hit)
        for target, contrast in self._contrasts().items():
            if clamped[contrast != 0.0].any():
                continue
            observed = float(contrast @ scores)
            true = float(contrast @ self.population.truth)
            resampled, jackknife = samples @ contrast, contrast @ left_out
            student = jackknife_interval(observed, jackknife, LEVEL)
            for method, (low, high) in (
                ("jackknife", (student.low, student.high)),
                ("percentile", percentile_interval(resampled, LEVEL)),
                ("bca", bca_interval(resampled, observed, jackknife, LEVEL)),
            ):
                yield Outcome("coverage", method, target, low <= true <= high)

    def _contrasts(self) -> dict[str, Array]:
        """Targets, as sums of the two systems' scores."""
        contrasts = {"difference": np.array([1.0, -1.0])}
        if self.cell.relation != "different":
            contrasts["score of B"] = np.array([0.0, 1.0])
        return contrasts


def _rejects(sample: Observations, statistics: Array, *, exact: bool = False) -> bool:
    """As the default test of `compare_systems` does: nothing is claimed of a clamped score."""
    if sample.exchange is None or sample.clamped().any():
        return False
    found = sample.exchange.statistic(0, 1)
    p_value = permutation_p_value(statistics, found, exact=exact, scale=1e3 * abs(found))
    return float(p_value) < SIGNIFICANCE


def _difference(sample: Observations) -> tuple[float, float]:
    """The difference, and the size of the scores, beside which rounding is nothing."""
    first, second = sample.scores().tolist()
    return first - second, max(abs(first), abs(second))


def _tested(method: str, p_value: float, level: float | None = None) -> Outcome:
    return Outcome("size", method, "difference", p_value < SIGNIFICANCE, level)


def attainable_level(exchanged: Array, significance: float = SIGNIFICANCE) -> float:
    """The largest p-value below the significance that one of these exchanges would have.

    Given the outputs and not which system made which, this is the exact size of the test.

    Examples
    --------
    >>> attainable_level(np.array([3.0, 1.0, -1.0, -3.0] * 10), 0.6)
    0.5
    """
    sizes = np.abs(exchanged)
    rank = int(np.ceil(significance * len(sizes) - 1e-9))
    largest = float(np.partition(sizes, len(sizes) - rank)[len(sizes) - rank])
    slack = 1e-9 * max(1.0, largest)
    return float((sizes > largest + slack).mean())
