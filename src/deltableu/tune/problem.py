"""N-best lists with a row per candidate, as tuning looks at them: weights in, scores out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import NBestLists, weighted_sums
from deltableu.errors import InputError
from deltableu.score import BLEU, Metric, Statistics

#: Weights of features that are smaller everywhere would be beyond all numbers.
_TINY = 1e-150


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """Candidates, their features and their rows.

    Vectors of weights are those of the lists' features in their order, divided by how much each
    feature varies within lists: in such units all features weigh alike, and a random direction is
    one for all of them.
    """

    lists: NBestLists
    statistics: Statistics

    @property
    def metric(self) -> Metric:
        """What is tuned for."""
        return self.statistics.metric

    @cached_property
    def spreads(self) -> Array:
        """The mean standard deviation of each feature within lists; 0 where it never varies."""
        bounds, features = self.lists.bounds, self.lists.features
        sizes, owners = np.diff(bounds), self.lists.owners
        spreads = np.zeros(features.shape[1])
        for place, column in enumerate(features.T):
            largest = float(np.abs(column).max())
            if largest > _TINY:
                scaled = column / largest  # squares of large numbers are beyond all numbers
                means = np.add.reduceat(scaled, bounds[:-1]) / sizes
                squares = np.add.reduceat((scaled - means[owners]) ** 2, bounds[:-1])
                spread = float(np.sqrt(squares / sizes).mean())
                # What rounding made of equal numbers is no spread.
                spreads[place] = largest * spread if spread > 1e-12 else 0.0
        return spreads

    @cached_property
    def columns(self) -> Array:
        """Features x candidates, as the lists have them."""
        return np.ascontiguousarray(self.lists.features.T)

    def in_units(self, weights: Array) -> Array:
        """Weights of features as weights of their units."""
        return weights * self.spreads

    def of_features(self, units: Array) -> Array:
        """Weights of units as weights of features."""
        return np.divide(units, self.spreads, out=np.zeros_like(units), where=self.spreads > 0.0)

    def totals(self, units: Array) -> Array:
        """Weighted sums of the features of all candidates, to the last bit as lists have them."""
        return weighted_sums(self.columns, self.of_features(units))

    def chosen_sums(self, candidates: Ints) -> Array:
        """Summed rows of one candidate per item."""
        sums: Array = self.statistics.rows[candidates].sum(axis=0)
        return sums

    def best_sums(self, units: Array) -> Array:
        """Summed rows of the candidates that weights choose."""
        return self.chosen_sums(self.lists.best(self.totals(units)))


class Objective:
    """What is better: the score, and among equal scores the signed mean of precisions.

    A geometric mean stands still at 0 where the matches of some order sum to nothing or less. The
    arithmetic mean of the same sums still tells which of two such corpora is nearer to a score.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._sign = 1.0 if metric.higher_is_better else -1.0
        self._signed: Metric | None = None
        if isinstance(metric, BLEU) and metric.combine == "geometric":
            self._signed = BLEU(order=metric.order, combine="arithmetic")

    def values(self, sums: Array) -> tuple[Array, Array]:
        """Scores of summed rows, more being better, and what decides between equal ones."""
        scores = self._sign * np.atleast_1d(self._metric.aggregate(sums))
        if not np.isfinite(scores).all():
            raise InputError(f"{self._metric.name} gave a score that is not a finite number")
        ties = np.zeros_like(scores)
        if self._signed is not None and (still := scores <= 0.0).any():
            ties[still] = np.atleast_1d(self._signed.aggregate(sums))[still]
        return scores, ties
