"""The exact line search, beside a search that tries every corpus along the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, TER, ChrF, DeltaBLEU, DeltaChrF
from deltableu.tune import score_line
from tests.tune.tuning_kit import NUMBERS, exhaustive_line, lists_of, problem_of, problems

METRICS = [
    BLEU(order=2, tokenize="none", smooth="none"),
    DeltaBLEU(tokenize="none"),
    DeltaBLEU(tokenize="none", combine="arithmetic"),
    ChrF(),
    TER(),
    DeltaChrF(),
]
VECTORS = st.lists(NUMBERS, min_size=2, max_size=2)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: f"{metric.name}")
@settings(max_examples=30, deadline=None)
@given(problem=problems(), start=VECTORS, direction=VECTORS)
def test_every_corpus_on_the_line_is_found(metric, problem, start, direction):
    lists, references = problem
    wanted = exhaustive_line(metric, references, lists, start, direction)
    totals, slopes = (lists.features @ np.array(one) for one in (start, direction))
    line = score_line(problem_of(metric, lists, references), totals, slopes)
    found = metric.aggregate(line.sums)
    assert found.max() == pytest.approx(max(wanted), abs=1e-9)
    assert found.min() == pytest.approx(min(wanted), abs=1e-9)
    assert set(np.round(found, 6)) == set(np.round(wanted, 6))
    encoded = metric.encode(references)
    # What is found at a step is what weights there choose.
    for step, sums in zip(line.steps.tolist(), line.sums, strict=True):
        best = lists.best(totals + step * slopes)
        texts = lists.texts_of(best)
        assert metric.statistics(texts, encoded).sums() == pytest.approx(sums, abs=1e-9)


def test_a_line_on_which_nothing_changes():
    metric = BLEU(order=1, tokenize="none")
    lists = lists_of([["a", "b"], ["c"]], [[1], [0], [2]])
    problem = problem_of(metric, lists, [["a"], ["c"]])
    line = score_line(problem, lists.features[:, 0].copy(), np.zeros(3))
    assert line.steps.tolist() == [0.0]
    assert metric.aggregate(line.sums).tolist() == pytest.approx([100.0])


def test_of_equal_lines_the_first_counts():
    metric = BLEU(order=1, tokenize="none")
    lists = lists_of([["a", "b", "c"]], [[0], [1], [1]])
    problem = problem_of(metric, lists, [["b"]])
    line = score_line(problem, np.zeros(3), lists.features[:, 0].copy())
    assert metric.aggregate(line.sums).tolist() == pytest.approx([0.0, 100.0])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_lines_that_are_almost_parallel_meet_nowhere(scale):
    metric = BLEU(order=1, tokenize="none")
    lists = lists_of([["a", "b", "c"]], [[0], [0], [0]])
    problem = problem_of(metric, lists, [["b"]])
    slopes = np.array([0.0, 1e-300, 1.0]) * min(scale, 1.0)
    line = score_line(problem, np.array([scale, 0.0, -scale]), slopes)
    assert np.isfinite(line.steps).all()
    assert len(line.steps) == len(line.sums) >= 1
