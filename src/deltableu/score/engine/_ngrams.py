# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: token keys -> n-gram credit tables -> rows. Nothing but loops.

For every n-gram g of an item's references and every count c there is one number, the credit that
c occurrences of g in a hypothesis earn: in the paper's formula max_j w_j * min(c, #g(r_j)) over
the references that have g. `build_tables` computes them once for the references, `match` looks
them up for a hypothesis.

An item has a table for each order, and one more for repeated n-grams. A token is known by both
halves of its key, in `keys` and `checks`. A longer n-gram is known by two places: that of its first
n - 1 tokens in the table of that order, and that of its last token. c > 1 occurrences of an n-gram
are known by its place among all n-grams of the item, and c. Such a pair is one number, mixed one to
one, so that nothing is equal that is not the same.

A table is dense: its entries are grouped by the leading bits of their keys, and `buckets` holds
where each group begins.
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
def _find(
    key: cython.ulonglong,
    keys: cython.const[cython.ulonglong][::1],
    buckets: cython.const[cython.uint][::1],
    first_entry: cython.longlong,
    first_bucket: cython.longlong,
    shift: cython.int,
) -> cython.longlong:
    """The place of a pair in one table, or -1."""
    bucket: cython.longlong = first_bucket + cython.cast(cython.longlong, key >> shift)
    at: cython.longlong = first_entry + buckets[bucket]
    end: cython.longlong = first_entry + buckets[bucket + 1]
    while at < end:
        if keys[at] == key:
            return at - first_entry
        at += 1
    return -1


