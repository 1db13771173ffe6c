# cython: boundscheck=False, wraparound=False, infer_types=True
# mypy: ignore-errors
"""Kernel: UTF-8 text -> token hashes. Nothing but loops; see `deltableu.text.tokens`.

Text i of the buffer lies between `starts[i]` and `ends[i]`. `classes` maps a byte to what it does
to a token (`deltableu.text.tokens.ByteClass`); the tokenizers are such tables.
"""

# ruff: noqa: SIM108, SIM109
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


def hash_tokens(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    classes: cython.const[cython.uchar][::1],
    hashes: cython.ulonglong[::1],
    token_bounds: cython.longlong[::1],
    spans: cython.longlong[::1],
) -> cython.longlong:
    """Fill `hashes` (a token each) and `token_bounds` (a text each); return the tokens' number.

    Where `spans` has room (it may be empty) it gets the first and last byte + 1 of every token.
    """
    letter: cython.int = 0
    space: cython.int = 1
    symbol: cython.int = 2
    digit: cython.int = 3
    point: cython.int = 4
    dash: cython.int = 5
    lead: cython.int = 6
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    h: cython.ulonglong = seed
    count: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    keep_spans: cython.bint = spans.shape[0] > 0
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
                        h = seed
                    h = ((h ^ byte) * prime) & mask
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
                        h = ((h ^ byte) * prime) & mask
                        at += 1
                        continue
                    # The rules eat a run in pairs, so its parity decides whether the last one
                    # stays with a digit that follows.
                    glued = before_digit and ((run % 2 == 1) == after_digit)

                if opened >= 0:
                    if keep_spans:
                        spans[2 * count] = opened
                        spans[2 * count + 1] = at
                    hashes[count] = _finish(h)
                    count += 1
                    opened = -1
                if kind == space:
                    at += width
                    continue
                for k in range(run):
                    h = ((seed ^ text[at]) * prime) & mask
                    if k == run - 1 and glued:
                        opened = at
                    else:
                        if keep_spans:
                            spans[2 * count] = at
                            spans[2 * count + 1] = at + 1
                        hashes[count] = _finish(h)
                        count += 1
                    at += 1
            if opened >= 0:
                if keep_spans:
                    spans[2 * count] = opened
                    spans[2 * count + 1] = end
                hashes[count] = _finish(h)
                count += 1
            token_bounds[i + 1] = count
    return count


def hash_characters(
    text: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    ends: cython.const[cython.longlong][::1],
    classes: cython.const[cython.uchar][::1],
    hashes: cython.ulonglong[::1],
    token_bounds: cython.longlong[::1],
) -> cython.longlong:
    """As `hash_tokens`, every character that is no white space being a token."""
    space: cython.int = 1
    lead: cython.int = 6
    count: cython.longlong = 0
    texts: cython.longlong = starts.shape[0]
    point: cython.ulonglong
    golden: cython.ulonglong = 0x9E3779B97F4A7C15
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
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
                point = text[at]
                at += 1
                while at < end and (text[at] & 0xC0) == 0x80:
                    point = (point << 8) | text[at]
                    at += 1
                # Not 0 for U+0000: n-grams of it would all have one hash.
                hashes[count] = _finish((point + golden) & mask)
                count += 1
            token_bounds[i + 1] = count
    return count


def split_punctuation(
    text: cython.const[cython.uchar][::1],
    begins: cython.const[cython.longlong][::1],
    stops: cython.const[cython.longlong][::1],
    token_bounds: cython.const[cython.longlong][::1],
    punctuation: cython.const[cython.uchar][::1],
    hashes: cython.ulonglong[::1],
    word_bounds: cython.longlong[::1],
) -> cython.longlong:
    """Words of chrF++: one mark of punctuation is cut off a word's end or else its beginning."""
    seed: cython.ulonglong = 0xCBF29CE484222325
    prime: cython.ulonglong = 0x100000001B3
    mask: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    texts: cython.longlong = token_bounds.shape[0] - 1
    count: cython.longlong = 0
    h: cython.ulonglong
    with cython.nogil:
        word_bounds[0] = 0
        for i in range(texts):
            for k in range(token_bounds[i], token_bounds[i + 1]):
                begin = begins[k]
                end = stops[k]
                cut = end
                if end - begin > 1:
                    if punctuation[text[end - 1]]:
                        cut = end - 1
                    elif punctuation[text[begin]]:
                        cut = begin + 1
                h = seed
                for at in range(begin, cut):
                    h = ((h ^ text[at]) * prime) & mask
                hashes[count] = _finish(h)
                count += 1
                if cut < end:
                    h = seed
                    for at in range(cut, end):
                        h = ((h ^ text[at]) * prime) & mask
                    hashes[count] = _finish(h)
                    count += 1
            word_bounds[i + 1] = count
    return count
