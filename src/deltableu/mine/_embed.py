# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: who is near enough. Nothing but loops; see `.embedding`."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _any_over(
    rough: cython.const[cython.float][:, ::1],
    row: cython.longlong,
    begin: cython.longlong,
    limits: cython.const[cython.float][::1],
) -> cython.int:
    """Whether one of 64 scores exceeds its limit."""
    found: cython.int = 0
    k: cython.longlong
    for k in range(64):
        found |= rough[row, begin + k] > limits[begin + k]
    return found


def find_over(
    rough: cython.const[cython.float][:, ::1],
    limits: cython.const[cython.float][::1],
    admitted: cython.const[cython.uchar][::1],
    found_rows: cython.longlong[::1],
    found_items: cython.int[::1],
    progress: cython.longlong[::1],
) -> cython.longlong:
    """Find the scores that exceed their item's limit; returns their number.

    Stops where those of another row might not fit; `progress[0]` is the first row not seen.
    """
    items: cython.longlong = rough.shape[1]
    capacity: cython.longlong = found_items.shape[0]
    count: cython.longlong = 0
    row: cython.longlong = 0
    begin: cython.longlong
    end: cython.longlong
    k: cython.longlong
    with cython.nogil:
        while row < rough.shape[0] and count + items <= capacity:
            begin = 0
            while admitted[row] and begin < items:
                end = begin + 64
                if end > items:
                    end = items
                elif _any_over(rough, row, begin, limits) == 0:
                    begin = end
                    continue
                for k in range(begin, end):
                    if rough[row, k] > limits[k]:
                        found_rows[count] = row
                        found_items[count] = k
                        count += 1
                begin = end
            row += 1
        progress[0] = row
    return count
