# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: what the candidates of one item share with each other. Nothing but loops.

`number_ngrams` gives every different n-gram of the texts a number and lists in which texts it
occurs and how often; each n-gram's entries are chained from its last text back to its first. The
others walk these chains, so that no n-gram is looked at that a text does not have.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(
    key: cython.ulonglong,
    check: cython.ulonglong,
    slots: cython.const[cython.int][::1],
    keys: cython.const[cython.ulonglong][:, ::1],
    mask: cython.longlong,
) -> cython.longlong:
    """Where a token or n-gram stands in the hash table, or where it would."""
    mixer: cython.ulonglong = 0x9E3779B97F4A7C15
    all_bits: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    mixed: cython.ulonglong = ((key ^ check) * mixer) & all_bits
    slot: cython.longlong = cython.cast(cython.longlong, (mixed >> 32) & mask)
    found: cython.int = slots[slot]
    while found >= 0:
        if keys[0, found] == key and keys[1, found] == check:
            break
        slot = (slot + 1) & mask
        found = slots[slot]
    return slot


def number_ngrams(
    lanes: cython.const[cython.ulonglong][::1],
    bounds: cython.const[cython.longlong][::1],
    first: cython.longlong,
    last: cython.longlong,
    order: cython.int,
    slots: cython.int[::1],
    keys: cython.ulonglong[:, ::1],
    own: cython.int[::1],
    grams: cython.int[::1],
    orders: cython.int[::1],
    heads: cython.int[::1],
    entries: cython.int[:, ::1],
) -> cython.longlong:
    """Number the n-grams of the texts from `first` up to but not `last`; gives how many there are.

    A token is two of the `lanes`, of which the second is never 0; a longer n-gram is known by the
    numbers of its first n - 1 tokens and of its last one, with a 0 beside them: so nothing is equal
    that is not the same. N-gram g has orders[g] + 1 tokens, and its last entry is heads[g]; entry e
    says its text, its count, and the entry before it or -1. `slots` are a power of two, at least
    twice the n-grams; `own` and `grams` are working space for the longest text.
    """
    mask: cython.longlong = slots.shape[0] - 1
    text: cython.longlong
    start: cython.longlong
    length: cython.longlong
    i: cython.longlong
    slot: cython.longlong
    different: cython.int = 0
    made: cython.int = 0
    found: cython.int
    entry: cython.int
    n: cython.int
    key: cython.ulonglong
    check: cython.ulonglong
    with cython.nogil:
        for slot in range(mask + 1):
            slots[slot] = -1
        for text in range(first, last):
            start = bounds[text]
            length = bounds[text + 1] - start
            for n in range(order):
                for i in range(length - n):
                    if n == 0:
                        key = lanes[2 * (start + i)]
                        check = lanes[2 * (start + i) + 1]
                    else:
                        key = (cython.cast(cython.ulonglong, grams[i]) << 32) | (
                            cython.cast(cython.ulonglong, own[i + n])
                        )
                        check = 0
                    slot = _slot(key, check, slots, keys, mask)
                    found = slots[slot]
                    if found < 0:
                        found = different
                        different += 1
                        slots[slot] = found
                        keys[0, found] = key
                        keys[1, found] = check
                        orders[found] = n
                        heads[found] = -1
                    entry = heads[found]
                    if entry >= 0 and entries[0, entry] == text - first:
                        entries[1, entry] += 1
                    else:
                        entries[0, made] = cython.cast(cython.int, text - first)
                        entries[1, made] = 1
                        entries[2, made] = entry
                        heads[found] = made
                        made += 1
                    grams[i] = found
                    if n == 0:
                        own[i] = found
    return different


