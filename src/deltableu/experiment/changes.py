"""Settings as `--set` takes them in, the configuration's values changed accordingly."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io import shown

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
#: The name of a setting: bare or quoted keys with points between them.
_NAME = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")


def change_setting(values: dict[str, Any], change: str) -> None:
    """Put one setting in place of another; a table takes the place of a whole section.

    Examples
    --------
    >>> values = {"systems": {"my bot": {"keep": 1, "type": "retrieval"}}}
    >>> change_setting(values, 'systems."my bot".keep = 5')
    >>> values
    {'systems': {'my bot': {'keep': 5, 'type': 'retrieval'}}}
    """
    found = _NAME.match(change)
    if found is None:
        message = f"must be a line of TOML such as mine.top=5, got {shown(change)}"
        raise InputError(Problem(message, field="set"))
    name, value = found[1], change[found.end() :].strip()
    try:
        new = tomllib.loads(change)
    except (ValueError, RecursionError) as error:
        raise _wrong(name, _reason(name, value, error)) from None
    keys = []
    # What stands in quotes may hold points itself, so the keys are those that TOML found.
    for _ in re.findall(_PART, name):
        if len(new) != 1:
            raise _wrong(name, "is not the only setting here: write --set VALUE VALUE for several")
        ((key, new),) = new.items()
        keys.append(key)
    place = values
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise _wrong(name, f"cannot be set, because {key} is no table")
    place[keys[-1]] = new


def _reason(name: str, value: str, error: Exception) -> str:
    """Why TOML does not take a value."""
    if not value:
        return "has no value behind its equals sign"
    if re.fullmatch(r"[A-Za-z_][^\n\"'\[\]{}=]*", value):
        return f'needs quotes around a text: {name}="{shown(value)[1:-1]}"'
    told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    reason = told.partition(" (at ")[0].partition(";")[0]
    return f"has a value that is not TOML, {shown(value)}: {reason[:1].lower()}{reason[1:]}"


def _wrong(name: str, message: str) -> InputError:
    return InputError(Problem(f"{shown(name)[1:-1]} {message}", field="set"))
