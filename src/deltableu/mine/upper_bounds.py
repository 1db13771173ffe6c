"""Which items a logged row must be compared with: all that bounds in bytes do not rule out."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from deltableu._types import Array, Bools, Bytes, Ints, Ints32

#: Rows are told apart by what their terms may be worth, in so many steps.
_LEVELS = 64
#: The last step is for rows of so many times the average length, or longer.
_LONG = 3.0
#: What an item needs of rows of so many times the average length has all bits of a byte.
_MEASURED, _FULL = 1.6, 255
#: What a term is worth more when it is repeated is so much of its worth, or several times that.
_REPEATED = 0.55
#: A term that more than this part of the items have is stored for all of them.
_DENSE = 28
#: Items go through the kernel by so many.
_TOGETHER = 256
#: A constant that is more than this part of what all words are worth counts more than they do.
_SOME = 0.2
#: Bounds are made again after so many looks, when thresholds have risen so much.
_LOOKS, _RISE = 200_000, 1.03
#: Less than any need that is worth measuring, and than any part.
_EASY, _TINY = 1e-9, 1e-150
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
    def shape(self) -> Array: ...
    @property
    def average(self) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class Worths:
    """Bounds for some thresholds; they serve for higher ones, too.

    Attributes
    ----------
    thresholds : array
    needs : array
        Levels x items: what an item needs of a row.
    places : array
        Where each term is: 0 nowhere, below 0 in that row of `dense`, else in `codes`, as
        first * 2 ** 24 + number.
    codes : array
        What a term is worth to an item, of terms that few items have: item * 256 + worth.
    dense : array
        The same of other terms, for all items. The first row is 0; the second half has what terms
        are worth more where they are repeated, or a part of that.
    tally : array
        How many items have been looked at.
    """

    thresholds: Array
    needs: Bytes
    places: Ints
    codes: np.ndarray[Any, np.dtype[np.uint32]]
    dense: Bytes
    tally: Ints

    def serve(self, thresholds: Array) -> bool:
        """Whether they hold for thresholds, and are worth keeping."""
        if (self.thresholds > thresholds).any():
            return False
        few = self.tally[0] < _LOOKS
        return bool(few or thresholds.sum() <= _RISE * self.thresholds.sum())


class _Kept(threading.local):
    """The bounds that a thread made last; they are not sent elsewhere."""

    worths: Worths | None = None

    def __reduce__(self) -> tuple[type[_Kept], tuple[()]]:
        return _Kept, ()


@dataclass(frozen=True, slots=True, eq=False)
class UpperBounds:
    """Makes bounds of what terms are worth to items, as bytes (MaxScore, Turtle and Flood 1995).

    A row's terms of frequency 1 have the same term frequency part, p1 in the first field and p2 in
    the second; w1 and w2 are the weights of the terms that it shares with an item, those of
    repeated terms times their part over p1 or p2. The score, `s1 * (slope * s2 + constant)`, is at
    most `cap * w1 * (slope * w2 + slack)`, where the cap is p1 * max(p2, constant / slack). The
    geometric mean of two factors, one of them multiplied by any number and the other one divided by
    it, is at most the arithmetic one. So the score exceeds a threshold t only if
    `balance * w1 + slope * w2 / balance` is more than the item's need,
    `2 * sqrt(t / cap) - slack / balance`.

    Needs are rounded down to bytes, of the next higher cap of some, and what terms are worth is
    rounded up, so that sums of bytes that stay below a need rule an item out.

    Attributes
    ----------
    items, keys, weights : array
        The terms of all items, sorted by key; those of the second field come after those of the
        first.
    totals : pair of arrays
        The sum of each item's weights in both fields.
    slope, slack : float
    least : float
        What the part of the second field counts at least.
    levels : array
        Caps, from one that no row exceeds downwards.
    measured : float
        The cap that needs are measured with.
    size : int
        How many terms there are.
    """

    items: Ints32
    keys: Ints
    weights: Array
    totals: tuple[Array, Array]
    slope: float
    slack: float
    least: float
    levels: Array
    measured: float
    size: int
    kept: _Kept = field(default_factory=_Kept)

    @classmethod
    def of(
        cls, first: Weighted, second: Weighted, size: int, slope: float, constant: float
    ) -> UpperBounds:
        fields = (first, second) if slope else (first,)
        count = len(first.totals)
        least, slack = 0.0, 0.0
        if slope and constant:
            # The constant is exact of rows whose part is the least, what words are worth of others.
            whole = slope * _part(second, 1.0) * float(second.totals.mean())
            least = _part(second, 0.0 if constant > _SOME * whole else _LONG)
            slack = constant / least
        top, measured, last = (
            _part(first, length) * (max(_part(second, length), least) if slope else 1.0)
            for length in (0.0, _MEASURED, _LONG)
        )
        ratio = max((top / last) ** (1.0 / (_LEVELS - 1)), _MARGIN)
        all_items = np.arange(count, dtype=np.int32)
        items = np.concatenate([np.repeat(all_items, np.diff(one.bounds)) for one in fields])
        keys = np.concatenate([one.terms + size * at for at, one in enumerate(fields)])
        weights = np.concatenate([one.weights for one in fields])
        order = np.argsort(keys, kind="stable")
        order = order[weights[order] > 0.0]
        return cls(
            items[order],
            keys[order].astype(np.int64),
            weights[order] * _MARGIN,
            (first.totals, second.totals),
            slope,
            slack,
            least,
            top * _MARGIN * ratio ** -np.arange(_LEVELS, dtype=np.float64),
            measured,
            size,
        )

    def arrays(self, thresholds: Array) -> tuple[tuple[object, ...], int]:
        """As the kernel takes them, and how many dense rows a text may have."""
        worths = self.kept.worths
        if worths is None or not worths.serve(thresholds):
            worths = self.kept.worths = self.make(thresholds)
        found = worths.needs, _REPEATED, worths.places, worths.codes, worths.dense, worths.tally
        # No term is in more rows than empty all bytes.
        return (self.least, self.levels, *found), 256 * len(worths.dense)

    def make(self, thresholds: Array) -> Worths:
        """Bounds for some thresholds."""
        count = len(thresholds)
        balances = self._balances(thresholds)
        least = self._needs(thresholds, balances, float(self.levels[0]))
        # What needs hardly anything needs a word of the first field at least.
        easy = ~(least > _EASY)
        measured = np.maximum(self._needs(thresholds, balances, self.measured), least)
        units = _FULL / np.where(easy, 1.0, measured)
        needs = np.full((_LEVELS, padded(count)), _FULL, np.uint8)
        for level, cap in enumerate(self.levels.tolist()):
            steps = np.floor(self._needs(thresholds, balances, cap) * (units / _MARGIN))
            needs[level, :count] = np.where(easy, 1.0, np.clip(steps, 1.0, _FULL))
        of_first = self.keys < self.size
        used = of_first | ~easy[self.items]
        scales = np.where(of_first, balances[self.items], self.slope / balances[self.items])
        items, keys = self.items[used].astype(np.uint32), self.keys[used]
        worths = (self.weights * scales)[used] * units[items] * _MARGIN
        codes = _bytes(worths, easy[items])
        having = np.bincount(keys, minlength=2 * self.size)
        often = having * _DENSE > count
        having[often] = 0
        many = often[keys]
        rows: Ints = np.cumsum(often)
        dense = np.zeros((2, int(often.sum()) + 1, padded(count)), np.uint8)
        dense[0, rows[keys[many]], items[many]] = codes[many]
        # What they are worth more where they are repeated.
        dense[1, rows[keys[many]], items[many]] = _bytes(_REPEATED * worths, easy[items])[many]
        firsts = np.cumsum(having) - having
        return Worths(
            thresholds.copy(),
            needs,
            np.where(often, -rows, np.where(having > 0, (firsts << 24) | having, 0)),
            (items[~many] << np.uint32(8)) | codes[~many],
            dense.reshape(-1, padded(count)),
            np.zeros(1, np.int64),
        )

    def _balances(self, thresholds: Array) -> Array:
        """By which the arithmetic mean is the geometric one where an item's threshold is met.

        That is where a row of the measured cap has the same part of the weights in both fields.
        """
        balances = np.ones(len(thresholds))
        if self.slope:
            first, second = self.totals[0], self.slope * self.totals[1]
            (met,) = np.nonzero((thresholds > _EASY) & (first > 0.0) & (second + self.slack > 0.0))
            first, second = first[met], second[met]
            products = thresholds[met] / self.measured / first
            roots = np.sqrt(self.slack**2 + 4.0 * second * products)
            parts = 2.0 * products / (self.slack + roots)
            balances[met] = np.sqrt((self.slack + parts * second) / (parts * first))
        return balances

    def _needs(self, thresholds: Array, balances: Array, cap: float) -> Array:
        parts = thresholds / cap
        if not self.slope:
            return parts / _MARGIN
        return 2.0 * np.sqrt(parts) / _MARGIN - self.slack / balances * _MARGIN


def _bytes(worths: Array, easy: Bools) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.where(easy, _FULL, np.ceil(np.minimum(worths, _FULL))).astype(np.uint32)


def _part(one: Weighted, length: float) -> float:
    """The part of a term that is once in a text of so many times the average length."""
    constant, slope, factor = one.shape.tolist()
    return max(float(factor / (1.0 + constant + slope * one.average * length)), _TINY)


def padded(count: int) -> int:
    """Room for so many items, as the kernel goes through them."""
    return -(-count // _TOGETHER) * _TOGETHER
