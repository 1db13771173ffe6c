# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: how much hypotheses and references share, pair by pair. Nothing but loops.

Pair j is of hypothesis owners[j]; the pairs of one hypothesis stand together.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _pair(first: cython.longlong, second: cython.longlong) -> cython.ulonglong:
    """A pair of numbers below 2 ** 32 as one, mixed one to one."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    multiplier: cython.ulonglong = 0x9E3779B97F4A7C15
    pair: cython.ulonglong = (first << 32) | second
    pair = (pair * multiplier) & mask
    return pair ^ (pair >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(
    key: cython.ulonglong,
    check: cython.ulonglong,
    slots: cython.const[cython.int][::1],
    keys: cython.const[cython.ulonglong][:, ::1],
    size: cython.longlong,
) -> cython.longlong:
    """Where a token or n-gram stands in the hash table, or where it would."""
    slot: cython.longlong = cython.cast(cython.longlong, key & (size - 1))
    while slots[slot] >= 0:
        if keys[0, slots[slot]] == key and keys[1, slots[slot]] == check:
            break
        slot = (slot + 1) & (size - 1)
    return slot


def shared_ngrams(
    lanes: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    reference_lanes: cython.const[cython.ulonglong][::1],
    reference_bounds: cython.const[cython.longlong][::1],
    owners: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.longlong][::1],
    order: cython.int,
    slots: cython.int[::1],
    keys: cython.ulonglong[:, ::1],
    scratch: cython.longlong[:, ::1],
    numbers: cython.int[::1],
    shared: cython.longlong[:, ::1],
) -> None:
    """Fill `shared` with each pair's clipped n-gram matches, an order a column.

    Pair j is of hypothesis owners[j] and reference chosen[j].

    A token is two of the `lanes`, of which the second is never 0. A longer n-gram is known by the
    numbers of its first n - 1 tokens and of its last one, with a 0 beside them: so nothing is equal
    that is not the same. `slots`, `keys` and `scratch` are working space for the longest
    hypothesis, `numbers` for the longest text.
    """
    pairs: cython.longlong = owners.shape[0]
    pair: cython.longlong
    owner: cython.longlong = -1
    start: cython.longlong
    length: cython.longlong
    i: cython.longlong
    k: cython.longlong
    size: cython.longlong = 2
    slot: cython.longlong
    total: cython.longlong
    distinct: cython.int = 0
    found: cython.int
    n: cython.int
    m: cython.int
    key: cython.ulonglong
    with cython.nogil:
        for pair in range(pairs):
            if owners[pair] != owner:
                owner = owners[pair]
                start = token_bounds[owner]
                length = token_bounds[owner + 1] - start
                total = 0
                for n in range(order):
                    if length > n:
                        total += length - n
                size = 2
                while size < 2 * total:
                    size *= 2
                for k in range(size):
                    slots[k] = -1
                distinct = 0
                for i in range(length):
                    k = 2 * (start + i)
                    slot = _slot(lanes[k], lanes[k + 1], slots, keys, size)
                    found = slots[slot]
                    if found < 0:
                        found = distinct
                        distinct += 1
                        slots[slot] = found
                        keys[0, found] = lanes[k]
                        keys[1, found] = lanes[k + 1]
                        scratch[0, found] = 0
                        scratch[2, found] = -1
                    scratch[0, found] += 1
                    numbers[i] = found
                for i in range(length):
                    found = numbers[i]
                    m = order if length - i > order else cython.cast(cython.int, length - i)
                    for n in range(1, m):
                        key = _pair(found, numbers[i + n])
                        slot = _slot(key, 0, slots, keys, size)
                        found = slots[slot]
                        if found < 0:
                            found = distinct
                            distinct += 1
                            slots[slot] = found
                            keys[0, found] = key
                            keys[1, found] = 0
                            scratch[0, found] = 0
                            scratch[2, found] = -1
                        scratch[0, found] += 1
            start = reference_bounds[chosen[pair]]
            length = reference_bounds[chosen[pair] + 1] - start
            for n in range(order):
                shared[pair, n] = 0
            for i in range(length):
                k = 2 * (start + i)
                slot = _slot(reference_lanes[k], reference_lanes[k + 1], slots, keys, size)
                numbers[i] = slots[slot]
            for i in range(length):
                found = numbers[i]
                m = order if length - i > order else cython.cast(cython.int, length - i)
                for n in range(m):
                    if n > 0:
                        if numbers[i + n] < 0:
                            break
                        key = _pair(found, numbers[i + n])
                        found = slots[_slot(key, 0, slots, keys, size)]
                    if found < 0:
                        break  # the hypothesis does not have it, so nothing longer either
                    if scratch[2, found] != pair:
                        scratch[2, found] = pair
                        scratch[1, found] = 0
                    if scratch[1, found] < scratch[0, found]:
                        scratch[1, found] += 1
                        shared[pair, n] += 1


def common_subsequences(
    lanes: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    reference_lanes: cython.const[cython.ulonglong][::1],
    reference_bounds: cython.const[cython.longlong][::1],
    owners: cython.const[cython.longlong][::1],
    row: cython.int[::1],
    longest: cython.longlong[::1],
) -> None:
    """Fill `longest` with the length of each pair's longest common subsequence."""
    pairs: cython.longlong = owners.shape[0]
    pair: cython.longlong
    start: cython.longlong
    length: cython.longlong
    other: cython.longlong
    size: cython.longlong
    i: cython.longlong
    j: cython.longlong
    key: cython.ulonglong
    check: cython.ulonglong
    diagonal: cython.int
    above: cython.int
    with cython.nogil:
        for pair in range(pairs):
            start = token_bounds[owners[pair]]
            length = token_bounds[owners[pair] + 1] - start
            other = reference_bounds[pair]
            size = reference_bounds[pair + 1] - other
            for j in range(length + 1):
                row[j] = 0
            for i in range(size):
                key = reference_lanes[2 * (other + i)]
                check = reference_lanes[2 * (other + i) + 1]
                diagonal = 0
                for j in range(length):
                    above = row[j + 1]
                    if lanes[2 * (start + j)] == key and lanes[2 * (start + j) + 1] == check:
                        row[j + 1] = diagonal + 1
                    elif row[j] > above:
                        row[j + 1] = row[j]
                    diagonal = above
            longest[pair] = row[length]
