"""Published and hand-worked numbers; each table names its source."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltableu import BLEU, DeltaBLEU, SentenceBLEU, bleu, delta_bleu, sentence_bleu
from tests.golden import worked_examples as worked

PEERS = json.loads((Path(__file__).parents[1] / "golden/peer_vectors.json").read_text("utf-8"))


def by_item(streams: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*streams, strict=True)]


# --- delta-BLEU -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variant", "hypotheses", "references", "weights", "expected"),
    worked.DELTA,
    ids=[f"{case[0]}-{case[1]}" for case in worked.DELTA],
)
def test_worked_examples(name, variant, hypotheses, references, weights, expected):
    score = delta_bleu(
        hypotheses, references, weights, variant=variant, tokenize="none", smooth="none"
    )
    assert score.numerators == pytest.approx(expected.numerators, abs=1e-12)
    assert score.denominators == pytest.approx(expected.denominators, abs=1e-12)
    assert (score.hypothesis_length, score.reference_length) == expected.lengths
    assert score.brevity_penalty == 1.0
    assert score.score / 100 == pytest.approx(expected.score, abs=5e-5)


@pytest.mark.parametrize(("hypotheses", "numerators", "denominators"), worked.A_SEGMENTS)
def test_segments_of_example_a(hypotheses, numerators, denominators):
    rows = DeltaBLEU(tokenize="none").compute(hypotheses, worked.A_REFERENCES, worked.A_WEIGHTS)
    np.testing.assert_allclose(rows.rows[:, :2], numerators, atol=1e-12)
    np.testing.assert_allclose(rows.rows[:, 2:4], denominators, atol=1e-12)


@pytest.mark.parametrize(
    ("hypotheses", "numerators", "denominators", "precisions", "expected"), worked.A_ORDER_4
)
def test_example_a_with_order_4(hypotheses, numerators, denominators, precisions, expected):
    score = delta_bleu(
        hypotheses, worked.A_REFERENCES, worked.A_WEIGHTS, order=4, tokenize="none", smooth="exp"
    )
    assert score.numerators == pytest.approx(numerators, abs=1e-12)
    assert score.denominators == pytest.approx(denominators, abs=1e-12)
    assert score.precisions == pytest.approx([100 * p for p in precisions], abs=5e-3)
    assert score.score / 100 == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("system", ["system1", "system2"])
@pytest.mark.parametrize("variant", ["paper", "galley2019"])
def test_the_authors_published_outputs(system, variant):
    galley = PEERS["delta_bleu_galley"]
    score = delta_bleu(
        galley[system],
        by_item(galley["references"]),
        by_item(galley["weights"]),
        order=4,
        variant=variant,
        smooth="exp",
    )
    published = galley["expected"]["delta_bleu"][system]
    assert round(score.score, 2) == published["score"]
    assert [f"{p:.1f}" for p in score.precisions] == [f"{p:.1f}" for p in published["precisions"]]


@pytest.mark.parametrize("system", ["system1", "system2"])
def test_the_authors_published_bleu(system):
    """36.28 and 42.04, plain and as delta-BLEU with all weights 1."""
    galley = PEERS["delta_bleu_galley"]
    references = by_item(galley["references"])
    published = galley["expected"]["bleu"][system]
    ones = [[1.0] * len(row) for row in references]
    weighted = delta_bleu(galley[system], references, ones, order=4, variant="galley2019")
    for score in (bleu(galley[system], references), weighted):
        assert round(score.score, 2) == published["score"]
        assert [round(p, 1) for p in score.precisions] == published["precisions"]
        assert score.brevity_penalty == published["bp"]
        assert score.hypothesis_length == published["hyp_len"]
        assert score.reference_length == published["ref_len"]


def test_galley_smooths_by_default_and_the_others_do_not():
    """Section 8: the default smoothing belongs to the variant."""
    scores = {
        variant: delta_bleu(
            worked.A_SYSTEM2,
            worked.A_REFERENCES,
            worked.A_WEIGHTS,
            order=4,
            variant=variant,
            tokenize="none",
        ).score
        for variant in ("paper", "galley2019", "tsuta2020")
    }
    assert scores["paper"] == scores["tsuta2020"] == 0.0
    assert round(scores["galley2019"], 2) == 7.14


def test_only_the_fork_smooths_a_corpus_without_any_match():
    """sacreBLEU scores it 0 since 2.0; the fork is older: p = 1/(2*2), 1/(4*1), BP = 1."""
    case = (["x y"], [["a b"]], [[1.0]])
    assert delta_bleu(*case, smooth="exp").score == 0.0
    assert delta_bleu(*case, variant="galley2019").score == pytest.approx(25.0)


def test_least_negative_product_wins():
    """Section 1's quirk: w = -.2 twice (-.4) loses to w = -.3 once (-.3)."""
    score = delta_bleu(["g g"], [["g g", "g x", "y"]], [[-0.2, -0.3, 1.0]], order=1)
    assert score.numerators == pytest.approx((-0.3,))
    galley = delta_bleu(
        ["g g"], [["g g", "g x", "y"]], [[-0.2, -0.3, 1.0]], order=1, variant="galley2019"
    )
    assert galley.numerators == pytest.approx((-0.4,))


