# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: how much hypotheses and references share, pair by pair. Nothing but loops.

Reference j is compared with hypothesis owners[j]; the references of one hypothesis stand together.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _extend(gram: cython.ulonglong, token: cython.ulonglong) -> cython.ulonglong:
    """Hash of an n-gram from the hash of its first n - 1 tokens and the last token."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    multiplier: cython.ulonglong = 0x9E3779B97F4A7C15
    gram = ((gram + token) * multiplier) & mask
    return gram ^ (gram >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(
    gram: cython.ulonglong,
    slots: cython.const[cython.int][::1],
    grams: cython.const[cython.ulonglong][::1],
    size: cython.longlong,
) -> cython.longlong:
    """Where the n-gram stands in the hash table, or where it would."""
    slot: cython.longlong = cython.cast(cython.longlong, gram & (size - 1))
    while slots[slot] >= 0 and grams[slots[slot]] != gram:
        slot = (slot + 1) & (size - 1)
    return slot


def shared_ngrams(
    tokens: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    reference_tokens: cython.const[cython.ulonglong][::1],
    reference_bounds: cython.const[cython.longlong][::1],
    owners: cython.const[cython.longlong][::1],
    order: cython.int,
    slots: cython.int[::1],
    grams: cython.ulonglong[::1],
    scratch: cython.longlong[:, ::1],
    shared: cython.longlong[:, ::1],
) -> None:
    """Fill `shared` with each pair's clipped n-gram matches, an order a column.

    `slots`, `grams` and `scratch` are working space for the longest hypothesis.
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
    gram: cython.ulonglong
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
                    gram = 0
                    m = order if length - i > order else cython.cast(cython.int, length - i)
                    for n in range(m):
                        gram = _extend(gram, tokens[start + i + n])
                        slot = _slot(gram, slots, grams, size)
                        found = slots[slot]
                        if found < 0:
                            found = distinct
                            distinct += 1
                            slots[slot] = found
                            grams[found] = gram
                            scratch[0, found] = 0
                            scratch[2, found] = -1
                        scratch[0, found] += 1
            start = reference_bounds[pair]
            length = reference_bounds[pair + 1] - start
            for n in range(order):
                shared[pair, n] = 0
            for i in range(length):
                gram = 0
                m = order if length - i > order else cython.cast(cython.int, length - i)
                for n in range(m):
                    gram = _extend(gram, reference_tokens[start + i + n])
                    found = slots[_slot(gram, slots, grams, size)]
                    if found < 0:
                        break  # the hypothesis does not have it, so nothing longer either
                    if scratch[2, found] != pair:
                        scratch[2, found] = pair
                        scratch[1, found] = 0
                    if scratch[1, found] < scratch[0, found]:
                        scratch[1, found] += 1
                        shared[pair, n] += 1


def common_subsequences(
    tokens: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    reference_tokens: cython.const[cython.ulonglong][::1],
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
    token: cython.ulonglong
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
                token = reference_tokens[other + i]
                diagonal = 0
                for j in range(length):
                    above = row[j + 1]
                    if tokens[start + j] == token:
                        row[j + 1] = diagonal + 1
                    elif row[j] > above:
                        row[j + 1] = row[j]
                    diagonal = above
            longest[pair] = row[length]
