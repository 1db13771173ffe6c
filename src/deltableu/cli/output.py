"""Where results go: the terminal or a file, in the format that was asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deltableu.corpus import Item, ungrouped_note
from deltableu.io import Table, as_record, atomic_write, render, render_terminal, terminal_text

if TYPE_CHECKING:
    import rich.console

    from deltableu.score import Scoring


Format = Literal["table", "json", "tsv", "latex", "markdown"]


def emit(
    tables: Table | Sequence[Table], result: object, format: Format, output: Path | None = None
) -> None:
    """Write tables with their notes, or all of the result behind them as JSON."""
    shown = [tables] if isinstance(tables, Table) else tables
    if format == "json":
        ascii_only = output is None and "utf" not in (sys.stdout.encoding or "").lower()
        record = as_record(result)
        text = json.dumps(record, ensure_ascii=ascii_only, indent=2, allow_nan=False) + "\n"
    elif format == "table":
        width = None if output is not None else terminal_width()
        text = render_terminal(shown, width, colours=width is not None)
    else:
        text = render(shown, format)
    if output is None:
        _print(text)
    else:
        with atomic_write(output) as file:
            file.write(text)


def note(message: str) -> None:
    """One line about what was done, beside the results."""
    print(f"deltableu: {message}", file=sys.stderr)


def note_left_out(left: int, total: int) -> None:
    """Say how many items were not scored, if any."""
    if left:
        note(f"left out {left} of {total} items without a positive reference")


def note_groups(items: Sequence[Item], group: str | None) -> None:
    """Say that items seem to belong together, if they do and no group was named."""
    message = None if group is not None else ungrouped_note(items)
    if message is not None:
        note(message)


def note_clamped(scoring: Scoring) -> None:
    """Say which scores have no interval because they stand still."""
    still = [
        f"{one.score.name} of {one.system}"
        for one in scoring.scores
        if one.rows.adds_up and one.rows.metric.clamped(one.rows.sums())
    ]
    if still:
        note(
            f"no interval for {', '.join(still)}: the score is clamped, because the matches of "
            "some order sum to nothing or less"
        )


def terminal_width() -> int | None:
    """How wide the terminal is; None for a pipe or a file, where nothing should be folded."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console.width if console.is_terminal else None


def print_parts(*parts: rich.console.RenderableType) -> None:
    """Print what rich can show."""
    width = terminal_width()
    _print(terminal_text(parts, width, colours=width is not None))


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
