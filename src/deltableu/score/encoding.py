"""References -> encoded references, prepared once and matched against any number of systems.

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

from deltableu.corpus.references import ReferenceSet
from deltableu.errors import InputError, Problem
from deltableu.score.inputs import first_wrong_text, is_missing
from deltableu.score.tables import Floats, Ints, Recipe, Table, build_table
from deltableu.text.buffer import Buffer, NotUnicodeError, join_texts
from deltableu.text.tokens import TokenArrays

__all__ = ["CHUNK", "ChunkEncoder", "Encoded", "Part", "Progress", "ReferenceInfo", "in_chunks"]

Progress = Callable[[int, int], None]
Result = TypeVar("Result")

#: Items in a chunk. The digest of the references depends on it: do not change it.
CHUNK = 1024
#: Bytes of references for which tables are built at once, to bound memory when texts are long.
_PORTION = 8_000_000


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
class Encoded:
    """References ready to be matched; made by `metric.encode`, used by `metric.statistics`."""

    chunks: tuple[tuple[Table, ...], ...]
    recipe: Recipe
    info: ReferenceInfo

    def __len__(self) -> int:
        return self.info.items


@dataclass(frozen=True, slots=True)
class Part:
    """One encoded chunk: its tables, digests, and what there is to report of it."""

    tables: tuple[Table, ...]
    digest: bytes
    weights_digest: bytes
    fewest: int
    most: int
    hopeless: tuple[int, ...]  # items whose weights leave the denominator without a value

    def without_tables(self) -> Part:
        """For callers that are done with the tables."""
        return replace(self, tables=())


def in_chunks(
    function: Callable[[int], Result],
    items: int,
    threads: int | None,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Call `function(first item)` for every chunk, in threads if there are several; in order."""
    starts = range(0, items, CHUNK)
    workers = min(threads or os.cpu_count() or 1, len(starts))
    if workers <= 1:
        yield from _reporting(map(function, starts), items, progress)
    else:
        with ThreadPoolExecutor(workers) as pool:
            yield from _reporting(pool.map(function, starts), items, progress)


def _reporting(
    results: Iterator[Result], items: int, progress: Progress | None
) -> Iterator[Result]:
    for number, result in enumerate(results, start=1):
        if progress is not None:
            progress(min(number * CHUNK, items), items)
        yield result


