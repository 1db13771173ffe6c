# cython: boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernels of the exact top-k join: BM25 of log rows against the items.

Nothing but loops; see `deltableu.mine.bm25` and `deltableu.mine.term_lists`.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _term(
    key: cython.ulonglong,
    check: cython.ulonglong,
    slots: cython.const[cython.ulonglong][::1],
    terms: cython.const[cython.int][::1],
    mask: cython.ulonglong,
) -> cython.int:
    """The term of a word's key, which is two numbers, -1 where no item has the word."""
    slot: cython.ulonglong = key & mask
    while terms[slot] >= 0:
        if slots[2 * slot] == key and slots[2 * slot + 1] == check:
            return terms[slot]
        slot = (slot + 1) & mask
    return -1


def count_rows(
    lanes: cython.const[cython.ulonglong][::1],
    bounds: cython.const[cython.longlong][::1],
    slots: cython.const[cython.ulonglong][::1],
    terms: cython.const[cython.int][::1],
    last: cython.longlong[::1],
    rows: cython.longlong[::1],
) -> None:
    """Add to `rows` how many texts have each term; `last` is scratch, all -1."""
    mask: cython.ulonglong = terms.shape[0] - 1
    with cython.nogil:
        for i in range(bounds.shape[0] - 1):
            for k in range(bounds[i], bounds[i + 1]):
                term = _term(lanes[2 * k], lanes[2 * k + 1], slots, terms, mask)
                if term >= 0 and last[term] != i:
                    last[term] = i
                    rows[term] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _frequencies(
    lanes: cython.const[cython.ulonglong][::1],
    begin: cython.longlong,
    end: cython.longlong,
    slots: cython.const[cython.ulonglong][::1],
    terms: cython.const[cython.int][::1],
    shape: cython.const[cython.double][::1],
    most: cython.const[cython.double][::1],
    values: cython.double[::1],
    present: cython.int[::1],
    caps: cython.double[::1],
) -> cython.int:
    """Fill the term frequency parts of a row in `values`, its terms in `present`; their number.

    `shape` is (k1 * (1 - b), k1 * b / average length, factor). `caps` get the part of a term that
    is there once, the largest one, and what repeated terms, whose weights are `most`, have more
    than if they were there once.
    """
    mask: cython.ulonglong = terms.shape[0] - 1
    norm: cython.double = shape[0] + shape[1] * (end - begin)
    once: cython.double = shape[2] / (1.0 + norm)
    count: cython.int = 0
    tf: cython.double
    caps[0] = once
    caps[1] = 0.0
    caps[2] = 0.0
    for k in range(begin, end):
        term = _term(lanes[2 * k], lanes[2 * k + 1], slots, terms, mask)
        if term >= 0:
            if values[term] == 0.0:
                present[count] = term
                count += 1
            values[term] += 1.0
    for i in range(count):
        term = present[i]
        tf = values[term]
        values[term] = tf * shape[2] / (tf + norm)
        if values[term] > caps[1]:
            caps[1] = values[term]
        if tf > 1.0:
            caps[2] += most[term] * (values[term] - once)
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _cap(
    caps: cython.const[cython.double][::1],
    slope: cython.double,
    constant: cython.double,
    slack: cython.double,
) -> cython.double:
    """At most so many times `slope * w + slack` is `slope * s + constant`.

    Here s is the BM25 of a row with caps, and any terms whose weights add up to w.
    """
    largest: cython.double = max(caps[1], constant / slack)
    parted: cython.double = max(caps[0], (slope * caps[2] + constant) / slack)
    return min(largest, parted)


