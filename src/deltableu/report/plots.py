"""Plots as SVG text, drawn with matplotlib; colours that colour-blind readers can tell apart."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from deltableu.corpus import ORIGINS, Item
from deltableu.errors import InputError
from deltableu.score import Scoring

__all__ = ["interval_plot", "weight_plot"]

# Okabe and Ito 2008.
_COLOURS = ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00")
_LONGEST_NAME = 24
_STYLE = {
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
    pyplot = _pyplot()
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(
            1,
            len(metrics),
            figsize=(max(7.0, 2.2 * len(metrics)), 0.7 + 0.3 * len(systems)),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for axis, metric, colour in zip(axes[0], metrics, _COLOURS * len(metrics), strict=False):
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
            axis.set_title(metric, loc="left", fontsize=10, fontweight="bold")
            axis.set_yticks(range(len(systems)), [_shortened(system) for system in systems])
            for label in axis.get_yticklabels():
                label.set_parse_math(False)  # a $ in a name is no formula
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
    pyplot = _pyplot()
    with pyplot.rc_context(_STYLE):
        figure, axis = pyplot.subplots(figsize=(7.0, 2.6), layout="constrained")
        axis.hist(
            list(present.values()),
            # Weights lie on grids such as k/10: each value gets the middle of a bin.
            bins=21,
            range=(-1.05, 1.05),
            stacked=True,
            color=_COLOURS[: len(present)],
            label=list(present),
        )
        axis.axvline(0, color="#444444", linewidth=0.8)
        axis.set_xlabel("weight")
        axis.set_ylabel("references")
        axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return _svg(pyplot, figure)


def _shortened(name: str) -> str:
    """A long name must leave room for the plot; the table has it whole."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _pyplot() -> Any:
    _find_a_place_for_caches()
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("an HTML report needs more: pip install 'deltableu[report]'") from error
    matplotlib.use("svg")
    from matplotlib import pyplot

    return pyplot


def _find_a_place_for_caches() -> None:
    """matplotlib wants to write below the home folder; a service may have none."""
    if "MPLCONFIGDIR" not in os.environ and not os.access(Path("~").expanduser(), os.W_OK):
        folder = tempfile.mkdtemp(prefix="deltableu-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["MPLCONFIGDIR"] = folder


def _svg(pyplot: Any, figure: Any) -> str:
    buffer = StringIO()
    with warnings.catch_warnings():
        # Text stays text in the page, whatever the fonts here have: the reader's browser draws it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    pyplot.close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
