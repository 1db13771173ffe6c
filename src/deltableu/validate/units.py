"""Scores of systems and of people in; how far they agree on units of M sentences, out.

An observation is a pair of systems on M sentences: the difference of a metric's scores there, and
that of people's (Galley et al. 2015, section 5). Sentences are assigned to units at random, many
times, and correlations are averaged over the assignments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints, Ints32, Steps
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.stats import (
    Method,
    assigned_sums,
    average_ranks,
    check_method,
    correlate,
    in_chunks,
    random_orders,
    stream,
)
from deltableu.validate.unit_rows import PairedRows

Orientation = Literal["fixed", "random", "both"]

_UNITS, _SIGNS = 11, 12  # keys of the random streams
#: Assignments that share a random stream.
CHUNK = 32
#: Sums held in memory at once, per thread.
_NUMBERS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPlan:
    """How sentences are assigned to observation units.

    Attributes
    ----------
    size : int
        Sentences per unit (M).
    assignments : int
        Random assignments over which correlations are averaged. Units of one sentence differ only
        in their orientation, so that one suffices.
    orientation : {"random", "fixed", "both"}
        Whether a unit's difference is that of the first system from the second (`fixed`), of
        either from the other at random, or counts both ways.
    partial : bool
        Whether the sentences left over make a last, smaller unit.
    shared : bool
        Whether all pairs of systems share an assignment, or each draws its own.
    seed : int
    """

    size: int = 100
    assignments: int = 1000
    orientation: Orientation = "random"
    partial: bool = True
    shared: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least("size", self.size, 1)
        check_at_least("assignments", self.assignments, 1)
        check_at_least("seed", self.seed, 0)
        check_choice("orientation", self.orientation, get_args(Orientation))

    @property
    def trials(self) -> int:
        """Assignments that are drawn."""
        return 1 if self.size == 1 else self.assignments

    def units(self, sentences: int) -> int:
        """Units that so many sentences make."""
        return -(-sentences // self.size) if self.partial else sentences // self.size


@dataclass(frozen=True, slots=True, eq=False)
class UnitCorrelations:
    """Correlations in each assignment.

    Attributes
    ----------
    values : array
        Metrics x methods x assignments; NaN where there is none.
    units : int
        Units of all pairs in one assignment.
    """

    metrics: tuple[str, ...]
    methods: tuple[Method, ...]
    values: Array = field(repr=False)
    units: int

    def mean(self) -> Array:
        """Metrics x methods: averages over the assignments that have a correlation."""
        there = ~np.isnan(self.values)
        counts = there.sum(axis=2)
        sums = np.where(there, self.values, 0.0).sum(axis=2)
        means: Array = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return means


def unit_correlations(
    paired: PairedRows,
    plan: UnitPlan,
    methods: Sequence[Method] = ("spearman", "kendall-b"),
    *,
    threads: int | None = None,
    progress: Steps | None = None,
) -> UnitCorrelations:
    """Correlate differences of metrics with those of people on units of M sentences.

    All metrics share the assignments. A unit is of one pair of systems.

    References
    ----------
    Galley et al. 2015, "deltaBLEU", section 5.
    """
    for method in methods:
        check_method(method)
    counts = [plan.units(len(items)) for items in paired.items]
    if sum(counts) * (2 if plan.orientation == "both" else 1) < 2:
        raise InputError(
            f"units of {plan.size} sentences leave {sum(counts)} of them: choose smaller units"
        )

    columns = sum(counts) * paired.rows[0].shape[1]

    def work(number: int, first: int, last: int) -> Array:
        trials = last - first
        units = [
            assign(plan, items, paired.total, number, pair, trials)
            for pair, items in enumerate(paired.items)
        ]
        step = max(1, _NUMBERS // max(columns, 1))
        parts = [
            paired.differences(_sums(paired, [one[t : t + step] for one in units], counts))
            for t in range(0, trials, step)
        ]
        found = [np.concatenate(one) for one in zip(*parts, strict=True)]
        if plan.orientation == "random":
            signs = [orient(plan, number, pair, (trials, n)) for pair, n in enumerate(counts)]
            found = [one * np.concatenate(signs, axis=1) for one in found]
        elif plan.orientation == "both":
            found = [np.concatenate([one, -one], axis=1) for one in found]
        *metrics, people = found
        values = [_correlated(metrics, people, method) for method in methods]
        return np.moveaxis(np.asarray(values), 2, 0).swapaxes(1, 2)

    found = in_chunks(work, plan.trials, CHUNK, threads, progress)
    return UnitCorrelations(paired.names, tuple(methods), np.moveaxis(found, 0, 2), sum(counts))


def _correlated(metrics: Sequence[Array], people: Array, method: Method) -> list[Array]:
    """Each metric's correlations; people are ranked once for all of them."""
    if method == "spearman":
        ranks = average_ranks(people)
        return [correlate(average_ranks(one), ranks, "pearson") for one in metrics]
    return [correlate(one, people, method) for one in metrics]


def _sums(paired: PairedRows, units: Sequence[Ints32], counts: Sequence[int]) -> Array:
    """Trials x units of all pairs x columns."""
    found = zip(paired.rows, units, counts, strict=True)
    return np.concatenate([assigned_sums(*one) for one in found], axis=1)


def assign(plan: UnitPlan, items: Ints, total: int, chunk: int, pair: int, trials: int) -> Ints32:
    """The number of each item's unit, trials x items; -1 for those that are left over."""
    if plan.shared:
        # A random order of all items, of which a pair takes its own.
        order = random_orders(stream(plan.seed, _UNITS, chunk, 0), trials, total)
        if len(items) < total:
            order = order[:, items].argsort(axis=1).argsort(axis=1).astype(np.int32)
    else:
        order = random_orders(stream(plan.seed, _UNITS, chunk, pair + 1), trials, len(items))
    units = np.ascontiguousarray(order // np.int32(plan.size))
    if not plan.partial:
        units[units >= len(items) // plan.size] = -1
    return units


def orient(plan: UnitPlan, chunk: int, pair: int, shape: tuple[int, int]) -> Array:
    """1 or -1 for each unit."""
    heads = stream(plan.seed, _SIGNS, chunk, pair).integers(2, size=shape)
    return np.where(heads == 1, 1.0, -1.0)