def sum_weights(
    items: cython.const[cython.int][::1],
    weights: cython.const[cython.double][::1],
    sums: cython.double[::1],
) -> None:
    """Fill `sums` with those of an item's weights up to each of them; they are sorted by item."""
    sum: cython.double = 0.0
    with cython.nogil:
        for k in range(items.shape[0]):
            if k == 0 or items[k] != items[k - 1]:
                sum = 0.0
            sum += weights[k]
            sums[k] = sum


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hit(
    present: cython.const[cython.int][::1],
    distinct: cython.int,
    offset: cython.longlong,
    list_bounds: cython.const[cython.int][::1],
    list_codes: cython.const[cython.longlong][::1],
    level: cython.longlong,
    full: cython.int,
    hits: cython.ushort[::1],
    reached: cython.int[::1],
    count: cython.int,
    tally: cython.longlong[:, ::1],
) -> cython.int:
    """Add to `reached` the items whose hits get full; their number.

    A list goes from what is in it at all levels to what is in it at few of them.
    """
    hit: cython.int
    code: cython.longlong
    steps: cython.longlong = 0
    for i in range(distinct):
        key = present[i] + offset
        for k in range(list_bounds[key], list_bounds[key + 1]):
            code = list_codes[k]
            if ((code >> 16) & 255) < level:
                break
            steps += 1
            item = code >> 24
            hit = hits[item]
            if hit < full:
                hit += code & 65535
                if hit >= full:
                    hit = full
                    reached[count] = item
                    count += 1
                hits[item] = hit
    tally[level, 2] += steps
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _accumulate(
    present: cython.const[cython.int][::1],
    distinct: cython.int,
    values: cython.const[cython.double][::1],
    posting_bounds: cython.const[cython.longlong][::1],
    posting_items: cython.const[cython.int][::1],
    posting_weights: cython.const[cython.float][::1],
    dense_rows: cython.const[cython.int][::1],
    dense: cython.const[cython.float][:, ::1],
    sums: cython.float[::1],
) -> cython.int:
    """Add what a row's terms are worth to every item, roughly; returns 0."""
    value: cython.float
    for i in range(distinct):
        term = present[i]
        value = values[term]
        row = dense_rows[term]
        if row >= 0:
            for k in range(dense.shape[1]):
                sums[k] += value * dense[row, k]
        else:
            for k in range(posting_bounds[term], posting_bounds[term + 1]):
                sums[posting_items[k]] += value * posting_weights[k]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _multiply(
    sums: cython.float[::1],
    others: cython.const[cython.float][::1],
    slope: cython.float,
    constant: cython.float,
) -> cython.int:
    """Sums of the first field times those of the second; returns 0."""
    for k in range(sums.shape[0]):
        sums[k] = sums[k] * (slope * others[k] + constant)
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reach(
    sums: cython.const[cython.float][::1],
    limits: cython.const[cython.float][::1],
    error: cython.float,
    reached: cython.int[::1],
) -> cython.int:
    """Fill `reached` with the items whose sums may exceed their limits; returns their number."""
    count: cython.int = 0
    found: cython.int
    for begin in range(0, sums.shape[0], 64):
        found = 0
        for k in range(64):
            found |= sums[begin + k] * error > limits[begin + k]
        if found:
            for k in range(begin, begin + 64):
                if sums[k] * error > limits[k]:
                    reached[count] = k
                    count += 1
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _exact(
    item: cython.int,
    query_bounds: cython.const[cython.longlong][::1],
    query_terms: cython.const[cython.int][::1],
    query_weights: cython.const[cython.double][::1],
    values: cython.const[cython.double][::1],
) -> cython.double:
    """BM25 of a row and an item, summed in the order of the item's words."""
    score: cython.double = 0.0
    for k in range(query_bounds[item], query_bounds[item + 1]):
        score += query_weights[k] * values[query_terms[k]]
    return score


