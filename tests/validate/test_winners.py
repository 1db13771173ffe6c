"""Winners and ranks: WMT20's own, the literal rules, and every test that decides them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.stats.multiple import benjamini_hochberg, holm
from deltableu.stats.williams import williams_metrics
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import agreement
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.permutation import permutation_test
from deltableu.validate.winners import rank_metrics
from tests.validate.wmt20 import PAIRS, folder, rows, system_scores

TESTS = (
    "perm-both",
    "perm-systems",
    "perm-items",
    "bootstrap-both",
    "bootstrap-systems",
    "bootstrap-items",
    "williams",
)


def study(seed=0, systems=8, items=30):
    rng = np.random.default_rng(seed)
    quality = 0.7 * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, items))
    noises = {"good": 0.3, "fair": 1.0, "poor": 4.0}
    scores = {name: quality + s * rng.normal(size=quality.shape) for name, s in noises.items()}
    return scores, quality + 0.3 * rng.normal(size=quality.shape)


@pytest.mark.parametrize(("pair", "references", "suffix"), PAIRS)
def test_wmt20_winners(data, pair, references, suffix):
    """The organisers' winners, from scores of whole systems; raw ratings took part as a metric."""
    columns = system_scores(data, pair, references, "-excloutl")
    _, *official = rows(folder(data) / f"DA-{pair}{suffix}-cor-excloutl.csv", "\t")
    scores = {name: columns[name][:, np.newaxis] for name, *_ in official}
    people = columns["HUMAN"][:, np.newaxis]
    result = compare_metrics(scores, people, test="williams", correction="wmt")
    found = {metric.metric: metric.agreement for metric in result.metrics}
    for name, pearson, _, _ in official:
        assert found[name] == pytest.approx(float(pearson), abs=1e-9), name
    # One metric under two names lost to R's 0 / 0, whether or not it lost to another metric.
    twins = {
        name
        for name, column in scores.items()
        if sum(np.array_equal(column, other) for other in scores.values()) > 1
    }
    expected = {name for name, _, _, won in official if won == "True"}
    assert set(result.winners) - twins == expected
    assert twins <= {"Yisi-combi", "bleurt-Yisi-combi", "esim", "paresim-1"}


def beaten(table, column):
    return any(table[row][column] < 0.05 for row in range(len(table)) if row != column)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32))
def test_rules_word_for_word(size, seed):
    rng = np.random.default_rng(seed)
    names, values = [f"m{place}" for place in range(size)], rng.random(size).round(1)
    table = rng.random((size, size)) * rng.choice([0.1, 1.0], size=(size, size))
    result = rank_metrics(names, values, table, correction="wmt")
    shown = [names.index(metric.metric) for metric in result.metrics]
    assert [metric.agreement for metric in result.metrics] == sorted(values.tolist(), reverse=True)
    assert set(result.winners) == {names[c] for c in range(size) if not beaten(table, c)}
    # WMT22: rank r are those that no other of rank r beats.
    rank, current = 0, []
    for place, metric in zip(shown, result.metrics, strict=True):
        if not current or any(table[above][place] < 0.05 for above in current):
            rank, current = rank + 1, []
        current.append(place)
        assert metric.rank == rank
        best, worst = metric.rank_range
        assert 1 <= best <= worst <= size
    assert result.p_values[~np.eye(size, dtype=bool)].tolist() == [
        table[one][two] for one in shown for two in shown if one != two
    ]


def test_clusters_and_letters():
    """Two metrics that nothing tells apart above two that both beat."""
    p_values = [
        [1.0, 0.40, 0.01, 0.001],
        [0.6, 1.0, 0.03, 0.002],
        [0.99, 0.97, 1.0, 0.2],
        [0.99, 0.98, 0.8, 1.0],
    ]
    result = rank_metrics(["a", "b", "c", "d"], [0.9, 0.8, 0.5, 0.4], p_values, correction="wmt")
    assert [metric.cluster for metric in result.metrics] == [1, 1, 2, 2]
    assert [metric.rank for metric in result.metrics] == [1, 1, 2, 2]
    assert [metric.letters for metric in result.metrics] == ["a", "a", "b", "b"]
    assert [metric.rank_range for metric in result.metrics] == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert result.winners == ("a", "b")


@pytest.mark.parametrize(("correction", "adjust"), [("holm", holm), ("bh", benjamini_hochberg)])
def test_corrections(correction, adjust):
    scores, human = study()
    plain = compare_metrics(scores, human, test="perm-items", correction="none")
    corrected = compare_metrics(scores, human, test="perm-items", correction=correction)
    pairs = np.triu_indices(3, 1)
    assert corrected.p_values[pairs].tolist() == plain.p_values[pairs].tolist()
    assert corrected.adjusted[pairs].tolist() == adjust(plain.p_values[pairs]).tolist()
    assert np.array_equal(corrected.adjusted, corrected.adjusted.T, equal_nan=True)
    assert set(plain.winners) <= set(corrected.winners)


def test_correction_can_save_a_metric():
    p_values = [[1, 0.02, 0.03], [0.02, 1, 0.6], [0.03, 0.6, 1]]
    values = [0.9, 0.8, 0.7]
    assert rank_metrics("abc", values, p_values, correction="none").winners == ("a",)
    assert rank_metrics("abc", values, p_values).winners == ("a", "b", "c")


