"""What comes out of logs: pairs by thread, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from deltableu.errors import Problem
from deltableu.io import Table, Tabular, fact_table, field_record
from deltableu.logs.columns import Layout
from deltableu.logs.fates import Fate
from deltableu.logs.overlap import TextCounts


class Pair(msgspec.Struct, frozen=True, gc=False):
    """An utterance and a response to it.

    A struct because there is one for each response: a frozen dataclass takes eight times as long.

    Attributes
    ----------
    id, time, user
        What is known of the response; the time in milliseconds since 1970.
    thread : str
        The id of the root, or of the dialogue.
    context : str or None
        What the utterance was a response to; None where it began the thread.
    """

    utterance: str
    response: str
    id: str
    time: int | None
    thread: str
    user: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """The pairs of all dialogues that have their root in common.

    Attributes
    ----------
    time : int or None
        When the root was written.
    earliest, latest : int or None
        The first and last time that is known of its posts.
    posts : int
        That are in the pairs.
    """

    id: str
    time: int | None
    earliest: int | None
    latest: int | None
    posts: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class PeriodCounts:
    """What was written for a period.

    Attributes
    ----------
    name : str
        Empty where the logs were not split.
    threads, pairs, triples : int
        That were written; triples also where nobody asked for a file of them.
    texts : TextCounts
        Utterances, and those with several responses.
    """

    name: str
    threads: int
    pairs: int
    triples: int
    texts: TextCounts

    def record(self) -> dict[str, Any]:
        """All counts side by side."""
        return {**field_record(self, without=("texts",)), **field_record(self.texts)}


@dataclass(frozen=True, slots=True)
class ReadLogs:
    """What was read of logs; every post is left out for one reason, or in pairs.

    Attributes
    ----------
    layout : {"posts", "turns", "conversations"}
    posts : int
        Posts, or turns, that were read.
    unreadable_rows : int
        Rows that could not be read.
    unreadable_files : tuple of Problem
        Files that could not be read to their end.
    other_parts : int
        Parts of turns that are no text, such as images.
    left_out : mapping
        Posts that are in no pair, by the reason (`Fate`).
    in_pairs : int
        Posts that are.
    """

    layout: Layout
    posts: int
    unreadable_rows: int
    unreadable_files: tuple[Problem, ...]
    other_parts: int
    left_out: Mapping[str, int]
    in_pairs: int

    def read_facts(self) -> dict[str, int]:
        """Posts that were read and left out, as tables say it."""
        noun = "posts" if self.layout == "posts" else "turns"
        facts = {f"{noun} read": self.posts}
        if self.unreadable_rows:
            facts["rows that could not be read"] = self.unreadable_rows
        if self.unreadable_files:
            facts["files and folders that could not be read to their end"] = len(
                self.unreadable_files
            )
        if self.other_parts:
            facts["parts of turns left out: no text"] = self.other_parts
        for name, number in self.left_out.items():
            facts[f"{noun} left out: {Fate[name.upper()].value}"] = number
        facts[f"{noun} in pairs"] = self.in_pairs
        return facts

    def record(self) -> dict[str, Any]:
        """All of it; what is wrong with a file is a sentence."""
        return {**field_record(self), "unreadable_files": list(map(str, self.unreadable_files))}


@dataclass(frozen=True, slots=True)
class WrittenPairs(ReadLogs, Tabular):
    """What came of logs.

    Attributes
    ----------
    periods : tuple of PeriodCounts
        One where the logs were not split.
    overlap : int
        Different pairs (by their words) that lie in several periods.
    overlap_left_out : int
        Pairs that were left out for that.
    temporary_bytes : int
        Bytes that went to temporary files.
    """

    periods: tuple[PeriodCounts, ...]
    overlap: int
    overlap_left_out: int
    temporary_bytes: int

    def table(self) -> Table:
        """Posts that were read and left out."""
        facts = self.read_facts()
        if self.periods[0].name:
            facts["different pairs in several periods"] = self.overlap
        if self.overlap_left_out:
            facts["pairs left out: in a later period too"] = self.overlap_left_out
        return fact_table(("read", "number"), facts)

    def period_table(self) -> Table:
        """What was written for each period."""
        rows = {
            "threads": [period.threads for period in self.periods],
            "pairs": [period.pairs for period in self.periods],
            "triples": [period.triples for period in self.periods],
            "different utterances": [period.texts.utterances for period in self.periods],
            "with 2 responses or more": [one.texts.with_2_responses for one in self.periods],
            "with 5 responses or more": [one.texts.with_5_responses for one in self.periods],
        }
        names = (period.name or "number" for period in self.periods)
        return Table(("written", *names), ((name, *row) for name, row in rows.items()))
