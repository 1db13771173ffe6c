"""Models that are in use: each read once, and their texts in parts that fit into memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np

from deltableu._types import Ints

#: Words that the Bi-GRU reads at once; it needs some 7 to 28 kilobytes for each.
WORDS = 16_384

Model = TypeVar("Model")

_Key = tuple[str, int, int, int, object]
_in_use: WeakValueDictionary[_Key, object] = WeakValueDictionary()


def read_once(
    path: str | os.PathLike[str], read: Callable[[str | os.PathLike[str]], Model]
) -> Model:
    """A model; one in use already is not read again, unless its file has changed."""
    try:
        found = os.stat(path)
    except OSError:
        return read(path)  # says what is wrong
    key = (os.path.realpath(path), found.st_ino, found.st_size, found.st_mtime_ns, read)
    model = _in_use.get(key)
    if model is None:
        model = _in_use[key] = read(path)
    return cast(Model, model)


def by_length(lengths: Ints) -> list[Ints]:
    """The texts in parts of like length that are small enough for the memory of any machine.

    Examples
    --------
    >>> by_length(np.array([5, WORDS, 2, 0]))
    [array([3, 2, 0]), array([1])]
    """
    order = np.argsort(lengths, kind="stable")
    part = np.cumsum(lengths[order]) // (WORDS + 1)
    return np.split(order, np.flatnonzero(np.diff(part)) + 1)
