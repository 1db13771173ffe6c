"""Quality from few ratings: published estimators, their peers, and whether intervals cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu.errors import InputError
from deltableu.rate.fewer_ratings import estimate_difference, estimate_quality, expected_saving

METHODS = ("control-variates", "ppi", "stratified", "ratings")
#: Those that one slope over all rated outputs says all of.
UNSTRATIFIED = ("control-variates", "ppi", "ratings")
NAN = float("nan")

METRIC = [0.31, 0.52, 0.12, 0.77, 0.45, 0.68, 0.93, 0.25, 0.6, 0.41, 0.83, 0.05]
RATINGS = [0.5, 0.6, 0.3, 0.9, 0.4, 0.7, 1.0, 0.4, 0.8, 0.5, 0.8, 0.2]
# fmt: off
UNRATED = [
    0.15, 0.35, 0.55, 0.75, 0.95, 0.22, 0.44, 0.66, 0.88, 0.11, 0.33, 0.58, 0.79, 0.5, 0.62, 0.7,
    0.39, 0.27, 0.84, 0.9, 0.03, 0.47, 0.53, 0.64, 0.72,
]
# fmt: on
#: ppi-python 0.2.3, ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) on the numbers above.
PPI = [
    (None, 0.6167877382228738, (0.5356732896129867, 0.697902186832761)),
    (1.0, 0.6331333333333332, (0.524272624771243, 0.7419940418954234)),
    (0.5, 0.6123999999999999, (0.5293154121105913, 0.6954845878894086)),
]


def outputs(rng, size, rho=0.8, noise=0.0, raters=1):
    """Metric and ratings (outputs x raters) of outputs whose mean quality is 3."""
    quality = rng.normal(size=size)
    metric = rho * quality + math.sqrt(1 - rho**2) * rng.normal(size=size)
    ratings = 3 + quality[:, None] + noise * rng.normal(size=(size, raters))
    return 10 * metric + 50, ratings


@pytest.mark.parametrize(("power", "mean", "limits"), PPI)
def test_ppi_package(power, mean, limits):
    found = estimate_quality(
        RATINGS, METRIC, METRIC + UNRATED, method="ppi", quantile="normal", power=power
    )
    assert found.mean == pytest.approx(mean, abs=1e-12)
    assert (found.interval.low, found.interval.high) == pytest.approx(limits, abs=1e-12)
    assert (found.rated, found.outputs) == (12, 37)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 40), st.integers(1, 200))
def test_ppi_word_for_word(seed, size, rest):
    """PPI++ (Angelopoulos, Duchi, Zrnic 2023) for a mean."""
    rng = np.random.default_rng(seed)
    metric, ratings = outputs(rng, size + rest)
    y, f, g = ratings[:size, 0], metric[:size], metric[size:]
    power = np.cov(y, f, bias=True)[0, 1] / ((1 + size / rest) * metric.var(ddof=1))
    mean = power * g.mean() + (y - power * f).mean()
    variance = power**2 * g.var() / rest + (y - power * f).var() / size
    found = estimate_quality(y, f, metric, method="ppi", quantile="normal")
    assert found.alpha == pytest.approx(power)
    assert found.mean == pytest.approx(mean)
    assert found.standard_error == pytest.approx(math.sqrt(variance))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(4, 40), st.integers(0, 200))
def test_control_variates_word_for_word(seed, size, rest):
    """The regression estimator with double sampling (Cochran 1977, chapter 12)."""
    rng = np.random.default_rng(seed)
    metric, ratings = outputs(rng, size + rest)
    y, f = ratings[:size, 0], metric[:size]
    line = stats.linregress(f, y)
    mean = line.intercept + line.slope * metric.mean()
    residuals = y - line.intercept - line.slope * f
    spread = ((f - f.mean()) ** 2).sum()
    of_line = 1 / size + (metric.mean() - f.mean()) ** 2 / spread
    of_metric = line.slope**2 * metric.var() / len(metric)
    squared = (residuals**2).sum() / (size - 2) * of_line + of_metric
    found = estimate_quality(y, f, metric)
    assert found.mean == pytest.approx(mean)
    assert found.alpha == pytest.approx(line.slope)
    # Rounding aside, residuals do not correlate with the metric.
    assert found.standard_error == pytest.approx(math.sqrt(squared), rel=1e-9)
    reach = stats.t.ppf(0.975, size - 2) * math.sqrt(squared)
    assert found.interval.high - found.mean == pytest.approx(reach, rel=1e-9)
    assert found.correlation == pytest.approx(line.rvalue)


def test_chaganty_word_for_word():
    """Their algorithm; it divides by the metric's variance over all outputs."""
    rng = np.random.default_rng(3)
    metric, ratings = outputs(rng, 20_000)
    y, g = ratings[:2000, 0], (metric - metric.mean()) / metric.std()
    alpha = ((y - y.mean()) * g[:2000]).mean()
    theirs = (y - alpha * g[:2000]).mean()
    ours = estimate_quality(y, metric[:2000], metric)
    assert ours.mean == pytest.approx(theirs, abs=0.1 * ours.standard_error)
    assert ours.alpha * metric.std() == pytest.approx(alpha, rel=0.05)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 60), st.integers(1, 60))
