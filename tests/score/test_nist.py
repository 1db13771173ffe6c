"""NIST: mteval's numbers, the formula letter by letter, and nltk where the two agree."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from deltableu import bleu
from deltableu.errors import InputError
from deltableu.score.metrics.nist import NIST
from deltableu.score.registry import make_metrics
from tests.golden import dstc7_demo as demo
from tests.oracle import ngrams
from tests.score.corpora import Corpus, corpora, random_corpus, texts

few = settings(max_examples=60, deadline=None)

orders = st.integers(1, 5)


def nist(hypotheses: list[str], references: list[list[str]], order: int) -> float:
    rows = NIST(order=order, tokenize="none").compute(hypotheses, references)
    return rows.score().score


def mteval(
    hypotheses: list[list[str]], items: list[list[list[str]]], order: int, places: list[int]
) -> float:
    """What mteval-v13a.pl does for the chosen segments, in its own steps and order.

    One step is mended: Perl takes the word "0" for false, so there the information of a bigram that
    starts with "0" comes from all words.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    words = 0
    for references in items:
        for reference in references:
            words += len(reference)
            for n in range(1, order + 1):
                counts.update(ngrams(reference, n))
    information = {
        gram: -math.log((count / counts[gram[:-1]]) if gram[:-1] else (count / words)) / math.log(2)
        for gram, count in counts.items()
    }
    matched = [0.0] * (order + 1)
    totals = [0] * (order + 1)
    reference_length = 0.0
    for place in places:
        hypothesis, references = hypotheses[place], items[place]
        reference_length += sum(map(len, references)) / len(references)
        for n in range(1, order + 1):
            most: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                most |= ngrams(reference, n)
            for gram, count in ngrams(hypothesis, n).items():
                if gram in most:
                    matched[n] += information[gram] * min(count, most[gram])
            totals[n] += max(len(hypothesis) - n + 1, 0)
    score = sum(matched[n] / max(totals[n], 1) for n in range(1, order + 1))
    if totals[1] == 0:
        return 0.0
    if totals[1] >= reference_length:
        return score
    beta = -math.log(0.5) / math.log(1.5) / math.log(1.5)
    return score * math.exp(-beta * math.log(totals[1] / reference_length) ** 2)


def split(corpus: Corpus) -> tuple[list[list[str]], list[list[list[str]]]]:
    return (
        [text.split() for text in corpus.hypotheses],
        [[text.split() for text in row] for row in corpus.references],
    )


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_dstc7_demo(order):
    score = nist(demo.HYPOTHESES, demo.REFERENCES, order)
    assert score == pytest.approx(demo.NIST[order - 1], abs=5e-5)
    plain = bleu(demo.HYPOTHESES, demo.REFERENCES, order=order, tokenize="none", smooth="none")
    assert plain.score / 100 == pytest.approx(demo.BLEU[order - 1], abs=5e-5)


@few
@given(corpora(), orders, st.data())
def test_any_segments_score_as_mteval_counts(corpus, order, data):
    rows = NIST(order=order, tokenize="none").compute(corpus.hypotheses, corpus.references)
    hypotheses, items = split(corpus)
    everything = list(range(len(items)))
    expected = mteval(hypotheses, items, order, everything)
    assert rows.score().score == pytest.approx(expected, abs=1e-9)
    # The information stays that of all references, whatever segments are chosen.
    places = data.draw(st.lists(st.sampled_from(everything), min_size=1, max_size=8))
    expected = mteval(hypotheses, items, order, places)
    assert rows[places].score().score == pytest.approx(expected, abs=1e-9)
    assert rows.resample(np.array([places])) == pytest.approx([expected], abs=1e-9)
    for place, score in enumerate(rows.segment_scores().tolist()):
        assert score == pytest.approx(mteval(hypotheses, items, order, [place]), abs=1e-9)


# nltk agrees with mteval for one reference an item (or copies of it). Beyond that it takes, for
# each order, the single reference with the best precision instead of the largest count in any;
# compares with that reference's length, added up over the orders, instead of the mean length; and
# divides by zero where no hypothesis has an n-gram of some order or all references are empty.
@few
@given(st.lists(st.tuples(texts(), texts(), st.integers(1, 3)), min_size=1, max_size=6), orders)
def test_one_reference_scores_as_nltk_has_it(rows, order):
    assume(max(len(hypothesis.split()) for hypothesis, _, _ in rows) >= order)
    assume(any(reference for _, reference, _ in rows))
    expected = corpus_nist(
        [[reference.split()] * copies for _, reference, copies in rows],
        [hypothesis.split() for hypothesis, _, _ in rows],
        order,
    )
    hypotheses = [hypothesis for hypothesis, _, _ in rows]
    references = [[reference] * copies for _, reference, copies in rows]
    assert nist(hypotheses, references, order) == pytest.approx(expected, abs=1e-9)


def test_nltk_differs_with_several_references():
    references = [["a b", "c d"]]
    # mteval: every word of the hypothesis is in some reference, 4 words of 2 bits each.
    assert nist(["a b c d"], references, 1) == pytest.approx(2.0)
    # nltk: the best single reference has half of them.
    split_references = [[text.split() for text in references[0]]]
    assert corpus_nist(split_references, [["a", "b", "c", "d"]], 1) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ([""], [["a b"]]),
        (["a b"], [[""]]),
        ([""], [[""]]),
        (["", ""], [["", ""], [""]]),
        (["q"], [["a b"]]),
        (["a"], [["a"]]),  # a word that is certain carries no information
    ],
)
def test_nothing_matched_scores_0(hypotheses, references):
    rows = NIST().compute(hypotheses, references)
    assert rows.score().score == 0.0
    assert rows.segment_scores().tolist() == [0.0] * len(hypotheses)
    assert rows.bootstrap(20, method="bca").interval.high == 0.0


def test_a_seed_repeats_the_bootstrap():
    corpus = random_corpus(5, 40)
    rows = NIST().compute(corpus.hypotheses, corpus.references)
    first, again = (rows.bootstrap(50, method="bca", rng=3) for _ in range(2))
    assert np.array_equal(first.distribution, again.distribution)
    assert first.interval == again.interval
    assert first.interval.low < rows.score().score < first.interval.high


def test_settings():
    (metric,) = make_metrics(["nist"], {"order": 3, "lowercase": True})
    assert metric == NIST(order=3, lowercase=True)
    score = metric.compute(["a B"], [["A b"]]).score()
    assert str(score.signature).startswith("metric:nist|order:3|case:lower|tok:13a|items:1|refs:1")
    assert score.score == pytest.approx(1.0)
    for order in (0, 65, 2.5, True, "2"):
        with pytest.raises(InputError, match="order must be a whole number"):
            NIST(order=order)
    with pytest.raises(InputError, match="unknown tokenizer"):
        NIST(tokenize="14b")


def test_bad_hypotheses_are_named():
    encoded = NIST().encode([["a"], ["b"]])
    with pytest.raises(InputError, match=r"hypotheses\[1\] has a lone surrogate"):
        NIST().statistics(["a", "\ud800"], encoded)
    with pytest.raises(InputError, match=r"hypotheses\[0\] is None"):
        NIST().statistics([None, "b"], encoded)
    with pytest.raises(InputError, match="encoded with other settings"):
        NIST(order=2).statistics(["a", "b"], encoded)
