"""The module for `evaluate`, loaded as its users load it, without a network."""

from __future__ import annotations

import pytest

from deltableu import BLEU, DeltaBLEU
from deltableu.errors import InputError

evaluate = pytest.importorskip("evaluate")

TEXTS = ["yes I do", "no way"]
REFERENCES = [["yes I do", "no"], ["no no way"]]
WEIGHTS = [[1.0, -0.5], [0.5]]


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", str(tmp_path / "modules"))

    from deltableu.integrations import evaluate_script

    def load(name=None):
        return evaluate.load(evaluate_script(), name, cache_dir=str(tmp_path / "cache"))

    return load


def test_it_says_what_the_library_says(load):
    found = load().compute(predictions=TEXTS, references=REFERENCES, weights=WEIGHTS)
    rows = DeltaBLEU().compute(TEXTS, REFERENCES, WEIGHTS)
    assert found["score"] == rows.score().score
    assert found["segment_scores"] == rows.segment_scores().tolist()
    assert found["signature"] == str(rows.score().signature)


def test_settings_names_and_single_references(load):
    module = load("bleu")
    found = module.compute(predictions=TEXTS, references=["yes you do", "no way"], order=2)
    whole = BLEU(order=2).compute(TEXTS, [["yes you do"], ["no way"]])
    assert found["score"] == whole.score().score


def test_batches(load):
    module = load("chrf")
    for text, references in zip(TEXTS, REFERENCES, strict=True):
        module.add(prediction=text, references=references)
    both = load("chrf").compute(predictions=TEXTS, references=REFERENCES)
    assert module.compute()["score"] == both["score"]


def test_what_is_wrong_is_said(load):
    with pytest.raises(InputError, match="delta-bleu needs weights"):
        load().compute(predictions=TEXTS, references=REFERENCES)
    with pytest.raises(InputError, match="unknown metric 'blue'"):
        load("blue")
    with pytest.raises(InputError, match="ordre"):
        load("bleu").compute(predictions=TEXTS, references=REFERENCES, ordre=2)
