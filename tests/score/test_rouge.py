"""ROUGE-1, ROUGE-2 and ROUGE-L: the numbers of the rouge-score package, and of plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.score.engine.overlap import common_subsequences
from deltableu.score.metrics.rouge import Rouge1, Rouge2, RougeL
from deltableu.text import Tokenizer
from tests.score.corpora import random_corpus
from tests.text.unicode import WHITE_SPACE, random_strings

METRICS = {"rouge1": Rouge1(), "rouge2": Rouge2(), "rougeL": RougeL()}

# "K" is the Kelvin sign, whose lower case is an ASCII k; "İ" becomes an i and a dot.
ALPHABET = [*"abcAB01" * 4, *" " * 12, *".,-'_", *"éßKİΣ中\u0301😀²٣", *WHITE_SPACE]
texts = st.text(st.sampled_from(ALPHABET), max_size=24)
items = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=4)), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def scorer():
    peer = pytest.importorskip("rouge_score.rouge_scorer", reason="rouge-score is not installed")
    return peer.RougeScorer(list(METRICS), use_stemmer=False)


def assert_equals_peer(scorer, hypotheses, references):
    expected = [
        scorer.score_multi(row, text) for text, row in zip(hypotheses, references, strict=True)
    ]
    for kind, metric in METRICS.items():
        rows = metric.compute(hypotheses, references)
        wanted = [100 * one[kind].fmeasure for one in expected]
        assert rows.segment_scores() == pytest.approx(wanted, abs=1e-9)
        assert rows.score().score == pytest.approx(np.mean(wanted), abs=1e-9)


@settings(max_examples=120, deadline=None)
@given(items=items)
def test_equals_rouge_score(scorer, items):
    hypotheses, references = map(list, zip(*items, strict=True))
    assert_equals_peer(scorer, hypotheses, references)


@pytest.mark.parametrize("seed", [1, 2])
def test_larger_corpora_equal_rouge_score(scorer, seed):
    corpus = random_corpus(seed, 150, words=5, longest=14)
    assert_equals_peer(scorer, corpus.hypotheses, corpus.references)


def test_odd_strings_equal_rouge_score(scorer):
    strings = random_strings(600, seed=9)
    assert_equals_peer(scorer, strings[::2], [[one, "a b " + one] for one in strings[1::2]])


@pytest.mark.parametrize(
    ("hypothesis", "reference", "scores"),
    [
        # Lin 2004, section 3.1: "police kill the gunman" beats the same words in another order.
        ("police kill the gunman", "police killed the gunman", (75.0, 100 / 3, 75.0)),
        ("the gunman kill police", "police killed the gunman", (75.0, 100 / 3, 50.0)),
        ("a b a", "a a", (80.0, 0.0, 80.0)),
        ("a", "a", (100.0, 0.0, 100.0)),
        ("", "a", (0.0, 0.0, 0.0)),
        ("a", "", (0.0, 0.0, 0.0)),
        ("", "", (0.0, 0.0, 0.0)),
        ("中 文", "中 文", (0.0, 0.0, 0.0)),
    ],
)
def test_scores_by_hand(hypothesis, reference, scores):
    found = [one.compute([hypothesis], [[reference]]).score().score for one in METRICS.values()]
    assert found == pytest.approx(scores)


def test_the_best_reference_counts_for_each_segment():
    references = [["x y", "a b c"], ["q"]]
    assert RougeL().compute(["a b c", "z"], references).segment_scores().tolist() == [100.0, 0.0]
    assert RougeL().compute(["a b c", "z"], references).score().score == 50.0


@pytest.mark.parametrize("metric", [Rouge1, Rouge2, RougeL])
@pytest.mark.parametrize(
    ("tokenize", "hypothesis", "reference", "same"),
    [
        ("none", "中 文 字", "中 文 字", True),
        ("char", "中文字", "中文 字", True),
        ("13a", "Yes, sir.", "Yes , sir .", True),
        ("13a", "Yes, Sir.", "Yes, sir.", False),
        ("rouge", "Yes, Sir.", "yes sir", True),
        ("none", "yes sir", "Yes sir", False),
        (str.upper, "yes sir", "Yes Sir", True),
        (lambda text: list(text), "ab c", "ab c", True),
    ],
)
def test_other_tokenizers(metric, tokenize, hypothesis, reference, same):
    score = metric(tokenize=tokenize).compute([hypothesis], [[reference]]).score().score
    assert (score == 100.0) is same


def test_other_tokenizers_change_the_words_and_nothing_else():
    """With the words of a tokenizer spelt in ASCII, ROUGE's own gives the same scores."""
    corpus = random_corpus(5, 60, words=5)
    spelt = {f"w{number}": word for number, word in enumerate("é中жß😀")}

    def written(text):
        return " ".join(spelt[word] for word in text.split())

    hypotheses = [written(text) for text in corpus.hypotheses]
    references = [[written(text) for text in row] for row in corpus.references]
    for metric in METRICS.values():
        plain = metric.compute(corpus.hypotheses, corpus.references)
        other = type(metric)(tokenize="none").compute(hypotheses, references)
        assert np.array_equal(other.rows, plain.rows)


def test_signature_names_the_tokenizer():
    def parts(**chosen):
        return str(RougeL(**chosen).compute(["a"], [["a"]]).score().signature).split("|")

    assert parts()[:4] == ["metric:rouge-l", "f:1", "multi:best", "tok:rouge"]
    assert set(parts(tokenize="13a")) - set(parts()) == {"tok:13a"}
    assert Rouge2().compute(["a"], [["a"]]).score().signature["metric"] == "rouge-2"


@pytest.mark.parametrize("tokenize", ["words", None, 5])
def test_unknown_tokenizers(tokenize):
    with pytest.raises(InputError, match="tokenize"):
        RougeL(tokenize=tokenize)


# --- The longest common subsequence ---------------------------------------------------------------


def plain_length(one, two):
    """The textbook's table (Lin 2004 takes it from Cormen et al. 1989)."""
    table = [[0] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(two):
            same = table[i][j] + 1
            other = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = same if left == right else other
    return table[-1][-1]


tokens = st.lists(st.integers(0, 3), max_size=12)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(tokens, st.lists(tokens, max_size=4)), max_size=4))
def test_subsequences_are_the_textbooks(items):
    pairs = [(item, row) for item, (_, rows) in enumerate(items) for row in rows]

    def arrays(rows):
        return Tokenizer("none").hash([" ".join(map(str, row)) for row in rows])

    found = common_subsequences(
        arrays([own for own, _ in items]),
        arrays([row for _, row in pairs]),
        np.array([item for item, _ in pairs], dtype=np.int64),
    )
    assert found.tolist() == [plain_length(items[item][0], row) for item, row in pairs]


def test_long_texts():
    rng = np.random.default_rng(3)
    one, two = (" ".join(rng.choice(list("abcdefgh"), 400)) for _ in range(2))
    arrays = [Tokenizer("none").hash([text]) for text in (one, two)]
    (found,) = common_subsequences(*arrays, np.zeros(1, dtype=np.int64))
    assert found == plain_length(one.split(), two.split())
