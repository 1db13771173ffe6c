"""Texts -> how often two words stand near each other, in memory or, where it is small, on disk.

A word counts 1/d for another one d words away in the same text, as in section 4.2 of Pennington et
al. (2014). Counts are whole numbers of `UNIT`, so that neither the order in which texts come, nor
what was spilled when, changes them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Hashes, Ints, Ints32
from deltableu.errors import InputError

_kernel = _kernels.load("vectors._pairs")

#: A distance of up to 20 divides it.
UNIT = math.lcm(*range(1, 21))

_SLOT = 16
_SMALLEST = 1024
_FULL = 0.6
#: Counts are merged in so many parts.
_PARTS = 256
_MIXER = 0xD6E8FEB86659FD93


@dataclass(frozen=True, slots=True, eq=False)
class Cooccurrences:
    """Counts of pairs of words, in an order that looks random and is always the same.

    Attributes
    ----------
    hashes : array
        A number for each pair, sorted; `pairs` undoes it.
    counts : array
        In `UNIT`. Of two different words that of one order; of a word and itself half of it all.
    """

    hashes: Hashes
    counts: Hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, part: slice) -> Cooccurrences:
        return Cooccurrences(self.hashes[part], self.counts[part])

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where each of the parts begins in which counts are merged, and the end."""
        edges = np.arange(1, _PARTS, dtype=np.uint64) << np.uint64(56)
        return (0, *np.searchsorted(self.hashes, edges).tolist(), len(self))

    def pairs(self) -> tuple[Ints32, Ints32]:
        """The numbers of both words of each pair; the first one is not the smaller one."""
        keys = _unmixed(np.asarray(self.hashes))
        first = (keys >> np.uint64(32)).astype(np.int32) - np.int32(1)
        return first, (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)

    def weights(self) -> Array:
        """X_ij, which is X_ji, of each pair."""
        first, second = self.pairs()
        made: Array = self.counts / UNIT
        made[first == second] *= 2
        return made


@dataclass(frozen=True, slots=True)
class SpilledCounts:
    """Counts of pairs in a file, which is open only while some of them are read.

    Attributes
    ----------
    place : path
    cuts : tuple of int
        Where each of the parts begins in which counts are merged, and the end.
    """

    place: Path
    cuts: tuple[int, ...]

    @classmethod
    def write(cls, counts: Cooccurrences, place: Path) -> SpilledCounts:
        with place.open("wb") as file:
            counts.hashes.tofile(file)
            counts.counts.tofile(file)
        return cls(place, counts.cuts)

    def __len__(self) -> int:
        return self.cuts[-1]

    def __getitem__(self, part: slice) -> Cooccurrences:
        begin, end, _ = part.indices(len(self))
        hashes, counts = (
            np.fromfile(self.place, np.uint64, end - begin, offset=8 * (first + begin))
            for first in (0, len(self))
        )
        return Cooccurrences(hashes, counts)


