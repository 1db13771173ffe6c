"""Pooling, normalising and blending, against literal transcriptions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.judges.blending import Range, blended
from deltableu.judges.pooled_vectors import cosines, pooled, pooled_texts
from deltableu.text import WordVectors

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=12)
SHARE = st.floats(0, 1)


def test_the_golden_cosine():
    one, other = pooled([[1, 0], [0, 2]]), pooled([[1, -1], [0, 1]])
    assert one.tolist() == [1, 2, 0, 0]
    assert other.tolist() == [1, 1, 0, -1]
    assert cosines(one[None], other[None])[0] == pytest.approx(0.7746, abs=5e-5)


@given(
    st.integers(1, 4).flatmap(
        lambda size: st.lists(
            st.lists(st.floats(-9, 9), min_size=size, max_size=size), min_size=1, max_size=5
        )
    )
)
def test_pooling_is_column_by_column(rows):
    columns = list(zip(*rows, strict=True))
    most, least = [max(one) for one in columns], [min(one) for one in columns]
    means = [math.fsum(one) / len(one) for one in columns]
    assert pooled(rows).tolist() == [*most, *least]
    assert pooled(rows, "avg") == pytest.approx(np.array(means), abs=1e-12)
    assert pooled(rows, "all") == pytest.approx(np.array([*most, *least, *means]), abs=1e-12)


def test_words_without_a_vector_are_passed_over():
    words = WordVectors({"a": 0, "b": 1}, np.array([[1.0, -2.0], [3.0, 4.0]]))
    found = pooled_texts(words, [["a", "x", "b"], ["a", "b"], ["x"], []])
    assert found[0].tolist() == found[1].tolist() == [3, 4, 1, -2]
    assert not found[2:].any()
    assert cosines(found, found).tolist() == pytest.approx([1, 1, 0, 0])


@given(SCORES, SCORES)
def test_normalising_is_the_papers(scores, others):
    low, high = min(scores), max(scores)
    found = Range.of(scores).normalise([*scores, *others])
    if high - low > 0:
        for score, one in zip(scores, found, strict=False):
            assert one == pytest.approx((score - low) / (high - low))
    else:
        assert set(found) == {0.5}
    assert ((found >= 0) & (found <= 1)).all()


@given(st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=8))
def test_blends_are_the_papers(pairs):
    one, other = zip(*pairs, strict=True)
    literal = {
        "arithmetic": lambda a, b: (a + b) / 2,
        "geometric": lambda a, b: math.sqrt(a * b),
        "min": min,
        "max": max,
    }
    for blend, formula in literal.items():
        wanted = [formula(*pair) for pair in pairs]
        assert blended(one, other, blend) == pytest.approx(np.array(wanted))


def test_what_is_no_blend_and_no_range():
    with pytest.raises(InputError, match="blend"):
        blended([0.5], [0.5], "mean")
    for ends in ((1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)):
        with pytest.raises(InputError, match="range"):
            Range(*ends)
