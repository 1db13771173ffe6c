"""What several systems did on the same items, ready to be resampled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deltableu._types import Array, Bools, Ints, Steps
from deltableu.corpus import ScoreTable, with_runs
from deltableu.errors import InputError, check_known
from deltableu.score import PooledStatistics, Scoring, Statistics
from deltableu.stats import (
    Aggregate,
    Exchange,
    Gradient,
    all_choices,
    bootstrap_sums,
    choice_streams,
    chosen_sums,
    group_numbers,
    mean_score,
    mean_score_gradient,
    sum_groups,
)

_ANY = (-np.inf, np.inf)
#: Exchanges of pooled outputs that are tried at once, and places of outputs held in memory.
_LARGEST_CHUNK = 1024
_CELLS = 4_000_000
#: Differences between systems number a and b after random exchanges of their outputs.
Exchanges = Callable[[int, int], Array]


@dataclass(frozen=True, eq=False, kw_only=True)
class Observations(ABC):
    """One metric on several systems.

    What is resampled, left out or exchanged is a unit: an item, or a group of items that belong
    together.

    Attributes
    ----------
    metric : str
    systems, items : tuple of str
    numbers : array of int or None
        The number of each item's group, where items come in groups.
    segments : array or None
        Systems x items; None for metrics that say nothing about single segments.
    higher_is_better : bool
    limits : (float, float)
        Lowest and highest score.
    signature : str
        The signature of the scores.
    """

    #: Whether samples with repeated items are like samples of other items.
    can_bootstrap: ClassVar[bool] = True

    metric: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    numbers: Ints | None = None
    segments: Array | None
    higher_is_better: bool
    limits: tuple[float, float]
    signature: str

    @property
    def units(self) -> int:
        """How many items there are, or groups of them."""
        return len(self.items) if self.numbers is None else int(self.numbers.max()) + 1

    @abstractmethod
    def scores(self) -> Array:
        """The score of each system."""

    @abstractmethod
    def leave_one_out(self) -> Array:
        """Systems x units: the score without each unit in turn."""

    @abstractmethod
    def bootstrap(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Array:
        """Trials x systems: scores on units drawn with replacement, the same for all systems."""

    @abstractmethod
    def exchanges(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Exchanges:
        """Differences of two systems whose outputs were exchanged at random, unit by unit."""

    @abstractmethod
    def all_exchanges(self, first: int, second: int) -> Array:
        """Differences after every possible exchange of the units on which the two differ."""

    @abstractmethod
    def differing(self, first: int, second: int) -> int:
        """On how many units the two systems differ as far as the metric can see."""

    @property
    def exchange(self) -> Exchange | None:
        """Standard errors, and statistics of exchanges, for metrics whose rows add up."""
        return None

    def clamped(self) -> Bools:
        """Which systems' scores stand still, see `Metric.clamped`."""
        return np.zeros(len(self.systems), dtype=bool)

    def bends(self) -> dict[str, list[str]]:
        """What bends scores too near, see `Metric.bends`, with the systems that it is near."""
        return {}


