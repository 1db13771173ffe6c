"""Soft pools: the formula written out, its limits, which references count, and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import Soft, SoftCosine, score_systems
from deltableu.corpus import Item, Reference, ReferenceSet, reference_set
from deltableu.errors import InputError
from deltableu.score import (
    CosineSimilarity,
    FunctionSimilarity,
    SentenceBLEU,
    SentenceBLEUSimilarity,
    explain_pool,
    reference_shares,
    soft_pool,
    with_shares,
)
from deltableu.score.engine.soft_pool import pool_shares
from deltableu.score.metrics.soft import (
    SoftChrF,
    SoftChrFPlusPlus,
    SoftRougeL,
    SoftTable,
    SoftTER,
)
from deltableu.text import WordVectors, write_vectors
from tests.score.corpora import corpora, random_corpus

TAUS = (0.001, 0.1, 1.0, 50.0)


def formula(weights, similarities, tau):
    """tau * log sum_j omega_j exp(s_j / tau), omega_j = max(w_j, 0) / sum, word for word."""
    positive = [max(weight, 0.0) for weight in weights]
    if not sum(positive):
        return 0.0
    # Exponents are shifted by the largest, which changes nothing but what a float can hold.
    top = max(s for w, s in zip(positive, similarities, strict=True) if w > 0)
    total = math.fsum(
        w / math.fsum(positive) * math.exp((s - top) / tau)
        for w, s in zip(positive, similarities, strict=True)
        if w > 0
    )
    return top + tau * math.log(total)


numbers = st.one_of(st.sampled_from([-1.0, 0.0, 0.1, 1.0]), st.floats(-1, 1, width=32))
rows_of_pairs = st.lists(
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), min_size=1, max_size=6
)


def pooled(rows, tau):
    weights = np.array([weight for row in rows for weight, _ in row])
    found = np.array([similarity for row in rows for _, similarity in row])
    bounds = np.cumsum([0, *(len(row) for row in rows)])
    return soft_pool(found, weights, bounds, tau)


@settings(max_examples=300, deadline=None)
@given(rows=rows_of_pairs, tau=st.sampled_from(TAUS))
def test_the_formula(rows, tau):
    expected = [formula(*zip(*row, strict=True), tau) for row in rows]
    assert pooled(rows, tau) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(rows=rows_of_pairs)
def test_it_tends_to_the_best_and_to_the_weighted_mean(rows):
    low, high = pooled(rows, 1e-9), pooled(rows, 1e9)
    for row, best, mean in zip(rows, low, high, strict=True):
        kept = [(weight, similarity) for weight, similarity in row if weight > 0]
        if not kept:
            assert (best, mean) == (0.0, 0.0)
            continue
        total = math.fsum(weight for weight, _ in kept)
        assert best == pytest.approx(max(one for _, one in kept), abs=1e-6)
        expected = math.fsum(weight * one for weight, one in kept) / total
        assert mean == pytest.approx(expected, abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(rows=rows_of_pairs, shuffle=st.randoms(use_true_random=False), tau=st.sampled_from(TAUS))
def test_the_order_of_references_changes_no_bit(rows, shuffle, tau):
    turned = [shuffle.sample(row, len(row)) for row in rows]
    assert pooled(rows, tau).tolist() == pooled(turned, tau).tolist()


@settings(max_examples=100, deadline=None)
@given(rows=rows_of_pairs, tau=st.sampled_from(TAUS))
def test_it_lies_between_the_worst_and_the_best(rows, tau):
    for row, pool in zip(rows, pooled(rows, tau), strict=True):
        kept = [similarity for weight, similarity in row if weight > 0] or [0.0]
        assert min(kept) - 1e-9 <= pool <= max(kept) + 1e-9


@settings(max_examples=100, deadline=None)
@given(rows=rows_of_pairs, tau=st.sampled_from(TAUS))
def test_shares_of_the_sum_add_up_to_1_and_follow_the_formula(rows, tau):
    for row in rows:
        weights, found = (np.array(one) for one in zip(*row, strict=True))
        carried = pool_shares(found, weights, np.array([0, len(row)]), tau)
        shares = reference_shares(weights, np.array([0, len(row)]))
        positive = bool((weights > 0).any())
        assert carried.sum() == pytest.approx(float(positive), rel=1e-6)
        assert shares.sum() == pytest.approx(float(positive), rel=1e-9)
        assert ((carried > 0) <= (weights > 0)).all()


def test_no_references_at_all_and_items_without_any():
    assert soft_pool(np.zeros(0), np.zeros(0), np.array([0])).tolist() == []
    assert soft_pool(np.zeros(0), np.zeros(0), np.array([0, 0])).tolist() == [0.0]
    found = soft_pool(np.array([0.5, 0.5]), np.ones(2), np.array([0, 0, 2, 2]))
    assert found.tolist() == [0.0, 0.5, 0.0]


# --- Which references count -----------------------------------------------------------------------


def item(*origins, weights=None):
    given = weights or [None] * len(origins)
    return Item(
        "i",
        tuple(
            Reference(f"r{place}", f"text {place}", weight, origin=origin)
            for place, (origin, weight) in enumerate(zip(origins, given, strict=True))
        ),
    )


@pytest.mark.parametrize(
    ("origins", "shares"),
    [
        (("original",), [1.0]),
        (("original", "mined"), [0.3, 0.7]),
        (("original", "mined", "mined"), [0.3, 0.35, 0.35]),
        (("original", "written", "mined"), [0.3, 0.35, 0.35]),
        (("mined", "original", "parrot"), [0.7, 0.3, 0.0]),
        (("original", "parrot"), [1.0, 0.0]),
        (("parrot",), [1.0]),
        (("original", "written", "written"), [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_shares_of_references_that_nobody_rated(origins, shares):
    found = with_shares(reference_set([item(*origins)]))
    assert reference_shares(found.flat_weights, found.bounds) == pytest.approx(shares)


def test_shares_of_plain_lists_are_equal_and_weights_stay_as_they_are():
    plain = with_shares(ReferenceSet([["a", "b"]]))
    assert plain.weights == ((1.0, 1.0),)
    rated = reference_set([item("original", "mined", weights=[0.5, -1.0])])
    assert with_shares(rated) is rated
    assert reference_shares(rated.flat_weights, rated.bounds).tolist() == [1.0, 0.0]


def test_a_study_with_mined_references_is_scored_by_these_shares():
    given = reference_set([item("original", "mined", "mined", "parrot")])
    metric = Soft(FunctionSimilarity(lambda h, r: int(r[-1]) / 10, label="last"), tau=0.1)
    found = metric.compute(["h"], given)
    expected = formula([0.3, 0.35, 0.35], [0.0, 0.1, 0.2], 0.1)
    assert found.score().score == pytest.approx(100 * expected)
    assert "|weights:origins,original=0.3|" in str(found.score().signature)


# --- Metrics --------------------------------------------------------------------------------------

SIMILARITIES = ("chrf", "chrf++", "rouge-l", "ter", "sentence-bleu")


@pytest.mark.parametrize("name", SIMILARITIES)
@settings(max_examples=12, deadline=None)
@given(corpus=corpora(items=3))
def test_metrics_pool_the_similarities_of_lower_cased_text(name, corpus):
    metric = Soft(name)
    positive = [[max(w, 0.01) for w in row] for row in corpus.weights]
    found = metric.compute(corpus.hypotheses, corpus.references, positive)
    for text, references, weights, score in zip(
        corpus.hypotheses, corpus.references, positive, found.segment_scores(), strict=True
    ):
        pairs = metric.similarity.pairs(
            [text.lower()], [one.lower() for one in references], np.zeros(len(references), np.int64)
        )
        assert score == pytest.approx(100 * formula(weights, pairs, 0.1), rel=1e-9, abs=1e-9)
    assert found.score().score == pytest.approx(found.segment_scores().mean())


def test_sentence_bleu_of_pairs_is_the_metric_with_one_reference():
    corpus = random_corpus(3, 12)
    flat = [text for row in corpus.references for text in row]
    owners = np.repeat(np.arange(12), [len(row) for row in corpus.references])
    found = SentenceBLEUSimilarity().pairs(corpus.hypotheses, flat, owners)
    metric = SentenceBLEU(order=2, method="nakov", lowercase=True)
    expected = [
        metric.compute([corpus.hypotheses[owner]], [[text]]).score().score / 100
        for owner, text in zip(owners, flat, strict=True)
    ]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("named", "similarity"),
    [
        (SoftChrF(), "chrf"),
        (SoftChrFPlusPlus(), "chrf++"),
        (SoftRougeL(), "rouge-l"),
        (SoftTER(), "ter"),
    ],
)
def test_metrics_by_name(named, similarity):
    corpus = random_corpus(5, 10)
    arguments = (corpus.hypotheses, corpus.references)
    other = Soft(similarity).compute(*arguments)
    assert named.name == f"soft-{similarity}"
    assert named.compute(*arguments).segment_scores() == pytest.approx(other.segment_scores())


def test_case_does_not_matter():
    found = [Soft("chrf").compute([text], [["Yes It Is"]]).score().score for text in ("YES", "yes")]
    assert found[0] == found[1]


def letters(texts):
    """An encoder that everybody can check."""
    return np.array([[text.count("a"), text.count("b"), len(text)] for text in texts], float)


def test_cosine_is_that_of_the_encoder_and_equal_texts_are_embedded_once():
    asked = []

    def encode(texts):
        asked.append(list(texts))
        return letters(texts)

    metric = SoftCosine(encoder=encode, tau=0.1)
    references = [["a", "b"], ["a", "ab ab"]]
    encoded = metric.encode(references)
    scores = metric.statistics(["aab", "A"], encoded).segment_scores()
    metric.statistics(["b", "b"], encoded)
    # First the encoder is looked at, for the signature.
    assert asked[1:] == [["a", "b", "ab ab"], ["aab", "a"], ["b"]]

    def cosine(one, other):
        x, y = letters([one])[0], letters([other])[0]
        return float(x @ y / math.sqrt((x @ x) * (y @ y)))

    expected = [
        100 * formula([1, 1], [cosine(text, one) for one in row], 0.1)
        for text, row in zip(["aab", "a"], references, strict=True)
    ]
    assert scores == pytest.approx(expected)


def test_a_raw_cosine_may_be_negative():
    metric = SoftCosine(encoder=lambda texts: [[1.0 if one == "a" else -1.0] for one in texts])
    assert metric.compute(["a"], [["b", "c"]]).score().score == pytest.approx(-100.0)


def test_word_vectors_from_a_file(tmp_path):
    path = tmp_path / "vectors.txt"
    write_vectors(WordVectors({"yes": 0, "no": 1}, np.array([[1.0, 0.0], [0.0, 1.0]])), path)
    metric = SoftCosine(encoder=str(path))
    scores = metric.compute(["yes", "no yes", "what"], [["yes"], ["yes"], ["yes"]]).segment_scores()
    assert scores == pytest.approx([100.0, 100 * math.sqrt(0.5), 0.0])
    signature = metric.compute(["yes"], [["yes"]]).score().signature
    assert signature["encoder"].startswith("words-")


def test_the_encoder_that_ships_in_a_package():
    pytest.importorskip("wordllama")
    metric = SoftCosine()
    encoded = metric.encode([["i love pizza"], ["i love pizza"]])
    near, far = metric.statistics(
        ["pizza is my favourite food", "the train leaves at noon"], encoded
    ).segment_scores()
    assert near > far + 20
    signature = metric.statistics(["a", ""], encoded).score().signature
    assert signature["encoder"].startswith("wordllama-")
    assert len(signature["encoder"]) == len("wordllama-") + 8


def test_every_setting_changes_the_signature():
    made = [
        Soft("chrf"),
        Soft("chrf", tau=0.2),
        Soft("chrf++"),
        Soft(CosineSimilarity(letters)),
        Soft(CosineSimilarity(lambda texts: letters(texts) ** 2)),
        Soft("chrf", neutral=-0.1),
    ]
    found = {
        str(one.compute(["a"], [["a b", "b"]], [[1.0, 0.5]]).score().signature) for one in made
    }
    assert len(found) == len(made)


# --- The neighbours of a metric -------------------------------------------------------------------


def test_rows_under_other_weights_are_those_of_other_references():
    corpus = random_corpus(8, 10)
    metric = Soft("chrf")
    positive = [[abs(w) + 0.01 for w in row] for row in corpus.weights]
    positive = [[min(w, 1.0) for w in row] for row in positive]
    references = ReferenceSet(corpus.references, positive)
    ready = metric.reweighting(references, [corpus.hypotheses])
    found = ready.rows(references.flat_weights[np.newaxis])[0, :, 0]
    assert found == pytest.approx(metric.compute(corpus.hypotheses, references).rows)


def test_explanation_adds_up_and_names_words():
    given = ReferenceSet([["i like it a lot", "no , never"]], [[0.5, 1.0]], item_ids=["q"])
    found = explain_pool(Soft("chrf++"), "i like it", given)
    assert sum(one.carries for one in found.references) == pytest.approx(1.0)
    assert sum(one.share for one in found.references) == pytest.approx(1.0)
    assert found.score == pytest.approx(
        Soft("chrf++").compute(["i like it"], given).segment_scores()[0]
    )
    without = Soft("chrf++").compute(["i it"], given).segment_scores()[0]
    assert dict(found.words)["like"] == pytest.approx(found.score - without)
    assert "item q" in found.tables()[0].caption
    assert explain_pool(Soft("chrf++"), "", given).words == ()


# --- Bad input ------------------------------------------------------------------------------------


def refuses(call):
    with pytest.raises(InputError) as raised:
        call()
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("tau", [0, -1, math.inf, math.nan, "x", None, True])
def test_a_temperature_that_is_none(tau):
    assert "tau must be a number above 0" in refuses(lambda: Soft("chrf", tau=tau))


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        ("", "no name"),
        ("wordlama", "unknown encoder 'wordlama'"),
        ("no.such.module:f", "cannot be loaded"),
        (3, "a name, a file of word vectors or a function"),
        ("sentence-transformers:none", "sentence-transformers"),
        (lambda texts: [1.0], "shape"),
        (lambda texts: [[math.nan]] * len(texts), "not finite"),
    ],
)
def test_encoders_that_are_none(encoder, said):
    def call():
        return SoftCosine(encoder=encoder).compute(["a"], [["b"]])

    assert said in refuses(call)


def test_an_item_without_a_positive_reference_is_named_or_left_out():
    given = ReferenceSet(
        [["a", "b"], ["a", "b"], ["c"]], [[1.0, 0], [0.0, -1], [-1]], item_ids=["x", "y", "z"]
    )
    message = refuses(lambda: Soft("chrf").compute(["a", "b", "c"], given))
    assert "'y'" in message
    assert "1 other" in message
    found = score_systems(given, {"s": ["a", "b", "c"]}, [Soft("chrf")], no_positive="skip")
    assert found.dropped == ("y", "z")


def test_one_item_and_all_references_equal_are_nothing_special():
    for tau in TAUS:
        found = Soft("chrf++", tau=tau).compute(["yes it is"], [["yes it is"] * 5])
        assert found.score().score == pytest.approx(100.0)


def test_texts_without_a_vector_score_0():
    metric = SoftCosine(encoder=lambda texts: np.zeros((len(texts), 2)))
    assert metric.compute(["a", ""], [["b"], [""]]).segment_scores().tolist() == [0.0, 0.0]


def test_a_table_is_looked_up_as_it_is():
    metric = Soft({("Yes", "Sure"): 0.5})
    assert metric.compute(["Yes"], [["Sure"]]).score().score == pytest.approx(50.0)
    assert "needs a table" in refuses(SoftTable)
