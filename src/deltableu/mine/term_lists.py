"""Which items a logged row must be compared with: those in the lists of its terms."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Bytes, Ints, Ints32

_kernel = _kernels.load("mine._join")

#: Rows are told apart by what their terms may be worth, in so many steps of such a ratio.
_LEVELS, _RATIO = 32, 1.2
#: An item is looked at when its hits are full; what it lacks at the level below is `_LACK` of them.
_FULL, _LACK, _LACK_LEVEL = 60_000, 20_000, 8
#: The part of what an item needs that its commonest terms, which no list has, may be worth.
_UNLISTED = 0.45
#: What an item has before any hit, for repeated words and the constant of the product.
_SLACK, _SLACK_CONSTANT = 0.005, 2.5
#: Nanoseconds of a step in a list, and of a look at an item.
_STEP, _LOOK = 1.2, 45.0
#: Nanoseconds an item of adding up all of them; 0 makes lists useless.
BESIDE = 0.65
#: Looks of a step, until they have been counted.
_LOOKS = 0.02
#: So many rows are enough to count.
_COUNTED = 200
#: Lists are made again after so many rows, when thresholds have risen so much.
_REST, _RISE = 40_000, 1.03
#: More than any rounding takes away.
_MARGIN = 1.0 + 1e-9


class Weighted(Protocol):
    """The queries to one field, as `deltableu.mine.bm25` has them."""

    @property
    def bounds(self) -> Ints: ...
    @property
    def terms(self) -> Ints32: ...
    @property
    def weights(self) -> Array: ...
    @property
    def totals(self) -> Array: ...
    @property
    def shares(self) -> Array: ...
    @property
    def shape(self) -> Array: ...


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Lists for some thresholds; they serve for higher ones, too.

    Attributes
    ----------
    thresholds : array
    used : array
        At each level, whether lists are quicker than adding up all items.
    tally : array
        Levels x (rows, rows that used lists, their steps, their looks), as it was.
    starts : array
        Levels x items: the hits that an item has before any.
    bounds, codes : array
        The list of each term: item, the last level at which it is in the list, and hits.
    """

    thresholds: Array
    used: Bytes
    tally: Ints
    starts: np.ndarray[Any, np.dtype[np.uint16]]
    bounds: Ints32
    codes: Ints

    def serve(self, thresholds: Array) -> bool:
        """Whether they hold for thresholds, and are worth keeping."""
        if (self.thresholds > thresholds).any():
            return False
        rested = self.tally[:, 0].sum() < _REST
        return bool(rested or thresholds.sum() <= _RISE * self.thresholds.sum())


class _Kept(threading.local):
    """The lists that a thread made last, and what it has seen of them; it is not sent elsewhere."""

    lists: Lists | None = None

    def __init__(self) -> None:
        self.looks = np.full(_LEVELS, _LOOKS)

    def learn(self) -> None:
        """Count looks, and stop using lists that have brought too many."""
        if (lists := self.lists) is None:
            return
        _, rows, steps, looks = lists.tally.T
        some = rows >= _COUNTED
        self.looks[some] = looks[some] / np.maximum(steps[some], 1)
        cost = _STEP * steps[some] + _LOOK * looks[some]
        lists.used[some] = cost <= BESIDE * len(lists.thresholds) * rows[some]

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


