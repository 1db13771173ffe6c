# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernels: sums of word vectors, and dot products in a fixed order.

Nothing but loops; see `.encoders`.
"""

import cython


def add_words(
    terms: cython.const[cython.int][::1],
    bounds: cython.const[cython.longlong][::1],
    vectors: cython.const[cython.float][:, ::1],
    unknown: cython.int,
    sums: cython.double[:, ::1],
    squares: cython.double[::1],
) -> None:
    """Add the vectors of each text's words to `sums`, which is 0, and fill their squared lengths.

    A word without a vector (-1) has that of `unknown`; where that is -1 too, it does not count.
    """
    i: cython.longlong
    k: cython.longlong
    d: cython.longlong
    term: cython.int
    with cython.nogil:
        for i in range(bounds.shape[0] - 1):
            for k in range(bounds[i], bounds[i + 1]):
                term = terms[k]
                if term < 0:
                    term = unknown
                if term >= 0:
                    _add(vectors, term, sums, i)
            squares[i] = 0.0
            for d in range(sums.shape[1]):
                squares[i] += sums[i, d] * sums[i, d]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add(
    vectors: cython.const[cython.float][:, ::1],
    row: cython.int,
    sums: cython.double[:, ::1],
    text: cython.longlong,
) -> cython.int:
    """Add a word's vector to a text's; returns 0."""
    d: cython.longlong
    for d in range(sums.shape[1]):
        sums[text, d] += vectors[row, d]
    return 0


def dot_products(
    left: cython.const[cython.double][:, ::1],
    right: cython.const[cython.double][:, ::1],
    left_rows: cython.const[cython.longlong][::1],
    right_rows: cython.const[cython.int][::1],
    products: cython.double[::1],
) -> None:
    """Fill `products`; every fourth dimension has its own sum, and these are added at the end.

    One sum would wait for each addition; so many, in this order, whatever the machine.
    """
    i: cython.longlong
    d: cython.longlong
    a: cython.longlong
    b: cython.longlong
    size: cython.longlong = left.shape[1]
    whole: cython.longlong = size - size % 4
    first: cython.double
    second: cython.double
    third: cython.double
    fourth: cython.double
    with cython.nogil:
        for i in range(left_rows.shape[0]):
            a = left_rows[i]
            b = right_rows[i]
            first = second = third = fourth = 0.0
            d = 0
            while d < whole:
                first += left[a, d] * right[b, d]
                second += left[a, d + 1] * right[b, d + 1]
                third += left[a, d + 2] * right[b, d + 2]
                fourth += left[a, d + 3] * right[b, d + 3]
                d += 4
            while d < size:
                first += left[a, d] * right[b, d]
                d += 1
            products[i] = (first + second) + (third + fourth)
