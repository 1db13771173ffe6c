"""TOML in, plain values out, and back."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping

from deltableu.errors import Problem
from deltableu.io.files import read_raw_lines
from deltableu.io.names import PathLike, file_name
from deltableu.io.problems import Report, fail


def read_toml(path: PathLike, report: Report = fail) -> dict[str, object]:
    """A document's values; an empty one where something is wrong and `report` did not raise."""
    text = "".join(line for _, line in read_raw_lines(path, report))
    try:
        return tomllib.loads(text)
    except RecursionError:
        report(Problem("is not usable TOML: it is nested too deeply", file=file_name(path)))
    except ValueError as error:
        report(_toml_problem(error, file_name(path)))
    return {}


def _toml_problem(error: ValueError, name: str) -> Problem:
    # Numbers that Python does not convert are not the parser's own errors.
    reason, _, place = str(error).partition("; use sys.")[0].partition(" (at ")
    line = re.match(r"line (\d+)", place)
    message = f"is not valid TOML: {reason[:1].lower()}{reason[1:]}"
    return Problem(message, file=name, line=int(line[1]) if line else None)


def toml_string(text: str) -> str:
    """A text in quotes."""
    # A JSON string is a TOML string, but for one control character that JSON does not escape.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_lines(values: Mapping[str, object]) -> Iterator[str]:
    """Lines of a document with texts, numbers and lists of these, and tables of such values.

    Examples
    --------
    >>> print("\\n".join(toml_lines({"title": "A", "rows": [{"name": "x", "ends": [1, 5]}]})))
    title = "A"
    <BLANKLINE>
    [[rows]]
    name = "x"
    ends = [1, 5]
    """
    inner = [(key, value) for key, value in values.items() if _tables(value)]
    for key, value in values.items():
        if not _tables(value):
            yield f"{key} = {_value(value)}"
    for key, value in inner:
        for row in _tables(value):
            yield ""
            yield f"[{key}]" if isinstance(value, Mapping) else f"[[{key}]]"
            for name, one in row.items():
                yield f"{name} = {_value(one)}"


def _tables(value: object) -> list[Mapping[str, object]]:
    """The tables that a value is, or consists of."""
    if isinstance(value, Mapping):
        return [value]
    if isinstance(value, list | tuple) and all(isinstance(one, Mapping) for one in value):
        return list(value)
    return []


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, list | tuple):
        if value and all(isinstance(one, str) and len(one) > 30 for one in value):
            return "[\n" + "".join(f"    {_value(one)},\n" for one in value) + "]"
        return f"[{', '.join(map(_value, value))}]"
    return str(value)
