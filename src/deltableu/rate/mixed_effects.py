"""Ratings in, systems' means free of who rated which items out: a linear mixed model.

value = system (fixed) + item (random) + rater (random) + output (random) + residual
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
from deltableu.io import Column, Table, written
from deltableu.rate.direct_assessment import output_means
from deltableu.rate.henderson import Equations, least_deviance
from deltableu.rate.rater_rows import of_one_criterion

Criterion = Literal["reml", "ml"]


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """Where the spread of ratings comes from; an effect that is not in the model has 0."""

    item: float
    rater: float
    output: float
    residual: float


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """A fitted mixed model.

    Attributes
    ----------
    systems, items, raters : tuple of str
        As in the ratings.
    estimates, standard_errors, covariance : arrays
        Of each system's mean: what an average rater would say of an average item.
    differences, difference_errors, p_values : arrays
        `differences[a, b]` is how much a's mean lies above b's; two-sided p-values of Wald's test,
        which takes the variances for known and is too bold with a handful of raters or items.
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
    p_values: Array
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
        return Table(columns, rows, f"{self.ratings} ratings", {"variances": parts})


def fit_mixed_model(
    ratings: RatingTable, *, method: Criterion = "reml", outputs: bool | None = None
) -> MixedModel:
    """Fit a model with fixed systems and random items, raters and outputs.

    Parameters
    ----------
    ratings
        Kinds item and repeat are used, with their raw values.
    method
        "reml" (restricted maximum likelihood), or "ml", whose variances are too small.
    outputs
        Whether each output (a system's answer to an item) has a random effect of its own; None
        gives it one where some output has several ratings. Raters of one output agree on more
        than how good the system is and how easy the item. Where that is so, a model without
        this effect is too sure: of two equal systems with 50 items, three ratings an output and
        equal variances of all effects, 21% differed at 5% (with it, 5%; 400 simulated studies).

    References
    ----------
    Henderson 1975, "Best Linear Unbiased Estimation and Prediction under a Selection Model",
    Biometrics 31. Bates, Maechler, Bolker and Walker 2015, "Fitting Linear Mixed-Effects Models
    Using lme4", Journal of Statistical Software 67 (the profiled deviance).

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
    obstacles = {effect: _obstacle(scored, effect) for effect in ("item", "rater", "output")}
    for effect, reason in obstacles.items():
        if reason is not None and (effect != "output" or outputs):
            message = f"the model is fitted without effects of {effect}s: {reason}"
            warnings.warn(message, InputWarning, stacklevel=2)
    equations = Equations(scored, restricted=method == "reml")
    free = (
        outputs is not False and obstacles["output"] is None,
        obstacles["item"] is None,
        obstacles["rater"] is None,
    )
    ratios = least_deviance(equations, free)
    return _result(ratings, scored, equations, ratios, method)


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
        "output": scored.item * len(scored.systems) + scored.system,
    }[effect]
    levels, counts = np.unique(groups, return_counts=True)
    if len(levels) == 1:
        return f"there is one {effect} only"
    pairs = np.unique(groups * len(scored.systems) + scored.system)
    if effect != "output" and len(pairs) == len(scored.systems):
        raise InputError(
            f"each system was rated with one {effect} alone: systems cannot be told from {effect}s"
        )
    if counts.max() == 1:
        return f"no {effect} has more than one rating"
    if effect == "output" and len(levels) == len(np.unique(scored.item)):
        return "each item was answered by one system only"
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
) -> MixedModel:
    from scipy.special import ndtr

    solution = equations.solve(ratios)
    scale = equations.scale
    residual = solution.residual * scale**2
    output, item, rater = (ratios**2 * residual).tolist()
    covariance = (solution.inverse + solution.inverse.T) * (residual / 2.0)
    variances = np.diag(covariance)
    estimates = equations.shift + scale * solution.fixed
    differences = estimates[:, None] - estimates
    errors = np.sqrt(np.maximum(variances[:, None] + variances - 2.0 * covariance, 0.0))
    z = np.divide(np.abs(differences), errors, out=np.zeros_like(errors), where=errors > 0.0)
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
        2.0 * ndtr(-z),
        VarianceComponents(item, rater, output, residual),
        _known(scale * ratios[1] * solution.item, scored.item),
        _known(rater_effects, scored.rater),
        output_means(scored.with_values(scored.values - rater_effects[scored.rater])),
        -0.5 * deviance,
        len(scored),
        method,
    )


def _known(effects: Array, places: Ints) -> Array:
    return np.where(np.bincount(places, minlength=len(effects)) > 0, effects, np.nan)
