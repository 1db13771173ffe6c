"""Plots as SVG text, drawn with matplotlib; colours that colour-blind readers can tell apart."""

from __future__ import annotations

import atexit
import os
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from deltableu._visible import visible
from deltableu.corpus import ORIGINS, Item
from deltableu.errors import InputError
from deltableu.io import scratch_folder
from deltableu.score import Scoring

# Okabe and Ito 2008.
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00")
_LONGEST_NAME = 24
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "deltableu",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#444444",
    "xtick.color": "#444444",
    "ytick.color": "#222222",
}


def interval_plot(scoring: Scoring) -> str:
    """A panel a metric: each system's score and its interval."""
    metrics = list(dict.fromkeys(scored.score.name for scored in scoring.scores))
    systems = list(dict.fromkeys(scored.system for scored in scoring.scores))
    pyplot = pyplot_for("an HTML report")
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(
            1,
            len(metrics),
            figsize=(max(7.0, 2.2 * len(metrics)), 0.7 + 0.3 * len(systems)),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for axis, metric, colour in zip(axes[0], metrics, COLOURS * len(metrics), strict=False):
            scores = {s.system: s.score for s in scoring.scores if s.score.name == metric}
            for place, system in enumerate(systems):
                score = scores[system]
                if score.interval is not None:
                    axis.plot(
                        [score.interval.low, score.interval.high],
                        [place, place],
                        color=colour,
                        linewidth=2.5,
                        alpha=0.45,
                        solid_capstyle="butt",
                    )
                axis.plot(score.score, place, "o", color=colour, markersize=6)
            title = axis.set_title(visible(metric), loc="left", fontsize=10, fontweight="bold")
            title.set_parse_math(False)  # a $ in a name is no formula
            axis.set_yticks(range(len(systems)), [_shortened(system) for system in systems])
            for label in axis.get_yticklabels():
                label.set_parse_math(False)
            axis.set_ylim(len(systems) - 0.5, -0.5)
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
        return _svg(pyplot, figure)


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
    pyplot = pyplot_for("an HTML report")
    with pyplot.rc_context(STYLE):
        figure, axis = pyplot.subplots(figsize=(7.0, 2.6), layout="constrained")
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
        return _svg(pyplot, figure)


def _shortened(name: str) -> str:
    """A long name must leave room for the plot; the table has it whole."""
    name = visible(name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def pyplot_for(what: str) -> Any:
    """Matplotlib's pyplot; complains where it is not installed that `what` needs it."""
    _find_a_place_for_caches()
    try:
        import matplotlib
    except ImportError as error:
        raise InputError(f"{what} needs more: pip install 'deltableu[report]'") from error
    matplotlib.use("svg")
    from matplotlib import pyplot

    return pyplot


def _find_a_place_for_caches() -> None:
    """matplotlib wants to write below the home folder; a service may have none."""
    if "MPLCONFIGDIR" not in os.environ and not os.access(Path("~").expanduser(), os.W_OK):
        waiting = ExitStack()
        os.environ["MPLCONFIGDIR"] = str(waiting.enter_context(scratch_folder()))
        atexit.register(waiting.close)


def drawn(pyplot: Any, figure: Any, form: Literal["svg", "png"], **settings: Any) -> bytes:
    """A figure as a file, the same bytes whenever it is drawn."""
    buffer = BytesIO()
    metadata = (
        {"Date": None, "Creator": "deltableu"} if form == "svg" else {"Software": "deltableu"}
    )
    with warnings.catch_warnings():
        # Text stays text in the page, whatever the fonts here have: the reader's browser draws it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format=form, metadata=metadata, **settings)
    pyplot.close(figure)
    return buffer.getvalue()


def _svg(pyplot: Any, figure: Any) -> str:
    text = drawn(pyplot, figure, "svg", transparent=True).decode()
    return text[text.index("<svg") :]