@dataclass(frozen=True, eq=False, kw_only=True)
class RowObservations(Observations):
    """Systems whose rows can be added up: systems x units x columns."""

    rows: Array
    aggregate: Aggregate
    gradient: Gradient
    standing_still: Callable[[Array], Bools] | None = None
    bending: Callable[[Array], tuple[str, ...]] | None = None

    @cached_property
    def exchange(self) -> Exchange:
        return Exchange(self.rows, self.aggregate, self.gradient)

    def clamped(self) -> Bools:
        if self.standing_still is None:
            return super().clamped()
        return self.standing_still(self.rows.sum(axis=1))

    def bends(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        if self.bending is not None:
            for system, rows, still in zip(self.systems, self.rows, self.clamped(), strict=True):
                for what in () if still else self.bending(rows):
                    found.setdefault(what, []).append(system)
        return found

    def scores(self) -> Array:
        return self.aggregate(self.rows.sum(axis=1))

    def leave_one_out(self) -> Array:
        return self.aggregate(self.rows.sum(axis=1, keepdims=True) - self.rows)

    def bootstrap(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Array:
        sums = bootstrap_sums(
            self._side_by_side(), trials, seed, threads=threads, progress=progress
        )
        return self.aggregate(sums.reshape(trials, len(self.systems), -1))

    def exchanges(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Exchanges:
        sums = chosen_sums(self._side_by_side(), trials, seed, threads=threads, progress=progress)
        chosen = sums.reshape(trials, len(self.systems), -1)
        totals = self.rows.sum(axis=1)

        def differences(first: int, second: int) -> Array:
            moved = chosen[:, second] - chosen[:, first]
            return self.aggregate(totals[first] + moved) - self.aggregate(totals[second] - moved)

        return differences

    def all_exchanges(self, first: int, second: int) -> Array:
        apart = self.rows[second] - self.rows[first]
        moved = all_choices(apart[(apart != 0.0).any(axis=1)])
        totals = self.rows.sum(axis=1)
        return self.aggregate(totals[first] + moved) - self.aggregate(totals[second] - moved)

    def differing(self, first: int, second: int) -> int:
        return self.exchange.differing(first, second)

    def _side_by_side(self) -> Array:
        """Units x the columns of all systems."""
        return self.rows.transpose(1, 0, 2).reshape(self.units, -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledObservations(Observations):
    """Systems whose n-grams are pooled: nothing can be added up, samples are pooled anew."""

    can_bootstrap: ClassVar[bool] = False

    statistics: tuple[PooledStatistics, ...]

    def scores(self) -> Array:
        return np.array([rows.score().score for rows in self.statistics])

    def leave_one_out(self) -> Array:
        return np.stack([rows.leave_one_out()[1] for rows in self.statistics])

    def bootstrap(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Array:
        raise InputError(
            f"the bootstrap is biased for {self.metric}, since what a sample repeats is not new; "
            "use randomization"
        )

    def exchanges(
        self, trials: int, seed: int, threads: int | None = None, progress: Steps | None = None
    ) -> Exchanges:
        def differences(first: int, second: int) -> Array:
            chunks = choice_streams(self.units, trials, seed)
            return self._exchanged(first, second, _told(chunks, trials, progress))

        return differences

    def all_exchanges(self, first: int, second: int) -> Array:
        places = np.arange(self.units)
        every = range(0, 1 << self.units, _LARGEST_CHUNK)
        chunks = (
            ((np.arange(start, min(start + _LARGEST_CHUNK, every.stop))[:, None] >> places) & 1)
            for start in every
        )
        return self._exchanged(first, second, (chunk.astype(bool) for chunk in chunks))

    def differing(self, first: int, second: int) -> int:
        return self.units

    def _exchanged(self, first: int, second: int, chunks: Iterator[Any]) -> Array:
        both = self.statistics[first].joined(self.statistics[second])
        size = self.units
        places = np.arange(size)
        step = max(1, _CELLS // size)
        parts = [
            both.resample(places + size * swapped) - both.resample(places + size * ~swapped)
            for chunk in chunks
            for swapped in np.split(chunk, range(step, len(chunk), step))
        ]
        return np.concatenate(parts)


def _told(chunks: Iterator[Any], trials: int, progress: Steps | None) -> Iterator[Any]:
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        if progress is not None:
            progress(done, trials)


def observe(
    source: Scoring | ScoreTable | Mapping[str, Statistics] | Mapping[str, Sequence[float]],
    *,
    systems: Sequence[str] | None = None,
    groups: Sequence[str] | Mapping[str, str] | None = None,
) -> list[Observations]:
    """One `Observations` per metric, from whatever holds scores of several systems.

    Parameters
    ----------
    source : Scoring, ScoreTable, or mapping of str to Statistics or to per-item scores
    systems : list of str, optional
        Only these; a system's name stands for all its runs.
    groups : list of str, or mapping of item to group, optional
        What each item belongs to; by default what a `Scoring` says.
    """
    if isinstance(systems, str):
        raise InputError(f"systems must be a list of names, got {systems!r}")
    if isinstance(source, Scoring):
        metrics: dict[Any, dict[str, Statistics]] = {}
        for scored in source.scores:
            metrics.setdefault(scored.rows.metric, {})[scored.system] = scored.rows
        if not metrics:
            raise InputError("there is nothing to compare: nothing was scored")
        given_groups = source.groups if groups is None else groups
        return [
            _from_statistics(one, systems, source.item_ids, given_groups)
            for one in metrics.values()
        ]
    if isinstance(source, Mapping):
        given: Mapping[str, Any] = source
        for name in given:
            if not isinstance(name, str):
                raise InputError(f"systems are named by strings, got {name!r}")
        kinds = {isinstance(rows, Statistics) for rows in given.values()}
        if kinds == {True}:
            return [_from_statistics(given, systems, None, groups)]
        if len(kinds) > 1:
            raise InputError("give statistics for every system, or scores for every system")
        _check_systems(tuple(given))
        source = ScoreTable.of({"score": given})
    if not isinstance(source, ScoreTable):
        raise InputError(
            "compare_systems takes a Scoring, a ScoreTable or a mapping from systems to "
            f"statistics or scores, got {type(source).__name__}"
        )
    if not source.metrics:
        raise InputError("there is nothing to compare: the table holds no scores")
    table = source.select(systems=systems and with_runs(systems, source.systems))
    return [_from_table(table.select(metrics=[metric]), source, groups) for metric in table.metrics]


def _from_statistics(
    given: Mapping[str, Statistics],
    wanted: Sequence[str] | None,
    item_ids: Sequence[str] | None,
    groups: Sequence[str] | Mapping[str, str] | None,
) -> Observations:
    systems = tuple(given if wanted is None else with_runs(wanted, tuple(given)))
    for name in systems:
        check_known("system", name, given)
        if systems.count(name) > 1:
            raise InputError(f"system {name!r} is named twice")
    _check_systems(systems)
    statistics = tuple(given[name] for name in systems)
    first, metric = statistics[0], statistics[0].metric
    for name, one in zip(systems, statistics, strict=True):
        if len(one) != len(first):
            raise InputError(
                f"system {name!r} has {len(one)} items, but {systems[0]!r} has {len(first)}; "
                "systems are compared on the same items"
            )
        if one.metric != metric:
            raise InputError(
                f"system {name!r} was scored with another metric or other settings than "
                f"{systems[0]!r}"
            )
        if one.info != first.info:
            raise InputError(
                f"system {name!r} was scored on other items or references than {systems[0]!r}"
            )
    items = tuple(map(str, range(len(first)))) if item_ids is None else tuple(item_ids)
    _check_items(items)
    rows = np.stack([one.rows for one in statistics])
    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        system, item, _ = wrong[0].tolist()
        raise InputError(
            f"system {systems[system]!r}, item {items[item]!r}: a score must be a finite number, "
            f"got {float(rows[tuple(wrong[0])]):g}"
        )
    segments = None
    if metric.has_segments:
        segments = np.stack([one.segment_scores() for one in statistics])
    numbers = _numbers(items, groups)
    about: dict[str, Any] = {
        "metric": metric.name,
        "systems": systems,
        "items": items,
        "numbers": numbers,
        "segments": segments,
        "higher_is_better": metric.higher_is_better,
        "limits": metric.score_limits,
        "signature": f"{metric.signature(first.info)}{_group_part(numbers)}",
    }
    if isinstance(first, PooledStatistics):
        pooled = (one for one in statistics if isinstance(one, PooledStatistics))
        units = tuple(one if numbers is None else one.grouped(numbers) for one in pooled)
        return PooledObservations(**about, statistics=units)
    if segments is not None:
        scores = metric.aggregate(rows.sum(axis=1))
        _check_spread(metric.name, np.column_stack((segments, scores)))
    formula: tuple[Aggregate, Gradient] = (metric.aggregate, metric.gradient)
    if metric.averages_segments and segments is not None:
        rows, formula = _counted(segments), (mean_score, mean_score_gradient)
    return RowObservations(
        **about,
        rows=_by_unit(rows, numbers),
        aggregate=formula[0],
        gradient=formula[1],
        standing_still=metric.clamped,
        bending=metric.bends,
    )


def _counted(segments: Array) -> Array:
    """Scores of segments as rows whose sums have means."""
    return np.stack((segments, np.ones_like(segments)), axis=-1)


def _by_unit(rows: Array, numbers: Ints | None) -> Array:
    return rows if numbers is None else np.stack([sum_groups(one, numbers) for one in rows])


def _numbers(items: Sequence[str], groups: Sequence[str] | Mapping[str, str] | None) -> Ints | None:
    """The number of each item's group."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        missing = next((item for item in items if item not in groups), None)
        if missing is not None:
            raise InputError(f"item {missing!r} has no group")
        groups = [groups[item] for item in items]
    if isinstance(groups, str) or len(groups) != len(items):
        raise InputError(f"groups must name one group for each of {len(items)} items")
    nameless = next((item for item, one in zip(items, groups, strict=True) if one is None), None)
    if nameless is not None:
        raise InputError(f"item {nameless!r} has no group")
    numbers = group_numbers(groups)
    if int(numbers.max()) < 1:
        raise InputError("a comparison needs at least two groups of items, got 1")
    return numbers


def _group_part(numbers: Ints | None) -> str:
    return "" if numbers is None else f"|groups:{int(numbers.max()) + 1}"


def _from_table(
    table: ScoreTable, whole: ScoreTable, groups: Sequence[str] | Mapping[str, str] | None
) -> Observations:
    """The observations of one metric, whose totals are means of its items' scores."""
    _check_systems(table.systems)
    (metric,), (signature,) = table.metrics, table.signatures
    if not (table.has_items(metric) or np.isnan(table.totals).all()):
        raise InputError(f"{metric} has no scores of items, so that there is nothing to resample")
    _check_items(table.items)
    missing = table.first_missing()
    if missing is not None:
        score = f"{metric} score" if len(whole.metrics) > 1 else "score"
        raise InputError(
            f"system {missing[1]!r} has no {score} for item {missing[2]!r}; systems are compared "
            "on the same items"
        )
    segments = table.only(metric)
    if not np.allclose(segments.mean(axis=1), table.total(metric), rtol=1e-9, atol=1e-9):
        raise InputError(
            f"a system's {metric} is not the mean of its items' scores: compare the rows that "
            "score_systems gives"
        )
    _check_spread(metric, segments)
    numbers = _numbers(table.items, groups)
    rows = _counted(segments)
    return RowObservations(
        metric=metric,
        systems=table.systems,
        items=table.items,
        numbers=numbers,
        segments=segments,
        higher_is_better=table.higher_is_better[0],
        limits=_ANY,
        signature=(f"{signature}|average:segments|items:{len(table.items)}{_group_part(numbers)}"),
        rows=_by_unit(rows, numbers),
        aggregate=mean_score,
        gradient=mean_score_gradient,
    )


def _check_systems(systems: tuple[str, ...]) -> None:
    if len(systems) < 2:
        only = f": there is only {systems[0]!r}" if systems else ""
        raise InputError(f"a comparison needs at least two systems{only}")


def _check_items(items: tuple[str, ...]) -> None:
    if len(items) < 2:
        raise InputError(f"a comparison needs at least two items, got {len(items)}")


def _check_spread(metric: str, scores: Array) -> None:
    if (scores == scores[0, 0]).all():
        message = f"every score of {metric} is {scores[0, 0]:g}: there is nothing to compare"
        raise InputError(message)
