"""What mining brought, as a table, as a record for JSON and as a warning."""

from __future__ import annotations

from typing import Any

from deltableu.io import Cell, Table
from deltableu.mine import Mined

__all__ = ["leak_warning", "mining_notes", "mining_record", "mining_table"]

_NAMED = 3


def mining_table(mined: Mined) -> Table:
    """Rows read and left out, references added, and items that got fewer than asked for."""
    facts = {"rows read": mined.rows}
    if mined.skipped:
        facts["rows that could not be read"] = mined.skipped
    if mined.broken:
        facts["parts of the logs that could not be read"] = len(mined.broken)
    for reason in sorted(mined.dropped):
        facts[f"rows left out: {reason}"] = mined.dropped[reason]
    facts["items"] = len(mined.study.items)
    for origin, number in sorted(mined.added.items()):
        facts[f"references added: {origin}"] = number
    if not mined.added:
        facts["references added"] = 0
    facts["items with fewer mined references than asked for"] = mined.short
    facts["items whose own pair is in the logs"] = len(mined.leaks)
    rows = tuple((Cell(name), Cell(f"{number:,}")) for name, number in facts.items())
    return Table(("mined", "number"), rows)


def mining_notes(mined: Mined) -> dict[str, str]:
    """All that the references depend on, but items and logs."""
    return {"signature": mined.signature}


def mining_record(mined: Mined) -> dict[str, Any]:
    """What `--format json` prints."""
    return {
        "rows": mined.rows,
        "unreadable_rows": mined.skipped,
        "unreadable_parts": [str(problem) for problem in mined.broken],
        "left_out": dict(sorted(mined.dropped.items())),
        "items": len(mined.study.items),
        "added": dict(sorted(mined.added.items())),
        "short_items": mined.short,
        "leaks": dict(mined.leaks),
        "signature": mined.signature,
    }


def leak_warning(mined: Mined) -> str:
    """What it means that the logs hold pairs of the test set."""
    ids = list(mined.leaks)
    named = ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
    if len(ids) == 1:
        pairs, used = f"1 item's own pair ({named})", "it was"
    else:
        pairs, used = f"{len(ids)} items' own pairs ({named})", "they were"
    return (
        f"warning: the logs hold {pairs}: {used} not used, but systems trained on these logs have "
        "seen the test set"
    )
