"""Options that every command takes: limits of what is read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from deltableu.errors import InputError
from deltableu.io import MAX_LINE, MAX_UNPACKED


@contextmanager
def limits_of(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Heed the limits among the arguments of a command, and give the other arguments."""
    variables = {limit.option: limit.variable for limit in (MAX_LINE, MAX_UNPACKED)}
    before = {name: os.environ.get(name) for name in variables.values()}
    rest: list[str] = []
    waiting = iter(arguments)
    try:
        for argument in waiting:
            option, equals, value = argument.partition("=")
            if option not in variables:
                rest.append(argument)
                continue
            given = value if equals else next(waiting, "")
            if "\0" in given or not given:
                raise InputError(f"{option} takes a size such as 500MB or 8GB, got {given!r}")
            os.environ[variables[option]] = given
        for limit in (MAX_LINE, MAX_UNPACKED):
            limit.given()  # complains before anything is done
        yield rest
    finally:
        for name, text in before.items():
            if text is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = text
