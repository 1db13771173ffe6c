# cython: boundscheck=False, wraparound=False, infer_types=True, cdivision=True
# mypy: ignore-errors
"""Kernel: one pass of GloVe's AdaGrad. Nothing but loops; see `deltableu.vectors.training`."""

import cython

if cython.compiled:
    from cython.cimports.libc.math import sqrtf
else:
    from math import sqrt as sqrtf


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _dot(
    vectors: cython.const[cython.float][:, :, ::1], i: cython.longlong, j: cython.longlong
) -> cython.float:
    """The main vector of i times the context vector of j; the size is a multiple of 8."""
    s0: cython.float = 0.0
    s1: cython.float = 0.0
    s2: cython.float = 0.0
    s3: cython.float = 0.0
    s4: cython.float = 0.0
    s5: cython.float = 0.0
    s6: cython.float = 0.0
    s7: cython.float = 0.0
    for d in range(0, vectors.shape[2], 8):
        s0 += vectors[i, 0, d] * vectors[j, 1, d]
        s1 += vectors[i, 0, d + 1] * vectors[j, 1, d + 1]
        s2 += vectors[i, 0, d + 2] * vectors[j, 1, d + 2]
        s3 += vectors[i, 0, d + 3] * vectors[j, 1, d + 3]
        s4 += vectors[i, 0, d + 4] * vectors[j, 1, d + 4]
        s5 += vectors[i, 0, d + 5] * vectors[j, 1, d + 5]
        s6 += vectors[i, 0, d + 6] * vectors[j, 1, d + 6]
        s7 += vectors[i, 0, d + 7] * vectors[j, 1, d + 7]
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _update(
    vectors: cython.float[:, :, ::1], i: cython.longlong, j: cython.longlong, step: cython.float
) -> cython.int:
    """AdaGrad on the main vector of i and the context vector of j; returns 0."""
    x: cython.float
    y: cython.float
    dx: cython.float
    dy: cython.float
    gx: cython.float
    gy: cython.float
    for d in range(vectors.shape[2]):
        x = vectors[i, 0, d]
        y = vectors[j, 1, d]
        gx = vectors[i, 2, d]
        gy = vectors[j, 3, d]
        dx = step * y
        dy = step * x
        vectors[i, 0, d] = x - dx / sqrtf(gx)
        vectors[j, 1, d] = y - dy / sqrtf(gy)
        vectors[i, 2, d] = gx + dx * dx
        vectors[j, 3, d] = gy + dy * dy
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _learn(
    vectors: cython.float[:, :, ::1],
    biases: cython.float[:, ::1],
    i: cython.longlong,
    j: cython.longlong,
    log: cython.float,
    weight: cython.float,
    rate: cython.float,
) -> cython.double:
    """One step for X_ij; returns its part of the loss, equation 8 of the paper."""
    difference: cython.float = _dot(vectors, i, j) + biases[i, 0] + biases[j, 1] - log
    step: cython.float = weight * difference
    loss: cython.double = 0.5 * step * difference
    step *= rate
    _update(vectors, i, j, step)
    biases[i, 0] -= step / sqrtf(biases[i, 2])
    biases[j, 1] -= step / sqrtf(biases[j, 3])
    biases[i, 2] += step * step
    biases[j, 3] += step * step
    return loss


def train(
    vectors: cython.float[:, :, ::1],
    biases: cython.float[:, ::1],
    pairs: cython.const[cython.int][:, ::1],
    values: cython.const[cython.float][:, ::1],
    rate: cython.float,
) -> cython.double:
    """One step for X_ij and one for X_ji of every pair, of which `values` has log and weight.

    `vectors` and `biases` have for each word: main, context, and the sums of squares of both.
    """
    loss: cython.double = 0.0
    with cython.nogil:
        for n in range(pairs.shape[0]):
            i = pairs[n, 0]
            j = pairs[n, 1]
            loss += _learn(vectors, biases, i, j, values[n, 0], values[n, 1], rate)
            if i != j:
                loss += _learn(vectors, biases, j, i, values[n, 0], values[n, 1], rate)
    return loss