def share_ngrams(
    ngrams: cython.longlong,
    orders: cython.const[cython.int][::1],
    heads: cython.const[cython.int][::1],
    entries: cython.const[cython.int][:, ::1],
    row: cython.ushort[::1],
    texts: cython.int[::1],
    counts: cython.ushort[::1],
    shared: cython.ushort[:, :, ::1],
) -> None:
    """Add min(counts) to shared[n, i, j], j > i, for each n-gram that texts i and j both have.

    `row` (all zero, and left so) and the other two are working space for as many texts. No text may
    have 2 ** 16 tokens or more.
    """
    size: cython.longlong = shared.shape[1]
    few: cython.longlong = 10 + size // 16
    gram: cython.longlong
    found: cython.longlong
    a: cython.longlong
    b: cython.longlong
    i: cython.longlong
    j: cython.longlong
    n: cython.int
    entry: cython.int
    count: cython.ushort
    least: cython.ushort
    with cython.nogil:
        for gram in range(ngrams):
            entry = heads[gram]
            if entries[2, entry] < 0:
                continue
            n = orders[gram]
            found = 0
            while entry >= 0:
                texts[found] = entries[0, entry]
                counts[found] = cython.cast(cython.ushort, entries[1, entry])
                found += 1
                entry = entries[2, entry]
            if found < few:
                for a in range(1, found):
                    i = texts[a]
                    count = counts[a]
                    for b in range(a):
                        least = counts[b] if counts[b] < count else count
                        shared[n, i, texts[b]] += least
            else:
                # Compilers make one instruction of eight of these steps.
                for a in range(found):
                    row[texts[a]] = counts[a]
                for a in range(1, found):
                    i = texts[a]
                    count = counts[a]
                    for j in range(i + 1, size):
                        least = row[j] if row[j] < count else count
                        shared[n, i, j] += least
                for a in range(found):
                    row[texts[a]] = 0


def expect_ngrams(
    ngrams: cython.longlong,
    orders: cython.const[cython.int][::1],
    heads: cython.const[cython.int][::1],
    entries: cython.const[cython.int][:, ::1],
    probabilities: cython.const[cython.double][::1],
    leave: cython.bint,
    matches: cython.double[:, ::1],
) -> None:
    """Add min(count, expected count) of each n-gram of text i to matches[i, n].

    With `leave` the expectation of text i is that over the others, whose probabilities are divided
    by their sum.
    """
    gram: cython.longlong
    i: cython.longlong
    n: cython.int
    entry: cython.int
    expected: cython.double
    least: cython.double
    count: cython.double
    with cython.nogil:
        for gram in range(ngrams):
            n = orders[gram]
            expected = 0.0
            entry = heads[gram]
            while entry >= 0:
                expected += probabilities[entries[0, entry]] * entries[1, entry]
                entry = entries[2, entry]
            entry = heads[gram]
            while entry >= 0:
                i = entries[0, entry]
                count = entries[1, entry]
                least = expected
                if leave:
                    # Alone with it, a text must not match what rounding leaves over.
                    least = 0.0
                    if entry != heads[gram] or entries[2, entry] >= 0:
                        least = expected - probabilities[i] * count
                        least = least / (1.0 - probabilities[i]) if least > 0.0 else 0.0
                matches[i, n] += least if least < count else count
                entry = entries[2, entry]


def credit_ngrams(
    ngrams: cython.longlong,
    orders: cython.const[cython.int][::1],
    heads: cython.const[cython.int][::1],
    entries: cython.const[cython.int][:, ::1],
    weights: cython.const[cython.double][::1],
    leave: cython.bint,
    matches: cython.double[:, ::1],
) -> None:
    """Add max_j w_j * min(c_i, c_j) of each n-gram of text i to matches[i, n].

    That is the numerator of delta-BLEU with all texts as references; with `leave` without text i.
    """
    gram: cython.longlong
    i: cython.longlong
    n: cython.int
    entry: cython.int
    other: cython.int
    most: cython.int
    best: cython.double
    second: cython.double
    holder: cython.int
    weight: cython.double
    with cython.nogil:
        for gram in range(ngrams):
            n = orders[gram]
            most = 1
            best = 0.0
            second = 0.0
            holder = -1
            entry = heads[gram]
            while entry >= 0:
                most = entries[1, entry] if entries[1, entry] > most else most
                weight = weights[entries[0, entry]]
                if weight > best:
                    second = best
                    best = weight
                    holder = entry
                elif weight > second:
                    second = weight
                entry = entries[2, entry]
            entry = heads[gram]
            while entry >= 0:
                i = entries[0, entry]
                if most == 1:
                    matches[i, n] += second if leave and entry == holder else best
                else:
                    best = 0.0
                    other = heads[gram]
                    while other >= 0:
                        if not leave or other != entry:
                            weight = weights[entries[0, other]]
                            if entries[1, other] < entries[1, entry]:
                                weight = weight * entries[1, other]
                            else:
                                weight = weight * entries[1, entry]
                            best = weight if weight > best else best
                        other = entries[2, other]
                    matches[i, n] += best
                entry = entries[2, entry]
