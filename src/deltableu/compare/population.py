"""Rows of two systems in; studies of a known true difference, and how often tests find it, out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.stats import chosen_sums, permutation_p_value, stream

Aggregate = Callable[[Array], Array]

#: Its random streams differ from those of the simulated studies.
_SPREAD = 3
_SAMPLES = 500


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Items to draw studies from, with replacement.

    On a share `kept` of the items two systems stand as they are; on the others a fair coin says
    which output is whose. Without kept items the systems do not differ.

    Attributes
    ----------
    first, second : arrays
        A row an item.
    aggregate : callable
        Sums of rows -> scores.
    kept : float

    Examples
    --------
    >>> rows = np.column_stack((np.arange(20.0), np.ones(20)))
    >>> mean = lambda sums: sums[..., 0] / sums[..., 1]
    >>> Population(rows + [4, 0], rows, mean, 0.5).difference
    2.0
    """

    first: Array
    second: Array
    aggregate: Aggregate
    kept: float

    @property
    def difference(self) -> float:
        """What endlessly many items would show."""
        straight = (1.0 + self.kept) / 2.0
        one, two = self.first.mean(axis=0), self.second.mean(axis=0)
        better = self.aggregate(straight * one + (1.0 - straight) * two)
        worse = self.aggregate(straight * two + (1.0 - straight) * one)
        return float(better - worse)

    def rejections(
        self,
        sizes: Sequence[int],
        *,
        alpha: float,
        replicates: int,
        trials: int,
        seed: int,
        progress: Steps | None = None,
    ) -> Ints:
        """How many studies of each size find a significant difference by randomisation.

        A study is the beginning of the same study of a larger size, and a random exchange of its
        outputs the beginning of one of those, so that all sizes cost as much as the largest.

        Parameters
        ----------
        sizes : list of int
            Increasing.
        alpha : float
            p-values below it are significant.
        replicates : int
            Studies.
        trials : int
            Random exchanges in each.
        """
        counts = np.zeros(len(sizes), dtype=np.int64)
        for replicate in range(replicates):
            rng = stream(seed, replicate)
            one, two = self._draw(sizes[-1], rng)
            totals = np.zeros((2, one.shape[1]))
            moved = np.zeros((trials, one.shape[1]))
            for place, (begin, end) in enumerate(pairwise([0, *sizes])):
                totals += one[begin:end].sum(axis=0), two[begin:end].sum(axis=0)
                apart = two[begin:end] - one[begin:end]
                moved += chosen_sums(apart, trials, int(rng.integers(2**63)), threads=1)
                scores = self.aggregate(totals)
                exchanged = self.aggregate(totals[0] + moved) - self.aggregate(totals[1] - moved)
                observed, scale = float(scores[0] - scores[1]), float(np.abs(scores).max())
                p_value = permutation_p_value(exchanged, observed, scale=scale)
                counts[place] += p_value < alpha
            if progress is not None:
                progress(replicate + 1, replicates)
        return counts

    def approximate_size(self, power: float, alpha: float, size: int, seed: int) -> int:
        """Items that give this power if differences are normal.

        Their standard deviation is that of studies of the given size.
        """
        differences = []
        for number in range(_SAMPLES):
            one, two = self._draw(size, stream(seed, _SPREAD, number))
            scores = self.aggregate(np.stack((one.sum(axis=0), two.sum(axis=0))))
            differences.append(float(scores[0] - scores[1]))
        normal = NormalDist()
        reach = normal.inv_cdf(1.0 - alpha / 2.0) + normal.inv_cdf(power)
        # Worse instruments may see no difference at all; no number of items would do then.
        measured = max(abs(self.difference), 1e-6)
        return max(2, math.ceil(size * (reach * float(np.std(differences)) / measured) ** 2))

    def _draw(self, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        # Equal numbers draw the same part of any population: curves of several stay comparable.
        drawn = (rng.random(size) * len(self.first)).astype(np.int64)
        exchanged = (rng.random(size) >= (1.0 + self.kept) / 2.0)[:, None]
        one, two = self.first[drawn], self.second[drawn]
        return np.where(exchanged, two, one), np.where(exchanged, one, two)


def kept_share(first: Array, second: Array, aggregate: Aggregate, difference: float) -> float:
    """The share of items to keep as they are for a true difference, by bisection."""
    steps = 2**53  # as many as there are floats between 1/2 and 1

    def shown(step: int) -> float:
        return Population(first, second, aggregate, step / steps).difference

    return bisect_left(range(steps), difference, key=shown) / steps
