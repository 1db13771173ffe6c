"""Kinds of options that several commands take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from deltableu.errors import InputError

__all__ = ["STANDARD_INPUT", "Flag", "Several", "Whole", "listed"]

#: How `-` passes the parser, which takes it for an option without a name.
STANDARD_INPUT = "<standard input>"

Several = Parameter(consume_multiple=True, negative=())
Flag = Parameter(negative=())


def _whole(_: object, tokens: Sequence[Any]) -> int:
    """A whole number; the parser would round 1.5."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        message = f"--{tokens[0].keyword.lstrip('-')} takes a whole number, got {text!r}"
        raise InputError(message) from None


Whole = Annotated[int, Parameter(converter=_whole)]


def listed(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
