"""Tuning reaches what trying everything reaches, never gets worse, and repeats itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from deltableu import BLEU, TER, DeltaBLEU, Distinct1, Soft, read_study, reference_set
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.tune import MertSettings, PerceptronSettings, tune_weights
from tests.docs.pages import ROOT
from tests.tune.tuning_kit import lists_of, problems

SMALL = MertSettings(restarts=6, directions=4)


def every_choice(metric, lists, references):
    """The best score that some direction of two weights reaches."""
    angles = np.linspace(0.0, 2.0 * np.pi, 721)[:-1] + 1e-3
    best, encoded = -np.inf, metric.encode(references)
    sign = 1.0 if metric.higher_is_better else -1.0
    seen = set()
    for angle in angles.tolist():
        totals = lists.features @ np.array([np.cos(angle), np.sin(angle)])
        chosen = tuple(lists.best(totals).tolist())
        if chosen not in seen:
            seen.add(chosen)
            texts = lists.texts_of(np.array(chosen))
            best = max(best, sign * metric.statistics(texts, encoded).score().score)
    return sign * best


@pytest.mark.parametrize(
    "metric",
    [BLEU(order=2, tokenize="none"), DeltaBLEU(tokenize="none"), TER(), Soft("chrf")],
    ids=lambda one: one.name,
)
@settings(max_examples=15, deadline=None)
@given(problem=problems())
def test_two_weights_are_tuned_as_well_as_trying_all_does(metric, problem):
    lists, references = problem
    found = tune_weights(lists, references, metric, settings=SMALL)
    wanted = every_choice(metric, lists, references)
    if metric.higher_is_better:
        assert found.training.tuned >= wanted - 1e-9
    else:
        assert found.training.tuned <= wanted + 1e-9


def synthetic(items=60, candidates=12, features=5, seed=0):
    """Lists two of whose features know something of which candidate is good."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{k}" for k in range(40)])
    several, rows, texts, weights = [], [], [], []
    for _ in range(items):
        good, bad = words[rng.permutation(40)[:12]].reshape(2, 6)
        made, about = [], []
        for _ in range(candidates):
            share = rng.random()
            drawn = rng.random(6)
            made.append(" ".join(np.where(drawn < share, good, np.where(drawn < 0.9, bad, "x"))))
            noise = rng.normal(size=features) * 10.0 ** np.arange(-2, features - 2)
            noise[0] += 0.04 * share
            noise[2] -= 3.0 * share
            about.append(noise)
        several.append(made)
        rows += about
        texts.append([" ".join(good), " ".join(bad)])
        weights.append([1.0, -0.2])
    lists = lists_of(several, rows)
    return lists, ReferenceSet(texts, weights, item_ids=lists.item_ids)


METRIC = DeltaBLEU(tokenize="none")


@pytest.mark.parametrize(
    "chosen",
    [
        MertSettings(restarts=4),
        MertSettings(restarts=3, regularization="l2", strength=5.0),
        MertSettings(restarts=3, regularization="l1", directions=0),
        PerceptronSettings(epochs=8),
        PerceptronSettings(rule="splitting", epochs=8),
    ],
    ids=["mert", "l2", "l1", "ordinal", "splitting"],
)
def test_it_repeats_itself_on_any_number_of_threads_and_helps(chosen):
    lists, references = synthetic()
    found = [
        tune_weights(
            lists, references, METRIC, settings=chosen, held_out=0.4, seed=3, threads=threads
        )
        for threads in (1, 3)
    ]
    assert found[0] == found[1]
    one = found[0]
    assert one.training.tuned > one.training.start
    assert one.held_out.items == 24
    assert one.believable
    assert one.held_out.tuned > one.held_out.start
    other = tune_weights(lists, references, METRIC, settings=chosen, held_out=0.4, seed=4)
    assert other.signature != one.signature
    assert other.training != one.training


def test_every_step_improves():
    lists, references = synthetic(seed=1)
    found = tune_weights(lists, references, METRIC, settings=MertSettings(restarts=5))
    assert len(found.paths) == 5
    for path in found.paths:
        assert all(b >= a for a, b in itertools.pairwise(path))
    assert found.paths[0][0] == pytest.approx(found.training.start)
    assert found.training.tuned == pytest.approx(max(path[-1] for path in found.paths))


def test_more_regularization_stays_nearer():
    lists, references = synthetic(seed=2)
    ends = []
    for strength in (0.0, 10.0, 1e6):
        settings = MertSettings(restarts=2, regularization="l2", strength=strength)
        found = tune_weights(lists, references, METRIC, settings=settings)
        ends.append(found.training.tuned)
        if strength == 1e6:
            assert found.training.changed == 0
    assert ends[0] >= ends[1] >= ends[2] == pytest.approx(found.training.start)


def test_where_scores_are_clamped_the_signed_mean_decides():
    # All bigrams miss: the paper's score is 0 whatever is chosen.
    lists = lists_of([["a x", "b x"], ["x a", "x b"]], [[1, 0], [0, 1], [1, 0], [0, 1]])
    references = ReferenceSet([["b y", "a y"]] * 2, [[1.0, -1.0]] * 2, item_ids=lists.item_ids)
    start = {"f0": 1.0, "f1": 0.0}
    found = tune_weights(lists, references, METRIC, start=start, settings=SMALL)
    assert (found.training.start, found.training.tuned) == (0.0, 0.0)
    assert found.training.changed == 2
    assert lists.texts_of(lists.best(lists.scores(found.weights))) == ("b x", "x b")
    assert any("clamped" in one for one in found.warnings)


