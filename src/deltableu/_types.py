"""Kinds of arrays and callbacks, named once for all rooms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

AnyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Singles: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Ints32: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
#: 16 bytes (or more) that stand for a token or text, `b""` for nothing. Bytes, because numpy
#: compares, sorts and finds them as a whole.
Keys: TypeAlias = np.ndarray[Any, np.dtype[np.bytes_]]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

#: Told how far work is: (done, in all).
Steps: TypeAlias = Callable[[int, int], None]
#: Told what is done, and how far it is: (what, done, in all).
Progress: TypeAlias = Callable[[str, int, int], None]
#: Told how many bytes were read since it was told last.
BytesRead: TypeAlias = Callable[[int], None]


def steps_of(progress: Progress | None, what: str) -> Steps | None:
    """Told how far one part of the work is, it tells `progress` with the part's name."""
    return None if progress is None else partial(progress, what)
