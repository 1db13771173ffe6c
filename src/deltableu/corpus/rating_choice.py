"""Ratings of all sorts in; those of one criterion, of systems or of references, out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus.rating import SCORED, Scale
from deltableu.errors import InputError, InputWarning, Problem, check_choice

if TYPE_CHECKING:
    from deltableu.corpus.rating_table import RatingTable
    from deltableu.corpus.types import Item

__all__ = ["Unknown", "reference_ratings", "system_ratings"]

Unknown: TypeAlias = Literal["error", "drop"]

#: The scale of weights.
_WEIGHTS = "-1-1"


def system_ratings(
    table: RatingTable,
    criterion: str | None,
    normalise: bool,
    items: Sequence[str] | None,
    systems: Sequence[str] | None,
    unknown: Unknown,
) -> RatingTable:
    """See `RatingTable.of_systems`."""
    check_choice("unknown", unknown, get_args(Unknown))
    scored = table.of_kind(*SCORED)
    judging = (table.system >= 0) | ~scored
    number = _criterion(table, judging & scored, criterion, "systems")
    chosen = judging & (table.criterion == number)
    kept = chosen & _known(table, chosen, items, systems, unknown)
    made = table if kept.all() else table[kept]
    made = _as_weights(made, None) if normalise else _on_one_scale(made)
    if kept.all() and items is None and systems is None:
        return made
    made = _renamed(made, "raters", "rater", None)
    made = _renamed(made, "items", "item", items)
    made = _renamed(made, "systems", "system", systems)
    made = _renamed(made, "references", "reference", None)
    return replace(made, left_out=table.left_out + int(chosen.sum() - kept.sum()))


def reference_ratings(
    table: RatingTable,
    items: Sequence[Item],
    criterion: str | None,
    scale: Scale | None,
    unknown: Unknown,
) -> RatingTable:
    """See `RatingTable.of_references`."""
    check_choice("unknown", unknown, get_args(Unknown))
    known = {item.id for item in items}
    in_items = np.array([name in known for name in table.items], dtype=np.bool_)
    about = (table.reference >= 0) & table.of_kind(*SCORED) & in_items[table.item]
    made = table[about & (table.criterion == _criterion(table, about, criterion, "references"))]
    names = tuple((item.id, reference.id) for item in items for reference in item.references)
    places = {name: place for place, name in enumerate(names)}
    new = np.array([places.get(name, -1) for name in made.references], dtype=np.int64)
    lost = new[made.reference] < 0
    if lost.any() and unknown == "error":
        item, name = made.references[made.reference[np.argmax(lost)]]
        message = f"there is a rating of reference {name!r}, which the item does not have"
        raise InputError(Problem(message, item=item))
    made = _as_weights(made[~lost], scale)
    rated = np.unique(made.rater)
    raters = tuple(sorted(made.raters[place] for place in rated.tolist()))
    order = {name: place for place, name in enumerate(raters)}
    by_name = np.array([order.get(name, -1) for name in made.raters], dtype=np.int64)
    owners = np.repeat(np.arange(len(items)), [len(item.references) for item in items])
    reference = new[made.reference]
    made = replace(
        made,
        raters=raters,
        rater=by_name[made.rater],
        items=tuple(item.id for item in items),
        item=owners[reference],
        references=names,
        reference=reference,
        systems=(),
    )
    return made.without_repeats()


def _criterion(table: RatingTable, chosen: Bools, criterion: str | None, what: str) -> int:
    """The place of the criterion among the names; None is the only one of the chosen ratings."""
    there = sorted(table.criteria[place] for place in np.unique(table.criterion[chosen]))
    if not there:
        target = "system:NAME" if what == "systems" else "reference:ID"
        raise InputError(f"there are no raw ratings of {what}: their target is written {target}")
    listed = ", ".join(there)
    if criterion is None and len(there) > 1:
        raise InputError(f"{what} were rated by several criteria, choose one: {listed}")
    if criterion is not None and criterion not in there:
        raise InputError(f"no {what} were rated for {criterion!r}; there are ratings of {listed}")
    return table.criteria.index(criterion or there[0])


def _known(
    table: RatingTable,
    chosen: Bools,
    items: Sequence[str] | None,
    systems: Sequence[str] | None,
    unknown: Unknown,
) -> Bools:
    """Which ratings are of known items and systems (None knows all), complaining of others."""
    strange_item = chosen & _strangers(table.items, table.item, items)
    strange_system = chosen & _strangers(table.systems, table.system, systems)
    lost = strange_item | strange_system
    total, count = int(chosen.sum()), int(lost.sum())
    if count and unknown == "error":
        place = int(np.argmax(lost))
        what = "item" if strange_item[place] else "system"
        raise InputError(f"{table.where(place)}: the study has no such {what}")
    if count == total:
        raise InputError(f"none of {total} ratings judges an item and a system of the study")
    if count:
        warnings.warn(
            f"{count} of {total} ratings were dropped: the study does not know their item or "
            "system",
            InputWarning,
            stacklevel=4,
        )
    return ~lost


def _strangers(names: Sequence[str], places: Ints, known: Sequence[str] | None) -> Bools:
    if known is None or not names:
        return np.zeros(len(places), dtype=np.bool_)
    there = frozenset(known)
    strange = np.array([name not in there for name in names], dtype=np.bool_)
    return strange[places] & (places >= 0)


def _renamed(
    table: RatingTable, names: str, places: str, wanted: Sequence[str] | None
) -> RatingTable:
    """Names as wanted, or those that are left in the order in which they are met."""
    old: tuple[Any, ...] = getattr(table, names)
    codes: Ints = getattr(table, places)
    if wanted is None:
        present, first = np.unique(codes, return_index=True)
        present = present[np.argsort(first)]
        new = tuple(old[place] for place in present[present >= 0].tolist())
    else:
        new = tuple(wanted)
    number = {name: place for place, name in enumerate(new)}
    # The last place stands for -1.
    moved = np.array([*(number.get(name, -1) for name in old), -1], dtype=np.int64)
    changed: dict[str, Any] = {names: new, places: moved[codes]}
    return replace(table, **changed)


def _as_weights(table: RatingTable, scale: Scale | None) -> RatingTable:
    """Values mapped to [-1, 1] by their scales; `scale` is that of ratings that name none."""
    weights: Array = np.empty(len(table))
    for place in np.unique(table.scale).tolist():
        here = table.scale == place
        ends = Scale.parse(table.scales[place]) if place >= 0 else scale
        if ends is None:
            first = int(np.argmax(here))
            raise InputError(
                f"{table.where(first)}: has no scale, so it cannot be normalised; write the scale, "
                "such as 1-5, into the ratings"
            )
        weights[here] = ends.weight(table.values[here])
    return table.with_values(weights, _WEIGHTS)


def _on_one_scale(table: RatingTable) -> RatingTable:
    """The table itself; several scales are an error."""
    places, first = np.unique(table.scale, return_index=True)
    if len(places) > 1:
        scales = {
            Scale.parse(table.scales[table.scale[one]]) if table.scale[one] >= 0 else None: one
            for one in sorted(first.tolist())
        }
        if len(scales) > 1:
            one, other = (
                f"{table.scales[table.scale[place]] if table.scale[place] >= 0 else 'none'} "
                f"({table.where(place)})"
                for place in list(scales.values())[:2]
            )
            criterion = table.criteria[table.criterion[0]]
            raise InputError(
                f"ratings of {criterion!r} have several scales: {one} and {other}; normalise them, "
                "or rate them as separate criteria"
            )
    return table
