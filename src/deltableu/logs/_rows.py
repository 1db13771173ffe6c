# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: lines of TSV -> where the wanted texts lie. Nothing but loops; see `readers`.

The text ends with a line feed, so that no loop needs to look for its end; `words` are the same
bytes by eight, without those left over. Slot `f * lines + i` of `starts` and `ends` is field f of
line i. Texts that had to be unescaped go to `side`, which lies behind the text: its first byte is
byte `len(text)`. A line that is not understood is odd: `odd` gets its number, its first byte and
its line feed. `counts` gets how many lines are odd and how many bytes of `side` are used.
"""

# ruff: noqa: SIM102
import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _width(
    text: cython.const[cython.uchar][::1], at: cython.longlong, size: cython.longlong
) -> cython.longlong:
    """Bytes of the character beyond ASCII that starts here (RFC 3629, section 4), or 0."""
    first: cython.uchar = text[at]
    low: cython.int = 0x80
    high: cython.int = 0xBF
    width: cython.longlong
    k: cython.longlong
    if 0xC2 <= first <= 0xDF:
        width = 2
    elif 0xE0 <= first <= 0xEF:
        width = 3
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
    elif 0xF0 <= first <= 0xF4:
        width = 4
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    else:
        return 0
    if at + width > size or text[at + 1] < low or text[at + 1] > high:
        return 0
    for k in range(2, width):
        if text[at + k] & 0xC0 != 0x80:
            return 0
    return width


def first_not_utf8(
    text: cython.const[cython.uchar][::1], words: cython.const[cython.ulonglong][::1]
) -> cython.longlong:
    """The first byte that begins no UTF-8 character, or -1; `words` are the same bytes by eight."""
    size: cython.longlong = len(text)
    word_count: cython.longlong = words.shape[0]
    beyond_ascii: cython.ulonglong = 0x8080808080808080
    at: cython.longlong = 0
    bad: cython.longlong = -1
    word: cython.longlong
    width: cython.longlong
    with cython.nogil:
        while at < size:
            if at & 7 == 0:
                word = at >> 3
                while word < word_count and words[word] & beyond_ascii == 0:
                    word += 1
                at = word << 3
                if at >= size:
                    break
            if text[at] < 0x80:
                at += 1
                continue
            width = _width(text, at, size)
            if width == 0:
                bad = at
                break
            at += width
    return bad


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _unescape_cell(
    text: cython.const[cython.uchar][::1],
    at: cython.longlong,
    end: cython.longlong,
    side: cython.uchar[::1],
    used: cython.longlong,
) -> cython.longlong:
    r"""Write a TSV cell (``\t``, ``\n``, ``\r``, ``\\``; ``\e`` alone is empty) to `side`."""
    byte: cython.uchar
    if end - at == 2 and text[at] == 92 and text[at + 1] == 101:
        return used
    while at < end:
        byte = text[at]
        at += 1
        if byte == 92 and at < end:
            if text[at] == 116:
                byte = 9
                at += 1
            elif text[at] == 110:
                byte = 10
                at += 1
            elif text[at] == 114:
                byte = 13
                at += 1
            elif text[at] == 92:
                at += 1
        side[used] = byte
        used += 1
    return used


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _plain_cell(words: cython.const[cython.ulonglong][::1], at: cython.longlong) -> cython.longlong:
    """Skip words of eight bytes that hold no tab, line feed or backslash."""
    ones: cython.ulonglong = 0x0101010101010101
    highs: cython.ulonglong = 0x8080808080808080
    tabs: cython.ulonglong = 0x0909090909090909
    feeds: cython.ulonglong = 0x0A0A0A0A0A0A0A0A
    slashes: cython.ulonglong = 0x5C5C5C5C5C5C5C5C
    size: cython.longlong = words.shape[0]
    word: cython.longlong = at >> 3
    tab: cython.ulonglong
    feed: cython.ulonglong
    slash: cython.ulonglong
    while word < size:
        # A byte of x is zero only where (x - 0x01...) & ~x & 0x80... has a bit.
        tab = words[word] ^ tabs
        feed = words[word] ^ feeds
        slash = words[word] ^ slashes
        tab = (tab - ones) & ~tab
        feed = (feed - ones) & ~feed
        slash = (slash - ones) & ~slash
        if (tab | feed | slash) & highs:
            break
        word += 1
    return word << 3


def cut_tsv(
    text: cython.const[cython.uchar][::1],
    words: cython.const[cython.ulonglong][::1],
    fields: cython.const[cython.longlong][::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    side: cython.uchar[::1],
    odd: cython.longlong[::1],
    counts: cython.longlong[::1],
    lines: cython.longlong,
) -> cython.longlong:
    """Cut lines at their tabs; `fields` names each column's field, -1 where nobody wants it.

    `side` need not be longer than the text, and may be empty where the text has no backslash.
    """
    size: cython.longlong = len(text)
    columns: cython.longlong = fields.shape[0]
    at: cython.longlong = 0
    used: cython.longlong = 0
    saved: cython.longlong
    odd_lines: cython.longlong = 0
    line: cython.longlong
    begin: cython.longlong
    cell: cython.longlong
    column: cython.longlong
    end: cython.longlong
    slot: cython.longlong
    byte: cython.uchar
    escaped: cython.bint
    with cython.nogil:
        for line in range(lines):
            begin = at
            cell = at
            column = 0
            escaped = False
            saved = used
            while True:
                if at & 7 == 0:
                    at = _plain_cell(words, at)
                byte = text[at]
                if (byte != 9) & (byte != 10) & (byte != 92):
                    at += 1
                    continue
                if byte == 92:
                    escaped = True
                    at += 1
                    continue
                end = at
                if byte == 10 and end > cell:
                    if text[end - 1] == 13:
                        end -= 1
                if column < columns:
                    if fields[column] >= 0:
                        slot = fields[column] * lines + line
                        if escaped:
                            starts[slot] = size + used
                            used = _unescape_cell(text, cell, end, side, used)
                            ends[slot] = size + used
                        else:
                            starts[slot] = cell
                            ends[slot] = end
                column += 1
                at += 1
                if byte == 10:
                    break
                cell = at
                escaped = False
            if column != columns:
                odd[3 * odd_lines] = line
                odd[3 * odd_lines + 1] = begin
                odd[3 * odd_lines + 2] = at - 1
                odd_lines += 1
                used = saved
        counts[0] = odd_lines
        counts[1] = used
    return odd_lines
