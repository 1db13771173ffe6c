"""Corpora whose structure is known, and co-occurrence counted literally."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np


def literal_words(texts, min_count):
    counts = Counter(word for text in texts for word in text.split())
    return sorted(
        (word for word, count in counts.items() if count >= min_count),
        key=lambda word: (-counts[word], word),
    )


def literal_counts(texts, window, min_count):
    """X of every two words, by all pairs of places."""
    words = set(literal_words(texts, min_count))
    found = defaultdict(Fraction)
    for text in texts:
        kept = [word for word in text.split() if word in words]
        for i, one in enumerate(kept):
            for j, other in enumerate(kept):
                if i != j and abs(i - j) <= window:
                    found[one, other] += Fraction(1, abs(i - j))
    return dict(found)


def grouped(groups=8, members=6, rows=6000, seed=0):
    """Words `gAmB` of a group A stand among the same other words."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(2 * rows):
        group = rng.integers(groups)
        others = [f"g{group}c{one}" for one in rng.integers(8, size=4)]
        others.insert(rng.integers(5), f"g{group}m{rng.integers(members)}")
        others.insert(rng.integers(6), f"common{rng.integers(4)}")
        texts.append(" ".join(others))
    return list(zip(texts[::2], texts[1::2], strict=True))


def grid(size=5, rows=12000, seed=0):
    """Words `rAcB` stand more often among words of their row A and of their column B.

    GloVe learns from what it has seen, so that every word is at times seen with every other one.
    """
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(2 * rows):
        row, column = rng.integers(size, size=2)
        others = []
        for kind, own in (("row", row), ("column", column)) * 2:
            number = own if rng.random() < 0.7 else rng.integers(size)
            others.append(f"{kind}{number}of{rng.integers(3)}")
        others.insert(2, f"r{row}c{column}")
        texts.append(" ".join(others))
    return list(zip(texts[::2], texts[1::2], strict=True))
