"""Where results go: the terminal or a file, in the format that was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from deltableu.cli.streams import note as note
from deltableu.cli.streams import remark as remark
from deltableu.cli.streams import terminal_width as terminal_width
from deltableu.corpus import Item, ReferenceSet, ungrouped_note, unrated_finds
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Table,
    as_record,
    atomic_write,
    is_standard_stream,
    json_text,
    render,
    render_terminal,
    terminal_text,
)

if TYPE_CHECKING:
    import rich.console

    from deltableu.score import Metric, Scoring


#: Variables by which people tell rich that it writes for a terminal.
_COLOURS = ("FORCE_COLOR", "TTY_COMPATIBLE")

Format = Literal["table", "json", "tsv", "csv", "latex", "markdown"]


def emit(
    tables: Table | Sequence[Table],
    result: object,
    format: Format,
    output: Path | None = None,
    *,
    verdict: Sequence[str] = (),
    signatures: bool = False,
    tidy: Table | None = None,
    beside: Sequence[Path | None] = (),
) -> None:
    """Write tables with their notes, or all of the result behind them as JSON.

    Parameters
    ----------
    output
        The file; standard output where there is none.
    verdict
        Sentences that come first, for people; the result has them for programs.
    signatures
        Spell signatures out, which otherwise are hashes; JSON always does.
    tidy
        What TSV and CSV hold: one table, by default the first.
    beside
        Where that went which these tables are a summary of: if it took standard output, the
        summary goes to standard error.
    """
    shown = [tables] if isinstance(tables, Table) else tables
    is_file = output is not None and not is_standard_stream(output)
    taken = any(one is not None and is_standard_stream(one) for one in beside)
    stream = sys.stderr if taken else sys.stdout
    ascii_only = not is_file and "utf" not in (stream.encoding or "").lower()
    if format == "json":
        text = json_text(as_record(result), ascii_only=ascii_only)
    elif format == "table":
        width = None if is_file else terminal_width(stream)
        colours = not is_file and is_terminal(stream)
        text = render_terminal(
            shown,
            width,
            colours=colours,
            verdict=verdict,
            signatures=signatures,
            ascii_only=ascii_only,
        )
    elif format in ("tsv", "csv"):
        text = render([shown[0] if tidy is None else tidy], format)
    else:
        text = render(shown, format, verdict=verdict, signatures=signatures)
    if output is not None and is_file:
        with atomic_write(output) as file:
            file.write(text)
    else:
        _print(text, stream)


def write_page(page: str, path: Path) -> None:
    """Write an HTML page and say so."""
    with atomic_write(path) as file:
        file.write(page)
    if not is_standard_stream(path):
        note(f"wrote {path}")


def tell(problem: Problem) -> None:
    """Where readers send their problems: a warning waits, an error ends the command."""
    if problem.severity == "error":
        raise InputError(problem)
    remark(f"warning: {problem}")


def note_left_out(left: int, total: int) -> None:
    """Say how many items were not scored, if any."""
    if left:
        remark(f"left out {left} of {total} items without a positive reference")


def note_groups(items: Sequence[Item], group: str | None) -> None:
    """Say that items seem to belong together, if they do and no group was named."""
    message = None if group is not None else ungrouped_note(items)
    if message is not None:
        remark(message)


def note_unrated(references: ReferenceSet, metrics: Iterable[Metric]) -> None:
    """Say which metrics take references for good ones that nobody wrote for the item or rated."""
    plain = [
        one.name
        for one in metrics
        if "references" in one.needs
        and "weights" not in type(one).needs
        # RUBER looks at the original alone, unless it is told to look at all.
        and getattr(one, "all_references", True)
    ]
    found = unrated_finds(references) if plain else {}
    if found:
        counted = ", ".join(f"{number:,} {origin}" for origin, number in found.items())
        remark(
            f"warning: {', '.join(plain)} {'take' if len(plain) > 1 else 'takes'} every reference "
            f"for a good one, but nobody has rated these: {counted} (--select single leaves them "
            "out)"
        )


def note_clamped(scoring: Scoring) -> None:
    """Say which scores have no interval because they stand still."""
    still = [
        f"{one.score.name} of {one.system}"
        for one in scoring.scores
        if one.rows.adds_up and one.rows.metric.clamped(one.rows.sums())
    ]
    if still:
        remark(
            f"no interval for {', '.join(still)}: the score is clamped, because the matches of "
            "some order sum to nothing or less"
        )


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether somebody looks at it, who may see colours."""
    shown = stream or sys.stdout
    if not (shown.isatty() or any(map(os.environ.get, _COLOURS))):
        return False  # which needs no rich, whose import takes longer than a small table
    from rich.console import Console

    return Console(file=shown).is_terminal


def print_parts(*parts: rich.console.RenderableType) -> None:
    """Print what rich can show."""
    width = terminal_width()
    _print(terminal_text(parts, width, colours=is_terminal()), sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    stream.write(text)
    stream.flush()
