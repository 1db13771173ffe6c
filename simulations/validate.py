"""Size of the tests and coverage of the intervals of agreement with people.

Each cell names whom its claims are about. In some cells systems, items and metrics' biases are
drawn anew for each study; in others the systems stay and only items are drawn.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal, Protocol, get_args
from zlib import crc32

import numpy as np

from deltableu.stats.correlation import Method, correlation_test
from deltableu.stats.correlation_intervals import correlation_interval
from deltableu.stats.resampling import stream
from deltableu.stats.williams import WilliamsResult, williams_metrics, williams_test
from deltableu.validate.agreement_bootstrap import (
    BootstrapAgreement,
    Resample,
    bootstrap_agreement,
)
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import Level, agreement
from deltableu.validate.permutation import Swap, permutation_test
from simulations.replications import Outcome, Progress, Simulated, replicate
from simulations.tables import Row, measured
from simulations.validate_populations import (
    BIAS,
    LEVELS,
    SETS,
    Array,
    Shape,
    Table,
    draw,
    item_pools,
    true_value,
    unrelated,
)

__all__ = [
    "INTERVALS",
    "TESTS",
    "NoAgreement",
    "OtherSystems",
    "TheseSystems",
    "cells",
    "simulate",
]

SIGNIFICANCE = 0.05
LEVEL = 0.95
#: Of tests and of intervals; odd shares of them are just below 5%.
EXCHANGES = 200
RESAMPLES = 500

WILLIAMS = ("Williams, two-sided", "Williams, larger r first")
_EXCHANGED: dict[Swap, str] = {"systems": "PERM-SYS", "items": "PERM-INPUT", "both": "PERM-BOTH"}
_DRAWN: dict[Resample, str] = {"systems": "BOOT-SYS", "items": "BOOT-INPUT", "both": "BOOT-BOTH"}
TESTS = (*WILLIAMS, *_EXCHANGED.values(), *_DRAWN.values())
INTERVALS = (
    "formula",
    "formula, pearson",
    "formula, spearman",
    "formula, kendall-b",
    "bca, items",
    "percentile, items",
    "percentile, both",
)
ZERO_TESTS = ("by formula", "by bootstrap of items")

Kind = Literal["bca", "percentile"]

#: Formulas.
_METHODS: Mapping[Level, tuple[Method, ...]] = {
    "system": ("pearson", "spearman", "kendall-b"),
    "pooled": ("pearson",),
    "item": (),
}


class Cell(Simulated, Protocol):
    """What is simulated, and how its line of a table begins."""

    @property
    def data(self) -> str: ...

    @property
    def relation(self) -> str: ...

    @property
    def n(self) -> int: ...


@dataclass(frozen=True, slots=True)
class _Study:
    """Scores of a shape, metrics with a bias of that spread, and the size of a study."""

    shape: Shape
    bias: float
    systems: int
    n: int
    levels: tuple[Level, ...] = LEVELS

    @property
    def data(self) -> str:
        return f"{self.shape}, {self.systems} systems"

    @property
    def relation(self) -> str:
        return "biased" if self.bias else "unbiased"

    def rng(self, seed: int, number: int) -> np.random.Generator:
        """Adding another cell changes nothing in this one."""
        name = f"{type(self).__name__}|{self.data}|{self.bias}|{self.n}"
        return stream(seed, crc32(name.encode()), number)


@dataclass(frozen=True, slots=True)
class OtherSystems(_Study):
    """Systems and items are drawn anew, and with them the metrics' biases."""

    def sampler(self) -> OtherSystems:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = self.rng(seed, number)
        table = draw(rng, self.shape, self.bias, self.systems, self.n)
        again = int(rng.integers(1 << 62))
        for level in self.levels:
            few = level == "item"
            yield from _williams(table, level)
            yield from _exchanged(table, level, _EXCHANGED, again)
            yield from _drawn(table, level, ("items",) if few else tuple(_DRAWN), again)
        yield from self._intervals(table, again)

    def _intervals(self, table: Table, again: int) -> Iterator[Outcome]:
        for level in self.levels:
            for method in _METHODS[level]:
                truth = self._truth(level, method, self.n)
                found = _formula(table, level, method, truth)
                yield replace(found, method=f"formula, {method}", target=level)
            draws: tuple[Resample, ...] = ("items", "both")
            for resample in draws:
                # Without a bias whole systems agree perfectly, were there items enough.
                few = level == "system" and not self.bias
                truth = self._truth(level, "pearson", self.n if few else None)
                for drawn in _bootstrapped(table, level, "pearson", resample, truth, again):
                    yield replace(drawn, target=level)

    def _truth(self, level: Level, method: Method, items: int | None) -> float:
        systems = self.systems if level == "item" else 0
        return true_value(
            self.shape, self.bias, level, method, systems, items if level == "system" else None
        )


