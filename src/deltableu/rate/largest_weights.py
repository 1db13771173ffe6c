"""Noisy weights in; how large each item's largest true weight is, out.

The largest of several noisy weights is too large, and by more than a bootstrap shows: noise upon
noise moves a maximum less than the first noise did. What the true weights are like can be told from
all of them together (empirical Bayes), and how they lie in an item then tells its largest.
"""

from __future__ import annotations

import numpy as np

from deltableu._types import Array, Ints

_STEP = 0.05
_ROUNDS = 3
_ITERATIONS = 40  # the fit of the distribution is smooth if stopped early


def expected_largest(weights: Array, counts: Ints, variances: Array, bounds: Ints) -> Array:
    """The expected largest true weight of each item.

    True weights are taken to be an item's typical weight plus draws from one distribution, which is
    fitted by maximum likelihood on a grid. A weight that is the mean of k answers has normal noise
    with variance (a + b * w^2) / k around the true weight w: at the ends of a scale people agree.

    Parameters
    ----------
    weights, counts, variances : array
        For each reference: its weight, the number of its answers (0: the weight is exact), and the
        variance among them (NaN where there are fewer than two).
    bounds : array of int
        Item i has the references from bounds[i] to bounds[i + 1].

    References
    ----------
    Kiefer and Wolfowitz 1956, "Consistency of the maximum likelihood estimator in the presence of
    infinitely many incidental parameters"; Efron 2016, "Empirical Bayes deconvolution estimates".

    Examples
    --------
    Eight equally good references, with much noise in their weights:

    >>> noise = np.random.default_rng(0).normal(0.0, 0.5, (200, 8, 4))
    >>> weights, variances = 0.2 + noise.mean(axis=2), noise.var(axis=2, ddof=1)
    >>> float(weights.max(axis=1).mean().round(2))
    0.55
    >>> bounds, counts = np.arange(0, 1601, 8), np.full(1600, 4)
    >>> expected = expected_largest(weights.ravel(), counts, variances.ravel(), bounds)
    >>> float(expected.mean().round(2))
    0.28
    """
    sizes = np.diff(bounds)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    typical, pulled = _typical(weights, bounds, owners)
    away = weights - typical[owners]
    points = int((away.max() - away.min()) / _STEP) + 2
    grid = np.linspace(away.min(), away.max(), points)
    truth = typical[owners, None] + grid
    spread = np.full(truth.shape, np.nanmean(variances))
    smallest = np.maximum(0.1 * spread, 1e-12)
    known = np.flatnonzero(~np.isnan(variances))
    prior = np.full(points, 1.0 / points)
    for _ in range(_ROUNDS):
        noise = spread * (pulled[owners] / np.maximum(counts, 1))[:, None]
        # An exact weight is still only as exact as the grid.
        noise = np.maximum(np.where(counts[:, None] > 0, noise, 0.0), (_STEP / 2.0) ** 2)
        likelihood = np.exp(-0.5 * (away[:, None] - grid) ** 2 / noise) / np.sqrt(noise) + 1e-300
        for _ in range(_ITERATIONS):
            prior = prior * ((1.0 / (likelihood @ prior)) @ likelihood) / len(away)
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        squares = (posterior * truth**2).sum(axis=1)
        # The mean variance at a weight is a + b * E[w^2 given the weight].
        trust = np.sqrt(counts[known] - 1.0)
        design = np.column_stack((trust, trust * squares[known]))
        (a, b), *_ = np.linalg.lstsq(design, trust * variances[known], rcond=None)
        spread = np.maximum(a + b * truth**2, smallest)
    below = np.minimum(np.cumsum(posterior, axis=1), 1.0)
    all_below = np.multiply.reduceat(below, bounds[:-1], axis=0)
    largest: Array = typical + (np.diff(all_below, axis=1, prepend=0.0) * grid).sum(axis=1)
    return largest


def _typical(weights: Array, bounds: Ints, owners: Ints) -> tuple[Array, Array]:
    """Each item's typical weight; and by how much less noise is left when that is taken out."""
    sizes = np.diff(bounds)
    means = np.add.reduceat(weights, bounds[:-1]) / sizes
    overall = float(means.mean())
    freedom = len(weights) - len(sizes)
    if freedom < 1 or len(sizes) < 2:
        return np.full(len(sizes), overall), np.ones(len(sizes))
    within = float(((weights - means[owners]) ** 2).sum()) / freedom
    between = max(float(means.var(ddof=1)) - within * float((1.0 / sizes).mean()), 0.0)
    # How much of an item's mean is its own.
    own = between / np.maximum(between + within / sizes, 1e-300)
    return overall + own * (means - overall), 1.0 - (2.0 * own - own**2) / sizes
