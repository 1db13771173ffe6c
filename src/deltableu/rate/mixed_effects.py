"""Ratings in, systems' means free of who rated which items out: a linear mixed model.

value = system (fixed) + item + rater + taste (rater by system) + output (all random) + residual
"""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, InputWarning, check_choice
from deltableu.io import Column, Table, Tabular, written
from deltableu.rate.direct_assessment import output_means
from deltableu.rate.henderson import Equations, least_deviance
from deltableu.rate.rater_rows import of_one_criterion

Criterion = Literal["reml", "ml"]

#: In the order of `Equations`.
_EFFECTS = ("output", "item", "rater", "taste")
#: Below which nobody can say how raters differ.
_RATERS = 3
#: A step of logarithms of ratios, for derivatives; and a curvature below which nothing is known.
_STEP, _FLAT = 1e-3, 0.1


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Where the spread of ratings comes from; an effect that is not in the model has 0.

    `taste` is what a rater thinks of one system, on all its outputs, beyond how strict they are.
    """

    item: float
    rater: float
    taste: float
    output: float
    residual: float


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel(Tabular):
    """A fitted mixed model.

    Attributes
    ----------
    systems, items, raters : tuple of str
        As in the ratings.
    estimates, standard_errors, covariance : arrays
        For each system's mean: what an average rater would say of an average item.
    differences, difference_errors : arrays
        `differences[a, b]` is how much a's mean lies above b's. Errors count in that variances
        are estimated (Kackar and Harville 1984), which those of single means do not.
    degrees_of_freedom, p_values : arrays
        Results of two-sided t-tests of the differences (degrees of freedom by Satterthwaite). NaN
        where `untested` says why there is no test.
    untested : str or None
    variances : VarianceComponents
    item_effects, rater_effects : arrays
        Best linear unbiased predictions; NaN for whoever has no rating.
    segment_scores : array
        Systems x items: the mean of all ratings less their rater's effect, NaN where there is none.
    log_likelihood : float
        Restricted, if the method is "reml".
    ratings : int
    method : "reml" or "ml"
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    raters: tuple[str, ...]
    estimates: Array
    standard_errors: Array
    covariance: Array
    differences: Array
    difference_errors: Array
    degrees_of_freedom: Array
    p_values: Array
    untested: str | None
    variances: VarianceComponents
    item_effects: Array
    rater_effects: Array
    segment_scores: Array
    log_likelihood: float
    ratings: int
    method: Criterion

    def table(self, *, digits: int = 2) -> Table:
        """Systems in rows, the best first, with the error of each mean."""
        form = f".{digits}f"
        means = zip(
            self.systems, self.estimates.tolist(), self.standard_errors.tolist(), strict=True
        )
        rows = sorted(means, key=lambda row: -row[1])
        parts = ", ".join(
            f"{name} {written(v, form)}" for name, v in asdict(self.variances).items()
        )
        columns = (Column("system"), Column("mean", form), Column("standard error", form))
        notes = {"variances": parts}
        if self.untested:
            notes["p-values"] = f"none: {self.untested}"
        return Table(columns, rows, f"{self.ratings} ratings", notes)


