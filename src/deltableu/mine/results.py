"""What mining gives: a study with more references, and how they were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deltableu.corpus import Study
from deltableu.errors import Problem
from deltableu.io import Table, Tabular, WorkFolder, fact_table, field_record

#: Items that a warning names.
_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Mined(Tabular):
    """A study with more references, and how they were found.

    Attributes
    ----------
    study : Study
    rows : int
        Rows of the logs.
    unreadable_rows : int
        Rows that could not be read (`on_error="skip"`).
    unreadable_parts : tuple of Problem
        Partitions that could not be read (`on_error="skip"`).
    left_out : mapping of reason to number
        Rows that were not fit to be references.
    leaks : mapping of item id to number
        Rows of the logs that are an item's message with its original response.
    added : mapping of origin to number
        References that were added.
    short_items : int
        Items with fewer mined references than asked for.
    signature : str
    work : WorkFolder
        With `keep_work`, its `end()` is to be called when the study is safe.
    """

    study: Study
    rows: int
    unreadable_rows: int
    unreadable_parts: tuple[Problem, ...]
    left_out: Mapping[str, int]
    leaks: Mapping[str, int]
    added: Mapping[str, int]
    short_items: int
    signature: str
    work: WorkFolder

    def table(self) -> Table:
        """Rows read and left out, references added, and items that got fewer than asked for."""
        facts = {"rows read": self.rows}
        if self.unreadable_rows:
            facts["rows that could not be read"] = self.unreadable_rows
        if self.unreadable_parts:
            facts["parts of the logs that could not be read"] = len(self.unreadable_parts)
        for reason, number in sorted(self.left_out.items()):
            facts[f"rows left out: {reason}"] = number
        facts["items"] = len(self.study.items)
        for origin, number in sorted(self.added.items()):
            facts[f"references added: {origin}"] = number
        if not self.added:
            facts["references added"] = 0
        facts["items with fewer mined references than asked for"] = self.short_items
        facts["items whose own pair is in the logs"] = len(self.leaks)
        return fact_table(("mined", "number"), facts, {"signature": self.signature})

    def leak_warning(self) -> str | None:
        """What it means that the logs hold pairs of the test set, where they do."""
        ids = list(self.leaks)
        if not ids:
            return None
        named = ", ".join(ids[:_NAMED]) + (", ..." if len(ids) > _NAMED else "")
        if len(ids) == 1:
            pairs, used = f"1 item's own pair ({named})", "it was"
        else:
            pairs, used = f"{len(ids)} items' own pairs ({named})", "they were"
        return (
            f"warning: the logs hold {pairs}: {used} not used, but systems trained on these logs "
            "have seen the test set"
        )

    def record(self) -> dict[str, Any]:
        """All but the study and what was kept of the work."""
        return {
            **field_record(self, without=("study", "work")),
            "items": len(self.study.items),
            "unreadable_parts": list(map(str, self.unreadable_parts)),
        }
