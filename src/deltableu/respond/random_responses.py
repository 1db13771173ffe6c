"""The random baseline: any response of the logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deltableu._types import Bools, Ints
from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.logs import Logs
from deltableu.mine import (
    Engine,
    LoggedPair,
    LogRows,
    LogRun,
    OnError,
    Progress,
    RowFilter,
    is_own_pair,
    scan_logs,
)
from deltableu.respond.log_options import LogOptions, item_stream, log_facts, reread
from deltableu.respond.responses import Responses, checked_items, make_responses

_RANDOM = 31
#: Rows lie in buckets by their numbers; so many that few rows need be kept of millions.
_BITS = 20
_SHIFT = np.uint64(64 - _BITS)
#: Draws per item, since its own pair is none; all rows, where there are no more than so many.
_DRAWS, _ALL = 4, 64

_Rows: TypeAlias = dict[int, Counter[LoggedPair]]


def random_responses(
    items: Sequence[Item],
    logs: Logs,
    *,
    seed: int = 0,
    rows: RowFilter | None = None,
    tokenize: str = "words",
    engine: str | Engine = "threads",
    threads: int | None = None,
    on_error: OnError = "stop",
    partition_bytes: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Responses:
    """Respond to each item with a random response of the logs.

    Each row that is fit at all is equally likely, for each item independently of the others. Rows
    are drawn by what they say and not by their places, so that the order of files and rows does not
    matter. Logs are read twice. An item's own pair is not drawn for it.

    Parameters
    ----------
    items
    logs
        As `deltableu.logs.find_partitions` takes them.
    seed : int
    rows : RowFilter, optional
        Which responses are fit at all; by default as mining does it.
    tokenize : str
        What a word is (`deltableu.text.WordRule`).
    engine, threads, on_error, partition_bytes, progress
        As `deltableu.mine.LogRun` takes them; no result depends on them, but on what is left out
        where `on_error` is "skip".

    Examples
    --------
    >>> item = Item("1", (), message="How are you?")
    >>> random_responses([item], [("hello", "good day"), ("bye", "see you")]).texts
    ('see you',)
    """
    items = checked_items(items)
    run = LogRun(engine, threads, None, on_error, partition_bytes, progress)
    options = LogOptions(rows or RowFilter(), tokenize, run)
    logs = reread(logs)
    scan = (options.rows, options.rule, options.run)
    counted = scan_logs(logs, _BucketSizes(), *scan, "counting")
    ends = np.cumsum(counted.found)
    drawn = [_ranks(item_stream(seed, _RANDOM, item), int(ends[-1])) for item in items]
    ranks = np.array([rank for one in drawn for rank in one], np.int64)
    wanted = np.zeros(1 << _BITS, np.bool_)
    wanted[np.searchsorted(ends, ranks, side="right")] = True
    taken = scan_logs(logs, _RowsOfBuckets(wanted), *scan, "drawing")
    if (taken.rows, taken.content) != (counted.rows, counted.content):
        raise InputError(
            "the logs changed while they were read: run it again when they are at rest"
        )
    rows_of = {bucket: sorted(rows.items(), key=_in_order) for bucket, rows in taken.found.items()}

    def response(item: Item, ranks: Sequence[int]) -> str | None:
        for rank in ranks:
            bucket = int(np.searchsorted(ends, rank, side="right"))
            rank -= int(ends[bucket - 1]) if bucket else 0
            sizes = np.cumsum([times for _, times in rows_of[bucket]])
            pair, _ = rows_of[bucket][int(np.searchsorted(sizes, rank, side="right"))]
            if not is_own_pair(item, pair):
                return pair.response
        return None

    return make_responses(
        items,
        [response(item, ranks) for item, ranks in zip(items, drawn, strict=True)],
        options.signature("random", counted.content, counted.rows, f"seed:{seed}"),
        log_facts(counted.rows, counted.left_out, counted.skipped, len(counted.unreadable)),
    )


def _ranks(rng: np.random.Generator, rows: int) -> list[int]:
    """Ranks of rows in the order of their numbers, to be taken one after another."""
    if rows <= _ALL:
        return [int(rank) for rank in rng.permutation(rows)]
    return [int(rank) for rank in rng.integers(rows, size=_DRAWS)]


def _in_order(row: tuple[LoggedPair, int]) -> tuple[str, ...]:
    pair, _ = row
    return (pair.response, pair.utterance, pair.id or "", pair.thread or "")


def _buckets(rows: LogRows, places: Ints) -> Ints:
    return (rows.numbers[places] >> _SHIFT).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _BucketSizes:
    """Counts the rows of each bucket."""

    def empty(self) -> Ints:
        return np.zeros(1 << _BITS, np.int64)

    def visit(self, found: Ints, rows: LogRows, places: Ints) -> Ints:
        buckets, sizes = np.unique(_buckets(rows, places), return_counts=True)
        found[buckets] += sizes
        return found

    def merge(self, found: Ints, other: Ints) -> Ints:
        found += other
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _RowsOfBuckets:
    """Keeps the rows of some buckets."""

    wanted: Bools

    def empty(self) -> _Rows:
        return {}

    def visit(self, found: _Rows, rows: LogRows, places: Ints) -> _Rows:
        buckets = _buckets(rows, places)
        kept = self.wanted[buckets]
        pairs = rows.pairs_at(places[kept], 0)
        for bucket, place in zip(buckets[kept].tolist(), places[kept].tolist(), strict=True):
            found.setdefault(bucket, Counter())[pairs[place]] += 1
        return found

    def merge(self, found: _Rows, other: _Rows) -> _Rows:
        for bucket, rows in other.items():
            found.setdefault(bucket, Counter()).update(rows)
        return found
