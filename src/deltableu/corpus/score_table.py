"""Scores of metrics, or of people, per system and item: one table for all that give or take any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_kind, hint_at
from deltableu.io import Cell, Column, Table, Tabular, mark_best

#: Names that a sentence lists of those that there are.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable(Tabular):
    """Scores of each metric for each system and item; NaN where there is none.

    Attributes
    ----------
    metrics, systems, items : tuple of str
        In the order in which they were first met. There may be no items, only totals.
    values : array
        `values[m, s, i]` is what metric m gives to the output of system s for item i; all NaN for a
        metric that says nothing about single outputs.
    totals : array
        `totals[m, s]` is the score of system s under metric m: a corpus score where the metric has
        one of its own, else the mean of its items' scores.
    higher_is_better : tuple of bool
        For each metric, whether more is better.
    signatures : tuple of str
        For each metric, what must agree for scores to be comparable.
    lengths : array or None
        Tokens of each output, systems x items.

    Examples
    --------
    >>> table = ScoreTable.of({"comet": {"A": [0.8, 0.6], "B": [0.7, 0.9]}})
    >>> table.only("comet").shape, table.systems, table.total("comet").tolist()
    ((2, 2), ('A', 'B'), [0.7, 0.8])
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    items: tuple[str, ...]
    values: Array
    totals: Array
    higher_is_better: tuple[bool, ...]
    signatures: tuple[str, ...]
    lengths: Array | None = None

    def __post_init__(self) -> None:
        shape = tuple(map(len, (self.metrics, self.systems, self.items)))
        arrays = {"values": (self.values, shape), "totals": (self.totals, shape[:2])}
        for name, (array, wanted) in arrays.items():
            if np.shape(array) != wanted:
                raise InputError(f"{name} must be an array of shape {wanted}, got {array!r:.80}")
            check_kind(name, array, np.ndarray)

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Mapping[str, Sequence[float]]],
        items: Sequence[str] | None = None,
        *,
        lower_is_better: Sequence[str] = (),
    ) -> ScoreTable:
        """From metric -> system -> scores in the order of the items."""
        if not any(scores.values()):
            raise InputError("there are no scores: give metric -> system -> scores")
        systems = tuple(dict.fromkeys(name for metric in scores.values() for name in metric))
        rows = {
            (m, s): _numbers(name, metric[name])
            for m, metric in enumerate(scores.values())
            for s, name in enumerate(systems)
            if name in metric
        }
        (_, first), row = next(iter(rows.items()))
        for (_, s), other in rows.items():
            if len(other) != len(row):
                raise InputError(
                    f"system {systems[s]!r} has {len(other)} scores, but {systems[first]!r} has "
                    f"{len(row)}; give every system one score per item"
                )
        names = tuple(map(str, range(len(row)))) if items is None else tuple(items)
        if len(names) != len(row):
            raise InputError(f"there are {len(names)} items, but {len(row)} scores per system")
        values = np.full((len(scores), len(systems), len(row)), np.nan)
        for place, other in rows.items():
            values[place] = other
        return cls.from_arrays(
            tuple(scores), systems, names, values, lower_is_better=lower_is_better
        )

    @classmethod
    def from_arrays(
        cls,
        metrics: Sequence[str],
        systems: Sequence[str],
        items: Sequence[str],
        values: Array,
        *,
        totals: Array | None = None,
        lower_is_better: Sequence[str] = (),
        signatures: Sequence[str] | None = None,
        lengths: Array | None = None,
    ) -> ScoreTable:
        """From metrics x systems x items; totals are means over items where none are given."""
        for what, names in (("metric", metrics), ("system", systems), ("item", items)):
            _check_once(names, what)
        wrong = np.argwhere(np.isinf(values))
        if len(wrong):
            m, s, i = wrong[0].tolist()
            of = f"{metrics[m]}, " if len(metrics) > 1 else ""
            raise InputError(
                f"{of}system {systems[s]!r}, item {items[i]!r}: a score must be a finite number, "
                f"got {float(values[m, s, i]):g}"
            )
        _places(lower_is_better, metrics, "metric")
        return cls(
            tuple(metrics),
            tuple(systems),
            tuple(items),
            values,
            _means(values) if totals is None else totals,
            tuple(name not in lower_is_better for name in metrics),
            tuple(signatures or (f"metric:{name}" for name in metrics)),
            lengths,
        )

    def only(self, metric: str) -> Array:
        """Systems x items of one metric."""
        scores: Array = self.values[_places([metric], self.metrics, "metric")[0]]
        return scores

    def total(self, metric: str) -> Array:
        """The score of each system under one metric."""
        scores: Array = self.totals[_places([metric], self.metrics, "metric")[0]]
        return scores

    def has_items(self, metric: str) -> bool:
        """Whether a metric has scores of single outputs."""
        return not np.isnan(self.only(metric)).all()

    def select(
        self,
        *,
        systems: Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        items: Sequence[str] | None = None,
    ) -> ScoreTable:
        """Some systems, metrics and items, in the order asked for; systems keep their totals."""
        m = _chosen(metrics, self.metrics, "metric")
        s = _chosen(systems, self.systems, "system")
        i = _chosen(items, self.items, "item")
        return ScoreTable(
            tuple(self.metrics[place] for place in m),
            tuple(self.systems[place] for place in s),
            tuple(self.items[place] for place in i),
            self.values[np.ix_(m, s, i)],
            self.totals[np.ix_(m, s)],
            tuple(self.higher_is_better[place] for place in m),
            tuple(self.signatures[place] for place in m),
            None if self.lengths is None else self.lengths[np.ix_(s, i)],
        )

    def with_lower_better(self, metrics: Sequence[str]) -> ScoreTable:
        """The same, lower scores being better for these metrics."""
        _places(metrics, self.metrics, "metric")
        higher = (
            name not in metrics and known
            for name, known in zip(self.metrics, self.higher_is_better, strict=True)
        )
        return replace(self, higher_is_better=tuple(higher))

    def turned(self) -> ScoreTable:
        """The same, scores turned so that higher is better for all metrics."""
        signs = np.where(self.higher_is_better, 1.0, -1.0)
        return replace(
            self,
            values=self.values * signs[:, np.newaxis, np.newaxis],
            totals=self.totals * signs[:, np.newaxis],
            higher_is_better=(True,) * len(self.metrics),
        )

    def joined(self, other: ScoreTable) -> ScoreTable:
        """The metrics of both, on the systems and items that both have.

        Totals alone say nothing about items, so that they leave out none.
        """
        for name in self.metrics:
            if name in other.metrics:
                raise InputError(f"there are two metrics {name!r}")
        systems = _shared(self.systems, other.systems)
        items = _shared(self.items or other.items, other.items or self.items)
        one, two = (table._with_items(items).select(systems=systems) for table in (self, other))
        return ScoreTable(
            one.metrics + two.metrics,
            one.systems,
            one.items,
            np.concatenate([one.values, two.values]),
            np.concatenate([one.totals, two.totals]),
            one.higher_is_better + two.higher_is_better,
            one.signatures + two.signatures,
            two.lengths if one.lengths is None else one.lengths,
        )

    def _with_items(self, items: Sequence[str]) -> ScoreTable:
        """Some items; those of a table that has only totals have no scores."""
        if self.items:
            return self.select(items=items)
        none = np.full((*self.totals.shape, len(items)), np.nan)
        return replace(self, items=tuple(items), values=none)

    def table(self, *, digits: int = 2) -> Table:
        """Systems in rows, metrics in columns; the best of each metric is marked."""
        columns = [
            mark_best([*map(Cell, total.tolist())], higher_is_better=higher)
            for total, higher in zip(self.totals, self.higher_is_better, strict=True)
        ]
        names = (
            Column(metric, f".{digits}f", better="higher" if higher else "lower")
            for metric, higher in zip(self.metrics, self.higher_is_better, strict=True)
        )
        signatures = dict(zip(self.metrics, self.signatures, strict=True))
        signatures = {metric: text for metric, text in signatures.items() if text}
        rows = zip(self.systems, *columns, strict=True)
        return Table((Column("system"), *names), rows, signatures=signatures)

    def first_missing(self) -> tuple[str, str, str] | None:
        """Metric, system and item of the first score that is not there."""
        missing = np.argwhere(np.isnan(self.values))
        if len(missing) == 0:
            return None
        m, s, i = missing[0].tolist()
        return self.metrics[m], self.systems[s], self.items[i]


