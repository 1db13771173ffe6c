"""Minimum Bayes risk: equal to a literal double loop, whatever the order of candidates."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

import deltableu
from deltableu.errors import InputError
from deltableu.score import RougeL
from deltableu.tune import MBRPlan, minimum_bayes_risk, utility_metric
from deltableu.tune.mbr_probabilities import candidate_probabilities
from tests import oracle
from tests.tune.mbr_oracle import (
    expected_utility,
    fast_bleu,
    fast_chrf,
    lists_of,
    masses,
    softmax,
)

WORDS = st.sampled_from(["a", "b", "c", "the", "cat", "naïve", "日本", "internationalisation"])
TEXTS = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)
#: Candidates of one item with their log-probabilities.
CANDIDATES = st.lists(st.tuples(TEXTS, st.floats(-3, 3)), min_size=2, max_size=7)
SOME = settings(max_examples=40, deadline=None)


def by_text(found, lists, values):
    return dict(zip(lists.texts, values.tolist(), strict=True))


def check(rows, wanted, utility, plan):
    """The utilities of each text, and a choice that is among the best."""
    lists = lists_of([[text for text, _ in rows]], [score for _, score in rows])
    found = minimum_bayes_risk(lists, utility, plan)
    utilities = by_text(found, lists, found.utilities)
    assert utilities == pytest.approx(wanted, rel=1e-8, abs=1e-8)
    assert wanted[found.texts[0]] == pytest.approx(max(wanted.values()), rel=1e-8, abs=1e-8)


def given_of(rows, scale=1.0):
    return masses([text for text, _ in rows], softmax([score for _, score in rows], scale))


@SOME
@given(CANDIDATES, st.booleans(), st.sampled_from(["bleu+1", "moses", "nakov", "nakov-cdec"]))
def test_bleu_is_a_double_loop_over_sentence_bleu(rows, leave, method):
    if leave and len({text for text, _ in rows}) < 2:
        return

    def score(text, other):
        return deltableu.sentence_bleu(text, [other], method=method).score

    wanted = expected_utility(given_of(rows), score, leave)
    plan = MBRPlan("LM", own_reference="leave" if leave else "keep")
    check(rows, wanted, utility_metric("bleu", method=method), plan)


@SOME
@given(CANDIDATES)
def test_bleu_and_chrf_are_double_loops_over_sacrebleu(rows):
    plan = MBRPlan("LM", scale=2.0)
    mass = given_of(rows, 2.0)

    def bleu(text, other):
        # As sacreBLEU smooths BLEU of one sentence with k = 1.
        metric = sacrebleu.BLEU(smooth_method="add-k", smooth_value=1, effective_order=True)
        return metric.sentence_score(text, [other]).score

    wanted = expected_utility(mass, bleu, leave=False)
    check(rows, wanted, deltableu.BLEU(smooth="add-k"), plan)
    for metric, order in ((deltableu.ChrF(), 0), (deltableu.ChrFPlusPlus(), 2)):
        peer = sacrebleu.CHRF(word_order=order)
        wanted = expected_utility(mass, partial(_peer_score, peer), False)
        check(rows, wanted, metric, plan)


def _peer_score(peer, text, other):
    return peer.sentence_score(text, [other]).score


@SOME
@given(CANDIDATES, st.booleans())
def test_expected_counts_are_literal(rows, leave):
    if leave and len({text for text, _ in rows}) < 2:
        return
    mass = given_of(rows)
    plan = MBRPlan("LM", aggregate=True, own_reference="leave" if leave else "keep")
    metric = utility_metric("bleu-3", tokenize="none")
    check(rows, fast_bleu(mass, 3, leave), metric, plan)
    check(rows, fast_chrf(mass, leave), "chrf", plan)


#: Settings with a compiled path, and others.
WEIGHTED = [
    deltableu.DeltaBLEU(),
    deltableu.DeltaBLEU(order=3, smooth="add-k"),
    deltableu.SignedDeltaBLEU(),
    deltableu.SignedDeltaBLEU(smooth="add-k"),
    deltableu.DeltaBLEU(smooth="floor"),
    deltableu.DeltaBLEU(variant="galley2019", smooth="exp"),
    deltableu.DeltaBLEU(brevity="positive"),
    deltableu.DeltaChrF(),
]


@pytest.mark.parametrize("metric", WEIGHTED, ids=repr)
@settings(max_examples=15, deadline=None)
@given(CANDIDATES)
def test_weighted_references_are_the_other_candidates(metric, rows):
    mass = given_of(rows)
    if len(mass) < 2:
        return
    wanted = {}
    for text in mass:
        others = {one: weight for one, weight in mass.items() if one != text}
        weights = [weight / max(others.values()) for weight in others.values()]
        found = metric.compute([text], [list(others)], [weights])
        wanted[text] = float(found.segment_scores()[0])
    check(rows, wanted, metric, MBRPlan("LM"))


def test_a_candidate_as_its_own_reference_makes_the_most_probable_win():
    """Why delta-BLEU leaves it out."""
    lists = lists_of([["x y z", "a b c", "a b d", "a b e"]], [0.1, 0.0, 0.0, 0.0])
    kept = minimum_bayes_risk(lists, "delta-bleu", MBRPlan("LM", own_reference="keep"))
    assert kept.texts == ("x y z",)
    assert kept.utilities[0] == 100.0
    assert minimum_bayes_risk(lists, "delta-bleu", MBRPlan("LM")).texts == ("a b c",)


@SOME
@given(CANDIDATES, st.sampled_from(["none", "add-k", "floor", "exp"]))
def test_delta_bleu_is_the_formula_of_the_paper(rows, smooth):
    """Each other candidate is a reference, and the most probable of them has the weight 1."""
    mass = given_of(rows)
    if len(mass) < 2:
        return
    wanted = {}
    for text in mass:
        others = {one: weight for one, weight in mass.items() if one != text}
        weights = [weight / max(others.values()) for weight in others.values()]
        found = oracle.row(text.split(), [one.split() for one in others], weights, 3)
        wanted[text] = oracle.geometric(found, smooth, effective_order=True)
    metric = deltableu.DeltaBLEU(order=3, smooth=smooth, tokenize="none")
    check(rows, wanted, metric, MBRPlan("LM"))


@pytest.mark.parametrize("metric", WEIGHTED, ids=repr)
def test_weights_do_not_depend_on_how_likely_the_candidate_itself_is(metric):
    """Where two candidates have the same others, the same is said of both."""
    found = []
    for likely in (-2.0, 0.0, 3.0):
        lists = lists_of([["a b c d", "a b d", "c d a", "b c"]], [likely, 0.5, -0.5, 0.0])
        found.append(minimum_bayes_risk(lists, metric, MBRPlan("LM")).utilities[0])
    assert found == pytest.approx([found[0]] * 3)


@SOME
@given(CANDIDATES, st.randoms(use_true_random=False), st.sampled_from(["bleu", "chrf", "ter"]))
def test_the_order_of_candidates_changes_nothing_but_ties(rows, random, utility):
    shuffled = list(rows)
    random.shuffle(shuffled)
    found = []
    for given_rows in (rows, shuffled):
        lists = lists_of([[text for text, _ in given_rows]], [score for _, score in given_rows])
        choice = minimum_bayes_risk(lists, utility, MBRPlan("LM"))
        found.append((by_text(choice, lists, choice.utilities), choice.texts[0]))
    (one, first), (other, second) = found
    assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    assert one[first] == pytest.approx(one[second], rel=1e-9, abs=1e-8)


TWICE = [("bleu", False), ("chrf", False), ("delta-bleu", False), ("rouge-l", False)]


@pytest.mark.parametrize(("utility", "aggregate"), [*TWICE, ("bleu", True), ("chrf", True)])
def test_a_text_that_is_there_twice_counts_twice(utility, aggregate):
    plan = MBRPlan("LM", aggregate=aggregate)
    twice = lists_of([["a b c", "a b", "a b c", "b c d"]], np.log([1, 2, 1, 3]))
    once = lists_of([["a b c", "a b", "b c d"]], np.log([2, 2, 3]))
    found = [minimum_bayes_risk(lists, utility, plan) for lists in (twice, once)]
    assert found[0].utilities[[0, 1, 3]] == pytest.approx(found[1].utilities)
    assert found[0].utilities[2] == found[0].utilities[0]
    assert found[0].texts == found[1].texts


@pytest.mark.parametrize(
    "metric", [deltableu.TER(), RougeL(), deltableu.SentenceBLEU(), deltableu.ChrF()], ids=repr
)
def test_many_items_in_batches_and_threads(metric, monkeypatch):
    monkeypatch.setattr("deltableu.tune.mbr._BATCH", 12)
    monkeypatch.setattr("deltableu.tune.mbr_utilities._PAIRS", 10)
    rng = np.random.default_rng(3)
    words = np.array(["a", "b", "c", "d", "e", "f"])
    rows = [
        [" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(rng.integers(1, 7))]
        for _ in range(9)
    ]
    lists = lists_of(rows)
    told = []
    found = minimum_bayes_risk(lists, metric, threads=2, progress=lambda *step: told.append(step))
    sign = 1.0 if metric.higher_is_better else -1.0

    def score(text, other):
        return sign * float(metric.compute([text], [[other]]).segment_scores()[0])

    for number, row in enumerate(rows):
        mass = masses(row, [1 / len(row)] * len(row))
        wanted = expected_utility(mass, score, leave=False)
        first, last = lists.bounds[number : number + 2]
        utilities = dict(zip(row, found.utilities[first:last].tolist(), strict=True))
        assert utilities == pytest.approx(wanted)
        assert wanted[found.texts[number]] == pytest.approx(max(wanted.values()))
    assert told[-1] == (9, 9)


def test_long_candidates_are_counted_too():
    """The kernel's counts have 16 bits; longer texts take the plain way."""
    texts = ["a " * 70_000 + "b", "a " * 69_000, "b"]
    found = minimum_bayes_risk(lists_of([texts]), utility_metric("bleu-2", tokenize="none"))
    score = deltableu.SentenceBLEU(order=2, tokenize="none")
    rows = [score.compute(texts, [[other]] * 3).segment_scores() for other in texts]
    assert found.utilities == pytest.approx(np.mean(rows, axis=0))


