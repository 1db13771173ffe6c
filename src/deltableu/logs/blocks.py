"""Rows of a log as the join reads them: texts in one UTF-8 buffer, and where each one lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltableu._types import Ints
from deltableu.text import join_texts

__all__ = ["Block", "Texts"]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts that lie in one UTF-8 buffer; text i is `data[starts[i]:ends[i]]`.

    The buffer may hold more than the texts, and they may lie in it in any order.

    Examples
    --------
    >>> texts = Texts.of(["hello", "", "naïve"])
    >>> len(texts), texts[2], list(texts.slice(1, 3))
    (3, 'naïve', ['', 'naïve'])
    """

    data: bytes
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> str:
        return self.data[self.starts[i] : self.ends[i]].decode()

    def choose(self, rows: Ints) -> list[str]:
        """Some of the texts."""
        data = self.data
        spans = zip(self.starts[rows].tolist(), self.ends[rows].tolist(), strict=True)
        return [data[start:end].decode() for start, end in spans]

    def slice(self, begin: int, end: int) -> Texts:
        """The texts from `begin` to before `end`, in the same buffer."""
        return Texts(self.data, self.starts[begin:end], self.ends[begin:end])

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Join texts; a lone surrogate in one of them is an InputError."""
        buffer = join_texts(texts)
        return cls(buffer.data, buffer.bounds[:-1], buffer.bounds[1:] - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of a log that were read together."""

    first: int
    """Number of the first row within its partition, from 0; rows left out do not count."""
    utterances: Texts
    responses: Texts
    ids: Texts | None = None
    """None where no row has one; an empty text where a row has none."""
    threads: Texts | None = None
    read: int = 0
    """Bytes of the partition that have been read so far."""

    def __len__(self) -> int:
        return len(self.utterances)
