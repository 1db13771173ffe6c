"""Mining by scoring every pair against every item, word by word."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from deltableu.corpus.types import Item
from deltableu.mine import BM25
from tests.text.test_words import letters, words

Pair = tuple[str, str]


@lru_cache(maxsize=8)
def cut(documents: tuple[str, ...]) -> tuple[list[Counter[str]], Counter[str]]:
    counts = [Counter(words(document)) for document in documents]
    return counts, Counter(word for document in counts for word in document)


@lru_cache(maxsize=64)
def bm25(query: str, documents: tuple[str, ...], settings: BM25) -> list[float]:
    """Scores of one query, summed in the order of its distinct words."""
    rows, having = cut(documents)
    n = len(rows)
    average = sum(counts.total() for counts in rows) / n or 1.0
    asked = Counter(words(query)).items()
    scores = []
    for counts in rows:
        score = 0.0
        for word, times in asked:
            df, tf = having[word], counts[word]
            if tf == 0:
                continue
            odds = (n - df + 0.5) / (df + 0.5)
            idf = {
                "lucene": math.log(1 + odds),
                "robertson": math.log(max(odds, 1.0)),
                "atire": math.log(n / df),
            }[settings.idf]
            norm = settings.k1 * (1 - settings.b + settings.b * counts.total() / average)
            part = tf / (tf + norm)
            if settings.idf == "atire":
                part *= settings.k1 + 1
            score += times * idf * part
        scores.append(score)
    return scores


def scores_of(item: Item, logs: Sequence[Pair], settings: BM25) -> list[float]:
    original = next((one.text for one in item.references if one.origin == "original"), "")
    on_utterance = bm25(item.message or "", tuple(one for one, _ in logs), settings)
    if settings.on == "utterance":
        return on_utterance
    on_response = bm25(original, tuple(one for _, one in logs), settings)
    if settings.on == "response":
        return on_response
    return [
        u * (settings.alpha * r + (1 - settings.alpha) * settings.epsilon)
        if settings.product == "damped"
        else u * r
        for u, r in zip(on_utterance, on_response, strict=True)
    ]


def acceptable(
    item: Item, logs: Sequence[Pair], settings: BM25, *, parrot: bool = False
) -> list[tuple[float, int]]:
    """Scores and positions, the best of each distinct response that the item lacks, sorted."""
    taken = {letters(one.text) for one in item.references}
    if parrot:
        taken.add(letters(item.message or ""))
    best: dict[str, tuple[float, int]] = {}
    for position, score in enumerate(scores_of(item, logs, settings)):
        key = letters(logs[position][1])
        if score > 0 and key not in taken and score > best.get(key, (0.0, 0))[0]:
            best[key] = (score, position)
    return sorted(best.values(), key=lambda one: (-one[0], one[1]))
