"""Distinct n-grams, entropy and length: DSTC7's numbers, and pooling without shortcuts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.pooled import PooledMetric
from deltableu.score.engine.segment_metric import SegmentMetric
from deltableu.score.metrics.diversity import (
    Distinct1,
    Distinct2,
    Entropy1,
    Entropy2,
    Entropy3,
    Entropy4,
)
from deltableu.score.metrics.sentinels import Length
from deltableu.score.registry import make_metrics
from deltableu.score.systems import score_systems
from tests.golden import dstc7_demo as demo
from tests.score.corpora import random_corpus, texts

few = settings(max_examples=40, deadline=None)

DISTINCT = [Distinct1(tokenize="none"), Distinct2(tokenize="none")]
ENTROPY = [kind(tokenize="none") for kind in (Entropy1, Entropy2, Entropy3, Entropy4)]
by_metric = pytest.mark.parametrize(
    "metric", [*DISTINCT, *ENTROPY], ids=lambda metric: str(metric.name)
)

CORPUS = random_corpus(4, 30, words=5)


def naive(metric: PooledMetric, hypotheses: list[str]) -> float:
    """Count, then the definition."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in hypotheses:
        tokens = text.split()
        counts.update(zip(*(tokens[k:] for k in range(metric.ngram)), strict=False))
    total = sum(counts.values())
    if total == 0:
        return 0.0
    if metric.name.startswith("distinct"):
        return 100 * len(counts) / total
    return -sum(count / total * math.log(count / total) for count in counts.values())


def rows_of(metric, hypotheses=CORPUS.hypotheses):
    return metric.compute(hypotheses, [["any"]] * len(hypotheses))


# --- Published numbers ----------------------------------------------------------------------------


def test_dstc7_demo():
    def score(metric) -> float:
        return metric.compute(demo.HYPOTHESES, demo.REFERENCES).score().score

    assert [score(metric) / 100 for metric in DISTINCT] == pytest.approx(demo.DISTINCT, abs=5e-5)
    assert [score(metric) for metric in ENTROPY] == pytest.approx(demo.ENTROPY, abs=5e-5)
    assert score(Length(tokenize="none")) == demo.LENGTH


# --- Pooling --------------------------------------------------------------------------------------


@by_metric
@few
@given(st.lists(texts(), min_size=1, max_size=6), st.data())
def test_any_choice_of_segments_is_a_corpus(metric, hypotheses, data):
    rows = rows_of(metric, hypotheses)
    size = len(hypotheses)
    assert len(rows) == size
    assert rows.score().score == pytest.approx(naive(metric, hypotheses), abs=1e-9)
    alone = [naive(metric, [text]) for text in hypotheses]
    assert rows.segment_scores() == pytest.approx(alone, abs=1e-9)
    places = data.draw(st.lists(st.integers(-size, size - 1), min_size=1, max_size=9))
    chosen = rows[places]
    expected = naive(metric, [hypotheses[place] for place in places])
    assert chosen.score().score == pytest.approx(expected, abs=1e-9)
    assert chosen.score().segments == len(chosen) == len(places)
    # A choice can be chosen from again.
    assert chosen[::2].score().score == pytest.approx(
        naive(metric, [hypotheses[place] for place in places[::2]]), abs=1e-9
    )
    resampled = rows.resample(np.array([places]) % size)
    assert resampled == pytest.approx([expected], abs=1e-9)


@by_metric
@pytest.mark.parametrize(
    ("index", "places"),
    [
        (np.arange(30) % 3 == 0, list(range(0, 30, 3))),
        ((np.arange(30) % 3 == 0).tolist(), list(range(0, 30, 3))),
        (slice(5, 20, 2), list(range(5, 20, 2))),
        (12, [12]),
        (-2, [28]),
        (np.array([4, 0]), [4, 0]),
    ],
    ids=["mask", "mask-list", "slice", "one", "last-but-one", "array"],
)
def test_every_kind_of_index(metric, index, places):
    chosen = rows_of(metric)[index]
    assert chosen.score().score == pytest.approx(
        naive(metric, [CORPUS.hypotheses[place] for place in places])
    )
    np.testing.assert_array_equal(chosen.segment_scores(), rows_of(metric).segment_scores()[places])
    assert chosen.score().signature["items"] == str(len(places))


