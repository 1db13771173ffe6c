"""Ratings of references in, the weights that they give out."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import chain, pairwise

import numpy as np

from deltableu.corpus import SIMULATED_RATERS, RatingTable, ReferenceSet


def rated_weights(references: ReferenceSet, answers: RatingTable) -> tuple[ReferenceSet, str]:
    """References with the means of their ratings for weights, and what users should know of that.

    A reference that nobody rated keeps the weight it has. Where a reference has both a weight and
    ratings, the weight should be the mean of the ratings, up to the digits in which weights are
    written; where it is not, all weights are taken from the ratings, and the note says so. The note
    is empty if weights and ratings fit together.

    Parameters
    ----------
    references : ReferenceSet
    answers : RatingTable
        `table.of_references(items)` of the same items.

    Examples
    --------
    >>> from deltableu.corpus import Item, Rating, Reference, reference_set
    >>> items = [Item("1", (Reference("r0", "yes"), Reference("r1", "no", 0.2)))]
    >>> table = RatingTable.from_records([Rating("ann", "1", "reference:r0", 5, scale="1-5"),
    ...                                   Rating("bob", "1", "reference:r0", 4, scale="1-5")])
    >>> rated, note = rated_weights(reference_set(items), table.of_references(items))
    >>> rated.weights
    ((0.75, 0.2),)
    """
    size = len(answers.references)
    counts = np.bincount(answers.reference, minlength=size)
    sums = np.bincount(answers.reference, answers.values, minlength=size)
    given: list[float | None] = [None] * size
    if references.weights is not None:
        given = list(chain.from_iterable(references.weights))
    means = (sums / np.maximum(counts, 1)).tolist()
    both = [
        (weight, means[place])
        for place in np.flatnonzero(counts).tolist()
        if (weight := given[place]) is not None
    ]
    # Weights are written with as many digits as the longest of them needs.
    digits = max((_digits(weight) for weight, _ in both), default=0)
    wrong = sum(abs(weight - mean) > 0.5 * 10.0**-digits + 1e-9 for weight, mean in both)
    note = ""
    if wrong:
        note = (
            f"{wrong} of {len(both)} weights are not the means of their ratings; "
            "the means are used for all of them"
        )
    used = [
        mean if count and (weight is None or wrong) else weight
        for weight, mean, count in zip(given, means, counts.tolist(), strict=True)
    ]
    bounds = pairwise(references.bounds.tolist())
    nested = tuple(tuple(used[first:last]) for first, last in bounds)
    rated = replace(references, weights=nested)
    if wrong or any(weight is None for weight in given):
        origin = SIMULATED_RATERS if answers.is_simulated else "ratings"
        rated = replace(rated, weights_from=origin)
    return rated, note


def _digits(weight: float) -> int:
    exponent = Decimal(repr(weight)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
