# cython: boundscheck=False, wraparound=False, infer_types=True
# mypy: ignore-errors
"""Kernel: UTF-8 text -> tokens and their keys. Nothing but loops; see `deltableu.text.tokens`.

Text i of the buffer lies between `starts[i]` and `ends[i]`. `classes` maps a byte to what it does
to a token (`deltableu.text.tokens.ByteClass`); the tokenizers are such tables. Keys are those of
`_keys`, two `lanes` for a token, made here because a second look at each token would cost as much
as the first. Tokens of more than 15 bytes go to `longs` instead: their number, first and last byte
+ 1.
"""

# ruff: noqa: SIM108, SIM109
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
def _put(
    text: cython.const[cython.uchar][::1],
    begin: cython.longlong,
    end: cython.longlong,
    count: cython.longlong,
    lanes: cython.ulonglong[::1],
    longs: cython.longlong[:, ::1],
    listed: cython.longlong,
) -> cython.longlong:
    """Make the key of token `count`, or list it as a long one; returns how many are listed."""
    size: cython.longlong = end - begin
    last: cython.ulonglong
    if size > 15:
        longs[0, listed] = count
        longs[1, listed] = begin
        longs[2, listed] = end
        return listed + 1
    last = (cython.cast(cython.ulonglong, size) << 56) | _packed(text, begin + 8, size - 8)
    lanes[2 * count] = _first(_packed(text, begin, size), last)
    lanes[2 * count + 1] = last
    return listed


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _space_width(
    text: cython.const[cython.uchar][::1], at: cython.longlong, end: cython.longlong
) -> cython.int:
    """Bytes of the white space character (as `str.split` knows them) that starts here, or 0."""
    first: cython.int = text[at]
    if at + 1 >= end:
        return 0
    second = text[at + 1]
    if first == 0xC2:
        return 2 if second == 0x85 or second == 0xA0 else 0
    if at + 2 >= end:
        return 0
    third = text[at + 2]
    if first == 0xE2:
        if second == 0x80:
            if 0x80 <= third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF:
                return 3
        elif second == 0x81 and third == 0x9F:
            return 3
    elif first == 0xE3:
        if second == 0x80 and third == 0x80:
            return 3
    elif first == 0xE1 and second == 0x9A and third == 0x80:
        return 3
    return 0


def key_tokens(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    classes: cython.const[cython.uchar][::1],
    lanes: cython.ulonglong[::1],
    longs: cython.longlong[:, ::1],
    token_bounds: cython.longlong[::1],
    spans: cython.longlong[:, ::1],
) -> cython.longlong:
    """Fill the keys of tokens, and `token_bounds` (a text each); return how many are long.

    Where `spans` has room (it may have none) it gets the first and last byte + 1 of every token.
    """
    letter: cython.int = 0
    space: cython.int = 1
    symbol: cython.int = 2
    digit: cython.int = 3
    point: cython.int = 4
    dash: cython.int = 5
    lead: cython.int = 6
    count: cython.longlong = 0
    listed: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    keep_spans: cython.bint = spans.shape[1] > 0
    opened: cython.longlong  # where the open token began, -1 when none is open
    byte: cython.uchar
    after_digit: cython.bint
    before_digit: cython.bint
    glued: cython.bint
    with cython.nogil:
        token_bounds[0] = 0
        for i in range(texts):
            begin = starts[i]
            end = ends[i]
            at = begin
            opened = -1
            while at < end:
                byte = text[at]
                kind = classes[byte]
                if kind == letter:
                    if opened < 0:
                        opened = at
                    at += 1
                    while at < end and classes[text[at]] == letter:
                        at += 1
                    continue
                width = 1
                if kind == lead:
                    width = _space_width(text, at, end)
                    if width == 0:
                        width = 1
                        kind = letter
                    else:
                        kind = space
                elif kind == dash:
                    if at > begin and classes[text[at - 1]] == digit:
                        kind = symbol
                    else:
                        kind = letter

                if kind == letter or kind == digit:
                    if opened < 0:
                        opened = at
                    at += 1
                    continue

                run = 1
                glued = False
                if kind == point:
                    while at + run < end and classes[text[at + run]] == point:
                        run += 1
                    after_digit = at > begin and classes[text[at - 1]] == digit
                    before_digit = at + run < end and classes[text[at + run]] == digit
                    if run == 1 and after_digit and before_digit:
                        at += 1
                        continue
                    # The rules eat a run in pairs, so its parity decides whether the last one
                    # stays with a digit that follows.
                    glued = before_digit and ((run % 2 == 1) == after_digit)

                if opened >= 0:
                    if keep_spans:
                        spans[0, count] = opened
                        spans[1, count] = at
                    listed = _put(text, opened, at, count, lanes, longs, listed)
                    count += 1
                    opened = -1
                if kind == space:
                    at += width
                    continue
                for k in range(run):
                    if k == run - 1 and glued:
                        opened = at
                    else:
                        if keep_spans:
                            spans[0, count] = at
                            spans[1, count] = at + 1
                        listed = _put(text, at, at + 1, count, lanes, longs, listed)
                        count += 1
                    at += 1
            if opened >= 0:
                if keep_spans:
                    spans[0, count] = opened
                    spans[1, count] = end
                listed = _put(text, opened, end, count, lanes, longs, listed)
                count += 1
            token_bounds[i + 1] = count
    return listed


