# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: spans of bytes -> keys of 128 bits. Nothing but loops; see `deltableu.text.keys`.

The key of up to 15 bytes is exact. Its second half is the last 7 of them, with their number as its
leading byte; its first half is the first 8, mixed one to one with the other half. The key of more
bytes is what `hashlib.blake2s(span, digest_size=16)` gives, which would need a Python object for
each; where it might be taken for an exact one, its leading four bits are set.

Four long spans are hashed at a time, side by side: a word of the state is four numbers, one of each
span, so that compilers make one instruction of four. A span that is done makes room for the next.
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
    """Up to 8 bytes as a number; none where the size is below 1."""
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    packed: cython.ulonglong = 0
    k: cython.longlong
    size = 8 if size > 8 else size
    if at + 8 <= len(text):
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
        return packed & (mask >> (64 - 8 * size) if size > 0 else 0)
    for k in range(size):
        packed |= cython.cast(cython.ulonglong, text[at + k]) << (8 * k)
    return packed


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _turned(x: cython.uint, by: cython.int) -> cython.uint:
    """Rotated to the right."""
    mask: cython.uint = 0xFFFFFFFF
    return (x >> by) | ((x << (32 - by)) & mask)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mix(
    v: cython.p_uint,
    b: cython.int,
    c: cython.int,
    d: cython.int,
    x: cython.p_uint,
    y: cython.p_uint,
) -> cython.int:
    """The function G of RFC 7693, 3.1, of four columns or diagonals of the state; returns 0.

    The words a are the first of `v`; b, c and d say where the others begin.
    """
    mask: cython.uint = 0xFFFFFFFF
    k: cython.int
    p: cython.uint
    q: cython.uint
    r: cython.uint
    s: cython.uint
    for k in range(16):
        p = v[k]
        q = v[b + k]
        r = v[c + k]
        s = v[d + k]
        p = (p + q + x[k]) & mask
        s = _turned(s ^ p, 16)
        r = (r + s) & mask
        q = _turned(q ^ r, 12)
        p = (p + q + y[k]) & mask
        s = _turned(s ^ p, 8)
        r = (r + s) & mask
        q = _turned(q ^ r, 7)
        v[k] = p
        v[b + k] = q
        v[c + k] = r
        v[d + k] = s
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _compress(
    h: cython.p_uint,
    m: cython.p_uint,
    t: cython.p_uint,
    orders: cython.const[cython.uchar][::1],
    initial: cython.const[cython.uint][::1],
) -> cython.int:
    """The function F of RFC 7693, 3.2, of four states `h` and blocks `m`; returns 0.

    `t` are the words that the counters and the marks of a last block change.
    """
    # The rows of the state: a at 0, b at 16, c at 36 and d at 60. The ends of the last three are
    # followed by room for their beginnings, so that diagonals lie side by side as columns do.
    v: cython.uint[88] = [0] * 88
    x: cython.uint[16] = [0] * 16
    y: cython.uint[16] = [0] * 16
    j: cython.int
    k: cython.int
    r: cython.int
    for k in range(16):
        v[k] = h[k]
        v[16 + k] = h[16 + k]
        v[36 + k] = initial[8 + (k >> 2)]
        v[60 + k] = initial[12 + (k >> 2)] ^ t[k]
    for r in range(0, 160, 16):
        for j in range(4):
            for k in range(4):
                x[4 * j + k] = m[4 * orders[r + 2 * j] + k]
                y[4 * j + k] = m[4 * orders[r + 2 * j + 1] + k]
        _mix(v, 16, 36, 60, x, y)
        for k in range(4):
            v[32 + k] = v[16 + k]
        for k in range(8):
            v[52 + k] = v[36 + k]
        for k in range(12):
            v[76 + k] = v[60 + k]
        for j in range(4):
            for k in range(4):
                x[4 * j + k] = m[4 * orders[r + 2 * j + 8] + k]
                y[4 * j + k] = m[4 * orders[r + 2 * j + 9] + k]
        _mix(v, 20, 44, 72, x, y)
        for k in range(4):
            v[16 + k] = v[32 + k]
        for k in range(8):
            v[36 + k] = v[52 + k]
        for k in range(12):
            v[60 + k] = v[76 + k]
    for k in range(16):
        h[k] ^= v[k] ^ v[36 + k]
        h[16 + k] ^= v[16 + k] ^ v[60 + k]
    return 0


def key_spans(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    places: cython.const[cython.longlong][::1],
    orders: cython.const[cython.uchar][::1],
    initial: cython.const[cython.uint][::1],
    lanes: cython.ulonglong[::1],
) -> None:
    """Fill `lanes`, two numbers for each span; those of the empty one are 0.

    Span i is the one of number `places[i]`, or i where that is empty.
    `orders` are the places of message words in 10 rounds, `initial` is the state before the first
    block and then the initialisation vector (8 words each).
    """
    whole: cython.uint = 0xFFFFFFFF
    leading: cython.ulonglong = 15
    h: cython.uint[32] = [0] * 32
    m: cython.uint[64] = [0] * 64
    t: cython.uint[16] = [0] * 16
    span: cython.longlong[4] = [-1] * 4  # the one that each of four is at, -1 where it has none
    done: cython.longlong[4] = [0] * 4  # bytes of it
    spans: cython.longlong = starts.shape[0]
    i: cython.longlong = 0
    at: cython.longlong
    size: cython.longlong
    place: cython.longlong
    word: cython.ulonglong
    last: cython.ulonglong
    placed: cython.bint = places.shape[0] > 0
    busy: cython.bint = True
    j: cython.int
    k: cython.int
    with cython.nogil:
        while busy:
            busy = False
            for j in range(4):
                while span[j] < 0 and i < spans:
                    at = starts[i]
                    size = ends[i] - at
                    if size <= 15:
                        place = places[i] if placed else i
                        last = cython.cast(cython.ulonglong, size) << 56
                        if size > 8:
                            last |= _packed(text, at + 8, size - 8)
                        lanes[2 * place] = _first(_packed(text, at, size), last)
                        lanes[2 * place + 1] = last
                    else:
                        span[j] = i
                        done[j] = 0
                        for k in range(8):
                            h[4 * k + j] = initial[k]
                    i += 1
                if span[j] < 0:
                    continue
                busy = True
                at = starts[span[j]] + done[j]
                size = ends[span[j]] - at
                for k in range(8):
                    word = _packed(text, at + 8 * k, size - 8 * k)
                    m[8 * k + j] = cython.cast(cython.uint, word & whole)
                    m[8 * k + 4 + j] = cython.cast(cython.uint, word >> 32)
                done[j] += size if size < 64 else 64
                t[j] = cython.cast(cython.uint, done[j] & whole)
                t[4 + j] = cython.cast(cython.uint, done[j] >> 32)
                t[8 + j] = whole if size <= 64 else 0
            if not busy:
                break
            _compress(h, m, t, orders, initial)
            for j in range(4):
                if span[j] >= 0 and t[8 + j]:
                    place = places[span[j]] if placed else span[j]
                    word = h[4 + j]
                    lanes[2 * place] = (word << 32) | h[j]
                    word = h[12 + j]
                    last = (word << 32) | h[8 + j]
                    lanes[2 * place + 1] = last if last >> 60 else last | (leading << 60)
                    span[j] = -1