def test_both_methods_are_one_estimator(seed, size, rest):
    """PPI's lambda is the coefficient times the share without ratings."""
    metric, ratings = outputs(np.random.default_rng(seed), size + rest)
    y, f = ratings[:size, 0], metric[:size]
    control = estimate_quality(y, f, metric)
    power = control.alpha * rest / (size + rest)
    powered = estimate_quality(y, f, metric, method="ppi", power=power)
    assert powered.mean == pytest.approx(control.mean)


def test_ratings_alone():
    found = estimate_quality(RATINGS, METRIC, METRIC + UNRATED, method="ratings", confidence=0.9)
    low, high = stats.t.interval(0.9, 11, np.mean(RATINGS), stats.sem(RATINGS))
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert (found.saving, found.equivalent_ratings, found.alpha) == (1, 12, 0)
    assert found.interval.confidence == 0.9


@pytest.mark.parametrize("method", ["control-variates", "ppi"])
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_saving_of_ratings_without_noise(method, rho):
    metric, ratings = outputs(np.random.default_rng(1), 100_000, rho)
    found = estimate_quality(ratings[:1000], metric[:1000], metric, method=method)
    assert found.saving == pytest.approx(1 / (1 - rho**2), rel=0.1)
    assert found.equivalent_ratings == pytest.approx(1000 * found.saving)
    assert found.saving == pytest.approx(expected_saving(rho, rated_share=0.01), rel=0.1)


@pytest.mark.parametrize("raters", [1, 3])
@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_noisy_ratings_save_less(noise, raters):
    """Chaganty et al.'s data efficiency: (1 + gamma) / (1 - rho^2 + gamma)."""
    rho = 0.8
    metric, ratings = outputs(np.random.default_rng(2), 100_000, rho, noise, raters)
    found = estimate_quality(ratings[:2000], metric[:2000], metric)
    gamma = noise**2
    expected = (1 + gamma / raters) / (1 - rho**2 + gamma / raters)
    assert found.saving == pytest.approx(expected, rel=0.1)
    assert expected_saving(rho, gamma / raters) == pytest.approx(expected)
    if raters == 1:
        assert found.gamma is None
    else:
        assert found.gamma == pytest.approx(gamma, rel=0.15)


def test_gamma_of_unequal_numbers_of_ratings():
    rng = np.random.default_rng(4)
    metric, ratings = outputs(rng, 4000, noise=1.0, raters=4)
    ratings[rng.random(ratings.shape) < 0.5] = NAN
    rated = ~np.isnan(ratings).all(axis=1)
    found = estimate_quality(ratings[rated], metric[rated], metric)
    assert found.gamma == pytest.approx(1.0, rel=0.15)
    noise_alone = [[1, 5], [5, 1], [3, 4], [1, 4]]
    assert estimate_quality(noise_alone, [1, 2, 3, 4], [1, 2, 3, 4, 5]).gamma == math.inf


def test_scale_and_direction_of_the_metric_do_not_matter():
    metric, ratings = outputs(np.random.default_rng(5), 500)
    for method in METHODS:
        one = estimate_quality(ratings[:40], metric[:40], metric, method=method)
        two = estimate_quality(ratings[:40], -3 * metric[:40], -3 * metric, method=method)
        assert two.mean == pytest.approx(one.mean)
        assert two.standard_error == pytest.approx(one.standard_error)


def test_a_useless_metric_does_no_harm():
    rng = np.random.default_rng(6)
    _, ratings = outputs(rng, 5000)
    metric = rng.normal(size=5000)
    for method in ("control-variates", "ppi"):
        found = estimate_quality(ratings[:200], metric[:200], metric, method=method)
        assert found.saving == pytest.approx(1, abs=0.06)
    # But trusting it does.
    trusted = estimate_quality(ratings[:200], metric[:200], metric, method="ppi", power=1.0)
    assert trusted.saving < 0.7


