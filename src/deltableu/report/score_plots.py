"""Scores of systems with their intervals, and the weights of references, as plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deltableu.corpus import ORIGINS, Item, ScoreTable
from deltableu.report.plots import (
    COLOURS,
    check_plotting,
    draw_estimate,
    name_rows,
    new_figure,
    set_title,
    svg,
)
from deltableu.score import Scoring
from deltableu.stats import ConfidenceInterval

_Estimates = Mapping[str, tuple[float, ConfidenceInterval | None]]


def scores_figure(scores: Scoring | ScoreTable) -> Any:
    """A panel for each metric: each system's score, and its interval where there is one."""
    if isinstance(scores, ScoreTable):
        panels: dict[str, _Estimates] = {
            metric: {
                system: (float(total), None)
                for system, total in zip(scores.systems, totals, strict=True)
            }
            for metric, totals in zip(scores.metrics, scores.totals, strict=True)
        }
    else:
        panels = {
            metric: {
                one.system: (one.score.score, one.score.interval)
                for one in scores.only(metric).scores
            }
            for metric in scores.metrics
        }
    systems = list(scores.systems)
    size = (max(7.0, 2.2 * len(panels)), 0.7 + 0.3 * len(systems))
    figure, axes = new_figure(columns=len(panels), size=size, sharey=True)
    for number, (axis, (metric, found)) in enumerate(zip(axes[0], panels.items(), strict=True)):
        for place, system in enumerate(systems):
            draw_estimate(axis, place, *found[system], COLOURS[number % len(COLOURS)])
        set_title(axis, metric)
        name_rows(axis, systems)
    return figure


def interval_plot(scoring: Scoring) -> str:
    """The scores as an element of a page."""
    check_plotting("an HTML report")
    return svg(scores_figure(scoring))


def weight_plot(items: Sequence[Item]) -> str:
    """How the weights of the references are spread, by origin."""
    by_origin = {
        origin: [
            reference.weight
            for item in items
            for reference in item.references
            if reference.origin == origin and reference.weight is not None
        ]
        for origin in ORIGINS
    }
    present = {origin: weights for origin, weights in by_origin.items() if weights}
    figure, ((axis,),) = new_figure(size=(7.0, 2.6))
    axis.hist(
        list(present.values()),
        # Weights lie on grids such as k/10: each value gets the middle of a bin.
        bins=21,
        range=(-1.05, 1.05),
        stacked=True,
        color=COLOURS[: len(present)],
        label=list(present),
    )
    axis.axvline(0, color="#444444", linewidth=0.8)
    axis.set_xlabel("weight")
    axis.set_ylabel("references")
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return svg(figure)
