"""Retrieval baselines: the response to the logged utterance that is most like the message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from deltableu.corpus import Item, NBestLists
from deltableu.errors import InputError, Problem, check_at_least, check_choice
from deltableu.io import PathLike
from deltableu.logs import Logs
from deltableu.mine import (
    BM25,
    Engine,
    Log,
    LogRun,
    NearPairs,
    OnError,
    PairSimilarity,
    Progress,
    RowFilter,
    TfIdf,
    nearest_pairs,
)
from deltableu.respond.log_options import LogOptions, log_facts, reread
from deltableu.respond.responses import Responses, checked_items, make_responses

Retrieval = Literal["c-bm25", "c-tfidf"]
Query = Literal["message", "context"]

#: The one feature of what was retrieved, which is the total too.
SCORE = "retrieval-score"

#: Nobody reads so many, and all of them are held in memory.
_MOST = 10_000


def retrieved_responses(
    items: Sequence[Item],
    logs: Logs,
    *,
    method: Retrieval = "c-bm25",
    keep: int = 1,
    query: Query = "message",
    rows: RowFilter | None = None,
    tokenize: str = "words",
    engine: str | Engine = "threads",
    threads: int | None = None,
    on_error: OnError = "stop",
    partition_bytes: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    log: Log | None = None,
    work: PathLike | None = None,
    keep_work: bool = False,
) -> Responses:
    """Respond to each item with the response to the most similar logged utterance.

    Exact: every row of the logs is scored against every item; of rows with the same score the first
    in the logs is taken. An item's own pair is never taken for it. An item whose words no utterance
    has is missing.

    Parameters
    ----------
    items
    logs
        As `deltableu.logs.find_partitions` takes them.
    method : {"c-bm25", "c-tfidf"}
        BM25 of the utterance, or the cosine of TF-IDF vectors (Liu et al. 2016).
    keep : int
        So many different candidates of each item are in the n-best lists, with their scores.
    query : {"message", "context"}
        What utterances are compared with: the message, or the turns before it as well.
    rows : RowFilter, optional
        Which responses are fit at all; by default as mining does it.
    tokenize : str
        What a word is (`deltableu.text.WordRule`).
    engine, threads, on_error, partition_bytes, progress
        As `deltableu.mine.LogRun` takes them; no result depends on them, but on what is left out
        where `on_error` is "skip".
    log : callable, optional
        Called as partitions are finished.
    work : path, optional
        A folder for checkpoints, as for mining; removed at the end.
    keep_work : bool
        Leave it to the caller, who may want to write the responses first.

    References
    ----------
    Liu, Lowe, Serban, Noseworthy, Charlin and Pineau (2016). How NOT to evaluate your dialogue
    system: an empirical study of unsupervised evaluation metrics for dialogue response generation.

    Examples
    --------
    >>> pairs = [("how are you today", "fine and you"), ("where is it", "over there")]
    >>> item = Item("1", (), message="How are you?")
    >>> retrieved_responses([item], pairs, method="c-tfidf").texts
    ('fine and you',)
    """
    items = checked_items(items)
    run = LogRun(engine, threads, work, on_error, partition_bytes, progress, log)
    options = LogOptions(rows or RowFilter(), tokenize, run)
    check_choice("method", method, get_args(Retrieval))
    check_choice("query", query, get_args(Query))
    check_at_least("keep", keep, 1)
    if keep > _MOST:
        raise InputError(f"keep must be at most {_MOST:,}, got {keep}")
    similarity: PairSimilarity = BM25("utterance") if method == "c-bm25" else TfIdf("utterance")
    found = nearest_pairs(
        items,
        [_asked(item, query) for item in items],
        reread(logs),
        similarity,
        keep=keep,
        rows=options.rows,
        tokenize=options.tokenize,
        run=options.run,
    )
    if not keep_work:
        found.work.end()
    facts = log_facts(found.rows, found.left_out, found.skipped, len(found.unreadable))
    facts["items whose own pair is in the logs"] = sum(map(bool, found.leaks))
    responses = make_responses(
        items,
        [pairs[0].pair.response if pairs else None for pairs in found.items],
        options.signature(
            method,
            found.content,
            found.rows,
            *similarity.signature.split("|"),
            f"query:{query}",
        ),
        facts,
    )
    return replace(responses, nbest=_lists(items, found), work=found.work)


def _asked(item: Item, query: Query) -> str:
    turns = [*(item.context if query == "context" else ()), item.message or ""]
    if item.message is None and not any(turns):
        field = "message" if query == "message" else "context"
        raise InputError(Problem("the item has nothing to look for", item=item.id, field=field))
    return "\n".join(turns)


def _lists(items: Sequence[Item], found: NearPairs) -> NBestLists | None:
    """The candidates of all items that have any."""
    answered = [number for number, pairs in enumerate(found.items) if pairs]
    if not answered:
        return None
    pairs = [pair for number in answered for pair in found.items[number]]
    scores = np.array([pair.score for pair in pairs])
    sizes = [len(found.items[number]) for number in answered]
    return NBestLists(
        tuple(items[number].id for number in answered),
        np.concatenate(([0], np.cumsum(sizes))),
        tuple(pair.pair.response for pair in pairs),
        (SCORE,),
        scores[:, np.newaxis],
        scores,
    )
