"""How metrics agree with people, as plots: correlations with intervals, and systems as points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu._visible import visible
from deltableu.corpus import ScoreTable, align_scores
from deltableu.errors import InputError
from deltableu.report.plots import (
    COLOURS,
    GREY,
    draw_estimate,
    name_rows,
    new_figure,
    set_title,
    shortened,
)
from deltableu.validate import Validation

#: Panels beside each other.
_ACROSS = 3


def agreement_figure(validation: Validation) -> Any:
    """A panel for each level: each metric's correlation with people, and its interval.

    Sentinels, which know nothing of quality, are grey and hollow.
    """
    method = validation.agreements[0].method
    levels = list(dict.fromkeys(one.level for one in validation.agreements))
    metrics = list(validation.metrics)
    size = (max(7.0, 2.6 * len(levels)), 0.9 + 0.3 * len(metrics))
    figure, axes = new_figure(columns=len(levels), size=size, sharey=True)
    for axis, level in zip(axes[0], levels, strict=True):
        axis.axvline(0.0, color="#444444", linewidth=0.8)
        found = [one for one in validation.agreements if (one.level, one.method) == (level, method)]
        for one in found:
            known = one.metric not in validation.sentinels
            colour = COLOURS[0] if known else GREY
            place = metrics.index(one.metric)
            if not np.isnan(one.value):
                draw_estimate(axis, place, one.value, one.interval, colour, filled=known)
        set_title(axis, f"{level} ({max(one.units for one in found)})")
        axis.set_xlabel(f"{method} with {validation.whom}")
        name_rows(axis, metrics)
    return figure


def scatter_figure(
    scores: ScoreTable, human: ScoreTable, metrics: Sequence[str] | None = None
) -> Any:
    """A panel for each metric: systems as points, the metric's score across and people's up.

    Parameters
    ----------
    scores, human
        `human` has one metric, people; systems that only one of them has are left out.
    metrics
        Only these of the scores.
    """
    scores, human, _ = align_scores(scores.select(metrics=metrics), human, least=1)
    columns = min(_ACROSS, len(scores.metrics))
    rows = -(-len(scores.metrics) // columns)
    figure, axes = new_figure(
        rows, columns, size=(max(4.5, 3.0 * columns), 2.9 * rows), sharey=True
    )
    panels = axes.ravel()
    for axis, metric, higher in zip(panels, scores.metrics, scores.higher_is_better, strict=False):
        x, y = scores.total(metric), human.totals[0]
        axis.plot(x, y, "o", color=COLOURS[0], markersize=6)
        for system, across, up in zip(scores.systems, x, y, strict=True):
            # Names stay inside the panel: those of points in its right half stand before them.
            left = across > (np.min(x) + np.max(x)) / 2
            place: dict[str, Any] = {
                "xytext": (-5 if left else 5, 3),
                "textcoords": "offset points",
            }
            place |= {"ha": "right" if left else "left", "fontsize": 8}
            label = axis.annotate(shortened(system), (across, up), **place, color="#333333")
            label.set_parse_math(False)
        set_title(axis, metric if higher else f"{metric} (lower is better)")
        axis.margins(0.18)
        axis.grid(color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)
    for axis in panels[len(scores.metrics) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(visible(human.metrics[0])).set_parse_math(False)
    return figure


def validation_scatter(validation: Validation) -> Any:
    """The systems of a validation as points, under each of its metrics."""
    if validation.scores is None:
        raise InputError("this validation does not hold its metrics' scores to plot")
    return scatter_figure(validation.scores, validation.human)
