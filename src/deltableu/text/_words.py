# cython: language_level=3
# mypy: ignore-errors
"""Kernel: UTF-8 text -> hashes of lower-cased words. Nothing but loops; see `deltableu.text.words`.

`kinds` and `lower` say of every character of the Basic Multilingual Plane what it does to a word
(`deltableu.text.words.Kind`) and what its small letter is.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _finish(h: cython.ulonglong) -> cython.ulonglong:
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    multiplier: cython.ulonglong = 0xD6E8FEB86659FD93
    h ^= h >> 32
    h = (h * multiplier) & mask
    h ^= h >> 29
    h = (h * multiplier) & mask
    return h ^ (h >> 32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _width(first: cython.uint) -> cython.int:
    """Bytes of the UTF-8 character that begins with this one."""
    if first < 0x80:
        return 1
    if first < 0xE0:
        return 2
    return 3 if first < 0xF0 else 4


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.boundscheck(False)
@cython.wraparound(False)
def _point(
    text: cython.const[cython.uchar][::1], at: cython.longlong, width: cython.int
) -> cython.uint:
    """The character at a place of valid UTF-8."""
    first: cython.uint = text[at]
    if width == 1:
        return first
    if width == 2:
        return ((first & 0x1F) << 6) | (text[at + 1] & 0x3F)
    if width == 3:
        return ((first & 0x0F) << 12) | ((text[at + 1] & 0x3F) << 6) | (text[at + 2] & 0x3F)
    return (
        ((first & 0x07) << 18)
        | ((text[at + 1] & 0x3F) << 12)
        | ((text[at + 2] & 0x3F) << 6)
        | (text[at + 3] & 0x3F)
    )


@cython.boundscheck(False)
@cython.wraparound(False)
def hash_words(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    hashes: cython.ulonglong[::1],
    bounds: cython.longlong[::1],
    keys: cython.ulonglong[::1],
) -> cython.longlong:
    """Fill `hashes` (a word each), `bounds` and `keys` (a text each); return the words' number.

    Texts of the same words in the same order have the same key; a text without words has that of
    its bytes.
    """
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    seed: cython.ulonglong = 0xCBF29CE484222325
    other: cython.ulonglong = 0x84222325CBF29CE4
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    apostrophe: cython.uint = 0x27
    beyond: cython.uint = 0x10000
    h: cython.ulonglong = seed
    key: cython.ulonglong
    count: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    i: cython.longlong
    at: cython.longlong
    after: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    opened: cython.bint
    with cython.nogil:
        bounds[0] = 0
        for i in range(texts):
            at = starts[i]
            end = ends[i]
            key = seed
            opened = False
            while at < end:
                point = text[at]
                width = 1
                if point >= 0x80:
                    width = _width(point)
                    point = _point(text, at, width)
                if point >= beyond:
                    kind = alone
                else:
                    kind = kinds[point]
                    point = lower[point]
                at += width
                if kind == joiner:
                    # Part of a word only between its letters.
                    kind = 0
                    if opened and at < end:
                        after = _point(text, at, _width(text[at]))
                        if after < beyond and kinds[after] == word:
                            kind = word
                            point = apostrophe
                if kind == word:
                    if not opened:
                        opened = True
                        h = seed
                    h = ((h ^ point) * prime) & mask
                    continue
                if opened:
                    opened = False
                    h = _finish(h)
                    hashes[count] = h
                    count += 1
                    key = ((key ^ h) * prime) & mask
                if kind == alone:
                    h = _finish(((seed ^ point) * prime) & mask)
                    hashes[count] = h
                    count += 1
                    key = ((key ^ h) * prime) & mask
            if opened:
                h = _finish(h)
                hashes[count] = h
                count += 1
                key = ((key ^ h) * prime) & mask
            if count == bounds[i]:
                key = other
                for at in range(starts[i], end):
                    key = ((key ^ text[at]) * prime) & mask
            bounds[i + 1] = count
            keys[i] = _finish(key)
    return count


@cython.boundscheck(False)
@cython.wraparound(False)
def hash_texts(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    keys: cython.ulonglong[::1],
) -> None:
    """Fill `keys` with a hash of every text's bytes; that of the empty text is 0."""
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    h: cython.ulonglong
    i: cython.longlong
    at: cython.longlong
    with cython.nogil:
        for i in range(starts.shape[0]):
            h = seed
            for at in range(starts[i], ends[i]):
                h = ((h ^ text[at]) * prime) & mask
            keys[i] = _finish(h) if ends[i] > starts[i] else 0


@cython.boundscheck(False)
@cython.wraparound(False)
def word_spans(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    begins: cython.longlong[::1],
    stops: cython.longlong[::1],
) -> cython.longlong:
    """Fill `begins` and `stops` with the bytes of each word that `hash_words` finds."""
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    beyond: cython.uint = 0x10000
    count: cython.longlong = 0
    i: cython.longlong
    at: cython.longlong
    here: cython.longlong
    after: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    opened: cython.bint
    with cython.nogil:
        for i in range(starts.shape[0]):
            at = starts[i]
            end = ends[i]
            opened = False
            while at < end:
                here = at
                width = _width(text[at])
                point = _point(text, at, width)
                kind = alone if point >= beyond else kinds[point]
                at += width
                if kind == joiner:
                    kind = 0
                    if opened and at < end:
                        after = _point(text, at, _width(text[at]))
                        if after < beyond and kinds[after] == word:
                            kind = word
                if kind == word:
                    if not opened:
                        opened = True
                        begins[count] = here
                    continue
                if opened:
                    opened = False
                    stops[count] = here
                    count += 1
                if kind == alone:
                    begins[count] = here
                    stops[count] = at
                    count += 1
            if opened:
                stops[count] = end
                count += 1
    return count
