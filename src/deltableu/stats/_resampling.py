# cython: language_level=3, boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernel: sums of drawn rows, trial by trial. Nothing but loops.

Rows of a trial are added in a fixed order, so that sums do not depend on the number of threads.
"""

import cython


def sum_counted(
    rows: cython.const[cython.double][:, ::1],
    draws: cython.const[cython.int][:, ::1],
    counts: cython.int[:, ::1],
    sums: cython.double[:, ::1],
    tile: cython.longlong,
) -> None:
    """Add to each trial's sums the rows that it drew, as often as it drew them.

    `counts` is working space for how often each trial drew each row, 0 at first. Counted rows are
    gone through in order, some at a time for all trials, so that they are read from the cache
    however many there are; four at once, so that a sum is read and written once for all four.
    """
    trials = draws.shape[0]
    size = draws.shape[1]
    columns = rows.shape[1]
    tiles = (size + tile - 1) // tile
    with cython.nogil:
        for trial in range(trials):
            for i in range(size):
                counts[trial, draws[trial, i]] += 1
        for number in range(tiles):
            end = min(size, (number + 1) * tile)
            fours = end - (end - number * tile) % 4
            for trial in range(trials):
                for i in range(number * tile, fours, 4):
                    first = counts[trial, i]
                    second = counts[trial, i + 1]
                    third = counts[trial, i + 2]
                    fourth = counts[trial, i + 3]
                    for column in range(columns):
                        sums[trial, column] += (
                            first * rows[i, column] + second * rows[i + 1, column]
                        ) + (third * rows[i + 2, column] + fourth * rows[i + 3, column])
                for i in range(fours, end):
                    first = counts[trial, i]
                    for column in range(columns):
                        sums[trial, column] += first * rows[i, column]


def sum_chosen(
    rows: cython.const[cython.double][:, ::1],
    choices: cython.const[cython.uchar][:, ::1],
    table: cython.double[:, ::1],
    sums: cython.double[:, ::1],
) -> None:
    """Add to each trial's sums the rows whose bit is set in its choices, eight rows a byte.

    `table` is working space for the sums of all 256 subsets of eight rows: each is added up once,
    not once a trial. It has as many columns as are gone through at once, few enough for the cache.
    Bits beyond the last row count nothing.
    """
    trials = choices.shape[0]
    blocks = choices.shape[1]
    size = rows.shape[0]
    columns = rows.shape[1]
    width = table.shape[1]
    tiles = (columns + width - 1) // width
    with cython.nogil:
        for column in range(width):
            table[0, column] = 0.0
        for tile in range(tiles):
            left = tile * width
            end = min(width, columns - left)
            for block in range(blocks):
                for bit in range(8):
                    row = 8 * block + bit
                    for subset in range(1 << bit, 2 << bit):
                        for column in range(end):
                            table[subset, column] = table[subset - (1 << bit), column]
                            if row < size:
                                table[subset, column] += rows[row, left + column]
                for trial in range(trials):
                    subset = choices[trial, block]
                    for column in range(end):
                        sums[trial, left + column] += table[subset, column]


def sum_assigned(
    rows: cython.const[cython.double][:, ::1],
    units: cython.const[cython.int][:, ::1],
    sums: cython.double[:, :, ::1],
    tile: cython.longlong,
) -> None:
    """Add each row to the sums of the unit that it is in, trial by trial; -1 is in none.

    Some rows at a time for all trials, so that they are read from the cache.
    """
    trials = units.shape[0]
    size = units.shape[1]
    columns = rows.shape[1]
    tiles = (size + tile - 1) // tile
    with cython.nogil:
        for number in range(tiles):
            end = min(size, (number + 1) * tile)
            for trial in range(trials):
                for i in range(number * tile, end):
                    unit = units[trial, i]
                    if unit >= 0:
                        for column in range(columns):
                            sums[trial, unit, column] += rows[i, column]


def shuffle_rows(orders: cython.int[:, ::1], draws: cython.const[cython.longlong][:, ::1]) -> None:
    """Fill each row with 0, 1, ... in random order, from as many random numbers below 2**32.

    Fisher and Yates from the left: each number goes to a random one of the places so far, and what
    was there goes to the end.
    """
    trials = orders.shape[0]
    size = orders.shape[1]
    with cython.nogil:
        for trial in range(trials):
            for i in range(size):
                place = (draws[trial, i] * (i + 1)) >> 32
                orders[trial, i] = orders[trial, place]
                orders[trial, place] = i