@pytest.mark.parametrize("method", UNSTRATIFIED)
def test_all_outputs_rated(method):
    metric, ratings = outputs(np.random.default_rng(7), 30)
    found = estimate_quality(ratings, metric, metric, method=method)
    assert found.mean == pytest.approx(ratings.mean())
    assert found.saving == pytest.approx(1, abs=0.05)
    certain = estimate_quality(ratings, metric, metric, method=method, finite=True)
    assert certain.standard_error == 0
    assert certain.saving == 1
    assert certain.interval.low == certain.interval.high == pytest.approx(ratings.mean())


def test_finite_equivalent():
    """As many ratings alone give the same width, also where they leave fewer outputs unrated."""
    metric, ratings = outputs(np.random.default_rng(8), 400)
    found = estimate_quality(ratings[:50], metric[:50], metric, finite=True)
    alone = estimate_quality(ratings[:50], metric[:50], metric, finite=True, method="ratings")
    spread = alone.standard_error**2 / (1 / 50 - 1 / 400)
    needed = found.equivalent_ratings
    assert spread * (1 / needed - 1 / 400) == pytest.approx(found.standard_error**2)
    assert 50 < needed < 400


def coverage(method, finite, replications, draw, size, seed=0):
    """Share of intervals that hold the truth, and the mean error in standard errors."""
    rng = np.random.default_rng(seed)
    held, errors = 0, []
    for _ in range(replications):
        metric, ratings, truth = draw(rng)
        target = ratings.mean() if finite else truth
        found = estimate_quality(
            ratings[:size], metric[:size], metric, method=method, finite=finite
        )
        held += found.interval.low <= target <= found.interval.high
        errors.append((found.mean - target) / found.standard_error)
    return held / replications, float(np.mean(errors))


def normal(rng):
    metric, ratings = outputs(rng, 300)
    return metric, ratings[:, 0], 3.0


def likert(rng):
    """Whole numbers from 1 to 5 around 3, which the metric sees through noise."""
    quality = rng.normal(size=300)
    ratings = np.clip(np.round(3 + quality + 0.5 * rng.normal(size=300)), 1, 5)
    return 0.6 * quality + 0.8 * rng.normal(size=300), ratings, 3.0


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover(method, finite):
    share, bias = coverage(method, finite, 300, normal, 30)
    assert stats.binomtest(round(share * 300), 300, 0.95).pvalue > 0.001
    assert abs(bias) < 4 / math.sqrt(300)


@pytest.mark.long
@pytest.mark.parametrize("draw", [normal, likert])
@pytest.mark.parametrize("size", [12, 30, 100])
@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_at_length(method, finite, size, draw):
    share, bias = coverage(method, finite, 2000, draw, size, seed=size)
    assert share == pytest.approx(0.95, abs=0.02)
    assert abs(bias) < 4 / math.sqrt(2000)


def two_systems(rng, size=200):
    """Ratings and metrics of two systems on the same items; A is better by .5."""
    item = rng.normal(size=size)
    quality = [item + rng.normal(size=size) + 0.5, item + rng.normal(size=size)]
    metrics = [0.8 * one + 0.6 * rng.normal(size=size) for one in quality]
    ratings = [one + 0.3 * rng.normal(size=size) for one in quality]
    return metrics, ratings


def only(ratings, places):
    kept = np.full(len(ratings), NAN)
    kept[places] = ratings[places]
    return kept


@pytest.mark.parametrize("method", UNSTRATIFIED)
def test_same_items(method):
    """A difference item by item is one system's quality."""
    (one, two), (first, second) = two_systems(np.random.default_rng(0))
    rated = np.arange(0, 200, 5)
    found = estimate_difference(only(first, rated), only(second, rated), one, two, method=method)
    differences = (first - second)[rated]
    expected = estimate_quality(differences, (one - two)[rated], one - two, method=method)
    assert found.paired
    assert found.difference == pytest.approx(expected.mean)
    assert found.interval.low == pytest.approx(expected.interval.low)
    assert found.saving == pytest.approx(expected.saving)
    alone = estimate_quality(first[rated], one[rated], one, method=method)
    assert found.first.mean == pytest.approx(alone.mean)
    if method == "ratings":
        assert found.p_value == pytest.approx(stats.ttest_rel(first[rated], second[rated]).pvalue)
    else:
        assert found.saving > 1.2


def test_other_items():
    (one, two), (first, second) = two_systems(np.random.default_rng(1))
    a, b = np.arange(30), np.arange(40, 90)
    found = estimate_difference(only(first, a), only(second, b), one, two, method="ratings")
    assert not found.paired
    assert found.p_value == pytest.approx(
        stats.ttest_ind(first[a], second[b], equal_var=False).pvalue
    )
    powered = estimate_difference(only(first, a), only(second, b), one, two)
    assert powered.saving > 1.2
    assert powered.difference == pytest.approx(powered.first.mean - powered.second.mean)
    # What both systems' metrics have in common cancels.
    parts = powered.first.standard_error**2 + powered.second.standard_error**2
    assert powered.standard_error**2 < parts


