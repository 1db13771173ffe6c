"""Williams' test: published numbers, real language pairs, and what follows from the formula."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu.errors import InputError
from deltableu.stats.correlation import correlate
from deltableu.stats.williams import williams_metrics, williams_test
from tests.validate.wmt20 import PAIRS, folder, rows, system_scores

#: r12, r13, r23, n; t, one-sided and two-sided p. Sources: nlp-williams' README; WMT12 es-en AMBER
#: against BLEU (significance-williams); psych's help page. Their printed p-values had n - 2
#: degrees of freedom; these have n - 3.
TABLE = [
    ((0.65, 0.55, 0.3, 50), 0.816078187, 0.209286173, 0.418572346),
    ((0.880651169, 0.760352368, 0.947389662, 12), 2.687027668, 0.012458771, 0.024917541),
    ((0.4, 0.5, 0.1, 103), -0.891279905, 1 - 0.187459259, 0.374918517),
]


@pytest.mark.parametrize(("given_values", "t", "one_sided", "two_sided"), TABLE)
def test_published_examples(given_values, t, one_sided, two_sided):
    result = williams_test(*given_values)
    # The es-en correlations are given to nine digits, which leaves seven of t.
    assert result.statistic == pytest.approx(t, abs=2e-7)
    assert result.p_value == pytest.approx(one_sided, abs=1e-8)
    assert williams_test(*given_values, "less").p_value == pytest.approx(1 - one_sided, abs=1e-8)
    assert williams_test(*given_values, "two-sided").p_value == pytest.approx(two_sided, abs=1e-8)
    assert result.degrees_of_freedom == given_values[3] - 3
    assert result.difference == pytest.approx(given_values[0] - given_values[1])


def test_mtme_example():
    """mt-metrics-eval's stats_test.py."""
    result = williams_metrics([1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5])
    assert (round(result.r12, 3), round(result.r13, 3)) == (0.999, 0.987)
    assert round(result.p_value, 3) == 0.019


def test_vectors_of_peers(data):
    vectors = json.loads((data / "test_vectors/peer_vectors.json").read_text("utf-8"))
    readme, mtme = vectors["williams"]
    result = williams_test(readme["r12"], readme["r13"], readme["r23"], readme["n"])
    assert result.p_value == pytest.approx(readme["p_df_n_minus_3"], abs=1e-14)
    result = williams_metrics(mtme["gold"], mtme["metric1"], mtme["metric2"])
    assert round(result.p_value, 3) == mtme["p"]
    spanish = vectors["williams_wmt12_es_en"]
    systems = list(spanish["human"])
    human, amber, bleu = (
        [spanish[name][system] for system in systems]
        for name in ("human", "AMBER", "BLEU_4_closest_cased")
    )
    result = williams_metrics(human, amber, bleu)
    expected = spanish["expected"]
    assert result.r12 == pytest.approx(expected["pearson_AMBER"], abs=1e-14)
    assert result.r13 == pytest.approx(expected["pearson_BLEU"], abs=1e-14)
    assert result.p_value == pytest.approx(expected["williams_p_df_n_minus_3"], abs=1e-13)
    # What was printed then, with one degree of freedom more.
    then = stats.t.sf(result.statistic, result.degrees_of_freedom + 1)
    assert then == pytest.approx(expected["williams_p_AMBER_gt_BLEU"], abs=1e-13)


@pytest.mark.parametrize("outliers", ["", "-excloutl"])
@pytest.mark.parametrize(("pair", "references", "suffix"), PAIRS)
def test_wmt20(data, pair, references, suffix, outliers):
    """Correlations and p-values of all metrics of a language pair, as its organisers have them."""
    path = folder(data)
    scores = system_scores(data, pair, references, outliers)
    human = scores["HUMAN"]
    header, *body = rows(path / f"DA-{pair}{suffix}-cor{outliers}.csv", "\t")
    method = {"Pearson": "pearson", "Kendall": "kendall-b"}[header[1]]
    for name, value, size, *_ in body:
        assert int(size) == len(human)
        assert correlate(scores[name], human, method) == pytest.approx(float(value), abs=1e-6)
        if method == "pearson":
            r12 = williams_metrics(human, scores[name], human[::-1]).r12
            assert r12 == pytest.approx(float(value), abs=1e-6)
    table = path / f"DA-{pair}{suffix}-sig{outliers}.csv"
    if not table.is_file():
        assert (outliers, bool(suffix)) == ("", True)  # other references: without outliers alone
        return
    header, *body = rows(table, "\t")
    names = header[1:]
    values = np.stack([scores[name] for name in names])
    with_human = correlate(values, human)
    between = correlate(values[:, np.newaxis], values)
    assert [name for name, *_ in body] == names
    for one, (first, *cells) in enumerate(body):
        for two, cell in enumerate(cells):
            if one == two:
                continue
            r12, r13, r23 = with_human[one], with_human[two], between[one, two]
            p_value = williams_test(r12, r13, r23, len(human)).p_value
            if cell == "":  # R's 0 / 0: one metric under two names
                assert p_value == 0.5
            elif cell == "0.12":  # the organisers' mark for what is not significant
                assert p_value >= 0.05
            else:
                assert p_value == pytest.approx(float(cell), abs=1e-6), (first, names[two])


CORRELATIONS = st.floats(-0.99, 0.99)


