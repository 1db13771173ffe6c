"""Agreement at the three levels: against literal loops, against nlpstats, with missing scores."""

from __future__ import annotations

import itertools
import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deltableu.errors import InputError
from deltableu.stats.correlation import correlate
from deltableu.validate.levels import LevelAgreement, agreement, level_agreement

METHODS = ("pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like")
LEVELS = ("system", "pooled", "item")
few = settings(max_examples=25, deadline=None)


def literal(metric, human, method, level, undefined="zero", threshold=25.0):
    """One table, cell by cell."""
    present = ~(np.isnan(metric) | np.isnan(human))
    if level == "pooled":
        return float(correlate(metric[present], human[present], method, threshold=threshold))
    if level == "system":
        kept = [s for s in range(len(metric)) if present[s].any()]
        means = [[side[s][present[s]].mean() for s in kept] for side in (metric, human)]
        x, y = np.round(means, 10)  # equal means are equal however they are added up
        return float(correlate(x, y, method, threshold=threshold))
    if method == "kendall-like":
        won = pairs = 0
        for item in range(metric.shape[1]):
            for s, t in itertools.combinations(np.flatnonzero(present[:, item]), 2):
                apart = human[s, item] - human[t, item]
                if apart != 0 and abs(apart) >= threshold:
                    pairs += 1
                    won += (metric[s, item] - metric[t, item]) * apart > 0
        return (2 * won - pairs) / pairs if pairs else np.nan
    values = []
    for item in range(metric.shape[1]):
        there = present[:, item]
        x, y = metric[there, item], human[there, item]
        if len(x) < 2 or np.ptp(y) == 0:
            continue
        value = float(correlate(x, y, method))
        if np.isnan(value):
            if undefined == "drop":
                continue
            value = 0.0
        values.append(value)
    return np.mean(values) if values else np.nan


@st.composite
def tables(draw, missing=True):
    shape = (draw(st.integers(2, 5)), draw(st.integers(1, 7)))
    numbers = st.integers(0, draw(st.sampled_from([1, 3, 50]))).map(float)
    human = draw(hnp.arrays(np.float64, shape, elements=numbers))
    metric = draw(hnp.arrays(np.float64, (2, *shape), elements=numbers))
    if missing and draw(st.booleans()):
        gaps = hnp.arrays(bool, shape, elements=st.sampled_from([False, False, False, True]))
        metric[:, draw(gaps)] = np.nan
        human[draw(gaps)] = np.nan
    return metric, human


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", METHODS)
@few
@given(scores=tables(), undefined=st.sampled_from(["zero", "drop"]))
def test_agreement_is_the_literal_one(method, level, scores, undefined):
    metric, human = scores
    present = ~(np.isnan(metric[0]) | np.isnan(human))
    if present.any(axis=1).sum() < 2:
        return
    options = {"method": method, "level": level, "undefined": undefined, "threshold": 1.9}
    found = agreement(metric, human, **options)
    expected = [literal(one, human, method, level, undefined, 1.9) for one in metric]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    # People's side may be the batch as well.
    both = agreement(metric, np.stack([human, human]), **options)
    np.testing.assert_allclose(both, found, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("level", "peer"), [("system", "system"), ("pooled", "global"), ("item", "input")]
)
@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall-b"])
def test_agreement_is_that_of_nlpstats(method, level, peer):
    correlations = pytest.importorskip("nlpstats.correlations.correlations")
    generator = np.random.default_rng(4)
    human = generator.integers(1, 6, size=(6, 40)).astype(float)
    metric = human + generator.integers(-2, 3, size=human.shape)
    human[:, 3] = 2.0
    metric[:, 5] = 1.0
    gaps = generator.random(human.shape) < 0.1
    human[gaps] = metric[gaps] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = correlations.correlate(metric, human, peer, method.removesuffix("-b"))
    found = agreement(metric, human, method=method, level=level, undefined="drop")
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", METHODS)
def test_an_empty_batch_has_no_values(method, level):
    for items in (4, 40):
        found = agreement(np.zeros((0, 3, items)), np.ones((3, items)), method=method, level=level)
        assert found.shape == (0,)


