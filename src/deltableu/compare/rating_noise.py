"""Who rated what in; how the weights would differ had other people rated, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu.corpus.weights import RatedReferences
from deltableu.errors import InputError

__all__ = ["Multipliers", "RatingNoise", "Source", "rating_noise"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Multipliers = Literal["normal", "rademacher", "mammen"]
Source = Literal["raters", "answers"]


@dataclass(frozen=True, eq=False)
class RatingNoise:
    """A wild bootstrap of the weights: residuals of the ratings, times random multipliers.

    With the model answer = weight + harshness of the rater + residual, a weight moves by the mean
    of its raters' multipliers times (harshness + residual). Residuals are scaled by
    sqrt(k / (k - 1)), k being the number of raters of a reference, and harshness likewise by the
    number of raters in all, since both are deviations from estimated means. Where every rater rated
    everything this is the plain residual from the mean weight, so scaled; else the harshness that
    the raters of a reference share would get lost from such residuals.

    Attributes
    ----------
    weights, counts : array
        Of each reference: its weight, and how many people it is from.
    bounds : array of int
        Of the references of each item.
    variances : array
        Of the answers on each reference; NaN with fewer than two.
    effective_raters : float
        As many raters with equally many answers would tell as much.
    degrees : float
        Degrees of freedom of what is known about differences between raters.
    harshness, residual : float
        Standard deviations of the two, on the scale of the weights.
    """

    weights: Array
    counts: Ints
    bounds: Ints
    variances: Array
    effective_raters: float
    degrees: float
    harshness: float
    residual: float
    by_rater: Any  # sparse: references x raters
    by_cell: Any  # sparse: references x (rater in an item)
    alone: Ints  # references with a single answer, whose residual nobody knows

    def draw(
        self,
        source: Source,
        size: int,
        generator: np.random.Generator,
        multipliers: Multipliers = "normal",
    ) -> Array:
        """What to add to the weights: draws x references.

        With "raters" all answers of a rater have the same multiplier, with "answers" only those on
        one item: that is noise which is not shared by items. A reference with a single answer gets
        the harshness of its rater, and a residual drawn from a normal distribution with the
        variance of all others.
        """
        effects = self.by_rater if source == "raters" else self.by_cell
        drawn = _multipliers(multipliers, (effects.shape[1], size), generator)
        noise: Array = np.ascontiguousarray((effects @ drawn).T)
        if len(self.alone):
            noise[:, self.alone] += self.residual * generator.normal(size=(size, len(self.alone)))
        return noise


def rating_noise(rated: RatedReferences) -> RatingNoise:
    """Estimate from the answers how they vary.

    References
    ----------
    Liu 1988, "Bootstrap procedures under some non-i.i.d. models"; Cameron, Gelbach and Miller 2008,
    "Bootstrap-based improvements for inference with clustered errors". Harshness is predicted as in
    Henderson 1975, "Best linear unbiased estimation and prediction under a selection model", with
    variances by his third method (1953).
    """
    from scipy.sparse import csr_array

    reference, rater = rated.reference, rated.rater
    size, raters, answers = int(rated.bounds[-1]), len(rated.raters), len(rated.answer)
    if len(np.unique(rater)) < 2:
        raise InputError("resampling raters needs at least two, and one rater gave all ratings")
    counts = np.bincount(reference, minlength=size)
    if counts.max() < 2:
        raise InputError(
            "every reference was rated only once, so that nothing tells how raters differ; "
            "resampling raters needs references with two ratings or more"
        )
    sums = np.bincount(reference, rated.answer, minlength=size)
    means = np.divide(sums, counts, out=np.zeros(size), where=counts > 0)
    deviations = rated.answer - means[reference]
    given = csr_array((np.ones(answers), (reference, rater)), shape=(size, raters))
    per_rater = np.bincount(rater, minlength=raters)

    # Least squares for the raters' harshness, with the references' means taken out.
    shared = given.T @ (given / np.maximum(counts, 1)[:, None])
    system = np.diag(per_rater.astype(np.float64)) - shared.toarray()
    totals = np.bincount(rater, deviations, minlength=raters)
    fitted, _, rank, _ = np.linalg.lstsq(system, totals, rcond=1e-10)
    squares = float(deviations @ deviations)
    explained = float(totals @ fitted)
    repeated = int(np.count_nonzero(counts))
    left = answers - repeated - rank
    if left > 0:
        residual = max(squares - explained, 0.0) / left
        harshness = max(explained - rank * residual, 0.0) / float(np.trace(system))
    else:
        residual, harshness = squares / (answers - repeated), 0.0
    effects = np.zeros(raters)
    if harshness > 1e-12 * max(squares, 1e-300):
        penalty = residual / harshness * np.eye(raters)
        effects = np.linalg.lstsq(system + penalty, totals, rcond=None)[0]
    typical = np.divide(
        np.bincount(reference, effects[rater], minlength=size),
        counts,
        out=np.zeros(size),
        where=counts > 0,
    )
    residuals = deviations - (effects[rater] - typical[reference])
    k = counts[reference]
    several = int(np.count_nonzero(np.diag(system) > 0.0))
    moved = effects[rater] * np.sqrt(several / rank)
    moved += residuals * np.sqrt(k / np.maximum(k - 1, 1))
    item = np.searchsorted(rated.bounds, reference, side="right") - 1
    _, cell = np.unique(item * raters + rater, return_inverse=True)
    effective = answers**2 / float((per_rater.astype(np.float64) ** 2).sum())
    within = np.bincount(reference, deviations**2, minlength=size)
    return RatingNoise(
        weights=_flat_weights(rated),
        counts=counts,
        bounds=rated.bounds,
        variances=np.divide(within, counts - 1, out=np.full(size, np.nan), where=counts > 1),
        effective_raters=effective,
        degrees=max(1.0, effective * rank / several),
        harshness=float(np.sqrt(harshness)),
        residual=float(np.sqrt(residual)),
        by_rater=csr_array((moved / k, (reference, rater)), shape=(size, raters)),
        by_cell=csr_array((moved / k, (reference, cell)), shape=(size, int(cell.max()) + 1)),
        alone=np.flatnonzero(counts == 1),
    )


def _flat_weights(rated: RatedReferences) -> Array:
    weights = rated.references.weights or ()
    return np.array([np.nan if one is None else one for row in weights for one in row])


def _multipliers(kind: Multipliers, shape: tuple[int, int], generator: np.random.Generator) -> Any:
    """Random numbers with mean 0 and variance 1."""
    if kind == "normal":
        return generator.normal(size=shape)
    if kind == "rademacher":
        return 2.0 * generator.integers(2, size=shape) - 1.0
    golden = (1.0 + np.sqrt(5.0)) / 2.0  # Mammen 1993: also has skewness 1
    return np.where(generator.random(shape) < golden / np.sqrt(5.0), 1.0 - golden, golden)
