"""Scores of systems and of people in; how far they agree on units of M sentences, out.

An observation is a pair of systems on M sentences: the difference of a metric's scores there, and
that of people's (Galley et al. 2015, section 5). Sentences are assigned to units at random, many
times, and correlations are averaged over the assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Bools, Ints, Ints32, Steps
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.stats import Method, assigned_sums, check_method, correlate, in_chunks, stream

Orientation = Literal["fixed", "random", "both"]

_UNITS, _SIGNS = 11, 12  # keys of the random streams
#: Sums held in memory at once, per thread.
_NUMBERS = 2_000_000
_LARGEST_CHUNK = 32


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
class SummedScores:
    """What gives any set of sentences a score: rows that add up, and the score of a sum.

    Attributes
    ----------
    rows : array
        Systems x items x columns; or, where scores were collected per pair, pairs x 2 x items x
        columns.
    aggregate : callable
        From sums, columns on the last axis, to scores.
    """

    rows: Array
    aggregate: Callable[[Array], Array]

    @classmethod
    def of_means(cls, values: Array) -> SummedScores:
        """The mean of single scores, of which some may be missing (NaN)."""
        present = ~np.isnan(values)
        return cls(np.stack([np.where(present, values, 0.0), present], axis=-1), _mean)

    def of_pair(self, number: int, first: int, second: int) -> Array:
        """The rows of both systems of a pair, 2 x items x columns."""
        found: Array = self.rows[number] if self.rows.ndim == 4 else self.rows[[first, second]]
        return found


def _mean(sums: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Array = sums[..., 0] / sums[..., 1]
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class UnitCorrelations:
    """Correlations in each assignment.

    Attributes
    ----------
    values : array
        Metrics x methods x assignments; NaN where there is none.
    observations : int
        Units of all pairs, each counted twice where it has both orientations.
    """

    metrics: tuple[str, ...]
    methods: tuple[Method, ...]
    values: Array = field(repr=False)
    observations: int

    def mean(self) -> Array:
        """Metrics x methods: averages over the assignments that have a correlation."""
        there = ~np.isnan(self.values)
        counts = there.sum(axis=2)
        sums = np.where(there, self.values, 0.0).sum(axis=2)
        means: Array = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return means


@dataclass(frozen=True, slots=True, eq=False)
class PairedRows:
    """Pairs of systems with the rows of all metrics and of people side by side.

    Attributes
    ----------
    names : tuple of str
        The metrics.
    rows : tuple of array
        For each pair, its items x columns: those of the first system, then those of the second.
    items : tuple of array
        For each pair, the numbers of its items, for which people have a score of both systems.
    total : int
        Items in all.
    widths : tuple of int
        Columns of each metric and, last, of people.
    aggregates : tuple of callable
    """

    names: tuple[str, ...]
    rows: tuple[Array, ...]
    items: tuple[Ints, ...]
    total: int
    widths: tuple[int, ...]
    aggregates: tuple[Callable[[Array], Array], ...]

    @classmethod
    def of(
        cls,
        metrics: Mapping[str, SummedScores],
        people: SummedScores,
        pairs: Sequence[tuple[int, int]],
        rated: Bools,
    ) -> PairedRows:
        """Bring everything into one array per pair, so that sentences are gone through once.

        Parameters
        ----------
        metrics, people
            Higher is better for all.
        pairs
            Numbers of systems.
        rated
            Pairs x items: where people have scores of both systems.
        """
        if not metrics:
            raise InputError("there is no metric to validate")
        if not pairs:
            raise InputError("there is no pair of systems")
        sources = [*metrics.values(), people]
        rows, items = [], []
        for number, (first, second) in enumerate(pairs):
            there = np.flatnonzero(rated[number])
            sides = [one.of_pair(number, first, second)[:, there] for one in sources]
            columns = [side[place] for place in (0, 1) for side in sides]
            rows.append(np.ascontiguousarray(np.concatenate(columns, axis=1)))
            items.append(there)
        return cls(
            tuple(metrics),
            tuple(rows),
            tuple(items),
            rated.shape[1],
            tuple(one.rows.shape[-1] for one in sources),
            tuple(one.aggregate for one in sources),
        )

    def drawn(self, draw: Ints, pairs: Sequence[int] | None = None) -> PairedRows:
        """The same with items drawn again, and perhaps pairs."""
        rows, items = [], []
        for number in range(len(self.rows)) if pairs is None else pairs:
            place = np.full(self.total, -1)
            place[self.items[number]] = np.arange(len(self.items[number]))
            chosen = place[draw]
            kept = np.flatnonzero(chosen >= 0)
            rows.append(self.rows[number][chosen[kept]])
            items.append(kept)
        return replace(self, rows=tuple(rows), items=tuple(items), total=len(draw))

    def differences(self, sums: Array) -> list[Array]:
        """Score of the first system minus that of the second: each metric's, then people's."""
        found, left, width = [], 0, sum(self.widths)
        for columns, aggregate in zip(self.widths, self.aggregates, strict=True):
            first, second = (
                aggregate(np.ascontiguousarray(sums[..., start + left : start + left + columns]))
                for start in (0, width)
            )
            found.append(first - second)
            left += columns
        return found


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
    observations = sum(counts) * (2 if plan.orientation == "both" else 1)
    if observations < 2:
        raise InputError(
            f"units of {plan.size} sentences leave {observations} of them: choose smaller units"
        )
    largest = max(count * rows.shape[1] for count, rows in zip(counts, paired.rows, strict=True))

    def work(number: int, first: int, last: int) -> Array:
        pieces = [
            _pair_differences(paired, plan, pair, counts[pair], number, last - first)
            for pair in range(len(counts))
        ]
        *metrics, people = (np.concatenate(parts, axis=1) for parts in zip(*pieces, strict=True))
        found = [[correlate(metric, people, method) for method in methods] for metric in metrics]
        return np.moveaxis(np.asarray(found), 2, 0)

    chunk = max(1, min(_LARGEST_CHUNK, _NUMBERS // max(largest, 1)))
    found = in_chunks(work, plan.trials, chunk, threads, progress)
    return UnitCorrelations(paired.names, tuple(methods), np.moveaxis(found, 0, 2), observations)


def _pair_differences(
    paired: PairedRows, plan: UnitPlan, pair: int, count: int, chunk: int, trials: int
) -> list[Array]:
    """Differences on the units of one pair: trials x units, for each metric and for people."""
    units = assign(plan, paired.items[pair], paired.total, chunk, pair, trials)
    sums = assigned_sums(paired.rows[pair], units, count)
    found = paired.differences(sums)
    if plan.orientation == "both":
        return [np.concatenate([one, -one], axis=1) for one in found]
    if plan.orientation == "random":
        signs = orient(plan, chunk, pair, (trials, count))
        return [one * signs for one in found]
    return found


def assign(plan: UnitPlan, items: Ints, total: int, chunk: int, pair: int, trials: int) -> Ints32:
    """The number of each item's unit, trials x items; -1 for those that are left over."""
    if plan.shared:
        # A random order of all items, of which a pair takes its own.
        order = _orders(stream(plan.seed, _UNITS, chunk, 0), trials, total)
        if len(items) < total:
            order = order[:, items].argsort(axis=1).argsort(axis=1).astype(np.int32)
    else:
        order = _orders(stream(plan.seed, _UNITS, chunk, pair + 1), trials, len(items))
    units = np.ascontiguousarray(order // np.int32(plan.size))
    if not plan.partial:
        units[units >= len(items) // plan.size] = -1
    return units


def orient(plan: UnitPlan, chunk: int, pair: int, shape: tuple[int, int]) -> Array:
    """1 or -1 for each unit."""
    signs: Array = 2.0 * stream(plan.seed, _SIGNS, chunk, pair).integers(2, size=shape) - 1.0
    return signs


def _orders(generator: np.random.Generator, trials: int, size: int) -> Ints32:
    orders = np.broadcast_to(np.arange(size, dtype=np.int32), (trials, size))
    return generator.permuted(orders, axis=1)
