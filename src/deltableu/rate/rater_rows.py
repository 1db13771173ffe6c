"""Ratings, however they are given, as rows of numbers: one row per rater, one column per unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from deltableu._types import Array
from deltableu.corpus import SCORED, RatingTable, Repeats
from deltableu.errors import InputError

#: A table, or raters x units with NaN where a rater did not rate.
Ratings: TypeAlias = RatingTable | Sequence[Any] | Array


def of_one_criterion(ratings: RatingTable) -> RatingTable:
    """The table itself, if all its ratings are of systems (or controls) and of one criterion.

    Else what `RatingTable.of_systems` makes of it, which complains of several criteria or scales.
    """
    judging = (ratings.system >= 0) | ~ratings.of_kind(*SCORED)
    alike = all(len(np.unique(one)) <= 1 for one in (ratings.criterion, ratings.scale))
    return ratings if alike and judging.all() else ratings.of_systems()


def rater_rows(ratings: Ratings, repeats: Repeats = "mean") -> tuple[tuple[str, ...], Array]:
    """Names of raters, and raters x units; NaN where a rater did not rate.

    Units are outputs (systems x items) of a `RatingTable`; of an array, whatever follows the first
    axis, and raters are called by their numbers, from 0.

    Examples
    --------
    >>> rater_rows([[1, 2], [1, float("nan")]])
    (('0', '1'), array([[ 1.,  2.],
           [ 1., nan]]))
    """
    if isinstance(ratings, RatingTable):
        table = of_one_criterion(ratings)
        return table.raters, table.by_output(repeats).reshape(len(table.raters), -1)
    try:
        rows = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError):
        message = "ratings must be numbers: one row per rater, one column per unit"
        raise InputError(message) from None
    if rows.ndim < 2:
        raise InputError("ratings must have one row per rater and one column per unit")
    rows = rows.reshape(len(rows), -1)
    if np.isinf(rows).any():
        rater, unit = np.argwhere(np.isinf(rows))[0].tolist()
        raise InputError(f"rater {rater}, unit {unit}: a rating must be finite")
    return tuple(map(str, range(len(rows)))), rows