def align_scores(
    scores: ScoreTable, human: ScoreTable, *, least: int = 2
) -> tuple[ScoreTable, ScoreTable, tuple[str, ...]]:
    """Both tables on the systems and items that have metric and human scores.

    Parameters
    ----------
    scores
        The scores of metrics. Those that score single outputs are to be compared on the same
        outputs: where one lacks a score, people's score of the output is taken out.
    human
        One metric: people.
    least
        Systems that must have both.

    Returns
    -------
    scores, human, notes
        The notes say what was left out.
    """
    notes = []
    people, measured = _scored_systems(human), _scored_systems(scores)
    systems = _shared(measured, people)
    without = [name for name in scores.systems if name not in people]
    if without:
        notes.append(f"no human scores for system {_quoted(without)}: left out")
    strangers = [name for name in people if name not in measured]
    if strangers:
        notes.append(f"no metric scores for system {_quoted(strangers)}: left out")
    if len(systems) < least:
        raise InputError(
            f"{len(systems)} of {len(scores.systems)} systems have human scores; a validation "
            f"needs at least {least}{' (1 at level pooled alone)' * (least > 1)}"
        )
    items = _shared(scores.items, human.items)
    if not items and scores.items and human.items:
        raise InputError(
            "metric and human scores have no item in common: metrics call items "
            f"{', '.join(scores.items[:_MOST_NAMED])}, "
            f"people {', '.join(human.items[:_MOST_NAMED])}"
        )
    lost = len(set(human.items) - set(items))
    if lost and scores.items:
        notes.append(f"no metric scores for {lost} items that people rated: left out")
    scored = ~np.isnan(scores.values).all(axis=(1, 2), keepdims=True)
    human = human.select(systems=systems, items=items)
    scores = scores.select(systems=systems, items=items)
    unrated = np.isnan(human.values)
    if unrated.any():
        notes.append(f"{unrated.sum()} of {unrated.size} outputs are not rated and do not count")
    absent = np.isnan(scores.values) & scored
    for name, missing in zip(scores.metrics, absent & ~unrated, strict=True):
        if missing.any():
            notes.append(
                f"{name} has no score for {missing.sum()} rated outputs: they count for none"
            )
    count = np.where(absent.any(axis=0), np.nan, human.values)
    if human.items and np.isnan(count).all():
        raise InputError("no output has a human score and a score of every metric")
    return scores, replace(human, values=count), tuple(notes)


