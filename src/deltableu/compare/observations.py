"""What several systems did on the same items, ready to be resampled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.score import PooledStatistics, Scoring, Statistics
from deltableu.stats import all_choices, bootstrap_sums, choice_streams, chosen_sums

__all__ = ["Comparable", "Observations", "PooledObservations", "RowObservations", "observe"]

Value = TypeVar("Value")
Comparable = Scoring | ScoreTable | Mapping[str, Statistics] | Mapping[str, Sequence[float]]
_ANY = (-np.inf, np.inf)
#: Exchanges of pooled outputs that are tried at once, and places of outputs held in memory.
_LARGEST_CHUNK = 1024
_CELLS = 4_000_000
#: Differences between systems number a and b after random exchanges of their outputs.
Exchanges = Callable[[int, int], Array]


@dataclass(frozen=True, slots=True, eq=False)
class Observations(ABC):
    """One metric on several systems.

    Attributes
    ----------
    metric : str
    systems, items : tuple of str
    segments : array or None
        Systems x items; None for metrics that say nothing about single segments.
    higher_is_better : bool
    mean_of_segments : bool
        Whether a system's score is the mean of its segments' scores.
    limits : (float, float)
        Lowest and highest score.
    signature : str
        Of the scores.
    """

    metric: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    segments: Array | None
    higher_is_better: bool
    mean_of_segments: bool
    limits: tuple[float, float]
    signature: str

    @property
    def can_bootstrap(self) -> bool:
        """Whether samples with repeated items are like samples of other items."""
        return True

    @abstractmethod
    def scores(self) -> Array:
        """The score of each system."""

    @abstractmethod
    def leave_one_out(self) -> Array:
        """Systems x items: the score without each item in turn."""

    @abstractmethod
    def bootstrap(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Array:
        """Trials x systems: scores on items drawn with replacement, the same for all systems."""

    @abstractmethod
    def exchanges(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Exchanges:
        """Differences of two systems whose outputs were exchanged at random, item by item."""

    @abstractmethod
    def all_exchanges(self, first: int, second: int) -> Array:
        """Differences after every possible exchange of the items on which the two differ."""

    @abstractmethod
    def differing_items(self, first: int, second: int) -> int:
        """On how many items the two systems differ as far as the metric can see."""


@dataclass(frozen=True, slots=True, eq=False)
class RowObservations(Observations):
    """Systems whose rows can be added up: systems x items x columns."""

    rows: Array
    aggregate: Callable[[Array], Array]

    def scores(self) -> Array:
        return self.aggregate(self.rows.sum(axis=1))

    def leave_one_out(self) -> Array:
        return self.aggregate(self.rows.sum(axis=1, keepdims=True) - self.rows)

    def bootstrap(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Array:
        sums = bootstrap_sums(
            self._side_by_side(), trials, seed, threads=threads, progress=progress
        )
        return self.aggregate(sums.reshape(trials, len(self.systems), -1))

    def exchanges(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
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

    def differing_items(self, first: int, second: int) -> int:
        return int((self.rows[first] != self.rows[second]).any(axis=1).sum())

    def _side_by_side(self) -> Array:
        """Items x the columns of all systems."""
        return self.rows.transpose(1, 0, 2).reshape(len(self.items), -1)


@dataclass(frozen=True, slots=True, eq=False)
class PooledObservations(Observations):
    """Systems whose n-grams are pooled: nothing can be added up, samples are pooled anew."""

    statistics: tuple[PooledStatistics, ...]

    @property
    def can_bootstrap(self) -> bool:
        return False

    def scores(self) -> Array:
        return np.array([rows.score().score for rows in self.statistics])

    def leave_one_out(self) -> Array:
        return np.stack([rows.leave_one_out()[1] for rows in self.statistics])

    def bootstrap(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Array:
        raise InputError(
            f"the bootstrap is biased for {self.metric}, since what a sample repeats is not new; "
            "use randomization"
        )

    def exchanges(
        self,
        trials: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Exchanges:
        def differences(first: int, second: int) -> Array:
            chunks = choice_streams(len(self.items), trials, seed)
            return self._exchanged(first, second, _told(chunks, trials, progress))

        return differences

    def all_exchanges(self, first: int, second: int) -> Array:
        places = np.arange(len(self.items))
        every = range(0, 1 << len(self.items), _LARGEST_CHUNK)
        chunks = (
            ((np.arange(start, min(start + _LARGEST_CHUNK, every.stop))[:, None] >> places) & 1)
            for start in every
        )
        return self._exchanged(first, second, (chunk.astype(bool) for chunk in chunks))

    def differing_items(self, first: int, second: int) -> int:
        return len(self.items)

    def _exchanged(self, first: int, second: int, chunks: Iterator[Any]) -> Array:
        both = self.statistics[first].joined(self.statistics[second])
        size = len(self.items)
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
    source: Comparable, *, systems: Sequence[str] | None = None, higher_is_better: bool = True
) -> list[Observations]:
    """One `Observations` a metric, from whatever holds scores of several systems.

    Parameters
    ----------
    source : Scoring, ScoreTable, or mapping of str to Statistics or to per-item scores
    systems : list of str, optional
        Only these.
    higher_is_better : bool
        Of tables and lists of scores; metrics know it themselves.
    """
    if isinstance(systems, str):
        raise InputError(f"systems must be a list of names, got {systems!r}")
    if isinstance(source, Scoring):
        metrics: dict[Any, dict[str, Statistics]] = {}
        for scored in source.scores:
            metrics.setdefault(scored.rows.metric, {})[scored.system] = scored.rows
        if not metrics:
            raise InputError("there is nothing to compare: nothing was scored")
        return [_from_statistics(_only(one, systems), source.item_ids) for one in metrics.values()]
    if isinstance(source, ScoreTable):
        if not source.metrics:
            raise InputError("there is nothing to compare: the table holds no scores")
        table = source if systems is None else source.select(systems=systems)
        return [_from_table(table, metric, higher_is_better) for metric in table.metrics]
    if not isinstance(source, Mapping):
        raise InputError(
            "compare_systems takes a Scoring, a ScoreTable or a mapping from systems to "
            f"statistics or scores, got {type(source).__name__}"
        )
    for name in source:
        if not isinstance(name, str):
            raise InputError(f"systems are named by strings, got {name!r}")
    given: Mapping[str, Any] = _only(source, systems)
    statistics = {name: rows for name, rows in given.items() if isinstance(rows, Statistics)}
    if statistics and len(statistics) == len(given):
        return [_from_statistics(statistics, None)]
    if statistics:
        raise InputError("give statistics for every system, or scores for every system")
    return [_from_lists(given, higher_is_better)]


def _only(source: Mapping[str, Value], systems: Sequence[str] | None) -> Mapping[str, Value]:
    if systems is None:
        return source
    for name in systems:
        if name not in source:
            raise InputError(f"there is no system {name!r}; there are {', '.join(source)}")
        if list(systems).count(name) > 1:
            raise InputError(f"system {name!r} is named twice")
    return {name: source[name] for name in systems}


def _from_statistics(
    systems: Mapping[str, Statistics], item_ids: Sequence[str] | None
) -> Observations:
    sizes = {name: len(one) for name, one in systems.items()}
    items = _checked(tuple(systems), sizes, item_ids)
    statistics = tuple(systems.values())
    first = statistics[0]
    metric = first.metric
    for name, one in systems.items():
        if one.metric != metric:
            raise InputError(
                f"system {name!r} was scored with another metric or other settings than "
                f"{next(iter(systems))!r}"
            )
        if one.info != first.info:
            raise InputError(
                f"system {name!r} was scored on other items or references than "
                f"{next(iter(systems))!r}"
            )
    common = (metric.name, tuple(systems), items)
    rows = np.stack([one.rows for one in statistics])
    _check_numbers(rows, tuple(systems), items)
    segments = None
    if metric.has_segments:
        segments = np.stack([one.segment_scores() for one in statistics])
    signature = str(metric.signature(first.info))
    if isinstance(first, PooledStatistics):
        pooled = tuple(one for one in statistics if isinstance(one, PooledStatistics))
        return PooledObservations(
            *common, segments, metric.higher_is_better, False, metric.limits, signature, pooled
        )
    scores = metric.aggregate(rows.sum(axis=1))
    if segments is not None:
        _check_spread(metric.name, np.column_stack((segments, scores)))
    means = segments is not None and _are_means(segments, scores)
    higher, limits = metric.higher_is_better, metric.limits
    return RowObservations(
        *common, segments, higher, means, limits, signature, rows, metric.aggregate
    )


def _are_means(segments: Array, scores: Array) -> bool:
    return bool(np.allclose(segments.mean(axis=1), scores, rtol=1e-9, atol=1e-9))


def _from_table(table: ScoreTable, metric: str, higher_is_better: bool) -> Observations:
    missing = table.select(metrics=[metric]).first_missing()
    if missing is not None:
        _, system, item = missing
        score = f"{metric} score" if len(table.metrics) > 1 else "score"
        raise InputError(
            f"system {system!r} has no {score} for item {item!r}; systems are compared on the "
            "same items"
        )
    return _from_means(metric, table.systems, table.items, table.only(metric), higher_is_better)


def _from_lists(systems: Mapping[str, Sequence[float]], higher_is_better: bool) -> Observations:
    sizes = {}
    lists = {}
    for name, values in systems.items():
        try:
            lists[name] = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"the scores of system {name!r} are not all numbers") from None
        if lists[name].ndim != 1:
            raise InputError(f"the scores of system {name!r} must be one number an item")
        sizes[name] = len(lists[name])
    items = _checked(tuple(lists), sizes, None)
    return _from_means(
        "score", tuple(lists), items, np.stack(list(lists.values())), higher_is_better
    )


def _from_means(
    metric: str,
    systems: tuple[str, ...],
    items: tuple[str, ...],
    segments: Array,
    higher_is_better: bool,
) -> Observations:
    _checked(systems, dict.fromkeys(systems, len(items)), items)
    rows = np.stack((segments, np.ones_like(segments)), axis=-1)
    _check_numbers(rows, systems, items)
    _check_spread(metric, segments)
    signature = f"metric:{metric}|average:segments|items:{len(items)}"
    return RowObservations(
        metric, systems, items, segments, higher_is_better, True, _ANY, signature, rows, _mean
    )


def _mean(sums: Array) -> Array:
    means: Array = sums[..., 0] / sums[..., 1]
    return means


def _checked(
    systems: tuple[str, ...], sizes: Mapping[str, int], item_ids: Sequence[str] | None
) -> tuple[str, ...]:
    """The items, if there is something to compare on them."""
    if len(systems) < 2:
        only = f": there is only {systems[0]!r}" if systems else ""
        raise InputError(f"a comparison needs at least two systems{only}")
    first = systems[0]
    for name in systems:
        if sizes[name] != sizes[first]:
            raise InputError(
                f"system {name!r} has {sizes[name]} items, but {first!r} has {sizes[first]}; "
                "systems are compared on the same items"
            )
    if sizes[first] < 2:
        raise InputError(f"a comparison needs at least two items, got {sizes[first]}")
    return tuple(item_ids) if item_ids is not None else tuple(map(str, range(sizes[first])))


def _check_numbers(rows: Array, systems: tuple[str, ...], items: tuple[str, ...]) -> None:
    wrong = np.argwhere(~np.isfinite(rows))
    if len(wrong):
        system, item, _ = wrong[0].tolist()
        value = float(rows[tuple(wrong[0])])
        raise InputError(
            f"system {systems[system]!r}, item {items[item]!r}: a score must be a finite number, "
            f"got {value:g}"
        )


def _check_spread(metric: str, scores: Array) -> None:
    if (scores == scores[0, 0]).all():
        message = f"every score of {metric} is {scores[0, 0]:g}: there is nothing to compare"
        raise InputError(message)
