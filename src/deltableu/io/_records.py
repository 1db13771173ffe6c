# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: lines of JSON -> where their texts and numbers lie. Nothing but loops.

What is not as plain as most files are stops a scan: whoever called it then reads the file with the
reader that names what is wrong, or understands what is merely unusual. So a scan may give up on
anything, but what it accepts it must understand as that reader does. The bytes are known to be
UTF-8. A string with escapes is spelt out in `side`, and its place is counted from the end of the
text on. Functions that read a value give the position behind it, or -1.

The file is longer than others because it is compiled as one: functions for every kind of value are
inlined into the loops over lines, which C does not do across files.
"""

# ruff: noqa: SIM102
import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _space(
    text: cython.const[cython.uchar][::1], at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """Past white space, as JSON has it; there is no line feed in a line."""
    while at < stop and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sign(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    sign: cython.int,
) -> cython.longlong:
    """Past a sign and the white space around it."""
    at = _space(text, at, stop)
    if at >= stop or text[at] != sign:
        return -1
    return _space(text, at + 1, stop)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _null(
    text: cython.const[cython.uchar][::1], at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    if at + 4 > stop or text[at] != 110 or text[at + 1] != 117:
        return -1
    return at + 4 if text[at + 2] == 108 and text[at + 3] == 108 else -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _hex(
    text: cython.const[cython.uchar][::1], at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """The number that four digits spell, -1 where they are none."""
    code: cython.longlong = 0
    k: cython.int
    c: cython.int
    if at + 4 > stop:
        return -1
    for k in range(4):
        c = text[at + k]
        if 48 <= c <= 57:
            c -= 48
        elif 97 <= c <= 102:
            c -= 87
        elif 65 <= c <= 70:
            c -= 55
        else:
            return -1
        code = 16 * code + c
    return code


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _spelt(
    text: cython.const[cython.uchar][::1],
    begin: cython.longlong,
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """The rest of a string that began at `begin`, from its first escape on."""
    used: cython.longlong = place[2]
    code: cython.longlong
    low: cython.longlong
    c: cython.int
    k: cython.longlong
    place[0] = len(text) + used
    for k in range(begin, at):
        side[used] = text[k]
        used += 1
    while at < stop:
        c = text[at]
        at += 1
        if c == 34:
            place[1] = len(text) + used
            place[2] = used
            return at
        if c < 32:
            return -1
        if c != 92:
            side[used] = cython.cast(cython.uchar, c)
            used += 1
            continue
        if at >= stop:
            return -1
        c = text[at]
        at += 1
        if c == 117:
            code = _hex(text, at, stop)
            if code < 0:
                return -1
            at += 4
            if 0xD800 <= code < 0xE000:
                if code >= 0xDC00 or at + 6 > stop or text[at] != 92 or text[at + 1] != 117:
                    return -1
                low = _hex(text, at + 2, stop)
                if low < 0xDC00 or low >= 0xE000:
                    return -1
                at += 6
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            if code < 0x80:
                side[used] = cython.cast(cython.uchar, code)
                used += 1
                continue
            if code < 0x800:
                side[used] = cython.cast(cython.uchar, 0xC0 | (code >> 6))
                used += 1
            elif code < 0x10000:
                side[used] = cython.cast(cython.uchar, 0xE0 | (code >> 12))
                side[used + 1] = cython.cast(cython.uchar, 0x80 | ((code >> 6) & 0x3F))
                used += 2
            else:
                side[used] = cython.cast(cython.uchar, 0xF0 | (code >> 18))
                side[used + 1] = cython.cast(cython.uchar, 0x80 | ((code >> 12) & 0x3F))
                side[used + 2] = cython.cast(cython.uchar, 0x80 | ((code >> 6) & 0x3F))
                used += 3
            side[used] = cython.cast(cython.uchar, 0x80 | (code & 0x3F))
            used += 1
            continue
        if c == 98:
            c = 8
        elif c == 102:
            c = 12
        elif c == 110:
            c = 10
        elif c == 114:
            c = 13
        elif c == 116:
            c = 9
        elif c != 34 and c != 92 and c != 47:
            return -1
        side[used] = cython.cast(cython.uchar, c)
        used += 1
    return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _string(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """A string; `place` says where it begins and ends, and how much of `side` is used."""
    begin: cython.longlong = at + 1
    if at >= stop or text[at] != 34:
        return -1
    at = begin
    while at < stop and text[at] != 34 and text[at] != 92 and text[at] >= 32:
        at += 1
    if at >= stop or text[at] < 32:
        return -1
    if text[at] == 92:
        return _spelt(text, begin, at, stop, side, place)
    place[0] = begin
    place[1] = at
    return at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _text_or_null(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """A string, or null, which begins at -1."""
    if at < stop and text[at] == 110:
        place[0] = -1
        place[1] = -1
        return _null(text, at, stop)
    return _string(text, at, stop, side, place)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _texts(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """A list of strings, or null."""
    if at < stop and text[at] == 110:
        return _null(text, at, stop)
    at = _sign(text, at, stop, 91)
    if at < 0:
        return -1
    if at < stop and text[at] == 93:
        return at + 1
    while True:
        at = _string(text, at, stop, side, place)
        if at < 0:
            return -1
        at = _space(text, at, stop)
        if at < stop and text[at] == 93:
            return at + 1
        at = _sign(text, at, stop, 44)
        if at < 0:
            return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _identifier(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """A string or a whole number, or null, which begins at -1; an empty string is as it is."""
    begin: cython.longlong = at
    if at >= stop or not 48 <= text[at] <= 57:
        return _text_or_null(text, at, stop, side, place)
    while at < stop and 48 <= text[at] <= 57:
        at += 1
    if at - begin > 18 or (text[begin] == 48 and at - begin > 1):
        return -1
    if at < stop and (text[at] == 46 or text[at] == 69 or text[at] == 101):
        return -1
    place[0] = begin
    place[1] = at
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    tens: cython.const[cython.double][::1],
    place: cython.p_longlong,
    value: cython.p_double,
) -> cython.longlong:
    """A number of at most 40 signs; `place` says whether it has none but digits, and is odd.

    One that is not odd has so few digits that a single division rounds it rightly: Clinger 1990,
    How to Read Floating Point Numbers Accurately.
    """
    begin: cython.longlong = at
    first: cython.longlong
    whole: cython.longlong = 0
    digits: cython.int = 0
    behind: cython.int = 0
    minus: cython.bint = at < stop and text[at] == 45
    if minus:
        at += 1
    first = at
    while at < stop and 48 <= text[at] <= 57:
        if digits < 16:
            whole = 10 * whole + (text[at] - 48)
        digits += 1
        at += 1
    if at == first or (text[first] == 48 and at - first > 1):
        return -1
    place[3] = 1
    if at < stop and text[at] == 46:
        place[3] = 0
        at += 1
        first = at
        while at < stop and 48 <= text[at] <= 57:
            if digits < 16:
                whole = 10 * whole + (text[at] - 48)
            digits += 1
            behind += 1
            at += 1
        if at == first:
            return -1
    # Exponents are rare, and such numbers may be infinite.
    if at - begin > 40 or (at < stop and (text[at] == 69 or text[at] == 101)):
        return -1
    place[4] = digits > 15
    if not place[4]:
        value[0] = whole / tens[behind]
        if minus:
            value[0] = -value[0]
        if whole == 0 and place[3]:
            value[0] = 0.0
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _key(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    names: cython.const[cython.uchar][::1],
    place: cython.p_longlong,
) -> cython.longlong:
    """A name and the colon behind it; `place[5]` says which.

    Of the `names`, each has 16 bytes, of which the last is how many count.
    """
    begin: cython.longlong = at + 1
    k: cython.longlong
    j: cython.longlong
    size: cython.longlong
    if at >= stop or text[at] != 34:
        return -1
    at = begin
    while at < stop and text[at] != 34:
        at += 1
    size = at - begin
    if at >= stop or size > 15:
        return -1
    for k in range(len(names) // 16):
        if names[16 * k + 15] != size:
            continue
        j = 0
        while j < size and names[16 * k + j] == text[begin + j]:
            j += 1
        if j == size:
            place[5] = k
            return _sign(text, at + 1, stop, 58)
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _object(
    text: cython.const[cython.uchar][::1], at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """Past the braces of an object, or null; what is between them is not looked at."""
    depth: cython.longlong = 0
    if at < stop and text[at] == 110:
        return _null(text, at, stop)
    if at >= stop or text[at] != 123:
        return -1
    while at < stop:
        if text[at] == 34:
            at += 1
            while at < stop and text[at] != 34:
                at += 2 if text[at] == 92 else 1
        elif text[at] == 123:
            depth += 1
        elif text[at] == 125:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _source(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    names: cython.const[cython.uchar][::1],
    tens: cython.const[cython.double][::1],
    side: cython.uchar[::1],
    place: cython.p_longlong,
    value: cython.p_double,
) -> cython.longlong:
    """Where a reference came from: utterance, id, score, rank."""
    seen: cython.longlong = 0
    which: cython.longlong
    if at < stop and text[at] == 110:
        return _null(text, at, stop)
    at = _sign(text, at, stop, 123)
    if at < 0:
        return -1
    if at < stop and text[at] == 125:
        return at + 1
    while True:
        at = _key(text, at, stop, names, place)
        if at < 0:
            return -1
        which = place[5]
        if (seen >> which) & 1:
            return -1
        seen |= cython.cast(cython.longlong, 1) << which
        if which == 0:
            at = _text_or_null(text, at, stop, side, place)
        elif which == 1:
            at = _identifier(text, at, stop, side, place)
        elif at < stop and text[at] == 110:
            at = _null(text, at, stop)
        else:
            at = _number(text, at, stop, tens, place, value)
            if at >= 0 and which == 3 and not place[3]:
                return -1
        if at < 0:
            return -1
        at = _space(text, at, stop)
        if at < stop and text[at] == 125:
            return at + 1
        at = _sign(text, at, stop, 44)
        if at < 0:
            return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reference(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    names: cython.const[cython.uchar][::1],
    origins: cython.const[cython.uchar][::1],
    source: cython.const[cython.uchar][::1],
    tens: cython.const[cython.double][::1],
    side: cython.uchar[::1],
    place: cython.p_longlong,
    value: cython.p_double,
    found: cython.p_longlong,
) -> cython.longlong:
    """A reference: `found` says where id and text lie, which origin, and where an odd weight lies.

    The weight is in `value[1]`.
    """
    seen: cython.longlong = 0
    which: cython.longlong
    begin: cython.longlong
    k: cython.longlong
    j: cython.longlong
    size: cython.longlong
    found[0] = -1
    found[4] = -1
    found[5] = -1
    if at < stop and text[at] == 34:
        at = _string(text, at, stop, side, place)
        found[2] = place[0]
        found[3] = place[1]
        return at
    at = _sign(text, at, stop, 123)
    if at < 0:
        return -1
    while True:
        at = _key(text, at, stop, names, place)
        if at < 0:
            return -1
        which = place[5]
        if (seen >> which) & 1:
            return -1
        seen |= cython.cast(cython.longlong, 1) << which
        if which == 0:
            at = _identifier(text, at, stop, side, place)
            if place[0] != place[1]:  # an empty id is none
                found[0] = place[0]
                found[1] = place[1]
        elif which == 1:
            at = _string(text, at, stop, side, place)
            found[2] = place[0]
            found[3] = place[1]
        elif which == 4:
            at = _source(text, at, stop, source, tens, side, place, value)
        elif at < stop and text[at] == 110:
            at = _null(text, at, stop)
        elif which == 2:
            begin = at
            at = _number(text, at, stop, tens, place, value)
            value[1] = value[0]
            if at >= 0 and place[4]:
                found[5] = begin
                found[6] = at
        else:
            at = _string(text, at, stop, side, place)
            if at < 0 or place[0] >= len(text):
                return -1
            size = place[1] - place[0]
            for k in range(len(origins) // 16):
                if origins[16 * k + 15] == size:
                    j = 0
                    while j < size and origins[16 * k + j] == text[place[0] + j]:
                        j += 1
                    if j == size:
                        found[4] = k
            if found[4] < 0:
                return -1
        if at < 0:
            return -1
        at = _space(text, at, stop)
        if at < stop and text[at] == 125:
            # A text is needed.
            return at + 1 if (seen >> 1) & 1 else -1
        at = _sign(text, at, stop, 44)
        if at < 0:
            return -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _byte(
    text: cython.const[cython.uchar][::1], side: cython.uchar[::1], at: cython.longlong
) -> cython.int:
    return text[at] if at < len(text) else side[at - len(text)]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _occurs(
    text: cython.const[cython.uchar][::1],
    side: cython.uchar[::1],
    references: cython.longlong[:, ::1],
    first: cython.longlong,
    last: cython.longlong,
) -> cython.bint:
    """Whether the id of the last reference is that of one before it."""
    i: cython.longlong
    k: cython.longlong
    begin: cython.longlong = references[2, last]
    size: cython.longlong = references[3, last] - begin
    # Ids mostly differ at their ends.
    for i in range(first, last):
        if references[3, i] - references[2, i] != size:
            continue
        k = size - 1
        while k >= 0 and _byte(text, side, begin + k) == _byte(text, side, references[2, i] + k):
            k -= 1
        if k < 0:
            return True
    return False


def scan_items(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    names: cython.const[cython.uchar][::1],
    parts: cython.const[cython.uchar][::1],
    origins: cython.const[cython.uchar][::1],
    source: cython.const[cython.uchar][::1],
    tens: cython.const[cython.double][::1],
    items: cython.longlong[:, ::1],
    references: cython.longlong[:, ::1],
    weights: cython.double[::1],
    odd: cython.longlong[:, ::1],
    side: cython.uchar[::1],
    most: cython.longlong,
    counts: cython.longlong[::1],
) -> bool:
    """Scan a line per item; false where something is unusual.

    `items` gets, of each, where its id, message and meta begin and end (-1 where there is none),
    its number of references (up to `most`), and which of them is the original. `references` gets
    where the text and the id of each begin and end, and the number of its origin (-1 where nothing
    is said), and `weights` its weight, which is NaN where there is none. `odd` gets the reference,
    begin and end of weights that are better read by Python. `counts` are those of references, odd
    weights and bytes of `side`.
    """
    place: cython.longlong[6] = [0] * 6
    found: cython.longlong[7] = [0] * 7
    value: cython.double[2] = [0.0] * 2
    nan: cython.double = tens[tens.shape[0] - 1]
    i: cython.longlong
    at: cython.longlong
    stop: cython.longlong
    seen: cython.longlong
    which: cython.longlong
    first: cython.longlong
    named: cython.longlong
    total: cython.longlong = 0
    odds: cython.longlong = 0
    lines: cython.longlong = starts.shape[0]
    fine: cython.bint = True
    with cython.nogil:
        for i in range(lines):
            stop = ends[i]
            seen = 0
            for which in range(6):
                items[which, i] = -1
            items[6, i] = 0
            items[7, i] = 0
            at = _sign(text, starts[i], stop, 123)
            while at >= 0:
                at = _key(text, at, stop, names, place)
                if at < 0:
                    break
                which = place[5]
                if (seen >> which) & 1:
                    at = -1
                    break
                seen |= cython.cast(cython.longlong, 1) << which
                if which == 0:
                    at = _identifier(text, at, stop, side, place)
                    if place[0] < 0 or place[0] == place[1]:
                        at = -1
                    items[0, i] = place[0]
                    items[1, i] = place[1]
                elif which == 1:
                    at = _texts(text, at, stop, side, place)
                elif which == 2:
                    at = _text_or_null(text, at, stop, side, place)
                    items[2, i] = place[0]
                    items[3, i] = place[1]
                elif which == 4:
                    items[4, i] = at
                    at = _object(text, at, stop)
                    items[5, i] = at
                else:
                    at = _sign(text, at, stop, 91)
                    first = total
                    named = 0
                    items[7, i] = -1
                    if at >= 0 and at < stop and text[at] == 93:
                        at += 1
                    else:
                        while at >= 0:
                            value[1] = nan
                            at = _reference(
                                text,
                                at,
                                stop,
                                parts,
                                origins,
                                source,
                                tens,
                                side,
                                place,
                                value,
                                found,
                            )
                            if at < 0:
                                break
                            references[0, total] = found[2]
                            references[1, total] = found[3]
                            references[2, total] = found[0]
                            references[3, total] = found[1]
                            references[4, total] = found[4]
                            weights[total] = value[1]
                            if found[5] >= 0:
                                odd[0, odds] = total
                                odd[1, odds] = found[5]
                                odd[2, odds] = found[6]
                                odds += 1
                            # The first is the original where nothing is said, the others are not.
                            if items[7, i] < 0:
                                if found[4] == 0 or (found[4] < 0 and total == first):
                                    items[7, i] = total - first
                            if found[0] >= 0:
                                named += 1
                                if _occurs(text, side, references, first, total):
                                    at = -1
                                    break
                            total += 1
                            # Where some ids are given, those that are not may be among them.
                            if named != 0 and named != total - first:
                                at = -1
                                break
                            if total - first > most:
                                at = -1
                                break
                            at = _space(text, at, stop)
                            if at < stop and text[at] == 93:
                                at += 1
                                break
                            at = _sign(text, at, stop, 44)
                    items[6, i] = total - first
                    if items[7, i] < 0:
                        items[7, i] = 0
                if at < 0:
                    break
                at = _space(text, at, stop)
                if at < stop and text[at] == 125:
                    break
                at = _sign(text, at, stop, 44)
            # Ids and references are needed, and nothing comes after the object.
            if at < 0 or not (seen & 1) or not (seen & 8) or _space(text, at + 1, stop) != stop:
                fine = False
                break
    counts[0] = total
    counts[1] = odds
    counts[2] = place[2]
    return fine


def scan_outputs(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    names: cython.const[cython.uchar][::1],
    outputs: cython.longlong[:, ::1],
    side: cython.uchar[::1],
    counts: cython.longlong[::1],
) -> bool:
    """Scan a line per output, which is an id and a text; false where something is unusual.

    `outputs` gets where both begin and end; `counts[2]` is how much of `side` is used.
    """
    place: cython.longlong[6] = [0] * 6
    i: cython.longlong
    at: cython.longlong
    stop: cython.longlong
    seen: cython.longlong
    which: cython.longlong
    lines: cython.longlong = starts.shape[0]
    fine: cython.bint = True
    with cython.nogil:
        for i in range(lines):
            stop = ends[i]
            seen = 0
            at = _sign(text, starts[i], stop, 123)
            while at >= 0:
                at = _key(text, at, stop, names, place)
                if at < 0:
                    break
                which = place[5]
                if (seen >> which) & 1:
                    at = -1
                    break
                seen |= cython.cast(cython.longlong, 1) << which
                if which == 0:
                    at = _identifier(text, at, stop, side, place)
                    if place[0] < 0 or place[0] == place[1]:
                        at = -1
                else:
                    at = _string(text, at, stop, side, place)
                if at < 0:
                    break
                outputs[2 * which, i] = place[0]
                outputs[2 * which + 1, i] = place[1]
                at = _space(text, at, stop)
                if at < stop and text[at] == 125:
                    break
                at = _sign(text, at, stop, 44)
            if at < 0 or seen != 3 or _space(text, at + 1, stop) != stop:
                fine = False
                break
    counts[2] = place[2]
    return fine


def read_numbers(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    tens: cython.const[cython.double][::1],
    values: cython.double[::1],
    odd: cython.longlong[::1],
) -> int:
    """The number in each span; how many spans are `odd`, and better read by Python."""
    place: cython.longlong[6] = [0] * 6
    value: cython.double[2] = [0.0] * 2
    i: cython.longlong
    odds: cython.longlong = 0
    spans: cython.longlong = starts.shape[0]
    with cython.nogil:
        for i in range(spans):
            if (
                _number(
                    text,
                    starts[i],
                    ends[i],
                    tens,
                    place,
                    value,
                )
                != ends[i]
                or place[4]
            ):
                odd[odds] = i
                odds += 1
            else:
                values[i] = value[0]
    return odds


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _skip(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    stop: cython.longlong,
    side: cython.uchar[::1],
    place: cython.p_longlong,
    keys: cython.longlong[:, ::1],
    used: cython.longlong,
    depth: cython.int,
) -> cython.longlong:
    """Past a value that nobody asked for; `keys` has names of the objects around it.

    Objects in which a name is there twice, or whose names have escapes, are unusual.
    """
    kept: cython.longlong = place[2]
    first: cython.longlong = used
    known: cython.longlong
    begin: cython.longlong
    size: cython.longlong
    k: cython.longlong
    c: cython.int
    closing: cython.int
    if at >= stop or depth > 30:
        return -1
    c = text[at]
    if c == 34:
        at = _string(text, at, stop, side, place)
        place[2] = kept
        return at
    if c == 110:
        return _null(text, at, stop)
    if c == 116:
        if at + 4 <= stop and text[at + 1] == 114 and text[at + 2] == 117 and text[at + 3] == 101:
            return at + 4
        return -1
    if c == 102:
        if at + 5 <= stop and text[at + 1] == 97 and text[at + 2] == 108 and text[at + 3] == 115:
            return at + 5 if text[at + 4] == 101 else -1
        return -1
    if c != 123 and c != 91:
        begin = at
        if c == 45:
            at += 1
        size = at
        while at < stop and 48 <= text[at] <= 57:
            at += 1
        if at == size or (text[size] == 48 and at - size > 1):
            return -1
        if at < stop and text[at] == 46:
            at += 1
            size = at
            while at < stop and 48 <= text[at] <= 57:
                at += 1
            if at == size:
                return -1
        if at - begin > 40 or (at < stop and (text[at] == 69 or text[at] == 101)):
            return -1
        return at
    closing = c + 2
    at = _space(text, at + 1, stop)
    if at < stop and text[at] == closing:
        return at + 1
    while True:
        if c == 123:
            begin = at + 1
            at = _bare_name(text, at, stop)
            size = at - begin
            if at < 0 or used >= keys.shape[1]:
                return -1
            for known in range(first, used):
                if keys[1, known] != size:
                    continue
                k = 0
                while k < size and text[keys[0, known] + k] == text[begin + k]:
                    k += 1
                if k == size:
                    return -1
            keys[0, used] = begin
            keys[1, used] = size
            used += 1
            at = _sign(text, at + 1, stop, 58)
            if at < 0:
                return -1
        at = _skip(text, at, stop, side, place, keys, used, depth + 1)
        if at < 0:
            return -1
        at = _space(text, at, stop)
        if at < stop and text[at] == closing:
            return at + 1
        at = _sign(text, at, stop, 44)
        if at < 0:
            return -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bare_name(
    text: cython.const[cython.uchar][::1], at: cython.longlong, stop: cython.longlong
) -> cython.longlong:
    """The end of a name without escapes, before its quotation mark."""
    if at >= stop or text[at] != 34:
        return -1
    at += 1
    while at < stop and text[at] != 34:
        if text[at] < 32 or text[at] == 92:
            return -1
        at += 1
    return at if at < stop else -1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _two_digits(text: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    """A number of two digits, or one below 0."""
    first: cython.longlong = text[at] - 48
    second: cython.longlong = text[at + 1] - 48
    if first < 0 or first > 9 or second < 0 or second > 9:
        return -1
    return 10 * first + second


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _moment(
    text: cython.const[cython.uchar][::1], at: cython.longlong, unknown: cython.longlong
) -> cython.longlong:
    """Milliseconds since 1970 of a time spelt 2018-10-10T20:19:24Z, or `unknown`."""
    century: cython.longlong = _two_digits(text, at)
    year: cython.longlong = _two_digits(text, at + 2)
    month: cython.longlong = _two_digits(text, at + 5)
    day: cython.longlong = _two_digits(text, at + 8)
    hour: cython.longlong = _two_digits(text, at + 11)
    minute: cython.longlong = _two_digits(text, at + 14)
    second: cython.longlong = _two_digits(text, at + 17)
    days: cython.longlong = 31
    leap: cython.bint
    if century < 0 or year < 0 or hour < 0 or minute < 0 or second < 0:
        return unknown
    if text[at + 4] != 45 or text[at + 7] != 45 or text[at + 13] != 58 or text[at + 16] != 58:
        return unknown
    if text[at + 19] != 90 or (text[at + 10] != 84 and text[at + 10] != 32):
        return unknown
    year += 100 * century
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if month == 4 or month == 6 or month == 9 or month == 11:
        days = 30
    elif month == 2:
        days = 29 if leap else 28
    if year < 1 or month < 1 or month > 12 or day < 1 or day > days:
        return unknown
    if hour > 23 or minute > 59 or second > 59:
        return unknown
    # Days of the years and months before; months are of the form 30 + a pattern from March on.
    if month < 3:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400
    days += (153 * (month - 3) + 2) // 5 + day - 719469
    return 1000 * (((days * 24 + hour) * 60 + minute) * 60 + second)


def scan_posts(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    names: cython.const[cython.uchar][::1],
    name_bounds: cython.const[cython.longlong][::1],
    bounds: cython.const[cython.longlong][::1],
    tens: cython.const[cython.double][::1],
    spans: cython.longlong[:, ::1],
    times: cython.longlong[::1],
    reposts: cython.uchar[::1],
    odd: cython.longlong[:, ::1],
    side: cython.uchar[::1],
    keys: cython.longlong[:, ::1],
    counts: cython.longlong[::1],
) -> None:
    """Scan a line per post, from a byte on; stops where something is unusual, and says where.

    `names` are what id, user, time, reply_to, text, repost_of and repost are called. `spans` gets
    where each line begins, and where id, user, reply_to and text begin and end (0 and 0 where there
    is none). `times` are in milliseconds, of which `bounds` are the first that cannot be seconds,
    the first that can be none at all, and what stands for no time. `odd` gets the post, begin and
    end of times that are better read by Python, and whether they are numbers. `counts` are those of
    posts, odd times and bytes of `side`, and where the next line begins.
    """
    place: cython.longlong[6] = [0] * 6
    value: cython.double[2] = [0.0] * 2
    i: cython.longlong = 0
    k: cython.longlong
    seen: cython.longlong
    which: cython.longlong
    begin: cython.longlong
    size: cython.longlong
    used: cython.longlong
    number: cython.longlong
    row: cython.longlong
    odds: cython.longlong = 0
    sign: cython.int
    stop: cython.longlong = len(text)
    line: cython.longlong = at
    with cython.nogil:
        while line < stop:
            at = line
            seen = 0
            used = 0
            spans[0, i] = line
            for row in range(1, 9):
                spans[row, i] = 0
            times[i] = bounds[2]
            reposts[i] = 0
            at = _sign(text, at, stop, 123)
            while at >= 0:
                begin = at + 1
                at = _bare_name(text, at, stop)
                if at < 0:
                    break
                size = at - begin
                at = _sign(text, at + 1, stop, 58)
                if at < 0 or at >= stop:
                    at = -1
                    break
                which = -1
                for row in range(7):
                    if name_bounds[row + 1] - name_bounds[row] != size:
                        continue
                    k = 0
                    while k < size and names[name_bounds[row] + k] == text[begin + k]:
                        k += 1
                    if k == size:
                        which = row
                        break
                if which < 0:
                    if used >= keys.shape[1]:
                        at = -1
                        break
                    for row in range(used):
                        if keys[1, row] != size:
                            continue
                        k = 0
                        while k < size and text[keys[0, row] + k] == text[begin + k]:
                            k += 1
                        if k == size:
                            at = -1
                            break
                    if at < 0:
                        break
                    keys[0, used] = begin
                    keys[1, used] = size
                    used += 1
                    at = _skip(text, at, stop, side, place, keys, used, 1)
                elif (seen >> which) & 1:
                    at = -1
                elif which == 2:
                    if text[at] == 34:
                        at = _string(text, at, stop, side, place)
                        if at >= 0 and place[1] > place[0]:
                            if place[1] - place[0] == 20 and place[0] < stop:
                                times[i] = _moment(text, place[0], bounds[2])
                            if times[i] == bounds[2]:
                                odd[0, odds] = i
                                odd[1, odds] = place[0]
                                odd[2, odds] = place[1]
                                odd[3, odds] = 0
                                odds += 1
                    elif text[at] == 110:
                        at = _null(text, at, stop)
                    else:
                        begin = at
                        number = 0
                        while at < stop and 48 <= text[at] <= 57 and at - begin < 18:
                            number = 10 * number + (text[at] - 48)
                            at += 1
                        if number < bounds[0]:
                            number = 1000 * number
                        size = at - begin
                        at = _number(text, begin, stop, tens, place, value)
                        if at == begin + size and number < bounds[1]:
                            times[i] = number
                        else:
                            odd[0, odds] = i
                            odd[1, odds] = begin
                            odd[2, odds] = at
                            odd[3, odds] = 1
                            odds += 1
                elif which == 6:
                    sign = text[at]
                    at = _skip(text, at, stop, side, place, keys, used, 1)
                    if sign == 116:
                        reposts[i] = 1
                    elif sign != 102 and sign != 110:
                        at = -1
                else:
                    if which == 4:
                        at = _text_or_null(text, at, stop, side, place)
                    else:
                        at = _identifier(text, at, stop, side, place)
                    if at >= 0 and place[0] >= 0:
                        if which == 5:
                            if place[1] > place[0]:
                                reposts[i] = 1
                        else:
                            row = 1
                            if which == 1:
                                row = 3
                            elif which == 3:
                                row = 5
                            elif which == 4:
                                row = 7
                            spans[row, i] = place[0]
                            spans[row + 1, i] = place[1]
                if at < 0:
                    break
                if which >= 0:
                    seen |= cython.cast(cython.longlong, 1) << which
                at = _space(text, at, stop)
                if at < stop and text[at] == 125:
                    break
                at = _sign(text, at, stop, 44)
            # An id is needed, and nothing comes after the object.
            if at < 0 or spans[2, i] == spans[1, i]:
                break
            at = _space(text, at + 1, stop)
            if at >= stop or text[at] != 10:
                break
            i += 1
            line = at + 1
        while odds > 0 and odd[0, odds - 1] >= i:
            odds -= 1
    counts[0] = i
    counts[1] = odds
    counts[2] = place[2]
    counts[3] = line
