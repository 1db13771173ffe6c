# cython: language_level=3, boundscheck=False, wraparound=False, infer_types=True
# mypy: ignore-errors
"""Kernel: pairs of observations compared, many columns at once. Nothing but loops.

Comparisons with NaN are false, so that a missing observation is in no pair.
"""

import cython


def pair_counts(
    x: cython.const[cython.double][:, :, ::1],
    y: cython.const[cython.double][:, :, ::1],
    limit: cython.double,
    counts: cython.longlong[:, :, ::1],
) -> None:
    """Add to each column's counts its pairs of rows (s, t).

    `counts[b]` holds concordant minus discordant pairs, concordant plus discordant pairs, pairs
    that differ in x, and pairs that differ in y by more than `limit`: only these can be
    concordant or discordant. `y` may be one table for all of `x`.
    """
    batches = x.shape[0]
    rows = x.shape[1]
    columns = x.shape[2]
    shared: cython.bint = y.shape[0] == 1
    x_up: cython.longlong
    x_down: cython.longlong
    y_up: cython.longlong
    y_down: cython.longlong
    same: cython.longlong
    opposite: cython.longlong
    with cython.nogil:
        for b in range(batches):
            other = 0 if shared else b
            # A block of columns stays in the cache while all pairs of rows pass over it.
            for first in range(0, columns, 512):
                last = first + 512
                if last > columns:
                    last = columns
                for s in range(rows - 1):
                    for t in range(s + 1, rows):
                        for i in range(first, last):
                            x_up = x[b, s, i] > x[b, t, i]
                            x_down = x[b, s, i] < x[b, t, i]
                            y_up = y[other, s, i] - y[other, t, i] > limit
                            y_down = y[other, t, i] - y[other, s, i] > limit
                            same = (x_up & y_up) | (x_down & y_down)
                            opposite = (x_up & y_down) | (x_down & y_up)
                            counts[b, 0, i] += same - opposite
                            counts[b, 1, i] += same + opposite
                            counts[b, 2, i] += x_up | x_down
                            counts[b, 3, i] += y_up | y_down


def sign_sums(
    x: cython.const[cython.double][:, :, ::1],
    sums: cython.double[:, :, ::1],
) -> None:
    """Add up, for each row of each column, the rows below it minus the rows above it.

    That is twice the average rank minus its mean.
    """
    batches = x.shape[0]
    rows = x.shape[1]
    columns = x.shape[2]
    up: cython.int
    down: cython.int
    sign: cython.double
    with cython.nogil:
        for b in range(batches):
            for first in range(0, columns, 512):
                last = first + 512
                if last > columns:
                    last = columns
                for s in range(rows - 1):
                    for t in range(s + 1, rows):
                        for i in range(first, last):
                            up = x[b, s, i] > x[b, t, i]
                            down = x[b, s, i] < x[b, t, i]
                            sign = up - down
                            sums[b, s, i] += sign
                            sums[b, t, i] -= sign