def fit_mixed_model(
    ratings: RatingTable,
    *,
    method: Criterion = "reml",
    outputs: bool | None = None,
    tastes: bool | None = None,
) -> MixedModel:
    """Fit a model with fixed systems and random items, raters, tastes and outputs.

    Parameters
    ----------
    ratings
        Kinds item and repeat are used, with their raw values.
    method
        "reml" (restricted maximum likelihood), or "ml", whose variances are too small: it has no
        p-values.
    outputs
        Whether each output (a system's answer to an item) has a random effect of its own; None
        gives it one where some output has several ratings. Raters of one output agree on more
        than how good the system is and how easy the item. Where that is so, a model without
        this effect is too sure, and has no p-values.
    tastes
        Whether each rater has a random effect for each system, besides one for all of them; None
        gives them where some rater saw several systems and rated one of them more than once. A
        rater who likes a system likes all its outputs: without this effect a few raters' liking
        is taken for a difference that all raters would see, and there are no p-values.

    References
    ----------
    Henderson 1975, "Best Linear Unbiased Estimation and Prediction under a Selection Model",
    Biometrics 31. Bates, Maechler, Bolker and Walker 2015, "Fitting Linear Mixed-Effects Models
    Using lme4", Journal of Statistical Software 67 (the profiled deviance). Giesbrecht and Burns
    1985, "Two-Stage Analysis Based on a Mixed Model", Biometrics 41 (degrees of freedom). Kackar
    and Harville 1984, "Approximations for Standard Errors of Estimators of Fixed and Random Effects
    in Mixed Linear Models", Journal of the American Statistical Association 79.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "b"] * 4, items=["1", "1", "2", "2"] * 2, systems=["A"] * 4 + ["B"] * 4,
    ...     values=[80, 70, 60, 52, 74, 63, 50, 45],
    ... )
    >>> model = fit_mixed_model(made)
    >>> model.estimates.round(2).tolist(), model.differences[0, 1].round(2)
    ([65.5, 58.0], np.float64(7.5))
    """
    check_choice("method", method, get_args(Criterion))
    ratings = of_one_criterion(ratings)
    scored = ratings.scored()
    _check(scored)
    obstacles = {effect: _obstacle(scored, effect) for effect in _EFFECTS}
    asked = {"output": outputs, "item": True, "rater": True, "taste": tastes}
    free = {effect: asked[effect] is not False and obstacles[effect] is None for effect in _EFFECTS}
    for effect, reason in obstacles.items():
        if reason is not None and asked[effect]:
            message = f"the model is fitted without effects of {effect}s: {reason}"
            warnings.warn(message, InputWarning, stacklevel=2)
    untested = _untested(scored, method, [name for name in _EFFECTS if asked[name] is False])
    equations = Equations(scored, restricted=method == "reml", tastes=free["taste"])
    ratios = least_deviance(equations, tuple(free.values()))
    return _result(ratings, scored, equations, ratios, method, untested)


def _untested(scored: RatingTable, method: Criterion, left_out: list[str]) -> str | None:
    """Why no p-value of this model would hold, if none would."""
    raters = len(np.unique(scored.rater))
    if method == "ml":
        return "variances by maximum likelihood are too small"
    if left_out:
        return f"the model was asked to leave out effects of {left_out[0]}s"
    if len(scored.systems) > 1 and raters < _RATERS:
        few = f"there are {raters} raters" if raters > 1 else "there is one rater"
        return f"{few}, and their taste cannot be told from what all raters would say"
    return None


def _check(scored: RatingTable) -> None:
    if len(scored) == 0:
        raise InputError("there are no ratings of systems to fit a model to")
    rated = np.bincount(scored.system, minlength=len(scored.systems)) > 0
    if not rated.all():
        name = scored.systems[int(np.argmin(rated))]
        raise InputError(f"system {name!r} has no ratings: leave it out")
    if len(scored) <= len(scored.systems):
        raise InputError(
            f"{len(scored)} ratings cannot tell the means of {len(scored.systems)} systems from "
            "noise: there must be more ratings than systems"
        )
    spread = np.ptp(scored.values)
    if spread <= 1e-12 * np.abs(scored.values).max():
        raise InputError("all ratings have the same value: there is nothing to explain")


def _obstacle(scored: RatingTable, effect: str) -> str | None:
    """Why the data cannot tell the effect from noise or another effect, if they cannot."""
    groups = {
        "item": scored.item,
        "rater": scored.rater,
        "taste": scored.rater * len(scored.systems) + scored.system,
        "output": scored.item * len(scored.systems) + scored.system,
    }[effect]
    levels, counts = np.unique(groups, return_counts=True)
    if len(levels) == 1:
        return f"there is one {effect} only"
    pairs = np.unique(groups * len(scored.systems) + scored.system)
    if effect in ("item", "rater") and len(pairs) == len(scored.systems):
        raise InputError(
            f"each system was rated with one {effect} alone: systems cannot be told from {effect}s"
        )
    if counts.max() == 1:
        return f"no {effect} has more than one rating"
    if effect == "output" and len(levels) == len(np.unique(scored.item)):
        return "each item was answered by one system only"
    if effect == "taste":
        raters = len(np.unique(scored.rater))
        if raters == 1:
            return "there is one rater only"
        if len(levels) == raters:
            return "each rater saw one system only"
        if _same_groups(groups, scored.item * len(scored.systems) + scored.system):
            return "each output has a rater of its own"
    if effect == "item" and _same_groups(scored.item, scored.rater):
        return "each item has a rater of its own"
    return None


def _same_groups(first: Ints, second: Ints) -> bool:
    pairs = len(np.unique(first * (int(second.max()) + 1) + second))
    return pairs == len(np.unique(first)) == len(np.unique(second))