def build_tables(
    lanes: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    reference_bounds: cython.const[cython.longlong][::1],
    weights: cython.const[cython.double][::1],
    wanted: cython.const[cython.ulonglong][::1],
    wanted_bounds: cython.const[cython.longlong][::1],
    order: cython.int,
    variant: cython.int,
    slots: cython.int[::1],
    marks: cython.uchar[::1],
    scratch: cython.int[:, ::1],
    credit: cython.double[:, ::1],
    grams: cython.ulonglong[:, ::1],
    keys: cython.ulonglong[::1],
    values: cython.double[::1],
    entry_bounds: cython.longlong[::1],
    checks: cython.ulonglong[::1],
    check_bounds: cython.longlong[::1],
    buckets: cython.uint[::1],
    bucket_bounds: cython.longlong[::1],
    shifts: cython.int[::1],
) -> cython.longlong:
    """Fill the tables of all items (from `keys` on) and return the number of entries.

    Reference j's tokens lie between token_bounds[j] and token_bounds[j + 1], item i's references
    between reference_bounds[i] and reference_bounds[i + 1]; a token is two of the `lanes`. Where
    `wanted_bounds` is not empty, `wanted` holds the tokens of the only hypotheses to be matched,
    and n-grams with other tokens are left out. `slots`, `marks`, `scratch`, `credit` and `grams`
    are working space for the largest item. `variant` is 0 for the paper's formula, 1 for Galley's
    implementation (2019), 2 for Tsuta's (2020).
    """
    galley2019: cython.int = 1
    tsuta2020: cython.int = 2
    items: cython.longlong = reference_bounds.shape[0] - 1
    entries: cython.longlong = 0  # of all tables so far
    first: cython.longlong  # of this item
    bucket_at: cython.longlong = 0
    table: cython.longlong = 0
    item: cython.longlong
    reference: cython.longlong
    first_reference: cython.longlong
    first_token: cython.longlong
    left: cython.longlong = 0  # n-gram occurrences of this table
    i: cython.longlong
    k: cython.longlong
    at: cython.longlong
    size: cython.longlong
    slot: cython.longlong
    again: cython.longlong  # repeated n-grams of all tables of this item so far
    earlier: cython.longlong = 0
    n: cython.int
    found: cython.int
    distinct: cython.int
    repeats: cython.int
    touched: cython.int
    pairs: cython.int
    pair: cython.int
    count: cython.int
    c: cython.int
    r: cython.int
    bits: cython.int
    weight: cython.double
    best: cython.double
    product: cython.double
    key: cython.ulonglong
    check: cython.ulonglong
    base: cython.uint
    step: cython.uint
    mark_mask: cython.ulonglong
    kept: cython.bint = True
    only_wanted: cython.bint = wanted_bounds.shape[0] > 0
    with cython.nogil:
        entry_bounds[0] = 0
        check_bounds[0] = 0
        bucket_bounds[0] = 0
        for item in range(items):
            # Rows of `scratch` beside those of the second pass. Of an occurrence: 0 its n-gram, 10
            # where it begins, 15 its reference. Of an n-gram: 1 the last reference that has it, 2
            # its number among repeated ones, 12 its place in the table. Where a token stands: 11
            # the place of its unigram, -1 where it has none and after the end of a reference. Of
            # an entry of the last table: 13 the n-gram, 14 the count.
            first = entries
            first_reference = reference_bounds[item]
            first_token = token_bounds[first_reference]
            again = 0
            mark_mask = 0
            if only_wanted:
                mark_mask = 255
                while 16 * (wanted_bounds[item + 1] - wanted_bounds[item]) > (
                    cython.cast(cython.longlong, mark_mask)
                ):
                    mark_mask = 2 * mark_mask + 1
                for k in range(cython.cast(cython.longlong, mark_mask) + 1):
                    marks[k] = 0
                for k in range(wanted_bounds[item], wanted_bounds[item + 1]):
                    marks[wanted[2 * k] & mark_mask] = 1

            # The last table is that of repeated n-grams.
            for n in range(order + 1):
                if n == order:
                    distinct = cython.cast(cython.int, again)
                    for i in range(again):
                        grams[0, i] = _pair(scratch[13, i], scratch[14, i])
                        credit[0, i] = credit[2, i]
                else:
                    # Occurrences of this order. Longer ones begin where shorter ones do. Those that
                    # are none are overwritten: a branch would often be mispredicted.
                    i = 0
                    if n == 0:
                        for reference in range(first_reference, reference_bounds[item + 1]):
                            at = token_bounds[reference] - first_token + reference - first_reference
                            for k in range(token_bounds[reference], token_bounds[reference + 1]):
                                scratch[11, at] = -1
                                scratch[10, i] = cython.cast(cython.int, at)
                                scratch[15, i] = cython.cast(cython.int, reference)
                                if only_wanted:
                                    kept = marks[lanes[2 * k] & mark_mask]
                                i += kept
                                at += 1
                            scratch[11, at] = -1
                    else:
                        for k in range(left):
                            at = scratch[10, k]
                            scratch[0, i] = scratch[0, k]
                            scratch[10, i] = cython.cast(cython.int, at)
                            scratch[15, i] = scratch[15, k]
                            i += scratch[11, at + n] >= 0
                    left = i
                    size = 2
                    while size < 2 * left:
                        size *= 2
                    for k in range(size):
                        slots[k] = -1
                    distinct = 0
                    repeats = 0

                    # First pass: distinct n-grams, the best weight of each, which ones a reference
                    # repeats.
                    for k in range(left):
                        at = scratch[10, k]
                        reference = scratch[15, k]
                        if n == 0:
                            i = first_token + at - (reference - first_reference)
                            key = lanes[2 * i]
                            check = lanes[2 * i + 1]
                        else:
                            key = _pair(scratch[12, scratch[0, k]], scratch[11, at + n])
                            check = 0
                        weight = weights[reference]
                        slot = cython.cast(cython.longlong, key & (size - 1))
                        while True:
                            found = slots[slot]
                            if found < 0:
                                break
                            if grams[0, found] == key and grams[1, found] == check:
                                break
                            slot = (slot + 1) & (size - 1)
                        if found < 0:
                            found = distinct
                            distinct += 1
                            slots[slot] = found
                            grams[0, found] = key
                            grams[1, found] = check
                            credit[0, found] = weight
                            scratch[1, found] = cython.cast(cython.int, reference)
                            scratch[2, found] = -1
                        elif scratch[1, found] == reference:
                            if scratch[2, found] < 0:
                                scratch[2, found] = repeats
                                scratch[3, repeats] = found
                                scratch[4, repeats] = 0  # occurrences in the current reference
                                scratch[5, repeats] = 1  # most occurrences in any reference
                                scratch[6, repeats] = -1  # its last (weight, count) pair
                                repeats += 1
                        else:
                            scratch[1, found] = cython.cast(cython.int, reference)
                            if weight > credit[0, found]:
                                credit[0, found] = weight
                        scratch[0, k] = found

                    if variant == tsuta2020:
                        for i in range(distinct):
                            if credit[0, i] < 0:
                                credit[0, i] = 0

                    # Second pass, where a reference repeats an n-gram: credit for every count.
                    earlier = again
                    if repeats > 0:
                        pairs = 0
                        touched = 0
                        for k in range(left):
                            r = scratch[2, scratch[0, k]]
                            if r >= 0:
                                if scratch[4, r] == 0:
                                    scratch[7, touched] = r
                                    touched += 1
                                scratch[4, r] += 1
                            if k + 1 < left and scratch[15, k + 1] == scratch[15, k]:
                                continue
                            for i in range(touched):
                                r = scratch[7, i]
                                count = scratch[4, r]
                                scratch[4, r] = 0
                                if count > scratch[5, r]:
                                    scratch[5, r] = count
                                credit[1, pairs] = weights[scratch[15, k]]
                                scratch[8, pairs] = count
                                scratch[9, pairs] = scratch[6, r]
                                scratch[6, r] = pairs
                                pairs += 1
                            touched = 0
                        for r in range(repeats):
                            found = scratch[3, r]
                            for c in range(2, scratch[5, r] + 1):
                                if variant == galley2019:
                                    best = credit[0, found] * c
                                else:
                                    pair = scratch[6, r]
                                    count = c if c < scratch[8, pair] else scratch[8, pair]
                                    best = credit[1, pair] * count
                                    pair = scratch[9, pair]
                                    while pair >= 0:
                                        count = c if c < scratch[8, pair] else scratch[8, pair]
                                        product = credit[1, pair] * count
                                        if product > best:
                                            best = product
                                        pair = scratch[9, pair]
                                    if variant == tsuta2020 and best < 0:
                                        best = 0
                                scratch[13, again] = found
                                scratch[14, again] = c
                                credit[2, again] = best
                                again += 1

                # Group the entries by the leading bits of their keys.
                bits = 1
                while (1 << bits) < distinct // 2:
                    bits += 1
                shifts[table] = 64 - bits
                size = 1 << bits
                for k in range(size + 1):
                    buckets[bucket_at + k] = 0
                for i in range(distinct):
                    k = bucket_at + cython.cast(cython.longlong, grams[0, i] >> (64 - bits))
                    buckets[k] += 1
                base = 0
                for k in range(size):
                    step = buckets[bucket_at + k]
                    base = base + step
                    buckets[bucket_at + k] = base
                buckets[bucket_at + size] = base
                # Filling backwards turns each group's end into its beginning.
                for i in range(distinct):
                    k = bucket_at + cython.cast(cython.longlong, grams[0, i] >> (64 - bits))
                    buckets[k] -= 1
                    slot = buckets[k]
                    keys[entries + slot] = grams[0, i]
                    values[entries + slot] = credit[0, i]
                    scratch[12, i] = cython.cast(cython.int, slot)
                    if n == 0:
                        checks[check_bounds[item] + slot] = grams[1, i]
                if n == 0:
                    check_bounds[item + 1] = check_bounds[item] + distinct
                    for k in range(left):
                        scratch[11, scratch[10, k]] = scratch[12, scratch[0, k]]
                if n < order:
                    for i in range(earlier, again):
                        scratch[13, i] = cython.cast(
                            cython.int, entries - first + scratch[12, scratch[13, i]]
                        )
                entries += distinct
                bucket_at += size + 1
                table += 1
                entry_bounds[table] = entries
                bucket_bounds[table] = bucket_at
    return entries


