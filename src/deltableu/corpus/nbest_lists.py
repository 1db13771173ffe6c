"""N-best lists in memory: what a system considered for each item, and what it knew of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, check_known
from deltableu.io import fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class NBestLists:
    """Candidates of all items behind each other, with their features.

    Attributes
    ----------
    item_ids : tuple of str
    bounds : array of int
        The candidates of item i are those from `bounds[i]` up to but not `bounds[i + 1]`.
    texts : tuple of str
        One per candidate.
    names : tuple of str
        Of the features.
    features : array
        A row per candidate, a column per feature.
    totals : array or None
        What the system itself ranked its candidates by, where that is known.

    Examples
    --------
    >>> lists = NBestLists(("a", "b"), np.array([0, 2, 3]), ("yes", "no", "hi"), ("LM",),
    ...                    np.array([[-1.0], [-2.0], [-1.5]]))
    >>> len(lists), lists.candidates(0), lists.owners.tolist()
    (2, ('yes', 'no'), [0, 0, 1])
    >>> lists.texts_of(lists.best(lists.scores({"LM": -1.0})))
    ('no', 'hi')
    """

    item_ids: tuple[str, ...]
    bounds: Ints
    texts: tuple[str, ...]
    names: tuple[str, ...]
    features: Array
    totals: Array | None = None

    def __post_init__(self) -> None:
        candidates = len(self.texts)
        wide = len(self.bounds) == len(self.item_ids) + 1 and self.bounds[0] == 0
        if not wide or self.bounds[-1] != candidates or np.any(np.diff(self.bounds) < 1):
            raise InputError("bounds must rise from 0 to the number of candidates, item by item")
        if self.features.shape != (candidates, len(self.names)):
            raise InputError("features must have a row per candidate and a column per name")
        if self.totals is not None and self.totals.shape != (candidates,):
            raise InputError("totals must have one number per candidate")

    def __len__(self) -> int:
        return len(self.item_ids)

    @property
    def owners(self) -> Ints:
        """The number of each candidate's item."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    def candidates(self, item: int) -> tuple[str, ...]:
        """The texts of one item's candidates."""
        return self.texts[self.bounds[item] : self.bounds[item + 1]]

    def select(self, items: Sequence[int] | Ints) -> NBestLists:
        """The lists of some of the items, in the order given."""
        items = np.asarray(items, dtype=np.int64)
        sizes = np.diff(self.bounds)[items]
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        rows = np.arange(bounds[-1]) + np.repeat(self.bounds[items] - bounds[:-1], sizes)
        return replace(
            self._rows(rows),
            item_ids=tuple(self.item_ids[i] for i in items.tolist()),
            bounds=bounds,
        )

    def scores(self, weights: Mapping[str, float]) -> Array:
        """Weighted sums of the features; every weight must be that of a feature, and none lack."""
        for name in weights:
            check_known("feature", name, self.names)
        for name in self.names:
            if name not in weights:
                raise InputError(f"the weights lack the feature {name!r}: write 0 to ignore it")
        return weighted_sums(self.features.T, np.array([weights[name] for name in self.names]))

    def best(self, scores: Array) -> Ints:
        """The candidate of each item that scores highest, the first of those that tie."""
        most = np.maximum.reduceat(scores, self.bounds[:-1])
        places = np.flatnonzero(scores == most[self.owners])
        _, first = np.unique(self.owners[places], return_index=True)
        return np.asarray(places[first])

    def texts_of(self, candidates: Ints) -> tuple[str, ...]:
        """The texts of some of the candidates."""
        return tuple(self.texts[place] for place in candidates.tolist())

    def fingerprint(self) -> str:
        """A short name of all that the lists hold."""
        numbers = [self.bounds.tobytes().hex(), self.features.tobytes().hex()]
        if self.totals is not None:
            numbers.append(self.totals.tobytes().hex())
        return fingerprint((*self.item_ids, *self.texts, *self.names, *numbers))

    def _rows(self, rows: Ints) -> NBestLists:
        """These candidates, as if all were of one item."""
        totals = None if self.totals is None else self.totals[rows]
        bounds = np.array([0, len(rows)])
        texts = self.texts_of(rows)
        return NBestLists(("",), bounds, texts, self.names, self.features[rows], totals)


def weighted_sums(columns: Array, weights: Array) -> Array:
    """Sums of weighted columns, added in their order: equal candidates have equal sums.

    A product of matrices may add the same numbers differently in different rows, and which of two
    equal candidates is chosen would depend on where they stand.

    Examples
    --------
    >>> weighted_sums(np.array([[1.0, 2.0], [10.0, 20.0]]), np.array([1.0, 0.5])).tolist()
    [6.0, 12.0]
    """
    sums, weighted = np.zeros((2, columns.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):  # the caller looks at what comes out
        for weight, column in zip(weights.tolist(), columns, strict=True):
            if weight != 0.0:
                np.multiply(column, weight, out=weighted)
                sums += weighted
    return sums


def merge_nbest(several: Sequence[NBestLists]) -> NBestLists:
    """The lists of several iterations as one; a text that has the same features again counts once.

    Iterations must be about the same items and have the same features, in any order. Their totals
    were made with different weights and cannot be compared, so more than one list has none.

    Examples
    --------
    >>> one = NBestLists(("a",), np.array([0, 1]), ("yes",), ("LM",), np.array([[-1.0]]))
    >>> two = NBestLists(("a",), np.array([0, 2]), ("no", "yes"), ("LM",), np.array([[-2.0], [-1]]))
    >>> merge_nbest([one, two]).texts
    ('yes', 'no')
    """
    if not several:
        raise InputError("there are no n-best lists to merge")
    first = several[0]
    if len(several) == 1:
        return first
    for number, other in enumerate(several[1:], start=2):
        if other.item_ids != first.item_ids:
            raise InputError(f"n-best list {number} is not about the items of the first")
        if sorted(other.names) != sorted(first.names):
            there, wanted = ", ".join(other.names), ", ".join(first.names)
            message = f"has the features {there}, but the first has {wanted}"
            raise InputError(f"n-best list {number} {message}")
    texts = [text for one in several for text in one.texts]
    columns = [[one.names.index(name) for name in first.names] for one in several]
    # Adding 0 makes -0.0 the 0.0 that it equals, for the comparison of bytes.
    pairs = zip(several, columns, strict=True)
    features = np.concatenate([one.features[:, order] for one, order in pairs]) + 0.0
    owners = np.concatenate([one.owners for one in several])
    order = np.argsort(owners, kind="stable")
    kept: list[int] = []
    bounds = [0]
    seen: set[tuple[str, bytes]] = set()
    ends = np.cumsum(np.bincount(owners, minlength=len(first))).tolist()
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        seen.clear()
        for place in order[start:end].tolist():
            key = (texts[place], features[place].tobytes())
            if key not in seen:
                seen.add(key)
                kept.append(place)
        bounds.append(len(kept))
    rows = np.array(kept)
    chosen = tuple(texts[place] for place in kept)
    return NBestLists(first.item_ids, np.array(bounds), chosen, first.names, features[rows])
