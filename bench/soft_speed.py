"""soft-cosine: embedding texts, and pooling cosines beside a plain numpy loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.corpora import zipf_corpus
from bench.timing import best_of
from deltableu.score import SoftCosine, soft_pool
from deltableu.text import Texts, dot_products, text_vectors

__all__ = ["main"]

Array = np.ndarray[Any, np.dtype[np.float64]]

OUTPUTS, REFERENCES, DIMENSION, TAU = 20_000, 16, 256, 0.1


def plain_loop(outputs: Array, references: Array, shares: Array) -> Array:
    """What a user would write: an output at a time."""
    scores = np.empty(len(outputs))
    for number, output in enumerate(outputs):
        cosines = references[number] @ output
        scores[number] = TAU * np.log(np.sum(shares[number] * np.exp(cosines / TAU)))
    return scores


def processor(function: Callable[[], object]) -> float:
    """Seconds of processor time, on all cores together."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(OUTPUTS, DIMENSION))
    references = rng.normal(size=(OUTPUTS, REFERENCES, DIMENSION))
    for made in (outputs, references):
        made /= np.linalg.norm(made, axis=-1, keepdims=True)
    weights = rng.uniform(0.1, 1.0, (OUTPUTS, REFERENCES))
    shares = weights / weights.sum(axis=1, keepdims=True)
    bounds = np.arange(OUTPUTS + 1) * REFERENCES
    owners = np.repeat(np.arange(OUTPUTS), REFERENCES)
    flat, places = references.reshape(-1, DIMENSION), np.arange(bounds[-1], dtype=np.int32)

    def pooled() -> Array:
        cosines = dot_products(outputs, flat, owners, places)
        return soft_pool(cosines, weights.ravel(), bounds, TAU)

    fast, slow = best_of(pooled), best_of(lambda: plain_loop(outputs, references, shares))
    largest = float(np.abs(pooled() - plain_loop(outputs, references, shares)).max())
    print(f"soft pool of cosines, {OUTPUTS:,} outputs x {REFERENCES} references after embedding")
    print(
        f"  deltableu {fast:.3f} s ({OUTPUTS / fast:,.0f} outputs/s)   loop over numpy {slow:.3f} s"
        f"   ratio {slow / fast:.1f}x   largest difference {largest:.1e}"
    )
    texts = [f"{text} {number}" for number, text in enumerate(zipf_corpus(5_000, 1).hypotheses)]
    source = text_vectors("wordllama")
    source.vectors(Texts.of(texts[:1]))  # loads the model
    wall = best_of(lambda: source.vectors(Texts.of(texts)))
    spent = processor(lambda: source.vectors(Texts.of(texts)))
    print(f"embedding {len(texts):,} texts of WordLlama")
    rate, per_core = len(texts) / wall, len(texts) / spent
    print(f"  {rate:,.0f} texts/s, {per_core:,.0f} per second of processor time")
    corpus = zipf_corpus(2_000, REFERENCES)
    metric = SoftCosine()
    encoded = metric.encode(corpus.references)
    whole = best_of(lambda: metric.statistics(corpus.hypotheses, encoded).score())
    print(f"soft-cosine of {len(corpus.hypotheses):,} outputs, references encoded before")
    print(f"  {whole:.3f} s ({len(corpus.hypotheses) / whole:,.0f} outputs/s, embedding included)")


if __name__ == "__main__":
    main()
