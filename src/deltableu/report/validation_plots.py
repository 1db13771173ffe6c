"""What lies behind the agreement with people, as matplotlib figures for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ScoreTable, align_scores, says_simulated
from deltableu.errors import InputError
from deltableu.io import written
from deltableu.rate import Consistency
from deltableu.report.plots import COLOURS, GREY, new_figure, set_title, shortened
from deltableu.report.validation_charts import density
from deltableu.stats import best_fit
from deltableu.validate import KindsOfSystems, MetricComparison, QualityBins

_ACROSS = 3


def violin_figure(bins: Sequence[QualityBins]) -> Any:
    """A panel for each metric: how it scores bad, average and good outputs (Wei's Figure 6)."""
    if not bins:
        raise InputError("there are no bins to draw")
    axes, figure = _panels(len(bins), height=0.7 + 0.55 * max(len(one.bins) for one in bins))
    for axis, found in zip(axes, bins, strict=False):
        for place, one in enumerate(found.bins):
            if not len(one.scores):
                continue
            low, high = float(one.scores[0]), float(one.scores[-1])
            if high > low:
                heights = density(one.scores, low, high)
                across = np.linspace(low, high, len(heights))
                half = 0.42 * heights / heights.max()
                axis.fill_between(across, place - half, place + half, color=COLOURS[0], alpha=0.35)
            lower, median, upper = np.quantile(one.scores, (0.25, 0.5, 0.75))
            axis.plot([lower, upper], [place] * 2, color=COLOURS[0], linewidth=4)
            axis.plot(median, place, "o", color="white", markeredgecolor=COLOURS[0])
        names = [f"{one.name} ({len(one.scores):,})" for one in found.bins]
        axis.set_yticks(range(len(names)), names)
        axis.grid(axis="x", color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        set_title(axis, found.metric)
        axis.set_xlabel("score")
    return figure


def significance_figure(comparison: MetricComparison) -> Any:
    """A filled cell where the row's metric agrees significantly better (Wei's Figure 5)."""
    names = [one.metric for one in comparison.metrics]
    if comparison.unranked or len(names) < 2:
        raise InputError("these metrics were not tested against each other")
    size = 1.6 + 0.45 * len(names)
    figure, axes = new_figure(size=(size + 0.8, size))
    axis = axes[0, 0]
    p_values = comparison.adjusted
    both_ways = comparison.correction == "wmt"
    for row in range(len(names)):
        for column in range(len(names)):
            p = float(p_values[row, column])
            if row == column or np.isnan(p) or not (both_ways or row < column):
                continue
            if p < comparison.significance:
                axis.add_patch(_square((column - 0.5, row - 0.5), COLOURS[1]))
            axis.text(column, row, written(p, "p"), ha="center", va="center", fontsize=7)
    axis.set_xlim(-0.5, len(names) - 0.5)
    axis.set_ylim(len(names) - 0.5, -0.5)
    labels = [shortened(name) for name in names]
    axis.set_yticks(range(len(names)), labels)
    axis.set_xticks(range(len(names)), labels, rotation=45, ha="right")
    set_title(axis, comparison.level or "")
    axis.set_xlabel("p: row better than column")
    return figure


def consistency_figure(found: Consistency) -> Any:
    """Agreement of the mean of i ratings with the mean of the others (Wei's Figure 3)."""
    figure, axes = new_figure(size=(4.5, 3.0))
    axis = axes[0, 0]
    # What follows the half repeats it backwards.
    ratings = np.arange(1, found.n // 2 + 1)
    values, spread = found.correlations[: len(ratings)], found.deviations[: len(ratings)]
    axis.plot(ratings, values, "o-", color=COLOURS[0], markersize=4)
    if not np.isnan(spread).any():
        axis.fill_between(ratings, values - spread, values + spread, color=COLOURS[0], alpha=0.2)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel("ratings of an output (i)")
    axis.set_ylabel(f"r with the other {found.n} - i")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    return figure


def kinds_figure(scores: ScoreTable, human: ScoreTable, kinds: KindsOfSystems) -> Any:
    """A panel for each metric: systems by kind, each kind with its line (Wei's Figures 7, 8)."""
    wanted = list(dict.fromkeys(one.metric for one in kinds.kinds))
    scores, human, _ = align_scores(scores.select(metrics=wanted), human)
    axes, figure = _panels(len(wanted), height=2.9)
    people = human.totals[0]
    for axis, metric in zip(axes, wanted, strict=False):
        x = scores.total(metric)
        own = [one for one in kinds.kinds if one.metric == metric]
        _draw_line(axis, x, people, GREY)
        for colour, one in zip(_colours(len(own) - 1), own[1:], strict=True):
            mine = [scores.systems.index(name) for name in one.systems]
            (label,) = axis.plot(x[mine], people[mine], "o", color=colour, label=one.kind)
            label.set_markersize(6)
            if len(mine) > 2:
                _draw_line(axis, x[mine], people[mine], colour)
        set_title(axis, metric)
        axis.set_xlabel("score")
        axis.grid(color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)
    simulated = any(map(says_simulated, human.signatures))
    axes[0].set_ylabel("simulated raters" if simulated else "people")
    axes[0].legend(fontsize=8, frameon=False, title=kinds.tag)
    return figure


def _draw_line(axis: Any, x: Array, y: Array, colour: str) -> None:
    low, slope = best_fit(x, y)
    ends = np.array([x.min(), x.max()])
    axis.plot(ends, low + slope * ends, color=colour, linewidth=1.0, alpha=0.8)


def _panels(number: int, *, height: float) -> tuple[list[Any], Any]:
    columns = min(_ACROSS, number)
    rows = -(-number // columns)
    figure, axes = new_figure(rows, columns, size=(max(4.5, 3.2 * columns), height * rows))
    panels = list(axes.ravel())
    for axis in panels[number:]:
        axis.set_visible(False)
    return panels, figure


def _colours(number: int) -> list[str]:
    return [COLOURS[place % len(COLOURS)] for place in range(number)]


def _square(corner: tuple[float, float], colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 1.0, 1.0, color=colour, alpha=0.35, linewidth=0)
