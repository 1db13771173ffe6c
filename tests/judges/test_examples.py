"""Examples of an epoch: their labels, their balance, and that each row has its share."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.judges.examples import Examples, draw_examples, unlike
from deltableu.judges.training_pairs import TrainingCounts, TrainingPairs
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.stats.resampling import stream


def made(sizes: list[int], held_out: list[int], others: list[int] = ()) -> TrainingPairs:
    """Utterances with so many responses, and other rows of utterances of these numbers."""
    groups = np.concatenate((np.repeat(np.arange(len(sizes)), sizes), others)).astype(np.int64)
    validation = np.zeros(max([len(sizes), *(one + 1 for one in others)]), np.bool_)
    validation[held_out] = True
    rows = np.arange(len(groups))
    texts = EncodedTexts(np.full(len(rows), 2, np.int32), np.arange(len(rows) + 1))
    inside = sum(sizes)
    validated = int(validation[: len(sizes)].sum())
    counts = TrainingCounts(
        inside, 0, len(sizes), len(sizes), inside, 0, len(sizes) - validated, validated,
        len(others), len(rows), 0,
    )  # fmt: skip
    return TrainingPairs(texts, rows, rows, groups, validation, counts)


def split_of(examples: Examples, label: int) -> list[tuple[int, int]]:
    here = examples.labels == label
    return list(zip(examples.first[here].tolist(), examples.second[here].tolist(), strict=True))


SIZES = st.lists(st.integers(2, 7), min_size=2, max_size=12)
MOST = st.none() | st.integers(2, 20)


@settings(max_examples=150)
@given(SIZES, st.integers(0, 9), st.integers(0, 3), MOST)
def test_matched_examples(sizes, seed, epoch, most):
    pairs = made([*sizes, 3, 2], [len(sizes), len(sizes) + 1])
    examples = draw_examples(pairs, "training", seed=seed, epoch=epoch, most=most)
    good, bad = split_of(examples, 1), split_of(examples, 0)
    group = pairs.groups
    assert len(good) == len(bad) == len(examples) / 2
    assert examples.first.dtype == examples.second.dtype == np.int64
    assert examples.labels.dtype == np.uint8
    assert all(group[one] == group[other] and one != other for one, other in good)
    assert all(group[one] != group[other] for one, other in bad)
    assert max(group[examples.first].max(), group[examples.second].max()) < len(sizes)
    # Each row is as often the first, and as often the second, in both kinds.
    for column in (0, 1):
        assert Counter(row[column] for row in good) == Counter(row[column] for row in bad)
    assert len({frozenset(row) for row in good}) == len(good)
    number = [size if size > 2 else 1 for size in sizes]
    whole = min(sum(number), 2 * (sum(number) - max(number)))
    if most is None:
        assert len(good) == whole
        if whole == sum(number):
            # A ring: every response has two neighbours, those of two have one.
            ends = Counter(row for pair in good for row in pair)
            assert all(ends[r] == (2 if sizes[group[r]] > 2 else 1) for r in range(sum(sizes)))
    else:
        # Of an odd number, two utterances cannot both have half.
        assert min(whole, most) - 1 <= len(good) <= min(whole, most)
        assert len(good) >= 2


@given(SIZES, st.lists(st.integers(0, 30), min_size=2, max_size=30), st.integers(0, 9), MOST)
def test_random_examples(sizes, others, seed, most):
    pairs = made(sizes, [], sorted(others))
    if len(set(others)) < 2:
        with pytest.raises(InputError, match="no two random rows of different utterances"):
            draw_examples(pairs, "training", seed=seed, epoch=0, negatives="random")
        return
    examples = draw_examples(pairs, "training", seed=seed, epoch=0, negatives="random", most=most)
    good, bad = split_of(examples, 1), split_of(examples, 0)
    number = sum(size if size > 2 else 1 for size in sizes)
    assert len(good) == len(bad) == (number if most is None else min(most, number))
    assert all(pairs.groups[one] == pairs.groups[other] for one, other in good)
    assert all(pairs.groups[one] != pairs.groups[other] for one, other in bad)
    assert all(min(row) >= sum(sizes) for row in bad)
    assert all(max(row) < sum(sizes) for row in good)


def test_any_two_rows_are_equally_likely():
    pairs = made([50] * 40, [], [0, 0, 0, 60, 61, 61])
    seen = Counter()
    for epoch in range(20):
        examples = draw_examples(pairs, "training", seed=1, epoch=epoch, negatives="random")
        seen.update(split_of(examples, 0))
    assert len(seen) == 2 * (3 * 1 + 3 * 2 + 1 * 2)
    mean = sum(seen.values()) / len(seen)
    assert all(abs(count - mean) < 6 * mean**0.5 for count in seen.values())


@pytest.mark.parametrize("negatives", ["matched", "random"])
def test_sides_do_not_share_an_utterance(negatives):
    held_out = [1, 4, 7, 20, 23]
    pairs = made([2, 3, 4, 5, 6, 2, 3, 4, 9], held_out, [*range(30)])
    for split, inside in (("training", False), ("validation", True)):
        examples = draw_examples(pairs, split, seed=0, epoch=0, negatives=negatives)
        for rows in (examples.first, examples.second):
            assert (pairs.validation[pairs.groups[rows]] == inside).all()


def test_every_epoch_is_another_one():
    pairs = made([5] * 50, [0, 1, 2], [*range(60)])

    def drawn(split="training", **options):
        return split_of(draw_examples(pairs, split, **{"seed": 3, "epoch": 1, **options}), 1)

    assert drawn() == drawn()
    assert drawn() != drawn(epoch=2)
    assert drawn() != drawn(seed=4)
    assert {frozenset(pair) for pair in drawn()} != {frozenset(pair) for pair in drawn(epoch=2)}
    examples = draw_examples(pairs, "training", seed=3, epoch=1)
    # In random order: labels do not lie in two halves.
    assert 60 < examples.labels[: len(examples) // 2].sum() < 180
    # Either row may be the first one.
    assert 0.4 < np.mean(examples.first < examples.second) < 0.6


@pytest.mark.parametrize("sizes", [[1, 1], [2, 2], [5, 5], [9, 3, 3, 3], [50, 25, 25], [1, 1, 1]])
def test_an_utterance_with_half_of_all(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(20):
        found = unlike(groups, stream(seed))
        assert sorted(found.tolist()) == list(range(len(groups)))
        assert (groups[found] != groups).all()


def test_negatives_are_spread_over_all_utterances():
    pairs = made([4] * 30, [])
    met = Counter()
    for epoch in range(60):
        for one, other in split_of(draw_examples(pairs, "training", seed=0, epoch=epoch), 0):
            met[pairs.groups[one], pairs.groups[other]] += 1
    assert len(met) == 30 * 29
    mean = sum(met.values()) / len(met)
    assert max(met.values()) < mean + 6 * mean**0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test"}, "split must be one of training, validation, got 'test'"),
        ({"negatives": "hard"}, "negatives must be one of matched, random, got 'hard'"),
        ({"most": 1}, "most must be at least 2, got 1"),
        ({"seed": -1}, "seed must not be negative, got -1"),
        ({"epoch": -1}, "epoch must not be negative, got -1"),
    ],
)
def test_wrong_options(options, message):
    options = {"split": "training", "seed": 0, "epoch": 0, **options}
    with pytest.raises(InputError, match=message):
        draw_examples(made([2, 2, 2], []), **options)


@pytest.mark.long
def test_a_million_examples_are_drawn_in_seconds():
    sizes = (np.random.default_rng(0).geometric(0.4, 200_000) + 1).tolist()
    pairs = made(sizes, [])
    began = time.perf_counter()
    examples = draw_examples(pairs, "training", seed=0, epoch=0)
    assert len(examples) > 1_000_000
    assert time.perf_counter() - began < 10
