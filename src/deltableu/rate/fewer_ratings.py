"""A few ratings and the metric on all outputs in; a system's quality, and what was saved, out.

The metric is never trusted: ratings correct whatever it gets wrong, so the estimate stays that of
the people. What the metric buys is a narrower interval from the same ratings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_choice, check_share
from deltableu.rate.quality_fits import (
    EstimateMethod,
    Fit,
    FitSettings,
    Quantile,
    fit_difference,
    fit_mean,
)
from deltableu.rate.strata import rated_shares
from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class QualityEstimate:
    """Mean human rating of a system, estimated with the help of a metric.

    Attributes
    ----------
    saving : float
        Variance of the mean of the ratings alone over the variance of this estimate: 2 means that
        twice as many ratings alone would have been needed.
    equivalent_ratings : float
        So many rated outputs would have given an interval of this width without the metric.
    alpha : float
        What the metric is multiplied with: the control variate's coefficient, or PPI's lambda.
    correlation : float
        Metric with (mean) rating over the rated outputs.
    gamma : float or None
        Variance between ratings of one output over variance between outputs (Chaganty et al.'s
        normalised annotator variance); None where no output was rated twice.
    rated, outputs : int
        Outputs with ratings, and all outputs.
    """

    mean: float
    interval: ConfidenceInterval
    standard_error: float
    saving: float
    equivalent_ratings: float
    alpha: float
    correlation: float
    gamma: float | None
    rated: int
    outputs: int
    method: EstimateMethod


@dataclass(frozen=True, slots=True)
class QualityDifference:
    """How much better people find one system than another, estimated with the help of a metric.

    Attributes
    ----------
    paired : bool
        Whether the same items were rated for both systems, so that ratings were compared item by
        item.
    saving
        As in `QualityEstimate`, for the difference.
    first, second : QualityEstimate
        Each system by itself.
    """

    difference: float
    interval: ConfidenceInterval
    standard_error: float
    p_value: float
    saving: float
    paired: bool
    first: QualityEstimate
    second: QualityEstimate


def estimate_quality(
    ratings: ArrayLike,
    metric_rated: ArrayLike,
    metric_all: ArrayLike,
    *,
    method: EstimateMethod = "control-variates",
    confidence: float = 0.95,
    quantile: Quantile = "t",
    power: float | None = None,
    finite: bool = False,
) -> QualityEstimate:
    """Estimate a system's mean rating from ratings of some outputs and the metric on all.

    Parameters
    ----------
    ratings
        One rating a rated output, or outputs x raters with NaN where a rater gave none. The rated
        outputs must have been drawn at random; for `stratified`, within the strata of the metric.
    metric_rated
        The metric on the rated outputs, in the same order.
    metric_all
        The metric on all outputs, those rated among them.
    method
        `control-variates`: regression on the metric; `ppi`: prediction-powered inference with
        power tuning (PPI++); `stratified`: regression within strata of the metric, where outputs
        were drawn at random, in some strata more than in others; `ratings`: the ratings alone.
    confidence
        The confidence of the interval.
    quantile
        `t`: Student's, with small-sample variances; `normal`: large-sample, as the authors' PPI
        package computes it.
    power
        PPI's lambda; by default tuned on the data, and not cut to [0, 1] as the package does: a
        metric need not be on the scale of the ratings.
    finite
        Estimate the mean that these outputs would have if all of them were rated, not that of all
        outputs the system might give to items like these.

    Notes
    -----
    The two methods give nearly the same estimate: PPI's lambda is the control variate's
    coefficient times the share of outputs without ratings. The coefficient is found by regression
    over the rated outputs, so that the t interval is exact where ratings are linear in the metric
    with normal errors; Chaganty et al. divide by the variance over all outputs instead.

    References
    ----------
    Chaganty, Mussmann and Liang 2018, "The price of debiasing automatic metrics in natural
    language evaluation"; Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023,
    "Prediction-powered inference"; Angelopoulos, Duchi and Zrnic 2023, "PPI++"; Cochran 1977,
    "Sampling Techniques", chapter 12 (double sampling with regression).

    Examples
    --------
    >>> metric = np.linspace(0, 1, 101)
    >>> rated = slice(0, 101, 5)
    >>> ratings = 1 + 4 * metric[rated] + np.tile([0.3, -0.3, 0.1], 7)
    >>> quality = estimate_quality(ratings, metric[rated], metric)
    >>> round(quality.mean, 2), str(quality.interval), round(quality.saving, 1)
    (3.03, '[2.76, 3.30]', 4.6)
    """
    _check_settings(method, confidence, quantile, power)
    table = _ratings("ratings", ratings)
    rated, everything = _metric("metric_rated", metric_rated), _metric("metric_all", metric_all)
    if len(rated) != len(table):
        raise InputError(f"metric_rated has {len(rated)} scores for {len(table)} rated outputs")
    unrated = _unrated(rated, everything)
    values = np.nanmean(table, axis=1)
    mask = np.arange(len(everything)) < len(rated)
    settings = FitSettings(method, quantile, power, finite)
    fit = fit_mean(values, np.concatenate([rated, unrated]), mask, settings)
    return as_estimate(fit, table, rated, settings, confidence)


def estimate_difference(
    ratings_a: ArrayLike,
    ratings_b: ArrayLike,
    metric_a: ArrayLike,
    metric_b: ArrayLike,
    *,
    method: EstimateMethod = "control-variates",
    confidence: float = 0.95,
    quantile: Quantile = "t",
    power: float | None = None,
    finite: bool = False,
) -> QualityDifference:
    """Estimate by how much people rate system A above system B, item by item where they can be.

    Parameters
    ----------
    ratings_a, ratings_b
        A rating (or a row of raters) for each of the same items, NaN where there is none. Where
        the same items were rated for both systems, differences item by item are estimated with
        the difference of the metric's scores; else each system by itself, with the covariance
        that shared items cause.
    metric_a, metric_b
        The metric on both systems' outputs for all items.
    method, confidence, quantile, power, finite
        As in `estimate_quality`.

    Examples
    --------
    >>> metric_a, metric_b = np.linspace(0, 1, 60), np.linspace(0, 1, 60) ** 2
    >>> ratings_a, ratings_b = np.full((2, 60), np.nan)
    >>> ratings_a[::4] = 1 + 4 * metric_a[::4] + np.tile([0.3, -0.2, 0.1], 5)
    >>> ratings_b[::4] = 1 + 4 * metric_b[::4] + np.tile([0.1, -0.1, 0.3], 5)
    >>> result = estimate_difference(ratings_a, ratings_b, metric_a, metric_b)
    >>> result.paired, round(result.difference, 2), round(result.saving, 1)
    (True, 0.62, 2.3)
    """
    _check_settings(method, confidence, quantile, power)
    tables = (
        _ratings("ratings_a", ratings_a, some=True),
        _ratings("ratings_b", ratings_b, some=True),
    )
    metrics = (_metric("metric_a", metric_a), _metric("metric_b", metric_b))
    sizes = {len(values) for values in (*tables, *metrics)}
    if len(sizes) != 1:
        raise InputError(
            f"give ratings (NaN where there is none) and metric for the same items, got "
            f"{len(tables[0])} and {len(tables[1])} ratings, {len(metrics[0])} and "
            f"{len(metrics[1])} scores"
        )
    settings = FitSettings(method, quantile, power, finite)
    masks = [~_unrated_rows(table) for table in tables]
    rated = [table[mask] for table, mask in zip(tables, masks, strict=True)]
    values = [np.nanmean(table, axis=1) for table in rated]
    fits = [fit_mean(values[s], metrics[s], masks[s], settings) for s in (0, 1)]
    paired = bool((masks[0] == masks[1]).all())
    if method == "stratified":
        # Strata are those of each system's own outputs; and see `fit_difference`.
        wider = replace(settings, finite=False)
        fit = fit_difference(*(fit_mean(values[s], metrics[s], masks[s], wider) for s in (0, 1)))
        if finite and paired:
            # Of outputs rated for both, no stratum hides a larger share than the emptiest.
            share = min(rated_shares(metric, masks[0]).min() for metric in metrics)
            fit = replace(fit, unseen=1.0 - float(share))
    elif paired:
        fit = fit_mean(values[0] - values[1], metrics[0] - metrics[1], masks[0], settings)
    else:
        fit = fit_difference(fits[0], fits[1])
    first, second = (
        as_estimate(fits[s], rated[s], metrics[s][masks[s]], settings, confidence) for s in (0, 1)
    )
    error = math.sqrt(fit.variance)
    return QualityDifference(
        fit.mean,
        _interval(fit, settings, confidence),
        error,
        _two_sided(fit.mean, error, fit.degrees_of_freedom, quantile),
        fit.saving,
        paired,
        first,
        second,
    )


def expected_saving(correlation: float, gamma: float = 0.0, rated_share: float = 0.0) -> float:
    """How many times fewer ratings control variates need, before any rating is paid for.

    Parameters
    ----------
    correlation
        Correlation of the metric with the true quality of outputs (not with one noisy rating).
    gamma
        Variance between ratings of one output over variance between outputs; divided by the
        raters an output.
    rated_share
        Rated outputs over all outputs.

    References
    ----------
    Chaganty et al. 2018, section 3 (data efficiency); the term of `rated_share` is what a mean of
    the metric over finitely many outputs costs.

    Examples
    --------
    >>> expected_saving(0.8), round(expected_saving(0.8, gamma=1.0), 2)
    (2.7777777777777786, 1.47)
    """
    if not abs(correlation) <= 1.0:
        raise InputError(f"correlation must lie between -1 and 1, got {correlation}")
    if not 0.0 <= gamma < math.inf:
        raise InputError(f"gamma must be at least 0, got {gamma}")
    if not 0.0 <= rated_share <= 1.0:
        raise InputError(f"rated_share must lie between 0 and 1, got {rated_share}")
    explained = correlation**2
    left = 1.0 - explained + gamma + explained * rated_share
    return (1.0 + gamma) / left if left > 0.0 else math.inf


def as_estimate(
    fit: Fit, ratings: Array, metric_rated: Array, settings: FitSettings, confidence: float
) -> QualityEstimate:
    """A fit as an estimate with an interval, for ratings of outputs (outputs x raters)."""
    rated, outputs = len(ratings), len(fit.influence)
    equivalent = rated * fit.saving
    if settings.finite and rated < outputs:
        # Rating an output more narrows the interval and also leaves one less to guess.
        equivalent = outputs / (1.0 + (outputs / rated - 1.0) / fit.saving)
    return QualityEstimate(
        mean=fit.mean,
        interval=_interval(fit, settings, confidence),
        standard_error=math.sqrt(fit.variance),
        saving=fit.saving,
        equivalent_ratings=equivalent,
        alpha=fit.alpha,
        correlation=_correlation(np.nanmean(ratings, axis=1), metric_rated),
        gamma=_gamma(ratings),
        rated=rated,
        outputs=outputs,
        method=settings.method,
    )


def _interval(fit: Fit, settings: FitSettings, confidence: float) -> ConfidenceInterval:
    from scipy.special import ndtri, stdtrit

    tail = (1.0 + confidence) / 2.0
    exact = settings.quantile == "t" and math.isfinite(fit.degrees_of_freedom)
    quantile = stdtrit(fit.degrees_of_freedom, tail) if exact else ndtri(tail)
    reach = float(quantile) * math.sqrt(fit.variance)
    name = f"{settings.method}, {settings.quantile}"
    return ConfidenceInterval(fit.mean - reach, fit.mean + reach, confidence, name)


def _two_sided(difference: float, error: float, freedom: float, quantile: Quantile) -> float:
    from scipy.special import ndtr, stdtr

    if error == 0.0:
        return 1.0 if difference == 0.0 else 0.0
    ratio = -abs(difference / error)
    exact = quantile == "t" and math.isfinite(freedom)
    return 2.0 * float(stdtr(freedom, ratio) if exact else ndtr(ratio))


def _gamma(ratings: Array) -> float | None:
    """Chaganty et al. 2018: annotator variance over variance of true quality."""
    counts = np.count_nonzero(~np.isnan(ratings), axis=1)
    freedom = int((counts - 1).sum())
    if freedom == 0:
        return None
    means = np.nanmean(ratings, axis=1)
    within = float(np.nansum((ratings - means[:, None]) ** 2)) / freedom
    between = float(means.var(ddof=1)) - within * float((1.0 / counts).mean())
    return within / between if between > 0.0 else math.inf


def _correlation(values: Array, metric: Array) -> float:
    values, metric = values - values.mean(), metric - metric.mean()
    scale = math.sqrt(float(values @ values) * float(metric @ metric))
    return float(values @ metric) / scale if scale > 0.0 else math.nan


def _unrated(rated: Array, everything: Array) -> Array:
    """What is left of all scores when those of the rated outputs are taken away."""
    values, places, counts = np.unique(
        np.concatenate([everything, rated]), return_inverse=True, return_counts=True
    )
    taken = np.bincount(places[len(everything) :], minlength=len(values))
    left = counts - 2 * taken
    if (left < 0).any():
        value = values[left < 0][0]
        raise InputError(
            f"metric_all must hold the rated outputs too, but {value:g} of metric_rated is not "
            "(or not as often) among them"
        )
    return np.repeat(values, left)


def _unrated_rows(table: Array) -> Bools:
    return np.asarray(np.isnan(table).all(axis=1))


def _ratings(name: str, ratings: ArrayLike, *, some: bool = False) -> Array:
    table = np.asarray(ratings, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise InputError(f"{name} must be outputs, or outputs x raters; got {table.ndim} axes")
    if np.isinf(table).any():
        raise InputError(f"{name} must be finite")
    empty = _unrated_rows(table)
    if empty.any() and not some:
        place = int(np.flatnonzero(empty)[0])
        raise InputError(f"{name} has no rating at place {place}: leave that output out")
    if len(empty) - np.count_nonzero(empty) < 2:
        raise InputError(f"{name} must rate at least 2 outputs")
    return table


def _metric(name: str, metric: ArrayLike) -> Array:
    scores = np.asarray(metric, dtype=np.float64)
    if scores.ndim != 1:
        raise InputError(f"{name} must be one score an output, got {scores.ndim} axes")
    if not np.isfinite(scores).all():
        place = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"{name} has no finite score at place {place}")
    return scores


def _check_settings(method: str, confidence: float, quantile: str, power: float | None) -> None:
    check_choice("method", method, get_args(EstimateMethod))
    check_share("confidence", confidence)
    check_choice("quantile", quantile, ("t", "normal"))
    if power is not None and (method != "ppi" or not math.isfinite(power)):
        raise InputError("power is PPI's lambda: a finite number, with method='ppi' alone")
