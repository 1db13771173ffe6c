"""Strengths of systems by preference, as a plot."""

from __future__ import annotations

from typing import Any, Literal

from deltableu.rate import PreferenceRanking
from deltableu.report.plots import COLOURS, draw_estimate, drawn, name_rows, new_figure, set_title

#: More rows than this nobody can read.
_MOST = 60


def preference_plot(found: PreferenceRanking, form: Literal["svg", "png"] = "svg") -> bytes:
    """Strengths with their intervals, as a file."""
    return drawn(preference_figure(found), form)


def preference_figure(found: PreferenceRanking) -> Any:
    """A row for each system, best first: its strength and the interval."""
    shown = found.systems[:_MOST]
    figure, axes = new_figure(size=(7.0, 1.1 + 0.3 * len(shown)))
    axis = axes[0, 0]
    axis.axvline(0.0, color="#444444", linewidth=0.8)
    for place, one in enumerate(shown):
        draw_estimate(axis, place, one.strength, one.interval, COLOURS[0])
    name_rows(axis, [one.system for one in shown])
    more = "" if len(shown) == len(found.systems) else f", the best {len(shown)}"
    set_title(axis, f"{found.criterion}: {found.judgements:,} judgements{more}")
    axis.set_xlabel("strength: log odds of being preferred to an average system")
    return figure
