# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: the edits and shifts of TER, pair by pair. Nothing but loops.

Tercom's greedy search as sacreBLEU has it, with the same beam, limits and preferences. Row i of an
edit distance depends on the first i words of the hypothesis only, so a shift is tried from its
first changed row on; and once its words are again those of the unshifted hypothesis, the smallest
and the largest difference between both rows bound that of their ends. That saves nearly all of the
work, and changes no result.
"""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_row(
    word: cython.int,
    references: cython.const[cython.int][::1],
    reference: cython.longlong,
    low: cython.longlong,
    high: cython.longlong,
    before: cython.int[::1],
    above: cython.longlong,
    above_low: cython.longlong,
    table: cython.int[::1],
    row: cython.longlong,
    width: cython.longlong,
) -> cython.int:
    """Costs of columns low to high at table[row:], from those of the row before at before[above:].

    The last of them comes back.
    """
    k: cython.longlong
    at: cython.longlong = above + low - above_low
    cost: cython.int = before[at] + 1
    other: cython.int
    never: cython.int = 1 << 29
    if low > above_low:
        other = before[at - 1] + (word != references[reference + low - 1])
        if other < cost:
            cost = other
    table[row] = cost
    for k in range(1, high - low):
        other = before[at + k - 1] + (word != references[reference + low + k - 1])
        cost += 1
        if before[at + k] + 1 < cost:
            cost = before[at + k] + 1
        if other < cost:
            cost = other
        table[row + k] = cost
    for k in range(high - low, width):
        table[row + k] = never
    return cost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_table(
    first: cython.longlong,
    length: cython.longlong,
    words: cython.int[:, ::1],
    references: cython.const[cython.int][::1],
    reference: cython.longlong,
    lows: cython.longlong[::1],
    highs: cython.longlong[::1],
    table: cython.int[::1],
    width: cython.longlong,
) -> cython.int:
    """All rows after the first ones, which are right; the edit distance."""
    i: cython.longlong
    cost: cython.int = 0
    for i in range(first + 1, length + 1):
        cost = _fill_row(
            words[0, i - 1],
            references,
            reference,
            lows[i],
            highs[i],
            table,
            (i - 1) * width,
            lows[i - 1],
            table,
            i * width,
            width,
        )
    return cost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _align(
    length: cython.longlong,
    words: cython.int[:, ::1],
    references: cython.const[cython.int][::1],
    reference: cython.longlong,
    size: cython.longlong,
    lows: cython.longlong[::1],
    table: cython.int[::1],
    width: cython.longlong,
    aligned: cython.longlong[::1],
    wrong: cython.longlong[:, ::1],
) -> cython.longlong:
    """Follow the cheapest edits back: where each reference word stands, and which words are wrong.

    `wrong` becomes running sums: [0] of the hypothesis, [1] of the reference. The number of wrong
    words of the hypothesis comes back.
    """
    i: cython.longlong = length
    j: cython.longlong = size
    at: cython.longlong
    cost: cython.int
    error: cython.int
    deleted: cython.bint
    wrong[0, 0] = 0
    wrong[1, 0] = 0
    while i > 0 or j > 0:
        if i > 0 and j > 0:
            cost = table[i * width + j - lows[i]]
            error = words[0, i - 1] != references[reference + j - 1]
            at = (i - 1) * width + j - lows[i - 1]
            # Substitutions before deletions before insertions.
            if j > lows[i - 1] and table[at - 1] + error == cost:
                i -= 1
                j -= 1
                aligned[j] = i
                wrong[0, i + 1] = error
                wrong[1, j + 1] = error
                continue
            deleted = table[at] + 1 == cost
        else:
            deleted = i > 0
        if deleted:
            i -= 1
            wrong[0, i + 1] = 1
        else:
            j -= 1
            aligned[j] = i - 1
            wrong[1, j + 1] = 1
    for i in range(length):
        wrong[0, i + 1] += wrong[0, i]
    for j in range(size):
        wrong[1, j + 1] += wrong[1, j]
    return wrong[0, length]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _shift(
    start: cython.longlong,
    count: cython.longlong,
    target: cython.longlong,
    length: cython.longlong,
    words: cython.int[:, ::1],
) -> cython.longlong:
    """Put the shifted words that differ into words[1]; where they end."""
    first: cython.longlong = start
    last: cython.longlong
    middle: cython.longlong  # where the words that move aside begin
    k: cython.longlong
    if target < start:
        last = start + count
        for k in range(count):
            words[1, target + k] = words[0, start + k]
        for k in range(target, start):
            words[1, k + count] = words[0, k]
        return last
    last = target if target > start + count else target + count
    if last > length:
        last = length
    middle = start + count
    for k in range(middle, last):
        words[1, first + k - middle] = words[0, k]
    for k in range(count):
        words[1, last - count + k] = words[0, start + k]
    return last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gain(
    first: cython.longlong,
    last: cython.longlong,
    least: cython.longlong,
    length: cython.longlong,
    words: cython.int[:, ::1],
    references: cython.const[cython.int][::1],
    reference: cython.longlong,
    lows: cython.longlong[::1],
    highs: cython.longlong[::1],
    table: cython.int[::1],
    width: cython.longlong,
    rows: cython.int[::1],
    work: cython.longlong[::1],
) -> cython.longlong:
    """How many edits the shift in words[1, first:last] saves; 0 where that is less than `least`."""
    i: cython.longlong
    k: cython.longlong
    row: cython.longlong = 0
    smallest: cython.int
    largest: cython.int
    difference: cython.int
    word: cython.int
    for i in range(first + 1, length + 1):
        word = words[1, i - 1] if i <= last else words[0, i - 1]
        row = width - row
        if i == first + 1:
            _fill_row(
                word,
                references,
                reference,
                lows[i],
                highs[i],
                table,
                first * width,
                lows[first],
                rows,
                row,
                width,
            )
        else:
            _fill_row(
                word,
                references,
                reference,
                lows[i],
                highs[i],
                rows,
                width - row,
                lows[i - 1],
                rows,
                row,
                width,
            )
        work[0] += highs[i] - lows[i]
        if i < last:
            continue
        smallest = rows[row] - table[i * width]
        largest = smallest
        for k in range(1, highs[i] - lows[i]):
            difference = rows[row + k] - table[i * width + k]
            if difference < smallest:
                smallest = difference
            if difference > largest:
                largest = difference
        if -smallest < least:
            return 0
        if smallest == largest:
            return -smallest
    k = highs[length] - lows[length] - 1
    return table[length * width + k] - rows[row + k]


def count_edits(
    hypotheses: cython.const[cython.int][::1],
    hypothesis_bounds: cython.const[cython.longlong][::1],
    references: cython.const[cython.int][::1],
    reference_bounds: cython.const[cython.longlong][::1],
    owners: cython.const[cython.longlong][::1],
    beams: cython.const[cython.longlong][::1],
    widths: cython.const[cython.longlong][::1],
    words: cython.int[:, ::1],
    lows: cython.longlong[::1],
    highs: cython.longlong[::1],
    table: cython.int[::1],
    rows: cython.int[::1],
    aligned: cython.longlong[::1],
    wrong: cython.longlong[:, ::1],
    state: cython.longlong[::1],
    budget: cython.longlong,
    edits: cython.longlong[::1],
) -> cython.bint:
    """Fill `edits` with those of each pair; False if the budget of steps ends first: call again.

    All from `words` to `state` is working space, for the longest pair; `state` (12 numbers) begins
    as zeros.
    """
    # Tercom's limits of how long a shift is and how far it goes; sacreBLEU's of how many it tries.
    longest: cython.longlong = 10
    farthest: cython.longlong = 50
    candidates: cython.longlong = 1000
    never: cython.int = 1 << 29
    # Where a call goes on: the pair, whether it has begun, whether its round has; then how many
    # shifts were made and tried, where the next one may start, and the best of this round.
    pair: cython.longlong = state[0]
    begun: cython.longlong = state[1]
    scanning: cython.longlong = state[2]
    shifts: cython.longlong = state[3]
    tried: cython.longlong = state[4]
    h: cython.longlong = state[5]
    r: cython.longlong = state[6]
    saved: cython.longlong = state[7]
    best_count: cython.longlong = state[8]
    best_start: cython.longlong = state[9]
    best_target: cython.longlong = state[10]
    start: cython.longlong
    length: cython.longlong
    reference: cython.longlong
    size: cython.longlong
    width: cython.longlong
    diagonal: cython.longlong
    ratio: cython.double
    count: cython.longlong
    offset: cython.longlong
    target: cython.longlong
    previous: cython.longlong
    last: cython.longlong
    gain: cython.longlong
    i: cython.longlong
    done: cython.bint = True
    work: cython.longlong[::1] = state[11:]
    work[0] = 0
    with cython.nogil:
        while pair < owners.shape[0]:
            start = hypothesis_bounds[owners[pair]]
            length = hypothesis_bounds[owners[pair] + 1] - start
            reference = reference_bounds[pair]
            size = reference_bounds[pair + 1] - reference
            if length == 0 or size == 0:
                edits[pair] = length + size
                pair += 1
                continue
            width = widths[pair]
            if begun == 0:
                if work[0] > budget:
                    done = False
                    break
                ratio = size / cython.cast(cython.double, length)
                diagonal = 0
                lows[0] = 0
                highs[0] = size + 1 if size < width else width
                for i in range(length):
                    words[0, i] = hypotheses[start + i]
                    while diagonal + 1 <= (i + 1) * ratio:
                        diagonal += 1
                    lows[i + 1] = diagonal - beams[pair] if diagonal > beams[pair] else 0
                    highs[i + 1] = diagonal + beams[pair]
                    if highs[i + 1] > size or i + 1 == length:
                        highs[i + 1] = size + 1
                for i in range(width):
                    table[i] = cython.cast(cython.int, i) if i <= size else never
                _fill_table(0, length, words, references, reference, lows, highs, table, width)
                work[0] += length * width
                begun = 1
                scanning = 0
                shifts = 0
                tried = 0
            if scanning == 0:
                _align(
                    length, words, references, reference, size, lows, table, width, aligned, wrong
                )
                work[0] += length + size
                scanning = 1
                h = 0
                r = 0
                saved = 0
            while h < length:
                if r < h - farthest:
                    r = h - farthest
                if r >= size or r > h + farthest:
                    h += 1
                    r = 0
                    continue
                if work[0] > budget:
                    done = False
                    break
                work[0] += 1
                for count in range(1, longest + 1):
                    if h + count > length or r + count > size:
                        break
                    if words[0, h + count - 1] != references[reference + r + count - 1]:
                        break
                    if wrong[0, h + count] == wrong[0, h] or wrong[1, r + count] == wrong[1, r]:
                        continue
                    if h <= aligned[r] < h + count:
                        continue
                    previous = -1
                    for offset in range(-1, count):
                        if r + offset == -1:
                            target = 0
                        elif r + offset < size:
                            target = aligned[r + offset] + 1
                        else:
                            break
                        if target == previous:
                            continue
                        previous = target
                        tried += 1
                        last = _shift(h, count, target, length, words)
                        gain = _gain(
                            target if target < h else h,
                            last,
                            saved if saved > 0 else 1,
                            length,
                            words,
                            references,
                            reference,
                            lows,
                            highs,
                            table,
                            width,
                            rows,
                            work,
                        )
                        if gain < 1 or gain < saved:
                            continue
                        if gain == saved:
                            # Then the longest, the earliest, the nearest to the beginning.
                            if count < best_count:
                                continue
                            if count == best_count and h > best_start:
                                continue
                            if count == best_count and h == best_start and target >= best_target:
                                continue
                        saved = gain
                        best_count = count
                        best_start = h
                        best_target = target
                    if tried >= candidates:
                        break
                if tried >= candidates:
                    break
                r += 1
            if not done:
                break
            scanning = 0
            if tried < candidates and saved > 0:
                shifts += 1
                last = _shift(best_start, best_count, best_target, length, words)
                i = best_target if best_target < best_start else best_start
                h = i
                while i < last:
                    words[0, i] = words[1, i]
                    i += 1
                _fill_table(h, length, words, references, reference, lows, highs, table, width)
                work[0] += (length - h) * width
                continue
            edits[pair] = shifts + table[length * width + size - lows[length]]
            pair += 1
            begun = 0
    state[0] = pair
    state[1] = begun
    state[2] = scanning
    state[3] = shifts
    state[4] = tried
    state[5] = h
    state[6] = r
    state[7] = saved
    state[8] = best_count
    state[9] = best_start
    state[10] = best_target
    return done
