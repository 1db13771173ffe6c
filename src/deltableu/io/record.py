"""Results in, records for JSON out."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from deltableu._visible import UNSEEN


def as_record(value: object) -> Any:
    """What JSON can hold of a value: every number unrounded, and null where there is none.

    Dataclasses become mappings by the names of their fields, unless they have a method `record()`
    that says otherwise. Arrays become lists, paths texts, and NaN and infinities null.

    Examples
    --------
    >>> import numpy as np
    >>> as_record({"scores": np.array([1.0, np.nan]), "ranks": (1, 2)})
    {'scores': [1.0, None], 'ranks': [1, 2]}
    """
    match value:
        case None | bool() | int() | str():
            return value
        case Enum():
            return as_record(value.value)
        case float():
            return float(value) if math.isfinite(value) else None
        case Mapping():
            return {str(key): as_record(one) for key, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [as_record(one) for one in value]
    # A field of this name is one like others.
    if callable(record := getattr(value, "record", None)):
        return as_record(record())
    if is_dataclass(value):
        return field_record(value)
    if hasattr(value, "tolist"):  # an array, or a number of numpy's
        return as_record(value.tolist())
    return str(value)


def field_record(value: Any, *, without: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass, for a `record()` that has more to say, or less."""
    names = (field.name for field in fields(value) if field.name not in without)
    return {name: as_record(getattr(value, name)) for name in names if not name.startswith("_")}


def json_text(record: object, *, ascii_only: bool = False) -> str:
    """Indented JSON of a record, in which escapes stand for what a terminal would obey."""
    text = json.dumps(record, ensure_ascii=ascii_only, indent=2, allow_nan=False)
    # All of these lie inside strings, where JSON knows them by their numbers.
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
