"""Ratings in; all that can be said about how far raters agree, by criterion, out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeVar, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable, Scale
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.rate.agreement_results import RaterAgreement
from deltableu.rate.alpha_interval import alpha_interval
from deltableu.rate.chance_agreement import category_counts, fleiss_kappa, krippendorff_alpha
from deltableu.rate.consistency import consistency_curve, variance_ratio
from deltableu.rate.human_ceiling import human_ceiling
from deltableu.rate.intraclass import intraclass_correlations
from deltableu.rate.pairwise_kappas import pairwise_kappas
from deltableu.rate.rated_units import RatedUnits, Targets, rated_units
from deltableu.rate.rater_agreement import inter_rater_correlations
from deltableu.rate.rater_use import RaterUse, rater_use
from deltableu.rate.standardise import standardise
from deltableu.stats import correlate

Values = Literal["raw", "z"]

#: More different values than this are no categories.
_CATEGORIES = 11
#: Units that two raters must have in common.
_COMMON = 10
#: Random halves; their mean needs no more.
_SHUFFLES = 100
_MOST = 1000
#: Squares of ratings, and of what they differ by, must be numbers.
_LARGEST = 1e100

_Made = TypeVar("_Made")


def rater_agreements(
    ratings: RatingTable,
    *,
    targets: Targets | None = None,
    criterion: str | None = None,
    values: Values = "raw",
    categories: int | None = None,
    target: float = 0.9,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[RaterAgreement, ...]:
    """How far raters agree about outputs, references and pairs, by each criterion.

    Parameters
    ----------
    ratings
        Raw.
    targets, criterion
        Only these; by default all that there are.
    values
        Whether reliability, ceiling and correlations are of values as they are, or standardised by
        rater. Alpha is given of both; kappas are of raw values.
    categories
        Cut the scale into so many equal parts, for kappas and the nominal alpha; by default values
        are categories where there are at most 11 of them.
    target
        How high the mean of enough ratings correlates with what ever more raters would say.
    confidence
        That of the intervals.
    seed
        Of random halves and orders of ratings.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "b", "c"] * 4, items=[n for n in "1234" for _ in "abc"],
    ...     systems=["A"] * 12, values=[5, 5, 4, 4, 5, 4, 1, 2, 1, 3, 2, 3], scale="1-5",
    ... )
    >>> (found,) = rater_agreements(made)
    >>> round(found.alpha, 3), found.enough
    (0.849, 1)
    """
    check_choice("values", values, get_args(Values))
    check_share("target", target)
    check_share("confidence", confidence)
    if categories is not None:
        check_at_least("categories", categories, 2)
    return tuple(
        _agreement(units, values, categories, target, confidence, seed)
        for units in rated_units(ratings, targets, criterion)
    )


def _agreement(
    units: RatedUnits,
    values: Values,
    categories: int | None,
    target: float,
    confidence: float,
    seed: int,
) -> RaterAgreement:
    where = f"{units.criterion} of {units.targets}"
    raw = units.table.scored()
    _, rows = units.rows()
    rows = rows[(~np.isnan(rows)).any(axis=1)]
    counts = (~np.isnan(rows)).sum(axis=0)
    _check(rows, counts, where)
    missing: dict[str, str] = {}
    standard = None
    if units.targets != "pairs":
        standard = standardise(units.table)[0].scored()
    used = raw if values == "raw" or standard is None else standard

    def tried(name: str, make: Callable[[], _Made]) -> _Made | None:
        try:
            return make()
        except InputError as error:
            missing[name] = str(error)
            return None

    alpha_z = None
    if standard is not None:
        alpha_z = tried("alpha of z", lambda: krippendorff_alpha(standard).value)
    coded, number = _coded(rows, units, categories)
    nominal = kappas = None
    fleiss: float | None = None
    each = fleiss_units = 0
    if coded is None:
        missing["kappas"] = (
            f"{number:,} different values are no categories (--categories 5 cuts the scale into 5)"
        )
    else:
        nominal = tried("nominal alpha", lambda: krippendorff_alpha(coded, "nominal").value)
        kappas = tried("Cohen's kappa", lambda: pairwise_kappas(coded, min_common=_COMMON))
        each, alike = _most_common(counts)
        fleiss_units = int(alike.sum()) // units.ways
        found = tried("Fleiss' kappa", lambda: fleiss_kappa(category_counts(coded[:, alike])))
        fleiss = None if found is None else found.value

    def pearson(x: Array, y: Array) -> float:
        return float(correlate(x, y, "pearson"))

    ceiling = tried(
        "reliability",
        lambda: human_ceiling(used, pearson, by="unit", shuffles=_SHUFFLES, seed=seed),
    )
    reliability = math.nan
    if ceiling is not None:
        reliability = 0.0 if math.isnan(ceiling.perfect) else ceiling.perfect**2
    inverse = float((1.0 / counts[counts > 0]).mean())
    return RaterAgreement(
        targets=units.targets,
        criterion=units.criterion,
        scale=units.scale,
        values=values if standard is not None else "raw",
        raters=len(rows),
        ratings=int(counts.sum()) // units.ways,
        units=int((counts > 0).sum()) // units.ways,
        shared=int((counts > 1).sum()) // units.ways,
        per_unit=float(counts[counts > 0].mean()),
        alpha=krippendorff_alpha(rows).value,
        interval=alpha_interval(rows, units.groups(), confidence),
        alpha_ordinal=krippendorff_alpha(rows, "ordinal").value,
        alpha_nominal=nominal,
        alpha_z=alpha_z,
        categories=None if coded is None else number,
        kappas=kappas,
        fleiss=fleiss,
        fleiss_each=each,
        fleiss_units=fleiss_units,
        one_way=_one_way(used),
        intraclass=tried(
            "ICC2, ICC3", lambda: intraclass_correlations(used, confidence=confidence)
        ),
        correlations=tried(
            "correlations of two raters",
            lambda: inter_rater_correlations(used, min_common=_COMMON),
        ),
        one_rater=math.nan if ceiling is None else ceiling.one.mean,
        reliability=reliability,
        target=target,
        enough=_enough(reliability, inverse, target),
        consistency=consistency_curve(used, seed=seed),
        rater_use=_use(units),
        missing=missing,
        simulated=units.table.is_simulated,
        _inverse=inverse,
    )


def _use(units: RatedUnits) -> tuple[RaterUse, ...]:
    return tuple(
        replace(one, ratings=one.ratings // units.ways, shared=one.shared // units.ways)
        for one in rater_use(units.table)
    )


def _check(rows: Array, counts: Ints, where: str) -> None:
    if len(rows) < 2:
        raise InputError(f"{where}: there is one rater only, who agrees with nobody else")
    if counts.max(initial=0) < 2:
        raise InputError(f"{where}: nothing was rated by two raters: agreement cannot be measured")
    shared = rows[:, counts >= 2]
    low, high = float(np.nanmin(rows)), float(np.nanmax(rows))
    if max(-low, high) > _LARGEST or 0.0 < high / 2.0 - low / 2.0 < 1.0 / _LARGEST:
        raise InputError(
            f"{where}: ratings from {low:g} to {high:g} are beyond what can be computed with"
        )
    if np.nanmax(shared) == np.nanmin(shared):
        raise InputError(
            f"{where}: all ratings that two raters share are equal: agreement is undefined where "
            "nothing varies"
        )


def _coded(rows: Array, units: RatedUnits, categories: int | None) -> tuple[Array | None, int]:
    """Categories as numbers, and how many they are; None where values are too many for that."""
    if categories is not None and units.targets != "pairs":
        low, high = float(np.nanmin(rows)), float(np.nanmax(rows))
        if units.scale is not None:
            ends = Scale.parse(units.scale)
            low, high = ends.low, ends.high
        # Each part has its upper end, as WebNLG 2020's has.
        parts = np.ceil((rows - low) * categories / (high - low)) - 1.0
        return np.maximum(parts, 0.0), categories
    number = len(np.unique(rows[~np.isnan(rows)]))
    return (rows if number <= _CATEGORIES else None), number


def _most_common(counts: Ints) -> tuple[int, Array]:
    """The number of ratings, two or more, that most units have; and which have it."""
    numbers = np.bincount(counts[counts >= 2])
    each = int(np.argmax(numbers))
    return each, counts == each


def _one_way(ratings: RatingTable) -> float:
    try:
        ratio = variance_ratio(ratings)
    except InputError:  # one unit alone was rated twice
        return math.nan
    return 1.0 / (1.0 + ratio) if math.isfinite(ratio) else 0.0


def _enough(reliability: float, inverse: float, target: float) -> int | None:
    """Spearman and Brown: ratings whose mean correlates by the target with ever more."""
    if math.isnan(reliability) or reliability <= 0.0:
        return None
    ratio = (1.0 / reliability - 1.0) / inverse
    needed = ratio * target**2 / (1.0 - target**2)
    number = max(1, math.ceil(needed - 1e-9))
    return number if number <= _MOST else None
