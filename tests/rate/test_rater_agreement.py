"""Correlations between raters, and of a metric with each rater, against scipy pair by pair."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.rater_agreement import annotator_correlations, inter_rater_correlations
from deltableu.stats.resampling import stream

few = settings(max_examples=60, deadline=None)

PEERS = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall-b": lambda x, y: stats.kendalltau(x, y).statistic,
}


@st.composite
def tables(draw, missing: float = 0.25):
    """Raters x units of a five-point scale, some of it missing."""
    raters, units = draw(st.integers(2, 5)), draw(st.integers(3, 12))
    rng = stream(draw(st.integers(0, 10**6)))
    table = np.clip(rng.normal(3, 1, units) + rng.normal(0, 1, (raters, units)), 1, 5).round()
    table[rng.random(table.shape) < missing] = np.nan
    return table


def pair_by_pair(table, method, min_common):
    """Every pair of raters by scipy; NaN where it has no answer."""
    values = np.full((len(table), len(table)), np.nan)
    for a in range(len(table)):
        for b in range(len(table)):
            both = ~np.isnan(table[a]) & ~np.isnan(table[b])
            x, y = table[a][both], table[b][both]
            if a != b and len(x) >= min_common and np.ptp(x) > 0 and np.ptp(y) > 0:
                values[a, b] = PEERS[method](x, y)
    return values


@pytest.mark.parametrize("method", PEERS)
@few
@given(table=st.one_of(tables(), tables(missing=0.0)), min_common=st.integers(2, 4))
def test_every_pair_as_scipy(method, table, min_common):
    expected = pair_by_pair(table, method, min_common)
    if np.isnan(expected).all():
        with pytest.raises(InputError, match=r"in common|the same value throughout"):
            inter_rater_correlations(table, method=method, min_common=min_common)
        return
    found = inter_rater_correlations(table, method=method, min_common=min_common)
    assert np.allclose(found.values, expected, atol=1e-12, equal_nan=True)
    upper = expected[np.triu_indices(len(table), 1)]
    upper = upper[~np.isnan(upper)]
    assert (found.mean, found.highest, found.lowest) == pytest.approx(
        (upper.mean(), upper.max(), upper.min())
    )
    assert found.pairs == len(upper)
    enough = np.triu(found.common >= min_common, 1).sum()
    assert found.undefined == enough - len(upper)


@few
@given(tables(), st.integers(0, 1000))
def test_a_metric_with_each_rater(table, seed):
    metric = stream(seed).random(table.shape[1])
    metric[0] = np.nan
    expected = [
        PEERS["spearman"](row[both], metric[both])
        if (both := ~np.isnan(row) & ~np.isnan(metric)).sum() >= 3 and np.ptp(row[both]) > 0
        else np.nan
        for row in table
    ]
    if np.isnan(expected).all():
        with pytest.raises(InputError, match="no rater has a correlation with the metric"):
            annotator_correlations(metric, table, method="spearman")
        return
    found = annotator_correlations(metric, table, method="spearman")
    assert np.allclose(found.values, expected, atol=1e-12, equal_nan=True)
    assert found.highest == pytest.approx(np.nanmax(expected))
    assert found.lowest == pytest.approx(np.nanmin(expected))
    assert found.mean == pytest.approx(np.nanmean(expected))
    assert found.units.tolist() == [
        int((~np.isnan(row) & ~np.isnan(metric)).sum()) for row in table
    ]


def test_judgements_are_compared_by_output():
    made = RatingTable.of(
        raters=["a"] * 4 + ["b"] * 5, items=["1", "2"] * 4 + ["1"],
        systems=["A", "A", "B", "B"] * 2 + ["A"], kinds=["item"] * 8 + ["repeat"],
        values=[1, 2, 3, 4, 2, 2, 3, 5, 0],
    )  # fmt: skip
    found = inter_rater_correlations(made)
    assert found.raters == ("a", "b")
    assert found.common.tolist() == [[4, 4], [4, 4]]
    # The second rater's two judgements of the first output have the mean 1.
    assert found.mean == pytest.approx(PEERS["pearson"]([1, 2, 3, 4], [1, 2, 3, 5]))
    metric = annotator_correlations([[0.1, 0.2], [0.3, 0.4]], made)
    assert metric.values[0] == pytest.approx(1.0)
    assert metric.raters == ("a", "b")
    with pytest.raises(InputError, match=r"scores must be systems x items \(2, 2\)"):
        annotator_correlations(np.zeros((1, 4)), made)


def test_fed(data):
    """Five ratings each of 500 dialogue items: the range that a metric is compared with."""
    with gzip.open(data / "fed" / "fed_data.json.gz", "rt") as lines:
        items = json.load(lines)
    rows = [
        [value for value in one["annotations"]["Overall"] if isinstance(value, int)]
        for one in items
    ]
    table = np.array([row for row in rows if len(row) == 5], dtype=float).T
    for method, peer in PEERS.items():
        found = inter_rater_correlations(table, method=method)
        expected = [peer(table[a], table[b]) for a in range(5) for b in range(a)]
        assert found.pairs == 10
        assert (found.mean, found.lowest, found.highest) == pytest.approx(
            (np.mean(expected), min(expected), max(expected))
        )
        assert 0 < found.lowest < found.highest < 1


def test_a_constant_rater_is_left_out_and_counted():
    found = inter_rater_correlations([[1, 2, 3], [3, 3, 3], [1, 3, 2]])
    assert (found.pairs, found.undefined) == (1, 2)
    assert np.isnan(found.values[1]).all()
    assert found.mean == pytest.approx(0.5)


def test_bad_input():
    with pytest.raises(InputError, match="at least 2 raters"):
        inter_rater_correlations([[1, 2, 3]])
    with pytest.raises(InputError, match="no two raters have 3 units in common"):
        inter_rater_correlations([[1, 2, np.nan], [np.nan, 1, 2]])
    with pytest.raises(InputError, match="gave the same value throughout"):
        inter_rater_correlations([[1, 1, 1], [1, 2, 3]])
    with pytest.raises(InputError, match="min_common must be at least 2"):
        inter_rater_correlations([[1, 2], [1, 2]], min_common=1)
    with pytest.raises(InputError, match="no correlation 'cosine'"):
        inter_rater_correlations([[1, 2, 3], [1, 2, 3]], method="cosine")
    with pytest.raises(InputError, match="there are 2 scores, but 3 units"):
        annotator_correlations([1, 2], [[1, 2, 3]])
    with pytest.raises(InputError, match="scores must be finite"):
        annotator_correlations([1, 2, np.inf], [[1, 2, 3]])
