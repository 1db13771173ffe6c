# cython: language_level=3, boundscheck=False, wraparound=False, infer_types=True
# mypy: ignore-errors
"""Kernel: ranks and pairs of weighted observations, 16 weightings at once. Nothing but loops.

Where an observation stands among the others is looked up once for the 16. `weights` has a row for
each unit, such as an item: what the 16 weightings give to each observation of the unit.
"""

import cython


def ordered_pairs(
    ranks: cython.const[cython.int][::1],
    y: cython.const[cython.double][::1],
    units: cython.const[cython.int][::1],
    weights: cython.const[cython.int][:, ::1],
    limit: cython.double,
    tree: cython.int[:, ::1],
    groups: cython.int[:, ::1],
    counts: cython.double[:, ::1],
) -> None:
    """Count pairs as `ordered_counts` does, of observations sorted by y.

    `ranks` are dense ranks of x from 1. `tree` (a Fenwick tree) and `groups` are working space,
    0 at first, of more rows than there are ranks.
    """
    size = ranks.shape[0]
    places = tree.shape[0]
    i: cython.longlong
    k: cython.longlong
    place: cython.longlong
    unit: cython.longlong
    weight: cython.int
    total: cython.double
    square: cython.double
    below: cython.int[16] = [0] * 16
    entered: cython.int[16] = [0] * 16
    balance: cython.double[16] = [0.0] * 16
    decided: cython.double[16] = [0.0] * 16
    apart: cython.double[16] = [0.0] * 16
    with cython.nogil:
        i = 0
        for j in range(size):
            # Everything that lies far enough below in y has entered the tree.
            while i < j and y[j] - y[i] > limit:
                unit = units[i]
                place = ranks[i]
                for k in range(16):
                    groups[place, k] += weights[unit, k]
                    entered[k] += weights[unit, k]
                while place < places:
                    for k in range(16):
                        tree[place, k] += weights[unit, k]
                    place += place & -place
                i += 1
            unit = units[j]
            place = ranks[j]
            # Twice those below and once those beside, of all that entered: below less above.
            for k in range(16):
                below[k] = 0
            place -= 1
            while place > 0:
                for k in range(16):
                    below[k] += tree[place, k]
                place -= place & -place
            place = ranks[j]
            for k in range(16):
                weight = weights[unit, k]
                balance[k] += weight * (2 * below[k] + groups[place, k] - entered[k])
                decided[k] += weight * (entered[k] - groups[place, k])
                apart[k] += weight * entered[k]
        while i < size:
            for k in range(16):
                groups[ranks[i], k] += weights[units[i], k]
            i += 1
        for k in range(16):
            counts[0, k] = balance[k]
            counts[1, k] = decided[k]
            counts[3, k] = apart[k]
            total = 0.0
            square = 0.0
            for place in range(places):
                weight = groups[place, k]
                total += weight
                square += cython.cast(cython.double, weight) * weight
            counts[2, k] = (total * total - square) / 2.0


def middle_ranks(
    starts: cython.const[cython.int][::1],
    units: cython.const[cython.int][::1],
    weights: cython.const[cython.int][:, ::1],
    totals: cython.const[cython.int][::1],
    ranks: cython.int[:, ::1],
    squares: cython.double[::1],
) -> None:
    """Fill in twice the average rank of each group of equal observations, about the mean rank.

    Group g is observations `starts[g]` to `starts[g + 1]` in sorted order; `totals` are all
    weights. `squares` adds up the squares of these ranks over all observations.
    """
    groups = starts.shape[0] - 1
    i: cython.longlong
    k: cython.longlong
    unit: cython.longlong
    before: cython.int[16] = [0] * 16
    own: cython.int[16] = [0] * 16
    with cython.nogil:
        for g in range(groups):
            for k in range(16):
                own[k] = 0
            for i in range(starts[g], starts[g + 1]):
                unit = units[i]
                for k in range(16):
                    own[k] += weights[unit, k]
            for k in range(16):
                ranks[g, k] = 2 * before[k] + own[k] - totals[k]
                before[k] += own[k]
                squares[k] += (
                    cython.cast(cython.double, own[k])
                    * cython.cast(cython.double, ranks[g, k])
                    * cython.cast(cython.double, ranks[g, k])
                )


def rank_products(
    groups: cython.const[cython.int][::1],
    others: cython.const[cython.int][::1],
    units: cython.const[cython.int][::1],
    weights: cython.const[cython.int][:, ::1],
    ranks: cython.const[cython.int][:, ::1],
    other_ranks: cython.const[cython.int][:, ::1],
    sums: cython.double[::1],
) -> None:
    """Add up the products of both ranks of each observation, which is in a group of each side."""
    size = groups.shape[0]
    k: cython.longlong
    group: cython.longlong
    other: cython.longlong
    unit: cython.longlong
    added: cython.double[16] = [0.0] * 16
    with cython.nogil:
        for i in range(size):
            group = groups[i]
            other = others[i]
            unit = units[i]
            for k in range(16):
                added[k] += (
                    cython.cast(cython.double, weights[unit, k])
                    * cython.cast(cython.double, ranks[group, k])
                    * cython.cast(cython.double, other_ranks[other, k])
                )
        for k in range(16):
            sums[k] += added[k]
