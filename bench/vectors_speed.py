"""Word vectors beside gensim's word2vec: the same texts, size, window and epochs, two threads."""

from __future__ import annotations

import logging
from importlib import import_module

from bench.logs import pairs
from bench.timing import best_of
from deltableu.vectors import VectorEpoch, train_vectors

__all__ = ["main"]

ROWS, DIMENSION, WINDOW, EPOCHS, THREADS, REPEATS = 100_000, 100, 15, 5, 2, 2


def main() -> None:
    """Print words/s of both, and their ratio.

    A word is a word of the corpus in an epoch: words of the corpus x epochs, over the time of the
    whole job. Ours has reading, finding words, counting co-occurrences and all epochs; gensim's
    gets texts that are cut into words, and has building its vocabulary and all epochs.
    """
    logging.getLogger("gensim").setLevel(logging.ERROR)
    word2vec = import_module("gensim.models").Word2Vec
    logs = pairs(ROWS)
    texts = [text.split() for pair in logs for text in pair]
    words = sum(map(len, texts))
    print(
        f"word vectors: {words:,} words, dimension {DIMENSION}, window {WINDOW}, {EPOCHS} epochs, "
        f"{THREADS} threads, best of {REPEATS}"
    )

    def theirs() -> object:
        return word2vec(
            texts,
            vector_size=DIMENSION,
            window=WINDOW,
            min_count=5,
            epochs=EPOCHS,
            workers=THREADS,
        )

    done: list[VectorEpoch] = []

    def ours() -> object:
        done.clear()
        return train_vectors(
            logs,
            dimension=DIMENSION,
            window=WINDOW,
            min_count=5,
            epochs=EPOCHS,
            threads=THREADS,
            on_epoch=done.append,
        )

    slow, fast = best_of(theirs, REPEATS), best_of(ours, REPEATS)
    total = words * EPOCHS
    seconds = sum(epoch.seconds for epoch in done)
    steps = sum(epoch.steps for epoch in done)
    print(f"gensim word2vec (CBOW, 5 negatives): {slow:5.1f} s  {total / slow:>10,.0f} words/s")
    print(
        f"deltableu GloVe:                     {fast:5.1f} s  {total / fast:>10,.0f} words/s"
        f"   ratio {slow / fast:.2f}x"
    )
    print(
        f"  of which epochs {seconds:.1f} s: {steps / seconds:,.0f} co-occurrence counts/s, "
        f"{total / seconds:,.0f} words/s"
    )


if __name__ == "__main__":
    main()
