# cython: boundscheck=False, wraparound=False
# mypy: ignore-errors
"""Kernel: UTF-8 text -> words in small letters. Nothing but loops; see `deltableu.text.words`.

Words are written one after the other, in UTF-8, word k between `spelt_bounds[k]` and the next. A
small letter may take more bytes than the capital, but never twice as many. `kinds` and `lower` say
of every character of the Basic Multilingual Plane what it does to a word
(`deltableu.text.words.Kind`) and what its small letter is. Most characters are ASCII: `plain` has
the small letter of those that are letters or digits, and 0 for every other byte.
"""

# ruff: noqa: SIM109
import cython


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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _spell(spelt: cython.uchar[::1], at: cython.longlong, point: cython.uint) -> cython.longlong:
    """Write a character in UTF-8; returns where the next one goes."""
    if point < 0x80:
        spelt[at] = point
        return at + 1
    if point < 0x800:
        spelt[at] = 0xC0 | (point >> 6)
        spelt[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        spelt[at] = 0xE0 | (point >> 12)
        spelt[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        spelt[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    spelt[at] = 0xF0 | (point >> 18)
    spelt[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    spelt[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    spelt[at + 3] = 0x80 | (point & 0x3F)
    return at + 4


def spell_words(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    plain: cython.const[cython.uchar][::1],
    spelt: cython.uchar[::1],
    spelt_bounds: cython.longlong[::1],
    bounds: cython.longlong[::1],
    spans: cython.longlong[:, ::1],
) -> cython.longlong:
    """Write all words, and fill `bounds` (a text each); return the words' number.

    Where `spans` has rows (it may have none) they get the first and last byte + 1 of every word.
    """
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    apostrophe: cython.uint = 0x27
    beyond: cython.uint = 0x10000
    count: cython.longlong = 0
    written: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    i: cython.longlong
    at: cython.longlong
    here: cython.longlong
    after: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    letter: cython.uchar
    opened: cython.bint
    keep_spans: cython.bint = spans.shape[0] > 0
    with cython.nogil:
        bounds[0] = 0
        spelt_bounds[0] = 0
        for i in range(texts):
            at = starts[i]
            end = ends[i]
            opened = False
            while at < end:
                if not keep_spans:
                    # Without a branch, which would be mispredicted at every word's end.
                    while at < end and text[at] < 0x80 and text[at] != apostrophe:
                        letter = plain[text[at]]
                        spelt[written] = letter
                        written += letter > 0
                        spelt_bounds[count + 1] = written
                        count += opened > (letter > 0)
                        opened = letter > 0
                        at += 1
                    if at == end:
                        break
                here = at
                letter = plain[text[at]]
                if letter:
                    if not opened:
                        opened = True
                        if keep_spans:
                            spans[count, 0] = here
                    while letter:
                        spelt[written] = letter
                        written += 1
                        at += 1
                        if at == end:
                            break
                        letter = plain[text[at]]
                    continue
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
                        if keep_spans:
                            spans[count, 0] = here
                    written = _spell(spelt, written, point)
                    continue
                if opened:
                    opened = False
                    if keep_spans:
                        spans[count, 1] = here
                    count += 1
                    spelt_bounds[count] = written
                if kind == alone:
                    if keep_spans:
                        spans[count, 0] = here
                        spans[count, 1] = at
                    written = _spell(spelt, written, point)
                    count += 1
                    spelt_bounds[count] = written
            if opened:
                if keep_spans:
                    spans[count, 1] = end
                count += 1
                spelt_bounds[count] = written
            bounds[i + 1] = count
    return count


def spell_tokens(
    text: cython.const[cython.uchar][::1],
    begins: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    spelt: cython.uchar[::1],
    spelt_bounds: cython.longlong[::1],
    bounds: cython.longlong[::1],
    kept: cython.longlong[::1],
) -> cython.longlong:
    """As `spell_words`, of tokens that somebody else has cut; those without a letter fall out.

    `kept` gets the numbers of the others.
    """
    word: cython.int = 1
    alone: cython.int = 2
    joiner: cython.int = 3
    apostrophe: cython.uint = 0x27
    beyond: cython.uint = 0x10000
    count: cython.longlong = 0
    written: cython.longlong
    i: cython.longlong
    k: cython.longlong
    at: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    lettered: cython.bint
    with cython.nogil:
        bounds[0] = 0
        spelt_bounds[0] = 0
        for i in range(token_bounds.shape[0] - 1):
            for k in range(token_bounds[i], token_bounds[i + 1]):
                at = begins[k]
                written = spelt_bounds[count]
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
                    written = _spell(spelt, written, point)
                if lettered:
                    kept[count] = k
                    count += 1
                    spelt_bounds[count] = written
            bounds[i + 1] = count
    return count


def spell_texts(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    kinds: cython.const[cython.uchar][::1],
    lower: cython.const[cython.ushort][::1],
    plain: cython.const[cython.uchar][::1],
    spelt: cython.uchar[::1],
    spelt_bounds: cython.longlong[::1],
    worded: cython.uchar[::1],
) -> None:
    """Write all that makes each text what it is, and whether that is letters.

    Of a text without letters it is every character but white space.
    """
    word: cython.int = 1
    alone: cython.int = 2
    space: cython.int = 4
    beyond: cython.uint = 0x10000
    written: cython.longlong = 0
    i: cython.longlong
    at: cython.longlong
    end: cython.longlong
    point: cython.uint
    width: cython.int
    kind: cython.int
    lettered: cython.uchar
    letter: cython.uchar
    with cython.nogil:
        spelt_bounds[0] = 0
        for i in range(starts.shape[0]):
            at = starts[i]
            end = ends[i]
            lettered = 0
            while at < end:
                point = text[at]
                if point < 0x80:
                    # Without a branch, which would be mispredicted at every word's end.
                    letter = plain[point]
                    spelt[written] = letter
                    written += letter > 0
                    lettered |= letter
                    at += 1
                    continue
                width = _width(point)
                point = _point(text, at, width)
                at += width
                kind = alone
                if point < beyond:
                    kind = kinds[point]
                    point = lower[point]
                if kind == word or kind == alone:
                    written = _spell(spelt, written, point)
                    lettered = 1
            worded[i] = lettered > 0
            if lettered == 0:
                at = starts[i]
                while at < end:
                    width = _width(text[at])
                    point = _point(text, at, width)
                    at += width
                    if kinds[point] != space:
                        written = _spell(spelt, written, lower[point])
            spelt_bounds[i + 1] = written


def text_ends(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    plain: cython.const[cython.uchar][::1],
    lanes: cython.ulonglong[::1],
) -> None:
    """Fill `lanes` with the first and the last 8 letters of each text, as `spell_texts` spells it.

    Both are 0 where not all of what stands there is ASCII, or nothing is a letter.
    """
    golden: cython.ulonglong = 0x9E3779B97F4A7C15
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    full: cython.ulonglong = 1 << 56
    i: cython.longlong
    at: cython.longlong
    begin: cython.ulonglong
    end: cython.ulonglong
    letter: cython.uint
    beyond: cython.uint
    with cython.nogil:
        for i in range(starts.shape[0]):
            begin = 0
            end = 0
            beyond = 0
            at = starts[i]
            while at < ends[i] and begin < full:
                beyond |= text[at]
                letter = plain[text[at]]
                begin = (begin << 8 | letter) if letter else begin
                at += 1
            at = ends[i] - 1
            while at >= starts[i] and end < full:
                beyond |= text[at]
                letter = plain[text[at]]
                end = (end << 8 | letter) if letter else end
                at -= 1
            if beyond >= 0x80 or begin == 0:
                begin = 0
                end = 0
            # The first one chooses a place in tables.
            lanes[2 * i] = ((begin ^ (end >> 29)) * golden) & mask
            lanes[2 * i + 1] = end


def add_numbers(
    lanes: cython.const[cython.ulonglong][::1],
    slots: cython.ulonglong[::1],
    numbers: cython.int[::1],
    used: cython.longlong,
    found: cython.int[::1],
    fresh: cython.longlong[::1],
) -> cython.longlong:
    """Fill `found` with the numbers of words; return how many are new, their places in `fresh`.

    A word is two of the `lanes`. `slots` and `numbers` are a table with a power of two of places,
    -1 where one is free. New words are numbered from `used` on, in the order in which they come.
    """
    mask: cython.ulonglong = numbers.shape[0] - 1
    at: cython.ulonglong
    h: cython.ulonglong
    check: cython.ulonglong
    i: cython.longlong
    new: cython.longlong = 0
    with cython.nogil:
        for i in range(found.shape[0]):
            h = lanes[2 * i]
            check = lanes[2 * i + 1]
            at = h & mask
            while numbers[at] >= 0 and (slots[2 * at] != h or slots[2 * at + 1] != check):
                at = (at + 1) & mask
            if numbers[at] < 0:
                slots[2 * at] = h
                slots[2 * at + 1] = check
                numbers[at] = used + new
                fresh[new] = i
                new += 1
            found[i] = numbers[at]
    return new


def find_numbers(
    lanes: cython.const[cython.ulonglong][::1],
    slots: cython.const[cython.ulonglong][::1],
    numbers: cython.const[cython.int][::1],
    found: cython.int[::1],
) -> None:
    """Fill `found` with the numbers of words, -1 where the table of `add_numbers` has none."""
    mask: cython.ulonglong = numbers.shape[0] - 1
    at: cython.ulonglong
    h: cython.ulonglong
    check: cython.ulonglong
    i: cython.longlong
    with cython.nogil:
        for i in range(found.shape[0]):
            h = lanes[2 * i]
            check = lanes[2 * i + 1]
            at = h & mask
            while numbers[at] >= 0 and (slots[2 * at] != h or slots[2 * at + 1] != check):
                at = (at + 1) & mask
            found[i] = numbers[at]
