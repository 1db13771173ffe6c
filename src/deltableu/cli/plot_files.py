"""Where `--plot` goes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from deltableu.cli.inputs import check_results
from deltableu.errors import InputError
from deltableu.io import Own, PathLike, atomic_path, check_apart
from deltableu.report import check_plotting

PlotForm: TypeAlias = Literal["svg", "png"]


def check_plot(
    plot: Path | None, output: Path | None, inputs: Iterable[PathLike | None]
) -> PlotForm | None:
    """The form that a plot's name asks for; complains if it could not be drawn or written."""
    if plot is None:
        return None
    forms: dict[str, PlotForm] = {".svg": "svg", ".png": "png"}
    form = forms.get(plot.suffix.lower())
    if form is None:
        raise InputError(f"--plot takes a name that ends in .svg or .png, got {str(plot)!r}")
    check_plotting()
    check_results(plot, inputs, Own.PLOT)
    if output is not None:
        check_apart(plot, [output], "written")
    return form


def write_plot(plot: Path, drawn: bytes) -> None:
    """Write a drawn plot; it appears whole or not at all."""
    with atomic_path(plot) as path:
        path.write_bytes(drawn)
