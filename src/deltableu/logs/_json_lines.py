# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: lines of JSON objects -> where the wanted texts lie. Nothing but loops; see `readers`.

What the arrays are is said in `_rows`. These loops read all of a line as strictly as `io.decode`
does, and find what that would find; a line where anything is unusual is odd, and left to it.
"""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _space(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    while text[at] == 32 or text[at] == 9 or text[at] == 13:
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _hex(byte: cython.uchar) -> cython.int:
    if 48 <= byte <= 57:
        return byte - 48
    if 65 <= byte <= 70:
        return byte - 55
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _plain_string(
    words: cython.const[cython.ulonglong][::1], at: cython.longlong
) -> cython.longlong:
    """Skip words of eight bytes that hold no quote, backslash or control character."""
    ones: cython.ulonglong = 0x0101010101010101
    highs: cython.ulonglong = 0x8080808080808080
    quotes: cython.ulonglong = 0x2222222222222222
    slashes: cython.ulonglong = 0x5C5C5C5C5C5C5C5C
    spaces: cython.ulonglong = 0x2020202020202020
    size: cython.longlong = words.shape[0]
    word: cython.longlong = at >> 3
    quote: cython.ulonglong
    slash: cython.ulonglong
    control: cython.ulonglong
    while word < size:
        quote = words[word] ^ quotes
        slash = words[word] ^ slashes
        quote = (quote - ones) & ~quote
        slash = (slash - ones) & ~slash
        control = (words[word] - spaces) & ~words[word]
        if (quote | slash | control) & highs:
            break
        word += 1
    return word << 3


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _string(
    text: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    at: cython.longlong,
) -> cython.longlong:
    """Twice the place of the quote that closes a string, plus 1 if it has escapes; -1 if odd."""
    escaped: cython.longlong = 0
    k: cython.int
    byte: cython.uchar
    while True:
        if at & 7 == 0:
            at = _plain_string(words, at)
        byte = text[at]
        if byte == 34:
            return 2 * at + escaped
        if byte < 32:
            return -1
        at += 1
        if byte != 92:
            continue
        escaped = 1
        byte = text[at]
        if byte == 117:
            for k in range(1, 5):
                if _hex(text[at + k]) < 0:
                    return -1
            at += 5
        elif (
            byte == 34
            or byte == 92
            or byte == 47
            or byte == 98
            or byte == 102
            or byte == 110
            or byte == 114
            or byte == 116
        ):
            at += 1
        else:
            return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _four_hex(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.int:
    return (
        (_hex(text[at]) << 12)
        | (_hex(text[at + 1]) << 8)
        | (_hex(text[at + 2]) << 4)
        | _hex(text[at + 3])
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _unescape_string(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    end: cython.longlong,
    side: cython.uchar[::1],
    used: cython.longlong,
) -> cython.longlong:
    """Write what a JSON string that `_string` accepted stands for; -1 for a lone surrogate."""
    byte: cython.uchar
    point: cython.int
    low: cython.int
    while at < end:
        byte = text[at]
        if byte != 92:
            side[used] = byte
            used += 1
            at += 1
            continue
        byte = text[at + 1]
        if byte != 117:
            if byte == 98:
                byte = 8
            elif byte == 102:
                byte = 12
            elif byte == 110:
                byte = 10
            elif byte == 114:
                byte = 13
            elif byte == 116:
                byte = 9
            side[used] = byte
            used += 1
            at += 2
            continue
        point = _four_hex(text, at + 2)
        at += 6
        if 0xD800 <= point <= 0xDFFF:
            if point > 0xDBFF or at + 6 > end or text[at] != 92 or text[at + 1] != 117:
                return -1
            low = _four_hex(text, at + 2)
            if low < 0xDC00 or low > 0xDFFF:
                return -1
            point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
            at += 6
        if point < 0x80:
            side[used] = point
            used += 1
        elif point < 0x800:
            side[used] = 0xC0 | (point >> 6)
            side[used + 1] = 0x80 | (point & 0x3F)
            used += 2
        elif point < 0x10000:
            side[used] = 0xE0 | (point >> 12)
            side[used + 1] = 0x80 | ((point >> 6) & 0x3F)
            side[used + 2] = 0x80 | (point & 0x3F)
            used += 3
        else:
            side[used] = 0xF0 | (point >> 18)
            side[used + 1] = 0x80 | ((point >> 12) & 0x3F)
            side[used + 2] = 0x80 | ((point >> 6) & 0x3F)
            side[used + 3] = 0x80 | (point & 0x3F)
            used += 4
    return used


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _digits(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    while 48 <= text[at] <= 57:
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _integer(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """Where an integer ends, or -1."""
    if text[at] == 45:
        at += 1
    if text[at] == 48:
        return at + 1
    if 49 <= text[at] <= 57:
        return _digits(text, at)
    return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _literal(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """Where `true`, `false` or `null` ends, or -1."""
    if text[at] == 116 and text[at + 1] == 114 and text[at + 2] == 117 and text[at + 3] == 101:
        return at + 4
    if text[at] == 110 and text[at + 1] == 117 and text[at + 2] == 108 and text[at + 3] == 108:
        return at + 4
    if text[at] != 102 or text[at + 1] != 97 or text[at + 2] != 108 or text[at + 3] != 115:
        return -1
    return at + 5 if text[at + 4] == 101 else -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _number(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """Where a number ends, or -1; one that may be too large for a float or for Python is odd."""
    begin: cython.longlong = at
    at = _integer(text, at)
    if at < 0 or at - begin > 200:
        return -1
    if text[at] == 46:
        begin = at + 1
        at = _digits(text, begin)
        if at == begin:
            return -1
    if text[at] == 101 or text[at] == 69:
        at += 1
        if text[at] == 43 or text[at] == 45:
            at += 1
        begin = at
        at = _digits(text, begin)
        if at == begin or at - begin > 2:
            return -1
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(
    text: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    at: cython.longlong,
    keys: cython.longlong[::1],
    first: cython.longlong,
    count: cython.longlong,
) -> cython.longlong:
    """Where the value begins whose key begins here; -1 if odd, as are escaped and repeated keys.

    The keys of this object are `keys[2 * first : 2 * count]`, and this one is put after them.
    """
    close: cython.longlong
    begin: cython.longlong = at + 1
    other: cython.longlong
    k: cython.longlong
    if text[at] != 34 or 2 * count == keys.shape[0]:
        return -1
    close = _string(text, words, begin)
    if close < 0 or close & 1:
        return -1
    close = close >> 1
    for other in range(first, count):
        if keys[2 * other + 1] - keys[2 * other] == close - begin:
            k = 0
            while k < close - begin and text[keys[2 * other] + k] == text[begin + k]:
                k += 1
            if k == close - begin:
                return -1
    keys[2 * count] = begin
    keys[2 * count + 1] = close
    at = _space(text, close + 1)
    if text[at] != 58:
        return -1
    return _space(text, at + 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _value(
    text: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    at: cython.longlong,
    keys: cython.longlong[::1],
    first: cython.longlong,
    depth: cython.int,
) -> cython.longlong:
    """Where any value ends, or -1; what is nested more than 60 deep is odd."""
    byte: cython.uchar = text[at]
    count: cython.longlong = first
    close: cython.longlong
    if byte == 34:
        close = _string(text, words, at + 1)
        return -1 if close < 0 else (close >> 1) + 1
    if byte == 45 or 48 <= byte <= 57:
        return _number(text, at)
    if byte != 123 and byte != 91:
        return _literal(text, at)
    at = _space(text, at + 1)
    if text[at] == byte + 2:  # } and ] come two after { and [
        return at + 1
    if depth == 60:
        return -1
    while True:
        if byte == 123:
            at = _key(text, words, at, keys, first, count)
            count += 1
            if at < 0:
                return -1
        at = _value(text, words, at, keys, count, depth + 1)
        if at < 0:
            return -1
        at = _space(text, at)
        if text[at] == byte + 2:
            return at + 1
        if text[at] != 44:
            return -1
        at = _space(text, at + 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _field(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    end: cython.longlong,
    names: cython.const[cython.uchar][::1],
    bounds: cython.const[cython.longlong][::1],
) -> cython.longlong:
    """Number of the field that has this name, or -1."""
    size: cython.longlong = end - at
    field: cython.longlong
    k: cython.longlong
    for field in range(bounds.shape[0] - 1):
        if bounds[field + 1] - bounds[field] == size:
            k = 0
            while k < size and names[bounds[field] + k] == text[at + k]:
                k += 1
            if k == size:
                return field
    return -1


def cut_jsonl(
    text: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    names: cython.const[cython.uchar][::1],
    bounds: cython.const[cython.longlong][::1],
    keys: cython.longlong[::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    side: cython.uchar[::1],
    odd: cython.longlong[::1],
    counts: cython.longlong[::1],
    lines: cython.longlong,
) -> cython.longlong:
    """Find the fields of objects, one a line; `starts` and `ends` come as zeros.

    Field f is named `names[bounds[f]:bounds[f + 1]]`. The first two are strings that every line
    has; the others are strings or whole numbers, and may be absent or null. `counts[2 + f]` gets
    how often a field was there. `side` need not be longer than the text, and may be empty where
    the text has no backslash; a line with more keys than `keys` has pairs of places is odd.
    """
    size: cython.longlong = len(text)
    at: cython.longlong = 0
    used: cython.longlong = 0
    saved: cython.longlong
    odd_lines: cython.longlong = 0
    line: cython.longlong
    begin: cython.longlong
    count: cython.longlong
    close: cython.longlong
    field: cython.longlong
    slot: cython.longlong
    seen: cython.longlong
    fine: cython.bint
    with cython.nogil:
        for line in range(lines):
            begin = at
            saved = used
            seen = 0
            fine = False
            at = _space(text, at)
            if text[at] == 123:
                at = _space(text, at + 1)
                count = 0
                while True:
                    at = _key(text, words, at, keys, 0, count)
                    if at < 0:
                        break
                    field = _field(text, keys[2 * count], keys[2 * count + 1], names, bounds)
                    count += 1
                    if field < 0:
                        at = _value(text, words, at, keys, count, 0)
                        if at < 0:
                            break
                    else:
                        seen |= 1 << field
                        slot = field * lines + line
                        if text[at] == 34:
                            close = _string(text, words, at + 1)
                            if close < 0:
                                break
                            if close & 1:
                                close = close >> 1
                                starts[slot] = size + used
                                used = _unescape_string(text, at + 1, close, side, used)
                                if used < 0:
                                    break
                                ends[slot] = size + used
                            else:
                                close = close >> 1
                                starts[slot] = at + 1
                                ends[slot] = close
                            at = close + 1
                        elif field < 2:
                            break
                        elif text[at] == 110:
                            at = _literal(text, at)
                            if at < 0:
                                break
                        else:
                            # -0 is 0, and numbers with a fraction have more than one spelling.
                            close = _integer(text, at)
                            if close < 0 or close - at > 18:
                                break
                            if text[at] == 45 and text[at + 1] == 48:
                                break
                            starts[slot] = at
                            ends[slot] = close
                            at = close
                    at = _space(text, at)
                    if text[at] == 44:
                        at = _space(text, at + 1)
                        continue
                    if text[at] == 125:
                        at = _space(text, at + 1)
                        fine = text[at] == 10 and (seen & 3) == 3
                    break
            if fine:
                for field in range(2, bounds.shape[0] - 1):
                    counts[2 + field] += (seen >> field) & 1
            else:
                at = begin
                while text[at] != 10:
                    at += 1
                odd[3 * odd_lines] = line
                odd[3 * odd_lines + 1] = begin
                odd[3 * odd_lines + 2] = at
                odd_lines += 1
                used = saved
            at += 1
        counts[0] = odd_lines
        counts[1] = used
    return odd_lines
