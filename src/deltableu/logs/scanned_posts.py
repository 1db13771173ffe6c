"""Lines of JSON in, posts in one buffer out: all of them at once, as far as they are usual.

The kernel accepts what the reader of single lines accepts, and stops at all else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deltableu import _kernels
from deltableu._types import AnyArray, Array, Bools, Ints
from deltableu.logs.times import LARGEST, LARGEST_SECONDS, NO_TIME, parse_time
from deltableu.text import Texts

_kernel = _kernels.load("io._records")

#: Names of an object, and of those around it, that are compared with each other.
_MOST_NAMES = 256
_BOUNDS = np.array([LARGEST_SECONDS, LARGEST, NO_TIME], np.int64)
_TENS: Array = np.array([10.0**digits for digits in range(41)])

PostLists: TypeAlias = tuple[
    Sequence[str],
    Sequence[str],
    Sequence[str],
    Sequence[int | None],
    Sequence[str],
    Sequence[bool],
]
"""The attributes of posts, a list for each of them."""


@dataclass(frozen=True, slots=True, eq=False)
class ScannedPosts:
    """Posts as they lie in a chunk of lines, and beyond its end in `side`."""

    data: bytes
    side: bytes
    spans: Ints
    """Where id, user, reply_to and text begin and end."""
    times: Ints
    reposts: AnyArray

    def __len__(self) -> int:
        return len(self.times)


class PostScanner:
    """Scans chunks of lines, for posts whose columns have these names."""

    def __init__(self, names: Sequence[str]) -> None:
        encoded = [name.encode() for name in names]
        self._names = b"".join(encoded)
        self._bounds = np.cumsum([0, *map(len, encoded)])
        self._keys = np.empty((2, _MOST_NAMES), np.int64)
        self._counts = np.zeros(4, np.int64)
        self._room: tuple[AnyArray, ...] = ()
        self._data = b""

    @classmethod
    def of(cls, names: Sequence[str]) -> PostScanner | None:
        """One for these names, if it can look for them."""
        plain = all("." not in name and "\\" not in name and '"' not in name for name in names)
        return cls(names) if plain and len(set(names)) == len(names) else None

    def __call__(self, data: bytes, at: int) -> tuple[ScannedPosts, int]:
        """The posts from a byte on that are usual, and where the line after them begins."""
        if data is not self._data:
            lines = data.count(b"\n")
            self._data = data
            self._room = (
                np.empty((9, lines), np.int64),
                np.empty(lines, np.int64),
                np.empty(lines, np.uint8),
                np.empty((4, lines), np.int64),
                np.empty(len(data), np.uint8),
            )
        spans, times, reposts, odd, side = self._room
        self._counts[:] = 0
        _kernel.scan_posts(
            *(data, at, self._names, self._bounds, _BOUNDS, _TENS),
            *(spans, times, reposts, odd, side, self._keys, self._counts),
        )
        posts, odds, used, end = self._counts.tolist()
        kept = side[:used].tobytes()
        first_wrong = _read_times(odd[:, :odds], data, kept, times)
        if first_wrong is not None:
            posts, end = first_wrong, int(spans[0, first_wrong])
        made = ScannedPosts(
            data, kept, spans[1:, :posts].copy(), times[:posts].copy(), reposts[:posts].copy()
        )
        return made, end


def _read_times(odd: Ints, data: bytes, side: bytes, times: Ints) -> int | None:
    """Read times that are spelt in other ways; the number of a post whose time is none."""
    size = len(data)
    for post, begin, end, is_number in odd.T.tolist():
        raw = data[begin:end] if begin < size else side[begin - size : end - size]
        text = raw.decode()
        try:
            time = parse_time(_number(text) if is_number else text)
        except ValueError:
            return int(post)
        times[post] = NO_TIME if time is None else time
    return None


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


class PostColumns:
    """Brings scanned and other posts together, in the order in which they come."""

    def __init__(self) -> None:
        self._data = b""
        self._sides: list[bytes] = []
        self._size = 0
        self._parts: list[tuple[Ints, Ints, AnyArray]] = []
        self._lists: tuple[list[str], list[str], list[str], list[int | None], list[str], list[bool]]
        self._lists = ([], [], [], [], [], [])
        self.posts = 0

    def takes(self, found: object) -> bool:
        """Whether these can be in the same buffer as the others."""
        return not isinstance(found, ScannedPosts) or not self._data or self._data is found.data

    def add(self, found: ScannedPosts | PostLists) -> None:
        """Add posts."""
        if not isinstance(found, ScannedPosts):
            for column, more in zip(self._lists, found, strict=True):
                column += more  # type: ignore[operator]
            self.posts += len(found[0])
            return
        if not self._data:
            # What is in lists is put behind the chunk.
            self._data = found.data
        self._add_lists()
        spans = found.spans
        spans[spans >= len(found.data)] += self._size
        self._parts.append((spans, found.times, found.reposts))
        self._add_side(found.side)
        self.posts += len(found)

    def _add_side(self, side: bytes) -> None:
        if side:
            self._sides.append(side)
            self._size += len(side)

    def _add_lists(self) -> None:
        ids, texts, users, times, reply_tos, reposts = self._lists
        if not ids:
            return
        joined = Texts.of([*ids, *users, *reply_tos, *texts])
        before = len(self._data) + self._size
        ends = (joined.starts.reshape(4, -1), joined.ends.reshape(4, -1))
        spans = np.stack(ends, axis=1).reshape(8, -1) + before
        known = [NO_TIME if time is None else time for time in times]
        self._parts.append((spans, np.array(known, np.int64), np.array(reposts, np.uint8)))
        self._add_side(joined.data)
        self._lists = ([], [], [], [], [], [])

    def take(self) -> tuple[Texts, Texts, Texts, Ints, Texts, Bools]:
        """The columns of all posts, in the order of the attributes of a post."""
        self._add_lists()
        spans = np.concatenate([part[0] for part in self._parts], axis=1)
        times = np.concatenate([part[1] for part in self._parts])
        reposts = np.concatenate([part[2] for part in self._parts]) > 0
        data = b"".join((self._data, *self._sides)) if self._sides else self._data
        ids, users, reply_tos, texts = (
            Texts(data, spans[row], spans[row + 1]) for row in range(0, 8, 2)
        )
        return ids, texts, users, times, reply_tos, reposts


def post_columns(lists: Iterable[PostLists]) -> tuple[Texts, Texts, Texts, Ints, Texts, Bools]:
    """The columns of posts that are in lists."""
    columns = PostColumns()
    for one in lists:
        columns.add(one)
    if not columns.posts:
        empty, none = Texts.of([]), np.zeros(0, np.int64)
        return empty, empty, empty, none, empty, none > 0
    return columns.take()
