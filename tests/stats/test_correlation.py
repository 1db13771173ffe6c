"""Correlations: against scipy, against literal counts of pairs, against published values."""

from __future__ import annotations

import gzip
import itertools
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from deltableu import SentenceBLEU
from deltableu.errors import InputError
from deltableu.stats import kendall
from deltableu.stats.correlation import (
    average_ranks,
    centred,
    correlate,
    correlation_p_value,
    correlation_test,
    count_distinct,
    partial_correlation,
)
from deltableu.stats.kendall import kendall_like, kendall_like_pairs
from deltableu.stats.weighted import weighted_correlate
from tests.uncompiled import run_uncompiled
from tests.validate.small_results import small_results

METHODS = ("pearson", "spearman", "kendall-b", "kendall-c", "kendall-wei", "kendall-like")
few = settings(max_examples=25, deadline=None)


def literal(x, y, method, threshold=25.0):
    """Every pair looked at, one after the other; scipy where it has the method."""
    peers = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall-b": stats.kendalltau,
        "kendall-c": lambda a, b: stats.kendalltau(a, b, variant="c"),
    }
    if method in peers:
        if len(x) < 2:
            return np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return peers[method](x, y).statistic
    concordant = discordant = 0
    for (a, b), (c, d) in itertools.combinations(zip(x, y, strict=True), 2):
        tied = a == c or b == d
        if method == "kendall-wei" and tied:
            continue
        if method == "kendall-like" and (b == d or abs(b - d) < threshold):
            continue
        if not tied and (a > c) == (b > d):
            concordant += 1
        else:
            discordant += 1
    pairs = concordant + discordant
    return (concordant - discordant) / pairs if pairs else np.nan


@st.composite
def two_columns(draw, largest=60, finest=10**6):
    """Columns with many or few ties, shorter and longer than where the algorithm changes."""
    size = draw(st.integers(2, largest))
    levels = draw(st.sampled_from([2, 3, 6, finest]))
    column = hnp.arrays(np.float64, size, elements=st.integers(0, levels).map(float))
    return draw(column), draw(column)


