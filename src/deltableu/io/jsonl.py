"""JSON Lines in, records with their line numbers out, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import msgspec

from deltableu.errors import Problem
from deltableu.io.checker import shown
from deltableu.io.files import atomic_write, filled_lines, read_lines
from deltableu.io.names import PathLike, file_name
from deltableu.io.problems import Report, fail

_T = TypeVar("_T")


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number that JSON knows: write null")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {shown(digits)} is too large")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"the name {shown(twice)} is there twice: which value is meant?")
    return made


_decoder = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_object
)
#: For `decode_many`.
OBJECTS = msgspec.json.Decoder(dict[str, Any])


def decode(text: str) -> object:
    """Read JSON, strictly: a ValueError says in one sentence what is wrong.

    There is no NaN and no Infinity, numbers are finite, and an object has each name once.
    """
    try:
        value: object = _decoder.decode(text)
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:]
        raise ValueError(f"is not valid JSON at column {error.pos + 1}: {reason}") from None
    except RecursionError:
        raise ValueError("is not usable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"is not usable JSON: {str(error).partition(';')[0]}") from None
    return value


def decode_object(text: str) -> dict[str, object]:
    """Read JSON that must be an object, as strictly as `decode` does."""
    found = decode_many((text.encode(errors="surrogatepass"),), OBJECTS)
    value = decode(text) if found is None else found[0]
    if not isinstance(value, dict):
        raise ValueError(f"must be a JSON object such as {{...}}, got {shown(value)}")
    return value


def decode_many(texts: Sequence[bytes], decoder: msgspec.json.Decoder[_T]) -> list[_T] | None:
    """Read many objects fast; None where one of them may be wrong, and must be read by itself.

    msgspec refuses all that `decode` refuses, but for a name that is there twice: the last value
    wins. Objects that lost one have fewer colons when they are written again, as long as no colon
    was an escape before.
    """
    try:
        objects = list(map(decoder.decode, texts))
        written = msgspec.json.encode(objects)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    text = b"\n".join(texts)
    if text.count(b":") != written.count(b":") or (b"\\" in text and b"\\u003" in text):
        return None
    return objects


def encode(value: object) -> str:
    """Write JSON on one line, with every character that need not be escaped as it is."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_records(
    path: PathLike, report: Report = fail
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield line numbers and the objects the lines hold."""
    name = file_name(path)
    for number, line in filled_lines(read_lines(path, report), name, report):
        try:
            record = decode_object(line)
        except ValueError as error:
            report(Problem(str(error), file=name, line=number))
            continue
        yield number, record


def write_records(path: PathLike, records: Iterable[Mapping[str, object]]) -> None:
    """Write one object a line."""
    with atomic_write(path) as stream:
        for record in records:
            stream.write(encode(record) + "\n")