def _result(
    ratings: RatingTable,
    scored: RatingTable,
    equations: Equations,
    ratios: Array,
    method: Criterion,
    untested: str | None,
) -> MixedModel:
    from scipy.special import stdtr

    solution = equations.solve(ratios)
    scale = equations.scale
    residual = solution.residual * scale**2
    output, item, rater, taste = (ratios**2 * residual).tolist()
    covariance = (solution.inverse + solution.inverse.T) * (residual / 2.0)
    variances = np.diag(covariance)
    estimates = equations.shift + scale * solution.fixed
    differences = estimates[:, None] - estimates
    known = np.maximum(variances[:, None] + variances - 2.0 * covariance, 0.0)
    unknown, freedom = _estimated_variances(scored, equations, ratios)
    errors = np.sqrt(known + scale**2 * unknown)
    if untested:
        freedom = np.full_like(errors, np.nan)
    t = np.divide(np.abs(differences), errors, out=np.zeros_like(errors), where=errors > 0.0)
    rater_effects = scale * ratios[2] * solution.rater
    # The values were scaled: their density is that of the raw ones times the scale, each time.
    degrees = len(scored) - len(scored.systems) if method == "reml" else len(scored)
    deviance = solution.deviance + 2.0 * degrees * math.log(scale)
    return MixedModel(
        ratings.systems,
        ratings.items,
        ratings.raters,
        estimates,
        np.sqrt(variances),
        covariance,
        differences,
        errors,
        freedom,
        2.0 * stdtr(freedom, -t),
        untested,
        VarianceComponents(item, rater, taste, output, residual),
        _known(scale * ratios[1] * solution.item, scored.item),
        _known(rater_effects, scored.rater),
        output_means(scored.with_values(scored.values - rater_effects[scored.rater])),
        -0.5 * deviance,
        len(scored),
        method,
    )


def _estimated_variances(
    scored: RatingTable, equations: Equations, ratios: Array
) -> tuple[Array, Array]:
    """What it costs each difference that variances are estimated: more variance, and Student's t.

    Estimates move with the ratios, which are uncertain (Kackar and Harville). Satterthwaite's
    degrees of freedom are 2 / the variance of the logarithm of a difference's variance. Both follow
    from the curvature of the deviance by the logarithms of the ratios; given these, the residual
    variance has as many degrees as there are ratings less systems. Ratios of 0 are taken for known.
    """
    places = np.flatnonzero(ratios)
    shape = (len(places), equations.systems, equations.systems)
    curvature, moves, slopes = np.empty((len(places),) * 2), np.empty(shape), np.empty(shape)
    for row, place in enumerate(places.tolist()):
        ends = []
        for step in (_STEP, -_STEP):
            moved = ratios.copy()
            moved[place] *= math.exp(step)
            solution = equations.solve(moved)
            own = np.diag(solution.inverse)
            shared = solution.inverse + solution.inverse.T
            variances = solution.residual * (own[:, None] + own - shared)
            np.fill_diagonal(variances, 1.0)
            means = solution.fixed[:, None] - solution.fixed
            ends.append(((moved * solution.gradient)[places], means, np.log(variances)))
        curvature[row], moves[row], slopes[row] = (
            (first - second) / (2.0 * _STEP) for first, second in zip(*ends, strict=True)
        )
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    values = np.maximum(values, _FLAT)[:, None, None]
    unknown, spread = (
        (np.tensordot(vectors, one, axes=(0, 0)) ** 2 / values).sum(axis=0)
        for one in (moves, slopes)
    )
    freedom = 1.0 / (spread + 1.0 / (equations.size - equations.systems))
    return 2.0 * unknown, np.clip(freedom, 1.0, _between_raters(scored))


def _between_raters(scored: RatingTable) -> Array:
    """For each two systems, raters less 2 where some rater saw only one of them; else no limit.

    Such systems are compared between raters, whose variance looks small by chance where they are
    few; the degrees of freedom that follow from it are then too many.
    """
    saw = np.zeros((len(scored.raters), len(scored.systems)), dtype=bool)
    saw[scored.rater, scored.system] = True
    both = (saw[:, :, None] & saw[:, None, :]).sum(axis=0)
    either = (saw[:, :, None] | saw[:, None, :]).sum(axis=0)
    return np.where(both < either, np.maximum(either - 2.0, 1.0), np.inf)


def _known(effects: Array, places: Ints) -> Array:
    return np.where(np.bincount(places, minlength=len(effects)) > 0, effects, np.nan)
