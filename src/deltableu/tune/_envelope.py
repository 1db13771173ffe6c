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
    first: cython.longlong[::1],
    steps: cython.double[::1],
    left: cython.longlong[::1],
    right: cython.longlong[::1],
) -> cython.longlong:
    """Walk along the upper envelope of each item's lines; returns the number of its corners.

    Item i has the lines `bounds[i]` up to but not `bounds[i + 1]`, of which `first[i]` is the
    highest at the left end. At `steps[k]` the line `left[k]` gives way to `right[k]`. Of equal
    lines the first counts, and of lines that cross in one point the steepest.
    """
    i: cython.longlong
    j: cython.longlong
    here: cython.longlong
    best: cython.longlong
    count: cython.longlong = 0
    rise: cython.double
    step: cython.double
    nearest: cython.double
    last: cython.double
    with cython.nogil:
        for i in range(bounds.shape[0] - 1):
            here = bounds[i]
            for j in range(bounds[i] + 1, bounds[i + 1]):
                if slopes[j] < slopes[here] or (
                    slopes[j] == slopes[here] and heights[j] > heights[here]
                ):
                    here = j
            first[i] = here
            last = 0.0
            best = 0
            nearest = 0.0
            while best >= 0:
                best = -1
                for j in range(bounds[i], bounds[i + 1]):
                    rise = slopes[j] - slopes[here]
                    if rise <= 0.0:
                        continue
                    step = (heights[here] - heights[j]) / rise
                    if best < 0 or step < nearest:
                        best = j
                        nearest = step
                    elif step == nearest and (
                        slopes[j] > slopes[best]
                        or (slopes[j] == slopes[best] and heights[j] > heights[best])
                    ):
                        best = j
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