def test_a_reference_of_weight_0_shields_and_counts_for_the_length():
    references, weights = [["a b c d", "x", "x y"]], [[1.0, -1.0, 0.0]]
    score = delta_bleu(["x y"], references, weights)
    assert score.numerators == (0.0, 0.0)
    assert score.reference_length == 2
    unshielded = delta_bleu(["x y"], [["a b c d", "x"]], [[1.0, -1.0]])
    assert unshielded.numerators == (-1.0, 0.0)
    assert unshielded.reference_length == 1


@pytest.mark.parametrize(
    ("hypotheses", "references", "weights", "corpus", "segments"), worked.SIGNED
)
def test_signed_arithmetic_form(hypotheses, references, weights, corpus, segments):
    metric = DeltaBLEU(combine="arithmetic", tokenize="none")
    rows = metric.compute(hypotheses, references, weights)
    assert rows.score().score / 100 == pytest.approx(corpus, abs=5e-8)
    assert rows.segment_scores() / 100 == pytest.approx(segments, abs=5e-8)


# --- BLEU -----------------------------------------------------------------------------------------


def _sacrebleu_cases():
    table = PEERS["sacrebleu_corpus"]
    for case in table["cases"]:
        settings = {"tokenize": case["tokenize"], "smooth": case.get("smooth_method", "exp")}
        yield case.get("hypotheses", table["hypotheses"]), settings, case["score"], 1e-6
    for order, score in table["max_order_2dp"].items():
        yield table["hypotheses"], {"order": int(order)}, score, 5e-3


@pytest.mark.parametrize(
    ("hypotheses", "settings", "expected", "tolerance"), list(_sacrebleu_cases())
)
def test_sacrebleus_own_corpus_tests(hypotheses, settings, expected, tolerance):
    references = by_item(PEERS["sacrebleu_corpus"]["references"])
    score = bleu(hypotheses, references, **settings).score
    assert score == pytest.approx(expected, abs=tolerance)


RAW = {"tokenize": "none", "smooth": "floor", "smooth_value": 0.01, "effective_order": True}


@pytest.mark.parametrize(("hypotheses", "references", "expected"), PEERS["sacrebleu_raw"]["cases"])
def test_sacrebleus_raw_corpus_tests(hypotheses, references, expected):
    score = bleu(hypotheses, by_item(references), **RAW)
    assert score.score / 100 == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("floor", "key"), [(0.1, "floor_0.1"), (0.0, "floor_0")])
def test_sacrebleus_raw_statistics(floor, key):
    case = PEERS["sacrebleu_raw"]["statistics"]
    score = bleu([case["hypothesis"]], [[case["reference"]]], **{**RAW, "smooth_value": floor})
    assert list(score.numerators) == case["correct"]
    assert list(score.denominators) == case["total"]
    assert score.score / 100 == pytest.approx(case[key], abs=1e-8)


def test_sacrebleus_score_from_counts():
    case = PEERS["sacrebleu_raw"]["from_counts"]
    sums = np.array([*case["correct"], *case["total"], case["hyp_len"], case["ref_len"]], float)
    assert BLEU(smooth="none").aggregate(sums) / 100 == pytest.approx(case["score"], abs=1e-8)


