"""What varies from item to item and from rater to rater in; the variance of both together out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array


def crossed_variance(
    items: Array, raters: Array, both: Array, counts: tuple[int, int]
) -> tuple[Array, Array]:
    """The variance of estimates from judgements of a sample of items by a sample of raters.

    Judgements of one item belong together, and so do those of one rater. Variances by items and by
    raters both hold what varies from one judgement to the next, so that it is taken off once;
    what is left is never less than either of them. To draw items and raters anew at the same time
    counts that part three times.

    Parameters
    ----------
    items, raters
        Variances when items, or raters, are drawn anew with all that belongs to them.
    both
        Variances when what one rater said of one item is drawn anew.
    counts
        Numbers of items and of raters.

    Returns
    -------
    variances, degrees : arrays
        Degrees of freedom are Satterthwaite's: few raters tell little about how raters differ.

    References
    ----------
    Cameron, Gelbach and Miller 2011, "Robust Inference with Multiway Clustering", Journal of
    Business & Economic Statistics 29. Owen 2007, "The Pigeonhole Bootstrap", Annals of Applied
    Statistics 1 (why not both at once). Satterthwaite 1946, "An Approximate Distribution of
    Estimates of Variance Components", Biometrics Bulletin 2.

    Examples
    --------
    >>> variance, degrees = crossed_variance(
    ...     np.array([3.0]), np.array([2.0]), np.array([1.0]), (31, 11)
    ... )
    >>> variance.round(2), degrees.round(1)
    (array([4.3]), array([23.]))
    """
    by_item, by_rater = (
        variance * count / (count - 1.0)
        for variance, count in zip((items, raters), counts, strict=True)
    )
    variance = np.maximum(by_item + by_rater - both, np.maximum(by_item, by_rater))
    unsure = by_item**2 / (counts[0] - 1.0) + by_rater**2 / (counts[1] - 1.0)
    degrees = np.full(variance.shape, np.inf)
    np.divide(variance**2, unsure, out=degrees, where=unsure > 0.0)
    return variance, np.maximum(degrees, 1.0)
