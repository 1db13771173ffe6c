"""Perceptrons beside a literal transcription of the papers' loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import NIST, TER, DeltaBLEU, SentenceBLEU
from deltableu.corpus import ReferenceSet
from deltableu.tune import PerceptronSettings
from deltableu.tune.perceptron import _Learner, quality_ranks
from tests.tune.tuning_kit import lists_of, problem_of, problems

METRIC = SentenceBLEU(order=2, tokenize="none")


def literal(features, ranks, weights, rule):
    """Shen, Sarkar and Och 2004, algorithms 1 and 2, for one item; None without an update."""
    size = len(ranks)
    pulls, moved = [0.0] * size, False
    for j in range(size):
        for k in range(size):
            apart = 1 / ranks[j] - 1 / ranks[k]
            if rule.rule == "ordinal":
                counts, margin = apart > rule.distance, apart
            else:
                counts = ranks[j] <= rule.best * size and ranks[k] > (1 - rule.worst) * size
                margin = 1.0
            ahead = float(weights @ features[j]) - float(weights @ features[k])
            if counts and ahead < margin * rule.margin:
                pulls[j] += margin
                pulls[k] -= margin
                moved = True
    return sum(pull * row for pull, row in zip(pulls, features, strict=True)) if moved else None


@settings(max_examples=60, deadline=None)
@given(
    problem=problems(width=3, most=6),
    weights=st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array),
    rule=st.sampled_from(
        [
            PerceptronSettings(),
            PerceptronSettings(distance=0.4, margin=0.3),
            PerceptronSettings(rule="splitting", best=0.5, worst=0.25),
        ]
    ),
)
def test_an_items_pull_is_that_of_the_loops(problem, weights, rule):
    made = problem_of(METRIC, *problem)
    learner, ranks = _Learner(made, rule), quality_ranks(made)
    for item in range(len(made.lists)):
        first, last = made.lists.bounds[item : item + 2].tolist()
        wanted = literal(learner.columns[:, first:last].T, ranks[first:last], weights, rule)
        found = learner.pull(item, weights)
        if wanted is None:
            assert found is None
        else:
            assert found == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(problem=problems(width=1, most=6))
def test_ranks_count_the_better_candidates(problem):
    made = problem_of(METRIC, *problem)
    scores = np.round(made.statistics.segment_scores(), 9)
    for item in range(len(made.lists)):
        first, last = made.lists.bounds[item : item + 2].tolist()
        mine = scores[first:last]
        assert quality_ranks(made)[first:last].tolist() == [
            1 + int((mine > one).sum()) for one in mine
        ]


def test_texts_that_all_score_0_are_ranked_by_their_signed_means():
    lists = lists_of([["a x", "b x", "x y"]], [[0], [0], [0]])
    references = ReferenceSet([["b z", "a z"]], [[1.0, -1.0]])
    made = problem_of(DeltaBLEU(tokenize="none"), lists, references)
    assert made.statistics.segment_scores().tolist() == [0.0, 0.0, 0.0]
    assert quality_ranks(made).tolist() == [3, 1, 2]


def test_lower_is_better_turns_ranks_round():
    lists = lists_of([["a b", "a c", "x y z"]], [[0], [0], [0]])
    assert quality_ranks(problem_of(TER(), lists, [["a b"]])).tolist() == [1, 2, 3]


def test_a_metric_with_segments_is_fine_for_nist_too():
    lists = lists_of([["a b", "c"]], [[0], [0]])
    assert quality_ranks(problem_of(NIST(order=1), lists, [["a b"]])).tolist() == [1, 2]
