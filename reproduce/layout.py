"""Numbers and tables as the page shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from deltableu.stats.intervals import ConfidenceInterval

__all__ = ["against", "number", "p_value", "table", "with_interval"]

NOTHING = "-"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def number(value: float | None, digits: int = 3) -> str:
    """A correlation or score; a dash where there is none."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.{digits}f}"


def with_interval(value: float, interval: ConfidenceInterval) -> str:
    """A value and its interval, which a perfect correlation does not have."""
    if math.isnan(interval.low):
        return f"{number(value)} (none)"
    return f"{number(value)} ({number(interval.low)}, {number(interval.high)})"


def against(ours: float, published: float | None, digits: int = 3) -> tuple[str, str]:
    """What was published, and how far off ours is."""
    if published is None:
        return NOTHING, NOTHING
    # Adding 0 takes the sign off a difference that is nothing when rounded.
    return number(published, digits), f"{round(ours - published, digits) + 0.0:+.{digits}f}"


def p_value(value: float) -> str:
    """Three digits, or that it is smaller."""
    if math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
