"""Ratings of some items and a metric on all in; the estimate of a mean and its error out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array, Bools
from deltableu.errors import InputError
from deltableu.rate.strata import joined_strata, metric_strata

EstimateMethod = Literal["control-variates", "ppi", "stratified", "ratings"]
Quantile = Literal["t", "normal"]
#: Quartiles' distances beyond the quartiles.
_FAR = 3.0


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How to estimate; see `estimate_quality`."""

    method: EstimateMethod
    quantile: Quantile
    power: float | None
    finite: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """One estimate before it becomes an interval.

    `influence` and `alone` hold what each item adds to the error, with the metric and without:
    their sums of squares are the variances, two systems' sums of products their covariance.
    `unseen` is the share of the variance that is left where only these items count.
    """

    mean: float
    alpha: float
    degrees_of_freedom: float
    influence: Array
    alone: Array
    unseen: float = 1.0

    @property
    def variance(self) -> float:
        return self.unseen * float(self.influence @ self.influence)

    @property
    def variance_alone(self) -> float:
        return self.unseen * float(self.alone @ self.alone)

    @property
    def saving(self) -> float:
        if self.variance > 0.0:
            return self.variance_alone / self.variance
        return math.inf if self.variance_alone > 0.0 else 1.0


def fit_mean(values: Array, metric: Array, mask: Bools, settings: FitSettings) -> Fit:
    """The estimate of one mean; `values` belong to the items of `mask`, `metric` to all items."""
    method, size, outputs = settings.method, len(values), len(metric)
    tuned = method == "control-variates" or (method == "ppi" and settings.power is None)
    needed = 3 if tuned else 2
    if size < needed:
        raise InputError(f"{method} needs at least {needed} rated outputs, got {size}")
    if np.all(values == values[0]):
        raise InputError("all rated outputs have the same rating: nothing tells how sure that is")
    if method == "stratified":
        return _stratified(values, metric, mask, settings)
    if method != "ratings" and np.all(metric[mask] == metric[mask][0]):
        raise InputError("the metric is constant over the rated outputs: use the ratings alone")
    small = settings.quantile == "t"
    unseen = 1.0 - size / outputs if settings.finite else 1.0
    alone = np.zeros(outputs)
    alone[mask] = _centred(values, lost=int(small))
    plain = Fit(float(values.mean()), 0.0, size - 1.0, alone, alone, unseen)
    if method == "ratings" or (method == "ppi" and size == outputs):
        return plain
    if method == "ppi":
        return _ppi(plain, values, metric, mask, settings)
    return _control_variates(plain, values, metric, mask, settings)


def _control_variates(
    plain: Fit, values: Array, metric: Array, mask: Bools, settings: FitSettings
) -> Fit:
    """Regression estimator: the mean of ratings, moved along the line to the metric's mean."""
    rated, size = metric[mask], len(values)
    deviations = rated - rated.mean()
    spread = float(deviations @ deviations)
    alpha = float(deviations @ values) / spread
    shift = float(rated.mean() - metric.mean())
    small = settings.quantile == "t"
    # The line is less sure the farther the metric's mean over all lies from that over the rated.
    leverage = size * shift**2 / spread if small else 0.0
    influence = np.zeros(len(metric))
    influence[mask] = _centred(values - alpha * rated, lost=2 * int(small))
    influence *= math.sqrt(1.0 + leverage)
    if not settings.finite:
        influence += alpha * (metric - metric.mean()) / len(metric)
    mean = plain.mean - alpha * shift
    return Fit(mean, alpha, size - 2.0, influence, plain.alone, plain.unseen)


def _ppi(plain: Fit, values: Array, metric: Array, mask: Bools, settings: FitSettings) -> Fit:
    """PPI++: the metric's mean over unrated outputs, set right by the rated ones."""
    rated, unrated, size = metric[mask], metric[~mask], len(values)
    rest = len(unrated) / len(metric)
    power = settings.power
    if power is None:
        covariance = float((rated - rated.mean()) @ values) / size
        power = covariance / float(metric.var(ddof=1)) * rest
    tuned = settings.power is None
    lost = 1 + int(tuned) if settings.quantile == "t" else 0
    influence = np.zeros(len(metric))
    if settings.finite:
        influence[mask] = _centred(values - power / rest * rated, lost)
    else:
        influence[mask] = _centred(values - power * rated, lost)
        influence[~mask] = power * _centred(unrated, lost=0)
    mean = power * float(unrated.mean()) + float((values - power * rated).mean())
    # As for a regression: without it few ratings give intervals that cover too little.
    freedom = size - 1.0 - int(tuned)
    return Fit(mean, power, freedom, influence, plain.alone, plain.unseen)


