"""Metric and human scores in; how often a metric prefers the system that people prefer, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Ints
from deltableu.errors import check_at_least, check_choice
from deltableu.stats import enumerable, in_threads, kendall_like, pairwise_p_values
from deltableu.validate.levels import check_tables, rounded_ties, system_means
from deltableu.validate.paired_scores import Groups, by_group, group_codes


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
        Mean over pairs of systems of 1 - |p_human - p_metric|; NaN where no pair has items enough.
    p_human, p_metric : array
        p-values of system i being better than j, for i < j; NaN elsewhere, and for pairs with too
        few items.
    chance : float
        What can be reached without knowing anything: a constant metric, p = 1/2 for all pairs.
    noise : float
        What random scores reach on average, which is less: their p-values are uniform.
    pairs : int
        Pairs of systems that count.
    permutations : int
        How many were taken; all there are if `exact`.
    reason : str or None
        Why there is no accuracy.
    """

    accuracy: float
    p_human: Array = field(repr=False)
    p_metric: Array = field(repr=False)
    chance: float
    noise: float
    pairs: int
    permutations: int
    exact: bool
    reason: str | None = None


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
    ties: Literal["half", "published"] = "half",
    min_items: int = 10,
    groups: Groups | None = None,
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
        How many the paired permutation test draws; where there are no more ways to exchange two
        systems' scores than this, all are taken. The same are used for all pairs and for both
        sides, so that equal scores get equal p-values.
    ties
        Permutations that only equal the observed difference count `half` (mid-p), so that the order
        of the systems does not matter and a constant metric gets p = 1/2. As `published` they
        count whole: a constant metric then gets p = 1, and an accuracy of 0 to 1 by the order in
        which the systems are named.
    min_items
        Pairs of systems with fewer items in common do not count: their p-values are too coarse.
    groups
        What each item belongs to (a document, a dialogue): its scores are exchanged together, and
        `min_items` counts groups.
    seed, threads
        Equal seeds give equal results, whatever the number of threads (None is one a core).

    References
    ----------
    Thompson, Mathur, Deutsch, Khayrallah 2024, Improving statistical significance in human
    evaluation of automatic metrics via soft pairwise accuracy.

    Examples
    --------
    >>> human = [[3, 4, 5, 4, 3, 4, 2, 5, 4, 3], [2, 2, 4, 3, 3, 5, 1, 4, 4, 4]]
    >>> found = soft_pairwise_accuracy(np.sqrt(human), human, permutations=1024)
    >>> round(found.accuracy, 3), round(found.chance, 3)
    (0.98, 0.574)
    """
    (found,) = soft_pairwise_accuracies(
        [metric],
        human,
        permutations=permutations,
        ties=ties,
        min_items=min_items,
        groups=groups,
        seed=seed,
        threads=threads,
    )
    return found


def soft_pairwise_accuracies(
    metrics: Sequence[ArrayLike],
    human: ArrayLike,
    *,
    permutations: int = 1000,
    ties: Literal["half", "published"] = "half",
    min_items: int = 10,
    groups: Groups | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> list[SoftPairwiseAccuracy]:
    """`soft_pairwise_accuracy` of several metrics: what is found of people is found once."""
    check_choice("ties", ties, ("half", "published"))
    check_at_least("min_items", min_items, 1)
    tables = [check_tables(metric, human) for metric in metrics]
    codes = group_codes(groups, np.ones(tables[0][0].shape[1], bool))
    options: dict[str, Any] = {
        "permutations": permutations,
        "ties": "half" if ties == "half" else "whole",
        "codes": codes,
        "seed": seed,
        "threads": threads if len(metrics) == 1 else 1,
    }
    counted = "items" if groups is None else "groups of items"
    # Of people's scores, of which some may be missing with a metric's.
    certain: dict[bytes, tuple[Array, Ints]] = {}
    for _, y, mask in tables:
        if _key(mask) not in certain:
            people = y if mask is None else np.where(mask, y, np.nan)
            there = (by_group(~np.isnan(people), codes, 1) > 0).astype(np.int64)
            certain[_key(mask)] = pairwise_p_values(people, **options), there

    def one(place: int) -> SoftPairwiseAccuracy:
        x, _, mask = tables[place]
        p_human, there = certain[_key(mask)]
        p_human = p_human.copy()
        p_metric = pairwise_p_values(x if mask is None else np.where(mask, x, np.nan), **options)
        few = there @ there.T < min_items
        p_metric[few] = p_human[few] = np.nan
        m, h = p_metric[~np.isnan(p_human)], p_human[~np.isnan(p_human)]
        exact = enumerable(there.shape[1], permutations)
        found = len(h) > 0
        return SoftPairwiseAccuracy(
            accuracy=float(1.0 - np.abs(h - m).mean()) if found else np.nan,
            p_human=p_human,
            p_metric=p_metric,
            chance=float(1.0 - np.abs(h - 0.5).mean()) if found else np.nan,
            noise=float(1.0 - ((h**2 + (1.0 - h) ** 2) / 2.0).mean()) if found else np.nan,
            pairs=len(h),
            permutations=2 ** there.shape[1] if exact else permutations,
            exact=exact,
            reason=None if found else f"no two systems have {min_items} {counted} in common",
        )

    return in_threads(one, len(tables), threads)


def _key(mask: Bools | None) -> bytes:
    return b"" if mask is None else mask.tobytes()
