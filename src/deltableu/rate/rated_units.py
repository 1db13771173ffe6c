"""Ratings of all sorts in; what was rated by one criterion, as a table of units, out.

Units are outputs, references, or two outputs of which one was preferred. All become a table of
outputs (references and pairs as those of one system), so that what is known about raters of outputs
can be asked about raters of anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import SCORED, RatingTable, Scale
from deltableu.errors import InputError, check_choice, hint_at
from deltableu.rate.preferences import in_pairs, preferences
from deltableu.rate.rater_rows import rater_rows

Targets = Literal["outputs", "references", "pairs"]

_PREFERENCES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class RatedUnits:
    """What was rated by one criterion.

    Attributes
    ----------
    targets : {"outputs", "references", "pairs"}
    criterion : str
    scale : str or None
        As written in the ratings.
    table : RatingTable
        Units as outputs. Of preferences, 1 is for the one output and -1 for the other; each is
        there both ways round, so that who is called the first makes no difference.
    origin : array of int
        A number for the item of each item of the table.
    ways : int
        How often each unit is in the table: 2 of preferences, else 1.
    keys : tuple of (str, str)
        Item and target of each unit, in the order of `rows`; of preferences, none.
    """

    targets: Targets
    criterion: str
    scale: str | None
    table: RatingTable
    origin: Ints
    ways: int = 1
    keys: tuple[tuple[str, str], ...] = ()

    def rows(self) -> tuple[tuple[str, ...], Array]:
        """Raters, and raters x units; NaN where a rater did not rate."""
        return rater_rows(self.table, "first")

    def groups(self) -> Ints:
        """The item of each unit, in the order of `rows`."""
        return np.tile(self.origin, len(self.table.systems))


def rated_units(
    ratings: RatingTable,
    targets: Targets | None = None,
    criterion: str | None = None,
) -> tuple[RatedUnits, ...]:
    """All that was rated, or only some targets or one criterion.

    A rating on the scale 0-1 (or without scale, 0, 1/2 or 1) of an output that was shown in a pair
    is half of a preference.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "b"], items=["1", "1"], references=["r0", "r0"], values=[4, 5]
    ... )
    >>> [(one.targets, one.criterion, one.table.by_output().ravel().tolist())
    ...  for one in rated_units(made)]
    [('references', 'overall', [4.0, 5.0])]
    """
    if targets is not None:
        check_choice("targets", targets, get_args(Targets))
    preferred = _preferred(ratings)
    scored = ratings.of_kind(*SCORED)
    kinds: dict[Targets, Bools] = {
        "outputs": scored & (ratings.system >= 0) & ~preferred,
        "references": scored & (ratings.reference >= 0),
        "pairs": preferred,
    }
    there = {
        name: sorted(ratings.criteria[place] for place in np.unique(ratings.criterion[rows]))
        for name, rows in kinds.items()
        if rows.any()
    }
    if not there:
        raise InputError("there are no ratings of outputs or references, but only controls")
    if targets is not None and targets not in there:
        raise InputError(f"there are no ratings of {targets}; there are some of {_listed(there)}")
    wanted = {name: found for name, found in there.items() if targets in (None, name)}
    if criterion is not None:
        known = sorted({one for found in wanted.values() for one in found})
        if criterion not in known:
            raise InputError(
                f"nothing was rated for {criterion!r}; there are ratings of "
                f"{', '.join(known)}{hint_at(criterion, known)}"
            )
        wanted = {name: [criterion] for name, found in wanted.items() if criterion in found}
    makers = {"outputs": _outputs, "references": _references, "pairs": _pairs}
    return tuple(
        makers[name](ratings, kinds[name], one) for name, found in wanted.items() for one in found
    )


def _listed(names: Sequence[str] | dict[Targets, list[str]]) -> str:
    return " and ".join(names)


def _preferred(ratings: RatingTable) -> Bools:
    """Which ratings are halves of preferences."""
    ends = [Scale.parse(text) for text in ratings.scales]
    unit = np.array([*(one == Scale(0.0, 1.0) for one in ends), False], dtype=np.bool_)
    unscaled = (ratings.scale < 0) & np.isin(ratings.values, _PREFERENCES)
    return in_pairs(ratings) & (unit[ratings.scale] | unscaled)


def _outputs(ratings: RatingTable, rows: Bools, criterion: str) -> RatedUnits:
    controls = ~ratings.of_kind(*SCORED)
    table = _who_rated(ratings[rows | controls].of_systems(criterion))
    origin = np.arange(len(table.items), dtype=np.int64)
    keys = tuple((item, f"system:{system}") for system in table.systems for item in table.items)
    return RatedUnits("outputs", criterion, _scale(table), table, origin, keys=keys)


def _references(ratings: RatingTable, rows: Bools, criterion: str) -> RatedUnits:
    chosen = ratings[rows & (ratings.criterion == ratings.criteria.index(criterion))]
    used, item = np.unique(chosen.reference, return_inverse=True)
    names = [chosen.references[place] for place in used.tolist()]
    table = _of_one_system(chosen, [f"{owner} {name}" for owner, name in names], item)
    owners = {owner: number for number, owner in enumerate(dict.fromkeys(one for one, _ in names))}
    origin = np.array([owners[owner] for owner, _ in names], dtype=np.int64)
    keys = tuple((owner, f"reference:{name}") for owner, name in names)
    return RatedUnits("references", criterion, _scale(table), table, origin, keys=keys)


def _of_one_system(ratings: RatingTable, names: Sequence[str], item: Ints) -> RatingTable:
    """The same ratings, of outputs of one system; items may share a name that says too little."""
    distinct = [f"{number}: {name}" for number, name in enumerate(names)]
    made = RatingTable(
        raters=ratings.raters,
        items=tuple(distinct),
        systems=("rated",),
        rater=ratings.rater,
        item=item,
        system=np.zeros(len(ratings), dtype=np.int64),
        values=ratings.values,
        kinds=ratings.kinds,
        criteria=ratings.criteria,
        criterion=ratings.criterion,
        scales=ratings.scales,
        scale=ratings.scale,
    )
    return _who_rated(made.of_systems())


def _who_rated(table: RatingTable) -> RatingTable:
    """The same ratings without the names of raters who gave none of them."""
    there = {table.raters[place] for place in np.unique(table.rater).tolist()}
    others = frozenset(table.raters) - there
    return table.without_raters(others) if others else table


def _pairs(ratings: RatingTable, rows: Bools, criterion: str) -> RatedUnits:
    said = preferences(ratings[rows], criterion)
    rows_of, item = said.by_unit()
    rater, unit = np.nonzero(~np.isnan(rows_of))
    values = rows_of[rater, unit]
    size = rows_of.shape[1]
    made = RatingTable(
        raters=said.raters,
        items=tuple(map(str, range(2 * size))),
        systems=("rated",),
        rater=np.tile(rater, 2),
        item=np.concatenate((unit, size + unit)),
        system=np.zeros(2 * len(rater), dtype=np.int64),
        values=np.concatenate((values, -values)),
    )
    return RatedUnits("pairs", criterion, "0-1", _who_rated(made), np.tile(item, 2), 2)


def _scale(table: RatingTable) -> str | None:
    used = np.unique(table.scale[table.scale >= 0]).tolist()
    return table.scales[used[0]].strip() if used else None
