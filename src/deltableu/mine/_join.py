# cython: boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernels of the exact top-k join: BM25 of log rows against the items.

Nothing but loops; see `deltableu.mine.bm25` and `deltableu.mine.upper_bounds`.
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
    most: cython.double[::1],
) -> cython.int:
    """Fill the term frequency parts of a row in `values`, its terms in `present`; their number.

    `shape` is (k1 * (1 - b), k1 * b / average length, factor). `most` gets the part of a term that
    is there once, and the largest one.
    """
    mask: cython.ulonglong = terms.shape[0] - 1
    norm: cython.double = shape[0] + shape[1] * (end - begin)
    count: cython.int = 0
    tf: cython.double
    most[0] = shape[2] / (1.0 + norm)
    most[1] = 0.0
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
        if values[term] > most[1]:
            most[1] = values[term]
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _less(lack: cython.uchar, worth: cython.uchar) -> cython.uchar:
    """The difference, 0 at least: two instructions for 16 items."""
    more: cython.uchar = lack if lack > worth else worth
    return more - worth


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _begin(
    lacks: cython.uchar[::1],
    needs: cython.const[cython.uchar][:, ::1],
    level: cython.longlong,
    dense: cython.const[cython.uchar][:, ::1],
    rows: cython.const[cython.int][::1],
) -> cython.int:
    """Fill `lacks` with what items still need after four dense terms; returns 0."""
    lack: cython.uchar
    first = rows[0]
    second = rows[1]
    third = rows[2]
    fourth = rows[3]
    for k in range(lacks.shape[0]):
        lack = _less(_less(needs[level, k], dense[first, k]), dense[second, k])
        lacks[k] = _less(_less(lack, dense[third, k]), dense[fourth, k])
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _take_two(
    lacks: cython.uchar[::1],
    dense: cython.const[cython.uchar][:, ::1],
    first: cython.int,
    second: cython.int,
) -> cython.int:
    """Take two dense terms off `lacks`; returns 0."""
    for k in range(lacks.shape[0]):
        lacks[k] = _less(_less(lacks[k], dense[first, k]), dense[second, k])
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _take_four(
    lacks: cython.uchar[::1],
    dense: cython.const[cython.uchar][:, ::1],
    rows: cython.const[cython.int][::1],
    begin: cython.int,
) -> cython.int:
    """Take four dense terms off `lacks`; returns 0."""
    lack: cython.uchar
    first = rows[begin]
    second = rows[begin + 1]
    third = rows[begin + 2]
    fourth = rows[begin + 3]
    for k in range(lacks.shape[0]):
        lack = _less(_less(lacks[k], dense[first, k]), dense[second, k])
        lacks[k] = _less(_less(lack, dense[third, k]), dense[fourth, k])
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _times(ratio: cython.double, share: cython.double, most: cython.int) -> cython.int:
    """How many shares are more than a ratio; `most` of them empty all bytes."""
    times: cython.int = 1
    while times < most and times * share <= ratio:
        times += 1
    return times


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _find_terms(
    present: cython.const[cython.int][::1],
    distinct: cython.int,
    values: cython.const[cython.double][::1],
    once: cython.double,
    share: cython.double,
    places: cython.const[cython.longlong][::1],
    offset: cython.longlong,
    again: cython.longlong,
    rows: cython.int[::1],
    lists: cython.longlong[:, ::1],
    counts: cython.int[::1],
) -> cython.int:
    """Add terms to `rows`, those that are dense, and to `lists`, with their sixteenths; returns 0.

    `counts` are the numbers of both. The row of what a term is worth more where it is repeated is
    `again` after its own.
    """
    dense: cython.int = counts[0]
    sparse: cython.int = counts[1]
    for i in range(distinct):
        place = places[present[i] + offset]
        # Without a branch: which terms are dense cannot be foreseen.
        rows[dense] = max(-place, 0)
        dense += place < 0
        lists[sparse, 0] = place
        lists[sparse, 1] = 16
        if values[present[i]] != once:
            if place < 0:
                for _ in range(_times(values[present[i]] / once - 1.0, share, 255)):
                    rows[dense] = again - place
                    dense += 1
            else:
                lists[sparse, 1] = _times(values[present[i]] / once, 0.0625, 4096)
        sparse += place > 0
    counts[0] = dense
    counts[1] = sparse
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_lists(
    lists: cython.const[cython.longlong][:, ::1],
    count: cython.int,
    codes: cython.const[cython.uint][::1],
    lacks: cython.uchar[::1],
) -> cython.int:
    """Take terms that few items have off `lacks`; returns 0."""
    lack: cython.int
    code: cython.uint
    sixteenths: cython.int
    for i in range(count):
        begin = lists[i, 0] >> 24
        end = begin + (lists[i, 0] & 0xFFFFFF)
        sixteenths = lists[i, 1]
        if sixteenths == 16:
            for k in range(begin, end):
                code = codes[k]
                lack = lacks[code >> 8]
                lack -= cython.cast(cython.int, code & 255)
                lacks[code >> 8] = lack if lack > 0 else 0
        else:
            for k in range(begin, end):
                code = codes[k]
                lack = lacks[code >> 8]
                lack -= (cython.cast(cython.int, code & 255) * sixteenths + 15) >> 4
                lacks[code >> 8] = lack if lack > 0 else 0
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reach(
    lacks: cython.const[cython.uchar][::1],
    eights: cython.const[cython.ulonglong][::1],
    reached: cython.int[::1],
) -> cython.int:
    """Fill `reached` with the items that lack nothing; returns their number.

    `eights` is the same memory, eight items a number.
    """
    ones: cython.ulonglong = 0x0101010101010101
    tops: cython.ulonglong = 0x8080808080808080
    count: cython.int = 0
    found: cython.uchar
    for begin in range(0, lacks.shape[0], 256):
        found = 0
        for k in range(256):
            found |= lacks[begin + k] == 0
        if found:
            for eight in range(begin >> 3, (begin >> 3) + 32):
                # Whether one of the bytes is 0.
                if (eights[eight] - ones) & ~eights[eight] & tops:
                    for k in range(8 * eight, 8 * eight + 8):
                        reached[count] = k
                        count += lacks[k] == 0
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
    second_lanes: cython.const[cython.ulonglong][::1],
    second_bounds: cython.const[cython.longlong][::1],
    second_shape: cython.const[cython.double][::1],
    second_query_bounds: cython.const[cython.longlong][::1],
    second_query_terms: cython.const[cython.int][::1],
    second_query_weights: cython.const[cython.double][::1],
    second_totals: cython.const[cython.double][::1],
    slope: cython.double,
    constant: cython.double,
    least: cython.double,
    levels: cython.const[cython.double][::1],
    needs: cython.const[cython.uchar][:, ::1],
    share: cython.double,
    places: cython.const[cython.longlong][::1],
    codes: cython.const[cython.uint][::1],
    dense: cython.const[cython.uchar][:, ::1],
    tally: cython.longlong[::1],
    thresholds: cython.const[cython.double][::1],
    values: cython.double[::1],
    others: cython.double[::1],
    present: cython.int[::1],
    other_present: cython.int[::1],
    most: cython.double[::1],
    other_most: cython.double[::1],
    lacks: cython.uchar[::1],
    eights: cython.const[cython.ulonglong][::1],
    rows: cython.int[::1],
    lists: cython.longlong[:, ::1],
    counts: cython.int[::1],
    reached: cython.int[::1],
    candidate_items: cython.int[::1],
    candidate_rows: cython.longlong[::1],
    candidate_scores: cython.double[::1],
    progress: cython.longlong[::1],
) -> cython.longlong:
    """Score rows against the items they may be good enough for; returns the number of candidates.

    The score is `s1 * (slope * s2 + constant)`, s1 and s2 being BM25 of the first and second
    field. Only what exceeds an item's threshold is a candidate. Items that a row might be good
    enough for, which the bytes of `UpperBounds` tell, are scored exactly. `values` and `others` are
    scratch, all 0; `lacks`, and `eights`, which is the same memory, are padded to a multiple of
    256. `tally` gets what was looked at.
    Stops where the candidates of another row might not fit; `progress[0]` is the first row
    not scored.
    """
    items: cython.longlong = thresholds.shape[0]
    size: cython.longlong = values.shape[0]
    again: cython.longlong = dense.shape[0] // 2
    capacity: cython.longlong = candidate_items.shape[0]
    count: cython.longlong = 0
    row: cython.longlong = begin
    level: cython.longlong
    other_distinct: cython.int = 0
    at: cython.int
    count_reached: cython.int
    cap: cython.double
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
                most,
            )
            if distinct == 0:
                row += 1
                continue
            cap = most[0]
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
                    other_most,
                )
                cap *= max(other_most[0], least)
            # The lowest cap that is not below the row's.
            level = 0
            while level + 1 < levels.shape[0] and cap <= levels[level + 1]:
                level += 1
            counts[0] = 0
            counts[1] = 0
            _find_terms(
                present, distinct, values, most[0], share, places, 0, again, rows, lists, counts
            )
            if slope != 0.0:
                _find_terms(
                    other_present,
                    other_distinct,
                    others,
                    other_most[0],
                    share,
                    places,
                    size,
                    again,
                    rows,
                    lists,
                    counts,
                )
            # The first row of all is 0.
            for k in range(counts[0], counts[0] + 4):
                rows[k] = 0
            _begin(lacks, needs, level, dense, rows)
            at = 4
            while at + 2 < counts[0]:
                _take_four(lacks, dense, rows, at)
                at += 4
            if at < counts[0]:
                _take_two(lacks, dense, rows[at], rows[at + 1])
            _take_lists(lists, counts[1], codes, lacks)
            count_reached = _reach(lacks, eights, reached)
            tally[0] += count_reached
            for i in range(count_reached):
                item = reached[i]
                score = _exact(
                    item, first_query_bounds, first_query_terms, first_query_weights, values
                )
                if slope != 0.0:
                    other = slope * other_most[1] * second_totals[item] + constant
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
