"""Python strings -> one UTF-8 buffer and where each text lies in it, as the kernels read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from deltableu import _kernels
from deltableu._types import Bools, Ints
from deltableu.errors import InputError

_kernel = _kernels.load("text._spans")
_NEWLINE, _RETURN = b"\n\r"
_BOM = "\ufeff".encode()
#: Hardly ever are there more cells than one in so many bytes.
_BYTES_OF_CELL = 8


@dataclass(frozen=True, slots=True, eq=False)
class Texts(Sequence[str]):
    """Texts that lie in one UTF-8 buffer; text i is `data[starts[i]:ends[i]]`.

    They are a sequence of strings, each of which is made when it is asked for.

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

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Texts: ...
    def __getitem__(self, i: int | slice) -> str | Texts:
        if isinstance(i, slice):
            return self.choose(i)
        return self.data[self.starts[i] : self.ends[i]].decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings())

    def __eq__(self, other: object) -> bool:
        """Whether these are the texts of another sequence."""
        if not isinstance(other, Texts | tuple | list):
            return NotImplemented
        return len(self) == len(other) and self.strings() == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def bounds(self) -> Ints:
        """Where each of joined texts begins, and where one after the last would."""
        return np.append(self.starts, self.ends[-1:] + 1)

    @property
    def size(self) -> int:
        """Bytes of all texts."""
        if len(self.starts) == 1:  # loops over single texts must stay cheap
            return int(self.ends[0] - self.starts[0])
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

    def joined(self) -> Texts:
        """The same in a buffer that holds nothing but them, as `of` joins strings."""
        if not len(self):
            return Texts(b"", self.starts, self.ends)
        starts, ends = self.starts, self.ends
        if (starts[1:] == ends[:-1] + 1).all():
            data = self.data[starts[0] : ends[-1]]
            starts, ends = starts - starts[0], ends - starts[0]
        else:
            room = np.empty(self.size + len(self) - 1, dtype=np.uint8)
            _kernel.join_spans(
                self.data, np.ascontiguousarray(starts), np.ascontiguousarray(ends), room
            )
            data = room.tobytes()
            ends = np.cumsum(ends - starts + 1) - 1
            starts = np.append(0, ends[:-1] + 1)
        lines = data.count(b"\n") == len(starts) - 1
        if not (np.frombuffer(data, np.uint8)[ends[:-1]] == _NEWLINE).all():
            return Texts.of(self.strings())  # they lay side by side in something else
        return Texts(data, starts, ends, lines)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Join texts; TypeError where one is no string, InputError where one is no Unicode."""
        if isinstance(texts, Texts):
            return texts.joined()
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

    @classmethod
    def of_file(cls, data: bytes) -> Texts | None:
        r"""The lines of a file, without their ends (``\n`` or ``\r\n``); None where it is no UTF-8.

        Examples
        --------
        >>> Texts.of_file(b"one\r\ntwo\n").strings()
        ['one', 'two']
        """
        if not (data.isascii() or _kernel.is_utf8(data)):
            return None
        texts = cls.of_lines(data)
        starts, ends = texts.starts, texts.ends
        count = len(texts) - (starts[-1] == len(data))
        if data.startswith(_BOM):
            starts[0] = len(_BOM)
        ended = ends[:-1]  # those that a line feed ends
        if len(ended):
            # To look before each end is faster than to look for both signs everywhere.
            before = np.frombuffer(data, np.uint8)[ended - 1]
            ended -= (before == _RETURN) & (ended > starts[:-1])
        return cls(data, starts[:count], ends[:count])


def find_bytes(data: bytes, first: int, second: int) -> Ints:
    r"""The places of two bytes.

    Examples
    --------
    >>> find_bytes(b"a\tb\n", *b"\t\n")
    array([1, 3])
    """
    eights = np.frombuffer(data, np.uint64, len(data) // 8)
    for room in (len(data) // _BYTES_OF_CELL, len(data)):
        places = np.empty(room + 9, np.int64)
        count = _kernel.find_bytes(data, eights, first, second, places)
        if count <= room:
            break
    return places[:count]


def join_cells(columns: Sequence[Texts], side: bytes = b"") -> bytes:
    r"""Lines of a table, each with a cell of every column and tabs between them.

    The columns are in one buffer; what lies behind its end is in `side`. Tabs, line feeds,
    carriage returns and backslashes in cells are spelt with a backslash.

    Examples
    --------
    >>> texts = Texts.of(["a", "b\tc"])
    >>> join_cells([texts, texts.choose(slice(None, None, -1))])
    b'a\tb\\tc\nb\\tc\ta\n'
    """
    cells = np.stack([span for one in columns for span in (one.starts, one.ends)])
    room = np.empty(2 * sum(one.size for one in columns) + cells.size, np.uint8)
    return room[: _kernel.join_cells(columns[0].data, side, cells, room)].tobytes()


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
