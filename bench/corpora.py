"""Generated text: Zipf-distributed words with punctuation, weighted references."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Corpus", "zipf_corpus"]

_VOCABULARY = 20_000


@dataclass(frozen=True, slots=True)
class Corpus:
    hypotheses: list[str]
    references: list[list[str]]
    weights: list[list[float]]

    @property
    def megabytes(self) -> float:
        """UTF-8 size of all texts (they are ASCII)."""
        references = sum(len(text) for row in self.references for text in row)
        return (references + sum(map(len, self.hypotheses))) / 1e6


def zipf_corpus(items: int, references: int, seed: int = 0) -> Corpus:
    """Texts of 8-16 words (12 on average), some with commas, all ending in . or ?"""
    rng = np.random.default_rng(seed)
    letters = rng.integers(ord("a"), ord("z") + 1, size=(_VOCABULARY, 8), dtype=np.uint8)
    sizes = rng.integers(2, 9, size=_VOCABULARY)
    words = [bytes(row[:size]).decode() for row, size in zip(letters, sizes, strict=True)]
    cumulative = np.cumsum(1.0 / np.arange(1, _VOCABULARY + 1))
    count = items * (references + 1)
    lengths = rng.integers(8, 17, size=count)
    drawn = np.searchsorted(cumulative, rng.random(int(lengths.sum())) * cumulative[-1])
    tokens = [words[number] for number in drawn.tolist()]
    texts = []
    at = 0
    for number, length in enumerate(lengths.tolist()):
        chosen = tokens[at : at + length]
        at += length
        if number % 3 == 0:
            chosen[length // 2] += ","
        texts.append(" ".join(chosen) + ("?" if number % 4 == 0 else "."))
    weights = np.round(rng.uniform(-1.0, 1.0, size=(items, references)), 2)
    weights[:, 0] = 1.0
    return Corpus(
        texts[:items],
        [texts[items + i * references : items + (i + 1) * references] for i in range(items)],
        weights.tolist(),
    )