def test_a_clamped_score_is_tested_by_its_signed_form():
    lists, references = synthetic()
    weights = [[1.0, -1.0]] * len(references)
    swapped = ReferenceSet(references.texts, weights, item_ids=references.item_ids)
    # Away from good words: what the starting weights choose scores 0.
    start = {"f0": -300.0, "f1": 0.0, "f2": 1.0, "f3": 0.0, "f4": 0.0}
    found = tune_weights(lists, swapped, METRIC, start=start, settings=SMALL, held_out=0.5)
    assert found.held_out.start == 0.0
    first, second = found.held_out.comparisons
    assert first.metric == "delta-bleu-2"
    assert second.metric == "signed-delta-bleu-2"
    assert found.believable


def test_noise_is_called_noise():
    lists, references = synthetic(items=20, seed=5)
    rng = np.random.default_rng(0)
    blind = lists_of(
        [lists.candidates(k) for k in range(len(lists))], rng.normal(size=(len(lists.texts), 4))
    )
    found = tune_weights(blind, references, METRIC, settings=SMALL, held_out=0.5)
    assert found.training.tuned > found.training.start
    assert found.believable is False
    assert "the difference on the items held out is within noise" in found.warnings


def test_features_that_tell_nothing_have_no_weight():
    lists = lists_of([["a", "b"], ["b", "a"]], [[1, 7], [0, 7], [0, 8], [1, 8]])
    references = ReferenceSet([["b"], ["b"]], item_ids=lists.item_ids)
    found = tune_weights(lists, references, BLEU(order=1, tokenize="none"), settings=SMALL)
    assert found.weights["f1"] == 0.0
    assert found.weights["f0"] < 0.0
    assert found.training.tuned == pytest.approx(100.0)
    assert found.warnings == (
        "f1 is the same for all candidates of every item, and the weight is 0",
    )
    still = lists_of([["a", "b"]], [[0], [0]])
    none = tune_weights(still, references.take([0]), "bleu-1", settings=SMALL)
    assert none.weights == {"f0": 0.0}
    assert none.training.changed == 0


def test_whole_groups_are_held_out():
    lists, references = synthetic(items=30)
    groups = [f"d{number // 3}" for number in range(30)]
    found = tune_weights(
        lists, references, METRIC, settings=SMALL, held_out=0.5, groups=groups, seed=1
    )
    assert (found.training.items, found.held_out.items) == (15, 15)
    assert found.held_out.comparisons[0].groups == 5


def test_lists_of_other_items_may_be_held_out():
    lists, references = synthetic()
    seen, unseen = lists.select(range(40)), lists.select(range(40, 60))
    found = tune_weights(seen, references, METRIC, settings=SMALL, held_out=unseen)
    assert (found.training.items, found.held_out.items) == (40, 20)
    with pytest.raises(InputError, match=r"item 'q39': is held out, but tuned on as well"):
        tune_weights(seen, references, METRIC, held_out=lists.select(range(39, 60)))
    other = lists_of([["a", "b"]], [[1], [2]], ("LM",))
    with pytest.raises(InputError, match="the lists held out have the features LM, but"):
        tune_weights(seen, references, METRIC, held_out=other)


def test_items_without_a_positive_reference():
    lists, references = synthetic(items=6)
    weights = [[1.0, -0.5]] * 5 + [[-1.0, -0.5]]
    some = ReferenceSet(references.texts, weights, item_ids=references.item_ids)
    with pytest.raises(InputError, match="1 of 6 items have no reference with a positive weight"):
        tune_weights(lists, some, METRIC, settings=SMALL)
    found = tune_weights(lists, some, METRIC, settings=SMALL, no_positive="skip")
    assert (found.dropped, found.training.items) == (("q5",), 5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"metric": "bleu chrf"}, "weights are tuned for one metric, and 2 were given"),
        ({"metric": Distinct1()}, "distinct-1 is no function of sums"),
        ({"start": {"f0": 1.0}}, "the weights lack the feature 'f1'"),
        ({"start": dict.fromkeys(["f0", "f1", "f2", "f3", "f4", "g"], 1.0)}, "no feature 'g'"),
        ({"held_out": 0.0}, "held_out must lie between 0 and 1"),
        ({"held_out": 0.1}, "a share of 0.1 of 8 items holds out 1"),
        ({"groups": ["a"]}, "there are 1 groups, but 8 items"),
        ({"seed": -1}, "seed must not be negative"),
        ({"settings": 3}, "settings must be a MertSettings or a PerceptronSettings"),
    ],
)
def test_what_cannot_be_tuned(change, said):
    lists, references = synthetic(items=8)
    given = {"metric": METRIC, "settings": SMALL} | change
    with pytest.raises(InputError, match=said):
        tune_weights(lists, references, **given)


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        (MertSettings, {"restarts": 0}, "restarts must be at least 1"),
        (MertSettings, {"directions": -1}, "directions must not be negative"),
        (MertSettings, {"sweeps": 0}, "sweeps must be at least 1"),
        (MertSettings, {"regularization": "l0"}, "regularization must be one of"),
        (MertSettings, {"strength": -1.0}, "strength must be a number from 0 on"),
        (PerceptronSettings, {"margin": 0.0}, "margin must be a number above 0"),
        (PerceptronSettings, {"best": 0.7, "worst": 0.7}, "at most 1 together"),
        (PerceptronSettings, {"epochs": 0}, "epochs must be at least 1"),
        (PerceptronSettings, {"rule": "x"}, "rule must be one of"),
    ],
)
def test_settings_that_cannot_be(kind, change, said):
    with pytest.raises(InputError, match=said):
        kind(**change)


def test_items_that_do_not_exist():
    study = read_study(ROOT / "examples" / "demo")
    lists = lists_of([["a", "b"]], [[1], [2]])
    with pytest.raises(InputError, match="item 'q0': there are candidates for this item, but"):
        tune_weights(lists, reference_set(study), METRIC)
