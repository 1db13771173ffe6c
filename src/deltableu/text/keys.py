"""Spans of bytes -> keys of 128 bits that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import AnyArray, Bools, Hashes, Ints, Ints32, Keys

_kernel = _kernels.load("text._keys")

_SIZE = 16
#: So many bytes are no longer a key themselves.
_LONG = 16
_ODD, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
#: More rows than so many bits number are sorted more slowly.
_GROUP_BITS = 24
_EVERYTHING = np.empty(0, np.int64)
_TYPE = np.dtype(f"S{_SIZE}")
#: RFC 7693: the initialisation vector (section 2.6) and the places of message words (2.7).
_VECTOR = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
_PERMUTATIONS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
_ORDERS = bytes(place for row in _PERMUTATIONS for place in row)
#: The parameters of section 2.8: no key, and digests of 16 bytes.
_INITIAL = np.array((_VECTOR[0] ^ 0x01010000 ^ _SIZE, *_VECTOR[1:], *_VECTOR), np.uint32)


def span_keys(data: Any, starts: Ints, ends: Ints, keys: Keys | None = None) -> Keys:
    """The key of each span of a buffer; equal keys are equal bytes, and `b""` is of none.

    They are put into `keys`, where that is given.

    Up to 15 bytes are their own key. Of more it is BLAKE2s, of which 128 bits are kept: nobody can
    find two texts with one key in fewer than about 2**64 steps. That needs no secret, so keys may
    be stored and sent to other machines, and results do not differ from run to run.

    References
    ----------
    Saarinen and Aumasson (2015). The BLAKE2 cryptographic hash and message authentication code
    (MAC). RFC 7693.
    """
    keys = unset_keys(len(starts)) if keys is None else keys
    key_longs(data, starts, ends, _EVERYTHING, keys)
    return keys


def unset_keys(number: int) -> Keys:
    """Room for so many keys, whatever is in it."""
    return np.empty(number, _TYPE)


def empty_longs(size: int) -> Ints:
    """Room for the numbers, starts and ends of all long tokens of a text of so many bytes."""
    return np.empty((3, size // _LONG), np.int64)


def key_longs(data: Any, starts: Ints, ends: Ints, places: Ints, keys: Keys) -> None:
    """Make span i the key `places[i]`, where another kernel has left that to this one."""
    if len(starts):
        _kernel.key_spans(data, starts, ends, places, _ORDERS, _INITIAL, lanes(keys))


def empty_keys(number: int) -> Keys:
    """So many keys of nothing, `b""`."""
    return np.zeros(number, _TYPE)


def lanes(keys: Keys) -> Hashes:
    """The same memory as kernels take it: two numbers for each key."""
    return keys.view(np.uint64)


def key_numbers(keys: Keys) -> Hashes:
    """A number of each key, for buckets and for choices by chance; it does not tell keys apart.

    Short texts are their own keys, so that both halves are mixed: many begin alike.

    Examples
    --------
    >>> len(set((key_numbers(np.array([b"post-1", b"post-2", b"post-17"], "S16")) % 1024).tolist()))
    3
    """
    halves = np.ascontiguousarray(keys).view(np.uint64).reshape(-1, 2)
    mixed = (halves[:, 0] ^ (halves[:, 1] * _ODD)) * _OTHER
    mixed ^= mixed >> np.uint64(32)
    mixed *= _ODD
    return mixed ^ (mixed >> np.uint64(29))


def halves(keys: Keys) -> tuple[Hashes, Hashes]:
    """The first and the second number of each key."""
    numbers = lanes(np.ascontiguousarray(keys))
    return numbers[::2], numbers[1::2]


def pair_keys(firsts: Ints | Ints32, seconds: Ints | Ints32) -> Keys:
    """Keys of pairs of numbers below 2 ** 32, mixed one to one so that tables are filled evenly."""
    pairs = (firsts.astype(np.uint64) << _HALF) | seconds.astype(np.uint64)
    pairs *= _ODD
    keys = empty_keys(len(pairs))
    lanes(keys)[::2] = pairs ^ (pairs >> _HALF)
    return keys


def key_order(*columns: Keys, within: AnyArray | None = None) -> Ints:
    """The order that sorts rows by columns of keys, and by `within` where these are equal.

    Keys are sorted as pairs of numbers, many times faster than as bytes.

    Examples
    --------
    >>> keys = np.array([b"b", b"a", b"b", b"a"], "S16")
    >>> bool((np.diff(np.argsort(key_order(keys))[[0, 2]]) == 1).all())
    True
    """
    numbers = [halves(column) for column in columns]
    order, groups = _quick_order(numbers)
    if order is None:
        order = np.lexsort([half for both in reversed(numbers) for half in reversed(both)])
        ordered = [half[order] for both in numbers for half in both]
        groups = np.cumsum(np.logical_or.reduce([_changes(half) for half in ordered]))
    return order if within is None else order[np.lexsort((within[order], groups))]


def key_places(keys: Keys, wanted: Keys) -> Ints:
    """Where each wanted key is among different keys; -1 where it is not.

    Examples
    --------
    >>> keys = np.array([b"b", b"c", b"a"], "S16")
    >>> key_places(keys, np.array([b"a", b"x", b"b"], "S16")).tolist()
    [2, -1, 0]
    """
    if not len(keys):
        return np.full(len(wanted), -1)
    order = key_order(keys)
    (first, second), (one, other) = halves(keys[order]), halves(wanted)
    if (first[1:] > first[:-1]).all():
        # Those that are sorted are found faster.
        sorting = np.argsort(one)
        at = np.empty_like(sorting)
        at[sorting] = np.minimum(np.searchsorted(first, one[sorting]), len(first) - 1)
        there = (first[at] == one) & (second[at] == other)
    else:  # texts that were made to be alike
        order = np.argsort(keys)
        at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        there = keys[order][at] == wanted
    return np.where(there, order[at], -1)


def _quick_order(numbers: Sequence[tuple[Hashes, Hashes]]) -> tuple[Ints | None, Ints]:
    """The order by first halves, and which rows are the same; None where that does not sort keys.

    First halves of different keys are different, but for texts that were made to be alike.
    """
    (first, _), *_ = numbers
    order: Ints = np.argsort(first)  # faster than what keeps the order of equal ones
    if (first[order][1:] == first[order][:-1]).any():
        order = np.argsort(first, kind="stable")
    groups = np.zeros(len(order), np.int64)
    if len(order) >> _GROUP_BITS:
        return None, groups
    for place, (first, second) in enumerate(numbers):
        sorting = first[order]
        if place:
            # One number to sort by: the groups of the columns before, and the rest of this one.
            sorting >>= np.uint64(_GROUP_BITS)
            sorting |= groups.astype(np.uint64) << np.uint64(64 - _GROUP_BITS)
            step = np.argsort(sorting, kind="stable")
            order, sorting = order[step], sorting[step]
        new = _changes(sorting)
        if any((_changes(half[order]) & ~new).any() for half in (first, second)):
            return None, groups
        groups = np.cumsum(new)
    return order, groups


def _changes(numbers: AnyArray) -> Bools:
    """Where a number differs from the one before."""
    found = np.zeros(len(numbers), np.bool_)
    found[1:] = numbers[1:] != numbers[:-1]
    return found


def joined_keys(*columns: AnyArray) -> Keys:
    """One longer key of each row of several columns of keys or whole numbers.

    Examples
    --------
    >>> keys = joined_keys(np.array([1, 1, 2]), np.array([5, 6, 5]))
    >>> len(np.unique(keys)), keys.itemsize
    (3, 16)
    """
    fields = [(f"{place}", column.dtype) for place, column in enumerate(columns)]
    rows = np.empty(len(columns[0]), fields)
    for (name, _), column in zip(fields, columns, strict=True):
        rows[name] = column
    made: Keys = rows.view(f"S{rows.itemsize}")
    return made