def test_many_candidates_take_both_ways_of_counting():
    """Frequent n-grams and rare ones are counted by different loops."""
    rng = np.random.default_rng(0)
    common = ["so", "it", "is"]
    rows = [[" ".join([*common, *rng.choice(list("abcdefgh"), 4)]) for _ in range(60)]]
    mass = masses(rows[0], [1 / 60] * 60)
    found = minimum_bayes_risk(lists_of(rows), "bleu")
    wanted = expected_utility(mass, lambda t, o: deltableu.sentence_bleu(t, [o]).score, False)
    assert dict(zip(rows[0], found.utilities.tolist(), strict=True)) == pytest.approx(wanted)


def test_agreement_with_all_pairs_is_said():
    rng = np.random.default_rng(1)
    rows = [[" ".join(rng.choice(list("abcdef"), 6)) for _ in range(8)] for _ in range(30)]
    lists = lists_of(rows)
    fast = minimum_bayes_risk(lists, "chrf", MBRPlan(aggregate=True, compare_exact=True))
    exact = minimum_bayes_risk(lists, "chrf")
    same = sum(one == other for one, other in zip(fast.texts, exact.texts, strict=True))
    assert fast.agreement == same / 30
    assert fast.exact_utilities.tolist() == exact.utilities.tolist()
    lost = exact.utilities[exact.chosen] - exact.utilities[fast.chosen]
    assert fast.loss == pytest.approx(lost.mean())
    assert lost.min() >= 0.0
    assert f"{fast.agreement:.1%} of items" in fast.sentences()[1]
    assert (exact.agreement, exact.loss) == (None, None)


