"""When ratings were begun and ended in; seconds per text, and the order of rating, out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import RatingTable

#: Seconds since 1970 have fewer digits than milliseconds.
_MILLISECONDS = 1e11
#: Mechanical Turk's times, whose zones Python does not know; both ends of a task have the same.
_TURK = re.compile(r"(\w{3} \w{3} +\d+ \d\d:\d\d:\d\d) [A-Z]{2,5} (\d{4})")
#: Share of ratings that may have been made at the same time as others, if their order is to count.
_TIED = 0.1


def moments(column: object) -> Array:
    """Times as seconds since 1970; NaN where there is none, or none that can be read.

    ISO 8601, numbers of seconds or milliseconds, and Mechanical Turk's form are read; without a
    zone, a time is taken for UTC.

    Examples
    --------
    >>> moments(["1970-01-01T00:01:00Z", "90.5", None, "soon"]).tolist()
    [60.0, 90.5, nan, nan]
    """
    given = np.asarray(column, dtype=object).tolist()
    return np.array([_moment(one) for one in given], dtype=np.float64)


def _moment(value: object) -> float:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return float("nan") if value is None else _read(str(value).strip())


@lru_cache(maxsize=100_000)
def _read(text: str) -> float:
    try:
        number = float(text)
        return number / 1000.0 if abs(number) >= _MILLISECONDS else number
    except ValueError:
        pass
    turk = _TURK.fullmatch(text)
    try:
        if turk is not None:
            return _moment(datetime.strptime(" ".join(turk.groups()), "%a %b %d %H:%M:%S %Y"))
        return _moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class RaterTimes:
    """How long ratings took.

    Attributes
    ----------
    seconds : array
        Per rating: of the text that was rated, NaN where that is not known.
    backwards : array of bool
        Which ratings ended before they began.
    begun : array
        When ratings began, or else ended; NaN where neither is known.
    ended : array
    """

    seconds: Array
    backwards: Bools
    begun: Array
    ended: Array

    def __getitem__(self, places: Ints) -> RaterTimes:
        """Those of some ratings."""
        return RaterTimes(
            self.seconds[places], self.backwards[places], self.begun[places], self.ended[places]
        )


def rater_times(ratings: RatingTable) -> RaterTimes:
    """How long raters took for each text.

    Ratings of one rater that began and ended at the same moments were made on one page, or are
    known only as one session: each of their texts took its share of the time.
    """
    started, finished = moments(ratings.started), moments(ratings.finished)
    spent = finished - started
    known = np.isfinite(spent) & (spent >= 0.0)
    seconds = np.full(len(ratings), np.nan)
    if known.any():
        page = row_numbers(ratings.rater[known], started[known], finished[known])
        columns = (ratings.item, ratings.system, ratings.reference, ratings.kinds)
        # Several answers about one text are one reading of it.
        text = row_numbers(page, *(one[known] for one in columns))
        _, first = np.unique(text, return_index=True)
        seconds[known] = spent[known] / np.bincount(page[first])[page]
    begun = np.where(np.isfinite(started), started, finished)
    return RaterTimes(seconds, spent < 0.0, begun, finished)


def row_numbers(*columns: Array | Ints) -> Ints:
    """A number for each different row; NaN equals NaN.

    Examples
    --------
    >>> row_numbers(np.array([1, 1, 2]), np.array([np.nan, np.nan, 3.0])).tolist()
    [0, 0, 1]
    """
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        different, places = np.unique(column, return_inverse=True)
        _, numbers = np.unique(numbers * len(different) + places, return_inverse=True)
    return numbers


def in_order(begun: Array, position: object) -> Ints | None:
    """The places of a rater's ratings in the order in which they were made.

    None where that is not known: times are missing, or many ratings have the same. Within a page,
    the position counts.

    Examples
    --------
    >>> in_order(moments(["9", "5", "7"]), [None, None, None]).tolist()
    [1, 2, 0]
    >>> in_order(moments(["9", "5", None]), [None, None, None])
    """
    if not np.isfinite(begun).all():
        return None
    places = np.array([-1 if one is None else one for one in np.asarray(position).tolist()])
    order = np.lexsort((places, begun))
    both = np.column_stack((begun, places))
    if len(both) - len(np.unique(both, axis=0)) > _TIED * len(both):
        return None
    return order
