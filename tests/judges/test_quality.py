"""Accuracy, calibration and the baseline that stands beside a rater."""

from __future__ import annotations

import numpy as np
import scipy.stats  # noqa: F401, so that no example has to wait for it
from hypothesis import given
from hypothesis import strategies as st

from deltableu.judges.batches import quadruples
from deltableu.judges.examples import draw_examples
from deltableu.judges.log_pairs import read_training_pairs
from deltableu.judges.quality import OverlapBaseline, area_under_curve, calibration
from deltableu.logs.partitions import find_partitions
from deltableu.neural.word_vocabulary import word_vocabulary

scored = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=30).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


@given(scored)
def test_area_is_the_share_of_pairs_in_order(rows):
    good = [score for score, label in rows if label]
    bad = [score for score, label in rows if not label]
    wins = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    found = area_under_curve(*zip(*rows, strict=True))
    assert np.isclose(found, wins / (len(good) * len(bad)))


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_calibration_keeps_every_example(rows):
    said, so = zip(*rows, strict=True)
    bins = calibration(said, so, bins=5)
    assert sum(one.examples for one in bins) == len(rows)
    assert np.isclose(sum(one.examples * one.positive for one in bins), sum(so))
    assert np.isclose(sum(one.examples * one.probability for one in bins), sum(said))


def test_overlap_tells_responses_that_share_words():
    rows = []
    for topic in range(80):
        words = [f"t{topic}w{word}" for word in range(4)]
        rows += [(f"about {words[0]}", f"well {words[1]} {words[place]}") for place in (2, 3)]
    partitions = find_partitions(rows)
    vocabulary = word_vocabulary(partitions, size=1000)
    pairs = read_training_pairs(partitions, vocabulary, validation=0.3)
    chosen = {"seed": 0, "epoch": 0, "negatives": "matched"}
    baseline = OverlapBaseline(pairs, draw_examples(pairs, "training", **chosen))
    held_out = draw_examples(pairs, "validation", **chosen)
    scores = baseline.scores(quadruples(pairs, held_out))
    assert np.mean((scores > 0) == held_out.labels) == 1.0