@pytest.mark.parametrize("method", METHODS)
@few
@given(columns=two_columns())
def test_correlations_are_those_of_scipy_and_of_counted_pairs(method, columns):
    x, y = columns
    found = correlate(x, y, method, threshold=2.0)
    np.testing.assert_allclose(found, literal(x, y, method, 2.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [5, 39, 40, 41, 300])
@pytest.mark.parametrize("shared", [True, False])
def test_a_batch_is_its_rows(method, size, shared):
    generator = np.random.default_rng(size)
    x = generator.integers(9, size=(2, 3, size)).astype(float)
    y = generator.integers(60, size=size if shared else (2, 3, size)).astype(float)
    found = correlate(x, y, method)
    assert found.shape == (2, 3)
    for place in np.ndindex(2, 3):
        other = y if shared else y[place]
        assert found[place] == pytest.approx(literal(x[place], other, method), abs=1e-12)
    # People's scores may be the batch instead.
    assert np.array_equal(correlate(x[0, 0], y, method), correlate(x[0:1, 0], y, method).squeeze())


def test_missing_values_change_nothing_for_those_that_are_there():
    """One rule centres and counts with and without them, rows or tables."""
    table = np.random.default_rng(0).integers(5, size=(3, 9, 4)).astype(float)
    holed = table.copy()
    holed[:, 0], holed[:, 5] = np.nan, np.nan
    there = np.delete(table, (0, 5), axis=1)
    assert np.array_equal(np.delete(centred(holed), (0, 5), axis=1), centred(there))
    assert not centred(holed)[:, (0, 5)].any()
    assert np.array_equal(count_distinct(holed), count_distinct(there))
    columns = np.swapaxes(there, 1, 2).reshape(-1, 7)
    assert count_distinct(there).ravel().tolist() == [len(set(row)) for row in columns.tolist()]
    assert not centred(np.full((2, 3), 0.1)).any()


@few
@given(
    x=hnp.arrays(
        np.float64, st.tuples(st.integers(1, 3), st.integers(1, 60)), elements=st.floats(-5, 5)
    )
)
def test_average_ranks_are_those_of_scipy(x):
    assert np.array_equal(average_ranks(x), stats.rankdata(x, axis=-1))


@pytest.mark.parametrize("method", METHODS)
@few
@given(columns=two_columns(30, 50), data=st.data())
def test_weights_are_repetitions(method, columns, data):
    x, y = columns
    weights = data.draw(hnp.arrays(np.int64, (3, len(x)), elements=st.integers(0, 3)))
    found = weighted_correlate(x, y, weights, method, 2.0)
    for row, value in zip(weights, found, strict=True):
        repeated = correlate(np.repeat(x, row), np.repeat(y, row), method, threshold=2.0)
        np.testing.assert_allclose(value, repeated, rtol=0, atol=1e-10)


def test_kendall_like_as_mt_metrics_eval_has_it(data):
    vector = json.loads((data / "test_vectors" / "peer_vectors.json").read_text())["kendall_like"]
    for threshold, key in ((25.0, "expected_default_threshold"), (1.0, "expected_threshold_1")):
        found = kendall_like(vector["metric"], vector["gold"], threshold)
        expected = vector[key]
        assert found.tau == pytest.approx(expected["tau"], abs=1e-15)
        counts = (found.pairs, found.concordant, found.discordant)
        assert counts == tuple(expected[name] for name in ("pairs", "concordant", "discordant"))


def test_kendall_like_of_a_table_counts_the_pairs_of_all_items():
    metric = [[0.9, 0.1, 0.5], [0.1, 0.2, 0.5], [0.5, np.nan, 0.5]]
    human = [[90, 10, 50], [10, 90, 80], [20, 50, 20]]
    found = kendall_like(metric, human)
    # Item 0: 90-10 and 90-20 concordant, 10-20 too close; item 1: 10-90 concordant; item 2:
    # 50-80, 50-20 and 80-20 tied by the metric.
    assert (found.pairs, found.concordant, found.discordant) == (6, 3, 3)
    assert found.tau == 0.0


def test_kendall_like_without_pairs_is_undefined():
    assert np.isnan(kendall_like([1, 2], [50, 60]).tau)
    assert kendall_like([1, 2], [50, 60]).pairs == 0
    assert np.isnan(kendall_like_pairs([], []).tau)


def test_ready_pairs_count_ties_as_discordant():
    found = kendall_like_pairs([3.0, 1.0, 2.0, 2.0], [1.0, 2.0, 2.0, 0.0])
    assert (found.tau, found.pairs, found.concordant, found.discordant) == (0.0, 4, 2, 2)


def test_long_columns_do_not_take_quadratic_time():
    generator = np.random.default_rng(0)
    x = generator.integers(1000, size=200_000).astype(float)
    y = x + generator.integers(400, size=len(x))
    assert correlate(x, y, "kendall-b") == pytest.approx(stats.kendalltau(x, y).statistic)


def test_constant_columns_have_no_correlation():
    for constant in (np.full(7, 0.1), np.full(50, 1e16 + 2), np.full(3, 5e-324)):
        other = np.arange(len(constant), dtype=float)
        for method in METHODS[:-1]:
            assert np.isnan(correlate(constant, other, method))
            assert np.isnan(correlate(other, constant, method))
    # Here every pair is tied by the metric, so discordant; by people, so none.
    assert correlate(np.zeros(3), [0, 50, 100], "kendall-like") == -1.0
    assert np.isnan(correlate([1, 2, 3], np.zeros(3), "kendall-like"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_observations_have_no_correlation(method, size):
    assert np.isnan(correlate(np.zeros((2, size)), np.zeros(size), method)).all()


def test_extreme_scales_do_not_overflow():
    x = np.array([1.0, 2.0, 4.0, 3.0])
    expected = correlate(x, [1, 3, 2, 4])
    for scale in (1e-300, 1e300, 1e-160):
        assert correlate(x * scale, [1, 3, 2, 4]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 2], "as many observations"),
        (1.0, [1.0], "as many observations"),
        ([1, np.nan], [1, 2], "x must be finite"),
        ([1, 2], [np.inf, 2], "y must be finite"),
        (np.zeros((2, 3)), np.zeros((4, 3)), "leading axes"),
    ],
)
def test_what_cannot_be_correlated_is_refused(x, y, message):
    with pytest.raises(InputError, match=message):
        correlate(x, y, "pearson")