@dataclass(frozen=True, slots=True)
class TheseSystems(_Study):
    """The systems and the metrics' biases for them stay; items are drawn from all there are."""

    def sampler(self) -> _FixedSystems:
        pools = item_pools(self.shape, self.bias, self.systems)
        truths = tuple(
            {
                (level, method): float(agreement(one.x, one.human, method=method, level=level))
                for level in self.levels
                for method in _BY_ITEMS[level]
            }
            for one in pools
        )
        return _FixedSystems(self, truths)


#: What is bootstrapped over items.
_BY_ITEMS: Mapping[Level, tuple[Method, ...]] = {
    "system": ("pearson", "kendall-b"),
    "pooled": ("pearson", "kendall-b"),
    "item": ("pearson",),
}


@dataclass(frozen=True, slots=True)
class _FixedSystems:
    cell: TheseSystems
    truths: Sequence[Mapping[tuple[Level, Method], float]]

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        cell = self.cell
        rng = cell.rng(seed, number)
        pool = item_pools(cell.shape, cell.bias, cell.systems)[number % SETS]
        tables = pool.draw(rng, cell.n)
        again = int(rng.integers(1 << 62))
        for level in cell.levels:
            yield from _williams(tables[level], level)
            yield from _exchanged(tables[level], level, _EXCHANGED, again)
            yield from _drawn(tables[level], level, ("items",), again)
        for (level, method), truth in self.truths[number % SETS].items():
            # Without a bias whole systems agree perfectly on all items.
            if level == "system" and not cell.bias:
                continue
            # Kendall's of thousands of outputs takes too long to be done so often.
            if level == "pooled" and method == "kendall-b" and cell.n > 50:
                continue
            table = tables[level]
            if level == "pooled":
                yield _formula(table, level, method, truth)
            yield from _bootstrapped(table, level, method, "items", truth, again, get_args(Kind))


@dataclass(frozen=True, slots=True)
class NoAgreement(_Study):
    """The metric knows nothing of quality: true agreement over all systems is 0."""

    def sampler(self) -> NoAgreement:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        rng = self.rng(seed, number)
        table = unrelated(rng, self.shape, self.bias, self.systems, self.n)
        again = int(rng.integers(1 << 62))
        for level in LEVELS:
            if level != "item":
                x, human = _points(table.x, level), _points(table.human, level)
                p_value = correlation_test(x, human, "pearson").p_value
                yield _tested(ZERO_TESTS[0], f"{level}, pearson", p_value)
            if level != "system":
                found = _bootstrap(table, level, "pearson", "items", "percentile", again)
                yield _tested(ZERO_TESTS[1], f"{level}, pearson", found.p_value)


