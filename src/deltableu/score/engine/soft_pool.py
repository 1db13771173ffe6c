"""Similarities to all references of an item become one number: the soft pool.

It lies between the best reference and the weighted mean. References that nobody rated get shares
by where they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import Reference, ReferenceSet

#: The temperature: how far below the best a similarity may lie and still count.
TAU = 0.1
#: What the original reference counts beside mined ones, which share the rest.
ORIGINAL_SHARE = 0.3
#: Where a share is too small for a number, its logarithm is this one's.
_TINY = 5e-324


def soft_pool(similarities: Array, weights: Array, bounds: Ints, tau: float = TAU) -> Array:
    """tau * log(sum of omega_j * exp(s_j / tau)) over the references of each item.

    It tends to the best similarity as tau goes to 0, and to the weighted mean as tau goes to
    infinity. The order of an item's references changes no bit of it.

    Parameters
    ----------
    similarities, weights : array
        One number per reference; those of item i are at bounds[i]:bounds[i + 1]. Shares omega are
        the weights above 0, divided by their sum.
    bounds : array
    tau : float
        The temperature, above 0.

    Returns
    -------
    array
        A number per item; 0 where no weight is above 0.

    Examples
    --------
    >>> soft_pool(np.array([0.2, 0.8]), np.ones(2), np.array([0, 2])).round(3)
    array([0.731])
    """
    owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    counted = weights > 0.0
    found, given, owners = similarities[counted], weights[counted], owners[counted]
    # Sums in one order, whatever the order of the references is.
    order = np.lexsort((given, found, owners))
    found, given, owners = found[order], given[order], owners[order]
    pools = np.zeros(len(bounds) - 1)
    if not len(owners):
        return pools
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    sizes = np.diff(starts, append=len(owners))
    best = found[starts + sizes - 1]
    shares = given / np.repeat(np.add.reduceat(given, starts), sizes)
    below = (found - np.repeat(best, sizes)) / tau
    # 1 + this is the sum; near 1 it would lose what a high temperature leaves of differences.
    excess = np.add.reduceat(shares * np.expm1(below), starts)
    total = np.add.reduceat(shares * np.exp(below), starts)
    far = np.log(np.maximum(total, _TINY))
    logs = np.where(excess < -0.5, far, np.log1p(np.maximum(excess, -0.5)))
    pools[owners[starts]] = best + tau * logs
    return pools


def reference_shares(weights: Array, bounds: Ints) -> Array:
    """What each reference counts: its weight above 0, over the sum of its item's; 0 without any.

    Examples
    --------
    >>> reference_shares(np.array([1.5, -0.5, 0.5, -1.0]), np.array([0, 3, 4])).tolist()
    [0.75, 0.0, 0.25, 0.0]
    """
    owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    positive = np.maximum(weights, 0.0)
    totals = np.bincount(owners, weights=positive, minlength=len(bounds) - 1)[owners]
    shares: Array = np.divide(positive, totals, out=np.zeros(len(weights)), where=totals > 0.0)
    return shares


def pool_shares(similarities: Array, weights: Array, bounds: Ints, tau: float = TAU) -> Array:
    """What each reference adds to the sum of its item's soft pool, over that sum; 0 without any.

    Examples
    --------
    >>> pool_shares(np.array([0.2, 0.8]), np.ones(2), np.array([0, 2])).round(3).tolist()
    [0.002, 0.998]
    """
    owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    pools = soft_pool(similarities, weights, bounds, tau)[owners]
    shares = reference_shares(weights, bounds)
    counted = shares > 0.0
    carried: Array = np.where(
        counted, shares * np.exp(np.where(counted, similarities - pools, 0.0) / tau), 0.0
    )
    return carried


def with_shares(references: ReferenceSet, original: float = ORIGINAL_SHARE) -> ReferenceSet:
    """References with weights as they are; where nobody rated them, by where they came from.

    Beside mined references the original counts `original`, and all others share the rest equally;
    without mined ones all count alike. A parrot of the message counts nothing, unless it is all
    there is.

    Examples
    --------
    >>> from deltableu.corpus import Item, reference_set
    >>> origins = {"yes": "original", "yeah": "mined", "sure": "mined", "is it ?": "parrot"}
    >>> given = [Reference(text, text, origin=origin) for text, origin in origins.items()]
    >>> with_shares(reference_set([Item("1", tuple(given))])).weights
    ((0.3, 0.35, 0.35, 0.0),)
    """
    if references.weights is not None:
        return references
    rows: list[tuple[float, ...]] = []
    for index, texts in enumerate(references.texts):
        known: Sequence[Reference] = ()
        if references.items is not None:
            known = references.items[index].references
        place = 0 if references.originals is None else references.originals[index]
        rows.append(_shares(known, len(texts), place, original))
    # There is no neutral weight to count these from.
    return replace(
        references,
        weights=tuple(rows),
        weights_from=f"origins,original={original:.12g}",
        neutral=0.0,
    )


def _shares(
    known: Sequence[Reference], size: int, place: int, original: float
) -> tuple[float, ...]:
    origins = [one.origin for one in known]
    counted = [number for number in range(size) if not origins or origins[number] != "parrot"]
    counted = counted or list(range(size))
    if "mined" not in origins or len(counted) == 1 or place not in counted:
        return tuple(float(number in counted) for number in range(size))
    shares = [0.0] * size
    for number in counted:
        shares[number] = (1.0 - original) / (len(counted) - 1)
    shares[place] = original
    return tuple(shares)