def test_wrong_choices_are_refused():
    with pytest.raises(InputError, match="no correlation 'kendall'; use pearson, spearman"):
        correlate([1, 2], [1, 2], "kendall")
    with pytest.raises(InputError, match="threshold"):
        correlate([1, 2], [1, 2], "kendall-like", threshold=-1.0)
    with pytest.raises(InputError, match="threshold"):
        kendall_like([1, 2], [1, 2], float("nan"))
    with pytest.raises(InputError, match="same size"):
        kendall_like([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="finite"):
        kendall_like([1, np.inf], [1, 2])
    with pytest.raises(InputError, match="better"):
        kendall_like_pairs([1, 2], [1])
    with pytest.raises(InputError, match="finite"):
        kendall_like_pairs([np.nan], [1])


# ---------------------------------------------------------------------- p-values


@few
@given(columns=two_columns(25))
def test_p_values_are_those_of_scipy(columns):
    x, y = columns
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return
    peers = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall-b": stats.kendalltau}
    for method, peer in peers.items():
        for alternative in ("two-sided", "greater", "less"):
            with np.errstate(divide="ignore"):
                expected = peer(x, y, alternative=alternative)
            found = correlation_test(x, y, method, alternative=alternative)
            # Of three points in a line, the last bit of r is worth 1e-8 of p.
            assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-7)
            assert (found.n, found.r) == (len(x), pytest.approx(expected.statistic, abs=1e-12))


def test_p_value_of_kendall_without_its_data_is_the_normal_one():
    generator = np.random.default_rng(1)
    x = generator.normal(size=200)
    y = x + 4 * generator.normal(size=200)
    expected = stats.kendalltau(x, y, method="asymptotic")
    assert correlation_p_value(expected.statistic, 200, "kendall-b") == pytest.approx(
        expected.pvalue, rel=1e-9
    )


def test_five_systems_are_the_fewest_for_a_clear_correlation():
    """Reiter 2018, quoted by Wei: with n = 5, p < .05 needs |r| above .878."""
    assert correlation_p_value(0.8784, 5) < 0.05 < correlation_p_value(0.8782, 5)
    assert correlation_p_value(1.0, 5) == 0.0
    assert np.isnan(correlation_p_value(1.0, 2))
    assert np.isnan(correlation_p_value(float("nan"), 9))


def test_p_values_that_cannot_be_had_are_refused():
    with pytest.raises(InputError, match="permutation"):
        correlation_p_value(0.3, 20, "kendall-like")
    with pytest.raises(InputError, match=r"\[-1, 1\]"):
        correlation_p_value(1.2, 20)
    with pytest.raises(InputError, match="alternative"):
        correlation_p_value(0.2, 20, alternative="both")
    with pytest.raises(InputError, match="plain lists"):
        correlation_test(np.zeros((2, 3)), np.zeros((2, 3)))


# ---------------------------------------------------------------------- partial correlation


def test_partial_correlation_is_the_correlation_of_residuals():
    generator = np.random.default_rng(2)
    length = generator.normal(size=80)
    x, y = length + generator.normal(size=80), length + generator.normal(size=80)
    residuals = []
    for column in (x, y):
        fit = stats.linregress(length, column)
        residuals.append(column - fit.intercept - fit.slope * length)
    expected = stats.pearsonr(*residuals)
    found = partial_correlation(x, y, length)
    assert found == pytest.approx(expected.statistic, abs=1e-12)
    # One degree of freedom less than residuals of nothing would have.
    t = found * np.sqrt(77 / (1 - found**2))
    assert correlation_p_value(float(found), 80, controls=1) == pytest.approx(
        2 * stats.t.sf(abs(t), 77)
    )


