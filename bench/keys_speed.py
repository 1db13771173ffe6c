"""What exact keys cost: beside FNV-1a of 64 bits, which is not exact, and as a part of scoring."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import deltableu
from bench.corpora import zipf_corpus
from deltableu.text import Texts, Tokenizer, span_keys, text_keys

__all__ = ["main"]

ITEMS, REFERENCES, REPEATS = 4_000, 16, 9


@numba.njit
def _fnv(data: Any, starts: Any, ends: Any, hashes: Any) -> None:
    for i in range(len(starts)):
        found = np.uint64(0xCBF29CE484222325)
        for at in range(starts[i], ends[i]):
            found = (found ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        hashes[i] = found


def processor_time(function: Callable[[], object]) -> float:
    """Seconds of the fastest run, without what other processes took."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def against_fnv(name: str, spans: Texts) -> float:
    """Print the time for a key, and return that for all of them."""
    data, hashes = np.frombuffer(spans.data, np.uint8), np.empty(len(spans), np.uint64)
    _fnv(data, spans.starts[:1], spans.ends[:1], hashes)  # compiles
    plain = processor_time(lambda: _fnv(data, spans.starts, spans.ends, hashes))
    exact = processor_time(lambda: span_keys(spans.data, spans.starts, spans.ends))
    each = 1e9 / len(spans)
    print(
        f"  {name:22} {len(spans):9,} of {spans.size / len(spans):4.1f} bytes   "
        f"keys {exact * each:5.1f} ns   FNV-1a {plain * each:5.1f} ns   ratio {exact / plain:.2f}"
    )
    return exact


def main() -> None:
    """Print times, ratios and shares."""
    corpus = zipf_corpus(ITEMS, REFERENCES)
    flat = [text for row in corpus.references for text in row]
    texts = Texts.of(flat)
    print(f"exact keys of {ITEMS:,} x {REFERENCES} references, processor time, best of {REPEATS}")
    tokens = against_fnv("tokens", Tokenizer("13a").spans(flat)[0])
    against_fnv("texts", texts)
    against_fnv("first four words", Texts.of([" ".join(text.split()[:4]) for text in flat]))
    same = processor_time(lambda: text_keys(texts))
    print(f"  what texts say (`text_keys`): {1e9 * same / len(texts):.0f} ns per text")
    for order in (2, 4):
        whole = processor_time(
            lambda order=order: deltableu.bleu(  # type: ignore[misc]
                corpus.hypotheses, corpus.references, order=order, threads=1
            )
        )
        print(f"  BLEU of order {order}: keys of tokens take {tokens / whole:.0%} of the time")


if __name__ == "__main__":
    main()
