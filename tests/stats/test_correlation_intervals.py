"""Intervals of correlations: published ones, coverage in simulations, the bootstrap's parts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deltableu.errors import InputError
from deltableu.stats.correlation_intervals import correlation_interval
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.levels import Measure, agreement
from deltableu.validate.resampled_scores import ResampledScores

METHODS = ("pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like")
LEVELS = ("system", "pooled", "item")


@pytest.mark.parametrize(
    ("r", "low", "high"),
    [
        (0.484, 0.4158, 0.5468),
        (0.260, 0.1786, 0.3378),
        (0.342, 0.2644, 0.4152),
        (0.171, 0.0869, 0.2526),
    ],
)
@pytest.mark.parametrize("method", ["spearman", "kendall-b"])
def test_intervals_of_the_delta_bleu_study(r, low, high, method):
    """Galley et al. 2015, Table 2: the same rule for rho and tau, N = 528."""
    found = correlation_interval(r, 528, method, se="fisher")
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5))
    assert (found.confidence, found.method) == (0.95, "fisher")


def test_pearson_is_scipys():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 14))
    result = stats.pearsonr(x, y)
    for confidence in (0.9, 0.95):
        expected = result.confidence_interval(confidence)
        found = correlation_interval(result.statistic, 14, confidence=confidence)
        assert (found.low, found.high) == (
            pytest.approx(expected.low),
            pytest.approx(expected.high),
        )


@pytest.mark.parametrize(
    ("method", "se", "variance"),
    [
        ("spearman", None, (1 + 0.6**2 / 2) / 22),
        ("kendall-b", None, 0.437 / 21),
        ("kendall-wei", None, 0.437 / 21),
        ("spearman", "fieller", 1.06 / 22),
        ("kendall-b", "fisher", 1 / 22),
    ],
)
def test_standard_errors(method, se, variance):
    found = correlation_interval(0.6, 25, method, se=se)
    reach = stats.norm.ppf(0.975) * np.sqrt(variance)
    assert np.arctanh(found.low) == pytest.approx(np.arctanh(0.6) - reach)
    assert np.arctanh(found.high) == pytest.approx(np.arctanh(0.6) + reach)


def test_too_few_observations_say_nothing():
    assert correlation_interval(0.5, 3) == correlation_interval(0.9, 2)
    found = correlation_interval(0.5, 4, "kendall-b")
    assert (found.low, found.high) == (-1.0, 1.0)
    assert np.isnan(correlation_interval(1.0, 9, "kendall-b").low)
    assert np.isnan(correlation_interval(float("nan"), 9).high)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 1), "at least 2 observations"),
        ((1.5, 9), r"\[-1, 1\]"),
        ((0.5, 9, "kendall-like"), "bootstrap_agreement"),
        ((0.5, 9, "pearson", 1.0), "confidence"),
    ],
)
def test_what_has_no_interval_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        correlation_interval(*arguments)
    with pytest.raises(InputError, match="se must be one of fisher, bonett-wright"):
        correlation_interval(0.5, 9, se="normal")
    with pytest.raises(InputError, match="Spearman and Kendall"):
        correlation_interval(0.5, 9, se="fieller")


@pytest.mark.parametrize(
    ("method", "true", "size"), [("spearman", 0.786, 30), ("kendall-b", 0.590, 30)]
)
def test_intervals_of_ranks_cover_what_they_promise(method, true, size):
    """Bivariate normal, r = .8: rho = 6/pi asin(r/2), tau = 2/pi asin(r)."""
    from deltableu.stats.correlation import correlate

    generator = np.random.default_rng(1)
    x = generator.normal(size=(1500, size))
    y = 0.8 * x + 0.6 * generator.normal(size=x.shape)
    intervals = [correlation_interval(float(r), size, method) for r in correlate(x, y, method)]
    covered = np.mean([one.low <= true <= one.high for one in intervals])
    assert 0.93 < covered < 0.975


# ---------------------------------------------------------------------- the bootstrap


def study(seed=0, systems=6, items=30, gaps=0.0):
    generator = np.random.default_rng(seed)
    skill = generator.normal(size=(systems, 1))
    human = np.round(50 + 20 * (skill + generator.normal(size=(systems, items))))
    metric = human + 20 * generator.normal(size=human.shape)
    metric[generator.random(human.shape) < gaps] = np.nan
    return metric, human


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", METHODS)
def test_a_resample_is_the_agreement_of_its_copy(method, level, gaps):
    """Counts of items and rows of systems, against tables really put together."""
    metric, human = study(gaps=gaps, systems=5, items=12)
    scores = ResampledScores.of(metric, human, Measure(method, level, "zero", 25.0))
    generator = np.random.default_rng(5)
    draws = generator.integers(12, size=(20, 12))
    rows = generator.integers(5, size=(20, 5))
    counts = np.stack([np.bincount(one, minlength=12) for one in draws])
    options = {"method": method, "level": level}
    for items, systems in ((True, False), (False, True), (True, True)):
        found = scores.resampled(counts if items else None, rows if systems else None)
        for trial in range(20):
            i = draws[trial] if items else np.arange(12)
            s = rows[trial] if systems else np.arange(5)
            try:
                expected = agreement(metric[np.ix_(s, i)], human[np.ix_(s, i)], **options)
            except InputError:  # nothing left
                expected = np.nan
            if level == "system" and np.isnan(found[trial]):
                continue  # a system without a score in this resample
            np.testing.assert_allclose(found[trial], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_leaving_out_one_after_the_other(level):
    metric, human = study(systems=5, items=8)
    scores = ResampledScores.of(metric, human, Measure("kendall-b", level, "zero", 25.0))
    options = {"method": "kendall-b", "level": level}
    items = [
        agreement(np.delete(metric, i, 1), np.delete(human, i, 1), **options) for i in range(8)
    ]
    systems = [
        agreement(np.delete(metric, s, 0), np.delete(human, s, 0), **options) for s in range(5)
    ]
    found = scores.jackknife(items=True, systems=True, threads=1)
    expected = [np.subtract(v, np.mean(v)) * (len(v) - 1) / len(v) for v in (items, systems)]
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=0, atol=1e-12)


def test_bca_is_scipys():
    """Pearson over items of one system pair up: scipy resamples the same pairs."""
    generator = np.random.default_rng(3)
    human = np.exp(generator.normal(size=(2, 40)))
    metric = human + generator.normal(size=human.shape)

    def one(items):
        index = items.astype(int)
        return float(agreement(metric[:, index], human[:, index], method="pearson", level="pooled"))

    peer = stats.bootstrap(
        (np.arange(40),), one, vectorized=False, n_resamples=2000, method="BCa", rng=0
    ).confidence_interval
    found = bootstrap_agreement(
        metric, human, level="pooled", interval="bca", resamples=8000
    ).interval
    assert (found.low, found.high) == (
        pytest.approx(peer.low, abs=0.02),
        pytest.approx(peer.high, abs=0.02),
    )


@pytest.mark.parametrize("resample", ["items", "systems", "both"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall-b", "kendall-like"])
def test_results_do_not_depend_on_threads(method, level, resample):
    metric, human = study(gaps=0.1)
    options = {"method": method, "level": level, "resample": resample, "resamples": 300}
    one, two = (bootstrap_agreement(metric, human, threads=n, seed=7, **options) for n in (1, 2))
    assert np.array_equal(one.distribution, two.distribution)
    assert one.interval == two.interval
    assert one.interval.low <= one.value <= one.interval.high
    assert one.undefined + len(one.distribution) == 300
    other = bootstrap_agreement(metric, human, seed=8, **options)
    assert not np.array_equal(one.distribution, other.distribution)


def test_the_population_is_named():
    metric, human = study()
    found = {
        resample: bootstrap_agreement(metric, human, resample=resample, resamples=50)
        for resample in ("items", "systems", "both")
    }
    assert found["items"].population == "these systems, other items"
    assert found["systems"].population == "these items, other systems"
    assert found["both"].population == "other items and systems"
    assert found["both"].interval.method == "percentile bootstrap over items and systems"
    assert found["both"].standard_error > found["items"].standard_error


def test_more_items_than_groups_give_nearly_the_same_acceleration():
    metric, human = study(items=1000)
    scores = ResampledScores.of(metric, human, Measure("pearson", "pooled", "zero", 25.0))

    def acceleration(values):
        away = values.mean() - values
        return (away**3).sum() / (6 * (away**2).sum() ** 1.5)

    grouped = acceleration(scores.jackknife(items=True, systems=False, threads=1))
    each = np.array(
        [
            agreement(np.delete(metric, i, 1), np.delete(human, i, 1), level="pooled")
            for i in range(1000)
        ]
    )
    assert grouped == pytest.approx(acceleration(each), abs=0.01)


def test_a_constant_metric_has_no_interval():
    human = np.arange(12.0).reshape(3, 4)
    found = bootstrap_agreement(np.ones((3, 4)), human, resamples=20)
    assert np.isnan([found.value, found.interval.low, found.interval.high]).all()
    assert found.undefined == 20


def test_few_systems_leave_some_resamples_undefined():
    metric, human = study(systems=2)
    found = bootstrap_agreement(metric, human, resample="systems", resamples=400)
    assert 120 < found.undefined < 280  # half of the draws take one system twice


def test_wrong_choices_are_refused():
    metric, human = study()
    for options, message in (
        ({"resample": "raters"}, "resample must be one of items, systems, both"),
        ({"interval": "normal"}, "interval must be one of bca, percentile"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"resamples": 0}, "at least 1"),
    ):
        with pytest.raises(InputError, match=message):
            bootstrap_agreement(metric, human, **options)
    with pytest.raises(InputError, match="one table"):
        bootstrap_agreement(metric[np.newaxis], human)


@pytest.mark.long
def test_bca_over_items_covers_what_fisher_does_not():
    """Log-normal segment scores: semantics say that Fisher's interval covers about 70%."""
    generator = np.random.default_rng(0)
    normal = generator.normal(size=(2, 4_000_000))
    both = [np.exp(normal[0]), np.exp(0.8 * normal[0] + 0.6 * normal[1])]
    true = float(np.corrcoef(both)[0, 1])
    covered = {"bca": 0, "fisher": 0}
    trials = 400
    for _ in range(trials):
        z = generator.normal(size=(2, 2, 250))
        metric, human = np.exp(z[0]), np.exp(0.8 * z[0] + 0.6 * z[1])
        found = bootstrap_agreement(metric, human, level="pooled", resamples=600)
        fisher = correlation_interval(found.value, 500)
        covered["bca"] += found.interval.low <= true <= found.interval.high
        covered["fisher"] += fisher.low <= true <= fisher.high
    assert covered["fisher"] / trials < 0.8
    assert covered["bca"] / trials > covered["fisher"] / trials + 0.1
