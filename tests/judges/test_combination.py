"""The rule that turns two probabilities into a weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.judges.combination import combined_weights

WORKED = [[[0.2, 0.8], [0.9, 0.1]]]
PROBABILITIES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))


@pytest.mark.parametrize(
    ("triplets", "magnitude", "weight"),
    [
        ("max", "2p-1", -0.8),
        ("max", "p", -0.9),
        ("mean", "2p-1", -0.1),
        ("mean", "p", -0.55),
        ("first", "2p-1", 0.6),
        ("first", "p", 0.8),
        ("second", "2p-1", -0.8),
        ("second", "p", -0.9),
    ],
)
def test_the_worked_example(triplets, magnitude, weight):
    assert combined_weights(WORKED, triplets, magnitude) == pytest.approx([weight], abs=1e-12)


@pytest.mark.parametrize("triplets", ["max", "mean", "first", "second"])
def test_a_tie_is_negative(triplets):
    tie = np.full((1, 2, 2), 0.5)
    (weight,) = combined_weights(tie, triplets)
    assert weight == 0
    assert math.copysign(1, weight) == 1
    assert combined_weights(tie, triplets, "p").tolist() == [-0.5]


def test_a_tie_of_two_sure_triplets_is_negative():
    assert combined_weights([[[0.25, 0.75], [0.75, 0.25]]]).tolist() == [-0.5]


def literal(probabilities, triplets, magnitude):
    """The rule, one reference at a time, as the authors' code has it."""
    weights = []
    for first, second in probabilities:
        if triplets == "max":
            classes = [max(first[k], second[k]) for k in (0, 1)]
        elif triplets == "mean":
            classes = [(first[k] + second[k]) / 2 for k in (0, 1)]
        else:
            classes = first if triplets == "first" else second
        label = 1 if classes[1] > classes[0] else 0
        p = classes[label]
        size = p if magnitude == "p" else 2 * p - 1
        weights.append(size if label == 1 else -size)
    return weights


@given(
    st.lists(st.tuples(PROBABILITIES, PROBABILITIES), max_size=8),
    st.sampled_from(["max", "mean", "first", "second"]),
    st.sampled_from(["2p-1", "p"]),
)
def test_any_probabilities(positive, triplets, magnitude):
    probabilities = [[(1 - one, one), (1 - two, two)] for one, two in positive]
    given = np.array(probabilities).reshape(-1, 2, 2)
    weights = combined_weights(given, triplets, magnitude)
    assert weights.tolist() == pytest.approx(literal(probabilities, triplets, magnitude), abs=1e-15)
    assert all(-1 <= weight <= 1 for weight in weights)
    assert not any(weight == 0 and math.copysign(1, weight) < 0 for weight in weights)
    if triplets in ("first", "second") and magnitude == "2p-1":
        number = 0 if triplets == "first" else 1
        assert weights == pytest.approx(
            [2 * row[number][1] - 1 for row in probabilities], abs=1e-15
        )


@given(st.lists(st.tuples(PROBABILITIES, PROBABILITIES), min_size=1, max_size=8))
def test_the_order_of_triplets_counts_only_where_it_should(positive):
    given = np.array([[(1 - one, one), (1 - two, two)] for one, two in positive])
    turned = given[:, ::-1]
    for triplets in ("max", "mean"):
        assert (
            combined_weights(given, triplets).tolist()
            == combined_weights(turned, triplets).tolist()
        )
    first, second = combined_weights(given, "first"), combined_weights(turned, "second")
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("probabilities", "options", "sentence"),
    [
        (
            [[0.5, 0.5]],
            {},
            r"^probabilities: must have the shape \(references, 2, 2\), got \(1, 2\)",
        ),
        ([[[0.5, 1.5], [0.5, 0.5]]], {}, r"^probabilities: must lie in \[0, 1\]$"),
        ([[[0.5, math.nan], [0.5, 0.5]]], {}, r"^probabilities: must lie in \[0, 1\]$"),
        (
            WORKED,
            {"triplets": "avg"},
            "^triplets must be one of max, mean, first, second, got 'avg'",
        ),
        (WORKED, {"magnitude": "2p"}, "^magnitude must be one of 2p-1, p, got '2p'"),
    ],
)
def test_bad_input(probabilities, options, sentence):
    with pytest.raises(InputError, match=sentence):
        combined_weights(probabilities, **options)
