"""Times as logs spell them in, milliseconds since 1970 out, and back; spans of dates."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta

from deltableu.io import shown

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
_LARGEST_SECONDS = 1e11
_LARGEST = 253_402_300_800_000  # the year 10000


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


def _wrong(value: object) -> str:
    example = "2018-10-10T20:19:24Z, or seconds since 1970"
    return f"must be a time such as {example}, got {shown(value)}"


def _of_number(number: float) -> int:
    milliseconds = number * 1000 if abs(number) < _LARGEST_SECONDS else number
    if not abs(milliseconds) < _LARGEST:
        raise ValueError(_wrong(number))
    return round(milliseconds)


def _of_text(text: str) -> int:
    if found := _TWITTER.fullmatch(text):
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
    moment = _EPOCH + milliseconds * _MILLISECOND
    unit = "milliseconds" if milliseconds % 1000 else "seconds"
    return moment.isoformat(timespec=unit).replace("+00:00", "Z")


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
