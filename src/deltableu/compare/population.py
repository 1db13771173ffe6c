"""Rows of two systems in; studies of a known true difference, and how often tests find it, out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deltableu._types import Array, Bools, Ints, Steps
from deltableu.stats import Aggregate, Exchange, Gradient, stream

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
    aggregate, gradient : callable
        Sums of rows to scores, and to their derivatives.
    kept : float
    clamped : callable, optional
        Sums of rows to whether their score stands still, so that nothing is claimed of it.

    Examples
    --------
    >>> from deltableu.stats import mean_score, mean_score_gradient
    >>> rows = np.column_stack((np.arange(20.0), np.ones(20)))
    >>> Population(rows + [4, 0], rows, mean_score, mean_score_gradient, 0.5).difference
    2.0
    """

    first: Array
    second: Array
    aggregate: Aggregate
    gradient: Gradient
    kept: float
    clamped: Callable[[Array], Bools] | None = None

    @property
    def difference(self) -> float:
        """What endlessly many items would show."""
        return mixed_difference(self.first, self.second, self.aggregate, self.kept)

    def rejections(
        self,
        sizes: Sequence[int],
        *,
        significance: float,
        replicates: int,
        seed: int,
        progress: Steps | None = None,
    ) -> Ints:
        """How many studies of each size find a significant difference.

        The statistic is that of the studentised permutation, and is compared with Student's t
        instead of exchanges: from a dozen items on they say the same. Where exchanges are too few
        to show anything, or a score is clamped, nothing is found. A study is the beginning of the
        same study of a larger size.

        Parameters
        ----------
        sizes : list of int
            Increasing.
        significance : float
            p-values below it are significant.
        replicates : int
            Studies.
        """
        from scipy.special import stdtrit

        critical = [float(stdtrit(size - 1, 1.0 - significance / 2.0)) for size in sizes]
        counts = np.zeros(len(sizes), dtype=np.int64)
        for replicate in range(replicates):
            both = np.stack(self._draw(sizes[-1], stream(seed, replicate)))
            for place, size in enumerate(sizes):
                study = Exchange(both[:, :size], self.aggregate, self.gradient)
                still = self.clamped is not None and bool(self.clamped(study.totals).any())
                if not still and 2.0 ** (1 - size) < significance:
                    counts[place] += abs(study.statistic(0, 1)) > critical[place]
            if progress is not None:
                progress(replicate + 1, replicates)
        return counts

    def approximate_size(self, power: float, significance: float, size: int, seed: int) -> int:
        """Items that give this power if differences are normal.

        Their standard deviation is that of studies of the given size.
        """
        differences = []
        for number in range(_SAMPLES):
            one, two = self._draw(size, stream(seed, _SPREAD, number))
            scores = self.aggregate(np.stack((one.sum(axis=0), two.sum(axis=0))))
            differences.append(float(scores[0] - scores[1]))
        normal = NormalDist()
        reach = normal.inv_cdf(1.0 - significance / 2.0) + normal.inv_cdf(power)
        # Worse instruments may see no difference at all; no number of items would do then.
        measured = max(abs(self.difference), 1e-6)
        return max(2, math.ceil(size * (reach * float(np.std(differences)) / measured) ** 2))

    def _draw(self, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
        # Equal numbers draw the same part of any population: curves of several stay comparable.
        drawn = (rng.random(size) * len(self.first)).astype(np.int64)
        exchanged = (rng.random(size) >= (1.0 + self.kept) / 2.0)[:, None]
        one, two = self.first[drawn], self.second[drawn]
        return np.where(exchanged, two, one), np.where(exchanged, one, two)


def mixed_difference(first: Array, second: Array, aggregate: Aggregate, kept: float) -> float:
    """What endlessly many items would show where a share of them is kept as it is."""
    straight = (1.0 + kept) / 2.0
    one, two = first.mean(axis=0), second.mean(axis=0)
    better = aggregate(straight * one + (1.0 - straight) * two)
    return float(better - aggregate(straight * two + (1.0 - straight) * one))


def kept_share(first: Array, second: Array, aggregate: Aggregate, difference: float) -> float:
    """The share of items to keep as they are for a true difference, by bisection."""
    steps = 2**53  # as many as there are floats between 1/2 and 1

    def shown(step: int) -> float:
        return mixed_difference(first, second, aggregate, step / steps)

    return bisect_left(range(steps), difference, key=shown) / steps
