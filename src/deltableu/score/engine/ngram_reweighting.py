"""delta-BLEU under many vectors of reference weights: text is touched once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import ReferenceSet
from deltableu.score.engine.chunks import flat_references
from deltableu.score.engine.credit_tables import Recipe
from deltableu.score.engine.reweighting import Reweighting
from deltableu.text import WordNumbers, empty_keys


@dataclass(frozen=True, eq=False)
class NgramReweighting(Reweighting):
    """delta-BLEU: which references have the n-grams of the outputs, and how often.

    An n-gram of an output that some reference has is a group. Its credit under weights w is the
    largest w[j] * clipped count over its candidates j, the references that have it. Groups with
    most candidates come first: those with a second, a third, ... are the first few.
    """

    recipe: Recipe
    bounds: Ints  # of each item's references
    candidates: tuple[Ints, ...]  # the first candidate of each group, the second, ...
    clipped: tuple[Array, ...]
    members: Any  # sparse 0/1: (order, item, system) x group
    possible: Array  # items x systems x orders: n-grams of each output
    lengths: Array  # items x systems
    reference_lengths: Array

    @property
    def size(self) -> int:  # type: ignore[override]
        groups = len(self.candidates[0]) if self.candidates else 0
        return 2 * groups + 3 * int(self.members.shape[0]) + len(self.reference_lengths)

    def without_positive(self, weights: Array) -> Bools:
        return self._scale(weights) <= 0.0

    def rows(self, weights: Array) -> Array:
        order = self.recipe.order
        items, systems = self.lengths.shape
        scale = self._scale(weights)
        numerators = self.members @ self._credits(np.ascontiguousarray(weights.T))
        rows = np.empty((len(weights), items, systems, 2 * order + 2))
        rows[..., :order] = numerators.reshape(order, items, systems, -1).transpose(3, 1, 2, 0)
        rows[..., order:-2] = scale[:, :, None, None] * self.possible
        rows[..., -2] = self.lengths
        rows[..., -1] = self._closest(weights)
        rows[scale <= 0.0] = 0.0
        return rows

    def _scale(self, weights: Array) -> Array:
        compared = np.abs(weights) if self.recipe.signed else weights
        largest: Array = np.maximum.reduceat(compared, self.bounds[:-1], axis=1)
        return largest

    def _credits(self, weights: Array) -> Array:
        """Groups x vectors, for references x vectors."""
        credits = np.empty((0, weights.shape[1]))
        for candidates, clipped in zip(self.candidates, self.clipped, strict=True):
            earned = weights[candidates]
            earned *= clipped[:, None]
            if len(credits):
                np.maximum(credits[: len(earned)], earned, out=credits[: len(earned)])
            else:
                credits = earned
        if self.recipe.variant == "tsuta2020":
            np.maximum(credits, 0.0, out=credits)
        return credits

    def _closest(self, weights: Array) -> Array:
        """Vectors (or 1) x items x systems: the closest length, the shorter of two."""
        starts, lengths = self.bounds[:-1], self.reference_lengths
        counts = np.diff(self.bounds)
        allowed = np.ones((1, len(lengths)), dtype=bool)
        if self.recipe.brevity == "positive":
            allowed = weights > 0.0
            none = ~np.logical_or.reduceat(allowed, starts, axis=1)
            allowed |= np.repeat(none, counts, axis=1)
        # One number that sorts by distance, then by length.
        factor = lengths.max() + 1.0
        closest = np.empty((len(allowed), *self.lengths.shape))
        for system in range(self.lengths.shape[1]):
            distances = np.abs(lengths - np.repeat(self.lengths[:, system], counts))
            order = np.where(allowed, distances * factor + lengths, np.inf)
            closest[..., system] = np.minimum.reduceat(order, starts, axis=1) % factor
        return closest


def reweighted_ngrams(
    recipe: Recipe, references: ReferenceSet, outputs: Sequence[Sequence[str]]
) -> NgramReweighting:
    """Find the n-grams of systems and references, for any weights.

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> references = ReferenceSet([["no no", "no thanks"]], [[0.3, 0.9]])
    >>> ready = DeltaBLEU(tokenize="none").reweighting(references, [["no no no"]])
    >>> ready.rows(np.array([[0.3, 0.9], [0.5, 0.9]]))[:, 0, 0, :2].round(9).tolist()
    [[0.9, 0.3], [1.0, 0.5]]
    """
    from scipy.sparse import csr_array

    flat = flat_references(references, weighted=True)
    items, systems, before = len(flat.bounds) - 1, len(outputs), len(flat.texts)
    hashed = [recipe.tokenizer.hash(texts) for texts in (flat.texts, *outputs)]
    words = WordNumbers.of(empty_keys(0))
    tokens = words.add(np.concatenate([one.keys for one in hashed]))[0].astype(np.int64)
    # References come first, then the outputs of one system after the other.
    lengths = np.concatenate([np.diff(one.bounds) for one in hashed])
    owners = np.concatenate((flat.owners, np.tile(np.arange(items), systems)))
    text, gram, firsts = _numbered_ngrams(tokens, lengths, recipe.order)
    distinct = int(gram.max(initial=0)) + 1
    keys, place, counts = np.unique(text * distinct + gram, return_index=True, return_counts=True)
    text, gram = keys // distinct, keys % distinct
    in_item = owners[text] * distinct + gram

    # The n-grams of each item's references, and the references that have them.
    split = int(np.searchsorted(text, before))
    by_gram = np.argsort(in_item[:split], kind="stable")
    reference, count = text[by_gram], counts[by_gram]
    known, start, having = np.unique(in_item[by_gram], return_index=True, return_counts=True)
    most = np.maximum.reduceat(count, start) if len(start) else count

    # The n-grams of outputs that are among them; to have one more often than any reference does
    # earns no more.
    matched = split + np.flatnonzero(np.isin(in_item[split:], known))
    gram_of_item = np.searchsorted(known, in_item[matched])
    clip = np.minimum(counts[matched], most[gram_of_item])
    base = int(most.max(initial=0)) + 1
    groups, group = np.unique(gram_of_item * base + clip, return_inverse=True)
    sizes = having[groups // base]
    ranked = np.argsort(-sizes, kind="stable")
    groups, sizes = groups[ranked], sizes[ranked]
    candidates, clipped = [], []
    for depth in range(int(sizes.max(initial=0))):
        some = groups[: np.count_nonzero(sizes > depth)]
        at = start[some // base] + depth
        most_counted = some % base
        candidates.append(reference[at])
        counted = (
            most_counted if recipe.variant == "galley2019" else np.minimum(most_counted, count[at])
        )
        clipped.append(counted.astype(np.float64))

    # In a row n-grams are added up in the order of the text, as scoring does.
    order = np.searchsorted(firsts, gram[matched], side="right") - 1
    system = (text[matched] - before) // items
    rows = (order * items + owners[text[matched]]) * systems + system
    sequence = np.lexsort((place[matched], rows))
    height = recipe.order * items * systems
    pointers = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height))))
    position = np.empty(len(ranked), dtype=np.int64)
    position[ranked] = np.arange(len(ranked))
    members = csr_array(
        (np.ones(len(rows)), position[group[sequence]], pointers), shape=(height, len(groups))
    )
    spoken = lengths[before:].reshape(systems, items).T
    return NgramReweighting(
        recipe=recipe,
        bounds=flat.bounds,
        candidates=tuple(candidates),
        clipped=tuple(clipped),
        members=members,
        possible=np.maximum(spoken[..., None] - np.arange(recipe.order), 0).astype(np.float64),
        lengths=spoken.astype(np.float64),
        reference_lengths=lengths[:before].astype(np.float64),
    )


def _numbered_ngrams(tokens: Ints, lengths: Ints, order: int) -> tuple[Ints, Ints, Ints]:
    """The text of every n-gram, a number that equal ones share, and each order's first number."""
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))
    distinct = int(tokens.max(initial=0)) + 1
    grams = tokens
    texts, numbers, firsts = [text], [tokens], [0, distinct]
    for n in range(2, order + 1):
        at = np.flatnonzero(left >= n)
        _, number = np.unique(grams[at] * distinct + tokens[at + n - 1], return_inverse=True)
        grams = np.zeros_like(tokens)
        grams[at] = number
        texts.append(text[at])
        numbers.append(firsts[-1] + number)
        firsts.append(firsts[-1] + int(number.max(initial=-1)) + 1)
    return np.concatenate(texts), np.concatenate(numbers), np.array(firsts[:-1])
