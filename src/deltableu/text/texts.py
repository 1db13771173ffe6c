"""Python strings -> one UTF-8 buffer and where each text lies in it, as the kernels read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Bools, Ints
from deltableu.errors import InputError

_NEWLINE = 10


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts that lie in one UTF-8 buffer; text i is `data[starts[i]:ends[i]]`.

    The buffer may hold more than the texts, and they may lie in it in any order.

    Attributes
    ----------
    data : bytes
    starts, ends : array
    lines : bool
        The texts are the lines of the buffer, so that it may be changed as a whole.

    Examples
    --------
    >>> texts = Texts.of(["hello", "", "naïve"])
    >>> len(texts), texts[2], texts.choose(slice(1, 3)).strings()
    (3, 'naïve', ['', 'naïve'])
    """

    data: bytes
    starts: Ints
    ends: Ints
    lines: bool = False

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> str:
        return self.data[self.starts[i] : self.ends[i]].decode()

    @property
    def bounds(self) -> Ints:
        """Where each of joined texts begins, and where one after the last would."""
        return np.append(self.starts, self.ends[-1:] + 1)

    @property
    def size(self) -> int:
        """Bytes of all texts."""
        return int((self.ends - self.starts).sum())

    def encoded(self) -> Iterator[bytes]:
        """The bytes of each text."""
        data = self.data
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return (data[start:end] for start, end in spans)

    def strings(self) -> list[str]:
        """Each text."""
        return [text.decode() for text in self.encoded()]

    def choose(self, rows: Ints | Bools | slice) -> Texts:
        """Some of the texts, in the same buffer."""
        return Texts(self.data, self.starts[rows], self.ends[rows])

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Join texts; TypeError where one is no string, InputError where one is no Unicode."""
        try:
            data = "\n".join(texts).encode()
        except UnicodeEncodeError:
            raise _not_unicode(texts) from None
        if data.count(b"\n") == len(texts) - 1:
            return cls.of_lines(data)
        ends = np.cumsum([len(text.encode()) + 1 for text in texts], dtype=np.int64)
        starts = np.zeros(len(texts), np.int64)
        starts[1:] = ends[:-1]
        return cls(data, starts, ends - 1)

    @classmethod
    def of_lines(cls, data: bytes) -> Texts:
        """The lines of a buffer; there is none without a line."""
        feeds = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE)
        starts = np.zeros(len(feeds) + 1, dtype=np.int64)
        np.add(feeds, 1, out=starts[1:])
        return cls(data, starts, np.append(feeds, len(data)), lines=True)


class NotUnicodeError(InputError):
    """A text has a lone surrogate; `position` is its place among the texts."""

    def __init__(self, position: int, text: str, character: int) -> None:
        self.position = position
        self.reason = (
            f"has a lone surrogate at character {character} ({text[:40]!r}), which is no valid "
            "Unicode; decode its source with the right encoding"
        )
        super().__init__(f"text {position} {self.reason}")


def _not_unicode(texts: Sequence[str]) -> NotUnicodeError:
    for position, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return NotUnicodeError(position, text, error.start)
    raise AssertionError("every text can be encoded, but not their sequence")
