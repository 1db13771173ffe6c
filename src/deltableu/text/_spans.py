# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: spans of bytes -> one buffer. Nothing but loops; see `deltableu.text.texts`."""

import cython


def join_spans(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    joined: cython.uchar[::1],
) -> None:
    """Fill `joined` with the spans, and a line feed after each but the last."""
    newline: cython.uchar = 10
    i: cython.longlong
    k: cython.longlong
    at: cython.longlong = 0
    begin: cython.longlong
    size: cython.longlong
    spans: cython.longlong = starts.shape[0]
    with cython.nogil:
        for i in range(spans):
            if i > 0:
                joined[at] = newline
                at += 1
            begin = starts[i]
            size = ends[i] - begin
            for k in range(size):
                joined[at + k] = text[begin + k]
            at += size


def join_cells(
    text: cython.const[cython.uchar][::1],
    side: cython.const[cython.uchar][::1],
    cells: cython.const[cython.longlong][:, ::1],
    joined: cython.uchar[::1],
) -> int:
    """Fill `joined` with lines of cells, tabs between them; how many bytes they take.

    `cells` has, for each column, where cells begin and where they end; what lies behind the text is
    in `side`. Tabs, line feeds, carriage returns and backslashes in cells are spelt with a
    backslash, so that there must be room for twice as many bytes.
    """
    i: cython.longlong
    k: cython.longlong
    column: cython.longlong
    at: cython.longlong = 0
    begin: cython.longlong
    end: cython.longlong
    size: cython.longlong = len(text)
    byte: cython.uchar
    with cython.nogil:
        for i in range(cells.shape[1]):
            for column in range(cells.shape[0] // 2):
                begin = cells[2 * column, i]
                end = cells[2 * column + 1, i]
                for k in range(begin, end):
                    byte = text[k] if k < size else side[k - size]
                    if byte == 9 or byte == 10 or byte == 13 or byte == 92:
                        joined[at] = 92
                        at += 1
                        if byte == 9:
                            byte = 116
                        elif byte == 10:
                            byte = 110
                        elif byte == 13:
                            byte = 114
                    joined[at] = byte
                    at += 1
                joined[at] = 9
                at += 1
            joined[at - 1] = 10
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _continues(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    least: cython.int,
    most: cython.int,
) -> cython.bint:
    """Whether a byte within bounds is there."""
    return at < size and least <= text[at] <= most


def is_utf8(text: cython.const[cython.uchar][::1]) -> bool:
    """Whether the bytes are UTF-8, as Unicode's table 3-7 has it: no surrogate, nothing overlong.

    See The Unicode Standard 15.0, 3.9, table 3-7.
    """
    size: cython.longlong = len(text)
    at: cython.longlong = 0
    lead: cython.int
    least: cython.int
    most: cython.int
    fine: cython.bint = True
    with cython.nogil:
        while at < size and fine:
            lead = text[at]
            at += 1
            if lead < 0x80:
                continue
            least = 0x80
            most = 0xBF
            if 0xC2 <= lead <= 0xDF:
                fine = _continues(text, at, size, least, most)
                at += 1
            elif 0xE0 <= lead <= 0xEF:
                if lead == 0xE0:
                    least = 0xA0
                elif lead == 0xED:
                    most = 0x9F
                fine = _continues(text, at, size, least, most) and _continues(
                    text, at + 1, size, 0x80, 0xBF
                )
                at += 2
            elif 0xF0 <= lead <= 0xF4:
                if lead == 0xF0:
                    least = 0x90
                elif lead == 0xF4:
                    most = 0x8F
                fine = (
                    _continues(text, at, size, least, most)
                    and _continues(text, at + 1, size, 0x80, 0xBF)
                    and _continues(text, at + 2, size, 0x80, 0xBF)
                )
                at += 3
            else:
                fine = False
    return fine


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _has(eight: cython.ulonglong, byte: cython.ulonglong) -> cython.ulonglong:
    """Not 0 where one of eight bytes is that one."""
    ones: cython.ulonglong = 0x0101010101010101
    rest: cython.ulonglong = eight ^ (byte * ones)
    return (rest - ones) & ~rest & (128 * ones)


def find_bytes(
    text: cython.const[cython.uchar][::1],
    eights: cython.const[cython.ulonglong][::1],
    first: cython.uchar,
    second: cython.uchar,
    places: cython.longlong[::1],
) -> cython.longlong:
    """Put the places of two bytes into `places`; their number.

    Where that leaves no room for eight, there may be more.

    `eights` is the same memory, eight bytes a number, but for the last ones.
    """
    count: cython.longlong = 0
    room: cython.longlong = places.shape[0] - 8
    at: cython.longlong
    k: cython.longlong
    with cython.nogil:
        for at in range(eights.shape[0]):
            if count <= room and _has(eights[at], first) | _has(eights[at], second):
                for k in range(8 * at, 8 * at + 8):
                    # Without a branch, which would be mispredicted.
                    places[count] = k
                    count += (text[k] == first) | (text[k] == second)
        for k in range(8 * eights.shape[0], text.shape[0]):
            if count <= room and (text[k] == first or text[k] == second):
                places[count] = k
                count += 1
    return count
