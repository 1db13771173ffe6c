"""Logs in, files of pairs and triples out, with counts of all that was dropped."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from deltableu._types import Progress
from deltableu.errors import InputError
from deltableu.io import PathLike, check_apart
from deltableu.logs.columns import Columns
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.overlap import PairTexts
from deltableu.logs.periods import Split
from deltableu.logs.raw_logs import MEMORY, Memory, OpenLogs, RawLogs
from deltableu.logs.rules import PairRules
from deltableu.logs.types import Pair, PeriodCounts, WrittenPairs
from deltableu.logs.writers import PAIRS, TRIPLES, Form, Writer, check_output, written

_BATCH = 1024


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
    memory: int = MEMORY,
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
        of conversations (JSON Lines of `turns` or `messages`, texts or objects with `text` or
        `content`, and perhaps an `id`). The columns tell which.
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
        The form of the files in a folder, by default `tsv`.
    replace
        Put the new folder in the place of an old one.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out; of a
        damaged file, what comes before the damage is used.
    memory
        About how much to keep in memory before using temporary files. It takes 81 bytes per post to
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
    if drop_overlap and split is None:
        raise InputError("there can be no overlap to drop without a split")
    names = None if split is None else split.names
    raw = RawLogs.find(logs, columns, on_error, name_by_file)
    forms = [check_output(output, form, names, raw.inputs, replace=replace)]
    if triples is not None:
        forms.append(check_output(triples, form, names, raw.inputs, replace=replace))
        check_apart(triples, [output], "written")
    work = work if work is not None else Path(os.path.realpath(output)).parent
    with (
        ExitStack() as stack,
        raw.opened(rules or PairRules(), Memory(memory, buckets, work), progress) as found,
    ):
        writers = [stack.enter_context(written(output, forms[0], PAIRS, names, replace))]
        if triples is not None:
            writers.append(stack.enter_context(written(triples, forms[1], TRIPLES, names, replace)))
        texts = PairTexts(found.store, found.buckets, len(names or [""]))
        made = _write(found, split, [] if drop_overlap else writers, found.counts, texts)
        overlap, without = texts.overlap()
        if drop_overlap:  # which pairs to leave out is known when all have been seen
            made = _write(found, split, writers, without=set(without.tolist()))
        found.reading.check_unchanged()
        texts_of = texts.counts(without if drop_overlap else None)
        periods = tuple(
            PeriodCounts(name, threads, pairs, with_context, one)
            for name, (threads, pairs, with_context), one in zip(
                names or ("",), made, texts_of, strict=True
            )
        )
        return WrittenPairs(
            *found.read_counts(),
            periods,
            overlap,
            len(without) if drop_overlap else 0,
            found.store.spilled,
        )


def _write(
    found: OpenLogs,
    split: Split | None,
    writers: Sequence[Sequence[Writer]],
    counts: Counts | None = None,
    texts: PairTexts | None = None,
    without: Collection[int] = (),
) -> list[list[int]]:
    """Give threads to periods and pairs to writers; how many threads, pairs, triples each has."""
    written = [[0, 0, 0] for _ in (split.names if split else [""])]
    waiting: list[list[Pair]] = [[] for _ in written]
    number = 0
    for thread in found.threads():
        period = 0 if split is None else split.place(thread)
        if counts is not None:
            counts.add(period if isinstance(period, Fate) else Fate.KEPT, thread.posts)
        if isinstance(period, Fate):
            continue
        pairs: Sequence[Pair] = thread.pairs
        if texts is not None:
            texts.add(number, period, pairs)
        if without:
            pairs = [pair for place, pair in enumerate(pairs, number) if place not in without]
        number += len(thread.pairs)
        sizes = written[period]
        sizes[0] += bool(pairs)
        sizes[1] += len(pairs)
        sizes[2] += sum([pair.context is not None for pair in pairs])
        if writers:
            waiting[period] += pairs
            if len(waiting[period]) >= _BATCH:
                _flush(writers, waiting, period)
    for period in range(len(waiting)):
        _flush(writers, waiting, period)
    return written


def _flush(writers: Sequence[Sequence[Writer]], waiting: Sequence[list[Pair]], period: int) -> None:
    """Write pairs, and triples where they are wanted."""
    pairs = waiting[period]
    triples = [pair for pair in pairs if pair.context is not None] if len(writers) > 1 else []
    for output, rows in zip(writers, (pairs, triples), strict=False):
        output[period](rows)
    pairs.clear()