def cells() -> list[OtherSystems | TheseSystems | NoAgreement]:
    """All that is simulated of metrics."""
    found: list[OtherSystems | TheseSystems | NoAgreement] = []
    for shape in get_args(Shape):
        found += [
            OtherSystems(shape, 0.0, 10, 50),
            OtherSystems(shape, BIAS, 10, 50),
            OtherSystems(shape, BIAS, 10, 200, ("system", "pooled")),
            OtherSystems(shape, BIAS, 6, 50, ("system", "pooled")),
            TheseSystems(shape, 0.0, 10, 50),
            TheseSystems(shape, BIAS, 10, 50),
            TheseSystems(shape, BIAS, 10, 200, ("system", "pooled")),
            TheseSystems(shape, BIAS, 6, 50),
            NoAgreement(shape, 0.0, 10, 50),
            NoAgreement(shape, BIAS, 10, 50),
        ]
    return found


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Cell] | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> dict[Cell, list[Row]]:
    """Size and coverage in every cell; the same for any number of processes."""
    wanted: Sequence[Cell] = cells() if chosen is None else chosen
    with _one_thread_each():
        tallies = replicate(wanted, replications, seed, processes=processes, progress=progress)
    return {
        cell: [
            measured(
                what,
                method,
                cell.data,
                cell.relation,
                cell.n,
                target,
                SIGNIFICANCE if what == "size" else LEVEL,
                hits,
                replications,
                # All exchanges of few systems leave few possible p-values, and corrections may be
                # cautious.
                exact=method in ("holm", "bh")
                or (method == "PERM-SYS" and 2 ** getattr(cell, "systems", 99) <= EXCHANGES),
            )
            for (what, method, target), hits in tally.hits.items()
        ]
        for cell, tally in zip(wanted, tallies, strict=True)
    }


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile multiply matrices with one thread: theirs are small."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _williams(table: Table, level: Level) -> Iterator[Outcome]:
    if level == "item":
        return
    x, y, human = (_points(side, level) for side in (table.x, table.y, table.human))
    fixed = williams_metrics(human, x, y)
    for method, p_value in zip(
        WILLIAMS,
        (_again(fixed, "two-sided"), min(fixed.p_value, _again(fixed, "less"))),
        strict=True,
    ):
        yield _tested(method, level, p_value)


def _again(found: WilliamsResult, alternative: Literal["two-sided", "less"]) -> float:
    return williams_test(found.r12, found.r13, found.r23, found.n, alternative).p_value


def _exchanged(
    table: Table, level: Level, swaps: Mapping[Swap, str], again: int
) -> Iterator[Outcome]:
    for swap, method in swaps.items():
        found = permutation_test(
            table.x,
            table.y,
            table.human,
            level=level,
            swap=swap,
            resamples=EXCHANGES,
            seed=again,
            threads=1,
        )
        yield _tested(method, level, found.p_value)


def _drawn(
    table: Table, level: Level, resamples: Sequence[Resample], again: int
) -> Iterator[Outcome]:
    for resample in resamples:
        found = bootstrap_difference(
            table.x,
            table.y,
            table.human,
            level=level,
            resample=resample,
            resamples=EXCHANGES,
            seed=again,
            threads=1,
        )
        yield _tested(_DRAWN[resample], level, found.p_value)


def _formula(table: Table, level: Level, method: Method, truth: float) -> Outcome:
    value = float(agreement(table.x, table.human, method=method, level=level))
    size = len(table.x) if level == "system" else table.x.size
    interval = correlation_interval(value, size, method, LEVEL)
    return _covered("formula", f"{level}, {method}", (interval.low, interval.high), truth)


def _bootstrap(
    table: Table, level: Level, method: Method, resample: Resample, ci: Kind, again: int
) -> BootstrapAgreement:
    return bootstrap_agreement(
        table.x,
        table.human,
        method=method,
        level=level,
        resample=resample,
        interval=ci,
        resamples=RESAMPLES,
        seed=again,
        threads=1,
    )


def _bootstrapped(
    table: Table,
    level: Level,
    method: Method,
    resample: Resample,
    truth: float,
    again: int,
    kinds: Sequence[Kind] = ("percentile",),
) -> Iterator[Outcome]:
    for ci in kinds:
        found = _bootstrap(table, level, method, resample, ci, again).interval
        limits = found.low, found.high
        yield _covered(f"{ci}, {resample}", f"{level}, {method}", limits, truth)


def _points(scores: Array, level: Level) -> Array:
    return scores.mean(axis=1) if level == "system" else scores.ravel()


def _tested(method: str, target: str, p_value: float) -> Outcome:
    return Outcome("size", method, target, bool(p_value < SIGNIFICANCE))


def _covered(method: str, target: str, limits: tuple[float, float], truth: float) -> Outcome:
    """An interval without limits, where agreement is perfect, claims nothing."""
    low, high = limits
    return Outcome("coverage", method, target, isnan(low) or bool(low <= truth <= high))
