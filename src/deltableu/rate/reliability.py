"""Several ratings of some texts in; how many ratings make a mean reliable, out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_at_least, check_share
from deltableu.io import Cell, Column, Table, Tabular
from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Reliability(Tabular):
    """How much of the variance of mean ratings is that of the texts themselves.

    Attributes
    ----------
    within, between : float
        Variance of single ratings of one text, and of the texts' true means.
    low, high : float
        Where the ratio between / within may lie.
    texts, ratings : int
        Those that were rated twice or more, and their ratings.
    confidence : float
        The confidence of the intervals.
    """

    within: float
    between: float
    low: float
    high: float
    texts: int
    ratings: int
    confidence: float

    def of_mean(self, ratings: int) -> float:
        """The reliability of means of so many ratings (Spearman and Brown)."""
        check_at_least("ratings", ratings, 1)
        return _stepped_up(_ratio(self.between, self.within), ratings)

    def interval(self, ratings: int) -> ConfidenceInterval:
        """Where it may lie, from the F distribution of the two variances."""
        low, high = (_stepped_up(ratio, ratings) for ratio in (self.low, self.high))
        return ConfidenceInterval(low, high, self.confidence, "F")

    def needed(self, target: float) -> int | None:
        """The fewest ratings whose mean reaches the target; None if texts do not seem to differ."""
        check_share("the reliability", target)
        ratio = _ratio(self.between, self.within)
        if ratio <= 0.0:
            return None
        # Rounding must not ask for one rating more.
        return max(1, math.ceil(target / (1.0 - target) / ratio - 1e-9))

    def table(self, counts: Iterable[int] = (1, 2, 3, 5, 10), *, digits: int = 2) -> Table:
        """A row for each number of ratings."""
        rows = ((k, Cell(self.of_mean(k), self.interval(k))) for k in counts)
        caption = (
            f"reliability of mean ratings ({self.texts} references rated twice or more, "
            f"{self.confidence:.0%} intervals)"
        )
        columns = (Column("ratings per reference"), Column("reliability", f".{digits}f"))
        return Table(columns, rows, caption)


def mean_reliability(
    values: Array, targets: Ints, *, confidence: float = 0.95
) -> Reliability | None:
    """Estimate it from ratings of texts that have raters of their own (ICC(1)).

    Parameters
    ----------
    values, targets
        The value and the text (a number) of each rating.
    confidence
        The confidence of the intervals.

    Returns
    -------
    Reliability or None
        None where fewer than three texts were rated twice or more, or all ratings are equal.

    References
    ----------
    Shrout and Fleiss 1979, "Intraclass Correlations: Uses in Assessing Rater Reliability".

    Examples
    --------
    >>> found = mean_reliability(
    ...     np.array([1, 2, 4, 5, 4, 2, 2, 5, 5]), np.array([0, 0, 1, 1, 1, 2, 2, 3, 3])
    ... )
    >>> round(found.of_mean(1), 2), found.needed(0.95)
    (0.92, 2)
    """
    check_share("confidence", confidence)
    if len(values) != len(targets):
        raise InputError(f"there are {len(values)} ratings of {len(targets)} texts")
    found = one_way_variances(values, targets)
    if found is None or found.texts < 3 or found.within == found.among == 0.0:
        return None
    low, high = found.ratio_limits(confidence)
    return Reliability(
        found.within, max(found.between, 0.0), low, high, found.texts, found.ratings, confidence
    )


@dataclass(frozen=True, slots=True)
class OneWayVariances:
    """Mean squares within and among texts that were rated twice or more; ratings of a typical one.

    Reference: Searle, Casella and McCulloch 1992, "Variance Components", section 3.6.
    """

    within: float
    among: float
    typical: float
    texts: int
    ratings: int

    @property
    def between(self) -> float:
        """Variance of the texts' true means; below 0 where they differ less than by chance."""
        return (self.among - self.within) / self.typical

    def ratio_limits(self, confidence: float) -> tuple[float, float]:
        """Where the ratio between / within may lie, if all is normal."""
        from scipy.special import fdtri

        degrees = (self.texts - 1, self.ratings - self.texts)
        f, upper = _ratio(self.among, self.within), (1.0 + confidence) / 2.0
        low = f / float(fdtri(*degrees, upper))
        high = f * float(fdtri(*degrees[::-1], upper))
        return max((low - 1.0) / self.typical, 0.0), max((high - 1.0) / self.typical, 0.0)


def one_way_variances(values: Array, targets: Ints) -> OneWayVariances | None:
    """Analysis of variance of ratings; None where fewer than two texts were rated twice."""
    _, places, counts = np.unique(targets, return_inverse=True, return_counts=True)
    several = counts > 1
    size = int(np.count_nonzero(several))
    if size < 2:
        return None
    kept = several[places]
    values, places = values[kept], (np.cumsum(several) - 1)[places[kept]]
    counts, total = counts[several], len(values)
    means = np.bincount(places, values) / counts
    within = float(((values - means[places]) ** 2).sum()) / (total - size)
    among = float((counts * (means - values.mean()) ** 2).sum()) / (size - 1)
    typical = (total - float((counts**2).sum()) / total) / (size - 1)
    return OneWayVariances(within, among, typical, size, total)


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0.0 else math.inf


def _stepped_up(ratio: float, ratings: int) -> float:
    return 1.0 if math.isinf(ratio) else ratings * ratio / (1.0 + ratings * ratio)
