"""Metric and human scores in; how often a metric prefers the system that people prefer, out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.errors import InputError
from deltableu.stats import enumerable, kendall_like, pairwise_p_values
from deltableu.validate.levels import check_tables, rounded_ties, system_means


@dataclass(frozen=True, slots=True)
class PairwiseAccuracy:
    """How many pairs of systems a metric orders as people do.

    Attributes
    ----------
    accuracy : float
        Share of the pairs that people do not tie; NaN where there are none.
    pairs, agreeing : int
        Those pairs, and those of them that the metric orders alike.
    human_ties : int
        Pairs that people tie: no order is right, so they do not count.
    chance : float
        What a coin reaches.
    """

    accuracy: float
    pairs: int
    agreeing: int
    human_ties: int
    chance: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class SoftPairwiseAccuracy:
    """How well a metric's certainty in each order of two systems fits that of people.

    Attributes
    ----------
    accuracy : float
        Mean over pairs of systems of 1 - |p_human - p_metric|.
    p_human, p_metric : array
        p-values of system i being better than j, for i < j; NaN elsewhere.
    chance : float
        What a metric without information reaches on average: its p-values are uniform.
    indifferent : float
        What p = 1/2 for all pairs reaches.
    permutations : int
        How many were taken; all there are if `exact`.
    """

    accuracy: float
    p_human: Array = field(repr=False)
    p_metric: Array = field(repr=False)
    chance: float
    indifferent: float
    permutations: int
    exact: bool


def pairwise_accuracy(metric: ArrayLike, human: ArrayLike) -> PairwiseAccuracy:
    """Share of pairs of systems that a metric orders as people do.

    Parameters
    ----------
    metric, human
        A score for each system, or tables systems x items whose means are taken over the items
        that have both scores. A pair that people tie is left out; one that only the metric ties
        counts as wrong. So the accuracy is (1 + tau) / 2 of `kendall-like` without a threshold.

    References
    ----------
    Kocmi et al. 2021, To ship or not to ship.

    Examples
    --------
    >>> pairwise_accuracy([0.31, 0.35, 0.34], [60, 72, 75])
    PairwiseAccuracy(accuracy=0.6666666666666666, pairs=3, agreeing=2, human_ties=0, chance=0.5)
    """
    x, y = np.asarray(metric, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if x.ndim == 1 and y.ndim == 1:
        x, y = x[:, np.newaxis], y[:, np.newaxis]
    x, y, mask = check_tables(x, y)
    x, y = (rounded_ties(system_means(side, mask)) for side in (x, y))
    counts = kendall_like(x, y, 0.0)
    share = counts.concordant / counts.pairs if counts.pairs else float("nan")
    all_pairs = len(x) * (len(x) - 1) // 2
    return PairwiseAccuracy(share, counts.pairs, counts.concordant, all_pairs - counts.pairs)


def soft_pairwise_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    *,
    permutations: int = 1000,
    seed: int = 0,
    threads: int | None = None,
) -> SoftPairwiseAccuracy:
    """Soft pairwise accuracy (SPA): agreement in how sure one system is better than another.

    Parameters
    ----------
    metric, human
        Scores, systems x items; NaN where missing. A pair of systems is compared on the items
        for which both have both scores.
    permutations
        Of the paired permutation test; where there are no more ways to exchange two systems'
        scores than this, all are taken. The same are used for all pairs and for both sides, so
        that equal scores get equal p-values.
    seed, threads
        Equal seeds give equal results, whatever the number of threads (None is one a core).

    Notes
    -----
    As published, p-values count permutations that reach the observed difference; where many
    only equal it (few items, many ties) the value depends a little on the order of the systems.

    References
    ----------
    Thompson, Mathur, Deutsch, Khayrallah 2024, Improving statistical significance in human
    evaluation of automatic metrics via soft pairwise accuracy.

    Examples
    --------
    >>> human = [[3, 4, 5, 4], [2, 2, 4, 3]]
    >>> soft_pairwise_accuracy([[0.3, 0.2, 0.9, 0.4], [0.1, 0.4, 0.5, 0.2]], human).accuracy
    0.8125
    """
    x, y, mask = check_tables(metric, human)
    if mask is not None:
        x, y = np.where(mask, x, np.nan), np.where(mask, y, np.nan)
    options: dict[str, Any] = {"permutations": permutations, "seed": seed, "threads": threads}
    p_metric, p_human = pairwise_p_values(x, **options), pairwise_p_values(y, **options)
    upper = np.triu_indices(len(x), 1)
    m, h = p_metric[upper], p_human[upper]
    compared = ~np.isnan(h)
    if not compared.any():
        raise InputError("no two systems have scores for the same item")
    m, h = m[compared], h[compared]
    exact = enumerable(x.shape[1], permutations)
    return SoftPairwiseAccuracy(
        accuracy=float(1.0 - np.abs(h - m).mean()),
        p_human=p_human,
        p_metric=p_metric,
        chance=float(1.0 - ((h**2 + (1.0 - h) ** 2) / 2.0).mean()),
        indifferent=float(1.0 - np.abs(h - 0.5).mean()),
        permutations=2 ** x.shape[1] if exact else permutations,
        exact=exact,
    )
