"""What became of logs, as tables and as a record for JSON."""

from __future__ import annotations

from typing import Any

from deltableu.io import Cell, Table
from deltableu.logs import Fate, PeriodCounts, WrittenPairs

__all__ = ["logs_record", "logs_tables"]

_NOUNS = {"posts": "posts", "turns": "turns", "conversations": "turns"}


def logs_tables(written: WrittenPairs) -> list[Table]:
    """Posts read and left out, and what was written for each period."""
    noun = _NOUNS[written.layout]
    facts = {f"{noun} read": written.posts}
    if written.skipped:
        facts["rows that could not be read"] = written.skipped
    if written.broken:
        facts["files that could not be read to their end"] = len(written.broken)
    for name, number in written.dropped.items():
        facts[f"{noun} left out: {Fate[name.upper()].value}"] = number
    facts[f"{noun} in pairs"] = written.kept
    split = written.periods[0].name != ""
    if split:
        facts["different pairs in several periods"] = written.overlap
    if written.overlap_dropped:
        facts["pairs left out: in a later period too"] = written.overlap_dropped
    rows = tuple((Cell(name), Cell(f"{number:,}")) for name, number in facts.items())
    return [Table(("read", "number"), rows), _written(written.periods)]


def _written(periods: tuple[PeriodCounts, ...]) -> Table:
    rows = {
        "threads": [period.threads for period in periods],
        "pairs": [period.pairs for period in periods],
        "triples": [period.triples for period in periods],
        "different utterances": [period.texts.utterances for period in periods],
        "with 2 responses or more": [period.texts.several for period in periods],
        "with 5 responses or more": [period.texts.many for period in periods],
    }
    names = tuple(period.name or "number" for period in periods)
    cells = tuple(
        (Cell(name), *(Cell(f"{number:,}") for number in numbers)) for name, numbers in rows.items()
    )
    return Table(("written", *names), cells)


def logs_record(written: WrittenPairs) -> dict[str, Any]:
    """What `--format json` prints."""
    return {
        "layout": written.layout,
        "posts": written.posts,
        "unreadable_rows": written.skipped,
        "unreadable_files": [str(problem) for problem in written.broken],
        "left_out": dict(written.dropped),
        "in_pairs": written.kept,
        "periods": [
            {
                "name": period.name,
                "threads": period.threads,
                "pairs": period.pairs,
                "triples": period.triples,
                "utterances": period.texts.utterances,
                "with_2_responses": period.texts.several,
                "with_5_responses": period.texts.many,
            }
            for period in written.periods
        ],
        "overlap": written.overlap,
        "overlap_left_out": written.overlap_dropped,
        "temporary_bytes": written.spilled,
    }
