"""Charts of the report page: numbers in, places in per cent out; the page's templates draw them.

Drawn by the page and not by matplotlib, so that text and lines take the page's colours, in dark
mode too, and letters keep their size on a phone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array
from deltableu.compare import ComparedPair, Comparison
from deltableu.corpus import ORIGINS, Item
from deltableu.io import written
from deltableu.stats import best_fit

Tone = Literal["better", "worse", "unclear", "untested", "baseline"]
_WORDS: dict[Tone, str] = {
    "better": "better",
    "worse": "worse",
    "unclear": "cannot tell",
    "untested": "not tested",
    "baseline": "baseline",
}
#: More dots than this are one dark spot: they become a grid of shades.
_DOTS = 1000
_GRID = 28
_BINS = 21


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie, in per cent of a chart's width."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float], *, with_zero: bool = False) -> Axis:
        """A scale that holds all values, with a little room."""
        known = [one for one in values if math.isfinite(one)] + [0.0] * with_zero
        low, high = min(known, default=0.0), max(known, default=1.0)
        room = 0.06 * (high - low) or 0.5
        return cls(low - room, high + room)

    def place(self, value: float) -> float:
        """In per cent."""
        return round(100.0 * (value - self.low) / (self.high - self.low), 2)

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Places and labels of round numbers.

        Examples
        --------
        >>> Axis(-1.0, 9.0).ticks()
        [(10.0, '0'), (30.0, '2'), (50.0, '4'), (70.0, '6'), (90.0, '8')]
        """
        raw = (self.high - self.low) / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * one for one in (1, 2, 5, 10) if power * one >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        digits = max(0, -math.floor(math.log10(step)))
        values = [number * step for number in range(first, last + 1)]
        return [(self.place(one), signed_minus(f"{one + 0.0:.{digits}f}")) for one in values]


@dataclass(frozen=True, slots=True)
class IntervalMark:
    """One system of an interval chart; places in per cent."""

    system: str
    tone: Tone
    value: float
    low: float | None
    high: float | None
    text: str
    interval: str

    @property
    def word(self) -> str:
        """What the colour says, for those who do not see it."""
        return _WORDS[self.tone]


@dataclass(frozen=True, slots=True)
class IntervalChart:
    """Systems below each other, with a dot and a line each."""

    marks: tuple[IntervalMark, ...]
    ticks: tuple[tuple[float, str], ...]
    zero: float


@dataclass(frozen=True, slots=True)
class Dot:
    """A point of a scatter plot; places in per cent of the plot, y from above."""

    x: float
    y: float
    name: str = ""
    label_y: float = 0.0
    left: bool = False


@dataclass(frozen=True, slots=True)
class Square:
    """A part of the plane with many points, as dark as there are many."""

    x: float
    y: float
    shade: float
    count: int


@dataclass(frozen=True, slots=True)
class Scatter:
    """People against a metric."""

    metric: str
    title: str
    caption: str
    dots: tuple[Dot, ...]
    squares: tuple[Square, ...]
    size: float
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    #: The line of best fit, from (x, y) to (x, y); none where there is none.
    fit: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """One stacked bar: its left edge, and bottom and height by origin, in per cent."""

    left: float
    parts: tuple[tuple[int, float, float], ...]
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class Histogram:
    """How the weights of references are spread, by origin."""

    origins: tuple[str, ...]
    bars: tuple[Bar, ...]
    width: float
    highest: int


def difference_chart(comparison: Comparison, baseline: str) -> IntervalChart:
    """What each system has more or less than the baseline, with intervals."""
    found = []
    for one in comparison.systems:
        if one.system != baseline:
            found.append((one.system, *_turned(comparison.pair(one.system, baseline), baseline)))
    ends = [end for _, difference, *ends, _ in found for end in (difference, *ends)]
    scale = Axis.of([end for end in ends if end is not None], with_zero=True)
    marks = [
        IntervalMark(
            system,
            tone,
            scale.place(difference),
            None if low is None else scale.place(low),
            None if high is None else scale.place(high),
            signed_minus(f"{round(difference, 2) + 0.0:+.2f}"),
            "" if low is None else signed_minus(f"{low:.2f} to {high:.2f}"),
        )
        for system, difference, low, high, tone in found
    ]
    return IntervalChart(tuple(marks), tuple(scale.ticks()), scale.place(0.0))


def _turned(pair: ComparedPair, baseline: str) -> tuple[float, float | None, float | None, Tone]:
    """Difference, interval and tone of the system over the baseline, whichever came first."""
    sign = 1.0 if pair.second == baseline else -1.0
    low = high = None
    if pair.interval is not None:
        low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
    tone: Tone = "unclear"
    if pair.better is not None:
        tone = "worse" if pair.better == baseline else "better"
    elif all(math.isnan(value) for value in pair.p_values.values()):
        tone = "untested"
    return sign * pair.difference, low, high, tone


