"""Ratings in, an interval of Krippendorff's alpha out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array, Ints
from deltableu.stats import ConfidenceInterval, jackknife_interval


def alpha_interval(
    rows: Array, groups: Ints, confidence: float = 0.95
) -> ConfidenceInterval | None:
    """The jackknife's interval of alpha for interval data, leaving out one group after the other.

    Parameters
    ----------
    rows
        Raters x units, NaN where a rater did not rate.
    groups
        The number of each unit's group, such as its item: units of a group belong together.
    confidence

    Returns
    -------
    ConfidenceInterval or None
        None where there are fewer than three groups, or too little varies.
    """
    present = ~np.isnan(rows)
    sizes = present.sum(axis=0)
    several = sizes >= 2
    if not several.any():
        return None
    sizes, present = sizes[several], present[:, several]
    values = np.where(present, rows[:, several], 0.0)
    centre = float(values.sum() / sizes.sum())
    away = np.where(present, values - centre, 0.0)
    own = np.where(present, away - away.sum(axis=0) / sizes, 0.0)
    within = 2.0 * sizes * (own**2).sum(axis=0) / (sizes - 1)
    _, group = np.unique(groups[several], return_inverse=True)
    number = int(group.max()) + 1
    if number < 3:
        return None
    parts = np.stack(
        [
            np.bincount(group, one, minlength=number)
            for one in (sizes, within, away.sum(axis=0), (away**2).sum(axis=0))
        ]
    )
    total = parts.sum(axis=1)
    left = _alpha(total[:, np.newaxis] - parts)
    if not np.isfinite(left).all():
        return None
    observed = float(_alpha(total[:, np.newaxis])[0])
    return jackknife_interval(observed, left, confidence, (-np.inf, 1.0))


def _alpha(sums: Array) -> Array:
    """Alpha from numbers of ratings, disagreements within units, sums and sums of squares."""
    count, within, total, squares = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = 2.0 * (squares - total**2 / count) / (count - 1.0)
        # What rounding leaves of no difference is none.
        expected = np.where(expected > 1e-12 * squares / count, expected, np.nan)
        return np.asarray(1.0 - within / count / expected)
