"""Who rated what in; how the weights would differ had other people rated, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable, ReferenceSet
from deltableu.errors import InputError

Source = Literal["raters", "answers"]


@dataclass(frozen=True, eq=False)
class RatingNoise:
    """A wild bootstrap of the weights: residuals of the ratings, times random multipliers.

    With the model answer = weight + harshness of the rater + residual, a weight moves by the mean
    of its raters' multipliers times (harshness + residual). Residuals are scaled by
    sqrt(k / (k - 1)), k being the number of raters of a reference, and harshness likewise by the
    number of raters in all, since both are deviations from estimated means. Where every rater rated
    everything this is the plain residual from the mean weight, so scaled; else the harshness that
    the raters of a reference share would get lost from such residuals. Weights that leave [-1, 1]
    are left there: to cut them off would take noise away on one side.

    Attributes
    ----------
    weights, counts : array
        For each reference: its weight, and how many people it is from.
    bounds : array of int
        Where the references of each item begin and end.
    variances : array
        The variance of the answers on each reference; NaN with fewer than two.
    degrees : float
        Degrees of freedom of what is known about differences between raters.
    harshness, residual : float
        Standard deviations of the two, on the scale of the weights.
    """

    weights: Array
    counts: Ints
    bounds: Ints
    variances: Array
    degrees: float
    harshness: float
    residual: float
    by_rater: Any  # sparse: references x raters
    by_cell: Any  # sparse: references x (rater in an item)
    alone: Ints  # references with a single answer, whose residual nobody knows
    alone_residual: Array  # its standard deviation

    def draw(
        self,
        source: Source,
        size: int,
        generator: np.random.Generator,
        *,
        raters: int | None = None,
    ) -> Array:
        """What to add to the weights: draws x references.

        With "raters" all answers of a rater have the same multiplier, with "answers" only those on
        one item: that is noise which is not shared by items. A reference with a single answer gets
        the harshness of its rater, and a residual drawn from a normal distribution, with the
        variance that others of such a weight have. `raters` asks for the noise of means of so many
        answers in place of as many as there are.
        """
        effects = self.by_rater if source == "raters" else self.by_cell
        # In simulations Rademacher's and Mammen's multipliers did neither better nor worse.
        multipliers = generator.normal(size=(effects.shape[1], size))
        noise: Array = np.ascontiguousarray((effects @ multipliers).T)
        if len(self.alone):
            drawn = generator.normal(size=(size, len(self.alone)))
            noise[:, self.alone] += self.alone_residual * drawn
        if raters is not None:
            noise *= np.sqrt(self.counts / raters)
        return noise


def rating_noise(references: ReferenceSet, answers: RatingTable) -> RatingNoise:
    """Estimate from the answers how they vary.

    Parameters
    ----------
    references : ReferenceSet
        With their weights.
    answers : RatingTable
        `table.of_references(items)` of the same items.

    References
    ----------
    Liu 1988, "Bootstrap procedures under some non-i.i.d. models"; Cameron, Gelbach and Miller 2008,
    "Bootstrap-based improvements for inference with clustered errors". Harshness is predicted as in
    Henderson 1975, "Best linear unbiased estimation and prediction under a selection model", with
    variances by his third method (1953).
    """
    from scipy.sparse import csr_array

    reference, rater = answers.reference, answers.rater
    size, raters = len(answers.references), len(answers.raters)
    bounds = references.bounds
    if bounds[-1] != size:
        raise InputError(f"there are {bounds[-1]} references, but ratings of {size}")
    if len(np.unique(rater)) < 2:
        raise InputError("resampling raters needs at least two, and one rater gave all ratings")
    counts = np.bincount(reference, minlength=size)
    if counts.max() < 2:
        raise InputError(
            "every reference was rated only once, so that nothing tells how raters differ; "
            "resampling raters needs references with two ratings or more"
        )
    k = counts[reference]
    means = _means(answers.values, reference, counts)
    deviations = answers.values - means[reference]
    found = _harshness(deviations, answers, counts)
    # Beside the harshness of its rater an answer has that of all raters of the reference taken out.
    relative = found.effects[rater] - _means(found.effects[rater], reference, counts)[reference]
    moved = found.scale * found.effects[rater]
    moved += np.sqrt(k / np.maximum(k - 1, 1)) * (deviations - relative)
    within = np.bincount(reference, deviations**2, minlength=size)
    variances = np.divide(within, counts - 1, out=np.full(size, np.nan), where=counts > 1)
    alone = np.flatnonzero(counts == 1)
    item = np.searchsorted(bounds, reference, side="right") - 1
    _, cell = np.unique(item * raters + rater, return_inverse=True)
    given = np.bincount(rater).astype(np.float64)
    effective = float(given.sum() ** 2 / (given**2).sum())
    return RatingNoise(
        weights=references.flat_weights,
        counts=counts,
        bounds=bounds,
        variances=variances,
        degrees=max(1.0, effective / found.scale**2),
        harshness=found.variance**0.5,
        residual=found.residual**0.5,
        by_rater=csr_array((moved / k, (reference, rater)), shape=(size, raters)),
        by_cell=csr_array((moved / k, (reference, cell)), shape=(size, int(cell.max()) + 1)),
        alone=alone,
        alone_residual=np.sqrt(found.residual * _relative_variance(variances, means, alone)),
    )


@dataclass(frozen=True, slots=True)
class _Harshness:
    """How much higher each rater answers than others would, and what is left unexplained."""

    effects: Array
    scale: float  # effects are deviations from a mean, and thus too small by this
    variance: float
    residual: float


def _harshness(deviations: Array, answers: RatingTable, counts: Ints) -> _Harshness:
    from scipy.sparse import csr_array

    reference, rater = answers.reference, answers.rater
    raters = len(answers.raters)
    given = csr_array((np.ones(len(answers)), (reference, rater)), shape=(len(counts), raters))
    # Normal equations of least squares, with the means of the references taken out.
    together = (given.T @ (given / np.maximum(counts, 1)[:, None])).toarray()
    normal = np.diag(np.bincount(rater, minlength=raters).astype(np.float64)) - together
    totals = np.bincount(rater, deviations, minlength=raters)
    fitted, _, rank, _ = np.linalg.lstsq(normal, totals, rcond=1e-10)
    compared = int(np.count_nonzero(np.diag(normal) > 1e-9))
    scale = float(np.sqrt(compared / rank))
    squares, explained = float(deviations @ deviations), float(totals @ fitted)
    degrees = len(answers) - int(np.count_nonzero(counts))
    if degrees <= rank:
        return _Harshness(np.zeros(raters), scale, 0.0, squares / degrees)
    residual = max(squares - explained, 0.0) / (degrees - rank)
    variance = max(explained - rank * residual, 0.0) / float(np.trace(normal))
    if variance <= 1e-12 * squares:
        return _Harshness(np.zeros(raters), scale, 0.0, squares / degrees)
    shrunk = np.linalg.solve(normal + max(residual / variance, 1e-9) * np.eye(raters), totals)
    return _Harshness(shrunk, scale, variance, residual)


def _means(values: Array, reference: Ints, counts: Ints) -> Array:
    """The mean of each reference; 0 where nobody rated."""
    sums = np.bincount(reference, values, minlength=len(counts))
    means: Array = sums / np.maximum(counts, 1)
    return means


def _relative_variance(variances: Array, means: Array, places: Ints) -> Array:
    """How answers at these places vary, relative to all: at the ends of a scale people agree."""
    known = ~np.isnan(variances)
    typical = float(variances[known].mean())
    if typical == 0.0:
        return np.ones(len(places))
    design = np.column_stack((np.ones(len(means)), means**2))
    coefficients, *_ = np.linalg.lstsq(design[known], variances[known], rcond=None)
    fitted: Array = design[places] @ coefficients
    return np.maximum(fitted / typical, 0.05)
