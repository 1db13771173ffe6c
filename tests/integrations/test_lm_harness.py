"""A task's functions: called document by document, then once for all."""

from __future__ import annotations

import pytest

from deltableu import BLEU, ChrF, DeltaBLEU, Length
from deltableu.errors import InputError
from deltableu.integrations import HarnessMetric

DOCS = [
    {"references": ["yes I do", "no"], "weights": [1.0, -0.5]},
    {"references": ["no no way"], "weights": [0.5]},
]
TEXTS = ["yes I do", "no way"]


@pytest.mark.parametrize("metric", [BLEU(), DeltaBLEU(), ChrF()])
def test_the_corpus_score(metric):
    harness = HarnessMetric(metric)
    name = metric.name.replace("-", "_")
    results = [
        harness.process_results(doc, [text])[name] for doc, text in zip(DOCS, TEXTS, strict=True)
    ]
    weights = [doc["weights"] for doc in DOCS] if "weights" in metric.needs else None
    whole = metric.compute(TEXTS, [doc["references"] for doc in DOCS], weights)
    assert harness.aggregate(results) == whole.score().score


def test_other_fields_and_names():
    harness = HarnessMetric(name="delta", references="answers", weights="ratings")
    found = harness.process_results({"answers": ["a b"], "ratings": [1]}, ["a b"])
    assert found == {"delta": ("a b", ["a b"], [1])}
    assert harness.aggregate([found["delta"]]) == 100.0


def test_missing_fields_are_named():
    with pytest.raises(InputError, match="no field 'weights', which delta_bleu_2 needs"):
        HarnessMetric().process_results({"references": ["a"]}, ["a"])
    assert HarnessMetric(BLEU(order=1)).process_results({"references": ["a"]}, ["a"])
    with pytest.raises(InputError, match="length compares with more or less than references"):
        HarnessMetric(Length())


def test_items_of_a_study_are_documents():
    """As the task in examples/lm_eval takes them."""
    doc = {"references": [{"text": "yes I do", "weight": 1.0}, {"text": "no", "weight": -0.5}]}
    harness = HarnessMetric()
    found = harness.process_results(doc, ["yes I do"])
    assert found == {"delta_bleu_2": ("yes I do", ["yes I do", "no"], [1.0, -0.5])}
    found = HarnessMetric(BLEU(order=1)).process_results(doc, ["yes"])
    assert found == {"bleu_1": ("yes", ["yes I do", "no"], None)}
