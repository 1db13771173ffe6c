"""References, read and checked chunk by chunk.

Items are worked on in chunks of a fixed number, so that memory does not grow with the corpus
while it streams by, chunks can go to threads, and no result depends on how many threads there are.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.corpus import NumberRows, ReferenceSet, TextRows, row_sizes
from deltableu.errors import InputError, Problem
from deltableu.score.engine.inputs import first_wrong_text, is_missing
from deltableu.text import NotUnicodeError, Texts

Result = TypeVar("Result")

#: Items in a chunk. The digest of the references depends on it: do not change it.
CHUNK = 1024


@dataclass(frozen=True, slots=True)
class ReferenceInfo:
    """What a signature says of the references."""

    items: int
    fewest: int
    most: int
    digest: str
    selection: str = "all"
    weights_digest: str | None = None
    weights_from: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkSummary:
    """What is left of a chunk when its texts are done with."""

    digest: bytes
    weights_digest: bytes
    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """References of some consecutive items; item i has texts[bounds[i]:bounds[i + 1]]."""

    texts: Sequence[str]
    bounds: Ints
    weights: Array
    raw: Texts

    def summary(self) -> ChunkSummary:
        """Digests and counts."""
        shape = hashlib.blake2b(self.bounds.astype("<i8", copy=False).data, digest_size=8)
        shape.update(self.raw.bounds.astype("<i8", copy=False).data)
        rated = hashlib.blake2b(self.weights.astype("<f8", copy=False).data, digest_size=8)
        counts = np.diff(self.bounds)
        return ChunkSummary(
            digest=hashlib.blake2b(self.raw.data, digest_size=8).digest() + shape.digest(),
            weights_digest=rated.digest(),
            fewest=int(counts.min()),
            most=int(counts.max()),
        )


@dataclass(frozen=True, slots=True)
class FlatReferences:
    """All references in one list; item i has texts[bounds[i]:bounds[i + 1]]."""

    texts: list[str]
    bounds: Ints
    weights: Array
    info: ReferenceInfo

    @property
    def owners(self) -> Ints:
        """The item that each reference belongs to."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def in_chunks(
    function: Callable[[int], Result],
    items: int,
    threads: int | None,
    progress: Steps | None = None,
) -> Iterator[Result]:
    """Call `function(first item)` for every chunk, in threads if there are several; in order."""
    starts = range(0, items, CHUNK)
    workers = min(threads or os.cpu_count() or 1, len(starts))
    if workers <= 1:
        yield from _reporting(map(function, starts), items, progress)
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield from _reporting(pool.map(function, starts), items, progress)


def _reporting(results: Iterator[Result], items: int, progress: Steps | None) -> Iterator[Result]:
    for number, result in enumerate(results, start=1):
        if progress is not None:
            progress(min(number * CHUNK, items), items)
        yield result


def flat_references(references: ReferenceSet, *, weighted: bool) -> FlatReferences:
    """All references, checked; weights are 1 unless `weighted`."""
    reader = ChunkReader(references, weighted)
    chunks = [reader(start) for start in range(0, len(references.texts), CHUNK)]
    counts = np.concatenate([np.diff(chunk.bounds) for chunk in chunks])
    return FlatReferences(
        texts=list(chain.from_iterable(chunk.texts for chunk in chunks)),
        bounds=np.concatenate(([0], np.cumsum(counts))),
        weights=np.concatenate([chunk.weights for chunk in chunks]),
        info=reader.info([chunk.summary() for chunk in chunks]),
    )


