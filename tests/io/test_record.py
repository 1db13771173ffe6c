"""Results as JSON holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np

from deltableu.io import as_record, field_record


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    low: float
    high: float
    _hidden: int = 0


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner | None
    values: np.ndarray
    path: Path = Path("a/b")
    ranks: tuple[int, int] = (1, 2)
    by_test: dict[int, float] = field(default_factory=lambda: {1: 0.5})

    @property
    def both(self) -> int:
        return sum(self.ranks)


@dataclass(frozen=True)
class Told(Outer):
    def record(self):
        return {**field_record(self, without=("values", "path")), "both": self.both}


def test_dataclasses_arrays_and_what_is_no_number():
    outer = Outer("x", Inner(1.0, float("inf")), np.array([[1.0, np.nan]]))
    record = as_record([outer, Colour.RED, np.int64(3), np.bool_(True), frozenset({1})])
    assert record == [
        {
            "name": "x",
            "inner": {"low": 1.0, "high": None},
            "values": [[1.0, None]],
            "path": "a/b",
            "ranks": [1, 2],
            "by_test": {"1": 0.5},
        },
        "red",
        3,
        True,
        [1],
    ]
    json.dumps(record, allow_nan=False)


def test_a_class_may_say_itself_what_its_record_holds():
    assert as_record(Told("x", None, np.ones(3))) == {
        "name": "x",
        "inner": None,
        "ranks": [1, 2],
        "by_test": {"1": 0.5},
        "both": 3,
    }
