"""What people or models said of outputs and references, in columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus.rating import KINDS, SCORED, Kind, Rating, Scale
from deltableu.corpus.rating_choice import Unknown, reference_ratings, system_ratings
from deltableu.corpus.rating_columns import NAMES, moved_places, plain_columns, record_columns
from deltableu.corpus.simulated import SIMULATED_PREFIX
from deltableu.errors import InputError, check_choice

if TYPE_CHECKING:
    from deltableu.corpus.types import Item, Study


Repeats = Literal["mean", "first"]

#: What every rating has; elsewhere a place of -1 says that there is none.
_ALWAYS = ("rater", "item", "criterion")
_OBJECTS = ("position", "started", "finished")
_COLUMNS = (*NAMES, "kinds", "values", *_OBJECTS)
#: A column that was not given; it is filled in.
_NONE: Any = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RatingTable:
    """Who gave which value to which output or reference.

    Rating k is that of `raters[rater[k]]` on the output of `systems[system[k]]` for
    `items[item[k]]`, or on the reference `references[reference[k]]`; it says `values[k]`. Iterating
    gives `Rating` records.

    Attributes
    ----------
    raters, items, systems : tuple of str
        All names, each once; items and systems may be there that nobody rated.
    rater, item, system : arrays of int
        Places among the names, one a rating. A system of -1 is that of a reference.
    values : array
        As they were given.
    kinds : array of int
        Places in `KINDS`: item, bad-reference, reference, repeat. All are item by default.
    references : tuple of (str, str)
        Item and id of each reference that has ratings.
    reference : array of int
        -1 is an output, or a control of which nobody knows more than its item.
    criteria, scales, pairs : tuple of str
    criterion, scale, pair : arrays of int
        By default all ratings are of one criterion, overall, and have no scale (-1) and no pair.
    position, started, finished : arrays of objects
        None where nothing is known.
    left_out : int
        Ratings of unknown items and systems that were dropped.

    Examples
    --------
    >>> table = RatingTable.of(
    ...     raters=["ann", "ann", "bob"], items=["1", "2", "1"], systems=["A", "A", "B"],
    ...     values=[80, 60, 70],
    ... )
    >>> table
    RatingTable(3 ratings: 2 raters, 2 items, 2 systems, 0 references)
    >>> len(table), table.systems
    (3, ('A', 'B'))
    >>> table.by_output()[0]
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
    kinds: Ints = _NONE
    _: KW_ONLY
    references: tuple[tuple[str, str], ...] = ()
    reference: Ints = _NONE
    criteria: tuple[str, ...] = ("overall",)
    criterion: Ints = _NONE
    scales: tuple[str, ...] = ()
    scale: Ints = _NONE
    pairs: tuple[str, ...] = ()
    pair: Ints = _NONE
    position: Any = _NONE
    started: Any = _NONE
    finished: Any = _NONE
    left_out: int = 0

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1:
            raise InputError("values must hold one number a rating")
        object.__setattr__(self, "values", values)
        for name, names in NAMES.items():
            listed = tuple(getattr(self, names))
            object.__setattr__(self, names, listed)
            if len(set(listed)) < len(listed):
                twice = Counter(listed).most_common(1)[0][0]
                raise InputError(f"{names} names {twice!r} more than once")
            lowest = 0 if name in _ALWAYS else -1
            # Names that are always there have no default place.
            default = None if name in ("rater", "item", "system") else lowest
            self._set_places(name, len(listed), lowest, default)
        self._set_places("kinds", len(KINDS), 0, 0)
        for name in _OBJECTS:
            given = np.asarray(getattr(self, name), dtype=object)
            object.__setattr__(self, name, given if len(given) else np.full(len(values), None))
        aimless = (self.system < 0) & (self.reference < 0) & self.of_kind(*SCORED)
        if aimless.any():
            raise InputError(f"{self.where(int(np.argmax(aimless)))}: says no system")
        wrong = ~np.isfinite(values)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(f"{self.where(place)}: the value must be finite, got {values[place]}")

    def __repr__(self) -> str:
        return (
            f"RatingTable({len(self.values)} ratings: {len(self.raters)} raters, "
            f"{len(self.items)} items, {len(self.systems)} systems, "
            f"{len(self.references)} references)"
        )

    def _set_places(self, name: str, limit: int, lowest: int, default: int | None) -> None:
        places, size = np.asarray(getattr(self, name)), len(self.values)
        if default is not None and len(places) == 0:
            places = np.full(size, default)
        if places.shape != (size,) or (size and places.dtype.kind not in "iu"):
            raise InputError(f"{name} must hold one whole number for each of {size} values")
        if size and not (lowest <= places.min() and places.max() < limit):
            raise InputError(f"{name} must hold numbers from {lowest} to {limit - 1}")
        object.__setattr__(self, name, places.astype(np.int64, copy=False))

    @classmethod
    def from_records(cls, ratings: Iterable[Rating] = ()) -> RatingTable:
        """From records, such as a file holds, however many.

        Examples
        --------
        >>> table = RatingTable.from_records([Rating("ann", "1", "reference:r0", 4, scale="1-5")])
        >>> table.references, table.scales
        ((('1', 'r0'),), ('1-5',))
        """
        return cls(**record_columns(ratings))

    @classmethod
    def of(
        cls,
        *,
        raters: Sequence[str],
        items: Sequence[str],
        values: Sequence[float] | Array,
        systems: Sequence[str | None] | None = None,
        references: Sequence[str | None] | None = None,
        kinds: Sequence[Kind] | None = None,
        scale: str | None = None,
        order: tuple[Sequence[str], Sequence[str]] | None = None,
    ) -> RatingTable:
        """From the rater, item, system or reference, value (and kind) of each rating.

        All are of one criterion and on one scale. Where there is no system, the target is a
        reference; a control may have neither, and then counts only for what it says about its
        rater. `order` gives all items and all systems in the order wanted; else they come in the
        order in which they are met.
        """
        columns = plain_columns(raters, items, systems, references, values, kinds, order)
        made = cls(**columns)
        return made if scale is None else made.with_values(made.values, scale)

    @classmethod
    def from_study(
        cls,
        study: Study,
        *,
        criterion: str | None = None,
        normalise: bool = False,
        unknown: Unknown = "error",
    ) -> RatingTable:
        """The ratings of a study's systems (see `of_systems`), in the study's order."""
        return study.ratings.of_systems(
            criterion,
            normalise=normalise,
            items=[item.id for item in study.items] or None,
            systems=list(study.outputs) or None,
            unknown=unknown,
        )

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Rating]:
        columns = [getattr(self, name).tolist() for name in _COLUMNS]
        for row in zip(*columns, strict=True):
            rater, item, system, reference, criterion, scale, pair, kind, value, *more = row
            if system < 0 and reference < 0:
                raise InputError("a control that names neither system nor reference is no record")
            yield Rating(
                self.raters[rater],
                self.items[item],
                self._target(system, reference),
                value,
                self.criteria[criterion],
                self.scales[scale] if scale >= 0 else None,
                cast(Kind, KINDS[kind]),
                self.pairs[pair] if pair >= 0 else None,
                *more,
            )

    def __eq__(self, other: object) -> bool:
        """Whether the same ratings are there in the same order."""
        if not isinstance(other, RatingTable):
            return NotImplemented
        if len(self) != len(other):
            return False
        for name, names in NAMES.items():
            old, new = getattr(self, names), getattr(other, names)
            # What the other does not have equals nothing.
            moved = moved_places(getattr(self, name), old, new, missing=-2)
            if not np.array_equal(moved, getattr(other, name)):
                return False
        rest = ("values", "kinds", *_OBJECTS)
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in rest)

    def __getitem__(self, index: Any) -> RatingTable:
        """Some ratings (a mask, a slice, places or one place); names stay as they are."""
        kept = np.atleast_1d(np.arange(len(self))[index])
        return replace(self, **{name: getattr(self, name)[kept] for name in _COLUMNS})

    @property
    def is_simulated(self) -> bool:
        """Whether any of these ratings is by a rater whose name says that it is simulated.

        Examples
        --------
        >>> table = RatingTable.of(raters=["simulated-01"], items=["1"], systems=["A"], values=[1])
        >>> table.is_simulated, table[:0].is_simulated
        (True, False)
        """
        simulated = [name.startswith(SIMULATED_PREFIX) for name in self.raters]
        return bool(np.array(simulated, dtype=np.bool_)[self.rater].any())

    def of_kind(self, *kinds: Kind) -> Bools:
        """Which ratings are of one of these kinds."""
        return np.isin(self.kinds, [KINDS.index(kind) for kind in kinds])

    def scored(self) -> RatingTable:
        """Those that score an output: kinds item and repeat of a system."""
        return self[self.of_kind(*SCORED) & (self.system >= 0)]

    def of_systems(
        self,
        criterion: str | None = None,
        *,
        normalise: bool = False,
        items: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        unknown: Unknown = "error",
    ) -> RatingTable:
        """The ratings of systems by one criterion, and the controls among them.

        Ratings of references as such (to weight them) are left aside; references and bad references
        that were shown as controls are kept, because they belong to a rater's use of the scale. A
        table that holds nothing else already comes back as it is.

        Parameters
        ----------
        criterion
            Which to take; may be left out where all ratings of systems have the same.
        normalise
            Whether to map values to [-1, 1] by their scales, which may then differ.
        items, systems
            The ids that are known, in the order wanted. None takes those that were rated.
        unknown
            What to do with ratings of other items and systems: "error", or "drop" with a warning.
        """
        return system_ratings(self, criterion, normalise, items, systems, unknown)

    def of_references(
        self,
        items: Sequence[Item],
        criterion: str | None = None,
        *,
        scale: Scale | None = None,
        unknown: Unknown = "error",
    ) -> RatingTable:
        """What raters said of references, as weights in [-1, 1].

        A rating counts if its target is a reference of these items, its kind item or repeat, and
        its criterion the one asked for. Place j among the names of references is reference j of
        all in the order of the items. Ratings are sorted by reference, then by rater, whose names
        are sorted; where a rater rated a reference several times, the mean stands for all.

        Parameters
        ----------
        items
            Ratings of other items are left out.
        criterion
            May be left out where all ratings of references have the same.
        scale
            The scale of ratings that name none.
        unknown
            What to do with ratings of references that an item does not have: "error" or "drop".
        """
        return reference_ratings(self, items, criterion, scale, unknown)

    def without_raters(self, names: Collection[str]) -> RatingTable:
        """All ratings but those of some raters, who are also forgotten by name."""
        if strangers := [name for name in names if name not in self.raters]:
            raise InputError(f"there is no rater {strangers[0]!r}")
        others = tuple(name for name in self.raters if name not in names)
        places = moved_places(self.rater, self.raters, others)
        return replace(self[places >= 0], raters=others, rater=places[places >= 0])

    def with_values(self, values: Array, scale: str | None = None) -> RatingTable:
        """The same ratings with other values, all on one scale, or on none that has a name."""
        places = np.full(len(self), -1 if scale is None else 0)
        scales = () if scale is None else (scale,)
        return replace(self, values=values, scales=scales, scale=places)

    def without_repeats(self, repeats: Repeats = "mean") -> RatingTable:
        """One rating of each target by each rater, sorted by system, item (or reference) and rater.

        What stands for several is their mean, or the first of them (which stays on the scale, as
        categories must); all else is as in the first.
        """
        check_choice("repeats", repeats, get_args(Repeats))
        outputs = len(self.systems) * len(self.items)
        nameless = outputs + len(self.references) + self.item
        target = np.where(self.reference >= 0, outputs + self.reference, nameless)
        target = np.where(self.system >= 0, self.system * len(self.items) + self.item, target)
        _, first, places, counts = np.unique(
            target * len(self.raters) + self.rater,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        if len(first) == len(self) or repeats == "first":
            return self[first]
        means = np.bincount(places, weights=self.values, minlength=len(first)) / counts
        return replace(self[first], values=means)

    def by_output(self, repeats: Repeats = "mean") -> Array:
        """Raters x systems x items, NaN where a rater did not rate; controls are not in it."""
        cells = self.scored().without_repeats(repeats)
        made = np.full((len(self.raters), len(self.systems), len(self.items)), np.nan)
        made[cells.rater, cells.system, cells.item] = cells.values
        return made

    def by_reference(self, repeats: Repeats = "mean") -> Array:
        """Raters x references, NaN where a rater did not rate; controls are not in it."""
        cells = self[self.of_kind(*SCORED) & (self.reference >= 0)].without_repeats(repeats)
        made = np.full((len(self.raters), len(self.references)), np.nan)
        made[cells.rater, cells.reference] = cells.values
        return made

    def where(self, place: int) -> str:
        """What messages call a rating."""
        target = self._target(int(self.system[place]), int(self.reference[place]))
        rater, item = self.raters[self.rater[place]], self.items[self.item[place]]
        return f"rater {rater!r}, item {item!r}, target {target!r}"

    def _target(self, system: int, reference: int) -> str:
        if system >= 0:
            return f"system:{self.systems[system]}"
        return f"reference:{self.references[reference][1] if reference >= 0 else ''}"
