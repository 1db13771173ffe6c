"""scr, the relevance model that it takes, and the greedy alignment beside plain numpy."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from bench.corpora import Corpus, zipf_corpus
from bench.timing import best_of
from deltableu import SCR, ReferenceSet
from deltableu.corpus import Item, Reference, reference_set
from deltableu.judges import train_relevance
from deltableu.judges.scr_texts import words_of
from deltableu.judges.word_space import OfEncoder, WordSpace
from deltableu.text import text_vectors

__all__ = ["main", "numpy_alignment"]

ITEMS, REFERENCES = 500, 16
#: Pairs to align, and texts that they are of: a text is compared with many references.
PAIRS, TEXTS = 4_000, 20


def numpy_alignment(space: WordSpace, own: list[str], other: list[str]) -> float:
    """What a user would write: cosines of all words, and the largest of each row and column."""
    left = np.array([space.numbers[word] for word in own])
    right = np.array([space.numbers[word] for word in other])
    near = np.maximum(space.vectors[left] @ space.vectors[right].T, 0.0)
    near[left[:, None] == right[None]] = 1.0
    ours, theirs = space.rarity[left], space.rarity[right]
    precision = float(ours @ near.max(axis=1) / ours.sum())
    recall = float(theirs @ near.max(axis=0) / theirs.sum())
    return 2.0 * precision * recall / (precision + recall)


def timed(function: Callable[[], object]) -> str:
    """Wall and processor time of one run."""
    wall, processor = time.perf_counter(), time.process_time()
    function()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return f"{wall:5.1f} s, {processor:5.1f} s of processors"


def as_mined(corpus: Corpus) -> ReferenceSet:
    """The corpus as items with an original and mined references, and messages."""
    items = []
    for number, texts in enumerate(corpus.references):
        references = tuple(
            Reference(f"r{place}", text, origin="mined" if place else "original")
            for place, text in enumerate(texts)
        )
        items.append(Item(str(number), references, message=corpus.hypotheses[number - 1]))
    return reference_set(items)


def main() -> None:
    corpus = zipf_corpus(ITEMS, REFERENCES)
    mined = as_mined(corpus)
    rated = ReferenceSet(corpus.references, corpus.weights, messages=mined.messages)
    logs = [
        (utterance, response)
        for utterance, row in zip(corpus.hypotheses, corpus.references, strict=True)
        for response in row
    ]
    print(f"scr of {ITEMS} outputs x {REFERENCES} references, calibration included")
    fitted = train_relevance(logs)
    print(f"  relevance from {len(logs):,} pairs        {timed(lambda: train_relevance(logs))}")
    metric = SCR(relevance=fitted)
    sets = {"mined": mined, "rated, good and bad": rated}
    for name, references in sets.items():
        took = timed(partial(metric.compute, corpus.hypotheses, references))
        print(f"  {name:<27} {took}")

    texts = words_of([text for row in corpus.references for text in row])
    space = WordSpace.of(texts, OfEncoder(text_vectors("wordllama")))
    own = words_of(corpus.hypotheses)
    space = space.with_words(word for row in own for word in row)
    left, right = space.numbered(own), space.numbered(texts)
    owners = np.repeat(np.arange(TEXTS), PAIRS // TEXTS)
    chosen = np.random.default_rng(0).integers(0, len(texts), PAIRS)
    ours = space.compare(left, right, owners, chosen)[1]
    pairs = list(zip(owners.tolist(), chosen.tolist(), strict=True))
    theirs = np.array([numpy_alignment(space, own[i], texts[j]) for i, j in pairs])
    fast = best_of(lambda: space.compare(left, right, owners, chosen))
    slow = best_of(lambda: [numpy_alignment(space, own[i], texts[j]) for i, j in pairs])
    print(f"greedy alignment of {PAIRS:,} pairs")
    print(
        f"  compiled {fast * 1e6 / PAIRS:.1f} us a pair, numpy {slow * 1e6 / PAIRS:.1f} us, ratio "
        f"{slow / fast:.1f}x, largest difference {np.abs(ours - theirs).max():.1e}"
    )


if __name__ == "__main__":
    main()
