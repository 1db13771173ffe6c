"""Values of rows in, checked ones out; many at once where all are just as they should be."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import TypeAlias

import msgspec

from deltableu.io import Checker, shown
from deltableu.logs.times import parse_time, parse_times

Name: TypeAlias = str | int | float | msgspec.UnsetType | None
"""A name in a row that is read as a struct."""

_YES, _NO = ("true", "1", "yes", "t", "y"), ("false", "0", "no", "f", "n", "")
_ABSENT = {NoneType, msgspec.UnsetType}
_TEXTS = _ABSENT | {str}
_NAMES = _TEXTS | {int}
_TRUTHS = _ABSENT | {bool}


def plain_names(values: Sequence[object]) -> Sequence[str] | None:
    """Names, empty where there is none; None where one must be looked at."""
    types = set(map(type, values))
    if types == {str}:
        return values  # type: ignore[return-value]
    if types <= _ABSENT:
        return [""] * len(values)
    if not types <= _NAMES:  # a whole number may be written as a float
        return None
    return ["" if type(value) in _ABSENT else str(value) for value in values]


def plain_texts(values: Sequence[object]) -> Sequence[str] | None:
    """The same for texts."""
    types = set(map(type, values))
    if types == {str}:
        return values  # type: ignore[return-value]
    return [value if type(value) is str else "" for value in values] if types <= _TEXTS else None


def plain_times(values: Sequence[object]) -> Sequence[int | None] | None:
    """The same for times."""
    try:
        if msgspec.UNSET in values:
            values = [None if value is msgspec.UNSET else value for value in values]
        return parse_times(values)
    except ValueError:
        return None


def plain_truths(values: Sequence[object]) -> Sequence[bool] | None:
    """The same for what is true or false; a text says it in many ways."""
    types = set(map(type, values))
    if types == {str}:
        said = {text: _truth(text) for text in set(map(str, values))}
        return None if None in said.values() else [said[text] is True for text in map(str, values)]
    return [value is True for value in values] if types <= _TRUTHS else None


def _truth(text: str) -> bool | None:
    text = text.strip(" ").lower()
    return True if text in _YES else False if text in _NO else None


def checked_identifier(value: object, field: str, checker: Checker) -> str:
    """A name that is there."""
    name = checker.name(value, field)
    if name == "":
        checker.complain(field, "is missing")
    return name


def checked_text(value: object, field: str, checker: Checker) -> str:
    """A text, empty where there is none."""
    if isinstance(value, str) and value.isascii():
        return value
    return "" if value is None else checker.text(value, field)


def checked_time(value: object, field: str, checker: Checker) -> int | None:
    """A time, None where there is none."""
    try:
        return parse_time(value)
    except ValueError as error:
        checker.complain(field, str(error))
        return None


def checked_truth(value: object, field: str, checker: Checker) -> bool:
    """Whether something is true; what is not there is not."""
    if value is None or value is False or value is True:
        return value is True
    truth = _truth(str(value))
    if truth is None:
        checker.complain(field, f"must be true or false, got {shown(value)}")
    return truth is True
