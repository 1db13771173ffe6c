# cython: boundscheck=False, wraparound=False, infer_types=True
# mypy: ignore-errors
"""Kernels: counts of words that stand near each other.

Nothing but loops; see `deltableu.vectors.cooccurrence`.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mix(h: cython.ulonglong) -> cython.ulonglong:
    """A permutation of the 64-bit numbers that looks random and keeps 0."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    multiplier: cython.ulonglong = 0xD6E8FEB86659FD93
    h ^= h >> 32
    h = (h * multiplier) & mask
    h ^= h >> 32
    h = (h * multiplier) & mask
    return h ^ (h >> 32)


def count_pairs(
    words: cython.const[cython.int][::1],
    bounds: cython.const[cython.longlong][::1],
    weights: cython.const[cython.ulonglong][::1],
    share: cython.ulonglong,
    bits: cython.int,
    shift: cython.int,
    limit: cython.longlong,
    table: cython.ulonglong[:, ::1],
    state: cython.longlong[::1],
) -> cython.bint:
    """Add the weight of their distance to each pair of words of a text; False if there is no room.

    A pair is known by the mixed number of its rarer word + 1 and its more frequent word. Only those
    count here whose first `bits` bits are `share`; the next bits say where in the table a pair
    lies, or soon after, so that the table is nearly sorted. It has the pair and its count, 0 where
    there is none. `state` has the text and word to go on with, how many places are taken, and the
    last of them.
    """
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    one: cython.ulonglong = 1
    window: cython.longlong = weights.shape[0] - 1
    size: cython.longlong = table.shape[0]
    used: cython.longlong = state[2]
    last: cython.longlong = state[3]
    i: cython.longlong = state[0]
    k: cython.longlong = state[1]
    # No number of 64 bits can be moved by 64 bits: the first one goes by itself.
    rest: cython.int = 63 - bits
    word: cython.ulonglong
    a: cython.ulonglong
    h: cython.ulonglong
    room: cython.bint = True
    with cython.nogil:
        while i < bounds.shape[0] - 1:
            if k < bounds[i]:
                k = bounds[i]
            while k < bounds[i + 1]:
                # A pair takes one place, at most one after all that are taken.
                if used + window > limit or last + window >= size:
                    room = False
                    break
                first = k - window
                if first < bounds[i]:
                    first = bounds[i]
                word = words[k]
                for other in range(first, k):
                    a = words[other]
                    h = ((word + one) << 32) | a
                    if a > word:
                        h = ((a + one) << 32) | word
                    h = _mix(h)
                    if (h >> rest) >> 1 != share:
                        continue
                    slot = ((h << bits) & mask) >> shift
                    while table[slot, 0] != h and table[slot, 0] != 0:
                        slot += 1
                    if table[slot, 0] == 0:
                        table[slot, 0] = h
                        used += 1
                        if slot > last:
                            last = slot
                    table[slot, 1] += weights[k - other]
                k += 1
            if not room:
                break
            i += 1
    state[0] = i
    state[1] = k
    state[2] = used
    state[3] = last
    return room


def drain_pairs(
    table: cython.ulonglong[:, ::1], hashes: cython.ulonglong[::1], counts: cython.ulonglong[::1]
) -> None:
    """Move all pairs of a table to `hashes` and `counts`, sorted; the table is empty then."""
    n: cython.longlong = 0
    h: cython.ulonglong
    with cython.nogil:
        for i in range(table.shape[0]):
            h = table[i, 0]
            if h != 0:
                k = n
                while k > 0 and hashes[k - 1] > h:
                    hashes[k] = hashes[k - 1]
                    counts[k] = counts[k - 1]
                    k -= 1
                hashes[k] = h
                counts[k] = table[i, 1]
                n += 1
                table[i, 0] = 0
                table[i, 1] = 0


def place_pairs(
    hashes: cython.const[cython.ulonglong][::1],
    counts: cython.const[cython.ulonglong][::1],
    bits: cython.int,
    shift: cython.int,
    table: cython.ulonglong[:, ::1],
) -> cython.longlong:
    """Put sorted pairs into an empty table; return the last place that is taken.

    Returns the size of the table where there is no room at its end.
    """
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    last: cython.longlong = -1
    with cython.nogil:
        for i in range(hashes.shape[0]):
            slot = ((hashes[i] << bits) & mask) >> shift
            if slot <= last:
                slot = last + 1
            if slot >= table.shape[0]:
                last = slot
                break
            table[slot, 0] = hashes[i]
            table[slot, 1] = counts[i]
            last = slot
    return last
