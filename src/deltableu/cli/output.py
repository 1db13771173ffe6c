"""Where results go: the terminal or a file, in the format that was asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from deltableu.io import Table, atomic_write, to_latex, to_markdown, to_rich, to_tsv

__all__ = ["Format", "emit", "note"]

Format = Literal["table", "json", "tsv", "latex", "markdown"]

_RENDERERS: dict[str, Callable[[Table], str]] = {
    "tsv": to_tsv,
    "latex": to_latex,
    "markdown": to_markdown,
}


def emit(
    tables: Table | Sequence[Table],
    records: Callable[[], Any],
    format: Format,
    output: Path | None = None,
    comments: dict[str, str] | None = None,
) -> None:
    """Write tables, or the records behind them as JSON; comments (signatures) follow tables."""
    shown = [tables] if isinstance(tables, Table) else list(tables)
    if format == "json":
        ascii_only = output is None and "utf" not in (sys.stdout.encoding or "").lower()
        text = json.dumps(records(), ensure_ascii=ascii_only, indent=2, allow_nan=False) + "\n"
    elif format == "table":
        text = _terminal(shown, comments or {}, to_file=output is not None)
    else:
        text = "\n".join(map(_RENDERERS[format], shown)) + _commented(comments or {}, format)
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        with atomic_write(output) as file:
            file.write(text)


def note(message: str) -> None:
    """One line about what was done, beside the results."""
    print(f"deltableu: {message}", file=sys.stderr)


def _terminal(tables: Sequence[Table], comments: dict[str, str], *, to_file: bool) -> str:
    from io import StringIO

    from rich.console import Console

    real = Console(file=sys.stdout)
    colours = real.is_terminal and not to_file
    buffer = StringIO()
    console = Console(
        file=buffer,
        # A pipe has no width: nothing there should be folded.
        width=real.width if colours else 10_000,
        force_terminal=colours,
        color_system="standard" if colours else None,
        no_color=real.no_color,
        highlight=False,
    )
    for table in tables:
        console.print(to_rich(table))
    for name, value in comments.items():
        console.print(f"{name}  {value}", style="dim", markup=False, soft_wrap=True)
    lines = buffer.getvalue().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _commented(comments: dict[str, str], format: Format) -> str:
    if not comments:
        return ""
    begin = {"tsv": "# ", "latex": "% ", "markdown": ""}[format]
    lines = [f"{begin}{name} {value}" for name, value in comments.items()]
    if format == "markdown":
        lines = ["", *(f"`{line}`" + ("  " if line != lines[-1] else "") for line in lines)]
    return "\n".join(lines) + "\n"