@dataclass(frozen=True, slots=True, eq=False)
class TermLists:
    """Makes the lists of terms, by upper bounds (MaxScore of Turtle and Flood 1995).

    The score of a row and an item is `s1 * (slope * s2 + constant)`, and at most
    `cap * (w1 + slack1) * (slope * w2 + slack2)`, where w1 and w2 are the weights in both fields of
    the terms that they share, and the cap is a number of the row. The geometric mean of two factors
    is at most the arithmetic one. So the score exceeds a threshold t only if the weights of all
    shared terms, times the root of the slope, add up to more than the item's need,
    2 * sqrt(t / cap), less its slacks.

    As many of an item's commonest terms as are worth no more than a part of its need together are
    in no list: it is taken for granted that the row has them. All others hit the item with their
    weights. What is not hit hard enough cannot exceed its threshold, whatever the row is.

    Attributes
    ----------
    items, keys, weights, shares, sums : array
        The terms of all items (those of the second field come after those of the first), sorted by
        item and then from the commonest down; the part of rows that have each; and the weights of
        an item up to it.
    totals : array
        The sum of each item's weights.
    slacks : array
    offset : float
        What slacks are worth.
    levels : array
        Caps, from one that no row exceeds downwards.
    size : int
        How many terms there are.
    both : bool
        Whether there are two fields.
    """

    items: Ints32
    keys: Ints
    weights: Array
    shares: Array
    sums: Array
    totals: Array
    slacks: Array
    offset: float
    levels: Array
    size: int
    both: bool
    kept: _Kept = field(default_factory=_Kept)

    @classmethod
    def of(
        cls, first: Weighted, second: Weighted, size: int, slope: float, constant: float
    ) -> TermLists:
        fields = (first, second) if slope else (first,)
        count = len(first.totals)
        all_items = np.arange(count, dtype=np.int32)
        items = np.concatenate([np.repeat(all_items, np.diff(one.bounds)) for one in fields])
        keys = np.concatenate([one.terms + size * at for at, one in enumerate(fields)])
        weights = np.concatenate([one.weights for one in fields])
        shares = np.concatenate([one.shares for one in fields])[keys]
        order = np.lexsort((-shares, items))
        order = order[weights[order] > 0.0]
        slacks = [max(1e-3, _SLACK * float(first.totals.mean())), 1.0]
        offset, root, top = slacks[0], 1.0, float(first.shape[2])
        if slope:
            slacks[1] = max(1e-3, slope * _SLACK * float(second.totals.mean()))
            slacks[1] += _SLACK_CONSTANT * constant
            root = slope**0.5
            offset = root * slacks[0] + slacks[1] / root
            top *= max(float(second.shape[2]), constant / slacks[1])
        items, weights = items[order], weights[order] * (root * _MARGIN)
        sums = np.empty(len(items))
        _kernel.sum_weights(items, weights, sums)
        return cls(
            items,
            keys[order].astype(np.int64),
            weights,
            shares[order],
            sums * _MARGIN,
            np.bincount(items, weights, minlength=count).astype(np.float64) * _MARGIN,
            np.array(slacks),
            offset,
            top * _RATIO ** -np.arange(_LEVELS, dtype=np.float64),
            size,
            bool(slope),
        )

    def arrays(self, thresholds: Array) -> tuple[object, ...]:
        """As the kernel takes them."""
        self.kept.learn()
        lists = self.kept.lists
        if lists is None or not lists.serve(thresholds):
            lists = self.kept.lists = self.make(thresholds)
        hits = np.empty(len(thresholds), np.uint16)
        found = lists.used, lists.starts, lists.bounds, lists.codes
        return self.slacks, self.levels, *found, _FULL, hits, lists.tally

    def make(self, thresholds: Array) -> Lists:
        """Lists for some thresholds."""
        count = len(thresholds)
        roots, parts = thresholds / _MARGIN, self.levels
        if self.both:
            roots, parts = 2.0 * np.sqrt(thresholds) / _MARGIN, np.sqrt(self.levels)
        needs = roots / parts[:, np.newaxis] - self.offset
        # What needs hardly anything needs a word of the first field at least.
        easy = needs[0] <= 0.0
        # A term is in its list at the levels of larger parts than this; so is an item in any.
        largest = roots[self.items] / (self.sums / _UNLISTED + self.offset)
        levels = np.minimum(
            _larger(parts, largest), _larger(parts, roots / (self.totals + self.offset))[self.items]
        )
        of_easy = easy[self.items]
        levels[of_easy] = np.where(self.keys[of_easy] < self.size, _LEVELS, 0)
        units = np.where(easy, 0.0, _LACK / np.maximum(needs[_LACK_LEVEL], 1e-300))
        starts = np.zeros((_LEVELS, count), np.uint16)
        for level in range(_LEVELS):
            unlisted = np.where(levels <= level, self.weights, 0.0)
            granted = np.bincount(self.items, unlisted, minlength=count) * _MARGIN
            lack = np.ceil(np.maximum((needs[level] - granted) * units, 1.0))
            starts[level] = np.where(easy, 0.0, np.maximum(_FULL - lack, 0.0))
        listed = np.flatnonzero(levels)
        items, keys, shares = self.items[listed], self.keys[listed], self.shares[listed]
        last_level = levels[listed] - 1
        hits = np.minimum(self.weights[listed] * units[items] + 1.0, _FULL)
        hits[of_easy[listed]] = _FULL
        codes = (items.astype(np.int64) << 24) | (last_level << 16) | hits.astype(np.int64)
        bounds = np.zeros(2 * self.size + 1, np.int32)
        np.cumsum(np.bincount(keys, minlength=2 * self.size), out=bounds[1:])
        steps = np.cumsum(np.bincount(last_level, shares, minlength=_LEVELS)[::-1])[::-1]
        looks = self.kept.looks * steps + shares[of_easy[listed]].sum()
        return Lists(
            thresholds.copy(),
            (_STEP * steps + _LOOK * looks <= BESIDE * count).astype(np.uint8),
            np.zeros((_LEVELS, 4), np.int64),
            starts,
            bounds,
            codes[np.argsort((keys << 8) + (_LEVELS - last_level))],
        )


def _larger(parts: Array, limits: Array) -> Ints:
    """How many of the parts, which fall, exceed each limit."""
    return np.searchsorted(-parts, -limits).astype(np.int64)
