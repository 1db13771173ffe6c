"""References and their weights in; the same in wrong places, as controls need them, out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deltableu._types import Ints
from deltableu.corpus import ReferenceSet
from deltableu.stats import stream

_EXCHANGES, _SHUFFLES = 11, 12  # keys of the random streams


def exchanged_references(references: ReferenceSet, seed: int = 0) -> ReferenceSet | None:
    """Every item with the references, and their weights, of another item.

    What a metric knows then, it has from elsewhere than the right references: from lengths, say, or
    from words that are good anywhere. Items with equal references keep them equal, so that no item
    gets its own back. None where all items have the same.

    Examples
    --------
    >>> exchanged_references(ReferenceSet((("yes",), ("no", "nope")))).texts
    (('no', 'nope'), ('yes',))
    """
    kinds: dict[tuple[str, ...], int] = {}
    kind = [kinds.setdefault(tuple(texts), len(kinds)) for texts in references.texts]
    if len(kinds) < 2:
        return None
    owners: list[list[int]] = [[] for _ in kinds]
    for item, number in enumerate(kind):
        owners[number].append(item)
    others = _cycle(len(kinds), seed)
    # Of several items with these references any will do, but weights may differ: take turns.
    places, turns = [], [0] * len(kinds)
    for number in kind:
        other = int(others[number])
        places.append(owners[other][turns[number] % len(owners[other])])
        turns[number] += 1
    moved = references.take(places)
    items = None
    if references.items is not None:
        items = tuple(
            replace(item, references=references.items[place].references)
            for item, place in zip(references.items, places, strict=True)
        )
    return replace(moved, item_ids=references.item_ids, messages=references.messages, items=items)


def shuffled_weights(references: ReferenceSet, seed: int = 0) -> ReferenceSet | None:
    """The same references, their weights dealt out anew at random within each item.

    Where no item has unequal weights, those of the whole study are dealt out. None where there are
    no weights, or all are the same.

    Examples
    --------
    >>> found = shuffled_weights(ReferenceSet([["yes", "no"]], [[1.0, -1.0]]), seed=1)
    >>> sorted(found.weights[0])
    [-1.0, 1.0]
    """
    if references.weights is None:
        return None
    rng = stream(seed, _SHUFFLES)
    rows = [list(row) for row in references.weights]
    if any(len(set(row)) > 1 for row in rows):
        made = [[row[place] for place in rng.permutation(len(row))] for row in rows]
    else:
        every = [one for row in rows for one in row]
        if len(set(every)) < 2:
            return None
        dealt = iter([every[place] for place in rng.permutation(len(every))])
        made = [[next(dealt) for _ in row] for row in rows]
    return replace(references, weights=tuple(map(tuple, made)), weights_from="shuffled")


def _cycle(size: int, seed: int) -> Ints:
    """Where each place goes in a random round that leaves nobody at home."""
    order = stream(seed, _EXCHANGES).permutation(size)
    goes: Ints = np.empty(size, np.int64)
    goes[order] = np.roll(order, -1)
    return goes
