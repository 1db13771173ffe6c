"""References -> encoded references, prepared once and matched against any number of systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.chunks import Chunk, ChunkReader, ChunkSummary, ReferenceInfo
from deltableu.score.engine.credit_tables import CreditTable, Recipe, build_table
from deltableu.text import TokenArrays

#: Bytes of references for which tables are built at once, to bound memory when texts are long.
_PORTION = 8_000_000


@dataclass(frozen=True, slots=True)
class Encoded:
    """References ready to be matched; made by `metric.encode`, used by `metric.statistics`."""

    chunks: tuple[tuple[CreditTable, ...], ...]
    recipe: Recipe
    info: ReferenceInfo
    #: Items of one table, where they are not all of all tables, each once.
    chosen: Ints | None = None

    def __len__(self) -> int:
        return self.info.items

    def joined(self) -> Encoded:
        """The same in one table, from which items can be taken fast."""
        tables = [table for chunk in self.chunks for table in chunk]
        return replace(self, chunks=((CreditTable.joined(tables),),))

    def take(self, items: Ints) -> Encoded:
        """Some of the items, in any order and also several times: each for one more hypothesis.

        Examples
        --------
        >>> from deltableu import BLEU
        >>> metric = BLEU(order=1)
        >>> encoded = metric.encode([["a b"], ["x y"]]).joined()
        >>> rows = metric.statistics(["x", "y z", "a"], encoded.take(np.array([1, 1, 0])))
        >>> rows.rows[:, 0].tolist()
        [1.0, 1.0, 1.0]
        """
        if self.chosen is not None:
            items = self.chosen[items]
        elif len(items) and not 0 <= items.min() <= items.max() < self.table.items:
            raise IndexError(f"items must be from 0 to {self.table.items - 1}")
        return Encoded(self.chunks, self.recipe, replace(self.info, items=len(items)), items)

    @property
    def table(self) -> CreditTable:
        """The one table of what was joined."""
        ((table,),) = self.chunks
        return table


@dataclass(frozen=True, slots=True)
class Part:
    """One encoded chunk: its tables, and what there is to say of it."""

    tables: tuple[CreditTable, ...]
    summary: ChunkSummary
    without_positive: tuple[int, ...]  # items whose weights leave the denominator without a value

    def without_tables(self) -> Part:
        """For callers that are done with the tables."""
        return Part((), self.summary, self.without_positive)


class ChunkEncoder:
    """Encodes the references of one chunk after the other."""

    def __init__(self, references: ReferenceSet, recipe: Recipe) -> None:
        self._reader = ChunkReader(references, recipe.weighted)
        self._recipe = recipe

    def __call__(self, start: int, wanted: TokenArrays | None = None) -> Part:
        """The chunk that begins at item `start`, only for the hypotheses `wanted` if given."""
        chunk = self._reader(start)
        tables = tuple(self._table(chunk, wanted, *portion) for portion in _portions(chunk))
        scale = np.concatenate([table.scale for table in tables])
        without_positive = tuple(start + int(item) for item in np.flatnonzero(scale <= 0.0))
        return Part(tables, chunk.summary(), without_positive)

    def info(self, parts: Sequence[Part]) -> ReferenceInfo:
        """What the signature says of all chunks; raises where items cannot be scored."""
        without_positive = [item for part in parts for item in part.without_positive]
        if without_positive:
            raise InputError(self._no_positive(without_positive))
        return self._reader.info([part.summary for part in parts])

    def _table(
        self, chunk: Chunk, wanted: TokenArrays | None, first: int, last: int
    ) -> CreditTable:
        bounds, weights = chunk.bounds, chunk.weights
        if last - first == len(bounds) - 1:
            tokens = self._recipe.tokenizer.hash(chunk.texts, chunk.raw)
        else:
            begin, end = int(bounds[first]), int(bounds[last])
            tokens = self._recipe.tokenizer.hash(chunk.texts[begin:end])
            weights = weights[begin:end]
            bounds = bounds[first : last + 1] - begin
        if wanted is None:
            return build_table(tokens, bounds, weights, self._recipe)
        hypotheses = TokenArrays(wanted.keys, wanted.bounds[first : last + 1])
        return build_table(tokens, bounds, weights, self._recipe, hypotheses)

    def _no_positive(self, items: list[int]) -> str:
        references = self._reader.references
        names = [references.item_name(index) for index in items]
        listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        wanted = "non-zero" if self._recipe.signed else "positive"
        return (
            f"{len(names)} of {len(references.texts)} items have no reference with a {wanted} "
            f"weight, which delta-BLEU needs: {listed}; rate more references, or leave these items "
            "out (no_positive='skip', --no-positive skip)"
        )


def _portions(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Runs of items of a chunk whose texts are small enough to be worked on at once."""
    items = len(chunk.bounds) - 1
    if len(chunk.raw.data) <= _PORTION:
        yield 0, items
        return
    ends = chunk.raw.bounds[chunk.bounds]
    first = 0
    while first < items:
        last = int(np.searchsorted(ends, ends[first] + _PORTION, side="right")) - 1
        last = min(max(last, first + 1), items)
        yield first, last
        first = last