def key_characters(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    classes: cython.const[cython.uchar][::1],
    lanes: cython.ulonglong[::1],
    token_bounds: cython.longlong[::1],
) -> cython.longlong:
    """As `key_tokens`, every character that is no white space being a token.

    Returns their number.
    """
    space: cython.int = 1
    lead: cython.int = 6
    count: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    packed: cython.ulonglong
    last: cython.ulonglong
    size: cython.int
    with cython.nogil:
        token_bounds[0] = 0
        for i in range(texts):
            at = starts[i]
            end = ends[i]
            while at < end:
                kind = classes[text[at]]
                if kind == space:
                    at += 1
                    continue
                if kind == lead:
                    width = _space_width(text, at, end)
                    if width > 0:
                        at += width
                        continue
                # The bytes of one UTF-8 character: a first one, and those that begin with 10.
                packed = text[at]
                size = 1
                while at + size < end and (text[at + size] & 0xC0) == 0x80:
                    packed |= cython.cast(cython.ulonglong, text[at + size]) << (8 * size)
                    size += 1
                at += size
                last = cython.cast(cython.ulonglong, size) << 56
                lanes[2 * count] = _first(packed, last)
                lanes[2 * count + 1] = last
                count += 1
            token_bounds[i + 1] = count
    return count


def split_punctuation(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    punctuation: cython.const[cython.uchar][::1],
    lanes: cython.ulonglong[::1],
    longs: cython.longlong[:, ::1],
    word_bounds: cython.longlong[::1],
) -> cython.longlong:
    """Words of chrF++: one mark of punctuation is cut off a word's end or else its beginning.

    Returns how many are long.
    """
    listed: cython.longlong = 0
    texts: cython.longlong = token_bounds.shape[0] - 1
    count: cython.longlong = 0
    with cython.nogil:
        word_bounds[0] = 0
        for i in range(texts):
            for k in range(token_bounds[i], token_bounds[i + 1]):
                begin = starts[k]
                end = ends[k]
                cut = end
                if end - begin > 1:
                    if punctuation[text[end - 1]]:
                        cut = end - 1
                    elif punctuation[text[begin]]:
                        cut = begin + 1
                listed = _put(text, begin, cut, count, lanes, longs, listed)
                count += 1
                if cut < end:
                    listed = _put(text, cut, end, count, lanes, longs, listed)
                    count += 1
            word_bounds[i + 1] = count
    return listed
