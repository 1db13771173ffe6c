"""Traps that a reader of results would not notice."""

from __future__ import annotations

import pytest

from deltableu import BLEU, Discriminative, ReferenceSet
from deltableu.errors import InputError
from deltableu.score import FunctionSimilarity
from deltableu.score.registry import make_metrics
from deltableu.score.systems import IntervalPlan, score_systems

TWO = ReferenceSet([["a b", "c"], ["d e", "f"]], [[1.0, -1.0], [1.0, 0.5]])
OUTPUTS = {"one": ["a b", "d f"], "two": ["c", "d e"]}


def test_a_cache_without_a_label_would_mix_functions_up(tmp_path):
    with pytest.raises(InputError, match="label"):
        FunctionSimilarity(lambda *_: 1.0, cache=tmp_path / "cache")


def test_the_signature_of_delta_ter_says_how_it_reads_text():
    signatures = [
        str(metric.compute(["A"], [["a"]], [[1.0]]).score().signature)
        for metric in (*make_metrics(["delta-ter"], {}), *make_metrics(["ter"], {}))
    ]
    assert all("|case:lower|tok:tercom|" in signature for signature in signatures)


def test_one_segment_has_no_interval():
    for size, expected in ((1, None), (2, "jackknife")):
        outputs = {name: texts[:size] for name, texts in OUTPUTS.items()}
        scoring = score_systems(
            TWO.take(range(size)), outputs, [BLEU(order=1)], intervals=IntervalPlan()
        )
        intervals = [scored.score.interval for scored in scoring.scores]
        methods = [interval and interval.method.split()[0] for interval in intervals]
        assert methods == [expected, expected]


def test_metrics_without_segment_scores_print_none():
    metrics = make_metrics(["distinct-1", "bleu"], {"order": 1})
    scoring = score_systems(TWO, OUTPUTS, metrics)
    assert {row[1].value for row in scoring.segment_table().rows} == {"bleu-1"}
    records = scoring.record(segments=True)
    assert [("segment_scores" in record) for record in records] == [False, False, True, True]
    with pytest.raises(InputError, match="single segments"):
        score_systems(TWO, OUTPUTS, metrics[:1]).segment_table()


def test_text_settings_reach_the_similarity():
    metrics = make_metrics(["delta-rouge-l", "delta-ter"], {"tokenize": "char", "lowercase": False})
    signatures = [
        str(metric.compute(["A"], [["a"]], [[1.0]]).score().signature) for metric in metrics
    ]
    assert "|tok:char|" in signatures[0]
    assert "|case:mixed|" in signatures[1]


@pytest.mark.parametrize("wrong", [{"rng": "x"}, {"rng": -1}, {"resamples": 1.5}])
def test_a_bootstrap_that_cannot_be(wrong):
    rows = Discriminative("chrf").compute(OUTPUTS["one"], TWO)
    with pytest.raises(InputError):
        rows.bootstrap(**wrong)
