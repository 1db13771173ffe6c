"""Ratings of all sorts in, those of one criterion that judge systems out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from deltableu.corpus import Kind, Rating, Scale
from deltableu.errors import InputError, InputWarning

__all__ = ["SCORED", "Unknown", "judged_system", "of_criterion", "of_known", "values_on_one_scale"]

Unknown: TypeAlias = Literal["error", "drop"]

#: Judgements of these kinds score a system; the others control the rater.
SCORED: tuple[Kind, ...] = ("item", "repeat")

_scale = lru_cache(maxsize=64)(Scale.parse)


def judged_system(rating: Rating) -> str | None:
    """The system whose output was rated; None for a reference."""
    sort, _, name = rating.target.partition(":")
    return name if sort == "system" else None


def of_criterion(ratings: Iterable[Rating], criterion: str | None) -> list[Rating]:
    """Ratings of systems, and controls, by one criterion; None takes the only one there is."""
    ratings = [one for one in ratings if judged_system(one) is not None or one.kind not in SCORED]
    counts = Counter(one.criterion for one in ratings if one.kind in SCORED)
    if not counts:
        raise InputError("no rating judges a system: its target is written system:NAME")
    listed = ", ".join(sorted(counts))
    if criterion is None:
        if len(counts) > 1:
            raise InputError(f"there are ratings of several criteria, choose one: {listed}")
        (criterion,) = counts
    elif criterion not in counts:
        raise InputError(f"no system was rated for {criterion!r}; there are ratings of {listed}")
    return [one for one in ratings if one.criterion == criterion]


def of_known(
    ratings: list[Rating],
    items: Sequence[str] | None,
    systems: Sequence[str] | None,
    unknown: Unknown,
) -> list[Rating]:
    """Ratings of known items and systems (None knows all); others are an error or dropped."""
    if unknown not in get_args(Unknown):
        raise InputError(f"unknown must be error or drop, got {unknown!r}")
    known_items = None if items is None else frozenset(items)
    known_systems = None if systems is None else frozenset(systems)
    kept = []
    for one in ratings:
        system = judged_system(one)
        lost = None
        if known_items is not None and one.item not in known_items:
            lost = "item"
        elif known_systems is not None and system is not None and system not in known_systems:
            lost = "system"
        if lost is None:
            kept.append(one)
        elif unknown == "error":
            raise InputError(f"{_where(one)}: the study has no such {lost}")
    if not kept:
        raise InputError(f"none of {len(ratings)} ratings judges an item and a system of the study")
    if len(kept) < len(ratings):
        warnings.warn(
            f"{len(ratings) - len(kept)} of {len(ratings)} ratings were dropped: the study does "
            "not know their item or system",
            InputWarning,
            stacklevel=4,
        )
    return kept


def values_on_one_scale(ratings: list[Rating], normalise: bool) -> list[float]:
    """What was said, as it was said or mapped to [-1, 1]; several raw scales are an error."""
    if normalise:
        values = []
        for one in ratings:
            if one.scale is None:
                raise InputError(f"{_where(one)}: has no scale, so it cannot be normalised")
            values.append(_scale(one.scale).weight(one.value))
        return values
    scales = {None if one.scale is None else _scale(one.scale): one for one in ratings}
    if len(scales) > 1:
        first, second = list(scales.values())[:2]
        raise InputError(
            f"ratings of {first.criterion!r} have several scales: {first.scale or 'none'} "
            f"({_where(first)}) and {second.scale or 'none'} ({_where(second)}); normalise them, "
            "or rate them as separate criteria"
        )
    return [one.value for one in ratings]


def _where(rating: Rating) -> str:
    return f"rater {rating.rater!r}, item {rating.item!r}, target {rating.target!r}"
