"""Ratings of all sorts in; those of one criterion, of systems or of references, out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus.rating import SCORED, Scale
from deltableu.corpus.rating_columns import NAMES, moved_places
from deltableu.errors import InputError, InputWarning, Problem, check_choice, hint_at

if TYPE_CHECKING:
    from deltableu.corpus.rating_table import RatingTable
    from deltableu.corpus.types import Item


Unknown: TypeAlias = Literal["error", "drop"]

#: Names that a sentence lists of those that there are.
_MOST_NAMED = 5
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
    made = _renamed(made, rater=None, item=items, system=systems, reference=None)
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
    lost = _strangers(made.references, made.reference, names)
    if lost.any() and unknown == "error":
        item, name = made.references[made.reference[np.argmax(lost)]]
        message = f"there is a rating of reference {name!r}, which the item does not have"
        raise InputError(Problem(message, item=item))
    made = _as_weights(made[~lost], scale)
    raters = sorted(made.raters[place] for place in np.unique(made.rater))
    ids = [item.id for item in items]
    made = _renamed(made, rater=raters, item=ids, reference=names, system=())
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
        meant = hint_at(criterion, there)
        raise InputError(
            f"no {what} were rated for {criterion!r}; there are ratings of {listed}{meant}"
        )
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
        name, there = table.items[table.item[place]], list(items or ())
        if what == "system":
            name, there = table.systems[table.system[place]], list(systems or ())
        some = ", ".join(there[:_MOST_NAMED]) + ", ..." * (len(there) > _MOST_NAMED)
        meant = hint_at(name, there)
        message = f"the study has no such {what}; it has {some}{meant}"
        raise InputError(f"{table.where(place)}: {message}")
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


def _strangers(names: Sequence[Hashable], places: Ints, known: Sequence[Hashable] | None) -> Bools:
    if known is None or not names:
        return np.zeros(len(places), dtype=np.bool_)
    there = frozenset(known)
    strange = np.array([name not in there for name in names], dtype=np.bool_)
    return strange[places] & (places >= 0)


def _renamed(table: RatingTable, **wanted: Sequence[Hashable] | None) -> RatingTable:
    """Names of columns as wanted; None is those that are left in the order they are met."""
    changed: dict[str, Any] = {}
    for column, new in wanted.items():
        old, places = getattr(table, NAMES[column]), getattr(table, column)
        if new is None:
            present, first = np.unique(places, return_index=True)
            met = present[np.argsort(first)]
            new = [old[place] for place in met[met >= 0]]
        changed |= {NAMES[column]: tuple(new), column: moved_places(places, old, new)}
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
