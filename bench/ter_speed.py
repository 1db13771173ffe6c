"""TER beside sacreBLEU's, of short texts and of one long line."""

from __future__ import annotations

import numpy as np
import sacrebleu

from bench.corpora import zipf_corpus
from bench.timing import best_of
from deltableu.score import make_metrics

__all__ = ["main"]

#: Of the long line that both take; sacreBLEU takes minutes for the longest.
_WORDS, _LONGEST = 300, 2_000


def main() -> None:
    corpus = zipf_corpus(200, 4)
    print("TER beside sacreBLEU")
    _line("200 items x 4 references", corpus.hypotheses, corpus.references)
    rng = np.random.default_rng(0)
    words = np.array(" ".join(corpus.hypotheses).split())[:_LONGEST]
    moved = np.argsort(np.arange(len(words)) + rng.uniform(0, 20, len(words)))
    for size in (_WORDS, _LONGEST):
        own, other = " ".join(words[moved[moved < size]]), " ".join(words[:size])
        _line(f"one line of {size:,} words", [own], [[other]], peer=size == _WORDS)


def _line(
    name: str, hypotheses: list[str], references: list[list[str]], *, peer: bool = True
) -> None:
    (metric,) = make_metrics(["ter"], {})
    fast = best_of(lambda: metric.compute(hypotheses, references).score())
    text = f"  {name:<24}  deltableu {fast:.4f} s"
    if peer:
        streams = list(zip(*references, strict=True))
        theirs: list[float] = []
        slow = best_of(
            lambda: theirs.append(sacrebleu.TER().corpus_score(hypotheses, streams).score),
            repeats=1,
        )
        difference = abs(theirs[0] - metric.compute(hypotheses, references).score().score)
        text += f"   sacreBLEU {slow:.2f} s   ratio {slow / fast:,.0f}x   difference {difference:g}"
    print(text)


if __name__ == "__main__":
    main()
