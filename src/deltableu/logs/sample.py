"""Logs in, a study of test items out: items that no other period has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from deltableu._types import Progress
from deltableu.corpus import Study, System, check_new_study, write_study
from deltableu.errors import InputError, Problem
from deltableu.io import PathLike, find_files
from deltableu.logs.bigrams import FrequentBigrams
from deltableu.logs.columns import Columns
from deltableu.logs.drawing import HUMAN, Chosen, Drawing, Training
from deltableu.logs.fates import Fate
from deltableu.logs.overlap import PairTexts
from deltableu.logs.partitions import find_partitions
from deltableu.logs.periods import Period, Split, TimeSplit
from deltableu.logs.raw_logs import MEMORY, Memory, OpenLogs, RawLogs
from deltableu.logs.rules import PairRules
from deltableu.logs.sample_types import REASONS, SampledItems, SamplePlan
from deltableu.logs.times import parse_span
from deltableu.logs.types import Thread
from deltableu.text import empty_keys, hash_texts

_TEST, _TRAINING = 0, 1


def sample_items(
    logs: PathLike | Sequence[PathLike],
    output: PathLike,
    plan: SamplePlan,
    *,
    period: str | None = None,
    split: Split | None = None,
    exclude: Sequence[PathLike] = (),
    rules: PairRules | None = None,
    columns: Columns | None = None,
    name_by_file: bool = False,
    replace: bool = False,
    on_error: Literal["stop", "skip"] = "stop",
    memory: int = MEMORY,
    buckets: int | None = None,
    work: PathLike | None = None,
    progress: Progress | None = None,
) -> SampledItems:
    """Draw test items from logs, and write them as a study.

    Which items are drawn depends on the seed and on the ids in the logs alone, not on the order of
    files and rows, and more items are the same ones and others.

    Parameters
    ----------
    logs
        As for `write_pairs`.
    output
        The folder of the new study.
    plan
        What to draw.
    period
        Where to draw from: with a split, the name of one of its periods; all others are training
        data. Without one, dates such as ``2019`` or ``2019-01..2019-06``; all else in the logs is
        training data then.
    split
        As for `write_pairs`.
    exclude
        Logs of pairs that are training data too, as `write_pairs` writes them. No item has a pair
        that training data has (`deltableu.text.text_keys`), or is in a thread of these logs.
    rules, columns, name_by_file, replace, on_error, memory, buckets, work, progress
        As for `write_pairs`.

    References
    ----------
    Galley et al. (2015), section 4.1; Tsuta et al. (2020), section 5.2.
    """
    place, name = _places(period, split)
    rules = rules or PairRules()
    if rules.first:
        raise InputError(
            "which pairs make items follows from the kind, not from first: leave it out"
        )
    raw = RawLogs.find(logs, columns, on_error, name_by_file)
    excluded = [file.name for file in (find_files(list(exclude)) if exclude else ())]
    check_new_study(output, [*raw.inputs, *excluded], replace=replace)
    work = work if work is not None else Path(os.path.realpath(output)).parent
    with raw.opened(rules, Memory(memory, buckets, work), progress) as found:
        if plan.kind == "upsilon" and found.layout != "posts":
            message = (
                f"the logs hold {found.layout}, in which an utterance has one reply: upsilon items "
                "need two, which only posts have (kind answers draws an utterance of two dialogues)"
            )
            raise InputError(Problem(message, field="kind"))
        training = _training(found, place, plan, exclude)
        drawing = Drawing(plan, training)
        number = 0
        for thread in found.threads():
            where = place(thread)
            if where == _TEST:
                drawing.add(number, thread)
            number += 0 if isinstance(where, Fate) else len(thread.pairs)
        found.reading.check_unchanged()
        chosen = drawing.chosen()
        if not chosen:
            raise InputError(drawing.why_none(name))
        result = SampledItems(
            *found.read_counts(),
            plan.kind,
            name,
            drawing.candidates,
            training.pairs,
            {reason: drawing.dropped[reason] for reason in REASONS if drawing.dropped[reason]},
            drawing.fit,
            len(chosen),
            plan.items,
        )
        write_study(_study(chosen, plan), output, replace=replace)
    return result


def _places(period: str | None, split: Split | None) -> tuple[Callable[[Thread], int | Fate], str]:
    """Which threads are tests and which training data; what the period is called."""
    if split is None and period is None:
        return lambda _: _TEST, ""
    if split is None:
        try:
            only = TimeSplit((Period("test", parse_span(period or "")),))
        except ValueError as error:
            raise InputError(Problem(str(error), field="period")) from None
        return lambda thread: _TEST if only.place(thread) == 0 else _TRAINING, period or ""
    names = ", ".join(split.names)
    if period is None:
        raise InputError(f"a split needs the period to sample from: name one of {names}")
    if period not in split.names:
        raise InputError(Problem(f"must be one of {names}, got {period!r}", field="period"))
    test = split.names.index(period)

    def place(thread: Thread) -> int | Fate:
        where = split.place(thread)
        return where if isinstance(where, Fate) else _TEST if where == test else _TRAINING

    return place, period


def _training(
    found: OpenLogs,
    place: Callable[[Thread], int | Fate],
    plan: SamplePlan,
    exclude: Sequence[PathLike],
) -> Training:
    """Go through all pairs once, and count what became of the posts."""
    texts = PairTexts(found.store, found.buckets, 2)
    bigrams = FrequentBigrams(found.store, found.buckets) if plan.min_bigram_count else None
    number = pairs = 0
    for thread in found.threads():
        where = place(thread)
        found.counts.add(where if isinstance(where, Fate) else Fate.KEPT, thread.posts)
        if isinstance(where, Fate):
            continue
        texts.add(number, where, thread.pairs)
        if bigrams is not None:
            bigrams.add(number, thread.pairs, asked=where == _TEST)
        number += len(thread.pairs)
        pairs += len(thread.pairs) if where == _TRAINING else 0
    threads = [empty_keys(0)]
    for partition in find_partitions(exclude) if exclude else ():
        for block in partition.blocks():
            texts.add_texts(_TRAINING, block.utterances, block.responses)
            pairs += len(block)
            if block.threads is not None:
                threads.append(np.unique(hash_texts(block.threads)))
    _, numbers = texts.overlap()
    frequent = None if bigrams is None else set(bigrams.numbers(plan.min_bigram_count).tolist())
    names = np.unique(np.concatenate(threads))
    # The empty name of rows without a thread is nobody's.
    return Training(pairs, set(numbers.tolist()), names[names != b""], frequent)


def _study(chosen: Sequence[Chosen], plan: SamplePlan) -> Study:
    items = tuple(one.item() for one in chosen)
    if plan.kind == "triples":
        return Study(items)
    said = tuple(_human_replies(chosen))
    return Study(items, {HUMAN: said}, systems={HUMAN: System(HUMAN, type="human")})


def _human_replies(chosen: Sequence[Chosen]) -> Iterator[str]:
    for one in chosen:
        if one.other is not None:
            yield one.other.response
