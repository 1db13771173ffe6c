"""Kernels: averages of word vectors, and dot products in a fixed order.

Nothing but loops; see `deltableu.mine.embedding`.
"""

import cython


@cython.boundscheck(False)
@cython.wraparound(False)
def average_words(
    terms: cython.const[cython.int][::1],
    bounds: cython.const[cython.longlong][::1],
    vectors: cython.const[cython.float][:, ::1],
    unknown: cython.int,
    sums: cython.double[::1],
    averages: cython.double[:, ::1],
) -> None:
    """Fill `averages` with the mean vector of each text's words.

    A word without a vector (-1) has that of `unknown`; where that is -1 too, it does not count.
    `sums` is scratch.
    """
    dimension: cython.longlong = vectors.shape[1]
    i: cython.longlong
    k: cython.longlong
    d: cython.longlong
    term: cython.int
    count: cython.double
    with cython.nogil:
        for i in range(bounds.shape[0] - 1):
            count = 0.0
            for d in range(dimension):
                sums[d] = 0.0
            for k in range(bounds[i], bounds[i + 1]):
                term = terms[k]
                if term < 0:
                    term = unknown
                if term >= 0:
                    count += 1.0
                    _add(vectors, term, sums)
            if count == 0.0:
                count = 1.0
            for d in range(dimension):
                averages[i, d] = sums[d] / count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _add(
    vectors: cython.const[cython.float][:, ::1], row: cython.int, sums: cython.double[::1]
) -> cython.int:
    """Add a row; returns 0."""
    d: cython.longlong
    for d in range(sums.shape[0]):
        sums[d] += vectors[row, d]
    return 0


@cython.boundscheck(False)
@cython.wraparound(False)
def dot_products(
    left: cython.const[cython.double][:, ::1],
    right: cython.const[cython.double][:, ::1],
    left_rows: cython.const[cython.longlong][::1],
    right_rows: cython.const[cython.int][::1],
    products: cython.double[::1],
) -> None:
    """Fill `products`, each summed from the first dimension to the last."""
    i: cython.longlong
    d: cython.longlong
    a: cython.longlong
    b: cython.longlong
    total: cython.double
    with cython.nogil:
        for i in range(left_rows.shape[0]):
            a = left_rows[i]
            b = right_rows[i]
            total = 0.0
            for d in range(left.shape[1]):
                total += left[a, d] * right[b, d]
            products[i] = total
