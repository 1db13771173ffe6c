"""Ratings in, agreement beyond chance out: Krippendorff's alpha, Cohen's and Fleiss' kappa."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_choice
from deltableu.rate.rater_rows import Ratings, rater_rows

Measurement = Literal["nominal", "ordinal", "interval"]
KappaWeights = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class ChanceAgreement:
    """Agreement beyond chance.

    Attributes
    ----------
    value : float
        1 is perfect, 0 is what chance gives.
    observed, expected : float
        Shares of agreement (kappa) or of disagreement (alpha).
    units : int
        That two raters or more rated.
    ratings : int
        The number of ratings of these units.
    """

    value: float
    observed: float
    expected: float
    units: int
    ratings: int


def krippendorff_alpha(ratings: Ratings, measurement: Measurement = "interval") -> ChanceAgreement:
    """Krippendorff's alpha: 1 - observed / expected disagreement, whatever is missing.

    Parameters
    ----------
    ratings
        A `RatingTable` (units are outputs, a rater's first rating of each counts), or raters x
        units with NaN where a rater did not rate.
    measurement
        How far two values are apart: "nominal" (equal or not), "ordinal" (by how many ratings
        lie between them), "interval" (by their squared difference).

    References
    ----------
    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 4], [1, 3, 3, 4]], "nominal").value, 3)
    0.569
    """
    check_choice("measurement", measurement, get_args(Measurement))
    _, rows = rater_rows(ratings, "first")
    rows = rows[:, (~np.isnan(rows)).sum(axis=0) >= 2]
    present = ~np.isnan(rows)
    sizes = present.sum(axis=0)
    total = int(sizes.sum())
    if total == 0:
        raise InputError("no unit was rated by two raters: agreement cannot be measured")
    values = rows[present]
    if np.ptp(values) == 0.0:
        raise InputError("all ratings are equal: alpha is undefined where nothing varies")
    if measurement == "interval":
        # Only differences count, and small numbers lose no digits.
        observed, expected = _squared_differences(rows - values.mean(), present, sizes)
    elif measurement == "ordinal":
        # The distance counts ratings between two values: that of their average ranks.
        _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
        ranks = np.cumsum(counts) - (counts - 1) / 2.0
        ranked = np.full(rows.shape, np.nan)
        ranked[present] = ranks[places] - ranks[places].mean()
        observed, expected = _squared_differences(ranked, present, sizes)
    else:
        counts = category_counts(rows)
        observed = float(((sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)).sum()) / total
        pooled = counts.sum(axis=0)
        expected = float(total**2 - (pooled**2).sum()) / (total * (total - 1))
    return ChanceAgreement(1.0 - observed / expected, observed, expected, rows.shape[1], total)


def _squared_differences(rows: Array, present: Any, sizes: Ints) -> tuple[float, float]:
    """Mean squared difference of pairs within units, and of all pairs."""
    filled = np.where(present, rows, 0.0)
    total = int(sizes.sum())
    # About each unit's own mean: nothing is left to cancel where raters agree.
    away = np.where(present, rows - filled.sum(axis=0) / sizes, 0.0)
    within = 2.0 * sizes * (away**2).sum(axis=0) / (sizes - 1)
    everywhere = np.where(present, rows - filled.sum() / total, 0.0)
    expected = 2.0 * (everywhere**2).sum() / (total - 1)
    return float(within.sum()) / total, float(expected)


def cohen_kappa(
    first: Sequence[float] | Array, second: Sequence[float] | Array, weights: KappaWeights = "none"
) -> ChanceAgreement:
    """Cohen's kappa of two raters; with weights, near misses count as partial agreement.

    Parameters
    ----------
    first, second
        Categories as numbers, one a unit; NaN where a rater did not rate.
    weights
        "none", or by the difference of the numbers ("linear") or its square ("quadratic").

    References
    ----------
    Cohen 1960, "A Coefficient of Agreement for Nominal Scales"; 1968, "Weighted Kappa".

    Examples
    --------
    >>> round(cohen_kappa([1, 1, 2, 3], [1, 2, 2, 3]).value, 3)
    0.636
    >>> round(cohen_kappa([1, 1, 2, 3], [1, 2, 2, 3], "quadratic").value, 3)
    0.8
    """
    if weights not in get_args(KappaWeights):
        raise InputError(f"weights must be none, linear or quadratic, got {weights!r}")
    if len(first) != len(second):
        raise InputError(f"raters have {len(first)} and {len(second)} ratings: pair them by unit")
    _, rows = rater_rows([first, second])
    rows = rows[:, ~np.isnan(rows).any(axis=0)]
    units = rows.shape[1]
    if units == 0:
        raise InputError("the two raters have no unit in common")
    categories, places = np.unique(rows, return_inverse=True)
    if len(categories) == 1:
        raise InputError("both raters use one category only: kappa is undefined")
    places = places.reshape(rows.shape)
    table = np.zeros((len(categories), len(categories)))
    np.add.at(table, (places[0], places[1]), 1.0 / units)
    distances = np.abs(categories[:, None] - categories)
    if weights == "none":
        distances = (distances > 0).astype(np.float64)
    elif weights == "quadratic":
        distances = distances**2
    agreements = 1.0 - distances / distances.max()
    observed = float((agreements * table).sum())
    expected = float((agreements * np.outer(table.sum(axis=1), table.sum(axis=0))).sum())
    return ChanceAgreement(
        (observed - expected) / (1.0 - expected), observed, expected, units, 2 * units
    )


def category_counts(ratings: Ratings) -> Ints:
    """How many raters put each unit into each category (sorted): units x categories.

    Examples
    --------
    >>> category_counts([[1, 5], [1, 3], [5, 3]]).tolist()
    [[2, 0, 1], [0, 2, 1]]
    """
    _, rows = rater_rows(ratings, "first")
    present = ~np.isnan(rows)
    categories, places = np.unique(rows[present], return_inverse=True)
    units = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)[present]
    counts = np.bincount(
        units * len(categories) + places, minlength=rows.shape[1] * len(categories)
    )
    return counts.reshape(rows.shape[1], len(categories))


def fleiss_kappa(counts: Sequence[Any] | Ints) -> ChanceAgreement:
    """Fleiss' kappa of many raters, as many for each unit, who need not be the same.

    Parameters
    ----------
    counts
        Units x categories: how many raters chose it; `category_counts` makes them of ratings.

    References
    ----------
    Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1]]).value, 3)
    0.55
    """
    table = np.asarray(counts)
    if table.ndim != 2 or table.dtype.kind not in "iu" or table.size == 0 or (table < 0).any():
        raise InputError("counts must be whole numbers from 0 on: units x categories")
    sizes = table.sum(axis=1)
    raters = int(sizes[0])
    if (sizes != raters).any():
        unit = int(np.argmax(sizes != raters))
        raise InputError(
            f"unit {unit} has {sizes[unit]} ratings, unit 0 has {raters}: Fleiss' kappa needs as "
            "many for each; use Krippendorff's alpha"
        )
    if raters < 2:
        raise InputError(f"agreement needs at least 2 ratings per unit, got {raters}")
    shares = table.sum(axis=0) / sizes.sum()
    expected = float((shares**2).sum())
    if np.count_nonzero(shares) == 1:
        raise InputError("all raters use one category only: kappa is undefined")
    pairs = (table * (table - 1)).sum(axis=1) / (raters * (raters - 1))
    observed = float(pairs.mean())
    return ChanceAgreement(
        (observed - expected) / (1.0 - expected), observed, expected, len(table), int(sizes.sum())
    )