def test_one_candidate_is_chosen_whatever_it_is():
    lists = lists_of([["yes"], ["no", "no"], ["a b c", "a b c d", "x"]])
    found = minimum_bayes_risk(lists, "delta-bleu")
    assert found.texts == ("yes", "no", "a b c")
    assert np.isnan(found.utilities[:3]).all()
    assert found.record()["choices"][0]["expected"] is None


def test_ties_go_to_the_more_probable_then_to_the_first():
    assert minimum_bayes_risk(lists_of([["x", "y", "z"]]), "bleu").texts == ("x",)
    lists = lists_of([["x", "y", "z"]], [0.0, 1.0, 1.0])
    leave = MBRPlan("LM", own_reference="leave")
    assert minimum_bayes_risk(lists, "bleu", leave).texts == ("y",)


def test_choices_that_are_not_the_majority_are_counted():
    rows = [["a a", "a a", "a b c", "a b d", "c b d"], ["x", "y"], ["z", "z", "w"]]
    found = minimum_bayes_risk(lists_of(rows), "chrf", MBRPlan(own_reference="leave"))
    assert found.texts[0] != "a a"
    frequent = [max(row, key=row.count) for row in rows]
    differs = [
        row.count(one) < row.count(other)
        for row, one, other in zip(rows, found.texts, frequent, strict=True)
    ]
    assert found.against_majority == sum(differs) == 1
    assert found.sentences()[1] == (
        "For 1 of 3 items that is not the most frequent text of the list."
    )
    assert found.record()["against_majority"] == 1
    unanimous = minimum_bayes_risk(lists_of([["x", "x", "y"]]), "chrf")
    assert (unanimous.against_majority, len(unanimous.sentences())) == (0, 1)


