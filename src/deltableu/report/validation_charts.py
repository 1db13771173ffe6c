"""Charts of a validation: violins, a map of tests, a curve of consistency; places in per cent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deltableu._types import Array
from deltableu.io import written
from deltableu.rate import Consistency
from deltableu.report.charts import Axis
from deltableu.validate import MetricComparison, QualityBins

#: Places at which a density is drawn, and the finer ones at which it is counted.
_DRAWN, _COUNTED = 61, 244
#: Points that make a curve.
_POINTS = 3


@dataclass(frozen=True, slots=True)
class Violin:
    """The scores of one bin: an outline, and where quartiles and median lie."""

    name: str
    count: int
    outline: str
    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True)
class ViolinChart:
    """A metric's scores of bad, average and good outputs."""

    metric: str
    violins: tuple[Violin, ...]
    ticks: tuple[tuple[float, str], ...]
    caption: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One test of a map: whether the row's metric is better than the column's."""

    text: str
    significant: bool


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Which metrics agree significantly better than which."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, bool, tuple[HeatCell | None, ...]], ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """A line with its axes."""

    points: str
    dots: tuple[tuple[float, float, str], ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    caption: str


def violin_chart(found: QualityBins) -> ViolinChart:
    """The distribution of a metric's scores in each bin (Wei's Figure 6)."""
    known = [one for one in found.bins if len(one.scores)]
    scale = Axis.of([end for one in known for end in (one.scores[0], one.scores[-1])])
    violins = []
    for one in known:
        low, median, high = np.quantile(one.scores, (0.25, 0.5, 0.75)).tolist()
        places = (scale.place(low), scale.place(median), scale.place(high))
        violins.append(Violin(one.name, len(one.scores), _outline(one.scores, scale), *places))
    return ViolinChart(found.metric, tuple(violins), tuple(scale.ticks(4)), _told(found))


def _told(found: QualityBins) -> str:
    """How well neighbouring bins are told apart, in a sentence."""
    parts = [
        f"{better.name} from {worse.name} {100 * apart:.0f}%"
        for (worse, better), apart in zip(pairwise(found.bins), found.apart, strict=True)
        if not math.isnan(apart)
    ]
    return f"told apart (50% is chance): {', '.join(parts)}" if parts else ""


def _outline(scores: Array, scale: Axis) -> str:
    """A closed line about the middle (50), as wide as the density is high."""
    low, high = float(scores[0]), float(scores[-1])
    if low == high:
        place = scale.place(low)
        return f"{place - 0.4:.2f},5 {place + 0.4:.2f},5 {place + 0.4:.2f},95 {place - 0.4:.2f},95"
    heights = density(scores, low, high)
    height = 45.0 * heights / heights.max()
    across = [scale.place(value) for value in np.linspace(low, high, _DRAWN).tolist()]
    above = [f"{x:g},{50.0 - y:.1f}" for x, y in zip(across, height.tolist(), strict=True)]
    below = [f"{x:g},{50.0 + y:.1f}" for x, y in zip(across, height.tolist(), strict=True)]
    return " ".join(above + below[::-1])


def density(scores: Array, low: float, high: float) -> Array:
    """A Gaussian kernel with Scott's bandwidth, mirrored at the ends, where no score can lie."""
    width = (high - low) / _COUNTED
    counts = np.histogram(scores, bins=_COUNTED, range=(low, high))[0].astype(np.float64)
    bandwidth = max(float(scores.std()) * len(scores) ** -0.2, width)
    reach = min(_COUNTED, math.ceil(4.0 * bandwidth / width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * width / bandwidth) ** 2)
    mirrored = np.pad(counts, reach, mode="symmetric")
    smooth = np.convolve(mirrored, kernel / kernel.sum(), mode="valid")
    middles = low + width * (np.arange(_COUNTED) + 0.5)
    return np.asarray(np.interp(np.linspace(low, high, _DRAWN), middles, smooth))


def heat_map(comparison: MetricComparison) -> HeatMap | None:
    """Row significantly better than column (Wei's Figure 5); None where metrics have no tests."""
    names = tuple(one.metric for one in comparison.metrics)
    if comparison.unranked or len(names) < 2:
        return None
    both_ways = comparison.correction == "wmt"
    rows = []
    for place, metric in enumerate(comparison.metrics):
        cells = tuple(
            None
            if other == place or not (both_ways or place < other) or math.isnan(p)
            else HeatCell(written(p, "p"), p < comparison.significance)
            for other, p in enumerate(comparison.adjusted[place].tolist())
        )
        rows.append((metric.metric, metric.winner, cells))
    return HeatMap(comparison.level or "", names, tuple(rows))


def consistency_curve(found: Consistency) -> Curve | None:
    """Agreement of the mean of i ratings with the mean of the rest (Wei's Figure 3).

    Only up to half of the ratings, since what follows repeats it backwards; None where that leaves
    no curve.
    """
    values = found.correlations[: found.n // 2].tolist()
    if len(values) < _POINTS:
        return None
    across, up = Axis(0.5, len(values) + 0.5), Axis.of(values)
    places = [(across.place(i), 100.0 - up.place(r)) for i, r in enumerate(values, start=1)]
    ratings = range(1, len(values) + 1, max(1, len(values) // 8))
    most = max(range(len(values)), key=values.__getitem__)
    caption = (
        f"{found.segments:,} outputs with {found.n} ratings each: the mean of i of them against "
        f"the mean of the others; at i = {most + 1} they agree by {written(values[most], '.2r')}"
    )
    return Curve(
        " ".join(f"{x:g},{y:g}" for x, y in places),
        tuple(
            (x, y, f"{i}: {written(r, '.3r')}")
            for i, ((x, y), r) in enumerate(zip(places, values, strict=True), start=1)
        ),
        tuple((across.place(i), str(i)) for i in ratings),
        tuple((100.0 - place, label) for place, label in up.ticks(4)),
        caption,
    )
