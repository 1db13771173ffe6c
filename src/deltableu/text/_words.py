# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: UTF-8 text -> hashes of lower-cased words. Nothing but loops; see `deltableu.text.words`.

`kinds` and `lower` say of every character of the Basic Multilingual Plane what it does to a word
(`deltableu.text.words.Kind`) and what its small letter is.
"""

# ruff: noqa: SIM109
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


def hash_words(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    hashes: cython.ulonglong[::1],
    bounds: cython.longlong[::1],
    spans: cython.longlong[:, ::1],
) -> cython.longlong:
    """Fill `hashes` (a word each) and `bounds` (a text each); return the words' number.

    Where `spans` has rows (it may have none) they get the first and last byte + 1 of every word.
    """
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    apostrophe: cython.uint = 0x27
    beyond: cython.uint = 0x10000
    h: cython.ulonglong = seed
    count: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    i: cython.longlong
    at: cython.longlong
    here: cython.longlong
    after: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    opened: cython.bint
    keep_spans: cython.bint = spans.shape[0] > 0
    with cython.nogil:
        bounds[0] = 0
        for i in range(texts):
            at = starts[i]
            end = ends[i]
            opened = False
            while at < end:
                here = at
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
                        if keep_spans:
                            spans[count, 0] = here
                    h = ((h ^ point) * prime) & mask
                    continue
                if opened:
                    opened = False
                    if keep_spans:
                        spans[count, 1] = here
                    hashes[count] = _finish(h)
                    count += 1
                if kind == alone:
                    if keep_spans:
                        spans[count, 0] = here
                        spans[count, 1] = at
                    hashes[count] = _finish(((seed ^ point) * prime) & mask)
                    count += 1
            if opened:
                if keep_spans:
                    spans[count, 1] = end
                hashes[count] = _finish(h)
                count += 1
            bounds[i + 1] = count
    return count


def hash_spans(
    text: cython.const[cython.uchar][::1],
    begins: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    hashes: cython.ulonglong[::1],
    bounds: cython.longlong[::1],
    kept: cython.longlong[::1],
) -> cython.longlong:
    """As `hash_words`, of tokens that somebody else has cut; those without a letter fall out.

    `kept` gets the numbers of the others.
    """
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    apostrophe: cython.uint = 0x27
    beyond: cython.uint = 0x10000
    h: cython.ulonglong
    count: cython.longlong = 0
    i: cython.longlong
    k: cython.longlong
    at: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    lettered: cython.bint
    with cython.nogil:
        bounds[0] = 0
        for i in range(token_bounds.shape[0] - 1):
            for k in range(token_bounds[i], token_bounds[i + 1]):
                at = begins[k]
                h = seed
                lettered = False
                while at < stops[k]:
                    width = _width(text[at])
                    point = _point(text, at, width)
                    at += width
                    kind = alone
                    if point < beyond:
                        kind = kinds[point]
                        point = lower[point]
                    if kind == joiner:
                        point = apostrophe
                    if kind == word or kind == alone:
                        lettered = True
                    h = ((h ^ point) * prime) & mask
                if lettered:
                    hashes[count] = _finish(h)
                    kept[count] = k
                    count += 1
            bounds[i + 1] = count
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _signs(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    end: cython.longlong,
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
) -> cython.ulonglong:
    """A hash of all but white space of a text without letters; 0 where there is nothing else."""
    space: cython.int = 4
    seed: cython.ulonglong = 0x84222325CBF29CE4
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    key: cython.ulonglong = seed
    point: cython.uint
    width: cython.int
    blank: cython.bint = True
    while at < end:
        width = _width(text[at])
        point = _point(text, at, width)
        at += width
        if kinds[point] != space:
            blank = False
            key = ((key ^ lower[point]) * prime) & mask
    return 0 if blank else key


def text_keys(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    keys: cython.ulonglong[::1],
    worded: cython.uchar[::1],
) -> None:
    """Fill `keys` with a hash of all that makes each text what it is, and whether it has letters.

    Of a text without letters that is every character but white space; 0 where there is none.
    """
    word: cython.int = 1
    alone: cython.int = 2
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    beyond: cython.uint = 0x10000
    key: cython.ulonglong
    mixed: cython.ulonglong
    i: cython.longlong
    at: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    lettered: cython.uchar
    counts: cython.uchar
    with cython.nogil:
        for i in range(starts.shape[0]):
            at = starts[i]
            end = ends[i]
            lettered = 0
            key = seed
            while at < end:
                point = text[at]
                width = 1
                if point >= 0x80:
                    width = _width(point)
                    point = _point(text, at, width)
                at += width
                kind = alone
                if point < beyond:
                    kind = kinds[point]
                    point = lower[point]
                # Without a branch, which would be mispredicted at every word's end.
                mixed = ((key ^ point) * prime) & mask
                counts = (kind == word) | (kind == alone)
                key = mixed if counts else key
                lettered |= counts
            worded[i] = lettered
            if lettered == 0:
                key = _signs(text, starts[i], end, kinds, lower)
            keys[i] = _finish(key)


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


def add_numbers(
    hashes: cython.const[cython.ulonglong][::1],
    slots: cython.ulonglong[::1],
    numbers: cython.int[::1],
    used: cython.longlong,
    found: cython.int[::1],
    fresh: cython.longlong[::1],
) -> cython.longlong:
    """Fill `found` with the numbers of words; return how many are new, their places in `fresh`.

    `slots` and `numbers` are a table with a power of two of places, -1 where one is free. New
    words are numbered from `used` on, in the order in which they come.
    """
    mask: cython.ulonglong = slots.shape[0] - 1
    at: cython.ulonglong
    h: cython.ulonglong
    i: cython.longlong
    new: cython.longlong = 0
    with cython.nogil:
        for i in range(hashes.shape[0]):
            h = hashes[i]
            at = h & mask
            while numbers[at] >= 0 and slots[at] != h:
                at = (at + 1) & mask
            if numbers[at] < 0:
                slots[at] = h
                numbers[at] = used + new
                fresh[new] = i
                new += 1
            found[i] = numbers[at]
    return new


def find_numbers(
    hashes: cython.const[cython.ulonglong][::1],
    slots: cython.const[cython.ulonglong][::1],
    numbers: cython.const[cython.int][::1],
    found: cython.int[::1],
) -> None:
    """Fill `found` with the numbers of words, -1 where the table of `add_numbers` has none."""
    mask: cython.ulonglong = slots.shape[0] - 1
    at: cython.ulonglong
    h: cython.ulonglong
    i: cython.longlong
    with cython.nogil:
        for i in range(hashes.shape[0]):
            h = hashes[i]
            at = h & mask
            while numbers[at] >= 0 and slots[at] != h:
                at = (at + 1) & mask
            found[i] = numbers[at]
