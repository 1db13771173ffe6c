"""Scores that any set of sentences has, of pairs of systems, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class SummedScores:
    """What gives any set of sentences a score: rows that add up, and the score of a sum.

    Attributes
    ----------
    rows : array
        Systems x items x columns; or, where scores were collected per pair, pairs x 2 x items x
        columns.
    aggregate : callable
        From sums, columns on the last axis, to scores of which higher ones are better.
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
class PairedRows:
    """Pairs of systems with the rows of all metrics and of people side by side.

    Attributes
    ----------
    names : tuple of str
        The metrics.
    pairs : tuple of (int, int)
        Numbers of the systems.
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
    pairs: tuple[tuple[int, int], ...]
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
        """Put the rows of each pair side by side.

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
            tuple(pairs),
            tuple(rows),
            tuple(items),
            rated.shape[1],
            tuple(one.rows.shape[-1] for one in sources),
            tuple(one.aggregate for one in sources),
        )

    def drawn(self, draw: Ints | None, pairs: Sequence[int] | None = None) -> PairedRows:
        """The same with items drawn again (or as they are), and perhaps pairs."""
        chosen = range(len(self.rows)) if pairs is None else pairs
        rows, items = [], []
        for number in chosen:
            if draw is None:
                rows.append(self.rows[number])
                items.append(self.items[number])
                continue
            place = np.full(self.total, -1)
            place[self.items[number]] = np.arange(len(self.items[number]))
            places = place[draw]
            kept = np.flatnonzero(places >= 0)
            rows.append(self.rows[number][places[kept]])
            items.append(kept)
        return replace(
            self,
            pairs=tuple(self.pairs[number] for number in chosen),
            rows=tuple(rows),
            items=tuple(items),
            total=self.total if draw is None else len(draw),
        )

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