def test_items_that_do_not_count():
    human = np.array([[1.0, 2.0, 3.0, 1.0], [2.0, 2.0, 1.0, 2.0]])
    metric = np.array([[1.0, 1.0, 5.0, np.nan], [1.0, 3.0, 4.0, 1.0]])
    # Item 0: the metric is constant; 1: people are; 2: agrees; 3: one system is left.
    found = level_agreement(metric, human, method="kendall-b", level="item")
    assert found == LevelAgreement(value=0.5, units=2, dropped=2)
    found = level_agreement(metric, human, method="kendall-b", level="item", undefined="drop")
    assert found == LevelAgreement(value=1.0, units=1, dropped=3)


def test_units_and_what_was_dropped():
    human = np.arange(12.0).reshape(4, 3)
    metric = human**2
    metric[1] = np.nan
    human[0, 2] = np.nan
    system = level_agreement(metric, human, level="system")
    assert (system.units, system.dropped) == (3, 1)
    pooled = level_agreement(metric, human, level="pooled")
    assert (pooled.units, pooled.dropped) == (8, 4)


def test_equal_means_are_ties_however_they_are_added_up():
    human = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.5, 0.5]])
    assert human[0].sum() != human[1].sum()
    metric = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    found = agreement(metric, human, method="kendall-wei", level="system")
    assert found == 1.0  # the tied pair is dropped


def test_a_constant_metric_with_missing_scores_stays_constant():
    generator = np.random.default_rng(0)
    human = generator.normal(size=(5, 9))
    human[generator.random(human.shape) < 0.3] = np.nan
    metric = np.full(human.shape, 0.1)
    for method in METHODS[:-1]:
        assert np.isnan(agreement(metric, human, method=method, level="system"))
        assert np.isnan(agreement(metric, human, method=method, level="pooled"))
        assert agreement(metric, human, method=method, level="item") == 0.0


def test_kendall_like_at_the_item_level_weighs_items_by_their_pairs():
    human = [[0, 0], [50, 100], [100, 10]]
    metric = [[1, 3], [2, 2], [3, 1]]
    # Item 0: three pairs agree; item 1: 0-100 and 100-10 count, one of them agrees.
    found = agreement(metric, human, method="kendall-like", level="item")
    assert found == pytest.approx((4 - 1) / 5)


@pytest.mark.parametrize(
    ("metric", "human", "message"),
    [
        (np.zeros((1, 3)), np.zeros((1, 3)), "at least 2 systems"),
        (np.zeros((2, 0)), np.zeros((2, 0)), "at least 1 item"),
        (np.zeros((2, 3)), np.zeros((3, 2)), "same systems x items"),
        (np.zeros(3), np.zeros(3), "same systems x items"),
        (np.zeros((4, 2, 3)), np.zeros((5, 2, 3)), "batches do not fit"),
        (np.full((2, 3), np.nan), np.zeros((2, 3)), "no output has both"),
        (np.full((2, 3), np.inf), np.zeros((2, 3)), "metric scores must be finite"),
        (np.zeros((2, 2)), [[np.nan, np.nan], [1, 2]], "fewer than 2 systems"),
    ],
)
def test_tables_that_cannot_be_used_are_refused(metric, human, message):
    with pytest.raises(InputError, match=message):
        agreement(metric, human, method="pearson", level="system")


def test_wrong_choices_are_refused():
    table = np.arange(4.0).reshape(2, 2)
    with pytest.raises(InputError, match="level must be one of system, pooled, item"):
        agreement(table, table, level="segment")
    with pytest.raises(InputError, match="undefined"):
        agreement(table, table, undefined="nan")
    with pytest.raises(InputError, match="no correlation"):
        agreement(table, table, method="tau")
    with pytest.raises(InputError, match="batch"):
        level_agreement(table[np.newaxis], table)
    holes = np.stack([table, table])
    holes[1, 0, 0] = np.nan
    with pytest.raises(InputError, match="the same metric scores must be missing"):
        agreement(holes, table)


def test_a_large_batch_is_fast(record_property):
    """Reported for people; the bound only catches a loop in Python."""
    generator = np.random.default_rng(0)
    metric, human = generator.normal(size=(1000, 10, 500)), generator.normal(size=(10, 500))
    for method, level in (("kendall-b", "item"), ("pearson", "system")):
        started = time.process_time()
        agreement(metric, human, method=method, level=level)
        seconds = time.process_time() - started
        record_property(f"seconds of {method} by {level}, 1,000 x 10 x 500", round(seconds, 3))
        assert seconds < 3
