"""TER: sacreBLEU's numbers, over any segments and with any number of references."""

from __future__ import annotations

import gzip
from itertools import zip_longest

import numpy as np
import pytest
from sacrebleu.metrics import ter

from deltableu.score.metrics.ter import TER, TERSimilarity
from tests.score.corpora import random_corpus


def assert_equals_sacrebleu(hypotheses, references, *, lowercase=True):
    rows = TER(lowercase=lowercase).compute(hypotheses, references)
    peer = ter.TER(case_sensitive=not lowercase)
    streams = list(zip_longest(*references))
    assert rows.score().score == peer.corpus_score(hypotheses, streams).score
    expected = [
        peer.sentence_score(text, row).score
        for text, row in zip(hypotheses, references, strict=True)
    ]
    assert rows.segment_scores().tolist() == expected


@pytest.mark.parametrize("lowercase", [True, False])
def test_small_cases_equal_sacrebleu(lowercase):
    hypotheses = ["the cat sat", "d e a b c f", "Yes , of Course", "", "a b", "", " \u3000 "]
    references = [
        ["the cat sat down", "a cat", "the dog sat"],
        ["a b c d e f"],
        ["yes , of course", "sure"],
        ["not empty"],
        [""],
        [""],
        ["", "x"],
    ]
    assert_equals_sacrebleu(hypotheses, references, lowercase=lowercase)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_corpora_equal_sacrebleu(seed):
    corpus = random_corpus(seed, 40, words=5)
    assert_equals_sacrebleu(corpus.hypotheses, corpus.references)


@pytest.mark.parametrize("system", ["FBK.4870", "online-F.0"])
def test_real_systems_equal_sacrebleu(system, data):
    folder = data / "wmt17" / "en-de-cased"
    if not folder.is_dir():
        pytest.skip(f"the cased WMT'17 outputs are not at {folder}")

    def lines(name):
        return gzip.decompress((folder / name).read_bytes()).decode().split("\n")[:200]

    hypotheses, reference = (
        lines(name) for name in (f"newstest2017.{system}.en-de.gz", "newstest2017-ende-ref.de.gz")
    )
    rows = TER().compute(hypotheses, [[text] for text in reference])
    assert rows.score().score == ter.TER().corpus_score(hypotheses, [reference]).score


@pytest.mark.parametrize(
    ("hypothesis", "references", "score"),
    [
        ("the cat sat", ["the cat sat down"], 25.0),
        ("d e a b c f", ["a b c d e f"], 100 / 6),  # one shift
        ("a b", ["a b"], 0.0),
        ("a b c d", ["x"], 400.0),
        ("a", [""], 100.0),
        ("", [""], 0.0),
        ("a b", ["a b", "a b c d e f"], 0.0),
        ("a c", ["a b", "x y z u"], 100 / 3),  # one edit to the closest, over the mean length
    ],
)
def test_scores_by_hand(hypothesis, references, score):
    assert TER().compute([hypothesis], [references]).score().score == pytest.approx(score)


def test_a_corpus_is_edits_over_words():
    rows = TER().compute(["a b", "x"], [["a c"], ["x y z u"]])
    assert rows.rows.tolist() == [[1, 2], [3, 4]]
    assert rows.score().score == pytest.approx(400 / 6)
    assert rows[[1]].score().score == 75.0


def test_lower_is_better_and_there_is_no_upper_limit():
    assert TER.higher_is_better is False
    assert TER.limits == (0.0, float("inf"))


def test_signature():
    mixed = TER(lowercase=False).compute(["a"], [["a"]]).score().signature
    lower = TER().compute(["a"], [["a"]]).score().signature
    assert str(lower).startswith("metric:ter|case:lower|tok:tercom|")
    assert mixed["case"] == "mixed"


def test_as_a_similarity_it_is_one_minus_ter_and_never_below_0():
    hypotheses = ["the cat sat", "a b c d", ""]
    references = ["the cat sat down", "the cat sat", "x", "", "a"]
    owners = np.array([0, 0, 1, 2, 2])
    found = TERSimilarity().pairs(hypotheses, references, owners)
    assert found.tolist() == [0.75, 1.0, 0.0, 1.0, 0.0]
