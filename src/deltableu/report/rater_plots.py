"""How raters agree, as a plot: how many are enough, and each rater's severity and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from deltableu.corpus import SIMULATED_LABEL
from deltableu.io import written
from deltableu.rate import RaterAgreement, RaterUse
from deltableu.report.plots import COLOURS, GREY, drawn, new_figure, set_title, shortened

#: Criteria that fit onto a page, and raters that are named in a panel.
_MOST, _NAMED = 8, 5
#: Ratings that the curve ends at, at most.
_LONGEST = 100


def rater_plot(found: Sequence[RaterAgreement], form: Literal["svg", "png"] = "svg") -> bytes:
    """The figure as a file."""
    return drawn(rater_figure(found), form)


def rater_figure(found: Sequence[RaterAgreement]) -> Any:
    """For each criterion two panels: the curve of enough ratings, and raters as points."""
    shown = found[:_MOST]
    figure, axes = new_figure(len(shown), 2, size=(9.0, 3.2 * len(shown)))
    for row, one in zip(axes, shown, strict=True):
        _draw_curve(row[0], one)
        _draw_raters(row[1], one)
    return figure


def _draw_curve(axis: Any, found: RaterAgreement) -> None:
    most = min(_LONGEST, max(2 * (found.enough or 10), math.ceil(found.per_unit), 5))
    numbers = np.arange(1, most + 1)
    values = [math.sqrt(found.expected(number)) for number in numbers.tolist()]
    axis.plot(numbers, values, color=COLOURS[0], linewidth=1.8, label="with ever more raters")
    curve = found.consistency
    if curve is not None:
        half = min(curve.n // 2, most)
        axis.plot(
            *(numbers[:half], curve.correlations[:half], "o"),
            color=COLOURS[2],
            markersize=4,
            label=f"measured, with the other {curve.n} - i",
        )
    axis.axhline(found.target, color=GREY, linewidth=0.9, linestyle=":")
    if found.enough is not None and found.enough <= most:
        height = math.sqrt(found.expected(found.enough))
        axis.plot(found.enough, height, "o", color="white", markeredgecolor=COLOURS[0], zorder=4)
        axis.annotate(
            f"{found.enough} enough for {written(found.target, '.2r')}",
            (found.enough, height),
            xytext=(6, -12),
            textcoords="offset points",
            fontsize=8,
            color="#333333",
        )
    axis.set_ylim(min(0.0, *values), 1.02)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel(f"ratings per {found.unit} (i)")
    axis.set_ylabel("correlation of their mean")
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    set_title(axis, f"{found.name} {SIMULATED_LABEL}" if found.simulated else found.name)


def _draw_raters(axis: Any, found: RaterAgreement) -> None:
    rated = found.targets != "pairs"
    points = [
        (
            one.severity if rated else float(one.ratings),
            one.noise if rated else one.correlation,
            one,
        )
        for one in found.rater_use
    ]
    points = [one for one in points if math.isfinite(one[0]) and math.isfinite(one[1])]
    if not points:
        axis.set_visible(False)
        return
    axis.plot(
        [x for x, _, _ in points],
        [y for _, y, _ in points],
        "o",
        color=COLOURS[0],
        markersize=5,
        alpha=0.8 if len(points) <= 50 else 0.4,
    )
    for x, y, one in _unusual(points):
        label = axis.annotate(
            shortened(one.rater),
            (x, y),
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=7,
            color="#333333",
        )
        label.set_parse_math(False)
    if rated:
        axis.axvline(0.0, color="#444444", linewidth=0.8)
        axis.set_ylim(bottom=0.0)
    axis.set_xlabel("severity (lower than others on the same)" if rated else "judgements")
    axis.set_ylabel("noise of single ratings" if rated else "correlation with others")
    axis.margins(0.15)
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    who = "simulated raters" if found.simulated else "raters"
    set_title(axis, f"{len(found.rater_use):,} {who}")


def _unusual(points: list[tuple[float, float, RaterUse]]) -> list[tuple[float, float, RaterUse]]:
    """The points furthest from the middle of all, in standard deviations."""
    places = np.array([(x, y) for x, y, _ in points])
    spread = places.std(axis=0)
    away = np.abs(places - np.median(places, axis=0)) / np.where(spread > 0.0, spread, 1.0)
    furthest = np.argsort(-away.max(axis=1), kind="stable")[:_NAMED]
    return [points[place] for place in furthest.tolist()]