def possible(r12, r13, r23):
    return 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23 > 1e-6


@settings(deadline=None)
@given(CORRELATIONS, CORRELATIONS, CORRELATIONS, st.integers(4, 500))
def test_sides_and_directions_agree(r12, r13, r23, n):
    assume(possible(r12, r13, r23))
    greater, less, both = (
        williams_test(r12, r13, r23, n, side) for side in ("greater", "less", "two-sided")
    )
    assert greater.p_value + less.p_value == pytest.approx(1, abs=1e-12)
    assert both.p_value == pytest.approx(2 * min(greater.p_value, less.p_value), rel=1e-9)
    turned = williams_test(r13, r12, r23, n)
    assert turned.statistic == pytest.approx(-greater.statistic)
    assert turned.p_value == pytest.approx(less.p_value)


@settings(deadline=None)
@given(CORRELATIONS, CORRELATIONS, CORRELATIONS, st.integers(4, 500))
def test_formula_word_for_word(r12, r13, r23, n):
    assume(possible(r12, r13, r23))
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    bar = (r12 + r13) / 2
    t = (
        (r12 - r13)
        * np.sqrt((n - 1) * (1 + r23))
        / np.sqrt(2 * k * (n - 1) / (n - 3) + bar**2 * (1 - r23) ** 3)
    )
    result = williams_test(r12, r13, r23, n)
    assert result.statistic == pytest.approx(t, rel=1e-9)
    assert result.p_value == pytest.approx(stats.t.sf(t, n - 3), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(5, 30), st.sampled_from(["pearson", "spearman"]))
def test_absolute_form_is_that_of_nlpstats(seed, n, method):
    theirs = pytest.importorskip("nlpstats.correlations")
    human, first, second = np.random.default_rng(seed).normal(size=(3, n))
    second = second + first
    for side in ("greater", "less", "two-sided"):
        ours = williams_metrics(human, first, second, side, method=method, absolute=True)
        args = (first[:, None], second[:, None], human[:, None], "system", method, side)
        assert ours.p_value == pytest.approx(theirs.williams_test(*args).pvalue, abs=1e-10)


def test_signs_matter():
    """A metric that ranks systems backwards is not as good as one that ranks them well."""
    human = np.array([1.0, 2, 3, 4, 5, 6])
    good = human + np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.2])
    backwards = -human + np.array([0.1, 0, 0.3, 0, -0.1, 0])
    assert williams_metrics(human, good, backwards).p_value < 1e-4
    assert williams_metrics(human, good, backwards, absolute=True).p_value > 0.05


@pytest.mark.parametrize(("side", "p_value"), [("greater", 0.5), ("less", 0.5), ("two-sided", 1)])
def test_one_metric_twice(side, p_value):
    human, metric = np.random.default_rng(0).normal(size=(2, 9))
    assert williams_test(0.7, 0.7, 1.0, 10, side).p_value == p_value
    assert williams_metrics(human, metric, metric * 3 + 1, side).p_value == p_value
    assert williams_test(1.0, 1.0, 1.0, 10, side).p_value == p_value


def test_one_metric_and_its_negative():
    """The limit of the formula: whether the metric correlates at all."""
    exact = williams_test(0.6, -0.6, -1.0, 20)
    near = williams_test(0.6, -0.6, -1 + 1e-9, 20)
    assert exact.statistic == pytest.approx(near.statistic, rel=1e-5)
    assert exact.statistic == pytest.approx(0.6 * np.sqrt(17 / (1 - 0.36)))
    assert williams_test(1.0, -1.0, -1.0, 20).p_value == 0.0


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((0.9, -0.9, 0.9, 20), "no data has the correlations"),
        ((0.9, 0.1, 1.0, 20), "no data has the correlations"),
        ((1.2, 0.5, 0.5, 20), "r12 must be a correlation"),
        ((0.5, float("nan"), 0.5, 20), "r13 must be a correlation"),
        ((0.5, 0.4, 0.3, 3), "at least 4 points"),
        ((0.5, 0.4, 0.3, 7.5), "at least 4 points"),
        ((0.5, 0.4, 0.3, 20, "larger"), "alternative must be"),
    ],
)
def test_impossible_correlations(values, told):
    with pytest.raises(InputError, match=told):
        williams_test(*values)


@pytest.mark.parametrize(
    ("human", "first", "second", "told"),
    [
        ([1, 2, 3], [1, 2, 4], [1, 3, 2], "at least 4 points"),
        ([1, 2, 3, 4], [1, 2, 3, 4, 5], [1, 2, 3, 5], "metric_a has 5"),
        ([1, 2, 3, 4], [2, 2, 2, 2], [1, 2, 3, 5], "metric_a is constant"),
        ([3, 3, 3, 3], [1, 2, 2, 2], [1, 2, 3, 5], "human is constant"),
        ([1, 2, 3, 4], [1, 2, 4, 3], [1, 2, float("nan"), 5], "metric_b has no finite score"),
        ([[1, 2, 3, 4]], [1, 2, 4, 3], [1, 2, 3, 5], "human must be one score a point"),
    ],
)
def test_bad_data(human, first, second, told):
    with pytest.raises(InputError, match=told):
        williams_metrics(human, first, second)


def test_unknown_method():
    with pytest.raises(InputError, match="pearson or spearman"):
        williams_metrics([1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4], method="kendall-b")
