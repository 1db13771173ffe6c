"""Minimum Bayes risk as the papers have it, with dictionaries and loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from deltableu.corpus import NBestLists


def lists_of(rows: Sequence[Sequence[str]], scores: Sequence[float] | None = None) -> NBestLists:
    """N-best lists with one feature."""
    texts = tuple(text for row in rows for text in row)
    bounds = np.cumsum([0, *map(len, rows)])
    values = np.zeros(len(texts)) if scores is None else np.array(scores, dtype=np.float64)
    ids = tuple(f"q{number}" for number in range(len(rows)))
    return NBestLists(ids, bounds, texts, ("LM",), values[:, None])


def softmax(scores: Sequence[float], scale: float) -> list[float]:
    powers = [math.exp(scale * (one - max(scores))) for one in scores]
    return [one / sum(powers) for one in powers]


def masses(texts: Sequence[str], probabilities: Sequence[float]) -> dict[str, float]:
    """Every different text and how probable it is."""
    found: dict[str, float] = {}
    for text, probability in zip(texts, probabilities, strict=True):
        found[text] = found.get(text, 0.0) + probability
    return found


def expected_utility(
    given: dict[str, float], score: Callable[[str, str], float], leave: bool
) -> dict[str, float]:
    """Sum over j of p_j * u(i, j), Kumar and Byrne 2004."""
    found = {}
    for text in given:
        others = [one for one in given if not (leave and one == text)]
        rest = sum(given[one] for one in others)
        found[text] = sum(given[one] * score(text, one) for one in others) / rest
    return found


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def expected_counts(
    given: dict[str, float], cut: Callable[[str], Sequence[str]], order: int, without: str | None
) -> tuple[list[dict[tuple[str, ...], float]], float]:
    """Expected n-gram counts of each order, and the expected length (DeNero et al. 2009)."""
    counted: list[dict[tuple[str, ...], float]] = [{} for _ in range(order)]
    length = 0.0
    rest = sum(weight for text, weight in given.items() if text != without)
    for text, weight in given.items():
        if text == without:
            continue
        tokens = cut(text)
        length += weight / rest * len(tokens)
        for n in range(order):
            for gram, count in ngrams(tokens, n + 1).items():
                counted[n][gram] = counted[n].get(gram, 0.0) + weight / rest * count
    return counted, length


def fast_bleu(given: dict[str, float], order: int, leave: bool) -> dict[str, float]:
    """BLEU+1 against expected counts."""
    found = {}
    for text in given:
        counted, length = expected_counts(given, str.split, order, text if leave else None)
        tokens = text.split()
        logs = []
        for n in range(order):
            own = ngrams(tokens, n + 1)
            matches = sum(min(count, counted[n].get(gram, 0.0)) for gram, count in own.items())
            total = sum(own.values())
            added = 0 if n == 0 else 1
            over, under = matches + added, total + added
            logs.append(math.log(over / under) if over > 0 and under > 0 else -math.inf)
        penalty = min(0.0, 1 - length / len(tokens)) if tokens else -math.inf
        found[text] = 100 * math.exp(penalty + sum(logs) / order)
    return found


def fast_chrf(given: dict[str, float], leave: bool) -> dict[str, float]:
    """chrF against expected counts (Vamvas and Sennrich 2024)."""

    def cut(text: str) -> list[str]:
        return list("".join(text.split()))

    found = {}
    for text in given:
        counted, _ = expected_counts(given, cut, 6, text if leave else None)
        precision = recall = orders = 0.0
        for n in range(6):
            own = ngrams(cut(text), n + 1)
            matches = sum(min(count, counted[n].get(gram, 0.0)) for gram, count in own.items())
            ours, theirs = sum(own.values()), sum(counted[n].values())
            if ours > 0 and theirs > 0:
                precision += matches / ours
                recall += matches / theirs
                orders += 1
        precision, recall = precision / max(orders, 1), recall / max(orders, 1)
        total = 4 * precision + recall
        found[text] = 100 * 5 * precision * recall / total if total > 0 else 0.0
    return found