@dataclass(frozen=True, slots=True)
class ChunkReader:
    """Reads and checks the references of one chunk after the other."""

    references: ReferenceSet
    weighted: bool

    def __post_init__(self) -> None:
        if not self.references.texts:
            raise InputError("there is nothing to score: no references were given")

    def __call__(self, start: int) -> Chunk:
        """The chunk that begins at item `start`."""
        rows = self.references.texts[start : start + CHUNK]
        weights = self._weights(start)
        try:
            return self._read(start, rows, weights)
        except TypeError:
            # Something in the lists is no text or no number: clean or explain, at leisure.
            return self._read(start, *self._without_missing(start, rows, weights))

    def info(self, summaries: Sequence[ChunkSummary]) -> ReferenceInfo:
        """What the signature says of all chunks."""
        info = ReferenceInfo(
            items=len(self.references.texts),
            fewest=min(summary.fewest for summary in summaries),
            most=max(summary.most for summary in summaries),
            digest=_digest(summary.digest for summary in summaries),
            selection=self.references.selection,
        )
        if not self.weighted:
            return info
        return replace(
            info,
            weights_digest=_digest(summary.weights_digest for summary in summaries),
            weights_from=self.references.weights_from,
        )

    def error(self, index: int, message: str) -> InputError:
        """An error that names the item."""
        return InputError(Problem(message, item=self.references.item_name(index)))

    def _read(
        self,
        start: int,
        rows: Sequence[Sequence[str]],
        weights: Sequence[Sequence[float | None]] | None,
    ) -> Chunk:
        counts = row_sizes(rows)
        if not counts.all():
            raise self.error(start + int(np.argmin(counts)), "has no references")
        bounds = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=bounds[1:])
        texts = rows.texts if isinstance(rows, TextRows) else list(chain.from_iterable(rows))
        try:
            raw = Texts.of(texts)
        except NotUnicodeError as error:
            item = int(np.searchsorted(bounds, error.position, side="right")) - 1
            raise self.error(start + item, f"a reference {error.reason}") from None
        flat = np.ones(len(texts))
        if weights is not None:
            if isinstance(weights, NumberRows) and not np.isnan(weights.numbers).any():
                flat = weights.numbers
            else:
                # Unlike numpy, array takes nothing but numbers: None and "0.5" are a TypeError.
                values: Iterable[Any] = chain.from_iterable(weights)
                flat = np.frombuffer(array("d", values), dtype=np.float64)
            self._check_weights(start, flat, bounds)
        return Chunk(raw if isinstance(texts, Texts) else texts, bounds, flat, raw)

    def _weights(self, start: int) -> Sequence[Sequence[float | None]] | None:
        if not self.weighted:
            return None
        if self.references.weights is None:
            raise InputError("this metric needs a weight for every reference, and none were given")
        return self.references.weights[start : start + CHUNK]

    def _check_weights(self, start: int, flat: Array, bounds: Ints) -> None:
        wrong = ~((flat >= -1.0) & (flat <= 1.0))
        if wrong.any():
            at = int(np.argmax(wrong))
            item = int(np.searchsorted(bounds, at, side="right")) - 1
            place = at - int(bounds[item])
            raise self.error(
                start + item,
                f"reference {place} has the weight {flat[at]:g}; a weight must lie in [-1, 1]",
            )

    def _without_missing(
        self,
        start: int,
        rows: Sequence[Sequence[Any]],
        weights: Sequence[Sequence[Any]] | None,
    ) -> tuple[list[list[str]], list[list[float | None]] | None]:
        """Drop references that are None or NaN, with their weights; explain all else."""
        texts: list[list[str]] = []
        numbers: list[list[float | None]] | None = None if weights is None else []
        for number, row in enumerate(rows):
            kept = [place for place, text in enumerate(row) if not is_missing(text)]
            found = first_wrong_text([row[place] for place in kept])
            if found is not None:
                place, kind = found
                raise self.error(start + number, f"reference {kept[place]} is {kind}, no string")
            texts.append([row[place] for place in kept])
            if weights is not None and numbers is not None:
                numbers.append([self._number(weights, start, number, place) for place in kept])
        return texts, numbers

    def _number(
        self, weights: Sequence[Sequence[Any]], start: int, number: int, place: int
    ) -> float:
        value = weights[number][place]
        if value is None:
            raise self.error(start + number, f"reference {place} has no weight yet: rate it first")
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise self.error(
                start + number, f"reference {place} has the weight {value!r}, which is no number"
            )
        return float(value)


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=4).hexdigest()
