# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: spans of bytes -> keys of 128 bits. Nothing but loops; see `deltableu.text.keys`.

The key of up to 15 bytes is exact. Its second half is the last 7 of them, with their number as its
leading byte; its first half is the first 8, mixed one to one with the other half. The key of more
bytes is what `hashlib.blake2b(span, digest_size=16)` gives, which would need a Python object for
each; where it might be taken for an exact one, its leading four bits are set.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _first(h: cython.ulonglong, last: cython.ulonglong) -> cython.ulonglong:
    """The first half of a key, from 8 bytes and the other half."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    golden: cython.ulonglong = 0x9E3779B97F4A7C15
    multiplier: cython.ulonglong = 0xD6E8FEB86659FD93
    h ^= (last * golden) & mask
    h ^= h >> 32
    h = (h * multiplier) & mask
    h ^= h >> 29
    h = (h * multiplier) & mask
    return h ^ (h >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _packed(
    text: cython.const[cython.uchar][::1], at: cython.longlong, size: cython.longlong
) -> cython.ulonglong:
    """Up to 8 bytes as a number."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    packed: cython.ulonglong = 0
    k: cython.longlong
    if size > 0 and at + 8 <= len(text):
        # Compilers make one load of it, and there is no branch to mispredict.
        packed = (
            cython.cast(cython.ulonglong, text[at])
            | (cython.cast(cython.ulonglong, text[at + 1]) << 8)
            | (cython.cast(cython.ulonglong, text[at + 2]) << 16)
            | (cython.cast(cython.ulonglong, text[at + 3]) << 24)
            | (cython.cast(cython.ulonglong, text[at + 4]) << 32)
            | (cython.cast(cython.ulonglong, text[at + 5]) << 40)
            | (cython.cast(cython.ulonglong, text[at + 6]) << 48)
            | (cython.cast(cython.ulonglong, text[at + 7]) << 56)
        )
        return packed & (mask >> (64 - 8 * size))
    for k in range(size):
        packed |= cython.cast(cython.ulonglong, text[at + k]) << (8 * k)
    return packed


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rotated(x: cython.ulonglong, by: cython.int) -> cython.ulonglong:
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    return ((x >> by) | (x << (64 - by))) & mask


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mix(
    v: cython.p_ulonglong,
    a: cython.int,
    b: cython.int,
    c: cython.int,
    d: cython.int,
    x: cython.ulonglong,
    y: cython.ulonglong,
) -> cython.int:
    """The function G of RFC 7693, 3.1; returns 0."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    v[a] = (v[a] + v[b] + x) & mask
    v[d] = _rotated(v[d] ^ v[a], 32)
    v[c] = (v[c] + v[d]) & mask
    v[b] = _rotated(v[b] ^ v[c], 24)
    v[a] = (v[a] + v[b] + y) & mask
    v[d] = _rotated(v[d] ^ v[a], 16)
    v[c] = (v[c] + v[d]) & mask
    v[b] = _rotated(v[b] ^ v[c], 63)
    return 0


def key_spans(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    places: cython.const[cython.longlong][::1],
    orders: cython.const[cython.uchar][::1],
    initial: cython.const[cython.ulonglong][::1],
    lanes: cython.ulonglong[::1],
) -> None:
    """Fill `lanes`, two numbers for each span; those of the empty one are 0.

    Span i is the one of number `places[i]`, or i where that is empty.
    `orders` are the places of message words in 12 rounds, `initial` is the state before the first
    block and then the initialisation vector (8 words each).
    """
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    leading: cython.ulonglong = 15
    h: cython.ulonglong[8] = [0] * 8
    v: cython.ulonglong[16] = [0] * 16
    m: cython.ulonglong[16] = [0] * 16
    i: cython.longlong
    at: cython.longlong
    end: cython.longlong
    left: cython.longlong
    place: cython.longlong
    last: cython.ulonglong
    placed: cython.bint = places.shape[0] > 0
    done: cython.ulonglong
    k: cython.int
    r: cython.int
    with cython.nogil:
        for i in range(starts.shape[0]):
            at = starts[i]
            end = ends[i]
            place = places[i] if placed else i
            if end - at <= 15:
                left = end - at
                last = 0
                if left > 8:
                    last = _packed(text, at + 8, left - 8)
                    left = 8
                last |= cython.cast(cython.ulonglong, end - at) << 56
                lanes[2 * place] = _first(_packed(text, at, left), last)
                lanes[2 * place + 1] = last
                continue
            done = 0
            for k in range(8):
                h[k] = initial[k]
            while at < end:
                left = end - at if end - at < 128 else 128
                for k in range(cython.cast(cython.int, left >> 3)):
                    m[k] = _packed(text, at + 8 * k, 8)
                if left < 128:
                    m[left >> 3] = _packed(text, at + (left & 120), left & 7)
                    for k in range(cython.cast(cython.int, left >> 3) + 1, 16):
                        m[k] = 0
                at += left
                done += left
                for k in range(8):
                    v[k] = h[k]
                    v[k + 8] = initial[k + 8]
                v[12] ^= done
                if at == end:
                    v[14] ^= mask
                for r in range(0, 192, 16):
                    _mix(v, 0, 4, 8, 12, m[orders[r]], m[orders[r + 1]])
                    _mix(v, 1, 5, 9, 13, m[orders[r + 2]], m[orders[r + 3]])
                    _mix(v, 2, 6, 10, 14, m[orders[r + 4]], m[orders[r + 5]])
                    _mix(v, 3, 7, 11, 15, m[orders[r + 6]], m[orders[r + 7]])
                    _mix(v, 0, 5, 10, 15, m[orders[r + 8]], m[orders[r + 9]])
                    _mix(v, 1, 6, 11, 12, m[orders[r + 10]], m[orders[r + 11]])
                    _mix(v, 2, 7, 8, 13, m[orders[r + 12]], m[orders[r + 13]])
                    _mix(v, 3, 4, 9, 14, m[orders[r + 14]], m[orders[r + 15]])
                for k in range(8):
                    h[k] ^= v[k] ^ v[k + 8]
            lanes[2 * place] = h[0]
            lanes[2 * place + 1] = h[1] if h[1] >> 60 else h[1] | (leading << 60)