def test_partial_correlation_of_ranks_and_at_the_edges():
    x, y, control = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5], [1, 3, 2, 5, 4]
    rxy, rxz, ryz = (
        float(correlate(a, b, "kendall-b")) for a, b in ((x, y), (x, control), (y, control))
    )
    expected = (rxy - rxz * ryz) / np.sqrt((1 - rxz**2) * (1 - ryz**2))
    assert partial_correlation(x, y, control, "kendall-b") == pytest.approx(expected)
    assert np.isnan(partial_correlation(x, y, x))
    assert partial_correlation(x, y, np.ones(5)) == correlate(x, y)
    with pytest.raises(InputError, match="symmetric"):
        partial_correlation(x, y, control, "kendall-like")


# ---------------------------------------------------------------------- published values


def _rows(path):
    return [line.split() for line in path.read_text().splitlines()]


def test_kendall_of_wmt20_systems_is_as_published(data):
    """All metrics of 12 language pairs, systems without the human references."""
    folder = data / "wmt20_metrics" / "results" / "output" / "system-level"
    checked = 0
    for path in sorted(folder.glob("DA-newstest2020-*-sys-scores.csv")):
        header, *rows = _rows(path)
        rows = [row for row in rows if "uman" not in row[1]]
        published = folder / f"DA-{path.name.split('-')[2]}-cor.csv"
        human = [float(row[2]) for row in rows]
        for name, value, size in (row[:3] for row in _rows(published)[1:]):
            scores = [row[header.index(name)] for row in rows] if name in header else ["NA"]
            if "NA" in scores:
                continue
            found = correlate([float(s) for s in scores], human, "kendall-b")
            assert found == pytest.approx(float(value), abs=1e-12), (path.name, name)
            assert int(size) == len(human)
            checked += 1
    assert checked > 300


def test_kendall_like_of_wmt20_pairs_is_as_published(data):
    """The file says for each pair and metric whether they agree; its header is out of order."""
    folder = data / "wmt20_metrics" / "results" / "output" / "seglevel_allsys"
    path = folder / "RR-newstest2020-csen-seg-nohy-agree.csv.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    agrees = np.array([line.split()[3:] for line in lines[1:]], dtype=float)
    found = [kendall_like_pairs(column, np.full(len(column), 0.5)) for column in agrees.T]
    published = _rows(folder / "RR-newstest2020-csen-seg-nohy-cor.csv")
    assert {one.pairs for one in found} == {int(row[2]) for row in published}
    taus = sorted(one.tau for one in found)
    assert taus == pytest.approx(sorted(float(row[1]) for row in published), abs=5.1e-5)


@pytest.mark.parametrize(
    ("pair", "size", "published"), [("gu", 20110, 0.188), ("lt", 21862, 0.262)]
)
def test_sentence_bleu_on_wmt19_pairs_is_near_the_published_value(pair, size, published, data):
    """Ma et al. 2019, sentBLEU; their tokens are not exactly these."""
    path = data / "wmt19_darr" / f"{pair}-en.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    references = [[row["ref"]] for row in rows]
    metric = SentenceBLEU(method="moses")
    better, worse = (
        metric.compute([row[side] for row in rows], references).segment_scores()
        for side in ("better", "worse")
    )
    found = kendall_like_pairs(better, worse)
    assert found.pairs == size
    assert found.tau == pytest.approx(published, abs=0.01)


# ---------------------------------------------------------------------- without a compiler

_SCRIPT = """
import json, sys
from deltableu import _kernels
from deltableu.stats import kendall
from tests.validate.small_results import small_results

json.dump([_kernels.compiled(kendall._kernel), small_results()], sys.stdout)
"""


def test_without_a_compiler_the_numbers_are_the_same():
    compiled, found = run_uncompiled(_SCRIPT)
    assert not compiled
    assert found == small_results()


@few
@given(columns=two_columns(60))
def test_both_ways_of_counting_pairs_agree(columns):
    x, y = (column[np.newaxis] for column in columns)
    ones = np.ones(x.shape, np.int64)
    for threshold in (0.0, 2.0):
        by_sorting = kendall.weighted_counts(x, y, ones, threshold)
        by_pairs = kendall.column_counts(x.T[np.newaxis], y.T[np.newaxis], threshold)
        assert [int(a[0]) for a in by_sorting] == [int(a[0, 0]) for a in by_pairs]
