"""Pairs of outputs in; how often a metric orders or ties them as people do, out.

A difference of at most epsilon counts as a tie of the metric (Deutsch et al. 2023). An epsilon that
is chosen on the pairs that it is judged by flatters a metric; cross-fitting chooses it on other
items.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError, check_choice
from deltableu.stats import stream
from deltableu.validate.levels import check_tables, rounded_ties, usual_size

Grouping = Literal["item", "system"]

#: Accuracies are sums of shares: rounding must not choose between equal ones.
_ROUNDING = 1e-12
#: Rounding of a difference, relative to the scores.
_RELATIVE = 1e-13
_FOLDS = 15  # key of the random streams
#: Pairs of outputs that are held in memory.
_MOST = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class TiePairs:
    """Pairs of outputs, the closest in the metric first.

    Attributes
    ----------
    by : {"item", "system"}
        Pairs are of outputs of an item, or of a system; accuracies are averaged over these.
    first, second : array of int
        Items of both outputs.
    group : array of int
        The item or system.
    groups : int
        How many have pairs, and those that have none.
    distance : array
        Between the metric's scores.
    tied, same : array of bool
        Whether people tie the pair, and whether the metric orders it as people do.
    noise : float
        Distances that differ by no more are equal but for rounding.
    """

    by: Grouping
    first: Ints
    second: Ints
    group: Ints
    groups: int
    items: int
    distance: Array
    tied: Bools
    same: Bools
    noise: float

    @classmethod
    def of(cls, metric: ArrayLike, human: ArrayLike, by: Grouping = "item") -> TiePairs:
        """All pairs of outputs of an item, or of a system, that have both scores."""
        check_choice("by", by, ("item", "system"))
        x, y, mask = check_tables(metric, human, level="pooled")
        present = np.ones(x.shape, bool) if mask is None else mask
        y = np.where(present, rounded_ties(np.where(present, y, 0.0)), np.nan)
        sizes = present.sum(axis=0 if by == "item" else 1)
        if (sizes * (sizes - 1) // 2).sum() > _MOST:
            raise InputError(
                f"there are more than {_MOST:,} pairs of outputs of one {by}: choose fewer"
            )
        systems, items = x.shape
        a, b = np.array(list(combinations(range(systems if by == "item" else items), 2))).T
        if by == "item":
            one = (a[:, np.newaxis], np.arange(items)[np.newaxis, :])
            two = (b[:, np.newaxis], np.arange(items)[np.newaxis, :])
        else:
            one = (np.arange(systems)[:, np.newaxis], a[np.newaxis, :])
            two = (np.arange(systems)[:, np.newaxis], b[np.newaxis, :])
        there = present[one] & present[two]
        apart, order = (x[one] - x[two])[there], (y[one] - y[two])[there]
        first, second = (np.broadcast_to(side[1], there.shape)[there] for side in (one, two))
        group = first if by == "item" else np.broadcast_to(one[0], there.shape)[there]
        noise = _RELATIVE * usual_size(x[present])
        same = ((apart > noise) & (order > 0.0)) | ((apart < -noise) & (order < 0.0))
        closest = np.argsort(np.abs(apart), kind="stable")
        return cls(
            by=by,
            first=first[closest],
            second=second[closest],
            group=group[closest],
            groups=items if by == "item" else systems,
            items=items,
            distance=np.abs(apart)[closest],
            tied=(order == 0.0)[closest],
            same=same[closest],
            noise=noise,
        )

    def __len__(self) -> int:
        return len(self.group)

    def shares(self, often: Array) -> Array:
        """What each pair adds to the accuracy if it is right, items being there so often."""
        weights = often[self.first] * (1.0 if self.by == "item" else often[self.second])
        totals = np.bincount(self.group, weights, self.groups)
        there = totals > 0.0
        if not there.any():
            return np.zeros(len(self))
        # An item that is there twice is two groups; a system is one.
        counted = often * there if self.by == "item" else there.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            each = np.where(there, counted / totals / counted.sum(), 0.0)
        shares: Array = weights * each[self.group]
        return shares

    def calibrate(self, shares: Array) -> float:
        """The smallest epsilon of the highest accuracy."""
        gains = np.where(self.tied, shares, -shares * self.same)
        gains[self.distance <= self.noise] = 0.0
        if not len(gains):
            return 0.0
        reached = np.cumsum(gains)
        # Equal distances become ties together.
        ends = np.append(np.diff(self.distance) > self.noise, True)
        reached, distance = reached[ends], self.distance[ends]
        if reached.max() <= _ROUNDING:
            return 0.0
        return float(distance[np.argmax(reached >= reached.max() - _ROUNDING)])

    def right(self, epsilon: float | Array) -> Bools:
        """Which pairs the metric orders or ties as people do, differences of epsilon being ties."""
        near = self.distance <= epsilon + self.noise
        return np.asarray(np.where(self.tied, near, self.same & ~near))

    def in_sample(self, often: Array) -> tuple[float, float]:
        """Accuracy, and the epsilon that was chosen on the same pairs."""
        shares = self.shares(often)
        epsilon = self.calibrate(shares)
        return float(shares[self.right(epsilon)].sum()), epsilon

    def cross_fitted(self, often: Array, folds: Ints) -> tuple[float, Array]:
        """Accuracy on pairs within each fold of items, and the epsilons from the other folds."""
        inside, epsilons = self.fitted(often, folds)
        shares = self.shares_within(often, folds)
        return float(shares[self.right(inside)].sum()), epsilons

    def fitted(self, often: Array, folds: Ints) -> tuple[Array, Array]:
        """The epsilon that judges each pair, and that of each fold, from the other folds."""
        epsilons = np.array(
            [
                self.calibrate(self.shares(often * (folds != fold)))
                for fold in range(int(folds.max()) + 1)
            ]
        )
        found: Array = epsilons[folds[self.first]]
        return found, epsilons

    def shares_within(self, often: Array, folds: Ints) -> Array:
        """Shares where only pairs within a fold count."""
        if self.by == "item":
            return self.shares(often)
        weights = often[self.first] * often[self.second] * (folds[self.first] == folds[self.second])
        totals = np.bincount(self.group, weights, self.groups)
        there = totals > 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            each = np.where(there, 1.0 / totals / max(int(there.sum()), 1), 0.0)
        shares: Array = weights * each[self.group]
        return shares

    def group_accuracies(self, epsilon: float | Array, folds: Ints | None = None) -> Array:
        """Accuracy of each item or system, of pairs within folds; NaN where there are none."""
        counted = np.ones(len(self))
        if folds is not None:
            counted = (folds[self.first] == folds[self.second]).astype(np.float64)
        totals = np.bincount(self.group, counted, self.groups)
        right = np.bincount(self.group, counted * self.right(epsilon), self.groups)
        found: Array = np.full(self.groups, np.nan)
        np.divide(right, totals, out=found, where=totals > 0.0)
        return found

    def tie_share(self) -> float:
        """Accuracy of a metric that ties everything."""
        return float(self.shares(np.ones(self.items))[self.tied].sum())


def make_folds(items: int, by: Grouping, codes: Ints | None, seed: int) -> Ints:
    """The fold of each item, those of a group together: five, or two for pairs of items."""
    units = items if codes is None else int(codes.max()) + 1
    number = 5 if by == "item" else 2
    if units < 2 * number:
        raise InputError(
            f"{units} items are too few to choose epsilon on others: take acc-eq-in-sample"
        )
    folds = np.empty(units, np.int64)
    folds[stream(seed, _FOLDS).permutation(units)] = np.arange(units) % number
    return folds if codes is None else folds[codes]
