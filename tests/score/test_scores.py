"""From rows to scores: scalar transcriptions, sacreBLEU, and properties of the formula."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
import pytest
import sacrebleu
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU, SentenceBLEU, delta_bleu
from deltableu.score.engine import formula
from tests import oracle
from tests.score.corpora import VARIANTS, Corpus, corpora, random_corpus

SMOOTHING = ("none", "floor", "add-k", "exp")
METHODS = ("bleu+1", "moses", "nakov", "nakov-cdec")

# A random corpus may be a square that would match better transposed.
pytestmark = pytest.mark.filterwarnings("ignore:references are a square")

variants = st.sampled_from(VARIANTS)
orders = st.integers(1, 6)
smoothing = st.sampled_from(SMOOTHING)


def oracle_rows(rows: np.ndarray, order: int) -> list[oracle.Row]:
    return [
        oracle.Row(
            row[:order].tolist(),
            row[order : 2 * order].tolist(),
            int(row[2 * order]),
            int(row[2 * order + 1]),
        )
        for row in rows
    ]


def peer(order: int, smooth: str, **keywords: object) -> sacrebleu.BLEU:
    return sacrebleu.BLEU(max_ngram_order=order, smooth_method=smooth, force=True, **keywords)


def streams(references: list[list[str]]) -> list[list[str | None]]:
    """sacreBLEU's layout: stream k holds every item's k-th reference, None where there is none."""
    return [list(stream) for stream in zip_longest(*references)]


# --- Scalar transcriptions ------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(
    corpora(),
    variants,
    orders,
    smoothing,
    st.booleans(),
    st.sampled_from([None, 0.0, 0.3, 2.0]),
)
def test_geometric_scores(corpus, variant, order, smooth, effective, value):
    metric = DeltaBLEU(
        order=order,
        variant=variant,
        smooth=smooth,
        smooth_value=value,
        effective_order=effective,
        tokenize="none",
    )
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    expected = oracle_rows(rows.rows, order)
    rules = {"zero_without_match": variant != "galley2019"}
    score = oracle.geometric(
        oracle.add(expected), smooth, value, effective_order=effective, **rules
    )
    assert rows.score().score == pytest.approx(score, rel=1e-9, abs=1e-9)
    alone = [
        oracle.geometric(one, smooth, value, effective_order=True, **rules) for one in expected
    ]
    assert rows.segment_scores() == pytest.approx(alone, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(corpora(), variants, orders)
def test_arithmetic_scores(corpus, variant, order):
    metric = DeltaBLEU(order=order, variant=variant, combine="arithmetic", tokenize="none")
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    expected = oracle_rows(rows.rows, order)
    score = rows.score().score
    assert score == pytest.approx(oracle.arithmetic(oracle.add(expected)), abs=1e-9)
    segments = rows.segment_scores()
    assert segments == pytest.approx([oracle.arithmetic(one) for one in expected], abs=1e-9)
    assert np.all(np.abs([score, *segments]) <= 100 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(corpora(), orders)
def test_arithmetic_bleu(corpus, order):
    rows = BLEU(order=order, combine="arithmetic", tokenize="none").compute(
        corpus.hypotheses, corpus.references
    )
    sums = oracle.add(oracle_rows(rows.rows, order))
    assert rows.score().score == pytest.approx(oracle.arithmetic(sums), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(corpora(), orders, st.sampled_from(METHODS))
def test_sentence_scores(corpus, order, method):
    metric = SentenceBLEU(order=order, method=method, tokenize="none")
    rows = metric.compute(corpus.hypotheses, corpus.references)
    counts = [
        oracle.row(h.split(), [text.split() for text in row], [1.0] * len(row), order)
        for h, row in zip(corpus.hypotheses, corpus.references, strict=True)
    ]
    expected = [oracle.sentence(one, method) for one in counts]
    assert rows.segment_scores() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert rows.score().score == pytest.approx(sum(expected) / len(expected), rel=1e-9, abs=1e-9)


def test_scores_of_many_sums_are_the_scores_of_each():
    """Bootstrap samples are scored in one call."""
    corpus = random_corpus(11, 40)
    metrics = [
        *(BLEU(order=3, smooth=smooth, tokenize="none") for smooth in SMOOTHING),
        *(DeltaBLEU(variant=variant, tokenize="none") for variant in VARIANTS),
        DeltaBLEU(combine="arithmetic", tokenize="none"),
        SentenceBLEU(tokenize="none"),
    ]
    for metric in metrics:
        rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights).rows
        together = metric.aggregate(rows)
        assert together.tolist() == [float(metric.aggregate(row)) for row in rows], metric
        assert np.isfinite(together).all(), metric


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [(5, 5, 1.0), (6, 5, 1.0), (4, 5, np.exp(-0.25)), (0, 5, 0.0), (0, 0, 1.0), (3, 0, 1.0)],
)
def test_brevity_penalty(hypothesis, reference, expected):
    penalty = formula.brevity_penalty(np.float64(hypothesis), np.float64(reference))
    assert penalty == pytest.approx(expected)


@pytest.mark.parametrize("effective", [True, False])
@pytest.mark.parametrize("smooth", SMOOTHING)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_empty_hypothesis_scores_0_even_against_an_empty_reference(variant, smooth, effective):
    metric = DeltaBLEU(variant=variant, smooth=smooth, effective_order=effective)
    rows = metric.compute([""], [["", "a"]], [[1.0, 0.5]])
    assert rows.score().score == 0.0
    assert rows.segment_scores().tolist() == [0.0]


def test_cancelled_weights_are_no_match():
    """.1 + .2 - .3 leaves 5e-17: smoothing must treat it as nothing, however rows are summed."""
    hypotheses = ["a", "b", "c"]
    references = [["a x", "z"], ["b x", "z"], ["c x", "z"]]
    weights = [[0.1, 1.0], [0.2, 1.0], [-0.3, 1.0]]
    metric = DeltaBLEU(order=1, tokenize="none", smooth="exp", variant="galley2019")
    rows = metric.compute(hypotheses, references, weights)
    expected = rows.score()
    assert expected.precisions == pytest.approx([100 / (2 * 3)])
    for places in ([0, 2, 1], [2, 1, 0], [1, 2, 0]):
        assert rows[places].score().score == pytest.approx(expected.score, abs=1e-9)


# --- sacreBLEU ------------------------------------------------------------------------------------

PUNCTUATED = st.text(alphabet="ab ,.1-&", max_size=14)


@st.composite
def raw_corpora(draw: st.DrawFn) -> Corpus:
    """Untokenised texts, for tokenizers that have something to do."""
    items = draw(st.integers(1, 4))
    hypotheses = [draw(PUNCTUATED) for _ in range(items)]
    references = [draw(st.lists(PUNCTUATED, min_size=1, max_size=3)) for _ in range(items)]
    return Corpus(hypotheses, references, [])


def assert_equals_sacrebleu(corpus: Corpus, order: int, smooth: str, tokenize: str) -> None:
    texts = (corpus.hypotheses, streams(corpus.references))
    # With add-k its counts come back with k added.
    expected = peer(order, "none", tokenize=tokenize).corpus_score(*texts)
    expected_score = peer(order, smooth, tokenize=tokenize).corpus_score(*texts).score
    metrics = [BLEU(order=order, smooth=smooth, tokenize=tokenize)]
    for variant in VARIANTS:
        if variant != "galley2019" or any(expected.counts):
            metrics.append(
                DeltaBLEU(order=order, smooth=smooth, tokenize=tokenize, variant=variant)
            )
    for metric in metrics:
        rows = metric.compute(corpus.hypotheses, corpus.references, corpus.ones)
        score = rows.score()
        assert list(score.numerators) == expected.counts
        assert list(score.denominators) == expected.totals
        assert (score.hypothesis_length, score.reference_length) == (
            expected.sys_len,
            expected.ref_len,
        )
        assert score.score == pytest.approx(expected_score, rel=0, abs=1e-9)
        assert score.brevity_penalty == pytest.approx(expected.bp, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.one_of(corpora(), raw_corpora()), orders, smoothing, st.sampled_from(["none", "13a"]))
def test_with_all_weights_1_the_score_is_sacrebleus(corpus, order, smooth, tokenize):
    assert_equals_sacrebleu(corpus, order, smooth, tokenize)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(corpora(items=2), raw_corpora()), orders, smoothing, st.sampled_from(["none", "13a"])
)
def test_segment_scores_are_sacrebleus_sentence_scores(corpus, order, smooth, tokenize):
    expected = peer(order, smooth, tokenize=tokenize, effective_order=True)
    rows = BLEU(order=order, smooth=smooth, tokenize=tokenize).compute(
        corpus.hypotheses, corpus.references
    )
    scores = [
        expected.sentence_score(hypothesis, row).score
        for hypothesis, row in zip(corpus.hypotheses, corpus.references, strict=True)
    ]
    assert rows.segment_scores() == pytest.approx(scores, rel=0, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(raw_corpora(), st.sampled_from(["floor", "add-k"]), st.sampled_from([0.0, 0.25, 3.0]))
def test_smoothing_values_are_sacrebleus(corpus, smooth, value):
    expected = peer(4, smooth, smooth_value=value, effective_order=True).corpus_score(
        corpus.hypotheses, streams(corpus.references)
    )
    metric = BLEU(smooth=smooth, smooth_value=value, effective_order=True)
    score = metric.compute(corpus.hypotheses, corpus.references).score()
    assert score.score == pytest.approx(expected.score, rel=0, abs=1e-9)


@pytest.mark.parametrize("tokenize", ["none", "13a"])
@pytest.mark.parametrize("smooth", SMOOTHING)
def test_a_larger_corpus_scores_as_sacrebleu_does(smooth, tokenize):
    corpus = random_corpus(5, 1500, words=12)
    assert_equals_sacrebleu(corpus, 4, smooth, tokenize)


# --- Properties of the formula --------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.data(), variants, st.integers(1, 4), st.sampled_from(["all", "positive"]))
def test_the_best_references_score_100(data, variant, order, brevity):
    corpus = data.draw(corpora(shortest=order))
    best = [
        row[max(range(len(row)), key=ratings.__getitem__)]
        for row, ratings in zip(corpus.references, corpus.weights, strict=True)
    ]
    score = delta_bleu(
        best,
        corpus.references,
        corpus.weights,
        order=order,
        variant=variant,
        brevity=brevity,
        tokenize="none",
    )
    assert score.score == pytest.approx(100, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(corpora(), variants, orders)
def test_no_hypothesis_scores_above_100_or_below_0(corpus, variant, order):
    metric = DeltaBLEU(order=order, variant=variant, smooth="none", tokenize="none")
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    assert 0 <= rows.score().score <= 100 + 1e-9
    assert all(0 <= score <= 100 + 1e-9 for score in rows.segment_scores())


@settings(max_examples=50, deadline=None)
@given(corpora(items=8), variants, st.sampled_from(["geometric", "arithmetic"]), st.data())
def test_any_partition_adds_up_to_the_corpus(corpus, variant, combine, data):
    metric = DeltaBLEU(variant=variant, combine=combine, tokenize="none")
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    labels = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    )
    parts = [rows[labels == label].rows.sum(axis=0) for label in range(3)]
    np.testing.assert_allclose(sum(parts), rows.rows.sum(axis=0), rtol=0, atol=1e-9)
    assert metric.aggregate(sum(parts)) == pytest.approx(rows.score().score, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(corpora(), orders, st.sampled_from([0.5, 0.25]))
def test_scaling_all_weights_scales_nothing_but_the_sums(corpus, order, factor):
    """Powers of two are exact, so precisions and scores are equal to the last bit."""
    assume(all(abs(w) > 1e-3 for row in corpus.weights for w in row if w))
    metric = DeltaBLEU(order=order, tokenize="none")
    scaled = [[factor * weight for weight in row] for row in corpus.weights]
    full = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    less = metric.compute(corpus.hypotheses, corpus.references, scaled)
    assert np.array_equal(less.rows[:, : 2 * order], factor * full.rows[:, : 2 * order])
    assert less.score().score == full.score().score


@pytest.mark.parametrize("selection", ["single", "w>=0.6", "w>=-1", "all"])
def test_selection_is_scoring_what_is_left(selection):
    hypotheses = ["a b c", "b c d"]
    references = [["a b x", "a b c", "b c a"], ["d c", "b c", "b b"]]
    weights = [[0.4, 0.9, -0.5], [1.0, 0.6, 0.5]]
    kept = {
        "single": [[0], [0]],
        "w>=0.6": [[0, 1], [0, 1]],
        "w>=-1": [[0, 1, 2]] * 2,
        "all": [[0, 1, 2]] * 2,
    }[selection]
    chosen = delta_bleu(hypotheses, references, weights, select=selection)
    expected = delta_bleu(
        hypotheses,
        [[row[j] for j in places] for row, places in zip(references, kept, strict=True)],
        [[row[j] for j in places] for row, places in zip(weights, kept, strict=True)],
    )
    assert chosen.numerators == expected.numerators
    assert chosen.denominators == expected.denominators
    assert chosen.score == expected.score
