"""Soft pools of texts over the references of items; and which items stand for all others.

A text is always one of some `PreparedTexts`, an item one of those whose references there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError
from deltableu.judges.scr_texts import SIMILARITIES, PreparedTexts, similarities
from deltableu.judges.word_space import WordSpace
from deltableu.score import soft_pool

#: Pairs of texts that are compared at once.
_PAIRS = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The references of each item that are pooled: item i has `rows[bounds[i]:bounds[i + 1]]`.

    Attributes
    ----------
    rows : array
        Rows of the references' `PreparedTexts`.
    weights : array
        Above 0.
    bounds : array
    """

    rows: Ints
    weights: Array
    bounds: Ints

    @classmethod
    def of(cls, rows: Ints, weights: Array, owners: Ints, items: int) -> Pool:
        """The references whose weight is above 0, of those that belong to the owners."""
        kept = weights > 0.0
        sizes = np.bincount(owners[kept], minlength=items)
        return cls(rows[kept], weights[kept], np.concatenate(([0], np.cumsum(sizes))))

    @property
    def sizes(self) -> Ints:
        """How many references each item has in the pool."""
        return np.diff(self.bounds)


@dataclass(frozen=True, slots=True, eq=False)
class Pooling:
    """How texts are pooled.

    Attributes
    ----------
    references : PreparedTexts
    space : WordSpace
    tau : float
    threads : int, optional
    """

    references: PreparedTexts
    space: WordSpace
    tau: float
    threads: int | None = None

    def pools(
        self, own: PreparedTexts, texts: Ints, pool: Pool, items: Ints, without: Ints | None = None
    ) -> tuple[Array, Bools]:
        """The soft pool of text texts[j] over the references of items[j], for every j.

        Parameters
        ----------
        own : PreparedTexts
        texts, items : array
            The j of one text should stand together.
        pool : Pool
        without : array, optional
            The place in the pool of a reference that does not count, or -1.

        Returns
        -------
        array
            A row for each similarity.
        array of bool
            Where no reference is left, and the pool is 0.
        """
        sizes = pool.sizes[items]
        ends = np.cumsum(sizes)
        cuts = np.searchsorted(ends, np.arange(_PAIRS, ends[-1] if len(ends) else 0, _PAIRS))
        cuts = np.unique(np.concatenate(([0], cuts, [len(items)])))
        parts = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

        def work(part: tuple[int, int]) -> tuple[Array, Bools]:
            some = slice(*part)
            left = None if without is None else without[some]
            return self._some(own, texts[some], pool, items[some], left)

        found = _in_threads(work, parts, self.threads)
        if not found:
            return np.zeros((len(SIMILARITIES), 0)), np.zeros(0, dtype=bool)
        return (
            np.concatenate([one for one, _ in found], axis=1),
            np.concatenate([empty for _, empty in found]),
        )

    def _some(
        self, own: PreparedTexts, texts: Ints, pool: Pool, items: Ints, without: Ints | None
    ) -> tuple[Array, Bools]:
        sizes = pool.sizes[items]
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        places = np.repeat(pool.bounds[items] - bounds[:-1], sizes) + np.arange(bounds[-1])
        weights = pool.weights[places]
        if without is not None:
            weights = np.where(places == np.repeat(without, sizes), 0.0, weights)
        rows = pool.rows[places]
        found = similarities(own, self.references, self.space, np.repeat(texts, sizes), rows)
        pooled = np.stack([soft_pool(one, weights, bounds, self.tau) for one in found])
        counted = np.concatenate(([0], np.cumsum(weights > 0.0)))
        return pooled, counted[bounds[1:]] == counted[bounds[:-1]]


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """What stands for all other items: references of a few, and how rare words are in all.

    Attributes
    ----------
    names : tuple of str
        What tells the items from each other, in a random order that the seed says; which ones
        these are depends on the items' references, not on their order.
    ids : tuple of str
        Their ids, where they have some: an item is the same with only some of its references.
    number : int
        With how many of them an item is compared; there is one more, in place of an item itself.
    texts, weights, originals, owners
        The references of these items, as `ScrReferences` has them.
    space : WordSpace
        Words, counted in the references of all items.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    number: int
    texts: Sequence[str]
    weights: Array
    originals: Bools
    owners: Ints
    space: WordSpace

    @property
    def digest(self) -> str:
        """A short hash of everything that scores depend on."""
        about = "\x1e".join((*self.names, *map(repr, self.weights.tolist())))
        about += f"{self.number} {self.space.texts} {sorted(self.space.frequencies.items())}"
        return blake2b(about.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def of_each(self, names: Sequence[str], ids: Sequence[str] | None) -> Ints:
        """The items that each item is compared with, by their places, a row each."""
        places = {name: place for place, name in enumerate(self.names)}
        own = np.array([places.get(name, self.number) for name in names])
        if ids is not None:
            known = {id: place for place, id in enumerate(self.ids)}
            own = np.array([known.get(id, one) for id, one in zip(ids, own.tolist(), strict=True)])
        columns = np.arange(self.number)
        return np.asarray(columns + (columns >= own[:, None]))


def ranked_items(names: Sequence[str], seed: int) -> list[int]:
    """Items in a random order; of those with the same name the first."""
    firsts: dict[str, int] = {}
    for index, name in enumerate(names):
        firsts.setdefault(name, index)
    if len(firsts) < 2:
        which = "there is one item" if len(names) < 2 else "all items have the same references"
        raise InputError(
            "scr measures what a text shares with the references of its item beyond what it shares "
            f"with those of other items, and {which}: score more items together"
        )
    return sorted(firsts.values(), key=lambda index: _rank(names[index], seed))


def _rank(name: str, seed: int) -> bytes:
    key = seed.to_bytes(8, "little", signed=True)
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()


def _in_threads(
    work: Callable[[tuple[int, int]], tuple[Array, Bools]],
    parts: Sequence[tuple[int, int]],
    threads: int | None,
) -> list[tuple[Array, Bools]]:
    workers = min(threads or os.cpu_count() or 1, len(parts))
    if workers <= 1:
        return list(map(work, parts))
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
