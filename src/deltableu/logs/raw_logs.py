"""Files of posts, turns or conversations in, threads of pairs out, whatever the layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from deltableu._types import Progress
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile, FoundFile, PathLike, WrongColumns, fail
from deltableu.logs.columns import Columns, Layout, find_logs, layout_of, named
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.post_logs import PostLogs
from deltableu.logs.reading import Reading
from deltableu.logs.rules import PairRules
from deltableu.logs.spill import Store
from deltableu.logs.thread_blocks import ThreadBlock
from deltableu.logs.turn_logs import TurnLogs
from deltableu.logs.types import Thread

#: Bytes that are kept in memory before more goes to the disk.
MEMORY = 2 << 30
_MOST_BUCKETS = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """How much to keep in memory, and where to put the rest.

    Parameters
    ----------
    size : int
        Bytes.
    buckets : int, optional
        How many parts to cut the work into; by default so many that a part fits well into memory.
    work : path, optional
        Where to put temporary files.
    """

    size: int = MEMORY
    buckets: int | None = None
    work: PathLike | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(Problem(f"must be 1 or more, got {self.size}", field="memory"))
        if self.buckets is not None and not 1 <= self.buckets <= _MOST_BUCKETS:
            message = f"must lie between 1 and {_MOST_BUCKETS}, got {self.buckets}"
            raise InputError(Problem(message, field="buckets"))

    def buckets_for(self, files: Sequence[FoundFile]) -> int:
        """So many that what is made of an eighth of the memory fits into it."""
        if self.buckets is not None:
            return self.buckets
        total = 0
        for file in files:
            packed = 5 if file.packing or file.form == "parquet" else 1
            total += packed * (file.size if file.size is not None else self.size)
        return min(max(-(-8 * total // self.size), 1), _MOST_BUCKETS)


@dataclass(frozen=True, slots=True)
class RawLogs:
    """Log files that have been found, and how to read them."""

    files: Sequence[FoundFile]
    columns: Columns
    on_error: Literal["stop", "skip"]
    name_by_file: bool
    closed: Sequence[Problem]
    """Files and folders that may not be read."""

    @classmethod
    def find(
        cls,
        logs: PathLike | Sequence[PathLike],
        columns: Columns | None,
        on_error: Literal["stop", "skip"],
        name_by_file: bool,
    ) -> RawLogs:
        """Look for the files."""
        theirs = named(columns)
        closed: list[Problem] = []
        files = find_logs(logs, fail if on_error == "stop" else closed.append)
        return cls(files, theirs, on_error, name_by_file, closed)

    @property
    def inputs(self) -> list[str]:
        """Files of this machine, which must not be overwritten."""
        return [file.name for file in self.files if file.system is None]

    @contextmanager
    def opened(
        self, rules: PairRules, memory: Memory, progress: Progress | None
    ) -> Iterator[OpenLogs]:
        """Find the threads of the logs; what is kept of them goes when the block ends."""
        layout = self._layout()
        reading = Reading(self.files, self.columns, self.on_error, progress, memory.size // 4)
        counts = Counts()
        buckets = memory.buckets_for(self.files)
        with Store(memory.size, memory.work) as store:
            found: PostLogs | TurnLogs
            if layout == "posts":
                found = PostLogs(reading.posts, rules.for_posts(), counts, store, buckets)
            else:
                dialogues = partial(reading.dialogues, self.name_by_file)
                found = TurnLogs(dialogues, rules.for_dialogues(), counts, reading.report)
            yield OpenLogs(layout, found, reading, counts, store, buckets, self.closed)

    def _layout(self) -> Layout:
        """The layout of all files; posts and dialogues do not mix."""
        found: dict[bool, tuple[Layout, str]] = {}
        for file in self.files:
            try:
                layout = layout_of(file, self.columns)
            except WrongColumns:
                raise
            except BrokenFile:
                if self.on_error == "stop":
                    raise
                continue  # it is counted when it is read
            if layout is not None:
                found.setdefault(layout == "posts", (layout, file.name))
        if len(found) == 2:
            (one, first), (other, second) = found.values()
            message = f"holds {other}, but {first} holds {one}: turn them into pairs one by one"
            raise InputError(Problem(message, file=second))
        return next(iter(found.values()))[0] if found else "posts"


@dataclass(frozen=True, slots=True, eq=False)
class OpenLogs:
    """Logs whose threads have been found.

    Attributes
    ----------
    counts : Counts
        What became of posts; of turns, after `threads` has been gone through.
    """

    layout: Layout
    found: PostLogs | TurnLogs
    reading: Reading
    counts: Counts
    store: Store
    buckets: int
    closed: Sequence[Problem]

    def blocks(self) -> Iterator[ThreadBlock]:
        """Yield all threads, many at once; may be asked for again."""
        return self.found.blocks()

    def threads(self) -> Iterator[Thread]:
        """Yield all threads; may be asked for again."""
        return self.found.threads()

    def read_counts(
        self,
    ) -> tuple[Layout, int, int, tuple[Problem, ...], int, Mapping[str, int], int]:
        """The fields of `ReadLogs`."""
        return (
            self.layout,
            self.found.posts,
            self.reading.skipped,
            (*self.closed, *self.reading.broken),
            self.found.other_parts if isinstance(self.found, TurnLogs) else 0,
            self.counts.dropped(),
            self.counts[Fate.KEPT],
        )