def system_scatter(
    metric: str, caption: str, systems: Sequence[str], scores: Array, people: Array
) -> Scatter:
    """A dot with a name for each system."""
    known = np.flatnonzero(np.isfinite(scores) & np.isfinite(people)).tolist()
    across, up = Axis.of(scores[known].tolist()), Axis.of(people[known].tolist())
    dots = [Dot(across.place(scores[s]), 100.0 - up.place(people[s]), systems[s]) for s in known]
    fit = _fit(scores[known], people[known], across, up)
    return Scatter(metric, "per system", caption, _labelled(dots), (), 0.0, *_axes(across, up), fit)


def output_scatter(metric: str, caption: str, scores: Array, people: Array) -> Scatter:
    """A dot for each output, or a grid of shades where there are very many."""
    known = np.isfinite(scores) & np.isfinite(people)
    x, y = scores[known], people[known]
    across, up = Axis.of(x.tolist()), Axis.of(y.tolist())
    places = [(across.place(a), 100.0 - up.place(b)) for a, b in zip(x, y, strict=True)]
    dots: tuple[Dot, ...] = ()
    squares: tuple[Square, ...] = ()
    if len(places) <= _DOTS:
        dots = tuple(Dot(a, b) for a, b in places)
    else:
        counts = np.zeros((_GRID, _GRID), dtype=np.int64)
        cells = (np.array(places) * (_GRID / 100.0)).astype(np.int64).clip(0, _GRID - 1)
        np.add.at(counts, (cells[:, 0], cells[:, 1]), 1)
        side, most = 100.0 / _GRID, math.log1p(int(counts.max()))
        squares = tuple(
            Square(
                round(side * i, 2),
                round(side * j, 2),
                round(0.15 + 0.85 * math.log1p(counts[i, j]) / most, 2),
                int(counts[i, j]),
            )
            for i, j in np.argwhere(counts).tolist()
        )
    size = round(100.0 / _GRID, 2)
    fit = _fit(x, y, across, up)
    return Scatter(metric, "per output", caption, dots, squares, size, *_axes(across, up), fit)


def _fit(x: Array, y: Array, across: Axis, up: Axis) -> tuple[float, float, float, float] | None:
    """The ends of the line of best fit, in per cent of the plot."""
    if len(x) < 3 or x.min() == x.max():
        return None
    low, slope = best_fit(x, y)
    ends = [(end, low + slope * end) for end in (float(x.min()), float(x.max()))]
    (x1, y1), (x2, y2) = ((across.place(a), round(100.0 - up.place(b), 2)) for a, b in ends)
    return x1, y1, x2, y2


def _axes(
    across: Axis, up: Axis
) -> tuple[tuple[tuple[float, str], ...], tuple[tuple[float, str], ...]]:
    heights = [(100.0 - place, label) for place, label in up.ticks(4)]
    return tuple(across.ticks(4)), tuple(heights)


def _labelled(dots: Sequence[Dot]) -> tuple[Dot, ...]:
    """Names beside their dots, moved down where two would cover each other."""
    placed: list[Dot] = []
    lowest = {False: -100.0, True: -100.0}
    for dot in sorted(dots, key=lambda one: one.y):
        left = dot.x > 55.0
        height = max(dot.y, lowest[left] + 6.5)
        lowest[left] = height
        placed.append(Dot(dot.x, dot.y, dot.name, round(height, 2), left))
    return tuple(placed)


def weight_histogram(items: Sequence[Item]) -> Histogram | None:
    """The weights of the references in 21 bins, which put each value of k/10 into its middle."""
    weights: dict[str, list[float]] = {}
    for item in items:
        for one in item.references:
            if one.weight is not None:
                weights.setdefault(one.origin, []).append(one.weight)
    origins = tuple(origin for origin in ORIGINS if origin in weights)
    if not origins:
        return None
    width = 2.1 / _BINS
    counts = np.array(
        [np.histogram(weights[one], bins=_BINS, range=(-1.05, 1.05))[0] for one in origins]
    )
    highest = int(counts.sum(axis=0).max())
    bars = []
    for place in np.flatnonzero(counts.sum(axis=0)).tolist():
        heights = (counts[:, place] * 100.0 / highest).tolist()
        parts = tuple(
            (number, round(sum(heights[:number]), 2), round(height, 2))
            for number, height in enumerate(heights)
            if height
        )
        label = signed_minus(written(-1.0 + place * width, "signed"))
        total = int(counts[:, place].sum())
        bars.append(Bar(round(100.0 * place / _BINS, 2), parts, total, label))
    return Histogram(origins, tuple(bars), round(100.0 / _BINS, 2), highest)


def signed_minus(text: str) -> str:
    """A number with the minus sign of typography, which lines up with digits."""
    return text.replace("-", "−")