def score_rows(
    begin: cython.longlong,
    end: cython.longlong,
    admitted: cython.const[cython.uchar][::1],
    slots: cython.const[cython.ulonglong][::1],
    terms: cython.const[cython.int][::1],
    first_lanes: cython.const[cython.ulonglong][::1],
    first_bounds: cython.const[cython.longlong][::1],
    first_shape: cython.const[cython.double][::1],
    first_query_bounds: cython.const[cython.longlong][::1],
    first_query_terms: cython.const[cython.int][::1],
    first_query_weights: cython.const[cython.double][::1],
    first_totals: cython.const[cython.double][::1],
    first_most: cython.const[cython.double][::1],
    first_posting_bounds: cython.const[cython.longlong][::1],
    first_posting_items: cython.const[cython.int][::1],
    first_posting_weights: cython.const[cython.float][::1],
    first_dense_rows: cython.const[cython.int][::1],
    first_dense: cython.const[cython.float][:, ::1],
    second_lanes: cython.const[cython.ulonglong][::1],
    second_bounds: cython.const[cython.longlong][::1],
    second_shape: cython.const[cython.double][::1],
    second_query_bounds: cython.const[cython.longlong][::1],
    second_query_terms: cython.const[cython.int][::1],
    second_query_weights: cython.const[cython.double][::1],
    second_totals: cython.const[cython.double][::1],
    second_most: cython.const[cython.double][::1],
    second_posting_bounds: cython.const[cython.longlong][::1],
    second_posting_items: cython.const[cython.int][::1],
    second_posting_weights: cython.const[cython.float][::1],
    second_dense_rows: cython.const[cython.int][::1],
    second_dense: cython.const[cython.float][:, ::1],
    slope: cython.double,
    constant: cython.double,
    slacks: cython.const[cython.double][::1],
    levels: cython.const[cython.double][::1],
    lists_used: cython.const[cython.uchar][::1],
    starts: cython.const[cython.ushort][:, ::1],
    list_bounds: cython.const[cython.int][::1],
    list_codes: cython.const[cython.longlong][::1],
    full: cython.int,
    hits: cython.ushort[::1],
    tally: cython.longlong[:, ::1],
    thresholds: cython.const[cython.double][::1],
    limits: cython.const[cython.float][::1],
    values: cython.double[::1],
    others: cython.double[::1],
    present: cython.int[::1],
    other_present: cython.int[::1],
    caps: cython.double[::1],
    other_caps: cython.double[::1],
    sums: cython.float[::1],
    other_sums: cython.float[::1],
    reached: cython.int[::1],
    candidate_items: cython.int[::1],
    candidate_rows: cython.longlong[::1],
    candidate_scores: cython.double[::1],
    progress: cython.longlong[::1],
) -> cython.longlong:
    """Score rows against the items they may be good enough for; returns the number of candidates.

    The score is `s1 * (slope * s2 + constant)`, s1 and s2 being BM25 of the first and second
    field. Only what exceeds an item's threshold is a candidate. Items that a row might be good
    enough for are scored exactly. They are found through the lists of `TermLists`, or, at levels
    where those are too long, through sums of single precision over postings of the terms (dense
    ones where most items have the term) that might exceed their `limits`. `values`, `others`,
    `sums` and `other_sums` are scratch, all 0; the last two and `limits` are padded to a multiple
    of 64. `tally` gets, at each level, rows, rows that used lists, their steps and what
    they reached.
    Stops where the candidates of another row might not fit; `progress[0]` is the first row
    not scored.
    """
    items: cython.longlong = thresholds.shape[0]
    size: cython.longlong = values.shape[0]
    padded: cython.longlong = sums.shape[0]
    capacity: cython.longlong = candidate_items.shape[0]
    count: cython.longlong = 0
    row: cython.longlong = begin
    level: cython.longlong
    other_distinct: cython.int = 0
    count_reached: cython.int
    error: cython.float
    cap: cython.double
    other_most: cython.double
    score: cython.double
    other: cython.double
    with cython.nogil:
        while row < end and count + items <= capacity:
            if not admitted[row]:
                row += 1
                continue
            distinct = _frequencies(
                first_lanes,
                first_bounds[row],
                first_bounds[row + 1],
                slots,
                terms,
                first_shape,
                first_most,
                values,
                present,
                caps,
            )
            if distinct == 0:
                row += 1
                continue
            cap = _cap(caps, 1.0, 0.0, slacks[0])
            other_most = 0.0
            if slope != 0.0:
                other_distinct = _frequencies(
                    second_lanes,
                    second_bounds[row],
                    second_bounds[row + 1],
                    slots,
                    terms,
                    second_shape,
                    second_most,
                    others,
                    other_present,
                    other_caps,
                )
                cap *= _cap(other_caps, slope, constant, slacks[1])
                other_most = slope * other_caps[1]
            # The lowest cap that is not below the row's.
            level = 0
            while level + 1 < levels.shape[0] and cap <= levels[level + 1]:
                level += 1
            tally[level, 0] += 1
            if lists_used[level]:
                for k in range(items):
                    hits[k] = starts[level, k]
                count_reached = _hit(
                    present,
                    distinct,
                    0,
                    list_bounds,
                    list_codes,
                    level,
                    full,
                    hits,
                    reached,
                    0,
                    tally,
                )
                if slope != 0.0:
                    count_reached = _hit(
                        other_present,
                        other_distinct,
                        size,
                        list_bounds,
                        list_codes,
                        level,
                        full,
                        hits,
                        reached,
                        count_reached,
                        tally,
                    )
                tally[level, 1] += 1
                tally[level, 3] += count_reached
            else:
                for k in range(padded):
                    sums[k] = 0.0
                _accumulate(
                    present,
                    distinct,
                    values,
                    first_posting_bounds,
                    first_posting_items,
                    first_posting_weights,
                    first_dense_rows,
                    first_dense,
                    sums,
                )
                # Each of so many additions of single precision errs by 2 ** -24 at most.
                error = 1.0 + 1.2e-7 * (distinct + 8)
                if slope != 0.0:
                    for k in range(padded):
                        other_sums[k] = 0.0
                    _accumulate(
                        other_present,
                        other_distinct,
                        others,
                        second_posting_bounds,
                        second_posting_items,
                        second_posting_weights,
                        second_dense_rows,
                        second_dense,
                        other_sums,
                    )
                    error *= 1.0 + 1.2e-7 * (other_distinct + 8)
                    _multiply(sums, other_sums, slope, constant)
                count_reached = _reach(sums, limits, error, reached)
            for i in range(count_reached):
                item = reached[i]
                score = _exact(
                    item, first_query_bounds, first_query_terms, first_query_weights, values
                )
                if slope != 0.0:
                    other = other_most * second_totals[item] + constant
                    # More than any rounding takes away.
                    if score * other * (1.0 + 1e-9) <= thresholds[item]:
                        continue
                    other = _exact(
                        item,
                        second_query_bounds,
                        second_query_terms,
                        second_query_weights,
                        others,
                    )
                    score = score * (slope * other + constant)
                if score > thresholds[item]:
                    candidate_items[count] = item
                    candidate_rows[count] = row
                    candidate_scores[count] = score
                    count += 1
            for i in range(distinct):
                values[present[i]] = 0.0
            if slope != 0.0:
                for i in range(other_distinct):
                    others[other_present[i]] = 0.0
            row += 1
        progress[0] = row
    return count
