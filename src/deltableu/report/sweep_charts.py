"""Sweeps in; curves of agreement for the page (places in per cent) and for paper out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from deltableu.report.charts import Axis
from deltableu.report.plots import COLOURS, new_figure, set_title
from deltableu.validate import Sweep

#: Colours of lines on the page.
_LINES = 5


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One metric's curve: its points, and a bar for each interval (x, low, high)."""

    metric: str
    number: int
    points: str
    dots: tuple[tuple[float, float, str], ...]
    bars: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True, slots=True)
class SweepChart:
    """The curves of all metrics over the places of a sweep."""

    title: str
    lines: tuple[SweepLine, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]


def sweep_chart(sweep: Sweep) -> SweepChart:
    """Agreement by the first correlation, a line for each metric (the paper's Figure 2)."""
    method = sweep.methods[0]
    found = [one for one in sweep.agreements if one.method == method]
    ends = [end for one in found if one.interval for end in (one.interval.low, one.interval.high)]
    up = Axis.of([one.value for one in found] + ends)
    places = {name: number for number, name in enumerate(sweep.settings)}
    across = Axis(-0.5, len(places) - 0.5)
    lines = []
    for number, metric in enumerate(sweep.metrics):
        own = [one for one in found if one.metric == metric and not math.isnan(one.value)]
        # Beside each other, so that bars of two metrics do not cover one another.
        shift = 0.08 * (number - (len(sweep.metrics) - 1) / 2.0)
        dots = tuple(
            (
                across.place(places[one.setting] + shift),
                round(100.0 - up.place(one.value), 2),
                f"{metric}, {one.setting}: {one.value:.3f}",
            )
            for one in own
        )
        bars = tuple(
            (
                across.place(places[one.setting] + shift),
                round(100.0 - up.place(one.interval.low), 2),
                round(100.0 - up.place(one.interval.high), 2),
            )
            for one in own
            if one.interval is not None
        )
        points = " ".join(f"{x:g},{y:g}" for x, y, _ in dots)
        lines.append(SweepLine(metric, number % _LINES, points, dots, bars))
    return SweepChart(
        sweep.table().caption,
        tuple(lines),
        tuple((across.place(number), name) for name, number in places.items()),
        tuple((100.0 - place, label) for place, label in up.ticks(4)),
    )


def sweep_figure(sweep: Sweep) -> Any:
    """The same for paper."""
    figure, axes = new_figure(size=(4.8, 3.2))
    axis = axes[0, 0]
    places = {name: number for number, name in enumerate(sweep.settings)}
    for number, metric in enumerate(sweep.metrics):
        own = [
            one
            for one in sweep.agreements
            if (one.metric, one.method) == (metric, sweep.methods[0]) and not math.isnan(one.value)
        ]
        colour = COLOURS[number % len(COLOURS)]
        x = [places[one.setting] for one in own]
        axis.plot(x, [one.value for one in own], "o-", color=colour, label=metric, markersize=4)
        for place, one in zip(x, own, strict=True):
            if one.interval is not None:
                ends = [one.interval.low, one.interval.high]
                axis.plot([place] * 2, ends, color=colour, linewidth=2, alpha=0.4)
    axis.set_xticks(range(len(places)), list(places))
    axis.set_ylabel(f"{sweep.methods[0]} with {sweep.whom}")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.legend(fontsize=8, frameon=False)
    set_title(axis, sweep.table().caption.partition(":")[0])
    return figure
