"""Values of unknown type in, typed values out; what does not fit is reported with its place."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from typing import Literal

from deltableu.errors import Problem
from deltableu.io.problems import Report

_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INDEX = re.compile(r"\[[0-9]+\]")
_LONGEST_INTEGER = 400  # more digits than any float has, fewer than Python refuses to read


def shown(value: object) -> str:
    """A value as a problem quotes it: short, and on one line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def as_number(cell: str | None) -> object:
    """The number a cell spells, or the cell itself for a checker to complain about."""
    if cell is None:
        return None
    text = cell.strip(" ")
    if len(text) <= _LONGEST_INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else cell


def number_text(value: float) -> str:
    """A number as people write it; reading it gives the same number.

    Examples
    --------
    >>> number_text(4.0), number_text(0.6)
    ('4', '0.6')
    """
    try:
        value = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return str(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


class Checker:
    """Checks the values of one record after another and remembers whether the record failed.

    A method that complains returns a stand-in of the right type, so that all that is wrong with
    a record is said at once; the caller then drops the record because `failed` is true.
    """

    def __init__(self, file: str | None, report: Report) -> None:
        self.file = file
        self.report = report
        self.line: int | None = None
        self.item: str | None = None
        self.failed = False
        self._warned: set[str] = set()

    def start(self, line: int | None) -> None:
        """Begin a new record."""
        self.line = line
        self.item = None
        self.failed = False

    def complain(
        self, field: str | None, message: str, severity: Literal["error", "warning"] = "error"
    ) -> None:
        """Report one problem of the present record."""
        self.failed = self.failed or severity == "error"
        self.report(Problem(message, self.file, self.line, field, self.item, severity))

    def unknown(self, keys: Iterable[str], known: Collection[str], place: str = "") -> None:
        """Warn of keys nobody reads, each once a file: the first is as telling as all."""
        for key in keys:
            if key in known or (anywhere := _INDEX.sub("[]", place) + key) in self._warned:
                continue
            self._warned.add(anywhere)
            message = f"is not read: the names are {', '.join(known)}"
            self.complain(f"{place}{key}", message, "warning")

    def text(self, value: object, field: str) -> str:
        """Any text, also an empty one."""
        if isinstance(value, str):
            if not value.isascii() and _SURROGATE.search(value):
                self.complain(field, "holds a lone surrogate, which is no text: repair the escape")
            return value
        self.complain(field, _wrong("a string", value))
        return ""

    def optional_text(self, value: object, field: str) -> str | None:
        """A text, or None."""
        return None if value is None else self.text(value, field)

    def texts(self, value: object, field: str) -> tuple[str, ...]:
        """A list of texts; None is the empty list."""
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.complain(field, _wrong("a list of strings", value))
            return ()
        return tuple(self.text(one, f"{field}[{index}]") for index, one in enumerate(value))

    def identifier(self, value: object, field: str) -> str:
        """A name that is not empty; a whole number becomes its digits."""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = self.text(value, field)
        if text == "" and isinstance(value, str):
            self.complain(field, "must not be empty")
        return text

    def optional_identifier(self, value: object, field: str) -> str | None:
        """A name, or None; an empty name is no name, nor is the NaN of a data frame's gap."""
        gap = isinstance(value, float) and math.isnan(value)
        return None if value is None or value == "" or gap else self.identifier(value, field)

    def name(self, value: object, field: str) -> str:
        """A name, which may be a number; an empty text where there is none."""
        if value is None:
            return ""
        if isinstance(value, str):
            return value if value.isascii() else self.text(value, field)
        if isinstance(value, float):
            # Tables with gaps spell whole numbers so, and a gap may be a NaN.
            if math.isfinite(value):
                return number_text(value)
            if math.isnan(value):
                return ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self.complain(field, _wrong("a string or a whole number", value))
        return ""

    def number(
        self, value: object, field: str, within: tuple[float, float] | None = None
    ) -> float | None:
        """A finite number, or None."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.complain(field, _wrong("a number", value))
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if within is not None and not within[0] <= number <= within[1]:
            low, high = number_text(within[0]), number_text(within[1])
            self.complain(field, f"must lie in [{low}, {high}], got {shown(value)}")
            return None
        if not math.isfinite(number):
            self.complain(field, f"must be a finite number, got {shown(value)}")
            return None
        return number

    def integer(self, value: object, field: str) -> int | None:
        """A whole number, or None; `1.0` counts, since tables with gaps spell integers so."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.complain(field, _wrong("a whole number", value))
            return None
        return value


def _wrong(wanted: str, value: object) -> str:
    return "is missing" if value is None else f"must be {wanted}, got {shown(value)}"
