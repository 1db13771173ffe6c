"""Explanations: the parts add up to the row, and name the references that decided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU, SentenceBLEU
from deltableu.corpus import read_study, reference_set
from deltableu.errors import InputError
from deltableu.score.explain import NgramCredit, explain_item
from deltableu.score.influence import corpus_share, rank_items
from tests.golden.worked_examples import (
    A_REFERENCES,
    A_SEGMENTS,
    A_SYSTEM2,
    A_WEIGHTS,
    B_HYPOTHESES,
    B_REFERENCES,
    B_WEIGHTS,
    C_BAD,
    C_REFERENCES,
    C_WEIGHTS,
)
from tests.score.corpora import VARIANTS, Corpus, corpora

# A random corpus may be a square that would match better transposed.
pytestmark = pytest.mark.filterwarnings("ignore:references are a square")

variants = st.sampled_from(VARIANTS)
orders = st.integers(1, 4)
combinations = st.sampled_from(["geometric", "arithmetic"])


def part(explanation, text: str) -> NgramCredit:
    found = [one for one in explanation.ngrams if one.ngram == tuple(text.split())]
    assert len(found) == 1
    return found[0]


# --- The parts add up -----------------------------------------------------------------------------


@st.composite
def metrics(draw: st.DrawFn) -> BLEU:
    order, combine = draw(orders), draw(combinations)
    tokenize = draw(st.sampled_from(["none", "13a", "char"]))
    if draw(st.integers(0, 4)) == 0:
        return BLEU(order=order, combine=combine, tokenize=tokenize)
    brevity = draw(st.sampled_from(["all", "positive"]))
    return DeltaBLEU(
        order=order, combine=combine, tokenize=tokenize, brevity=brevity, variant=draw(variants)
    )


@settings(max_examples=120, deadline=None)
@given(corpora(), metrics())
def test_the_parts_add_up_to_the_row(corpus, metric):
    assert_adds_up(corpus, metric)


@pytest.mark.long
@settings(max_examples=4_000, deadline=None)
@given(corpora(items=8), metrics())
def test_the_parts_add_up_to_the_row_long(corpus, metric):
    assert_adds_up(corpus, metric)


def assert_adds_up(corpus: Corpus, metric: BLEU) -> None:
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights).rows
    n = metric.order
    for row, text, references, weights in zip(
        rows, corpus.hypotheses, corpus.references, corpus.weights, strict=True
    ):
        found = explain_item(metric, text, references, weights)
        np.testing.assert_allclose(found.row, row, rtol=1e-12, atol=1e-12)
        for order in range(1, n + 1):
            parts = found.of_order(order)
            assert sum(one.count for one in parts) == max(0, len(found.hypothesis) - order + 1)
        tokens = found.tokens()
        credit = sum(token.credit for token in tokens) * found.largest_weight
        longer = sum(token.longer for token in tokens) * found.largest_weight
        np.testing.assert_allclose(credit, row[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(longer, row[1:n].sum(), rtol=0, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(corpora(items=2), metrics())
def test_every_credit_is_the_weight_and_the_clip_of_references_that_have_the_ngram(corpus, metric):
    for text, references, weights in zip(
        corpus.hypotheses, corpus.references, corpus.weights, strict=True
    ):
        found = explain_item(metric, text, references, weights)
        for one in found.ngrams:
            for place in one.positions:
                assert found.hypothesis[place : place + one.order] == one.ngram
            for tokens, places in zip(found.references, one.found, strict=True):
                for place in places:
                    assert tokens[place : place + one.order] == one.ngram
            if not one.matched:
                assert not any(one.found)
                assert (one.credit, one.clip, one.clip_from) == (0.0, 0, None)
                continue
            assert one.weight == found.weights[one.weight_from]
            assert one.clip == min(one.count, len(one.found[one.clip_from])) >= 1
            assert one.found[one.weight_from]
            assert one.credit == (0.0 if one.floored else one.weight * one.clip)
            if metric.recipe.variant != "galley2019":
                assert one.weight_from == one.clip_from
            if metric.recipe.variant != "tsuta2020":
                assert not one.floored


@settings(max_examples=50, deadline=None)
@given(corpora(items=2), metrics())
def test_what_a_reference_shows_is_what_it_decided(corpus, metric):
    found = explain_item(metric, corpus.hypotheses[0], corpus.references[0], corpus.weights[0])
    words = set(found.hypothesis)
    for index, tokens in enumerate(found.references):
        marks = found.reference_marks(index)
        assert [mark == "none" for mark in marks] == [token not in words for token in tokens]
        decided = {
            place
            for one in found.ngrams
            if index in (one.weight_from, one.clip_from)
            for start in one.found[index]
            for place in range(start, start + one.order)
        }
        shown = {i for i, mark in enumerate(marks) if mark in ("credit", "penalty", "shield")}
        assert shown == decided


# --- Published and worked examples ----------------------------------------------------------------


def test_example_a_terrible_costs_one():
    metric = DeltaBLEU(tokenize="none")
    found = explain_item(metric, A_SYSTEM2[0], A_REFERENCES[0], A_WEIGHTS[0])
    terrible = part(found, "terrible")
    assert (terrible.credit, terrible.weight_from, terrible.weight, terrible.clip) == (-1, 5, -1, 1)
    assert A_REFERENCES[0][terrible.weight_from] == "it tasted terrible ."
    assert part(found, "the").credit == part(found, "food").credit == part(found, ".").credit == 1
    assert part(found, "food tasted").credit == 0
    assert not part(found, "food tasted").matched
    assert part(found, "tasted terrible").credit == part(found, "terrible .").credit == -1
    assert found.reference_marks(5) == ("none", "penalty", "penalty", "penalty")
    assert found.reference_marks(3) == ("none", "none", "none", "match")
    assert [token.credit for token in found.tokens()] == [1, 1, -1, -1, 1]
    assert [token.longer for token in found.tokens()] == [0.5, 0.5, -0.5, -1, -0.5]


@pytest.mark.parametrize(("hypotheses", "numerators", "denominators"), A_SEGMENTS)
def test_example_a_rows(hypotheses, numerators, denominators):
    for text, references, weights, top, bottom in zip(
        hypotheses, A_REFERENCES, A_WEIGHTS, numerators, denominators, strict=True
    ):
        found = explain_item(DeltaBLEU(tokenize="none"), text, references, weights)
        assert found.numerators == pytest.approx(top)
        assert found.denominators == pytest.approx(bottom)


def test_example_a_tsuta_says_what_was_floored():
    metric = DeltaBLEU(tokenize="none", variant="tsuta2020")
    found = explain_item(metric, A_SYSTEM2[0], A_REFERENCES[0], A_WEIGHTS[0])
    terrible = part(found, "terrible")
    assert (terrible.credit, terrible.floored, terrible.weight) == (0, True, -1)
    assert found.numerators == (3, 1)


@pytest.mark.parametrize(
    ("variant", "credit", "weight_from", "clip", "clip_from"),
    [("paper", 0.9, 1, 1, 1), ("galley2019", 1.8, 1, 2, 0), ("tsuta2020", 0.9, 1, 1, 1)],
)
def test_example_b_weight_and_clip(variant, credit, weight_from, clip, clip_from):
    metric = DeltaBLEU(tokenize="none", variant=variant)
    found = explain_item(metric, B_HYPOTHESES[0], B_REFERENCES[0], B_WEIGHTS[0])
    no = part(found, "no")
    assert no.credit == pytest.approx(credit)
    assert (no.count, no.weight, no.clip) == (3, 0.9, clip)
    assert (no.weight_from, no.clip_from) == (weight_from, clip_from)
    assert no.share == pytest.approx(2.7)
    assert no.found == ((0, 1), (0,))
    assert part(found, "no no").credit == pytest.approx(0.3)


def test_example_c_the_least_bad_reference_decides():
    found = explain_item(DeltaBLEU(tokenize="none"), C_BAD, C_REFERENCES, C_WEIGHTS)
    the = part(found, "the")
    assert (the.count, the.credit, the.weight_from) == (2, -0.3, 4)
    assert found.numerators == pytest.approx((-1.9, -2.4))


def test_a_reference_of_weight_0_shields():
    found = explain_item(DeltaBLEU(order=1), "so bad", ["so", "bad", "so bad"], [1, 0, -1])
    assert (part(found, "bad").credit, part(found, "bad").weight_from) == (0.0, 1)
    assert found.reference_marks(1) == ("shield",)
    assert found.reference_marks(2) == ("match", "match")


def test_galley_takes_weight_and_clip_from_one_reference_where_it_has_both():
    metric = DeltaBLEU(order=1, variant="galley2019")
    found = explain_item(metric, "a a", ["a a", "a", "a a"], [0.2, 0.5, 0.5])
    assert (part(found, "a").weight_from, part(found, "a").clip_from) == (2, 2)


def test_brevity_looks_at_positive_references_only_where_asked():
    references, weights = ["a b c d", "a b"], [1.0, -1.0]
    everything = explain_item(DeltaBLEU(), "a b", references, weights)
    positive = explain_item(DeltaBLEU(brevity="positive"), "a b", references, weights)
    assert (everything.closest, everything.reference_length) == (1, 2)
    assert (positive.closest, positive.reference_length) == (0, 4)


def test_bleu_ignores_weights():
    found = explain_item(BLEU(order=1), "a b", ["b", "a"], [-1.0, 0.5])
    assert found.weights == (1.0, 1.0)
    assert found.numerators == (2.0,)


def test_an_empty_hypothesis_has_no_parts():
    found = explain_item(DeltaBLEU(), "", ["a b"], [1.0])
    assert found.ngrams == ()
    assert found.row == (0, 0, 0, 0, 0, 2)


@pytest.mark.parametrize(
    ("references", "weights", "message"),
    [
        ([], [], "has no references"),
        (["a"], [0.0], "no reference with a positive weight"),
        (["a"], [2.0], "a weight must lie in"),
        (["a", "b"], [1.0], "1 weights, but 2 references"),
        (["a"], None, "needs a weight for every reference"),
        (["a", None], [1.0, 1.0], "reference 1 is None, no string"),
    ],
)
def test_what_cannot_be_scored_cannot_be_explained(references, weights, message):
    with pytest.raises(InputError, match=message):
        explain_item(DeltaBLEU(), "a", references, weights)


# --- The corpus -----------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(corpora(), metrics())
def test_without_an_item_is_the_score_of_the_others(corpus, metric):
    rows = metric.compute(corpus.hypotheses, corpus.references, corpus.weights)
    for index in range(len(rows)):
        share = corpus_share(rows, index)
        assert share.score == rows.score().score
        kept = [i for i in range(len(rows)) if i != index]
        if not kept:
            assert (share.without, share.difference) == (None, 0.0)
            continue
        others = metric.compute(
            [corpus.hypotheses[i] for i in kept],
            [corpus.references[i] for i in kept],
            [corpus.weights[i] for i in kept],
        )
        assert share.without == pytest.approx(others.score().score, rel=1e-12, abs=1e-12)
        assert share.difference == share.without - share.score


def test_an_item_that_is_not_there():
    rows = BLEU().compute(["a"], [["a"]])
    with pytest.raises(InputError, match="there is no item number 1: the corpus has 1"):
        corpus_share(rows, 1)


@pytest.mark.parametrize("metric", [BLEU(), DeltaBLEU(combine="arithmetic")])
def test_items_are_ranked_by_their_own_score(metric, demo):
    study = read_study(demo, ratings=False)
    rows = metric.compute(study.outputs["human"], reference_set(study))
    scores = rows.segment_scores()
    worst, best = rank_items(rows, "worst"), rank_items(rows, "best")
    assert worst.rule.startswith("the item's own score")
    assert sorted(worst.indices) == list(range(len(rows)))
    np.testing.assert_allclose(scores[list(worst.indices)], np.sort(scores), atol=1e-8)
    np.testing.assert_allclose(scores[list(best.indices)], np.sort(scores)[::-1], atol=1e-8)


def test_geometric_delta_bleu_is_ranked_by_influence(demo):
    study = read_study(demo, ratings=False)
    rows = DeltaBLEU().compute(study.outputs["human"], reference_set(study))
    worst, best = rank_items(rows, "worst"), rank_items(rows, "best")
    assert worst.rule.startswith("what the corpus score would gain without the item")
    gains = [corpus_share(rows, index).difference for index in range(len(rows))]
    assert corpus_share(rows, worst.indices[0]).difference == max(gains) > 0
    assert corpus_share(rows, best.indices[0]).difference == min(gains) < 0


def test_a_corpus_at_0_is_ranked_by_what_its_items_lack(demo):
    study = read_study(demo, ratings=False)
    rows = DeltaBLEU().compute(study.outputs["phrase-smt"], reference_set(study))
    assert rows.score().score == 0
    ranked = rank_items(rows, "worst").indices
    lowest = min(range(len(rows)), key=lambda i: (rows.rows[i, :2] / rows.rows[i, 2:4]).sum())
    assert ranked[0] == lowest


def test_ties_go_by_the_order_of_the_items():
    rows = BLEU(order=1).compute(["a"] * 4, [["b"]] * 4)
    assert rank_items(rows, "worst").indices == rank_items(rows, "best").indices == (0, 1, 2, 3)


def test_sentence_bleu_is_no_sum_of_ngrams():
    rows = SentenceBLEU().compute(["a"], [["a"]])
    with pytest.raises(InputError, match="sentence-bleu-4 cannot be explained"):
        rank_items(rows, "worst")
