"""Scores of systems with their intervals as plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deltableu.corpus import ScoreTable
from deltableu.report.plots import (
    COLOURS,
    draw_estimate,
    name_rows,
    new_figure,
    set_title,
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
