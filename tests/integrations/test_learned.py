"""BERTScore and COMET with models that stand in for theirs, and without any."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from deltableu import ReferenceSet
from deltableu.errors import InputError
from deltableu.integrations import COMET, BERTScore, learned

REFERENCES = ReferenceSet([["a b c", "a x"], ["b"]], messages=["m", "n"])
TEXTS = ["a b", "c"]


def shared_words(text: str, reference: str) -> float:
    return len({*text.split()} & {*reference.split()}) / len({*text.split(), *reference.split()})


@pytest.fixture
def package(monkeypatch):
    """Something that is imported by this name."""

    def put(name, **contents):
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)

    learned._bert_scorer.cache_clear()
    learned._comet_scorer.cache_clear()
    yield put
    learned._bert_scorer.cache_clear()
    learned._comet_scorer.cache_clear()


def test_bertscore_takes_the_best_reference(package):
    class Scorer:
        def __init__(self, model_type):
            assert model_type == "some-encoder"

        def score(self, texts, references):
            found = np.array(list(map(shared_words, texts, references)))
            return found * 0, found * 0, found

    package("bert_score", BERTScorer=Scorer)
    rows = BERTScore(model="some-encoder").compute(TEXTS, REFERENCES)
    assert rows.segment_scores().tolist() == pytest.approx([100 * 2 / 3, 0.0])
    assert "model:some-encoder" in str(rows.score().signature)


@pytest.mark.parametrize(
    ("pool", "expected"), [("mean", 100 * (2 / 3 + 1 / 3) / 2), ("best", 200 / 3)]
)
def test_comet_is_given_triples(package, pool, expected):
    class Model:
        def predict(self, triples, batch_size, gpus, progress_bar):
            assert [one["src"] for one in triples] == ["m", "m", "n"]
            return SimpleNamespace(scores=[shared_words(one["mt"], one["ref"]) for one in triples])

    package(
        "comet", download_model=lambda name: f"{name}.ckpt", load_from_checkpoint=lambda _: Model()
    )
    rows = COMET(pool=pool).compute(TEXTS, REFERENCES)
    assert rows.segment_scores()[0] == pytest.approx(expected)
    assert f"pool:{pool}" in str(rows.score().signature)


@pytest.mark.parametrize(
    ("metric", "module", "need"),
    [
        (BERTScore(), "bert_score", "pip install bert-score"),
        (COMET(), "comet", "pip install unbabel-comet"),
    ],
)
def test_a_missing_package_is_named(metric, module, need, monkeypatch, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=need):
        metric.compute(TEXTS, REFERENCES)


def test_a_model_that_is_not_there_is_named(package):
    def fail(name):
        raise OSError(f"no such model\nand {'much ' * 99}more")

    package("comet", download_model=fail)
    with pytest.raises(InputError, match=r"the model 'x' cannot be loaded: no such model$"):
        COMET(model="x").compute(TEXTS, REFERENCES)


@pytest.mark.parametrize("found", [[0.5], [0.5, 0.5, float("nan")], [[1.0]] * 3])
def test_a_scorer_that_gives_something_else_is_refused(found):
    with pytest.raises(InputError, match="the scorer of bertscore gave"):
        BERTScore(scorer=lambda texts, references: found).compute(TEXTS, REFERENCES)


def test_comet_needs_messages():
    with pytest.raises(InputError, match="needs the message"):
        COMET(scorer=lambda *_: []).compute(["a"], [["b"]])
