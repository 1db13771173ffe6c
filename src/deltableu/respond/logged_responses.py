"""The human responder: what somebody else once said to the same message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from deltableu._types import Ints, Ints32
from deltableu.corpus import Item
from deltableu.logs import Logs
from deltableu.mine import (
    Engine,
    LogRows,
    LogRun,
    OnError,
    OwnPairs,
    Progress,
    RowFilter,
    scan_logs,
)
from deltableu.respond.log_options import LogOptions, item_stream, log_facts
from deltableu.respond.responses import (
    Responses,
    checked_items,
    make_responses,
    weighted_choice,
)
from deltableu.text import WordNumbers, empty_keys, text_keys

_HUMAN = 32

_Replies: TypeAlias = dict[int, Counter[str]]


def logged_responses(
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
    """Respond to each item with another logged response to the same utterance.

    What is the same is said by `deltableu.text.text_keys`. A response that says what a reference of
    the item does is never taken, nor one that was logged with the item (its id or thread). Of those
    that are left, rows are equally likely; an item without any is missing.

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
    >>> from deltableu.corpus import Reference
    >>> items = [Item(id, (Reference("a", "Fine!"),), message=text)
    ...          for id, text in (("1", "How are you?"), ("2", "Where is it?"))]
    >>> found = logged_responses(items, [("how are you", "fine"), ("How are you!", "so so")])
    >>> found.texts, found.missing
    (('so so', ''), ('2',))
    """
    items = checked_items(items)
    run = LogRun(engine, threads, None, on_error, partition_bytes, progress)
    options = LogOptions(rows or RowFilter(), tokenize, run)
    keys = text_keys([item.message or "" for item in items]).keys
    (asking,) = np.nonzero(keys != b"")
    messages = WordNumbers.of(empty_keys(0))
    numbers, _ = messages.add(keys[asking])
    order = np.argsort(numbers, kind="stable")
    visitor = _SameUtterance(
        OwnPairs.of(items),
        messages,
        np.searchsorted(numbers[order], np.arange(messages.size + 1)).astype(np.int64),
        asking[order].astype(np.int32),
    )
    scanned = scan_logs(logs, visitor, options.rows, options.rule, options.run)
    texts = [
        weighted_choice(item_stream(seed, _HUMAN, item), scanned.found.get(number, {}))
        for number, item in enumerate(items)
    ]
    return make_responses(
        items,
        texts,
        options.signature("human", scanned.content, scanned.rows, f"seed:{seed}"),
        log_facts(scanned.rows, scanned.left_out, scanned.skipped, len(scanned.unreadable)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _SameUtterance:
    """Counts the responses of rows whose utterance is the message of an item.

    Attributes
    ----------
    own : OwnPairs
    messages : WordNumbers
        Keys of messages.
    bounds, items : array
        Message i is that of the items from `bounds[i]` up to but not `bounds[i + 1]`.
    """

    own: OwnPairs
    messages: WordNumbers
    bounds: Ints
    items: Ints32

    def empty(self) -> _Replies:
        return {}

    def visit(self, found: _Replies, rows: LogRows, places: Ints) -> _Replies:
        numbers = self.messages.find(rows.utterance_keys_at(places))
        (some,) = np.nonzero(numbers >= 0)
        if not len(some):
            return found
        starts, stops = self.bounds[numbers[some]], self.bounds[numbers[some] + 1]
        sizes = stops - starts
        chosen = np.repeat(places[some], sizes)
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        items = self.items[np.repeat(starts, sizes) + within]
        kept = self.own.allowed(rows, items, chosen)
        texts = rows.block.responses.choose(chosen[kept]).strings()
        for item, text in zip(items[kept].tolist(), texts, strict=True):
            found.setdefault(item, Counter())[text] += 1
        return found

    def merge(self, found: _Replies, other: _Replies) -> _Replies:
        for item, texts in other.items():
            found.setdefault(item, Counter()).update(texts)
        return found