def _numbers(system: str, given: Sequence[float]) -> Array:
    try:
        row = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the scores of system {system!r} are not all numbers") from None
    if row.ndim != 1:
        raise InputError(f"the scores of system {system!r} must be one number per item")
    return row


def _means(values: Array) -> Array:
    """Means over the items that have a score; NaN where none has."""
    present = ~np.isnan(values)
    counts = present.sum(axis=-1)
    known = np.where(present, values, 0.0)
    with np.errstate(over="ignore"):
        sums = known.sum(axis=-1)
    means: Array = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    if np.isinf(means).any():  # huge scores, whose mean is a number nevertheless
        means = (known / np.maximum(counts, 1)[..., None]).sum(axis=-1)
        means[counts == 0] = np.nan
    return means


def _scored_systems(table: ScoreTable) -> list[str]:
    """Systems with a total under every metric, and an output's score where the metric has any."""
    missing: Bools = np.asarray(np.isnan(table.values).all(axis=2))
    lacking = np.isnan(table.totals) | (missing & ~missing.all(axis=1, keepdims=True))
    there = np.flatnonzero(~lacking.any(axis=0)).tolist()
    return [table.systems[place] for place in there]


def _shared(names: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name in known]


def _chosen(wanted: Sequence[str] | None, names: Sequence[str], what: str) -> list[int]:
    return list(range(len(names))) if wanted is None else _places(wanted, names, what)


def _places(wanted: Sequence[str], names: Sequence[str], what: str) -> list[int]:
    known = {name: place for place, name in enumerate(names)}
    for name in wanted:
        if name not in known:
            raise InputError(
                f"there is no {what} {name!r}; there are {_some(names)}{hint_at(name, names)}"
            )
    _check_once(wanted, what)
    return [known[name] for name in wanted]


def _check_once(names: Sequence[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"{what} {twice!r} is named twice")


def _quoted(names: Sequence[str]) -> str:
    return _some([repr(name) for name in names], 5)


def _some(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
