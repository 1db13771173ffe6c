"""How plots look, and how they become files; drawn with matplotlib, a file for each kind."""

from __future__ import annotations

import atexit
import os
import warnings
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deltableu._visible import visible
from deltableu.errors import InputError
from deltableu.io import scratch_folder
from deltableu.stats import ConfidenceInterval

# Okabe and Ito 2008: colours that colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00")
#: The colour of what is not significant, or knows nothing of quality.
GREY = "#767676"
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


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float], **settings: Any
) -> tuple[Any, Any]:
    """A figure that belongs to nobody's pyplot, and its axes as an array of rows and columns.

    A notebook shows it where a cell gives it back, once; no backend is chosen for the caller.
    """
    matplotlib = _matplotlib("a plot")
    with matplotlib.rc_context(STYLE):
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def set_title(axis: Any, text: str) -> None:
    """A heading at the left; a $ in a name is no formula."""
    axis.set_title(visible(text), loc="left", fontsize=10, fontweight="bold").set_parse_math(False)


def name_rows(axis: Any, names: list[str], longest: int = _LONGEST_NAME) -> None:
    """Names down the left side, the first on top."""
    axis.set_yticks(range(len(names)), [shortened(name, longest) for name in names])
    for label in axis.get_yticklabels():
        label.set_parse_math(False)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="x", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)


def draw_estimate(
    axis: Any,
    place: int,
    value: float,
    interval: ConfidenceInterval | None,
    colour: str,
    *,
    filled: bool = True,
) -> None:
    """A dot in a row, and a bar for its interval."""
    if interval is not None:
        ends = [interval.low, interval.high]
        axis.plot(ends, [place] * 2, color=colour, linewidth=2.5, alpha=0.45, solid_capstyle="butt")
    face = colour if filled else "white"
    axis.plot(value, place, "o", color=face, markeredgecolor=colour, markersize=6)


def shortened(name: str, longest: int = _LONGEST_NAME) -> str:
    """A long name must leave room for the plot; the table has it whole."""
    name = visible(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def check_plotting(what: str = "a plot") -> None:
    """Complain unless plots can be drawn, before work is done for `what`."""
    _matplotlib(what)


def _matplotlib(what: str) -> Any:
    """Matplotlib; complains where it is not installed that `what` needs it."""
    _find_a_place_for_caches()
    try:
        import matplotlib
    except ImportError as error:
        raise InputError(f"{what} needs matplotlib: pip install 'deltableu[report]'") from error
    return matplotlib


def _find_a_place_for_caches() -> None:
    """matplotlib wants to write below the home folder; a service may have none."""
    if "MPLCONFIGDIR" not in os.environ and not os.access(Path("~").expanduser(), os.W_OK):
        waiting = ExitStack()
        os.environ["MPLCONFIGDIR"] = str(waiting.enter_context(scratch_folder()))
        atexit.register(waiting.close)


_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "deltableu"},
    "png": {"Software": "deltableu"},
    "pdf": {"CreationDate": None, "Creator": "deltableu", "Producer": None},
}


def drawn(figure: Any, form: Literal["svg", "png", "pdf"], **settings: Any) -> bytes:
    """A figure as a file, the same bytes whenever it is drawn."""
    buffer = BytesIO()
    metadata = _METADATA[form]
    # Where values are nearly as large as floats can be, there are no ticks beyond them.
    beyond = np.errstate(over="ignore", invalid="ignore")
    with _matplotlib("a plot").rc_context(STYLE), warnings.catch_warnings(), beyond:
        # Text stays text in the page, whatever the fonts here have: the reader's browser draws it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(buffer, format=form, metadata=metadata, **settings)
    return buffer.getvalue()


def svg(figure: Any) -> str:
    """A figure as an element of an HTML page."""
    text = drawn(figure, "svg", transparent=True).decode()
    return text[text.index("<svg") :]