def _stratified(values: Array, metric: Array, mask: Bools, settings: FitSettings) -> Fit:
    """A regression estimator, outputs drawn at random within strata of the metric.

    One slope over all ratings, each weighted by the outputs it stands for: within strata a metric
    hardly varies, and slopes would be made of noise (Sarndal, Swensson and Wretman 1992, section
    6.4). The ratings that the line leaves over are averaged by stratum.
    """
    size, outputs = len(values), len(metric)
    strata = joined_strata(metric_strata(metric), mask)
    # Any function of the metric will do: one score far out must not hold the line alone.
    low, high = np.quantile(metric, (0.25, 0.75))
    metric = np.clip(metric, low - _FAR * (high - low), high + _FAR * (high - low))
    own, rated = strata[mask], metric[mask]
    counts, totals = np.bincount(own), np.bincount(strata)
    share, left = totals / outputs, 1.0 - counts / totals
    weights = (share / counts)[own]
    deviations = rated - float(weights @ rated)
    spread = float(weights @ deviations**2)
    slopes = weights * deviations / spread if spread > 0.0 else np.zeros(size)
    alpha = float(slopes @ (values - float(weights @ values)))
    over = values - alpha * rated
    fitted = np.bincount(own, over) / counts
    mean = float(share @ fitted) + alpha * float(metric.mean())
    residual = over - fitted[own]
    small = settings.quantile == "t"
    degrees = np.maximum(counts - int(small), 1)
    if small:
        # As if each had been left out: the line bends towards the few that say most of it. What
        # it gets wrong moves the mean the farther, the more the metric's means differ.
        shift = float(metric.mean() - weights @ rated)
        residual = residual / np.maximum(1.0 - slopes * deviations, 0.25)
        residual = residual * (1.0 + shift * slopes / weights)
    factor = share / np.sqrt(counts * degrees)
    influence = np.zeros(outputs)
    influence[mask] = (factor * (np.sqrt(left) if settings.finite else 1.0))[own] * residual
    if not settings.finite:
        # Other outputs would have had other strata means, and other scores within them.
        influence += (fitted[strata] + alpha * metric - mean) / outputs
    parts = np.bincount(own, influence[mask] ** 2)
    certain = float((parts**2 / degrees).sum())
    freedom = float(parts.sum()) ** 2 / certain if certain > 0.0 else math.inf
    # Ratings drawn at random from all outputs would vary as those of all strata do.
    alone = np.zeros(outputs)
    alone[mask] = (values - mean) * np.sqrt((share / counts)[own] / max(size - 1, 1))
    alone *= math.sqrt(1.0 - size / outputs) if settings.finite else 1.0
    return Fit(mean, alpha, min(freedom, max(size - len(counts) - 1.0, 1.0)), influence, alone)


def fit_difference(first: Fit, second: Fit) -> Fit:
    """Difference of two estimates from different items; degrees of freedom after Welch.

    That only these items count is not used: how much the two systems' errors have in common over
    items rated for one of them is not known, and leaving it out can only widen the interval.
    """
    variances = [float(fit.influence @ fit.influence) for fit in (first, second)]
    parts = [
        variance**2 / fit.degrees_of_freedom
        for variance, fit in zip(variances, (first, second), strict=True)
    ]
    freedom = sum(variances) ** 2 / sum(parts) if sum(parts) > 0.0 else math.inf
    return Fit(
        first.mean - second.mean,
        math.nan,
        freedom,
        first.influence - second.influence,
        first.alone - second.alone,
    )


def _centred(values: Array, lost: int) -> Array:
    """Deviations whose squares sum to the variance of the mean, `lost` degrees of freedom less."""
    size = len(values)
    scaled: Array = (values - values.mean()) / math.sqrt(size * max(size - lost, 1))
    return scaled
