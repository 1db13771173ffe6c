# cython: boundscheck=False, wraparound=False, cdivision=True
# mypy: ignore-errors
"""Kernel: milliseconds since 1970 -> ISO 8601. Nothing but loops; see `deltableu.logs.times`."""

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put(
    spelt: cython.uchar[::1], at: cython.longlong, number: cython.longlong, digits: cython.int
) -> cython.int:
    """Digits of a number, from the last to the first; returns 0."""
    k: cython.int
    for k in range(digits):
        spelt[at + digits - 1 - k] = cython.cast(cython.uchar, 48 + number % 10)
        number = number // 10
    return 0


def spell_times(
    times: cython.const[cython.longlong][::1],
    unknown: cython.longlong,
    least: cython.longlong,
    spelt: cython.uchar[::1],
    ends: cython.longlong[::1],
) -> None:
    """Spell each time from byte 24 * i on, to `ends[i]`; `least` is the first day, at midnight."""
    i: cython.longlong
    at: cython.longlong
    days: cython.longlong
    rest: cython.longlong
    year: cython.longlong
    month: cython.longlong
    with cython.nogil:
        for i in range(times.shape[0]):
            at = 24 * i
            if times[i] == unknown:
                ends[i] = at
                continue
            # Days since the first of March of the year 0, on which leap days end their years.
            days = (times[i] - least) // 86400000
            rest = (times[i] - least) - 86400000 * days
            days += 306
            # Eras of 400 years: Hinnant, "chrono-Compatible Low-Level Date Algorithms".
            year = days // 146097
            days -= 146097 * year
            month = (days - days // 1460 + days // 36524 - days // 146096) // 365
            days -= 365 * month + month // 4 - month // 100
            year = 400 * year + month
            month = (5 * days + 2) // 153
            days -= (153 * month + 2) // 5
            month += 3
            if month > 12:
                month -= 12
                year += 1
            _put(spelt, at, year, 4)
            spelt[at + 4] = 45
            _put(spelt, at + 5, month, 2)
            spelt[at + 7] = 45
            _put(spelt, at + 8, days + 1, 2)
            spelt[at + 10] = 84
            _put(spelt, at + 11, rest // 3600000, 2)
            spelt[at + 13] = 58
            _put(spelt, at + 14, rest // 60000 % 60, 2)
            spelt[at + 16] = 58
            _put(spelt, at + 17, rest // 1000 % 60, 2)
            at += 19
            if rest % 1000 != 0:
                spelt[at] = 46
                _put(spelt, at + 1, rest % 1000, 3)
                at += 4
            spelt[at] = 90
            ends[i] = at + 1
