"""Rows of statistics: the kernel against a literal transcription, and what must not change them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU, SentenceBLEU
from deltableu.score.engine import chunks, encoding
from tests import oracle
from tests.score.corpora import VARIANTS, Corpus, corpora, random_corpus, weights

# A random corpus may be a square that would match better transposed.
pytestmark = pytest.mark.filterwarnings("ignore:references are a square")

variants = st.sampled_from(VARIANTS)
orders = st.integers(1, 6)
brevities = st.sampled_from(["all", "positive"])
combinations = st.sampled_from(["geometric", "arithmetic"])


def expected_rows(corpus: Corpus, metric: DeltaBLEU) -> list[oracle.Row]:
    return [
        oracle.row(
            hypothesis.split(),
            [text.split() for text in references],
            numbers,
            metric.order,
            metric.variant,
            signed=metric.combine == "arithmetic",
            brevity=metric.brevity,
        )
        for hypothesis, references, numbers in zip(
            corpus.hypotheses, corpus.references, corpus.weights, strict=True
        )
    ]


def encoded_rows(metric: BLEU, corpus: Corpus) -> np.ndarray:
    encoded = metric.encode(corpus.references, corpus.weights)
    return metric.statistics(corpus.hypotheses, encoded).rows


def computed_rows(metric: BLEU, corpus: Corpus, **keywords: int) -> np.ndarray:
    return metric.compute(corpus.hypotheses, corpus.references, corpus.weights, **keywords).rows


def assert_equals_oracle(corpus: Corpus, metric: DeltaBLEU) -> None:
    rows = encoded_rows(metric, corpus)
    # The tables of `compute` hold only what the hypotheses can ask for.
    assert np.array_equal(rows, computed_rows(metric, corpus))
    expected = np.array([one.values() for one in expected_rows(corpus, metric)])
    n = metric.order
    np.testing.assert_allclose(rows[:, :n], expected[:, :n], rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows[:, n : 2 * n], expected[:, n : 2 * n], rtol=1e-13, atol=0)
    assert np.array_equal(rows[:, 2 * n :], expected[:, 2 * n :])


# --- Against the oracle ---------------------------------------------------------------------------


@settings(max_examples=250, deadline=None)
@given(corpora(), variants, orders, brevities, combinations)
def test_kernel_equals_the_formula(corpus, variant, order, brevity, combine):
    metric = DeltaBLEU(
        order=order, variant=variant, brevity=brevity, combine=combine, tokenize="none"
    )
    assert_equals_oracle(corpus, metric)


@pytest.mark.long
@settings(max_examples=8_000, deadline=None)
@given(corpora(items=8), variants, orders, brevities, combinations)
def test_kernel_equals_the_formula_long(corpus, variant, order, brevity, combine):
    metric = DeltaBLEU(
        order=order, variant=variant, brevity=brevity, combine=combine, tokenize="none"
    )
    assert_equals_oracle(corpus, metric)


@settings(max_examples=70, deadline=None)
@given(corpora(), st.lists(weights, min_size=25, max_size=25), orders)
def test_signed_rows_need_no_positive_weight(corpus, numbers, order):
    """With all weights below 0 the largest absolute weight is still a denominator."""
    negative = iter([-abs(weight) - 1e-3 if abs(weight) < 0.9 else -1.0 for weight in numbers])
    turned = [[next(negative) for _ in row] for row in corpus.references]
    metric = DeltaBLEU(order=order, combine="arithmetic", tokenize="none", brevity="positive")
    assert_equals_oracle(Corpus(corpus.hypotheses, corpus.references, turned), metric)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(3))
def test_kernel_equals_the_formula_on_longer_texts(variant, seed):
    """Tables of many sizes: hundreds of n-grams per item, some many times."""
    corpus = random_corpus(seed, 12, words=5 + 30 * seed, references=12, longest=120)
    assert_equals_oracle(corpus, DeltaBLEU(order=4, variant=variant, tokenize="none"))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("hypothesis", "references", "numbers"),
    [
        ("a " * 3000, ["a " * 3000, "a b " * 500], [0.3, 0.9]),
        ("a " * 500, ["a " * 3000], [1.0]),
        ("a " * 3000, ["a " * 2999 + "b", "b"], [0.5, 1.0]),
        ("a b " * 1500, ["b a " * 1500, "a " * 3000, "b " * 10], [-0.4, -0.1, 1.0]),
        ("a b c " * 700, ["a b c " * 699, "c b a " * 800, "a a"], [0.2, 0.7, -1.0]),
    ],
    ids=["same", "fewer", "one-off", "only-bad", "cycles"],
)
def test_one_word_thousands_of_times(hypothesis, references, numbers, variant):
    corpus = Corpus([hypothesis], [references], [numbers])
    assert_equals_oracle(corpus, DeltaBLEU(order=4, variant=variant, tokenize="none"))


def test_order_of_64_is_right():
    corpus = Corpus(["a " * 70], [["a " * 66, "a b"]], [[0.5, 1.0]])
    assert_equals_oracle(corpus, DeltaBLEU(order=64, tokenize="none"))


# --- What changes nothing -------------------------------------------------------------------------


@settings(max_examples=70, deadline=None)
@given(corpora(), variants, orders, brevities, st.randoms(use_true_random=False), st.data())
def test_a_duplicate_of_equal_or_lower_weight_changes_nothing(
    corpus, variant, order, brevity, shuffle, data
):
    metric = DeltaBLEU(order=order, variant=variant, brevity=brevity, tokenize="none")
    references = [list(row) for row in corpus.references]
    numbers = [list(row) for row in corpus.weights]
    for row, ratings in zip(references, numbers, strict=True):
        copied = shuffle.randrange(len(row))
        lower = data.draw(st.sampled_from([ratings[copied], -1.0, (ratings[copied] - 1) / 2]))
        at = shuffle.randrange(len(row) + 1)
        text = row[copied]
        row.insert(at, text)
        ratings.insert(at, lower)
    doubled = Corpus(corpus.hypotheses, references, numbers)
    assert np.array_equal(computed_rows(metric, corpus), computed_rows(metric, doubled))
    assert np.array_equal(encoded_rows(metric, corpus), encoded_rows(metric, doubled))


@settings(max_examples=70, deadline=None)
@given(corpora(), variants, orders, brevities, combinations, st.integers(0, 2**32))
def test_the_order_of_references_changes_nothing(corpus, variant, order, brevity, combine, seed):
    metric = DeltaBLEU(
        order=order, variant=variant, brevity=brevity, combine=combine, tokenize="none"
    )
    shuffle = random.Random(seed)
    references, numbers = [], []
    for row, ratings in zip(corpus.references, corpus.weights, strict=True):
        places = shuffle.sample(range(len(row)), len(row))
        references.append([row[place] for place in places])
        numbers.append([ratings[place] for place in places])
    permuted = Corpus(corpus.hypotheses, references, numbers)
    assert np.array_equal(computed_rows(metric, corpus), computed_rows(metric, permuted))
    assert np.array_equal(encoded_rows(metric, corpus), encoded_rows(metric, permuted))


@pytest.fixture(scope="module")
def several_chunks() -> Corpus:
    corpus = random_corpus(7, 2 * chunks.CHUNK + 300)
    assert len(corpus.hypotheses) > 2048
    return corpus


@pytest.mark.parametrize(
    "metric",
    [
        BLEU(),
        DeltaBLEU(tokenize="none"),
        DeltaBLEU(combine="arithmetic", variant="galley2019", brevity="positive"),
        SentenceBLEU(lowercase=True),
        BLEU(tokenize=str.split),
    ],
    ids=lambda metric: repr(metric)[:40],
)
def test_threads_change_nothing(several_chunks, metric):
    one = computed_rows(metric, several_chunks, threads=1)
    assert one.shape[0] == len(several_chunks.hypotheses)
    for threads in (2, 3, 16, None):
        assert np.array_equal(one, computed_rows(metric, several_chunks, threads=threads))
    references = (several_chunks.references, several_chunks.weights)
    for threads in (1, 4):
        encoded = metric.encode(*references, threads=threads)
        assert len(encoded) == len(several_chunks.hypotheses)
        rows = metric.statistics(several_chunks.hypotheses, encoded, threads=5 - threads).rows
        assert np.array_equal(one, rows)


def test_chunks_change_nothing(several_chunks):
    """An item's row does not depend on what stands before it."""
    metric = DeltaBLEU(tokenize="none")
    rows = computed_rows(metric, several_chunks)
    for start in (1, 1023, 1024, 1500):
        part = Corpus(
            several_chunks.hypotheses[start : start + 30],
            several_chunks.references[start : start + 30],
            several_chunks.weights[start : start + 30],
        )
        assert np.array_equal(rows[start : start + 30], computed_rows(metric, part))


