"""Logs in, files of pairs and triples out, with counts of all that was dropped."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from deltableu._types import Progress
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile, FoundFile, PathLike, WrongColumns, check_apart
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.overlap import PairTexts
from deltableu.logs.periods import Split
from deltableu.logs.post_logs import PostLogs
from deltableu.logs.posts import Columns, Layout, find_logs, layout_of, named
from deltableu.logs.reading import Reading
from deltableu.logs.rules import PairRules
from deltableu.logs.spill import Store
from deltableu.logs.turn_logs import TurnLogs
from deltableu.logs.types import Pair, PeriodCounts, Thread, WrittenPairs
from deltableu.logs.writers import (
    COLUMNS,
    Form,
    Writer,
    check_output,
    pair_row,
    triple_row,
    written,
)

#: Bytes that are kept in memory before more goes to the disk.
MEMORY = 1 << 30
_MOST_BUCKETS = 1024


class _Logs(Protocol):
    @property
    def posts(self) -> int: ...
    def threads(self) -> Iterator[Thread]: ...


def write_pairs(
    logs: PathLike | Sequence[PathLike],
    output: PathLike,
    *,
    triples: PathLike | None = None,
    rules: PairRules | None = None,
    split: Split | None = None,
    drop_overlap: bool = False,
    columns: Columns | None = None,
    name_by_file: bool = False,
    form: Form | None = None,
    replace: bool = False,
    on_error: Literal["stop", "skip"] = "stop",
    memory_bytes: int = MEMORY,
    buckets: int | None = None,
    work: PathLike | None = None,
    progress: Progress | None = None,
) -> WrittenPairs:
    """Turn posts or dialogues into pairs of utterance and response.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of posts (see `read_posts`), of turns (`dialog`, `turn`,
        `text`, and perhaps `speaker` and `time`; the turns of a dialogue follow on each other), or
        of conversations (JSON Lines of `id` and `turns`, texts or objects with `text`). The
        columns tell which.
    output
        A file of pairs: `utterance`, `response`, and of the response `id`, `time`, `thread`,
        `user`. With a split, a folder with a file for each period.
    triples
        The same for `context`, `message`, `response` and the rest, where a context is known.
    rules
        What a dialogue is.
    split
        Into periods.
    drop_overlap
        Where a pair of the same words lies in several periods, write it in the last one only: the
        test set is worth most, so name it last.
    columns
        What the logs call the columns.
    name_by_file
        Begin the names of dialogues with that of their file, so that equal ones in several files
        are told apart.
    form
        Of the files in a folder, by default `tsv`.
    replace
        Put the new folder in the place of an old one.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out; of a
        damaged file, what comes before the damage is used.
    memory_bytes
        About how much to keep in memory before using temporary files. It takes 81 bytes a post to
        find the threads, and then the texts of posts that are in pairs.
    buckets
        How many parts to cut the work into; by default so many that a part fits well into memory.
    work
        Where to put temporary files; by default beside the output.
    progress
        Called now and then.

    Returns
    -------
    WrittenPairs
        Counts. Pairs are in the order of the roots, then of the responses, in the logs.
    """
    if memory_bytes < 1:
        raise InputError(Problem(f"must be 1 or more, got {memory_bytes}", field="memory_bytes"))
    if buckets is not None and not 1 <= buckets <= _MOST_BUCKETS:
        message = f"must lie between 1 and {_MOST_BUCKETS}, got {buckets}"
        raise InputError(Problem(message, field="buckets"))
    if drop_overlap and split is None:
        raise InputError("there can be no overlap to drop without a split")
    names = None if split is None else split.names
    theirs = named(columns)
    files = find_logs(logs)
    inputs = [file.name for file in files if file.system is None]
    forms = [check_output(output, form, names, inputs, replace=replace)]
    if triples is not None:
        forms.append(check_output(triples, form, names, inputs, replace=replace))
        check_apart(triples, [output], "written")
    layout = _layout(files, theirs, skip=on_error == "skip")
    count = buckets or _buckets(files, memory_bytes)
    reading = Reading(files, theirs, on_error, progress)
    counts = Counts()
    rules = rules or PairRules()
    work = work if work is not None else Path(os.path.realpath(output)).parent
    with Store(memory_bytes, work) as store, ExitStack() as stack:
        found: _Logs
        if layout == "posts":
            found = PostLogs(reading.posts, rules.for_posts(), counts, store, count)
        else:
            turns = partial(reading.turns, name_by_file)
            found = TurnLogs(turns, rules.for_dialogues(), counts, reading.report)
        writers = [
            stack.enter_context(written(output, forms[0], COLUMNS[pair_row], names, replace))
        ]
        if triples is not None:
            writers.append(
                stack.enter_context(written(triples, forms[1], COLUMNS[triple_row], names, replace))
            )
        texts = PairTexts(store, count, len(names or [""]))
        made = _write(found, split, [] if drop_overlap else writers, counts, texts)
        overlap, without = texts.overlap()
        if drop_overlap:  # which pairs to leave out is known when all have been seen
            made = _write(found, split, writers, without=set(without.tolist()))
        reading.check_unchanged()
        texts_of = texts.counts(without if drop_overlap else None)
        periods = tuple(
            PeriodCounts(name, threads, pairs, with_context, one)
            for name, (threads, pairs, with_context), one in zip(
                names or ("",), made, texts_of, strict=True
            )
        )
        return WrittenPairs(
            layout,
            found.posts,
            reading.skipped,
            tuple(reading.broken),
            counts.dropped(),
            counts[Fate.KEPT],
            periods,
            overlap,
            len(without) if drop_overlap else 0,
            store.spilled,
        )


def _write(
    found: _Logs,
    split: Split | None,
    writers: Sequence[Sequence[Writer]],
    counts: Counts | None = None,
    texts: PairTexts | None = None,
    without: Collection[int] = (),
) -> list[list[int]]:
    """Give threads to periods and pairs to writers; how many threads, pairs, triples each has."""
    written = [[0, 0, 0] for _ in (split.names if split else [""])]
    number = 0
    for thread in found.threads():
        period = 0 if split is None else split.place(thread)
        if counts is not None:
            counts.add(period if isinstance(period, Fate) else Fate.KEPT, thread.posts)
        if isinstance(period, Fate):
            continue
        pairs: list[Pair] = []
        for pair in thread.pairs:
            if number not in without:
                pairs.append(pair)
                if texts is not None:
                    texts.add(number, period, pair.utterance, pair.response)
            number += 1
        triples = [pair for pair in pairs if pair.context is not None]
        for place, size in enumerate((bool(pairs), len(pairs), len(triples))):
            written[period][place] += size
        for output, row, rows in zip(
            writers, (pair_row, triple_row), (pairs, triples), strict=False
        ):
            for pair in rows:
                output[period](row(pair))
    return written


def _layout(files: Sequence[FoundFile], columns: Columns, *, skip: bool) -> Layout:
    """The layout of all files; posts and dialogues do not mix."""
    found: dict[bool, tuple[Layout, str]] = {}
    for file in files:
        try:
            layout = layout_of(file, columns)
        except WrongColumns:
            raise
        except BrokenFile:
            if not skip:
                raise
            continue  # it is counted when it is read
        if layout is not None:
            found.setdefault(layout == "posts", (layout, file.name))
    if len(found) == 2:
        (one, first), (other, second) = found.values()
        message = f"holds {other}, but {first} holds {one}: turn them into pairs one by one"
        raise InputError(Problem(message, file=second))
    return next(iter(found.values()))[0] if found else "posts"


def _buckets(files: Sequence[FoundFile], memory_bytes: int) -> int:
    """So many that what is made of an eighth of the memory fits into it."""
    total = 0
    for file in files:
        packed = 5 if file.packing or file.form == "parquet" else 1
        total += packed * (file.size if file.size is not None else memory_bytes)
    return min(max(-(-8 * total // memory_bytes), 1), _MOST_BUCKETS)
