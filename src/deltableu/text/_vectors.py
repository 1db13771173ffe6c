# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: lines of a word and its numbers -> arrays. Nothing but loops; see `.vectors`."""

import cython


def parse_lines(
    text: cython.const[cython.uchar][::1],
    powers: cython.const[cython.double][::1],
    state: cython.longlong[::1],
    stops: cython.longlong[::1],
    starts: cython.longlong[::1],
    numbers: cython.float[:, ::1],
) -> None:
    """Fill `numbers`, and bytes of words in `starts` and `stops`, until something is unusual.

    There are as many lines as rows, and each ends with a line feed. `state` has the byte and row to
    go on with. Unusual is what must be looked at closely: another number of numbers, no number, or
    one whose digits or exponent are so many that a product of two doubles is not the nearest one.
    """
    newline: cython.int = 10
    space: cython.int = 32
    most: cython.ulonglong = 1 << 53
    size: cython.longlong = numbers.shape[0]
    dimension: cython.longlong = numbers.shape[1]
    at: cython.longlong = state[0]
    row: cython.longlong = state[1]
    here: cython.longlong
    d: cython.longlong
    digits: cython.int
    exponent: cython.int
    shown: cython.int
    mantissa: cython.ulonglong
    value: cython.double
    c: cython.int
    negative: cython.bint
    below: cython.bint
    usual: cython.bint = True
    with cython.nogil:
        while row < size and usual:
            here = at
            while text[at] != space and text[at] != newline:
                at += 1
            if at == here:
                usual = False
            starts[row] = here
            stops[row] = at
            for d in range(dimension):
                if not usual or text[at] != space:
                    usual = False
                    break
                at += 1
                negative = text[at] == 45
                if negative:
                    at += 1
                mantissa = 0
                digits = 0
                exponent = 0
                while True:
                    c = text[at] - 48
                    if c < 0 or c > 9:
                        break
                    mantissa = mantissa * 10 + c
                    digits += 1
                    at += 1
                if text[at] == 46:
                    at += 1
                    while True:
                        c = text[at] - 48
                        if c < 0 or c > 9:
                            break
                        mantissa = mantissa * 10 + c
                        digits += 1
                        exponent -= 1
                        at += 1
                if digits == 0 or digits > 18 or mantissa > most:
                    usual = False
                    break
                if text[at] == 101 or text[at] == 69:
                    at += 1
                    below = text[at] == 45
                    if below or text[at] == 43:
                        at += 1
                    shown = 0
                    digits = 0
                    while True:
                        c = text[at] - 48
                        if c < 0 or c > 9 or digits > 4:
                            break
                        shown = shown * 10 + c
                        digits += 1
                        at += 1
                    if digits == 0:
                        usual = False
                        break
                    exponent += -shown if below else shown
                if exponent < -22 or exponent > 22:
                    usual = False
                    break
                value = mantissa
                if exponent < 0:
                    value /= powers[-exponent]
                if exponent > 0:
                    value *= powers[exponent]
                numbers[row, d] = -value if negative else value
            if usual:
                while text[at] == space:
                    at += 1
                if text[at] == 13:
                    at += 1
                usual = text[at] == newline
            if usual:
                at += 1
                row += 1
            else:
                at = here
    state[0] = at
    state[1] = row
