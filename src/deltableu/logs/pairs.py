"""Logs in, files of pairs and triples out, with counts of all that was dropped."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import numpy as np

from deltableu._types import Ints, Progress
from deltableu.errors import InputError
from deltableu.io import PathLike, check_apart
from deltableu.logs.columns import Columns
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.overlap import PairTexts
from deltableu.logs.periods import Split
from deltableu.logs.raw_logs import MEMORY, Memory, OpenLogs, RawLogs
from deltableu.logs.rules import PairRules
from deltableu.logs.thread_blocks import ThreadBlock
from deltableu.logs.types import PeriodCounts, WrittenPairs
from deltableu.logs.writers import PAIRS, TRIPLES, Form, Writer, check_output, written

#: Pairs that are written at once.
_BATCH = 8192


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
    left_out = np.array(sorted(without), np.int64)
    number = 0
    for block in found.blocks():
        periods = _periods(block, split, counts)
        thread = np.repeat(np.arange(len(block)), np.diff(block.bounds))
        (rows,) = np.nonzero(periods[thread] >= 0)
        of = periods[thread[rows]]
        pairs, numbers = block.pairs.choose(rows), np.arange(number, number + len(rows))
        number += len(rows)
        if texts is not None:
            texts.add_columns(numbers, of, pairs)
        kept = ~np.isin(numbers, left_out)
        for period, sizes in enumerate(written):
            (own,) = np.nonzero(kept & (of == period))
            (with_context,) = np.nonzero(kept & (of == period) & (pairs.contexts >= 0))
            sizes[0] += len(np.unique(thread[rows[own]]))
            sizes[1] += len(own)
            sizes[2] += len(with_context)
            for output, some in zip(writers, (own, with_context), strict=False):
                for begin in range(0, len(some), _BATCH):
                    output[period](pairs.choose(some[begin : begin + _BATCH]))
    return written


def _periods(block: ThreadBlock, split: Split | None, counts: Counts | None) -> Ints:
    """The period of each thread, -1 where it has none; what becomes of posts is counted."""
    if split is None:
        if counts is not None:
            counts.add(Fate.KEPT, int(block.posts.sum()))
        return np.zeros(len(block), np.int64)
    periods = []
    for thread in block.heads():
        period = split.place(thread)
        if counts is not None:
            counts.add(period if isinstance(period, Fate) else Fate.KEPT, thread.posts)
        periods.append(-1 if isinstance(period, Fate) else period)
    return np.array(periods)
