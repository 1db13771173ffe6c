"""Many vectors of reference weights in, rows of every system out: text is touched once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from deltableu.corpus.references import ReferenceSet
from deltableu.score.chunks import FlatReferences, flat_references
from deltableu.score.delta_bleu_metric import DeltaBLEU
from deltableu.score.discriminative import Discriminative, pool_best, pool_mean
from deltableu.score.metric import Metric

__all__ = ["Reweighting", "reweighting"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


class Reweighting(ABC):
    """Systems under one metric, ready for any weights of the references."""

    #: Numbers held at once for one vector of weights.
    size: int

    @abstractmethod
    def rows(self, weights: Array) -> Array:
        """Vectors x items x systems x columns, for vectors x references.

        Rows are what `metric.statistics` gives under these weights, and 0 for items that the
        metric cannot score under them.
        """

    def hopeless(self, weights: Array) -> Bools:
        """Vectors x items (or x 1): those that the metric cannot score under these weights."""
        return np.zeros((len(weights), 1), dtype=bool)


def reweighting(
    metric: Metric, references: ReferenceSet, outputs: Mapping[str, Sequence[str]]
) -> Reweighting:
    """Prepare systems, whose outputs are in the order of the items, for other weights.

    Examples
    --------
    >>> metric = DeltaBLEU(tokenize="none")
    >>> references = ReferenceSet([["no no", "no thanks"]], [[0.3, 0.9]])
    >>> ready = reweighting(metric, references, {"A": ["no no no"]})
    >>> ready.rows(np.array([[0.3, 0.9], [0.5, 0.9]]))[:, 0, 0, :2].round(9).tolist()
    [[0.9, 0.3], [1.0, 0.5]]
    """
    texts = [list(hypotheses) for hypotheses in outputs.values()]
    if isinstance(metric, DeltaBLEU):
        return _count_ngrams(metric, flat_references(references, weighted=True), texts)
    if isinstance(metric, Discriminative):
        return _compare_texts(metric, flat_references(references, weighted=True), texts)
    return _Recomputed(metric, references, texts)


@dataclass(frozen=True, eq=False)
class _Ngrams(Reweighting):
    """delta-BLEU: which references have the n-grams of the outputs, and how often.

    An n-gram of an output that some reference has is a group. Its credit under weights w is the
    largest w[j] * clipped count over its candidates j, the references that have it. Groups with
    most candidates come first: those with a second, a third, ... are the first few.
    """

    metric: DeltaBLEU
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
        return 2 * groups + 3 * self.members.shape[0] + len(self.reference_lengths)

    def hopeless(self, weights: Array) -> Bools:
        return self._scale(weights) <= 0.0

    def rows(self, weights: Array) -> Array:
        order = self.metric.order
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
        compared = np.abs(weights) if self.metric.combine == "arithmetic" else weights
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
        if self.metric.variant == "tsuta2020":
            np.maximum(credits, 0.0, out=credits)
        return credits

    def _closest(self, weights: Array) -> Array:
        """Vectors (or 1) x items x systems: the closest length, the shorter of two."""
        starts, lengths = self.bounds[:-1], self.reference_lengths
        counts = np.diff(self.bounds)
        allowed = np.ones((1, len(lengths)), dtype=bool)
        if self.metric.brevity == "positive":
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


def _count_ngrams(metric: DeltaBLEU, flat: FlatReferences, outputs: list[list[str]]) -> _Ngrams:
    from scipy.sparse import csr_array

    items, systems = len(flat.bounds) - 1, len(outputs)
    hashed = [metric.recipe.tokenizer.hash(texts) for texts in (flat.texts, *outputs)]
    _, tokens = np.unique(np.concatenate([one.hashes for one in hashed]), return_inverse=True)
    lengths = np.concatenate([np.diff(one.bounds) for one in hashed])
    # References first, then the outputs of one system after the other.
    owners = np.concatenate((flat.owners, np.tile(np.arange(items), systems)))
    output_lengths = lengths[len(flat.texts) :].reshape(systems, items).T
    found = [
        _matches(metric, text, gram, owners, len(flat.texts))
        for text, gram in _ngrams_of(tokens, lengths, metric.order)
    ]
    starts = [0, *accumulate(len(one.sizes) for one in found)]
    sizes = np.concatenate([one.sizes for one in found])
    rank = np.argsort(-sizes, kind="stable")
    first = np.cumsum(sizes) - sizes
    reference = np.concatenate([one.reference for one in found])
    clipped = np.concatenate([one.clipped for one in found])
    candidates, clips = [], []
    for depth in range(int(sizes.max(initial=0))):
        at = first[rank[: np.count_nonzero(sizes > depth)]] + depth
        candidates.append(reference[at])
        clips.append(clipped[at])
    place = np.empty(len(rank), dtype=np.int64)
    place[rank] = np.arange(len(rank))
    rows = np.concatenate(
        [
            (order * items + owners[one.output]) * systems
            + (one.output - len(flat.texts)) // items
            for order, one in enumerate(found)
        ]
    )
    columns = np.concatenate([place[start + one.group] for start, one in zip(starts, found)])
    # Built as it is: in a row, n-grams are added up in the order of the text, as scoring does.
    by_row = np.argsort(rows, kind="stable")
    height = metric.order * items * systems
    pointers = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height))))
    members = csr_array(
        (np.ones(len(rows)), columns[by_row], pointers), shape=(height, len(sizes))
    )
    orders = np.arange(metric.order)
    return _Ngrams(
        metric=metric,
        bounds=flat.bounds,
        candidates=tuple(candidates),
        clipped=tuple(clips),
        members=members,
        possible=np.maximum(output_lengths[..., None] - orders, 0).astype(np.float64),
        lengths=output_lengths.astype(np.float64),
        reference_lengths=lengths[: len(flat.texts)].astype(np.float64),
    )


def _ngrams_of(tokens: Ints, lengths: Ints, order: int) -> list[tuple[Ints, Ints]]:
    """For each order: the text of every n-gram, and a number that equal n-grams share."""
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # to the text's end
    distinct = int(tokens.max(initial=0)) + 1
    grams = tokens
    found = []
    for n in range(1, order + 1):
        at = np.flatnonzero(left >= n)
        if n > 1:
            _, numbers = np.unique(grams[at] * distinct + tokens[at + n - 1], return_inverse=True)
            grams = np.zeros_like(tokens)
            grams[at] = numbers
        found.append((text[at], grams[at]))
    return found


@dataclass(frozen=True, slots=True)
class _Matches:
    """N-grams of one order: group `group[i]` is in output `output[i]`, in order of the text."""

    output: Ints
    group: Ints
    sizes: Ints  # of each group: how many references have it
    reference: Ints  # group after group
    clipped: Array


def _matches(
    metric: DeltaBLEU, text: Ints, gram: Ints, owners: Ints, references: int
) -> _Matches:
    distinct = int(gram.max(initial=0)) + 1
    keys, first, counts = np.unique(text * distinct + gram, return_index=True, return_counts=True)
    text, gram = keys // distinct, keys % distinct
    in_item = owners[text] * distinct + gram
    split = int(np.searchsorted(text, references))
    by_key = np.argsort(in_item[:split], kind="stable")
    known, known_text, known_counts = in_item[by_key], text[by_key], counts[by_key]
    most = np.zeros(len(keys), dtype=np.int64)
    begin = np.searchsorted(known, in_item[split:], side="left")
    end = np.searchsorted(known, in_item[split:], side="right")
    kept = np.flatnonzero(end > begin)
    begin, end = begin[kept], end[kept]
    most = np.maximum.reduceat(np.append(known_counts, 0), begin) if len(begin) else begin
    ...