@pytest.mark.parametrize("size", [1, 40, 200, 1500])
def test_portions_change_nothing(monkeypatch, size):
    """A chunk of very long texts is worked on in portions."""
    corpus = random_corpus(3, 60)
    metric = DeltaBLEU(order=3, tokenize="none")
    whole, encoded = computed_rows(metric, corpus), encoded_rows(metric, corpus)
    monkeypatch.setattr(encoding, "_PORTION", size)
    tables = metric.encode(corpus.references, corpus.weights).chunks[0]
    assert len(tables) > 1
    assert np.array_equal(whole, computed_rows(metric, corpus))
    assert np.array_equal(encoded, encoded_rows(metric, corpus))


def test_progress_tells_every_chunk(several_chunks):
    told: list[tuple[int, int]] = []
    metric = BLEU(tokenize="none")
    metric.compute(
        several_chunks.hypotheses,
        several_chunks.references,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1024, 2348), (2048, 2348), (2348, 2348)]


@settings(max_examples=60, deadline=None)
@given(corpora(), variants, orders)
def test_a_positive_reference_decides_the_length_only_if_asked(corpus, variant, order):
    """`brevity` touches the last column alone."""
    every = computed_rows(DeltaBLEU(order=order, variant=variant, tokenize="none"), corpus)
    good = computed_rows(
        DeltaBLEU(order=order, variant=variant, tokenize="none", brevity="positive"), corpus
    )
    assert np.array_equal(every[:, :-1], good[:, :-1])
    for length, row, ratings in zip(good[:, -1], corpus.references, corpus.weights, strict=True):
        assert length in {len(t.split()) for t, w in zip(row, ratings, strict=True) if w > 0}
