"""What comes out of logs: pairs by thread, and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltableu.errors import Problem
from deltableu.logs.overlap import TextCounts
from deltableu.logs.posts import Layout

__all__ = ["Pair", "PeriodCounts", "Thread", "WrittenPairs"]


@dataclass(frozen=True, slots=True)
class Pair:
    """An utterance and a response to it.

    Attributes
    ----------
    id, time, user
        Of the response; the time in milliseconds since 1970.
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
        Of the root.
    earliest, latest : int or None
        Of the times that are known of its posts.
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


@dataclass(frozen=True, slots=True)
class WrittenPairs:
    """What came of logs; every post that was read is dropped for one reason, or in pairs.

    Attributes
    ----------
    layout : {"posts", "turns", "conversations"}
    posts : int
        Posts, or turns, that were read.
    skipped : int
        Rows that could not be read.
    broken : tuple of Problem
        Files that could not be read to their end.
    dropped : mapping
        Posts that are in no pair, by the reason (`Fate`).
    kept : int
        Posts that are.
    periods : tuple of PeriodCounts
        One where the logs were not split.
    overlap : int
        Different pairs (by their words) that lie in several periods.
    overlap_dropped : int
        Pairs that were left out for that.
    spilled : int
        Bytes that went to temporary files.
    """

    layout: Layout
    posts: int
    skipped: int
    broken: tuple[Problem, ...]
    dropped: Mapping[str, int]
    kept: int
    periods: tuple[PeriodCounts, ...]
    overlap: int
    overlap_dropped: int
    spilled: int
