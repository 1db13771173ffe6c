"""Rows as statistics: any choice of segments is a corpus, and resampling touches rows only."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.stats

from deltableu import BLEU, DeltaBLEU, SentenceBLEU, bleu, delta_bleu
from deltableu.errors import InputError
from deltableu.score import Statistics
from deltableu.stats.intervals import bca_interval
from tests.score.corpora import random_corpus

METRICS = [
    BLEU(tokenize="none", order=2),
    DeltaBLEU(tokenize="none"),
    DeltaBLEU(tokenize="none", combine="arithmetic"),
    SentenceBLEU(tokenize="none"),
]
by_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: repr(metric)[:32])
by_method = pytest.mark.parametrize("method", ["percentile", "bca"])

CORPUS = random_corpus(2, 30, words=4)


def rows_of(metric: BLEU) -> Statistics:
    return metric.compute(CORPUS.hypotheses, CORPUS.references, CORPUS.weights)


def score_of(metric: BLEU, places: list[int]) -> float:
    """The score of some items, from their texts."""
    return (
        metric.compute(
            [CORPUS.hypotheses[i] for i in places],
            [CORPUS.references[i] for i in places],
            [CORPUS.weights[i] for i in places],
        )
        .score()
        .score
    )


# --- Choosing segments ----------------------------------------------------------------------------

MASK = np.arange(30) % 3 == 0


@by_metric
@pytest.mark.parametrize(
    ("index", "places"),
    [
        (MASK, list(range(0, 30, 3))),
        (MASK.tolist(), list(range(0, 30, 3))),
        (slice(5, 20, 2), list(range(5, 20, 2))),
        (slice(None), list(range(30))),
        ([7, 7, 3, -1], [7, 7, 3, 29]),
        (np.array([4, 0]), [4, 0]),
        (12, [12]),
        (-2, [28]),
    ],
    ids=["mask", "mask-list", "slice", "all", "indices", "array", "one", "last-but-one"],
)
def test_any_choice_of_segments_is_a_corpus(metric, index, places):
    chosen = rows_of(metric)[index]
    assert len(chosen) == len(places)
    assert chosen.score().score == pytest.approx(score_of(metric, places), abs=1e-9)
    assert chosen.score().segments == len(places)
    np.testing.assert_array_equal(chosen.segment_scores(), rows_of(metric).segment_scores()[places])


@by_metric
def test_no_segments_cannot_be_scored_or_resampled(metric):
    nothing = rows_of(metric)[:0]
    with pytest.raises(InputError, match="nothing to score"):
        nothing.score()
    with pytest.raises(InputError, match="nothing to resample"):
        nothing.bootstrap(10)


# --- The bootstrap --------------------------------------------------------------------------------


@by_metric
@by_method
def test_a_seed_repeats_the_bootstrap(metric, method):
    rows = rows_of(metric)
    first = rows.bootstrap(200, method=method, rng=5)
    again = rows.bootstrap(200, method=method, rng=np.random.default_rng(5))
    assert np.array_equal(first.distribution, again.distribution)
    assert first.interval == again.interval
    other = rows.bootstrap(200, method=method, rng=6)
    assert not np.array_equal(first.distribution, other.distribution)


@by_metric
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_percentile_interval_is_the_quantiles_of_naive_recomputation(metric, confidence):
    samples = 60
    bootstrap = rows_of(metric).bootstrap(samples, confidence=confidence, rng=9)
    indices = np.random.default_rng(9).integers(30, size=(samples, 30))
    naive = [score_of(metric, places) for places in indices.tolist()]
    np.testing.assert_allclose(bootstrap.distribution, naive, rtol=0, atol=1e-9)
    expected = np.quantile(naive, [(1 - confidence) / 2, (1 + confidence) / 2])
    assert [bootstrap.interval.low, bootstrap.interval.high] == pytest.approx(expected, abs=1e-9)
    assert bootstrap.standard_error == pytest.approx(np.std(naive, ddof=1), abs=1e-9)
    assert bootstrap.interval.confidence == confidence
    assert bootstrap.interval.method == "percentile bootstrap, n=60"


def test_resampling_in_batches_changes_nothing(monkeypatch):
    rows = rows_of(METRICS[1])
    whole = rows.bootstrap(50, rng=1).distribution
    monkeypatch.setattr("deltableu.score.engine.statistics._BATCH", 7 * 30)
    told: list[tuple[int, int]] = []
    parts = rows.bootstrap(50, rng=1, progress=lambda *done: told.append(done))
    # A matrix product may round otherwise in another shape; the samples are the same.
    np.testing.assert_allclose(parts.distribution, whole, rtol=1e-12)
    assert told[-1] == (50, 50)
    assert len(told) == 8


def test_functions_add_the_interval_to_the_score():
    settings = {"interval": "bca", "resamples": 150, "rng": 3, "tokenize": "none"}
    weighted = delta_bleu(CORPUS.hypotheses, CORPUS.references, CORPUS.weights, **settings)
    rows = rows_of(METRICS[1])
    assert weighted.interval == rows.bootstrap(150, method="bca", rng=3).interval
    assert weighted.score == rows.score().score
    plain = bleu(CORPUS.hypotheses, CORPUS.references, order=2, **settings)
    assert plain.interval == rows_of(METRICS[0]).bootstrap(150, method="bca", rng=3).interval
    assert f"[{plain.interval.low:.2f}, {plain.interval.high:.2f}]" in str(plain)
    assert bleu(CORPUS.hypotheses, CORPUS.references).interval is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"resamples": 0}, "resamples must be a whole number"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"confidence": 0.0}, "confidence must lie between 0 and 1"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"method": "studentized"}, "percentile or bca"),
    ],
)
def test_bootstrap_settings_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        rows_of(METRICS[0]).bootstrap(**settings)


# --- BCa ------------------------------------------------------------------------------------------


def skewed() -> Statistics:
    """Few segments with a long tail: where BCa and percentiles differ visibly."""
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
    hypotheses, references = [], []
    for number in range(24):
        shared = 12 if number % 8 == 0 else 1 + number % 2
        hypotheses.append(" ".join(words[:shared] + ["x"] * (12 - shared)))
        references.append([" ".join(words)])
    return SentenceBLEU(tokenize="none").compute(hypotheses, references)


def scipys(scores: np.ndarray, samples: int):
    return scipy.stats.bootstrap(
        (scores,),
        np.mean,
        n_resamples=samples,
        method="BCa",
        vectorized=True,
        rng=np.random.default_rng(1),
    )


@pytest.mark.parametrize(
    "scores",
    [
        np.random.default_rng(4).random(40) * 100,
        np.random.default_rng(4).random(40) ** 4 * 100,
        np.repeat([0.0, 100.0], [13, 3]),  # many resamples equal the observed mean
    ],
    ids=["even", "skewed", "ties"],
)
def test_bca_is_scipys_on_the_same_resamples(scores):
    expected = scipys(scores, 4000)
    left_out = (scores.sum() - scores) / (len(scores) - 1)
    low, high = bca_interval(
        expected.bootstrap_distribution, float(scores.mean()), left_out, confidence=0.95
    )
    assert [low, high] == pytest.approx(list(expected.confidence_interval), rel=1e-9)


def test_bca_agrees_with_scipy_on_a_mean():
    """Their own resamples: equal within Monte Carlo error, and not by being the percentiles."""
    rows = skewed()
    expected = scipys(rows.segment_scores(), 20_000)
    ours = rows.bootstrap(20_000, method="bca", rng=2)
    error = ours.standard_error
    assert error == pytest.approx(expected.standard_error, rel=0.03)
    limits = [ours.interval.low, ours.interval.high]
    assert limits == pytest.approx(list(expected.confidence_interval), abs=0.1 * error)
    percentile = rows.bootstrap(20_000, rng=2).interval
    assert ours.interval.high - percentile.high > 0.15 * error


def test_bca_leaves_out_each_segment_once():
    """The interval of a ratio of sums, from recomputed leave-one-out scores."""
    metric = METRICS[1]
    rows = rows_of(metric)
    bootstrap = rows.bootstrap(500, method="bca", rng=8)
    left_out = np.array([score_of(metric, [j for j in range(30) if j != i]) for i in range(30)])
    expected = bca_interval(bootstrap.distribution, rows.score().score, left_out, 0.95)
    assert [bootstrap.interval.low, bootstrap.interval.high] == pytest.approx(expected, abs=1e-9)


# --- Degenerate corpora ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Degenerate:
    name: str
    metric: object
    hypotheses: list[str]
    references: list[list[str]]
    weights: list[list[float]]


def _cases() -> list[Degenerate]:
    good, bad = "a b c d", "x y z z"
    plain = BLEU(tokenize="none")
    delta = DeltaBLEU(tokenize="none")
    signed = replace(delta, combine="arithmetic")
    pair = [good, bad]
    return [
        Degenerate("all 0", plain, ["q"] * 6, [[good]] * 6, [[1.0]] * 6),
        Degenerate("all 0 by weights", delta, [bad] * 6, [pair] * 6, [[1.0, -1.0]] * 6),
        Degenerate("one segment", plain, ["a b c q"], [[good]], [[1.0]]),
        Degenerate("one segment, weighted", delta, ["a b x"], [pair], [[1.0, -1.0]]),
        Degenerate("one sentence", SentenceBLEU(), ["a b x"], [[good]], [[1.0]]),
        Degenerate("one empty segment", plain, [""], [[good]], [[1.0]]),
        Degenerate("all empty", delta, [""] * 4, [[good]] * 4, [[1.0]] * 4),
        Degenerate("negative", signed, [bad, "x y", "z", "x a"], [pair] * 4, [[1.0, -0.7]] * 4),
        Degenerate("as negative as can be", signed, [bad] * 5, [pair] * 5, [[1.0, -1.0]] * 5),
        Degenerate("identical", plain, ["a b c q"] * 7, [[good]] * 7, [[1.0]] * 7),
        Degenerate("identical, .1s", delta, ["a b c q"] * 7, [pair] * 7, [[0.1, -0.3]] * 7),
        Degenerate("identical sentences", SentenceBLEU(), ["a b q"] * 7, [[good]] * 7, [[1.0]] * 7),
        Degenerate("all 100", plain, [good] * 5, [[good]] * 5, [[1.0]] * 5),
        Degenerate(
            "clamped at 0 often",
            delta,
            ["a b x y", bad, good, bad],
            [pair] * 4,
            [[1.0, -1.0]] * 4,
        ),
        Degenerate("one of many", plain, [good] + ["q"] * 20, [[good]] * 21, [[1.0]] * 21),
    ]


@by_method
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
@pytest.mark.parametrize("samples", [1, 2, 300])
def test_degenerate_intervals_are_finite_and_ordered(case, method, samples):
    rows = case.metric.compute(case.hypotheses, case.references, case.weights)
    bootstrap = rows.bootstrap(samples, method=method, rng=0)
    low, high = bootstrap.interval.low, bootstrap.interval.high
    assert np.isfinite([low, high, bootstrap.standard_error]).all()
    assert np.isfinite(bootstrap.distribution).all()
    assert low <= high
    if samples > 100:
        score = rows.score().score
        assert low - 1e-9 <= score <= high + 1e-9


@by_method
@pytest.mark.parametrize("name", ["identical", "identical, .1s", "one segment", "all 0", "all 100"])
def test_without_spread_the_interval_is_the_score(name, method):
    case = next(case for case in _cases() if case.name == name)
    rows = case.metric.compute(case.hypotheses, case.references, case.weights)
    interval = rows.bootstrap(200, method=method, rng=0).interval
    score = rows.score().score
    assert [interval.low, interval.high] == pytest.approx([score, score], abs=1e-9)


def test_negative_scores_have_negative_intervals():
    case = next(case for case in _cases() if case.name == "negative")
    rows = case.metric.compute(case.hypotheses, case.references, case.weights)
    assert rows.score().score < 0
    for method in ("percentile", "bca"):
        interval = rows.bootstrap(500, method=method).interval
        assert -100 <= interval.low < interval.high < 0
