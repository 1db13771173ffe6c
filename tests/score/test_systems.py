"""Several systems under several metrics: what each alone would score."""

from __future__ import annotations

import pytest

from deltableu import BLEU, DeltaBLEU, ReferenceSet, SentenceBLEU
from deltableu.errors import InputError
from deltableu.score.registry import make_metrics, metric_names
from deltableu.score.systems import IntervalPlan, score_systems

REFERENCES = ReferenceSet(
    (("a b", "a c"), ("d e",), ("f g h", "x")),
    ((1.0, 0.2), (-0.5,), (0.6, -1.0)),
    item_ids=("one", "two", "three"),
)
OUTPUTS = {"good": ["a b", "d e", "f g h"], "bad": ["a c", "d", "x"]}
PLAIN, DELTA, SENTENCE = BLEU(order=2), DeltaBLEU(), SentenceBLEU(order=2)


@pytest.mark.parametrize("outputs", [OUTPUTS, {"bad": OUTPUTS["bad"]}], ids=["two", "one"])
def test_scores_are_those_of_each_alone(outputs):
    """One system is scored directly, several share encoded references."""
    metrics = (PLAIN, SENTENCE)
    scoring = score_systems(REFERENCES, outputs, metrics)
    expected = [
        (system, metric.compute(texts, REFERENCES).score())
        for metric in metrics
        for system, texts in outputs.items()
    ]
    assert [(one.system, one.score) for one in scoring.scores] == expected
    assert scoring.item_ids == ("one", "two", "three")
    assert scoring.dropped == ()


def test_items_without_a_positive_reference_are_left_out_of_all_metrics():
    scoring = score_systems(REFERENCES, OUTPUTS, (PLAIN, DELTA), no_positive="skip")
    assert scoring.dropped == ("two",)
    assert scoring.item_ids == ("one", "three")
    kept = REFERENCES.take([0, 2])
    for one in scoring.scores:
        texts = [OUTPUTS[one.system][0], OUTPUTS[one.system][2]]
        assert one.score == one.rows.metric.compute(texts, kept).score()
        assert len(one.rows) == 2


def test_items_are_left_out_of_metrics_that_could_score_them_too():
    """So that runs with and without delta-BLEU speak of the same items."""
    scoring = score_systems(REFERENCES, OUTPUTS, (PLAIN,), no_positive="skip")
    assert scoring.dropped == ("two",)
    assert [len(one.rows) for one in scoring.scores] == [2, 2]


def test_intervals_are_repeatable_and_in_the_signature():
    plan = IntervalPlan("bca", 80, 0.9, seed=4)
    (one,) = score_systems(REFERENCES, {"bad": OUTPUTS["bad"]}, (PLAIN,), intervals=plan).scores
    assert (
        one.score.interval == one.rows.bootstrap(80, confidence=0.9, method="bca", rng=4).interval
    )
    assert one.score.signature["ci"] == "bca-80-0.9-seed4"


@pytest.mark.parametrize(
    ("references", "outputs", "metrics", "named"),
    [
        (REFERENCES, {}, (PLAIN,), ["no system outputs"]),
        (REFERENCES, OUTPUTS, (DELTA,), ["1 of 3 items", "two"]),
        (REFERENCES, OUTPUTS | {"odd": ["a", None, "b"]}, (PLAIN,), ["'odd'", "hypotheses[1]"]),
        (REFERENCES, {"odd": ["a", None, "b"]}, (PLAIN,), ["'odd'", "hypotheses[1]"]),
    ],
)
def test_errors_name_system_and_item(references, outputs, metrics, named):
    with pytest.raises(InputError) as raised:
        score_systems(references, outputs, metrics)
    for words in named:
        assert words in str(raised.value)


def test_no_item_left():
    with pytest.raises(InputError, match="no item is left"):
        score_systems(REFERENCES.take([1]), {"good": ["d e"]}, (DELTA,), no_positive="skip")


def test_metrics_by_name():
    assert make_metrics(["bleu", "sentence-bleu", "bleu"], {"order": 3, "method": "moses"}) == (
        BLEU(order=3),
        SentenceBLEU(order=3, method="moses"),
    )
    assert {"bleu", "delta-bleu", "sentence-bleu"} <= set(metric_names())


@pytest.mark.parametrize(
    ("names", "settings", "named"),
    [
        ([], {}, "no metric was named"),
        (["blue"], {}, "unknown metric 'blue'"),
        (["bleu"], {"variant": "paper"}, "no setting 'variant'"),
    ],
)
def test_unknown_metrics_and_settings(names, settings, named):
    with pytest.raises(InputError, match=named):
        make_metrics(names, settings)
