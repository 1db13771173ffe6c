"""Ratings of outputs that were shown in pairs in; which of the two each rater preferred, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import SCORED, RatingTable
from deltableu.errors import InputError, check_known
from deltableu.stats import Preferred


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Who preferred which of two outputs.

    Attributes
    ----------
    systems, items, raters : tuple of str
        Systems that were judged, items and raters by name.
    judgements : Preferred
        Places of both systems, which was preferred, and which was shown first.
    item, rater : arrays of int
        Of each judgement.
    criterion : str
    left_out : int
        Ratings that name a pair whose other output has no rating by the same rater.
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    raters: tuple[str, ...]
    judgements: Preferred
    item: Ints
    rater: Ints
    criterion: str
    left_out: int

    def __len__(self) -> int:
        return len(self.judgements)

    def select(self, systems: Sequence[str]) -> Preferences:
        """Only judgements of two of these systems, in this order."""
        for name in systems:
            check_known("system that was shown in a pair", name, self.systems)
        wanted = tuple(dict.fromkeys(systems))
        places = np.array([wanted.index(n) if n in wanted else -1 for n in self.systems])
        first, second = places[self.judgements.first], places[self.judgements.second]
        kept = (first >= 0) & (second >= 0)
        if not kept.any():
            raise InputError(f"no two of {', '.join(wanted)} were shown in a pair")
        judgements = Preferred(
            first[kept],
            second[kept],
            self.judgements.outcome[kept],
            self.judgements.order[kept],
        )
        return replace(
            self,
            systems=wanted,
            judgements=judgements,
            item=self.item[kept],
            rater=self.rater[kept],
        )

    def by_unit(self) -> tuple[Array, Ints]:
        """Raters x units, and the item of each unit.

        A unit is an item and two systems; 1 prefers the system that comes first here, -1 the other,
        0 neither, and NaN is where a rater did not judge. Where one judged a unit more than once,
        the first time counts.
        """
        first, second = self.judgements.first, self.judgements.second
        low, high = np.minimum(first, second), np.maximum(first, second)
        said = np.where(first == low, 1, -1) * self.judgements.outcome
        size = len(self.systems)
        units, unit = np.unique((self.item * size + low) * size + high, return_inverse=True)
        made = np.full((len(self.raters), len(units)), np.nan)
        _, once = np.unique(self.rater * len(units) + unit, return_index=True)
        made[self.rater[once], unit[once]] = said[once]
        return made, units // size**2


def in_pairs(ratings: RatingTable) -> Bools:
    """Which ratings are of outputs that were shown in a pair."""
    return (ratings.pair >= 0) & (ratings.system >= 0) & ratings.of_kind(*SCORED)


def preferences(ratings: RatingTable, criterion: str | None = None) -> Preferences:
    """Which of two outputs raters preferred.

    Two ratings with the same pair, item and rater are one judgement: the output with the higher
    value was preferred, and equal values are a tie. So 1 and 0 (or .5 and .5) say who won, and
    Likert or slider ratings of both outputs of a pair do, too.

    Parameters
    ----------
    ratings
        Those that name no pair, controls and ratings of references are left aside.
    criterion
        May be left out where there is one.

    Examples
    --------
    >>> from deltableu.corpus import Rating
    >>> said = preferences(RatingTable.from_records([
    ...     Rating("ann", "1", "system:A", 1, pair="p", position=2),
    ...     Rating("ann", "1", "system:B", 0, pair="p", position=1),
    ... ]))
    >>> said.systems, said.judgements.outcome.tolist(), said.judgements.order.tolist()
    (('A', 'B'), [1], [-1])
    """
    paired = in_pairs(ratings)
    if not paired.any():
        raise InputError(
            "no ratings of systems name a pair: give both outputs that were shown together the "
            "same pair, with values such as 1 and 0"
        )
    rows = ratings[paired].of_systems(criterion)
    group = _judgements(rows)
    sizes = np.bincount(group)
    if sizes.max() > 2:
        place = int(np.argmax(sizes[group] > 2))
        raise InputError(
            f"{rows.where(place)}: pair {rows.pairs[rows.pair[place]]!r} holds "
            f"{int(sizes[group[place]])} systems, and a pair has two"
        )
    both = np.flatnonzero(sizes[group] == 2)
    if not len(both):
        raise InputError("no rater rated both outputs of a pair")
    both = both[np.argsort(group[both], kind="stable")]
    one, other = both[0::2], both[1::2]
    met = np.argsort(one, kind="stable")  # in the order of the ratings
    one, other = one[met], other[met]
    used, system = np.unique(rows.system[both], return_inverse=True)
    places = np.empty(len(rows), dtype=np.int64)
    places[both] = system
    outcome = np.sign(rows.values[one] - rows.values[other]).astype(np.int64)
    judged = Preferred(places[one], places[other], outcome, _order(rows, one, other))
    return Preferences(
        tuple(rows.systems[place] for place in used.tolist()),
        rows.items,
        rows.raters,
        judged,
        rows.item[one],
        rows.rater[one],
        rows.criteria[int(rows.criterion[0])],
        len(rows) - len(both),
    )


def _judgements(rows: RatingTable) -> Ints:
    """A number for each judgement; repeats of a system in one are the next judgement's."""
    key = (rows.pair * len(rows.items) + rows.item) * len(rows.raters) + rows.rater
    _, group = np.unique(key, return_inverse=True)
    own = group * len(rows.systems) + rows.system
    order = np.argsort(own, kind="stable")
    starts = np.flatnonzero(np.diff(own[order], prepend=-1))
    again = np.empty(len(rows), dtype=np.int64)
    again[order] = np.arange(len(rows)) - np.repeat(starts, np.diff([*starts, len(rows)]))
    _, numbers = np.unique(group * (int(again.max()) + 1) + again, return_inverse=True)
    return np.asarray(numbers)


def _order(rows: RatingTable, one: Ints, other: Ints) -> Ints:
    """1 where the one was shown first, -1 where the other was, 0 where nobody knows."""
    known: Any = np.array([value is not None for value in rows.position.tolist()])
    positions = np.array([0 if value is None else value for value in rows.position.tolist()])
    both = known[one] & known[other]
    same = both & (positions[one] == positions[other])
    if same.any():
        place = int(one[np.argmax(same)])
        raise InputError(
            f"{rows.where(place)}: both outputs of pair {rows.pairs[rows.pair[place]]!r} have "
            f"position {int(positions[place])}"
        )
    return np.where(both, np.sign(positions[other] - positions[one]), 0).astype(np.int64)
