# cython: boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernels of the exact top-k join: BM25 of log rows against all items, and the items' heaps.

Nothing but loops; see `deltableu.mine.bm25` and `deltableu.mine.heaps`.
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
    values: cython.double[::1],
    present: cython.int[::1],
) -> cython.int:
    """Fill the term frequency parts of a row in `values`, its terms in `present`; their number.

    `shape` is (k1 * (1 - b), k1 * b / average length, factor).
    """
    mask: cython.ulonglong = terms.shape[0] - 1
    norm: cython.double = shape[0] + shape[1] * (end - begin)
    count: cython.int = 0
    tf: cython.double
    for k in range(begin, end):
        term = _term(lanes[2 * k], lanes[2 * k + 1], slots, terms, mask)
        if term >= 0:
            if values[term] == 0.0:
                present[count] = term
                count += 1
            values[term] += 1.0
    for i in range(count):
        tf = values[present[i]]
        values[present[i]] = tf * shape[2] / (tf + norm)
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
    second_posting_bounds: cython.const[cython.longlong][::1],
    second_posting_items: cython.const[cython.int][::1],
    second_posting_weights: cython.const[cython.float][::1],
    second_dense_rows: cython.const[cython.int][::1],
    second_dense: cython.const[cython.float][:, ::1],
    slope: cython.double,
    constant: cython.double,
    thresholds: cython.const[cython.double][::1],
    limits: cython.const[cython.float][::1],
    values: cython.double[::1],
    others: cython.double[::1],
    present: cython.int[::1],
    other_present: cython.int[::1],
    sums: cython.float[::1],
    other_sums: cython.float[::1],
    reached: cython.int[::1],
    candidate_items: cython.int[::1],
    candidate_rows: cython.longlong[::1],
    candidate_scores: cython.double[::1],
    progress: cython.longlong[::1],
) -> cython.longlong:
    """Score rows against all items; returns the number of candidates.

    The score is `s1 * (slope * s2 + constant)`, s1 and s2 being BM25 of the first and second
    field. Sums of single precision, over postings of the terms (dense ones where most items have
    the term), find the items that might exceed their `limits`; these are scored exactly. Only
    what exceeds an item's threshold is a candidate. `values`, `others`, `sums` and `other_sums`
    are scratch, all 0; the last two and `limits` are padded to a multiple of 64. Stops where the
    candidates of another row might not fit; `progress[0]` is the first row not scored.
    """
    items: cython.longlong = thresholds.shape[0]
    padded: cython.longlong = sums.shape[0]
    capacity: cython.longlong = candidate_items.shape[0]
    count: cython.longlong = 0
    row: cython.longlong = begin
    other_distinct: cython.int = 0
    error: cython.float
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
                values,
                present,
            )
            if distinct == 0:
                row += 1
                continue
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
                other_distinct = _frequencies(
                    second_lanes,
                    second_bounds[row],
                    second_bounds[row + 1],
                    slots,
                    terms,
                    second_shape,
                    others,
                    other_present,
                )
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


def offer(
    items: cython.const[cython.int][::1],
    scores: cython.const[cython.double][::1],
    positions: cython.const[cython.longlong][::1],
    keys: cython.const[cython.ulonglong][::1],
    heap_scores: cython.double[:, ::1],
    heap_positions: cython.longlong[:, ::1],
    heap_keys: cython.ulonglong[:, ::1],
    heap_sizes: cython.longlong[::1],
) -> None:
    """Put candidates into the heaps of their items.

    A heap is sorted by falling score, then by position. Of candidates with one key, which is two
    numbers, it has the best. One of the same position counts as the same candidate.
    """
    most: cython.longlong = heap_scores.shape[1]
    score: cython.double
    key: cython.ulonglong
    check: cython.ulonglong
    with cython.nogil:
        for i in range(items.shape[0]):
            item = items[i]
            score = scores[i]
            position = positions[i]
            key = keys[2 * i]
            check = keys[2 * i + 1]
            size = heap_sizes[item]
            if size == most and (
                score < heap_scores[item, most - 1]
                or (
                    score == heap_scores[item, most - 1]
                    and position >= heap_positions[item, most - 1]
                )
            ):
                continue
            gap = size
            for at in range(size):
                if heap_keys[item, 2 * at] == key and heap_keys[item, 2 * at + 1] == check:
                    gap = at
                    break
            if gap < size:
                if score < heap_scores[item, gap] or (
                    score == heap_scores[item, gap] and position >= heap_positions[item, gap]
                ):
                    continue
            elif size == most:
                gap = most - 1
            else:
                heap_sizes[item] = size + 1
            at = gap
            while at > 0 and (
                heap_scores[item, at - 1] < score
                or (heap_scores[item, at - 1] == score and heap_positions[item, at - 1] > position)
            ):
                heap_scores[item, at] = heap_scores[item, at - 1]
                heap_positions[item, at] = heap_positions[item, at - 1]
                heap_keys[item, 2 * at] = heap_keys[item, 2 * at - 2]
                heap_keys[item, 2 * at + 1] = heap_keys[item, 2 * at - 1]
                at -= 1
            heap_scores[item, at] = score
            heap_positions[item, at] = position
            heap_keys[item, 2 * at] = key
            heap_keys[item, 2 * at + 1] = check
