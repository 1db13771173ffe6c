"""Small n-best lists whose best choices can be found by trying everything."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from deltableu.corpus import NBestLists, ReferenceSet
from deltableu.tune import TuningProblem, candidate_statistics

TEXTS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(" ".join)
#: Small whole numbers: sums of products are exact, and many lines tie.
NUMBERS = st.integers(-3, 3).map(float)


def lists_of(several, features, names=None):
    """Lists of (candidates of each item), with a row of features per candidate."""
    texts = tuple(text for some in several for text in some)
    bounds = np.cumsum([0, *map(len, several)])
    ids = tuple(f"q{number}" for number in range(len(several)))
    matrix = np.array(features, dtype=np.float64).reshape(len(texts), -1)
    return NBestLists(
        ids, bounds, texts, names or tuple(f"f{k}" for k in range(matrix.shape[1])), matrix
    )


@st.composite
def problems(draw, width=2, most=4):
    """Lists and weighted references of one to three items."""
    items = draw(st.integers(1, 3))
    several = [draw(st.lists(TEXTS, min_size=1, max_size=most)) for _ in range(items)]
    size = sum(map(len, several))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=size,
                         max_size=size))  # fmt: skip
    lists = lists_of(several, rows)
    texts = [[draw(TEXTS), draw(TEXTS)] for _ in range(items)]
    weights = [[1.0, draw(st.sampled_from([1.0, 0.5, -0.5, -1.0]))] for _ in range(items)]
    return lists, ReferenceSet(texts, weights, item_ids=lists.item_ids)


def problem_of(metric, lists, references):
    encoded = metric.encode(references)
    return TuningProblem(lists, candidate_statistics(metric, encoded, lists))


def exhaustive_line(metric, references, lists, start, direction):
    """Scores of all corpora along a line, by trying a step between any two crossings of lines."""
    matrix = [[Fraction(value) for value in row] for row in lists.features.tolist()]
    totals, slopes = (
        [sum(w * f for w, f in zip(map(Fraction, weights), row, strict=True)) for row in matrix]
        for weights in (start, direction)
    )
    crossings = set()
    for first, last in zip(lists.bounds[:-1].tolist(), lists.bounds[1:].tolist(), strict=True):
        for a in range(first, last):
            for b in range(first, a):
                if slopes[a] != slopes[b]:
                    crossings.add((totals[a] - totals[b]) / (slopes[b] - slopes[a]))
    ends = sorted(crossings) or [Fraction(0)]
    steps = [
        ends[0] - 1,
        *((a + b) / 2 for a, b in itertools.pairwise(ends)),
        ends[-1] + 1,
    ]
    encoded, found = metric.encode(references), []
    for step in steps:
        texts = []
        for first, last in zip(lists.bounds[:-1].tolist(), lists.bounds[1:].tolist(), strict=True):
            best = max(range(first, last), key=lambda k: (totals[k] + step * slopes[k], -k))
            texts.append(lists.texts[best])
        found.append(metric.statistics(texts, encoded).score().score)
    return found
