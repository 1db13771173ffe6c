"""CIDEr and CIDEr-D: worked by hand, and as the authors' code goes about it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.score.metrics.cider import CIDEr, CIDErD
from deltableu.score.registry import make_metrics
from tests.oracle import ngrams
from tests.score.corpora import corpora, random_corpus

few = settings(max_examples=60, deadline=None)

by_metric = pytest.mark.parametrize("metric", [CIDEr(), CIDErD()], ids=["cider", "cider-d"])

# --- Worked by hand -------------------------------------------------------------------------------

HYPOTHESES = ["a b b", "d"]
REFERENCES = [["a b", "a c"], ["a d"]]

# Two items, so an n-gram of one item has the idf L = log 2, and "a", which both have, log 1 = 0.
# Item 0, unigrams: hypothesis (b 2L), norm 2L; references (b L), norm L, and (c L), norm L.
#   CIDEr: 2L * L / (2L * L) = 1 and 0. CIDEr-D: min(2L, L) * L / (2L * L) = 1/2 and 0.
# Item 0, bigrams: hypothesis (ab L, bb L), norm L sqrt 2; references (ab L) and (ac L).
#   Both: L * L / (L sqrt 2 * L) = 1 / sqrt 2 and 0.
# Item 1, unigrams: hypothesis (d L), reference (a 0, d L): 1. Bigrams: the hypothesis has none: 0.
# Every reference is one token longer or shorter than its hypothesis.
ROOT = 1 / math.sqrt(2)
PENALTY = math.exp(-(1**2) / (2 * 6**2))


def test_cider_by_hand():
    rows = CIDEr(order=2).compute(HYPOTHESES, REFERENCES)
    first = 100 * ((1 + 0) / 2 + (ROOT + 0) / 2) / 2
    second = 100 * (1 + 0) / 2
    assert rows.segment_scores() == pytest.approx([first, second])
    assert rows.score().score == pytest.approx((first + second) / 2)
    assert rows.score().score == pytest.approx(46.3388, abs=5e-5)


def test_cider_d_by_hand():
    rows = CIDErD(order=2).compute(HYPOTHESES, REFERENCES)
    first = 10 * PENALTY * ((1 / 2 + 0) / 2 + (ROOT + 0) / 2) / 2
    second = 10 * PENALTY * (1 + 0) / 2
    assert rows.segment_scores() == pytest.approx([first, second])
    assert rows.score().score == pytest.approx((first + second) / 2)
    assert rows.score().score == pytest.approx(3.9536, abs=5e-5)


# --- Letter by letter -----------------------------------------------------------------------------


def transcribed(
    hypotheses: list[str],
    references: list[list[str]],
    order: int,
    *,
    d: bool,
    sigma: float = 6.0,
) -> list[float]:
    """As cider_scorer.py of the authors has it, with plain loops; its factor 10 for both."""

    def cook(text: str) -> Counter[tuple[str, ...]]:
        tokens = text.split()
        return sum((ngrams(tokens, n) for n in range(1, order + 1)), Counter())

    document_frequency: dict[tuple[str, ...], float] = defaultdict(float)
    for row in references:
        for gram in {gram for text in row for gram in cook(text)}:
            document_frequency[gram] += 1
    log_items = math.log(len(references))

    def counts2vec(text: str) -> tuple[list[dict[tuple[str, ...], float]], list[float], int]:
        vector: list[dict[tuple[str, ...], float]] = [defaultdict(float) for _ in range(order)]
        norm = [0.0] * order
        for gram, frequency in cook(text).items():
            idf = log_items - math.log(max(1.0, document_frequency[gram]))
            vector[len(gram) - 1][gram] = frequency * idf
            norm[len(gram) - 1] += (frequency * idf) ** 2
        # The authors count bigrams for the length: one less than tokens, on both sides alike,
        # except for empty texts, whose cosines are all 0.
        length = max(len(text.split()) - 1, 0)
        return vector, [math.sqrt(square) for square in norm], length

    scores = []
    for hypothesis, row in zip(hypotheses, references, strict=True):
        vector, norm, length = counts2vec(hypothesis)
        total = 0.0
        for reference in row:
            reference_vector, reference_norm, reference_length = counts2vec(reference)
            for n in range(order):
                value = 0.0
                for gram in vector[n]:
                    theirs = reference_vector[n].get(gram, 0.0)
                    value += (min(vector[n][gram], theirs) if d else vector[n][gram]) * theirs
                if norm[n] != 0 and reference_norm[n] != 0:
                    value /= norm[n] * reference_norm[n]
                if d:
                    value *= math.exp(-((length - reference_length) ** 2) / (2 * sigma**2))
                total += value
        scores.append(10 * total / order / len(row))
    return scores


@few
@given(corpora(), st.integers(1, 5))
def test_cider_as_the_authors_code_has_it(corpus, order):
    rows = CIDEr(order=order, tokenize="none").compute(corpus.hypotheses, corpus.references)
    expected = transcribed(corpus.hypotheses, corpus.references, order, d=False)
    assert rows.segment_scores() / 10 == pytest.approx(expected, abs=1e-9)
    assert rows.score().score / 10 == pytest.approx(np.mean(expected), abs=1e-9)


@few
@given(corpora(), st.integers(1, 5), st.sampled_from([1.0, 6.0, 9.5]))
def test_cider_d_as_the_authors_code_has_it(corpus, order, sigma):
    metric = CIDErD(order=order, sigma=sigma, tokenize="none")
    rows = metric.compute(corpus.hypotheses, corpus.references)
    expected = transcribed(corpus.hypotheses, corpus.references, order, d=True, sigma=sigma)
    assert rows.segment_scores() == pytest.approx(expected, abs=1e-9)


# --- Properties and edges -------------------------------------------------------------------------


@by_metric
def test_a_copied_reference_is_perfect(metric):
    texts = ["one two three four five", "six seven eight nine", "ten eleven twelve thirteen"]
    rows = metric.compute(texts, [[text] for text in texts])
    assert rows.segment_scores() == pytest.approx([metric.limits[1]] * 3)


@by_metric
@few
@given(corpora())
def test_scores_keep_to_their_limits(metric, corpus):
    scores = metric.compute(corpus.hypotheses, corpus.references).segment_scores()
    assert (scores >= 0).all()
    assert (scores <= metric.limits[1] + 1e-9).all()


def test_sigma_without_limit_is_no_penalty():
    texts = ["a b c d e", "f g h i j"]
    rows = CIDErD(order=1, sigma=math.inf).compute(["a", "f"], [[text] for text in texts])
    assert rows.segment_scores() == pytest.approx([10 / math.sqrt(5)] * 2)


@by_metric
@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        (["a b c d"], [["a b c d"]]),  # a single item: every idf is 0
        (["a", "a"], [["a"], ["a"]]),  # what all items have never counts
        (["", ""], [["a"], ["b"]]),
        (["a", "b"], [["", ""], [""]]),
        (["", ""], [[""], [""]]),
        (["q", "r"], [["a"], ["b"]]),
    ],
)
def test_nothing_to_compare_scores_0(metric, hypotheses, references):
    rows = metric.compute(hypotheses, references)
    assert rows.segment_scores().tolist() == [0.0] * len(hypotheses)
    assert rows.score().score == 0.0
    assert rows.bootstrap(20, method="bca").interval.high == 0.0


@by_metric
def test_subsets_are_means_and_keep_the_document_frequencies(metric):
    corpus = random_corpus(3, 40)
    rows = metric.compute(corpus.hypotheses, corpus.references)
    segments = rows.segment_scores()
    assert rows[5:20].score().score == pytest.approx(segments[5:20].mean())
    parts = rows.rows[:11].sum(axis=0) + rows.rows[11:].sum(axis=0)
    assert float(metric.aggregate(parts)) == pytest.approx(rows.score().score)
    first, again = (rows.bootstrap(50, method="bca", rng=3) for _ in range(2))
    assert np.array_equal(first.distribution, again.distribution)
    assert first.interval == again.interval


def test_settings():
    made = make_metrics(["cider", "cider-d"], {"order": 3, "sigma": 4})
    assert made == (CIDEr(order=3), CIDErD(order=3, sigma=4))
    signature = str(CIDErD().compute(["a"], [["a"]]).score().signature)
    assert signature.startswith("metric:cider-d|order:4|sigma:6|case:mixed|tok:13a|items:1|refs:1|")
    for sigma in (0, -1.0, math.nan, "6", None):
        with pytest.raises(InputError, match="sigma must be a number above 0"):
            CIDErD(sigma=sigma)
    with pytest.raises(InputError, match="order must be"):
        CIDEr(order=0)
    with pytest.raises(InputError, match=r"hypotheses\[0\] has a lone surrogate"):
        CIDEr().compute(["\udc00"], [["a"]])
