"""Items as arrays, for those who look at all of them; each is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from deltableu._types import Ints
from deltableu.corpus.rows import NumberRows, TextRows
from deltableu.corpus.types import Item


@dataclass(frozen=True, slots=True, eq=False)
class ItemColumns:
    """What scoring and comparing take of items, and the way to the rest of each.

    Attributes
    ----------
    ids, messages, metas : sequences
        Of each item; no `metas` are empty ones.
    lines : sequence of int
        Where the items stand in their file.
    texts, weights : rows
        Of each item's references.
    originals : array
        The first reference of origin original, or 0.
    origins : array or None
        Of each reference its number in `ORIGINS`, -1 where nothing is said; None where nothing is
        said of any.
    make : callable
        Makes item number i.
    """

    ids: tuple[str, ...]
    lines: Sequence[int]
    texts: TextRows
    weights: NumberRows
    originals: Ints
    origins: Ints | None
    messages: Sequence[str | None]
    metas: Sequence[Mapping[str, object]] | None
    make: Callable[[int], Item]


class LazyItems(Sequence[Item]):
    """Items of a file that was read at once: a tuple to whoever looks at them."""

    __slots__ = ("_made", "columns")

    def __init__(self, columns: ItemColumns) -> None:
        self.columns = columns
        self._made: tuple[Item, ...] | None = None

    def __len__(self) -> int:
        return len(self.columns.ids)

    @overload
    def __getitem__(self, i: int) -> Item: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, i: int | slice) -> Item | tuple[Item, ...]:
        if self._made is None and not isinstance(i, slice):
            return self.columns.make(range(len(self))[i])
        return self._all()[i]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all())

    def _all(self) -> tuple[Item, ...]:
        if self._made is None:
            self._made = tuple(map(self.columns.make, range(len(self))))
        return self._made

    def __eq__(self, other: object) -> bool:
        """Whether these are the items of another sequence."""
        if not isinstance(other, LazyItems | tuple):
            return NotImplemented
        return len(self) == len(other) and self._all() == tuple(other)

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[tuple[Item, ...]], tuple[tuple[Item, ...]]]:
        # Other processes get what they would have read.
        return tuple, (self._all(),)


def item_ids(items: Sequence[Item]) -> tuple[str, ...]:
    """The ids of items."""
    if isinstance(items, LazyItems):
        return items.columns.ids
    return tuple(item.id for item in items)