@pytest.mark.parametrize(
    ("smooth", "value", "lowercase", "tokenize", "expected"), PEERS["sacrebleu_sentence"]["cases"]
)
def test_sacrebleus_own_sentence_tests(smooth, value, lowercase, tokenize, expected):
    table = PEERS["sacrebleu_sentence"]
    metric = BLEU(smooth=smooth, smooth_value=value, lowercase=lowercase, tokenize=tokenize)
    rows = metric.compute([table["hypothesis"]], [[table["reference"]]])
    assert rows.segment_scores() == pytest.approx([expected], abs=1e-3)


def test_sacrebleus_sentence_without_a_match():
    zero = PEERS["sacrebleu_sentence"]["zero"]
    rows = BLEU().compute([zero["hypothesis"]], [[zero["reference"]]])
    assert rows.segment_scores().tolist() == [zero["score"]]


NLTK = PEERS["nltk_bleu"]
FOUR_DIGITS = 1e-4  # its doctests cut (0.5045...), its unit tests round
PLAIN = {"tokenize": "none", "smooth": "none"}


@pytest.mark.parametrize(
    ("hypothesis", "order", "expected"),
    [
        ("hypothesis1", 4, NLTK["sentence_bleu_h1"]),
        ("hypothesis1", 5, NLTK["sentence_bleu_h1_order5"]),
        ("hypothesis2", 4, NLTK["sentence_bleu_h2"]),
    ],
)
def test_nltks_sentences(hypothesis, order, expected):
    score = bleu([NLTK[hypothesis]], [NLTK["references"]], order=order, **PLAIN)
    assert score.score / 100 == pytest.approx(expected, abs=FOUR_DIGITS)


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        (NLTK["hypothesis1"], NLTK["references"], NLTK["modified_precision_1_2"]["h1"]),
        (NLTK["hypothesis2"], NLTK["references"], NLTK["modified_precision_1_2"]["h2"]),
        (
            NLTK["the_the"]["hypothesis"],
            NLTK["the_the"]["references"],
            [NLTK["the_the"]["p1"], NLTK["the_the"]["p2"]],
        ),
    ],
)
def test_nltks_modified_precisions(hypothesis, references, expected):
    score = bleu([hypothesis], [references], order=2, **PLAIN)
    assert [p / 100 for p in score.precisions] == pytest.approx(expected, abs=FOUR_DIGITS)


def test_nltks_corpus():
    case = NLTK["corpus_bleu"]
    segments = case["segments"]
    rows = BLEU(**PLAIN).compute(
        [one["hyp"] for one in segments], [one["refs"] for one in segments]
    )
    score = rows.score()
    assert score.score / 100 == pytest.approx(case["score"], abs=FOUR_DIGITS)
    mean = rows.segment_scores().mean() / 100
    assert mean == pytest.approx(case["mean_of_sentence_bleu"], abs=FOUR_DIGITS)
    logs = (
        w * math.log(p / 100) for w, p in zip((0.1, 0.3, 0.5, 0.1), score.precisions, strict=True)
    )
    uneven = score.brevity_penalty * math.exp(sum(logs))
    assert uneven == pytest.approx(case["weights_.1_.3_.5_.1"], abs=FOUR_DIGITS)


@pytest.mark.parametrize("case", NLTK["brevity"])
def test_nltks_brevity_penalties(case):
    references = [" ".join("a" * length) for length in case["ref_lens"]]
    score = bleu([" ".join("a" * case["hyp_len"])], [references], **PLAIN)
    assert score.brevity_penalty == pytest.approx(case["bp"], abs=FOUR_DIGITS)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_dstc7_demo(order):
    demo = PEERS["dstc7_bleu"]
    score = bleu(demo["hypotheses"], by_item(demo["references"]), order=order, **PLAIN)
    assert score.score / 100 == pytest.approx(demo["bleu_1_to_4"][order - 1], abs=5e-5)


@pytest.mark.parametrize(("candidate", "references", "matches", "total"), worked.HANDOUT)
def test_handout(candidate, references, matches, total):
    metric = BLEU(order=len(matches), lowercase=True, strip_punctuation=True)
    score = metric.compute([candidate], [references]).score()
    assert score.numerators == matches
    assert score.denominators == total


def test_bleu_cannot_tell_who_bit_whom():
    scores = [
        bleu([candidate], [references], lowercase=True, strip_punctuation=True, order=2).score
        for candidate, references, _, _ in worked.HANDOUT[:2]
    ]
    assert scores[0] == scores[1] > 0


# --- Sentence BLEU --------------------------------------------------------------------------------