def test_probabilities():
    lists = lists_of([["x", "y"], ["z", "w"]], [0.0, 1000.0, 1.0, 2.0])
    found = candidate_probabilities(lists, "LM", scale=5.0)
    assert found[:2] == pytest.approx([1e-12, 1.0])
    assert found[2:] == pytest.approx(softmax([1.0, 2.0], 5.0))
    # However sure the model is, what else it said is what its best candidate is compared with.
    sure = minimum_bayes_risk(lists, "delta-bleu", MBRPlan("LM", scale=5.0))
    assert np.isfinite(sure.utilities).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = lists_of([["x", "y"]], [1e308, -1e308])
        assert candidate_probabilities(far, "LM") == pytest.approx([1.0, 1e-12])
        with pytest.raises(InputError, match="take a smaller scale"):
            candidate_probabilities(far, "LM", scale=10.0)
        for utility in ("bleu", "chrf"):
            plan = MBRPlan("LM", scale=1e6, own_reference="leave")
            assert np.isfinite(minimum_bayes_risk(lists, utility, plan).utilities).all()


WRONG = [
    ({"utility": "ibleu"}, "needs the message"),
    ({"utility": "nist"}, "references of all items"),
    ({"utility": "cider"}, "references of all items"),
    ({"utility": "length"}, "no reference"),
    ({"utility": "distinct-1"}, "cannot be a utility"),
    ({"utility": "blue"}, "did you mean"),
    ({"plan": {"probabilities": "total"}}, "have no totals"),
    ({"plan": {"probabilities": "lm"}}, "did you mean 'LM'?"),
    ({"plan": {"probabilities": "LM", "scale": 1e400}}, "finite number"),
    ({"plan": {"own_reference": "drop"}}, "own_reference must be"),
    ({"plan": {"compare_exact": True}}, "goes with aggregate"),
    ({"utility": "delta-bleu", "plan": {"aggregate": True}}, "expected counts"),
    ({"utility": "ter", "plan": {"aggregate": True}}, "expected counts"),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=lambda one: str(one)[:40])
def test_what_cannot_be_done_is_said(wrong, said):
    lists = lists_of([["x", "y"]])

    def run():
        plan = MBRPlan(**wrong.get("plan", {}))
        minimum_bayes_risk(lists, wrong.get("utility", "bleu"), plan)

    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        run()
