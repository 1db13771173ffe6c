"""Exchanges written down literally: rows change places, and everything is computed anew from them.

Also the systems that tests of exchanges, groups and intervals compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from deltableu import BLEU, DeltaBLEU
from deltableu.score import Metric, Statistics
from deltableu.score.metrics.chrf import ChrF
from deltableu.stats import Exchange, mean_score, mean_score_gradient
from deltableu.stats.resampling import choose_subsets

Array = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Formula = Callable[[Array], Array]

METRICS: dict[str, Metric] = {
    "bleu-2": BLEU(tokenize="none", order=2),
    "bleu-4": BLEU(tokenize="none"),
    "delta-bleu": DeltaBLEU(tokenize="none"),
    "signed-delta-bleu": DeltaBLEU(tokenize="none").signed(),
    "chrf": ChrF(char_order=3),
}
#: Trials that share a random stream.
_CHUNK = 1024


def generated(
    metric: Metric, items: int, seed: int, shares: tuple[float, ...] = (0.5, 0.6), words: int = 12
) -> list[Statistics]:
    """Rows of systems that have so many words of the best of three references wrong."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{number}" for number in range(words)])

    def noisy(text: Any, share: float) -> str:
        wrong = rng.random(len(text)) < share
        return " ".join(np.where(wrong, rng.choice(vocabulary, len(text)), text))

    best = [rng.choice(vocabulary, size=rng.integers(4, 12)) for _ in range(items)]
    references = [[" ".join(text), noisy(text, 0.4), noisy(text, 0.9)] for text in best]
    weights = [[1.0, float(rng.uniform(0, 1)), float(rng.uniform(-1, 0))] for _ in best]
    encoded = metric.encode(references, weights)
    return [metric.statistics([noisy(text, share) for text in best], encoded) for share in shares]


def exchange_of(kind: str, items: int, seed: int) -> Exchange:
    """Two systems under a metric, or by means of scores."""
    if kind == "means":
        scores = np.random.default_rng(seed).integers(0, 5, size=(2, items)).astype(float)
        rows = np.stack((scores, np.ones_like(scores)), axis=-1)
        return Exchange(rows, mean_score, mean_score_gradient)
    metric = METRICS[kind]
    rows = np.stack([one.rows for one in generated(metric, items, seed)])
    return Exchange(rows, metric.aggregate, metric.gradient)


def influences(rows: Array, gradient: Formula) -> Array:
    """By how much each row moves the score of their sum."""
    return rows @ gradient(rows.sum(axis=0))


def standard_error(moves: Array) -> float:
    """Jaeckel's, of a sum of influences."""
    units = len(moves)
    return math.sqrt(units / (units - 1) * ((moves - moves.mean()) ** 2).sum())


def statistic(first: Array, second: Array, aggregate: Formula, gradient: Formula) -> float:
    """The difference of two scores over its standard error."""
    apart = float(aggregate(first.sum(axis=0)) - aggregate(second.sum(axis=0)))
    return apart / standard_error(influences(first, gradient) - influences(second, gradient))


def statistics(
    rows: Array, choices: Bools, aggregate: Formula, gradient: Formula
) -> list[float | None]:
    """After each exchange; None where a score has no gradient, or nothing spreads."""
    found: list[float | None] = []
    for choice in choices[:, :, None]:
        one, two = np.where(choice, rows[1], rows[0]), np.where(choice, rows[0], rows[1])
        moves = influences(one, gradient) - influences(two, gradient)
        flat = standard_error(moves) < 1e-4 * np.abs(influences(one, gradient)).max(initial=1e-9)
        found.append(None if flat else statistic(one, two, aggregate, gradient))
    return found


def drawn_choices(units: int, trials: int, seed: int) -> Bools:
    """Which units random exchanges exchange: chunk k has a random stream of its own."""
    parts = [
        choose_subsets(units, min(_CHUNK, trials - first), seed, number)
        for number, first in enumerate(range(0, trials, _CHUNK))
    ]
    bits = np.unpackbits(np.concatenate(parts), axis=1, count=units, bitorder="little")
    return bits.astype(bool)


def all_choices(units: int) -> Bools:
    """Every subset, in the order of binary numbers."""
    return (np.arange(1 << units)[:, None] >> np.arange(units) & 1).astype(bool)
