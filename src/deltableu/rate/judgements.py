"""Raw ratings of systems in, arrays of raters, items, systems and values out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import KINDS, Kind, Rating, Study
from deltableu.errors import InputError
from deltableu.rate.criterion import (
    SCORED,
    Unknown,
    judged_system,
    of_criterion,
    of_known,
    values_on_one_scale,
)

__all__ = ["Judgements", "Unknown", "rater_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Who gave which value to the output of which system for which item.

    Judgement k is that of `raters[rater[k]]` on the output of `systems[system[k]]` for
    `items[item[k]]`; it says `values[k]`.

    Attributes
    ----------
    raters, items, systems : tuple of str
        All names, each once.
    rater, item, system : arrays of int
        Places among the names, one a judgement. A system of -1 is a control (a reference, or a bad
        reference) that belongs to no system: it counts only for what it says about its rater.
    values : array
        As they were given.
    kinds : array of int
        Places in `deltableu.corpus.types.KINDS`: item, bad-reference, reference, repeat.
    left_out : int
        Ratings of unknown items and systems that were dropped.

    Examples
    --------
    >>> judgements = Judgements.of(
    ...     raters=["ann", "ann", "bob"], items=["1", "2", "1"], systems=["A", "A", "B"],
    ...     values=[80, 60, 70],
    ... )
    >>> len(judgements), judgements.systems
    (3, ('A', 'B'))
    >>> judgements.table()[0]
    array([[80., 60.],
           [nan, nan]])
    """

    raters: tuple[str, ...]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    rater: Ints
    item: Ints
    system: Ints
    values: Array
    kinds: Ints
    left_out: int = 0

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1:
            raise InputError("values must hold one number a judgement")
        object.__setattr__(self, "values", values)
        for name in ("raters", "items", "systems"):
            names = tuple(getattr(self, name))
            object.__setattr__(self, name, names)
            if len(set(names)) < len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise InputError(f"{name} names {twice!r} more than once")
        for name, limit, lowest in (
            ("rater", len(self.raters), 0),
            ("item", len(self.items), 0),
            ("system", len(self.systems), -1),
            ("kinds", len(KINDS), 0),
        ):
            places, size = np.asarray(getattr(self, name)), len(values)
            if places.shape != (size,) or (size and places.dtype.kind not in "iu"):
                raise InputError(f"{name} must hold one whole number for each of {size} values")
            if size and not (lowest <= places.min() and places.max() < limit):
                raise InputError(f"{name} must hold numbers from {lowest} to {limit - 1}")
            object.__setattr__(self, name, places.astype(np.int64))
        orphan = (self.system < 0) & self.of_kind(*SCORED)
        if orphan.any():
            raise InputError(f"{self._name(int(np.argmax(orphan)))}: says no system")
        wrong = ~np.isfinite(self.values)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                f"{self._name(place)}: the value must be finite, got {self.values[place]}"
            )

    @classmethod
    def of(
        cls,
        *,
        raters: Sequence[str],
        items: Sequence[str],
        systems: Sequence[str | None],
        values: Sequence[float] | Array,
        kinds: Sequence[Kind] | None = None,
        order: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> Judgements:
        """From the rater, item, system, value (and kind) of each judgement.

        A control may have None for a system. `order` gives all items and all systems in the order
        wanted; else they come in the order in which they are met.
        """
        lengths = {len(raters), len(items), len(systems), len(values)}
        if kinds is not None:
            lengths.add(len(kinds))
        if len(lengths) != 1:
            raise InputError("give one rater, item, system and value for each judgement")
        if kinds is not None and (wrong := set(kinds) - set(KINDS)):
            raise InputError(f"kinds must be among {', '.join(KINDS)}, got {min(wrong)!r}")
        try:
            numbers = [float(value) for value in values]
        except (TypeError, ValueError):
            raise InputError("values must hold one number a judgement") from None
        said: Sequence[Kind] = ["item"] * len(numbers) if kinds is None else kinds
        return _gather(zip(raters, items, systems, said, numbers, strict=True), order)

    @classmethod
    def from_ratings(
        cls,
        ratings: Iterable[Rating],
        *,
        criterion: str | None = None,
        normalise: bool = False,
        items: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        unknown: Unknown = "error",
    ) -> Judgements:
        """The judgements of one criterion among a study's ratings.

        Ratings of references as such (to weight them) are left aside; references and bad references
        that were shown as controls are kept, because they belong to a rater's use of the scale.

        Parameters
        ----------
        ratings
            Those with the target `system:NAME`, and controls.
        criterion
            Which to take; may be left out where all ratings of systems have the same.
        normalise
            Whether to map values to [-1, 1] by their scales, which may then differ.
        items, systems
            The ids that are known, in the order wanted. None takes those that were rated.
        unknown
            What to do with ratings of other items and systems: "error", or "drop" with a warning.
        """
        chosen = of_criterion(ratings, criterion)
        known = of_known(chosen, items, systems, unknown)
        records = (
            (one.rater, one.item, judged_system(one), one.kind, value)
            for one, value in zip(known, values_on_one_scale(known, normalise), strict=True)
        )
        made = _gather(records, None if items is None and systems is None else (items, systems))
        return replace(made, left_out=len(chosen) - len(known))

    @classmethod
    def from_study(
        cls,
        study: Study,
        *,
        criterion: str | None = None,
        normalise: bool = False,
        unknown: Unknown = "error",
    ) -> Judgements:
        """The judgements of a study, its items and systems in the study's order."""
        return cls.from_ratings(
            study.ratings,
            criterion=criterion,
            normalise=normalise,
            items=[item.id for item in study.items] or None,
            systems=list(study.outputs) or None,
            unknown=unknown,
        )

    def __len__(self) -> int:
        return len(self.values)

    def of_kind(self, *kinds: Kind) -> Bools:
        """Which judgements are of one of these kinds."""
        return np.isin(self.kinds, [KINDS.index(kind) for kind in kinds])

    def __getitem__(self, index: Any) -> Judgements:
        """Some judgements (a mask, a slice, places or one place); names stay as they are."""
        kept = np.atleast_1d(np.arange(len(self.values))[index])
        return replace(
            self,
            rater=self.rater[kept],
            item=self.item[kept],
            system=self.system[kept],
            values=self.values[kept],
            kinds=self.kinds[kept],
        )

    def scored(self) -> Judgements:
        """Those that score a system: kinds item and repeat."""
        return self[self.of_kind(*SCORED)]

    def without_raters(self, names: Collection[str]) -> Judgements:
        """All judgements but those of some raters, who are also forgotten by name."""
        if strangers := [name for name in names if name not in self.raters]:
            raise InputError(f"there is no rater {strangers[0]!r}")
        stays = np.array([name not in names for name in self.raters], dtype=np.bool_)
        rest = self[stays[self.rater]]
        return replace(
            rest,
            raters=tuple(name for name in self.raters if name not in names),
            rater=(np.cumsum(stays) - 1)[rest.rater],
        )

    def table(self, repeats: Literal["mean", "first"] = "mean") -> Array:
        """Raters x systems x items, NaN where a rater did not rate; controls are not in it.

        Parameters
        ----------
        repeats
            What stands for a rater's several judgements of one output: their mean, or the first
            (which stays on the scale, as categories must).
        """
        if repeats not in ("mean", "first"):
            raise InputError(f"repeats must be mean or first, got {repeats!r}")
        scored = self.scored()
        shape = (len(self.raters), len(self.systems), len(self.items))
        cells = np.ravel_multi_index((scored.rater, scored.system, scored.item), shape)
        table = np.full(shape, np.nan)
        if repeats == "first":
            cells, places = np.unique(cells, return_index=True)
            table.flat[cells] = scored.values[places]
        else:
            cells, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
            table.flat[cells] = np.bincount(places, weights=scored.values) / counts
        return table

    def _name(self, place: int) -> str:
        system = int(self.system[place])
        target = "a reference" if system < 0 else f"system {self.systems[system]!r}"
        rater, item = self.raters[self.rater[place]], self.items[self.item[place]]
        return f"rater {rater!r}, item {item!r}, {target}"


def rater_rows(
    ratings: Judgements | Sequence[Any] | Array, repeats: Literal["mean", "first"] = "mean"
) -> tuple[tuple[str, ...], Array]:
    """Names of raters, and raters x units; NaN where a rater did not rate.

    Units are outputs (systems x items) of `Judgements`; of an array, whatever follows the first
    axis, and raters are called by their numbers, from 0.

    Examples
    --------
    >>> rater_rows([[1, 2], [1, float("nan")]])
    (('0', '1'), array([[ 1.,  2.],
           [ 1., nan]]))
    """
    if isinstance(ratings, Judgements):
        return ratings.raters, ratings.table(repeats).reshape(len(ratings.raters), -1)
    try:
        rows = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("ratings must be numbers: one row a rater, one column a unit") from None
    if rows.ndim < 2:
        raise InputError("ratings must have one row a rater and one column a unit")
    rows = rows.reshape(len(rows), -1)
    if np.isinf(rows).any():
        rater, unit = np.argwhere(np.isinf(rows))[0].tolist()
        raise InputError(f"rater {rater}, unit {unit}: a rating must be finite")
    return tuple(map(str, range(len(rows)))), rows


def _gather(
    records: Iterable[tuple[str, str, str | None, Kind, float]],
    order: tuple[Sequence[str] | None, Sequence[str] | None] | None,
) -> Judgements:
    raters: dict[str, int] = {}
    items, systems = (
        {name: place for place, name in enumerate(names or ())} for names in order or ((), ())
    )
    columns: tuple[list[int], ...] = ([], [], [], [])
    values = []
    for rater, item, system, kind, value in records:
        columns[0].append(raters.setdefault(rater, len(raters)))
        columns[1].append(items.setdefault(item, len(items)))
        columns[2].append(-1 if system is None else systems.setdefault(system, len(systems)))
        columns[3].append(KINDS.index(kind))
        values.append(value)
    rater_, item_, system_, kinds = (np.array(column, dtype=np.int64) for column in columns)
    return Judgements(
        tuple(raters),
        tuple(items),
        tuple(systems),
        rater_,
        item_,
        system_,
        np.array(values, dtype=np.float64),
        kinds,
    )