@dataclass(frozen=True, slots=True)
class ChunkEncoder:
    """Encodes the references of one chunk after the other."""

    references: ReferenceSet
    recipe: Recipe

    def __call__(self, start: int, wanted: TokenArrays | None = None) -> Part:
        """The chunk that begins at item `start`, only for the hypotheses `wanted` if given."""
        rows = self.references.texts[start : start + CHUNK]
        weights = self._weights(start)
        try:
            return self._encode(start, rows, weights, wanted)
        except TypeError:
            # Something in the lists is no text or no number: clean or explain, at leisure.
            cleaned = self._without_missing(start, rows, weights)
            return self._encode(start, *cleaned, wanted)

    def info(self, parts: Sequence[Part]) -> ReferenceInfo:
        """What the signature says of all chunks; raises where items cannot be scored."""
        hopeless = [item for part in parts for item in part.hopeless]
        if hopeless:
            raise InputError(self._no_positive(hopeless))
        info = ReferenceInfo(
            items=len(self.references.texts),
            fewest=min(part.fewest for part in parts),
            most=max(part.most for part in parts),
            digest=_digest(part.digest for part in parts),
            selection=self.references.selection,
        )
        if not self.recipe.weighted:
            return info
        return replace(
            info,
            weights_digest=_digest(part.weights_digest for part in parts),
            weights_from=self.references.weights_from,
        )

    def _encode(
        self,
        start: int,
        rows: Sequence[Sequence[str]],
        weights: Sequence[Sequence[float | None]] | None,
        wanted: TokenArrays | None,
    ) -> Part:
        counts = list(map(len, rows))
        if 0 in counts:
            raise self._error(start + counts.index(0), "has no references")
        bounds = np.zeros(len(counts) + 1, dtype=np.int64)
        np.cumsum(counts, out=bounds[1:])
        texts = list(chain.from_iterable(rows))
        try:
            raw = join_texts(texts)
        except NotUnicodeError as error:
            item = int(np.searchsorted(bounds, error.position, side="right")) - 1
            raise self._error(start + item, f"a reference {error.reason}") from None
        flat = np.ones(len(texts))
        if weights is not None:
            # Unlike numpy, array takes nothing but numbers: None and "0.5" are a TypeError.
            values: Iterable[Any] = chain.from_iterable(weights)
            flat = np.frombuffer(array("d", values), dtype=np.float64)
            self._check_weights(start, flat, bounds)
        shape = hashlib.blake2b(bounds.astype("<i8", copy=False).data, digest_size=8)
        shape.update(raw.bounds.astype("<i8", copy=False).data)
        tables = tuple(
            self._table(texts, raw, bounds, flat, wanted, first, last)
            for first, last in _portions(raw, bounds)
        )
        scale = np.concatenate([table.scale for table in tables])
        return Part(
            tables=tables,
            digest=hashlib.blake2b(raw.data, digest_size=8).digest() + shape.digest(),
            weights_digest=hashlib.blake2b(
                flat.astype("<f8", copy=False).data, digest_size=8
            ).digest(),
            fewest=min(counts),
            most=max(counts),
            hopeless=tuple(start + int(item) for item in np.flatnonzero(scale <= 0.0)),
        )

    def _table(
        self,
        texts: list[str],
        raw: Buffer,
        bounds: Ints,
        weights: Floats,
        wanted: TokenArrays | None,
        first: int,
        last: int,
    ) -> Table:
        if last - first == len(bounds) - 1:
            tokens = self.recipe.tokenizer.hash(texts, raw)
        else:
            tokens = self.recipe.tokenizer.hash(texts[bounds[first] : bounds[last]])
            weights = weights[bounds[first] : bounds[last]]
            bounds = bounds[first : last + 1] - bounds[first]
        if wanted is None:
            return build_table(tokens, bounds, weights, self.recipe)
        hypotheses = TokenArrays(wanted.hashes, wanted.bounds[first : last + 1])
        return build_table(tokens, bounds, weights, self.recipe, hypotheses)

    def _weights(self, start: int) -> Sequence[Sequence[float | None]] | None:
        if not self.recipe.weighted:
            return None
        if self.references.weights is None:
            raise InputError("delta-BLEU needs a weight for every reference, and none were given")
        return self.references.weights[start : start + CHUNK]

    def _check_weights(self, start: int, flat: Floats, bounds: Ints) -> None:
        wrong = ~((flat >= -1.0) & (flat <= 1.0))
        if wrong.any():
            at = int(np.argmax(wrong))
            item = int(np.searchsorted(bounds, at, side="right")) - 1
            place = at - int(bounds[item])
            raise self._error(
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
                raise self._error(start + number, f"reference {kept[place]} is {kind}, no string")
            texts.append([row[place] for place in kept])
            if weights is not None and numbers is not None:
                numbers.append([self._number(weights, start, number, place) for place in kept])
        return texts, numbers

    def _number(
        self, weights: Sequence[Sequence[Any]], start: int, number: int, place: int
    ) -> float:
        value = weights[number][place]
        if value is None:
            raise self._error(start + number, f"reference {place} has no weight yet: rate it first")
        if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
            raise self._error(
                start + number, f"reference {place} has the weight {value!r}, which is no number"
            )
        return float(value)

    def _error(self, index: int, message: str) -> InputError:
        return InputError(Problem(message, item=self.references.item_name(index)))

    def _no_positive(self, items: list[int]) -> str:
        names = [self.references.item_name(index) for index in items]
        listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        wanted = "non-zero" if self.recipe.signed else "positive"
        return (
            f"{len(names)} of {len(self.references.texts)} items have no reference with a {wanted} "
            f"weight, which delta-BLEU needs: {listed}; rate more references, or leave these items "
            "out (no_positive='skip', --no-positive skip)"
        )


def _portions(raw: Buffer, bounds: Ints) -> Iterator[tuple[int, int]]:
    """Runs of items of a chunk whose texts are small enough to be worked on at once."""
    items = len(bounds) - 1
    if len(raw.data) <= _PORTION:
        yield 0, items
        return
    ends = raw.bounds[bounds]
    first = 0
    while first < items:
        last = int(np.searchsorted(ends, ends[first] + _PORTION, side="right")) - 1
        last = min(max(last, first + 1), items)
        yield first, last
        first = last


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=4).hexdigest()