@pytest.mark.parametrize("test", TESTS)
def test_every_test(test):
    scores, human = study()
    options = {"method": "pearson", "level": "pooled"}
    result = compare_metrics(
        scores, human, test=test, resamples=200, seed=4, correction="none", **options
    )
    assert [metric.metric for metric in result.metrics] == ["good", "fair", "poor"]
    assert (result.test, result.method, result.level) == (test, "pearson", "pooled")
    for metric in result.metrics:
        expected = float(agreement(scores[metric.metric], human, **options))
        assert metric.agreement == pytest.approx(expected)
    if test == "williams":
        flat = {name: table.ravel() for name, table in scores.items()}
        triple = human.ravel(), flat["good"], flat["fair"]
        expected = williams_metrics(*triple, alternative="two-sided").p_value
    else:
        kind, what = test.split("-")
        name, function = {
            "perm": ("swap", permutation_test),
            "bootstrap": ("resample", bootstrap_difference),
        }[kind]
        options |= {name: what, "resamples": 200, "seed": 4}
        expected = function(scores["good"], scores["fair"], human, **options).p_value
    assert result.p_value("good", "fair") == pytest.approx(expected)
    if "systems" not in test:  # eight systems alone tell little
        assert result.winners == ("good",)


def test_score_table_is_read():
    scores, human = study()
    table = ScoreTable.of({name: dict(enumerate(rows)) for name, rows in scores.items()})
    one, two = (compare_metrics(given, human, test="williams") for given in (table, scores))
    assert one.p_value("good", "poor") == two.p_value("good", "poor")


def test_unrated_outputs_do_not_count():
    scores, human = study()
    rated = human.copy()
    rated[:, 20:] = np.nan
    few = compare_metrics({name: table[:, :20] for name, table in scores.items()}, human[:, :20])
    all_scores = compare_metrics(scores, rated)
    assert all_scores.p_values[0].tolist()[1:] == few.p_values[0].tolist()[1:]


def test_progress_and_one_metric():
    scores, human = study()
    told = []
    compare_metrics(scores, human, test="williams", progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]
    alone = compare_metrics({"good": scores["good"]}, human)
    assert alone.winners == ("good",)


def test_threads_change_nothing():
    scores, human = study()
    one, two = (compare_metrics(scores, human, resamples=2000, threads=t) for t in (1, 3))
    assert np.array_equal(one.p_values, two.p_values, equal_nan=True)


@pytest.mark.long
def test_false_winners_are_rare():
    """Equal metrics are told apart in one of twenty studies; as at WMT, in one of ten."""
    beaten = dict.fromkeys(("holm", "wmt"), 0)
    for seed in range(400):
        rng = np.random.default_rng(seed)
        quality = rng.normal(size=(10, 40))
        x, y = (quality + rng.normal(size=quality.shape) for _ in range(2))
        human = quality + rng.normal(size=quality.shape)
        for correction in beaten:
            result = compare_metrics(
                {"x": x, "y": y}, human, level="pooled", correction=correction, resamples=199
            )
            beaten[correction] += len(result.winners) == 1
    assert stats.binomtest(beaten["holm"], 400, 0.05).pvalue > 1e-3
    assert stats.binomtest(beaten["wmt"], 400, 0.1).pvalue > 1e-3


@pytest.mark.parametrize(
    ("scores", "human", "options", "told"),
    [
        ({}, [[1.0, 2], [2, 3]], {}, "no metrics"),
        ({"a": [[1.0, 2]]}, [[1.0, 2], [2, 3]], {}, "a is .1, 2., but human is .2, 2."),
        ({"a": [1.0, 2]}, [1.0, 2], {}, "human must be systems x items"),
        (
            {"a": [[1.0, np.nan], [2, 3]]},
            [[1.0, 2], [2, 3]],
            {},
            "a has no score for system 0, item 1",
        ),
        ({"a": [[1.0, 2], [2, 3]]}, [[1.0, 2], [np.nan] * 2], {}, "system 1 has no human scores"),
        ({"a": [[1.0, 1], [1, 1]]}, [[1.0, 2], [2, 3]], {}, "a has no pearson agreement"),
        (
            {"a": [[1.0, 2], [2, 3]]},
            [[1.0, 2], [2, 3]],
            {"test": "t"},
            "test must be one of perm-both",
        ),
        (
            {"a": [[1.0, 2], [2, 3]]},
            [[1.0, 2], [2, 3]],
            {"test": "williams", "level": "item"},
            "Williams' test compares",
        ),
        (
            {"a": [[1.0], [2], [4]], "b": [[2.0], [1], [4]]},
            [[1.0], [2], [3]],
            {"test": "williams"},
            "at least 4 points",
        ),
    ],
)
def test_bad_input(scores, human, options, told):
    with pytest.raises(InputError, match=told):
        compare_metrics(scores, human, **options)


@pytest.mark.parametrize(
    ("names", "values", "table", "options", "told"),
    [
        ([], [], np.zeros((0, 0)), {}, "at least one metric"),
        (["a", "a"], [1, 2], np.zeros((2, 2)), {}, "a name of its own"),
        (["a", "b"], [1, 2, 3], np.zeros((2, 2)), {}, "need 2 agreements"),
        (["a", "b"], [1, 2], [[0, 1.5], [0.5, 0]], {}, "p-values must lie"),
        (["a", "b"], [1, 2], [[0, 0.5], [np.nan, 0]], {}, "p-values must lie"),
        (["a", "b"], [1, 2], [[0, 0.2], [0.8, 0]], {}, "the same both ways"),
        (["a", "b"], [1, 2], np.zeros((2, 2)), {"correction": "bonferroni"}, "correction must be"),
        (["a", "b"], [1, 2], np.zeros((2, 2)), {"significance": 5}, "significance must lie"),
    ],
)
def test_bad_tables(names, values, table, options, told):
    with pytest.raises(InputError, match=told):
        rank_metrics(names, values, table, **options)


def test_unknown_metric():
    scores, human = study()
    with pytest.raises(InputError, match="no metric 'best'; there are good, fair, poor"):
        compare_metrics(scores, human, test="williams").p_value("best", "good")
