# cython: boundscheck=False, wraparound=False
# cython: cdivision=True
# mypy: ignore-errors
"""Kernel: which of an item's lines is the highest, from left to right.

Nothing but loops; see `deltableu.tune.line_search`.
"""

import cython


def upper_envelopes(
    heights: cython.const[cython.double][::1],
    slopes: cython.const[cython.double][::1],
    bounds: cython.const[cython.longlong][::1],
    steeper: cython.longlong[::1],
    first: cython.longlong[::1],
    steps: cython.double[::1],
    left: cython.longlong[::1],
    right: cython.longlong[::1],
) -> cython.longlong:
    """Walk along the upper envelope of each item's lines; returns the number of its corners.

    Item i has the lines `bounds[i]` up to but not `bounds[i + 1]`, of which `first[i]` is the
    highest at the left end. At `steps[k]` the line `left[k]` gives way to `right[k]`. Of equal
    lines the first counts, and of lines that cross in one point the steepest. `steeper` has room
    for the longest list: the lines that may still come, in their order.
    """
    i: cython.longlong
    j: cython.longlong
    k: cython.longlong
    size: cython.longlong
    kept: cython.longlong
    here: cython.longlong
    best: cython.longlong
    count: cython.longlong = 0
    height: cython.double
    slope: cython.double
    rise: cython.double
    step: cython.double
    nearest: cython.double
    last: cython.double
    with cython.nogil:
        for i in range(bounds.shape[0] - 1):
            here = bounds[i]
            size = bounds[i + 1] - bounds[i]
            for k in range(size):
                j = bounds[i] + k
                steeper[k] = j
                if slopes[j] < slopes[here] or (
                    slopes[j] == slopes[here] and heights[j] > heights[here]
                ):
                    here = j
            first[i] = here
            last = 0.0
            while size > 0:
                best = -1
                nearest = 0.0
                kept = 0
                height = heights[here]
                slope = slopes[here]
                for k in range(size):
                    j = steeper[k]
                    rise = slopes[j] - slope
                    if rise <= 0.0:
                        continue
                    steeper[kept] = j
                    kept += 1
                    step = (height - heights[j]) / rise
                    if best < 0 or step < nearest:
                        best = j
                        nearest = step
                    elif step == nearest and (
                        slopes[j] > slopes[best]
                        or (slopes[j] == slopes[best] and heights[j] > heights[best])
                    ):
                        best = j
                size = kept
                if best >= 0:
                    # Rounding must not turn two corners round.
                    if here != first[i] and nearest < last:
                        nearest = last
                    last = nearest
                    steps[count] = nearest
                    left[count] = here
                    right[count] = best
                    count += 1
                    here = best
    return count
