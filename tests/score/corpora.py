"""Random corpora: ragged, from so few words that n-grams match and repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

WORDS = "abcé"

VARIANTS = ("paper", "galley2019", "tsuta2020")


@dataclass(frozen=True)
class Corpus:
    """Token lists joined by single spaces, and a weight for every reference."""

    hypotheses: list[str]
    references: list[list[str]]
    weights: list[list[float]]

    @property
    def ones(self) -> list[list[float]]:
        return [[1.0] * len(row) for row in self.references]


def texts(shortest: int = 0, longest: int = 9) -> st.SearchStrategy[str]:
    return st.text(alphabet=WORDS, min_size=shortest, max_size=longest).map(" ".join)


# The grid of five raters (tenths), where sums cancel, and numbers that have no short decimal form.
weights = st.one_of(
    st.integers(-10, 10).map(lambda tenths: tenths / 10),
    st.floats(-1, 1, allow_subnormal=False).filter(lambda w: w == 0 or abs(w) > 1e-6),
)
positive = st.one_of(st.integers(1, 10).map(lambda tenths: tenths / 10), st.floats(1e-3, 1))


@st.composite
def corpora(draw: st.DrawFn, *, shortest: int = 0, items: int = 5) -> Corpus:
    """Up to `items` items of 1-5 references, the first or another of which has a weight above 0."""
    hypotheses, references, numbers = [], [], []
    for _ in range(draw(st.integers(1, items))):
        hypotheses.append(draw(texts(shortest)))
        pairs = draw(st.lists(st.tuples(texts(shortest), weights), min_size=1, max_size=5))
        ratings = [weight for _, weight in pairs]
        if max(ratings) <= 0:
            ratings[len(ratings) // 2] = draw(positive)
        references.append([text for text, _ in pairs])
        numbers.append(ratings)
    return Corpus(hypotheses, references, numbers)


def random_corpus(
    seed: int, items: int, *, words: int = 6, references: int = 4, longest: int = 9
) -> Corpus:
    """A larger corpus, made without hypothesis."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{number}" for number in range(words)])

    def text() -> str:
        return " ".join(rng.choice(vocabulary, size=rng.integers(0, longest + 1)))

    rows = [[text() for _ in range(rng.integers(1, references + 1))] for _ in range(items)]
    numbers = [[float(w) for w in rng.uniform(-1, 1, len(row))] for row in rows]
    for ratings in numbers:
        ratings[0] = abs(ratings[0])
    return Corpus([text() for _ in range(items)], rows, numbers)
