"""Scores across commits, as a plot."""

from __future__ import annotations

from html import escape
from typing import Any, Literal

from deltableu._visible import visible
from deltableu.compare import History
from deltableu.errors import InputError
from deltableu.report.plots import COLOURS, drawn, new_figure, set_title, svg

#: Commits whose names fit below a plot.
_FEW = 20


def history_plot(history: History, form: Literal["svg", "png"] = "svg") -> bytes:
    """A panel for each metric: scores and intervals of all systems, run by run."""
    return drawn(history_figure(history), form, dpi=160, bbox_inches="tight")


def history_figure(history: History) -> Any:
    """The same as a figure."""
    if not history.gates:
        raise InputError(f"{history.path}: the history is empty")
    metrics = list(dict.fromkeys(one.metric for gate in history.gates for one in gate.scores))
    systems = list(dict.fromkeys(one.system for gate in history.gates for one in gate.scores))
    figure, axes = new_figure(len(metrics), 1, size=(7.6, 0.8 + 2.6 * len(metrics)))
    for (axis,), metric in zip(axes, metrics, strict=True):
        for number, system in enumerate(systems):
            _draw(axis, history, metric, system, COLOURS[number % len(COLOURS)])
        set_title(axis, metric)
        axis.grid(axis="y", color="#e4e4e4", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_xticks([])
    names = [visible(gate.commit[:7] or gate.time[:10]) for gate in history.gates]
    places = list(range(0, len(names), max(1, len(names) // _FEW)))
    last = axes[-1][0]
    last.set_xticks(places, [names[place] for place in places], rotation=45, ha="right")
    legend = axes[0][0].legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in (*last.get_xticklabels(), *legend.get_texts()):
        text.set_parse_math(False)  # a $ in a name is no formula
    return figure


def history_page(history: History) -> str:
    """The plot and the table as one HTML page."""
    plot = svg(history_figure(history))
    name = escape(visible(history.path))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{name} · deltableu</title>\n"
        "<style>body{font:15px/1.5 sans-serif;margin:2rem;color:#222;background:#fff}"
        "svg{max-width:100%;height:auto}table{border-collapse:collapse}"
        "td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #ddd}</style></head>\n"
        f"<body><h1>{name}</h1>\n{plot}\n{history.table().to_html()}\n</body></html>\n"
    )


def _draw(axis: Any, history: History, metric: str, system: str, colour: str) -> None:
    found = [
        (place, one, gate.passed)
        for place, gate in enumerate(history.gates)
        for one in gate.scores
        if (one.metric, one.system) == (metric, system)
    ]
    if not found:
        return
    places, scores = [place for place, *_ in found], [one.score for _, one, _ in found]
    # A name that begins with an underscore would be left out of the legend.
    label = "\u200b" + visible(system) if system.startswith("_") else visible(system)
    axis.plot(places, scores, "o-", color=colour, markersize=4, linewidth=1.4, label=label)
    known = [(place, one.interval) for place, one, _ in found if one.interval is not None]
    if known:
        axis.fill_between(
            [place for place, _ in known],
            [interval.low for _, interval in known],
            [interval.high for _, interval in known],
            color=colour,
            alpha=0.14,
            linewidth=0,
        )
    baseline = {gate.baseline for gate in history.gates}
    failed = [] if system in baseline else [(p, one.score) for p, one, ok in found if not ok]
    if failed:
        axis.plot(*zip(*failed, strict=True), "x", color="#222222", markersize=9, zorder=4)