@by_metric
def test_no_segments_cannot_be_scored_or_resampled(metric):
    nothing = rows_of(metric)[:0]
    with pytest.raises(InputError, match="nothing to score"):
        nothing.score()
    with pytest.raises(InputError, match="nothing to resample"):
        nothing.bootstrap(10)


@by_metric
def test_resampling_is_naive_recomputation(metric):
    rows = rows_of(metric)
    bootstrap = rows.bootstrap(60, rng=9)
    indices = np.random.default_rng(9).integers(30, size=(60, 30))
    expected = [naive(metric, [CORPUS.hypotheses[i] for i in row]) for row in indices]
    np.testing.assert_allclose(bootstrap.distribution, expected, atol=1e-9)
    again = rows.bootstrap(60, rng=np.random.default_rng(9))
    assert np.array_equal(bootstrap.distribution, again.distribution)
    assert bootstrap.interval == again.interval


@by_metric
def test_intervals_are_the_jackknifes(metric):
    rows = rows_of(metric)
    everything = CORPUS.hypotheses
    score = naive(metric, everything)
    left_out = [naive(metric, everything[:i] + everything[i + 1 :]) for i in range(30)]
    error = np.sqrt(29 / 30 * sum((one - np.mean(left_out)) ** 2 for one in left_out))
    bootstrap = rows.bootstrap(10, confidence=0.9)
    assert bootstrap.standard_error == pytest.approx(error)
    reach = 1.699127 * error  # Student's t with 29 degrees of freedom
    expected = [score - reach, score + reach]
    assert [bootstrap.interval.low, bootstrap.interval.high] == pytest.approx(expected, abs=1e-5)
    assert (bootstrap.interval.confidence, bootstrap.interval.method) == (0.9, "jackknife")
    for method in ("jackknife", "percentile", "bca"):
        assert rows.interval(method, confidence=0.9, resamples=10) == bootstrap.interval


@pytest.mark.parametrize("metric", [DISTINCT[0], ENTROPY[1]], ids=lambda metric: str(metric.name))
def test_intervals_hold_the_true_value_where_percentiles_do_not(metric):
    population = random_corpus(7, 3000, words=300, references=1, longest=12).hypotheses
    rows = rows_of(metric, population)
    rng = np.random.default_rng(0)

    def sample():
        return rows[rng.choice(len(population), 60, replace=False)]

    truth = np.mean([sample().score().score for _ in range(300)])
    held, held_by_percentiles = 0, 0
    for _ in range(100):
        bootstrap = sample().bootstrap(40, rng=rng)
        held += bootstrap.interval.low <= truth <= bootstrap.interval.high
        held_by_percentiles += truth <= np.quantile(bootstrap.distribution, 0.975)
    assert held >= 88
    assert held_by_percentiles < 10


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"resamples": 0}, "resamples must be a whole number"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"method": "studentized"}, "method must be one of percentile, bca"),
    ],
)
def test_bootstrap_settings_are_checked(chosen, message):
    with pytest.raises(InputError, match=message):
        rows_of(DISTINCT[0]).bootstrap(**chosen)


@by_metric
def test_resampling_in_batches_changes_nothing(metric, monkeypatch):
    rows = rows_of(metric)
    whole = rows.bootstrap(40, rng=1).distribution
    monkeypatch.setattr("deltableu.score.engine.pooled._CELLS", 100)
    monkeypatch.setattr("deltableu.score.engine.statistics._BATCH", 7 * 30)
    # Sums of floats may round otherwise in another shape; the counts are the same.
    np.testing.assert_allclose(rows.bootstrap(40, rng=1).distribution, whole, rtol=1e-12)


