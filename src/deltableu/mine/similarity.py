"""What the join needs of a similarity: statistics of the log first, candidates then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from deltableu._types import Array, Bytes, Ints, Ints32
from deltableu.mine.rows import LogRows, Queries


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rows that are more alike to an item than its threshold.

    Attributes
    ----------
    items, rows, scores : array
        One entry a candidate; rows as they count in their block.
    done : int
        The rows before this one were scored; the others wait for better thresholds.
    """

    items: Ints32
    rows: Ints
    scores: Array
    done: int


class PairSimilarity(Protocol):
    """How alike a logged pair and an item are."""

    @property
    def signature(self) -> str:
        """All that scores depend on, in one line."""

    @property
    def own_threads(self) -> bool:
        """Whether scoring one partition keeps all cores busy already."""

    def counter(self, queries: Queries) -> Counter:
        """What goes over the logs first, to count what scores need of all of them."""


class Counter(Protocol):
    """The first pass: whole numbers that are added up over all rows, in any order."""

    def empty(self) -> Ints: ...

    def count(self, rows: LogRows) -> Ints: ...

    def add(self, sums: Ints, more: Ints) -> Ints:
        """What both have counted, in either array or in a new one."""

    def scorer(self, sums: Ints) -> Scorer: ...


class Scorer(Protocol):
    """The second pass. It is sent to where the rows are, and used by several threads at once."""

    def candidates(
        self,
        rows: LogRows,
        begin: int,
        admitted: Bytes,
        thresholds: Array,
    ) -> Candidates:
        """Score admitted rows from `begin` on against all items.

        Scores are the same whichever rows stand beside a row. All that exceed their item's
        threshold are returned, for the rows up to `done`, which is more than `begin`.
        """