@pytest.mark.parametrize("column", range(4), ids=worked.SENTENCE_METHODS)
@pytest.mark.parametrize(("hypothesis", "reference", "order", "expected"), worked.SENTENCE)
def test_sentence_bleu_table(hypothesis, reference, order, expected, column):
    method = worked.SENTENCE_METHODS[column]
    score = sentence_bleu(hypothesis, [reference], order=order, method=method, tokenize="none")
    assert score.score / 100 == pytest.approx(expected[column], abs=5e-5)


def test_counts_behind_the_sentence_bleu_table():
    """The notes of section 2: m = [4,1,0,0], c = [5,4,3,2], r = 6; m = [1,0], c = [3,2], r = 4."""
    first = sentence_bleu(*_pair(1), order=4)
    assert first.numerators == (4, 1, 0, 0)
    assert first.denominators == (5, 4, 3, 2)
    assert first.reference_length == 6
    second = sentence_bleu(*_pair(2), order=2)
    assert (second.numerators, second.denominators) == ((1, 0), (3, 2))
    assert second.reference_length == 4


def _pair(number: int) -> tuple[str, list[str]]:
    hypothesis, reference, _, _ = worked.SENTENCE[number]
    return hypothesis, [reference]


def test_moses_counts_a_missing_order_as_one():
    hypothesis, reference, expected = worked.MOSES_CASE
    score = sentence_bleu(hypothesis, [reference], method="moses", tokenize="none")
    assert round(score.score, 2) == 70.71
    assert score.score / 100 == pytest.approx(expected, abs=5e-5)
    assert score.precisions == pytest.approx([75, 200 / 3, 50, 100])


def test_lin_and_ochs_bleu_is_sacrebleus_add_k():
    """Section 2: BLEU+1 is `add-k` with k = 1, where every order exists."""
    for hypothesis, reference, order, expected in worked.SENTENCE:
        rows = BLEU(order=order, smooth="add-k").compute([hypothesis], [[reference]])
        assert rows.segment_scores()[0] / 100 == pytest.approx(expected[0], abs=5e-5)


def test_a_corpus_scores_the_mean_of_its_sentences():
    pairs = [(hypothesis, [reference]) for hypothesis, reference, _, _ in worked.SENTENCE]
    metric = SentenceBLEU(method="nakov", order=2, tokenize="none")
    rows = metric.compute([h for h, _ in pairs], [r for _, r in pairs])
    alone = [sentence_bleu(h, r, method="nakov", order=2, tokenize="none").score for h, r in pairs]
    assert rows.segment_scores() == pytest.approx(alone, abs=1e-12)
    assert rows.score().score == pytest.approx(sum(alone) / 3, abs=1e-12)


# --- Edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", ["none", "floor", "add-k", "exp"])
@pytest.mark.parametrize(
    ("hypothesis", "references"), [("", ["a b"]), ("", [""]), ("a b", [""]), (" \t", ["a", ""])]
)
def test_nothing_against_something_scores_0(hypothesis, references, smooth):
    rows = BLEU(smooth=smooth).compute([hypothesis], [references])
    assert rows.score().score == 0.0
    assert rows.segment_scores().tolist() == [0.0]


@pytest.mark.parametrize("method", worked.SENTENCE_METHODS)
@pytest.mark.parametrize("references", [["a b"], [""]])
def test_an_empty_sentence_scores_0(method, references):
    assert sentence_bleu("", references, method=method).score == 0.0


def test_an_empty_hypothesis_still_adds_its_closest_reference_length():
    score = bleu(["a b c d", ""], [["a b c d"], ["a b c d e f", "a b c"]])
    assert (score.hypothesis_length, score.reference_length) == (4, 7)
    assert score.score == pytest.approx(100 * math.exp(1 - 7 / 4))


def test_orders_that_do_not_exist():
    """A one-token hypothesis adds 0/0 to a corpus; alone it is judged by the orders it has."""
    rows = BLEU(order=2, smooth="none").compute(["a", "b c"], [["a"], ["b c"]])
    assert rows.rows[0].tolist() == [1, 0, 1, 0, 1, 1]
    assert rows.segment_scores().tolist() == pytest.approx([100, 100])
    assert rows.score().score == pytest.approx(100)
    assert rows[:1].score().score == 0.0
    effective = BLEU(order=2, smooth="none", effective_order=True)
    assert effective.compute(["a"], [["a"]]).score().score == pytest.approx(100)
