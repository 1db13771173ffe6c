"""The neutral weight: what counting from it does, and finding it without looking at outputs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import DeltaBLEU, Discriminative, Soft, UpsilonBLEU, score_systems
from deltableu.corpus import Item, Reference, ReferenceSet, reference_set
from deltableu.errors import InputError
from deltableu.judges import UpsilonChrF
from deltableu.score import SignedDeltaBLEU, choose_neutral
from deltableu.score.engine.neutral import SHIFTS
from tests.score.corpora import random_corpus

METRICS = (
    DeltaBLEU(tokenize="none"),
    SignedDeltaBLEU(tokenize="none"),
    Discriminative("chrf"),
    Discriminative("chrf", pool="best"),
    Soft("chrf"),
    UpsilonBLEU(tokenize="none"),
    UpsilonChrF(),
)
WORDS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]


def shifted(weights, neutral):
    """w - neutral, cut to [-1, 1]."""
    return [[min(max(round(w - neutral, 12), -1.0), 1.0) for w in row] for row in weights]


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
@pytest.mark.parametrize("neutral", [-0.7, -0.25, 0.3])
def test_weights_are_counted_from_it(metric, neutral):
    corpus = random_corpus(3, 12)
    weights = [[1.0, *row[1:]] for row in corpus.weights]
    references = ReferenceSet(corpus.references, weights)
    moved = replace(metric, neutral=neutral)
    found = moved.compute(corpus.hypotheses, references)
    expected = metric.compute(corpus.hypotheses, corpus.references, shifted(weights, neutral))
    assert found.segment_scores().tolist() == expected.segment_scores().tolist()
    assert f"neutral={neutral:g}" in found.score().signature["weights"]
    # Prepared references are not counted twice, nor under a metric that settled them.
    prepared = moved.prepare_references(references)
    again = moved.compute(corpus.hypotheses, prepared)
    assert again.score().score == found.score().score
    settled, plain = moved.settled(references)
    assert plain.compute(corpus.hypotheses, settled).score().score == found.score().score


@pytest.mark.parametrize("metric", METRICS[:5], ids=lambda one: one.name)
def test_rows_under_other_weights_are_counted_once(metric):
    corpus = random_corpus(4, 8)
    weights = [[1.0, *row[1:]] for row in corpus.weights]
    references = ReferenceSet(corpus.references, weights)
    moved = replace(metric, neutral=0.2)
    expected = moved.compute(corpus.hypotheses, references).segment_scores()
    for some in (references, moved.prepare_references(references)):
        ready = moved.reweighting(some, [corpus.hypotheses])
        rows = ready.rows(some.flat_weights[np.newaxis])[0, :, 0]
        assert moved.segment_scores(rows) == pytest.approx(expected)


def test_0_changes_nothing_and_neither_does_a_study_without_weights():
    references = ReferenceSet([["a", "b"]], [[1.0, -0.5]])
    assert DeltaBLEU().prepare_references(references) is references
    plain = ReferenceSet([["a", "b"]])
    metric = Soft("chrf", neutral="auto")
    one, other = (made.compute(["a"], plain).score() for made in (metric, Soft("chrf")))
    assert one == other
    assert metric.neutral_choice(plain) is None


@settings(max_examples=60, deadline=None)
@given(weight=st.floats(-1, 1), neutral=st.floats(-0.99, 0.99))
def test_counted_weights_stay_weights_in_their_order(weight, neutral):
    given = ReferenceSet([["a", "b"]], [[weight, min(weight + 0.1, 1.0)]])
    (low, high), *_ = given.counted_from(neutral).weights
    assert -1.0 <= low <= high <= 1.0


# --- Finding it -----------------------------------------------------------------------------------


def lenient_study(seed=0, items=60):
    """Raters call bad answers fair, and these are many; each kind shares words with itself alone.

    With 0 for neutral no reference is bad, and what is like the many scores best.
    """
    rng = np.random.default_rng(seed)
    texts, weights = [], []
    for _ in range(items):
        words = rng.permutation(WORDS)
        good, bad = words[:8], words[8:]
        rows = [(" ".join(rng.permutation(good)[:5]), 1.0) for _ in range(3)]
        rows += [(" ".join(rng.permutation(bad)[:5]), 0.5) for _ in range(6)]
        texts.append([text for text, _ in rows])
        weights.append([weight for _, weight in rows])
    return ReferenceSet(texts, weights)


def literal_choice(metric, references):
    """The agreement of one metric with held-out pairs, one pair and one shift at a time."""
    found = {}
    for shift in SHIFTS:
        total = pairs = 0
        for row, weights in zip(references.texts, references.weights, strict=True):
            for one, other in combinations(range(len(row)), 2):
                if weights[one] == weights[other]:
                    continue
                kept = [place for place in range(len(row)) if place not in (one, other)]
                rest = [[row[place] for place in kept]] * 2
                counted = shifted([[weights[place] for place in kept]] * 2, shift)
                scores = metric.compute([row[one], row[other]], rest, counted).segment_scores()
                total += np.sign(scores[0] - scores[1]) * np.sign(weights[one] - weights[other])
                pairs += 1
        found[shift] = total / pairs
    return found


def test_agreement_is_that_of_each_pair_by_itself():
    references = lenient_study(items=4)
    metric = Discriminative("chrf")
    choice = choose_neutral(metric, references)
    expected = literal_choice(metric, references)
    for shift, tau in zip(choice.shifts, choice.agreement, strict=True):
        assert tau == pytest.approx(expected[shift])
    assert choice.pairs == 4 * 18


def test_raters_who_call_all_fair_have_another_neutral_weight():
    references = lenient_study()
    choice = choose_neutral(Discriminative("chrf"), references)
    assert 0.2 <= choice.value < 1.0
    found = dict(zip(choice.shifts, choice.agreement, strict=True))
    assert found[choice.value] > found[0.0] + 0.1
    assert choice.summary.startswith(f"neutral weight {choice.value:g}: Kendall's tau")
    assert choice.table().rows


def test_where_nothing_is_better_0_stays():
    rng = np.random.default_rng(2)
    texts = [[" ".join(rng.permutation(WORDS)[:5]) for _ in range(5)] for _ in range(40)]
    weights = rng.uniform(-1, 1, (40, 5)).round(1).tolist()
    assert choose_neutral(Discriminative("chrf"), ReferenceSet(texts, weights)).value == 0.0


def test_no_item_loses_its_last_good_reference():
    choice = choose_neutral(Discriminative("chrf"), lenient_study())
    assert max(choice.shifts) == 0.9
    low = [["a b", "b c", "c d"]] * 5
    choice = choose_neutral(Discriminative("chrf"), ReferenceSet(low, [[0.2, -0.5, -0.6]] * 5))
    assert max(choice.shifts) == 0.1


@pytest.mark.parametrize(
    "references",
    [
        ReferenceSet([["a", "b"]], [[1.0, -1.0]]),
        ReferenceSet([["a", "b", "c"]], [[0.5, 0.5, 0.5]]),
    ],
    ids=["two", "all alike"],
)
def test_too_few_references_leave_it_at_0(references):
    choice = choose_neutral(Discriminative("chrf"), references)
    assert (choice.value, choice.pairs) == (0.0, 0)
    assert "no item has three references" in choice.summary


def test_one_item_is_enough():
    references = ReferenceSet([["a b", "a c", "x y", "x z"]], [[1.0, 0.9, 0.2, 0.1]])
    assert choose_neutral(Soft("chrf"), references).pairs == 6


def test_outputs_have_no_say():
    references = lenient_study()
    metric = Discriminative("chrf", neutral="auto")
    rng = np.random.default_rng(5)
    outputs = {
        name: [" ".join(rng.permutation(WORDS)[:5]) for _ in range(60)] for name in ("one", "two")
    }
    turned = {name: [*texts[1:], texts[0]] for name, texts in outputs.items()}
    turned = {"one": turned["two"], "two": turned["one"]}
    value = metric.fitted_to(references).neutral
    for some in (outputs, turned):
        found = score_systems(references, some, [metric])
        for one in found.scores:
            assert f"neutral={value:g}" in one.score.signature["weights"]


def test_it_is_found_for_all_items_and_kept_for_some():
    references = lenient_study()
    fitted = Discriminative("chrf", neutral="auto").fitted_to(references)
    hypotheses = [row[0] for row in references.texts]
    every = fitted.compute(hypotheses, references).segment_scores()
    some = fitted.compute(hypotheses[:3], references.take(range(3))).segment_scores()
    assert some.tolist() == every[:3].tolist()
    automatic = Discriminative("chrf", neutral="auto")
    assert automatic.compute(hypotheses, references).segment_scores().tolist() == every.tolist()


def test_a_judge_rates_first():
    class Lenient:
        signature = "lenient"

        def rate(self, item, references):
            return [one.weight for one in references]

    plain = lenient_study(items=20)
    items = []
    for number, row in enumerate(zip(plain.texts, plain.weights, strict=True)):
        pairs = enumerate(zip(*row, strict=True))
        rated = (Reference(f"r{place}", text, weight) for place, (text, weight) in pairs)
        items.append(Item(str(number), tuple(rated)))
    references = reference_set(items)
    metric = UpsilonChrF(rater=Lenient(), neutral="auto").fitted_to(references)
    assert metric.neutral == choose_neutral(Discriminative("chrf++"), plain).value != 0.0
    hypotheses = [row[0] for row in plain.texts]
    found = metric.compute(hypotheses, references).score()
    assert found.signature["weights"] == f"lenient,neutral={metric.neutral:g}"


@pytest.mark.parametrize("value", [1, -1, 1.5, math.nan, "middle", None, True])
@pytest.mark.parametrize("make", [DeltaBLEU, lambda **more: Discriminative("chrf", **more)])
def test_neutral_weights_that_are_none(make, value):
    with pytest.raises(InputError, match="neutral must be a weight between -1 and 1, or auto"):
        make(neutral=value)


def test_a_reference_without_weight_is_named():
    given = ReferenceSet([["a", "b", "c"]] * 2, [[1.0, 0.5, 0.0], [1.0, None, 0.0]])
    with pytest.raises(InputError, match=r"1.*has a reference without a weight"):
        choose_neutral(Discriminative("chrf"), given)