@by_metric
@pytest.mark.parametrize("hypotheses", [[""], ["", "", ""], ["a"], ["a", "a"], ["a", "", "b c"]])
def test_hardly_any_ngrams(metric, hypotheses):
    rows = rows_of(metric, hypotheses)
    assert rows.score().score == pytest.approx(naive(metric, hypotheses), abs=1e-12)
    bootstrap = rows.bootstrap(30)
    assert np.isfinite(bootstrap.distribution).all()
    low, high = bootstrap.interval.low, bootstrap.interval.high
    assert metric.limits[0] <= low <= rows.score().score <= high <= metric.limits[1]


# --- References play no part ----------------------------------------------------------------------


@pytest.mark.parametrize("metric", [*DISTINCT, *ENTROPY, Length(tokenize="none")])
def test_references_change_neither_score_nor_signature(metric):
    assert metric.needs == frozenset()
    hypotheses = CORPUS.hypotheses[:2]
    one = metric.compute(hypotheses, [["a"], ["b"]]).score()
    other = metric.compute(hypotheses, ReferenceSet([[], ["x", "y"]], item_ids=["p", "q"])).score()
    assert one == other
    assert str(one.signature).startswith(f"metric:{metric.name}|case:mixed|tok:none|items:2|versio")


def test_errors():
    with pytest.raises(InputError, match="nothing to score"):
        Distinct1().encode([])
    encoded = Distinct1().encode([["a"], ["b"]])
    with pytest.raises(InputError, match="3 hypotheses for 2 items"):
        Distinct1().statistics(["a", "b", "c"], encoded)
    with pytest.raises(InputError, match=r"hypotheses\[1\] has a lone surrogate"):
        Distinct1().statistics(["a", "\ud800"], encoded)
    with pytest.raises(InputError, match="encoded with other settings"):
        Distinct1().statistics(["a", "b"], Verbatim().encode([["a"], ["b"]]))
    with pytest.raises(InputError, match="encoded with other settings"):
        Verbatim().statistics(["a", "b"], encoded)
    with pytest.raises(InputError, match="normalize must be"):
        Length(normalize="NFD")


def test_length():
    rows = Length().compute(["", "yes", "well, no"], [["a"]] * 3)
    assert rows.segment_scores().tolist() == [0.0, 1.0, 3.0]
    assert rows.score().score == pytest.approx(4 / 3)
    assert rows[1:].score().score == 2.0


@dataclass(frozen=True)
class Verbatim(SegmentMetric):
    """100 for a hypothesis that is the first reference; prepares nothing of its own."""

    name: ClassVar[str] = "verbatim"

    def segments(self, hypotheses, encoded):
        firsts = [encoded.flat.texts[first] for first in encoded.flat.bounds[:-1]]
        return [100.0 * (one == other) for one, other in zip(hypotheses, firsts, strict=True)]

    def settings(self):
        return ()


@pytest.mark.parametrize("turned", [False, True])
def test_metrics_with_references_are_not_given_the_empty_ones(turned):
    metrics = [Distinct1(), Length(), Verbatim()][:: -1 if turned else 1]
    outputs = {"same": ["a b", "c"], "other": ["d", "c"]}
    scoring = score_systems(ReferenceSet([["a b"], ["c"]]), outputs, metrics)
    scores = {(one.system, one.score.name): one.score.score for one in scoring.scores}
    assert scores["same", "verbatim"] == 100.0
    assert scores["other", "verbatim"] == 50.0
    assert scores["same", "length"] == 1.5
    assert scores["other", "distinct-1"] == 100.0


def test_by_name_and_beside_each_other():
    names = ["distinct-1", "distinct-2", "entropy-1", "entropy-2", "entropy-3", "entropy-4"]
    metrics = make_metrics([*names, "length"], {"tokenize": "none"})
    assert metrics == (*DISTINCT, *ENTROPY, Length(tokenize="none"))
    outputs = {"one": demo.HYPOTHESES, "two": demo.HYPOTHESES[::-1]}
    scored = score_systems(ReferenceSet(demo.REFERENCES), outputs, metrics).scores
    values = [one.score.score for one in scored]
    assert values[::2] == pytest.approx(values[1::2])
    assert len(set(values[::2])) == 7
