"""One rating: who said what of which output or reference, and on which scale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar, get_args

from deltableu._types import Array
from deltableu.errors import InputError

Kind = Literal["item", "bad-reference", "reference", "repeat"]
Value = TypeVar("Value", float, Array)

KINDS: tuple[str, ...] = get_args(Kind)
#: Ratings of these kinds say what somebody thinks of a target; the others control the rater.
SCORED: tuple[Kind, ...] = ("item", "repeat")


@dataclass(frozen=True, slots=True)
class Rating:
    """One raw judgement, never overwritten; `target` is `system:NAME` or `reference:ID`."""

    rater: str
    item: str
    target: str
    value: float
    criterion: str = "overall"
    scale: str | None = None
    kind: Kind = "item"
    pair: str | None = None
    position: int | None = None
    started: str | None = None
    finished: str | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """A rating scale, written `LOW-HIGH` in files: `1-5` (Likert), `0-100` (slider), `-1-1`.

    Examples
    --------
    >>> round(Scale.parse("1-5").weight(4.2), 9)
    0.6
    >>> Scale.parse("0-100").weight(50)
    0.0
    """

    low: float
    high: float

    @staticmethod
    @lru_cache(maxsize=64)
    def parse(text: str) -> Scale:
        """Read `LOW-HIGH`; either end may be negative."""
        found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*-\s*(-?\d+(?:\.\d+)?)\s*", text)
        if found is None or float(found[1]) >= float(found[2]):
            raise InputError(f"a scale is written LOW-HIGH, such as 1-5 or 0-100, got {text!r}")
        return Scale(float(found[1]), float(found[2]))

    def weight(self, value: Value) -> Value:
        """Map (mean) ratings to weights in [-1, 1], the middle of the scale to 0."""
        return (2 * value - self.low - self.high) / (self.high - self.low)
