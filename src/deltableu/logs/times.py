"""Times as logs spell them in, milliseconds since 1970 out, and back; spans of dates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

import numpy as np

from deltableu import _kernels
from deltableu._types import Ints
from deltableu.io import shown
from deltableu.text import Texts

_kernel = _kernels.load("logs._times")

Span = tuple[int | None, int | None]
"""From the first millisecond to before the last; None where the end is open."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_TWITTER = re.compile(
    r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) (\d{2}) (\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2}) (\d{4})"
)
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
#: Seconds that would lie after the year 5000 are milliseconds.
LARGEST_SECONDS = 1e11
LARGEST = 253_402_300_800_000  # the year 10000
SMALLEST = -62_135_596_800_000  # the year 1
#: Stands for a time that nobody knows, among numbers.
NO_TIME = np.iinfo(np.int64).min
_HOUR = 3_600_000
#: Signs of a time with milliseconds.
_LONGEST = 24
_CLOCK = [f"{minute:02}:{second:02}" for minute in range(60) for second in range(60)]


def parse_time(value: object) -> int | None:
    """Milliseconds since 1970; None where there is no time; a ValueError says what is wrong.

    Takes ISO 8601 (UTC where no zone is named), Twitter's spelling, dates and times of Python, and
    numbers: seconds since 1970, or milliseconds where seconds would lie after the year 5000.

    Examples
    --------
    >>> [parse_time(text) for text in ("1970-01-01T00:01:00Z", "60", 60.5, "")]
    [60000, 60000, 60500, None]
    >>> time_text(parse_time("Wed Oct 10 20:19:24 +0000 2018"))
    '2018-10-10T20:19:24Z'
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip(" ")
        if text[4:5] == "-" and text[10:11] in ("T", " "):  # the usual spelling, which is no number
            return _of_text(text)
        if text == "":
            return None
        return _of_number(float(text)) if _NUMBER.fullmatch(text) else _of_text(text)
    if isinstance(value, datetime):
        return _of_datetime(value)
    if isinstance(value, date):
        return _of_datetime(datetime(value.year, value.month, value.day))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(_wrong(value))
    if isinstance(value, float) and math.isnan(value):
        return None  # how tables with gaps spell them
    return _of_number(value)


def parse_times(values: Sequence[object]) -> Sequence[int | None]:
    """The same for many, faster where all are spelt 2018-10-10T20:19:24Z.

    Examples
    --------
    >>> parse_times(["1970-01-01T00:01:00Z", "1969-12-31 23:59:59Z"])
    [60000, -1000]
    """
    if set(map(type, values)) == {str}:
        found = _usual_times(values)  # type: ignore[arg-type]
        if found is not None:
            return found
    return [parse_time(value) for value in values]


_DIGITS = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18]
_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_BEFORE = np.cumsum(_DAYS) - _DAYS
_EPOCH_DAY = date(1970, 1, 1).toordinal()


def _usual_times(texts: Sequence[str]) -> list[int] | None:
    """None where one is spelt in another way, or is no time."""
    joined = "".join(texts)
    if set(map(len, texts)) != {20} or not joined.isascii():
        return None
    codes = np.frombuffer(joined.encode(), np.uint8).reshape(-1, 20).T
    for place, sign in ((4, "-"), (7, "-"), (13, ":"), (16, ":"), (19, "Z")):
        if (codes[place] != ord(sign)).any():
            return None
    if ((codes[10] != ord("T")) & (codes[10] != ord(" "))).any():
        return None
    digits = codes.astype(np.int32) - ord("0")
    if (digits[_DIGITS] < 0).any() or (digits[_DIGITS] > 9).any():
        return None
    year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3]
    month, day, hour, minute, second = (digits[n] * 10 + digits[n + 1] for n in (5, 8, 11, 14, 17))
    if (year < 1).any() or (month < 1).any() or (month > 12).any():
        return None
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    most: Ints = _DAYS[month - 1] + (leap & (month == 2))
    if (day < 1).any() or (day > most).any():
        return None
    if (hour > 23).any() or (minute > 59).any() or (second > 59).any():
        return None
    last = year - 1
    days = last.astype(np.int64) * 365 + last // 4 - last // 100 + last // 400
    days += _BEFORE[month - 1] + (leap & (month > 2)) + day - _EPOCH_DAY
    milliseconds: list[int] = ((days * 86400 + hour * 3600 + minute * 60 + second) * 1000).tolist()
    return milliseconds


def _wrong(value: object) -> str:
    example = "2018-10-10T20:19:24Z, or seconds since 1970"
    return f"must be a time such as {example}, got {shown(value)}"


def _of_number(number: float) -> int:
    milliseconds = number * 1000 if abs(number) < LARGEST_SECONDS else number
    if not SMALLEST <= milliseconds < LARGEST:
        raise ValueError(_wrong(number))
    return round(milliseconds)


def _of_text(text: str) -> int:
    if text[4:5] != "-" and (found := _TWITTER.fullmatch(text)):
        month, day, clock, hours, minutes, year = found.groups()
        if month in _MONTHS:
            text = f"{year}-{_MONTHS.index(month) + 1:02}-{day}T{clock}{hours}:{minutes}"
    try:
        return _of_datetime(datetime.fromisoformat(text))
    except ValueError:
        raise ValueError(_wrong(text)) from None


def _of_datetime(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment.microsecond == 0 and moment.tzinfo is UTC:
        return int(moment.timestamp()) * 1000  # the same, faster
    return (moment - _EPOCH) // _MILLISECOND


def time_text(milliseconds: int | None) -> str:
    """A time as ISO 8601 in UTC; empty where there is none.

    Examples
    --------
    >>> time_text(1_500_000_000_250), time_text(None)
    ('2017-07-14T02:40:00.250Z', '')
    """
    if milliseconds is None:
        return ""
    hours, rest = divmod(milliseconds, _HOUR)
    seconds, rest = divmod(rest, 1000)
    return f"{_hour_text(hours)}:{_CLOCK[seconds]}{f'.{rest:03}' if rest else ''}Z"


def time_texts(milliseconds: Ints) -> Texts:
    """The same for many; `NO_TIME` is empty.

    Examples
    --------
    >>> time_texts(np.array([1_500_000_000_250, NO_TIME, -1000])).strings()
    ['2017-07-14T02:40:00.250Z', '', '1969-12-31T23:59:59Z']
    """
    spelt = np.empty(_LONGEST * len(milliseconds), np.uint8)
    ends = np.empty(len(milliseconds), np.int64)
    _kernel.spell_times(np.ascontiguousarray(milliseconds), NO_TIME, SMALLEST, spelt, ends)
    return Texts(spelt.tobytes(), np.arange(len(ends)) * _LONGEST, ends)


@lru_cache(maxsize=4096)
def _hour_text(hours: int) -> str:
    """Times of a log lie close together, so most hours are known from the time before."""
    return (_EPOCH + timedelta(hours=hours)).isoformat()[:13]


def parse_span(text: str) -> Span:
    """A year, month, day or second, or all from one to another, both included.

    Examples
    --------
    >>> [time_text(end) for end in parse_span("2017")]
    ['2017-01-01T00:00:00Z', '2018-01-01T00:00:00Z']
    >>> [time_text(end) for end in parse_span("2018-11..2018-12")]
    ['2018-11-01T00:00:00Z', '2019-01-01T00:00:00Z']
    >>> parse_span("..1969")
    (None, 0)
    """
    first, dots, last = text.partition("..")
    if not dots:
        return _unit(text)
    if not first and not last:
        raise ValueError("'..' has no end: write such as 2017..2018, ..2016 or 2019..")
    start = _unit(first)[0] if first else None
    end = _unit(last)[1] if last else None
    if start is not None and end is not None and start >= end:
        raise ValueError(f"{text!r} ends before it begins")
    return start, end


def _unit(text: str) -> tuple[int, int]:
    try:
        if found := _DATE.fullmatch(text):
            year, month, day = (None if part is None else int(part) for part in found.groups())
            first = date(year or 0, month or 1, day or 1)
            if day is not None:
                last = first + timedelta(days=1)
            elif month is not None:
                last = date(first.year + month // 12, month % 12 + 1, 1)
            else:
                last = date(first.year + 1, 1, 1)
            return _of_day(first), _of_day(last)
        start = _of_datetime(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text!r} is no date: write such as 2017, 2017-03 or 2017-03-31"
        ) from None
    return start, start + 1000


def _of_day(day: date) -> int:
    return _of_datetime(datetime(day.year, day.month, day.day))
