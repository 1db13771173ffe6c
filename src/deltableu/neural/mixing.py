"""Hashes that depend on a seed: random choices that do not depend on the order of the logs."""

from __future__ import annotations

import numpy as np

from deltableu._types import AnyArray, Bools, Hashes, Keys
from deltableu.errors import check_at_least
from deltableu.stats import stream
from deltableu.text import halves, key_order

#: The finish of splitmix64 (Steele, Lea and Flood 2014), a permutation that looks random.
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST, _GOLDEN = 31, 0x9E3779B97F4A7C15


def salt(seed: int, *key: int) -> np.uint64:
    """What to mix hashes with, of its own for each seed and key."""
    check_at_least("seed", seed, 0)
    return np.uint64(stream(seed, *key).integers(1 << 64, dtype=np.uint64))


def mixed(start: np.uint64, *columns: Hashes) -> Hashes:
    """One number of each row of the columns; their order matters.

    Examples
    --------
    >>> keys = np.array([1, 2], np.uint64)
    >>> bool((mixed(salt(0), keys, keys[::-1]) == mixed(salt(0), keys[::-1], keys)).any())
    False
    """
    state = np.full(len(columns[0]), start, np.uint64)
    for column in columns:
        state = (state ^ column) + np.uint64(_GOLDEN)
        for shift, multiplier in _STEPS:
            state = (state ^ (state >> np.uint64(shift))) * np.uint64(multiplier)
        state ^= state >> np.uint64(_LAST)
    return state


def fresh(*columns: AnyArray) -> Bools:
    """Which rows of the columns, numbers or keys, differ from the row before; the first does."""
    found = np.zeros(len(columns[0]), np.bool_)
    found[:1] = True
    for column in columns:
        for numbers in halves(column) if column.dtype.kind == "S" else (column,):
            found[1:] |= numbers[1:] != numbers[:-1]
    return found


def different(keys: Keys) -> Keys:
    """Each of them once, in the order of `deltableu.text.key_order`."""
    found = keys[key_order(keys)]
    return found[fresh(found)]
