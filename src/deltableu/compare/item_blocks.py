"""Items in; blocks of items with about as many references, to compute at once, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import ReferenceSet
from deltableu.text import Texts, WordNumbers, WordRule, empty_keys, tf_idf

#: Cells of all matrices of a block.
_CELLS = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class ItemBlock:
    """Some items, each with room for as many references as the largest has.

    Attributes
    ----------
    places : array of int
        Items x references: places among the references of all items, -1 where there is none.
    similar : array
        Items x references x references: how similar texts are, from 0 to 1.
    """

    places: Ints
    similar: Array

    @property
    def there(self) -> Bools:
        """Where there is a reference."""
        return self.places >= 0

    def take(self, values: Array) -> Array:
        """Values of references (on the last axis) as ... x items x references; 0 beyond."""
        taken: Array = np.where(self.there, values[..., self.places], 0.0)
        return taken

    def rows(self, values: Array) -> Array:
        """The same for references x columns: items x references x columns."""
        taken: Array = np.where(self.there[..., None], values[self.places], 0.0)
        return taken

    def put(self, values: Array, into: Array) -> None:
        """The way back from `take`."""
        into[..., self.places[self.there]] = values[..., self.there]

    def put_rows(self, values: Array, into: Array) -> None:
        """The way back from `rows`."""
        into[self.places[self.there]] = values[self.there]

    def some(self, items: Ints) -> ItemBlock:
        """Some of the items."""
        return ItemBlock(self.places[items], self.similar[items])


def item_blocks(references: ReferenceSet) -> tuple[ItemBlock, ...]:
    """Blocks of items by their number of references, with the cosines of their words (tf-idf).

    Examples
    --------
    >>> blocks = item_blocks(ReferenceSet([["yes I do", "yes I did", "no"], ["no"], ["oh yes"]]))
    >>> [block.places.tolist() for block in blocks]
    [[[3, -1, -1], [4, -1, -1], [0, 1, 2]]]
    >>> blocks[0].similar[2].round(2).tolist()
    [[1.0, 0.35, 0.0], [0.35, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    bounds = references.bounds
    sizes = np.diff(bounds)
    vectors = _word_vectors(list(chain.from_iterable(references.texts)))
    blocks = []
    for items in _chunks(np.argsort(sizes, kind="stable"), sizes):
        widest = int(sizes[items].max())
        columns = np.arange(widest)
        places = np.where(columns < sizes[items, None], bounds[items, None] + columns, -1)
        similar = np.zeros((len(items), widest, widest))
        for number, item in enumerate(items.tolist()):
            own = vectors[bounds[item] : bounds[item + 1]]
            size = int(sizes[item])
            similar[number, :size, :size] = (own @ own.T).toarray()
        # A text without words is still like itself.
        similar[:, columns, columns] = 1.0
        blocks.append(ItemBlock(places, similar))
    return tuple(blocks)


def _chunks(order: Ints, sizes: Ints) -> Iterator[Ints]:
    first = 0
    for last in range(1, len(order) + 1):
        width = int(sizes[order[min(last, len(order) - 1)]])
        # Items of very different sizes would only fill each other's room.
        wide = width > 2 * int(sizes[order[first]]) + 2
        if last == len(order) or wide or (last + 1 - first) * width**2 > _CELLS:
            yield order[first:last]
            first = last


def _word_vectors(texts: Sequence[str]) -> Any:
    from scipy.sparse import csr_array

    hashed = WordRule().hash(Texts.of(texts))
    words = WordNumbers.of(empty_keys(0))
    numbers = words.add(hashed.keys)[0]
    counts = csr_array(
        (np.ones(len(numbers)), numbers, hashed.bounds), shape=(len(texts), max(words.size, 1))
    )
    return tf_idf(counts)