class PairTable:
    """Counts pairs; what outgrows its memory goes to files.

    Parameters
    ----------
    window : int
        The largest distance that counts.
    memory : int
        Bytes.
    folder : path
        For the files.
    share, bits : int
        Count only pairs whose hash begins with these bits, so that threads can share the work.
    """

    def __init__(
        self, window: int, memory: int, folder: Path, *, share: int = 0, bits: int = 0
    ) -> None:
        distances = np.arange(window + 1, dtype=np.float64)
        distances[0] = np.inf
        self._weights = np.rint(UNIT / distances).astype(np.uint64)
        self._window = window
        smallest = max(_SMALLEST, 1 << (4 * window).bit_length())
        self._largest = max(smallest, 1 << (max(memory // _SLOT, 1).bit_length() - 1))
        self._folder = folder
        self._share, self._bits = share, bits
        self._spilled: list[SpilledCounts] = []
        self._begin(min(self._largest, max(smallest, 1 << 16)))

    def _begin(self, size: int) -> None:
        # What does not find its place in front of the end goes behind it.
        self._table = np.zeros((size + self._window + 256, 2), np.uint64)
        self._size = size
        self._shift = 65 - size.bit_length()
        self._used, self._last = 0, -1

    def add(self, words: Ints32, bounds: Ints) -> None:
        """Count the pairs of texts; text i is `words[bounds[i]:bounds[i + 1]]`."""
        state = np.array((0, 0, self._used, self._last), np.int64)
        share = (self._share, self._bits)
        while True:
            place = (self._shift, int(_FULL * self._size), self._table)
            done = _kernel.count_pairs(words, bounds, self._weights, *share, *place, state)
            self._used, self._last = int(state[2]), int(state[3])
            if done:
                return
            self._make_room()
            state[2:] = self._used, self._last

    def _make_room(self) -> None:
        held = self._drained()
        if 2 * self._size <= self._largest:
            self._begin(2 * self._size)
            place = (self._bits, self._shift, self._table)
            last = _kernel.place_pairs(held.hashes, held.counts, *place)
            if last < len(self._table):
                self._used, self._last = len(held), int(last)
                return
            self._begin(self._size)
        self._spill(held)

    def _drained(self) -> Cooccurrences:
        held = Cooccurrences(np.empty(self._used, np.uint64), np.empty(self._used, np.uint64))
        _kernel.drain_pairs(self._table, held.hashes, held.counts)
        self._used, self._last = 0, -1
        return held

    def _spill(self, held: Cooccurrences) -> None:
        place = self._folder / f"{self._share}-{len(self._spilled)}"
        self._spilled.append(SpilledCounts.write(held, place))

    def end(self) -> list[Cooccurrences | SpilledCounts]:
        """All counts, a pair once in each of the parts; the table is of no more use."""
        held = self._drained()
        self._begin(1)
        return [*self._spilled, *([held] if len(held) else [])]


def merge_counts(
    parts: Sequence[Cooccurrences | SpilledCounts], folder: Path, memory: int
) -> Cooccurrences:
    """Add up the counts of parts that may share pairs; on disk where they outgrow the memory."""
    if len(parts) == 1 and isinstance(parts[0], Cooccurrences):
        return parts[0]
    most = sum(map(len, parts))
    if not most:
        raise InputError("no two words stand in one text of the logs: nothing can be learnt")
    on_disk = most * _SLOT > memory
    places = [folder / f"all.{name}" if on_disk else None for name in ("hashes", "counts")]
    hashes, counts = (new_array(most, np.uint64, place) for place in places)
    cuts = [part.cuts for part in parts]
    end = 0
    for number in range(_PARTS):
        pieces = [
            part[cut[number] : cut[number + 1]]
            for part, cut in zip(parts, cuts, strict=True)
            if cut[number] < cut[number + 1]
        ]
        if pieces:
            merged = _merged(pieces)
            hashes[end : end + len(merged)] = merged.hashes
            counts[end : end + len(merged)] = merged.counts
            end += len(merged)
    return Cooccurrences(hashes[:end], counts[:end])


def _merged(parts: Sequence[Cooccurrences]) -> Cooccurrences:
    if len(parts) == 1:
        return parts[0]
    hashes = np.concatenate([part.hashes for part in parts])
    order = np.argsort(hashes)
    hashes = hashes[order]
    counts = np.concatenate([part.counts for part in parts])[order]
    firsts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
    return Cooccurrences(hashes[firsts], np.add.reduceat(counts, firsts))


def new_array(shape: int | tuple[int, ...], kind: Any, place: Path | None) -> Any:
    """An array in memory, or in a file."""
    if place is None or not np.prod(shape):
        return np.empty(shape, kind)
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    with place.open("wb") as file:
        # A full disk is an error here; later it would be the end of the process.
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
    return np.memmap(place, kind, "r+", shape=shape)


def _unmixed(hashes: Hashes) -> Hashes:
    """The inverse of the kernel's `_mix`."""
    inverse = np.uint64(pow(_MIXER, -1, 1 << 64))
    half = np.uint64(32)
    made = hashes ^ (hashes >> half)
    for _ in range(2):
        made = made * inverse
        made ^= made >> half
    return made