def difference_coverage(method, finite, places, replications, seed=0):
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(replications):
        metrics, ratings = two_systems(rng)
        truth = (ratings[0] - ratings[1]).mean() if finite else 0.5
        rated = [only(one, place) for one, place in zip(ratings, places, strict=True)]
        found = estimate_difference(*rated, *metrics, method=method, finite=finite)
        held += found.interval.low <= truth <= found.interval.high
    return held


PLACES = {
    "same": (np.arange(40), np.arange(40)),
    "other": (np.arange(40), np.arange(40, 90)),
    "some": (np.arange(40), np.arange(20, 80)),
}


@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("method", ["control-variates", "ppi"])
def test_differences_cover(method, places):
    held = difference_coverage(method, False, PLACES[places], 250)
    assert stats.binomtest(held, 250, 0.95).pvalue > 0.001


@pytest.mark.long
@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("places", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_differences_cover_at_length(method, places, finite):
    held = difference_coverage(method, finite, PLACES[places], 2000, seed=1)
    # Of these items alone and not all rated for both, or in strata of each system's own, the
    # interval is wide on purpose.
    wide = finite and (places != "same" or method == "stratified")
    assert 0.93 < held / 2000 < (0.995 if wide else 0.97)


def test_settings_and_results_are_plain():
    found = estimate_quality(RATINGS, METRIC, METRIC + UNRATED)
    assert found.method == "control-variates"
    assert found.interval.method == "control-variates, t"
    with pytest.raises(AttributeError):
        found.mean = 0


@pytest.mark.parametrize(
    ("ratings", "rated", "everything", "options", "told"),
    [
        ([3], [1], [1, 2], {}, "at least 2 outputs"),
        ([3, 4], [1, 2], [1, 2, 3], {}, "at least 3 rated outputs, got 2"),
        ([3, 4], [1, 2], [1, 2, 3], {"method": "ppi"}, "at least 3 rated outputs"),
        ([3, 4, 5], [1, 2], [1, 2, 3], {}, "2 scores for 3 rated outputs"),
        (
            [3, 4, 5],
            [1, 2, 9],
            [1, 2, 3, 4],
            {},
            "metric_all must hold the rated outputs too, but 9",
        ),
        ([3, 4, 5], [1, 2, 2], [1, 2, 3, 4], {}, "but 2 of metric_rated"),
        ([3, 4, 5], [2, 2, 2], [2, 2, 2, 4], {}, "metric is constant over the rated outputs"),
        ([3, 3, 3], [1, 2, 3], [1, 2, 3, 4], {}, "the same rating"),
        ([3, NAN, 5], [1, 2, 3], [1, 2, 3, 4], {}, "no rating at place 1"),
        ([3, np.inf, 5], [1, 2, 3], [1, 2, 3, 4], {}, "ratings must be finite"),
        ([3, 4, 5], [1, NAN, 3], [1, 2, 3, 4], {}, "metric_rated has no finite score at place 1"),
        ([3, 4, 5], [1, 2, 3], [[1, 2, 3, 4]], {}, "metric_all must be one score an output"),
        ([[[3, 4]]], [1], [1, 2], {}, "outputs x raters"),
        ([3, 4, 5], [1, 2, 3], [1, 2, 3], {"method": "cv"}, "method must be"),
        ([3, 4, 5], [1, 2, 3], [1, 2, 3], {"confidence": 95}, "confidence must lie"),
        ([3, 4, 5], [1, 2, 3], [1, 2, 3], {"quantile": "z"}, "quantile must be"),
        ([3, 4, 5], [1, 2, 3], [1, 2, 3], {"power": 1.0}, "power is PPI's lambda"),
    ],
)
def test_bad_input(ratings, rated, everything, options, told):
    with pytest.raises(InputError, match=told):
        estimate_quality(ratings, rated, everything, **options)


def test_bad_differences():
    with pytest.raises(InputError, match="for the same items, got 3 and 2 ratings"):
        estimate_difference([1, 2, 3], [1, 2], [1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="ratings_b must rate at least 2 outputs"):
        estimate_difference([1, 2, 3], [1, NAN, NAN], [1, 2, 3], [1, 2, 4])


@pytest.mark.parametrize("values", [(1.5,), (0.5, -1), (0.5, 0, 2), (0.5, math.inf)])
def test_bad_plans(values):
    with pytest.raises(InputError, match="must"):
        expected_saving(*values)