def match(
    lanes: cython.const[cython.ulonglong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    keys: cython.const[cython.ulonglong][::1],
    values: cython.const[cython.double][::1],
    entry_bounds: cython.const[cython.longlong][::1],
    checks: cython.const[cython.ulonglong][::1],
    check_bounds: cython.const[cython.longlong][::1],
    buckets: cython.const[cython.uint][::1],
    bucket_bounds: cython.const[cython.longlong][::1],
    shifts: cython.const[cython.int][::1],
    lengths: cython.const[cython.longlong][::1],
    length_bounds: cython.const[cython.longlong][::1],
    scale: cython.const[cython.double][::1],
    chosen: cython.const[cython.longlong][::1],
    order: cython.int,
    places: cython.longlong[:, ::1],
    counts: cython.int[::1],
    touched: cython.longlong[::1],
    touched_order: cython.int[::1],
    rows: cython.double[:, ::1],
) -> None:
    """Fill one row a hypothesis: numerators, denominators, its length, the closest reference's.

    Hypothesis i is one for item `chosen[i]`, or for item i where that is empty. `lengths` are the
    reference lengths that the brevity penalty may choose from, `scale` is the weight that
    multiplies each item's n-gram counts in the denominator. `places`, `counts` (all zero, and left
    so) and `touched` are working space for the largest item and the longest hypothesis.
    """
    items: cython.longlong = token_bounds.shape[0] - 1
    choosing: cython.bint = chosen.shape[0] > 0
    item: cython.longlong
    own: cython.longlong  # the item of the references
    table: cython.longlong
    start: cython.longlong
    length: cython.longlong
    i: cython.longlong
    at: cython.longlong
    end: cython.longlong
    place: cython.longlong
    entry: cython.longlong
    first: cython.longlong
    offset: cython.longlong
    bucket: cython.longlong
    closest: cython.longlong
    distance: cython.longlong
    best: cython.longlong
    t: cython.longlong
    hits: cython.longlong
    known: cython.longlong
    c: cython.longlong
    n: cython.int
    m: cython.int
    value: cython.double
    key: cython.ulonglong
    check: cython.ulonglong
    with cython.nogil:
        for item in range(items):
            start = token_bounds[item]
            length = token_bounds[item + 1] - start
            own = chosen[item] if choosing else item
            table = own * (order + 1)
            first = entry_bounds[table]
            offset = check_bounds[own] - first
            hits = 0
            known = 0
            for i in range(length):
                key = lanes[2 * (start + i)]
                check = lanes[2 * (start + i) + 1]
                bucket = bucket_bounds[table] + cython.cast(cython.longlong, key >> shifts[table])
                at = first + buckets[bucket]
                end = first + buckets[bucket + 1]
                place = -1
                while at < end:
                    if keys[at] == key and checks[offset + at] == check:
                        place = at - first
                        break
                    at += 1
                places[0, i] = place
                # Without a branch, which would often be mispredicted.
                places[1, known] = i
                known += place >= 0
            for t in range(known):
                i = places[1, t]
                place = places[0, i]
                m = order if length - i > order else cython.cast(cython.int, length - i)
                for n in range(m):
                    if n > 0:
                        if places[0, i + n] < 0:
                            break
                        place = _find(
                            _pair(place, places[0, i + n]),
                            keys,
                            buckets,
                            entry_bounds[table + n],
                            bucket_bounds[table + n],
                            shifts[table + n],
                        )
                        if place < 0:
                            break  # no reference has this n-gram, so none has a longer one
                    entry = entry_bounds[table + n] - first + place
                    if counts[entry] == 0:
                        touched[hits] = entry
                        touched_order[hits] = n
                        hits += 1
                    counts[entry] += 1
            for n in range(order):
                rows[item, n] = 0
                rows[item, order + n] = scale[own] * (length - n) if length > n else 0
            for t in range(hits):
                entry = touched[t]
                value = values[first + entry]
                for c in range(2, counts[entry] + 1):
                    place = _find(
                        _pair(entry, c),
                        keys,
                        buckets,
                        entry_bounds[table + order],
                        bucket_bounds[table + order],
                        shifts[table + order],
                    )
                    if place < 0:
                        break  # no reference has it so often: more earns no more
                    value = values[entry_bounds[table + order] + place]
                counts[entry] = 0
                rows[item, touched_order[t]] += value
            closest = 0
            best = -1
            for i in range(length_bounds[own], length_bounds[own + 1]):
                distance = lengths[i] - length
                if distance < 0:
                    distance = -distance
                if best < 0 or distance < best or (distance == best and lengths[i] < closest):
                    best = distance
                    closest = lengths[i]
            rows[item, 2 * order] = length
            rows[item, 2 * order + 1] = closest
