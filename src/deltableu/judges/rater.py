"""Anything that rates references: what it must offer, and how it is asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError, Problem
from deltableu.io import shown

RatingBatch: TypeAlias = Sequence[tuple[Item, Sequence[Reference]]]


@runtime_checkable
class Rater(Protocol):
    """Says how good references are as answers to an item's message.

    A rater may also have `rate_items(batch)`, which takes many pairs of an item and references at
    once and gives the weights of each, and `signature`, a text that says all that its weights
    depend on but the items.
    """

    def rate(self, item: Item, references: Sequence[Reference]) -> Sequence[float]:
        """One weight in [-1, 1] per reference."""
        ...


def rater_signature(rater: Rater) -> str:
    """What a judge calls itself; one that does not say is called by its class."""
    signature = getattr(rater, "signature", None)
    if signature is None:
        return f"{type(rater).__module__}.{type(rater).__qualname__}"
    if not isinstance(signature, str) or not signature.strip():
        name = type(rater).__qualname__
        raise InputError(f"the signature of the judge {name} is no text, but {shown(signature)}")
    return signature


def rate_batch(rater: Rater, batch: RatingBatch) -> list[tuple[float, ...]]:
    """Ask for the weights of many items' references, and check them.

    Parameters
    ----------
    rater : Rater
        Asked once if it has `rate_items`, else once an item.
    batch : sequence of (Item, sequence of Reference)
        The references are some or all of the item's.

    Returns
    -------
    list of tuple of float
        The weights of each item's references, in order.
    """
    if not batch:
        return []
    if not hasattr(rater, "rate_items"):
        return [_checked(rater, item, some, _rate(rater, item, some)) for item, some in batch]
    given = _rate_items(rater, batch)
    if len(given) != len(batch):
        name = rater_signature(rater)
        message = f"the judge {name} gave weights for {len(given)} items when asked for "
        raise InputError(message + f"{len(batch)}")
    return [
        _checked(rater, item, some, weights)
        for (item, some), weights in zip(batch, given, strict=True)
    ]


def _rate(rater: Rater, item: Item, references: Sequence[Reference]) -> Sequence[float]:
    try:
        return rater.rate(item, references)
    except InputError:
        raise
    except Exception as error:  # whatever foreign code raises
        message = f"the judge {rater_signature(rater)} failed: {_reason(error)}"
        raise InputError(Problem(message, item=item.id)) from error


def _rate_items(rater: Rater, batch: RatingBatch) -> list[Sequence[float]]:
    try:
        return list(rater.rate_items(batch))  # type: ignore[attr-defined]
    except InputError:
        raise
    except Exception as error:  # whatever foreign code raises
        items = f"items {batch[0][0].id!r} to {batch[-1][0].id!r}"
        message = f"the judge {rater_signature(rater)} failed on {items}: {_reason(error)}"
        raise InputError(message) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _checked(
    rater: Rater, item: Item, references: Sequence[Reference], given: object
) -> tuple[float, ...]:
    try:
        weights = tuple(float(weight) for weight in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        message = f"the judge {rater_signature(rater)} gave no list of numbers, but {shown(given)}"
        raise InputError(Problem(message, item=item.id)) from None
    if len(weights) != len(references):
        message = f"the judge {rater_signature(rater)} gave {len(weights)} weights for "
        message += f"{len(references)} references"
        raise InputError(Problem(message, item=item.id))
    for reference, weight in zip(references, weights, strict=True):
        if not (math.isfinite(weight) and -1 <= weight <= 1):
            message = f"the judge {rater_signature(rater)} gave reference {reference.id!r} the "
            message += f"weight {weight:g}, which does not lie in [-1, 1]"
            raise InputError(Problem(message, item=item.id))
    return weights
