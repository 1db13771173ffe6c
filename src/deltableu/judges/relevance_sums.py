"""Vectors of utterances and responses in; the sums that say how the two vary together out.

Vectors are rounded to steps of 2**-13, so that all sums are whole numbers of steps, which float64
adds without any error up to 100 million pairs. So they are the same, bit by bit, in whatever order
and by however many threads pairs are added, and models can be told from each other by their sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError

#: Steps of a vector's numbers, which lie in [-1, 1].
STEPS = 2.0**13
#: Pairs that are multiplied at once.
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums over pairs of an utterance's vector x and a response's vector y, in steps of `STEPS`.

    Attributes
    ----------
    pairs : int
    x, y : array
        Sums of the vectors.
    xx, yy, xy : array
        Sums of their outer products.
    """

    pairs: int
    x: Array
    y: Array
    xx: Array
    yy: Array
    xy: Array

    @classmethod
    def empty(cls, dimension: int) -> PairSums:
        """Sums of no pairs."""
        line, square = np.zeros(dimension), np.zeros((dimension, dimension))
        return cls(0, line, line.copy(), square, square.copy(), square.copy())

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return len(self.x)

    def with_pairs(self, utterances: Array, responses: Array) -> PairSums:
        """With the pairs of two arrays of vectors, a row each; rows of zeros are left out."""
        kept = utterances.any(axis=1) & responses.any(axis=1)
        found = self
        x = np.rint(utterances[kept] * STEPS).astype(np.float64)
        y = np.rint(responses[kept] * STEPS).astype(np.float64)
        for start in range(0, len(x), _BLOCK):
            found = found._plus(x[start : start + _BLOCK], y[start : start + _BLOCK])
        return found

    def _plus(self, x: Array, y: Array) -> PairSums:
        return PairSums(
            self.pairs + len(x),
            self.x + x.sum(axis=0),
            self.y + y.sum(axis=0),
            self.xx + x.T @ x,
            self.yy + y.T @ y,
            self.xy + x.T @ y,
        )

    def arrays(self) -> Mapping[str, Array]:
        """What a file keeps beside the number of pairs."""
        return {name: getattr(self, name) for name in ("x", "y", "xx", "yy", "xy")}


@dataclass(frozen=True, eq=False)
class CanonicalSpace:
    """Where utterances and responses that belong together lie near each other.

    Attributes
    ----------
    utterance_mean, response_mean : array
        What is subtracted first.
    utterance_map, response_map : array
        What the rest is multiplied by: canonical variates a column, each scaled by the root of its
        correlation.
    correlations : array
        The largest first.
    """

    utterance_mean: Array
    response_mean: Array
    utterance_map: Array
    response_map: Array
    correlations: Array

    def utterances(self, vectors: Array) -> Array:
        """Utterances in the space, a row each."""
        placed: Array = (vectors - self.utterance_mean) @ self.utterance_map
        return placed

    def responses(self, vectors: Array) -> Array:
        """Responses in the space, a row each."""
        placed: Array = (vectors - self.response_mean) @ self.response_map
        return placed


def canonical_space(sums: PairSums, ridge: float) -> CanonicalSpace:
    """Canonical correlation analysis, in closed form.

    Parameters
    ----------
    sums : PairSums
    ridge : float
        Both covariances have `ridge * trace / dimension` added to their diagonals.

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates". Vinod 1976, "Canonical ridge and
    econometrics of joint production".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 2)) / 8
    >>> space = canonical_space(PairSums.empty(2).with_pairs(x, x[:, ::-1]), 1e-9)
    >>> space.correlations.round(3)
    array([1., 1.])
    """
    from scipy.linalg import cholesky, solve_triangular, svd

    if sums.pairs < 2:
        raise InputError(f"relevance is learnt from pairs of texts, and there are {sums.pairs}")
    count = sums.pairs
    x_mean, y_mean = sums.x / (count * STEPS), sums.y / (count * STEPS)
    factors = []
    for squares, mean, what in ((sums.xx, x_mean, "utterances"), (sums.yy, y_mean, "responses")):
        covariance = squares / (count * STEPS**2) - np.outer(mean, mean)
        trace = float(np.trace(covariance))
        # What rounding leaves of no variance at all is far below this.
        if trace <= 1.0 / STEPS**2:
            raise InputError(f"the {what} of the logs are all alike: nothing can be learnt of them")
        added = ridge * trace / sums.dimension
        factors.append(cholesky(covariance + added * np.eye(sums.dimension), lower=True))
    across = sums.xy / (count * STEPS**2) - np.outer(x_mean, y_mean)
    half = solve_triangular(factors[0], across, lower=True)
    whitened = solve_triangular(factors[1], half.T, lower=True).T
    left, correlations, right = svd(whitened)
    roots = np.sqrt(np.clip(correlations, 0.0, 1.0))
    return CanonicalSpace(
        x_mean,
        y_mean,
        solve_triangular(factors[0].T, left, lower=False) * roots,
        solve_triangular(factors[1].T, right.T, lower=False) * roots,
        np.clip(correlations, 0.0, 1.0),
    )