def ordered_counts(
    ranks: cython.const[cython.longlong][:, ::1],
    y: cython.const[cython.double][:, ::1],
    weights: cython.const[cython.longlong][:, ::1],
    limit: cython.double,
    tree: cython.longlong[::1],
    groups: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
) -> None:
    """Count as `pair_counts` does, for long columns, here in rows sorted by y.

    `ranks` are dense ranks of x from 1; an observation counts as often as its weight says.
    `y` and `weights` may be one row for all. `tree` (a Fenwick tree) and `groups` are working
    space of more places than there are ranks.
    """
    batches = counts.shape[0]
    size = ranks.shape[1]
    places = tree.shape[0]
    i: cython.longlong
    place: cython.longlong
    below: cython.longlong
    entered: cython.longlong
    concordant: cython.longlong
    decided: cython.longlong
    apart: cython.longlong
    total: cython.longlong
    squares: cython.longlong
    with cython.nogil:
        for b in range(batches):
            r = 0 if ranks.shape[0] == 1 else b
            v = 0 if y.shape[0] == 1 else b
            w = 0 if weights.shape[0] == 1 else b
            for place in range(places):
                tree[place] = 0
                groups[place] = 0
            i = 0
            entered = 0
            concordant = 0
            decided = 0
            apart = 0
            for j in range(size):
                # Everything that lies far enough below in y has entered the tree.
                while i < j and y[v, j] - y[v, i] > limit:
                    weight = weights[w, i]
                    place = ranks[r, i]
                    groups[place] += weight
                    entered += weight
                    while place < places:
                        tree[place] += weight
                        place += place & -place
                    i += 1
                weight = weights[w, j]
                if weight == 0:
                    continue
                below = 0
                place = ranks[r, j] - 1
                while place > 0:
                    below += tree[place]
                    place -= place & -place
                level = groups[ranks[r, j]]
                concordant += weight * below
                decided += weight * (entered - level)
                apart += weight * entered
            while i < size:
                groups[ranks[r, i]] += weights[w, i]
                i += 1
            total = 0
            squares = 0
            for place in range(places):
                total += groups[place]
                squares += groups[place] * groups[place]
            counts[b, 0] = 2 * concordant - decided
            counts[b, 1] = decided
            counts[b, 2] = (total * total - squares) >> 1
            counts[b, 3] = apart


def tie_gains(
    x: cython.const[cython.double][::1],
    y: cython.const[cython.double][::1],
    edges: cython.const[cython.double][::1],
    tied: cython.longlong[::1],
    concordant: cython.longlong[::1],
) -> None:
    """Count pairs tied in y and concordant pairs by their difference in x, which is sorted.

    Bin k holds differences above edge k - 1 up to edge k. The first bin is for pairs tied in x,
    which are not concordant. The last edge is at least the largest difference.
    """
    size = x.shape[0]
    last = edges.shape[0] - 1
    k: cython.longlong
    ties: cython.longlong
    ups: cython.longlong
    with cython.nogil:
        for i in range(size - 1):
            for_x = x[i]
            for_y = y[i]
            k = 0
            ties = 0
            ups = 0
            for j in range(i + 1, size):
                if x[j] - for_x > edges[k]:
                    tied[k] += ties
                    if k > 0:
                        concordant[k] += ups
                    ties = 0
                    ups = 0
                    while k < last and x[j] - for_x > edges[k]:
                        k += 1
                ties += y[j] == for_y
                ups += y[j] > for_y
            tied[k] += ties
            if k > 0:
                concordant[k] += ups


def moving_pairs(
    x: cython.const[cython.double][:, ::1],
    y: cython.const[cython.double][:, ::1],
    shares: cython.const[cython.double][::1],
    noise: cython.double,
    distances: cython.double[::1],
    gains: cython.double[::1],
    found: cython.double[::1],
) -> None:
    """List the pairs of rows within a column that are tied in y but not in x, or concordant.

    `distances` are between their x, `gains` their column's share, negative where concordant. Both
    have a place more than there are pairs. `found` is how many were listed, and the shares of those
    concordant, or tied on both sides. Differences of x up to `noise` are ties.
    """
    rows = x.shape[0]
    columns = x.shape[1]
    count: cython.longlong = 0
    base: cython.double = 0.0
    part: cython.double
    same: cython.bint
    tied: cython.bint
    with cython.nogil:
        for s in range(rows - 1):
            for t in range(s + 1, rows):
                part = 0.0
                for i in range(columns):
                    apart = x[s, i] - x[t, i]
                    order = y[s, i] - y[t, i]
                    size = apart if apart >= 0.0 else -apart
                    tied = order == 0.0
                    same = ((apart > noise) & (order > 0.0)) | ((apart < -noise) & (order < 0.0))
                    # Written in any case, and kept or not: there is no guessing which.
                    distances[count] = size
                    gains[count] = shares[i] if tied else -shares[i]
                    count += same | (tied & (size > noise))
                    part += shares[i] if same | (tied & (size <= noise)) else 0.0
                base += part
        found[0] = count
        found[1] = base
