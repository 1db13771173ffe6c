"""Standard errors without leaving anything out: derivatives of scores, and how near they come."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deltableu import BLEU, DeltaBLEU
from deltableu.score.metric import Metric
from deltableu.stats import numerical_gradient
from tests import exchange_oracle as literal

SMOOTHINGS = ("none", "floor", "add-k", "exp")
VARIANTS = [
    *(BLEU(order=order, smooth=smooth) for order, smooth in product((1, 2, 4), SMOOTHINGS)),
    *(BLEU(smooth=smooth, effective_order=True) for smooth in SMOOTHINGS),
    BLEU(smooth="add-k", smooth_value=0.3),
    BLEU(combine="arithmetic"),
    *(DeltaBLEU(smooth=smooth) for smooth in SMOOTHINGS),
    DeltaBLEU(variant="galley2019", order=4),
    DeltaBLEU(variant="tsuta2020"),
    DeltaBLEU(combine="arithmetic"),
    DeltaBLEU(brevity="positive").signed(),
]
by_variant = pytest.mark.parametrize("metric", VARIANTS, ids=repr)
by_metric = pytest.mark.parametrize("name", literal.METRICS)


def sums_of(metric: BLEU, rng: np.random.Generator, *, signed: bool) -> np.ndarray:
    """Summed rows: more 1-grams than 2-grams, and lengths on either side of each other."""
    order = metric.order
    denominators = 400.0 - 40.0 * np.arange(order) + rng.uniform(0, 20, size=(50, order))
    shares = rng.uniform(-0.4 if signed else 0.05, 0.9, size=(50, order))
    lengths = 400.0 + rng.uniform(-60, 60, size=(50, 2))
    return np.concatenate((denominators * shares, denominators, lengths), axis=1)


@by_variant
def test_derivatives_are_the_numerical_ones(metric):
    rng = np.random.default_rng(7)
    sums = sums_of(metric, rng, signed=metric.combine == "arithmetic")
    found = metric.gradient(sums)
    expected = numerical_gradient(metric.aggregate, sums)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    assert found.shape == sums.shape
    assert (metric.gradient(sums[3]) == found[3]).all()
    assert not metric.clamped(sums).any()


@by_variant
def test_a_longer_corpus_has_the_same_score(metric):
    """Euler: what depends on ratios alone has no derivative along its own sums."""
    sums = sums_of(metric, np.random.default_rng(1), signed=False)
    if metric.smoothing == "add-k" and metric.combine == "geometric":
        return  # one more match is less of a longer corpus
    along = (metric.gradient(sums) * sums).sum(axis=1)
    np.testing.assert_allclose(along, 0.0, atol=1e-9)


@pytest.mark.parametrize("smooth", SMOOTHINGS)
@pytest.mark.parametrize("matches", [0.0, -3.0, 1e-13])
def test_where_an_order_has_no_match_the_score_stands_still(smooth, matches):
    """Whether it is 0, or made up by smoothing; a mean of precisions goes on below 0."""
    sums = np.array([90.0, matches, 200.0, 180.0, 200.0, 190.0])
    for metric in (BLEU(order=2, smooth=smooth), DeltaBLEU(smooth=smooth)):
        assert metric.clamped(sums)
        assert metric.gradient(sums)[1] == 0.0
    signed = DeltaBLEU(smooth=smooth).signed()
    assert not signed.clamped(sums)
    assert signed.gradient(sums)[1] > 0.0
    assert not BLEU(order=2, smooth=smooth).clamped(np.abs(sums) + 1.0)


def test_where_lengths_are_equal_the_penalty_rises_half_as_steeply():
    metric = BLEU(order=1)
    shorter, equal, longer = (
        metric.gradient(np.array([50.0, 100.0, 100.0 + more, 100.0]))[2] for more in (-1e-9, 0, 1)
    )
    assert longer == 0.0
    assert equal == pytest.approx(shorter / 2)


def delete_one_error(rows: np.ndarray, metric: Metric) -> float:
    left_out = metric.aggregate(rows.sum(axis=0) - rows)
    size = len(rows)
    return float(np.sqrt((size - 1) / size * ((left_out - left_out.mean()) ** 2).sum()))


@by_metric
@pytest.mark.parametrize("wrong", [0.1, 0.3, 0.5])
def test_the_infinitesimal_jackknife_is_the_one_that_leaves_out(name, wrong):
    """Of scores and of differences, within a thousandth at 1,000 items.

    Where half of the words are wrong, few 4-grams are right and each item counts for more.
    """
    metric = literal.METRICS[name]
    near = 3e-3 if (name, wrong) == ("bleu-4", 0.5) else 1e-3
    shares = wrong, wrong + 0.05
    first, second = (one.rows for one in literal.generated(metric, 1000, 5, shares))
    for rows in (first, second):
        found = literal.standard_error(literal.influences(rows, metric.gradient))
        assert found == pytest.approx(delete_one_error(rows, metric), rel=near)
    moves = [literal.influences(rows, metric.gradient) for rows in (first, second)]
    left_out = [metric.aggregate(rows.sum(axis=0) - rows) for rows in (first, second)]
    apart = left_out[0] - left_out[1]
    expected = np.sqrt(999 / 1000 * ((apart - apart.mean()) ** 2).sum())
    assert literal.standard_error(moves[0] - moves[1]) == pytest.approx(expected, rel=near)


@by_metric
def test_influences_sum_to_nothing(name):
    """What all items move the score by is how it depends on the size of the corpus: not at all."""
    metric = literal.METRICS[name]
    rows = literal.generated(metric, 60, 2)[0].rows
    moves = literal.influences(rows, metric.gradient)
    assert abs(moves.sum()) < 1e-6 * np.abs(moves).sum()
