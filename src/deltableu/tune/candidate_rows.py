"""N-best lists and encoded references in; a row of statistics per candidate out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from deltableu._types import Ints, Steps
from deltableu.corpus import NBestLists
from deltableu.errors import InputError
from deltableu.score import Metric, NgramMetric, Statistics


def candidate_statistics(
    metric: Metric,
    encoded: Any,
    nbest: NBestLists,
    *,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Statistics:
    """One row per candidate; those of one candidate per item are a corpus.

    References are encoded once, and candidates scored in rounds, the next text of every list at a
    time: memory does not grow with the references of all candidates. A text that a list has more
    than once is scored once.

    Parameters
    ----------
    metric
        One whose score is that of sums of rows.
    encoded
        What `metric.encode` made of the references of the lists' items, in their order.
    nbest
        Candidates; only their texts count.
    threads : int, optional
        All cores by default; the result does not depend on it.
    progress : callable, optional
        Called with (texts of the longest list that are done, all of them).

    Examples
    --------
    >>> from deltableu import BLEU
    >>> lists = NBestLists(("1", "2"), np.array([0, 2, 3]), ("a b", "a c", "x"), ("LM",),
    ...                    np.array([[-1.0], [-2.0], [-1.5]]))
    >>> metric = BLEU(order=1)
    >>> rows = candidate_statistics(metric, metric.encode([["a b"], ["x y"]]), lists)
    >>> rows.rows[:, :2].tolist()
    [[2.0, 2.0], [1.0, 2.0], [1.0, 1.0]]
    >>> rows[[0, 2]].score().numerators
    (3.0,)
    """
    owners, texts, places = _distinct(nbest)
    bounds = np.searchsorted(owners, np.arange(len(nbest) + 1))
    sizes = np.diff(bounds)
    rounds = int(sizes.max())
    # Kernels of n-grams run side by side; what else a metric calls may not be made for it.
    workers = min(threads or os.cpu_count() or 1, rounds) if isinstance(metric, NgramMetric) else 1
    inside = 1 if workers > 1 else threads

    def scored(number: int) -> Statistics:
        """The next text of every list, and an empty one for lists that have no more."""
        given = [
            texts[first + number] if number < size else ""
            for first, size in zip(bounds[:-1].tolist(), sizes.tolist(), strict=True)
        ]
        found = metric.statistics(given, encoded, threads=inside)
        # A metric that looks at all texts at once gives back itself as it is for these.
        if not found.adds_up or found.metric is not metric:
            raise InputError(
                f"{metric.name} is no function of sums over items, as its score depends on which "
                "texts stand together: choose another metric"
            )
        return found

    rows = info = None
    for number, found in enumerate(_in_order(scored, rounds, workers)):
        if rows is None:
            rows = np.empty((len(texts), found.rows.shape[1]))
            info = found.info
        (longer,) = np.nonzero(sizes > number)
        rows[bounds[longer] + number] = found.rows[longer]
        if progress is not None:
            progress(number + 1, rounds)
    if rows is None or info is None:
        raise InputError("there are no candidates")
    return Statistics(rows[places], metric, replace(info, items=len(places)))


def _distinct(nbest: NBestLists) -> tuple[Ints, list[str], Ints]:
    """Owners and texts of the different candidates, and which of them each candidate is."""
    seen: dict[tuple[int, str], int] = {}
    pairs = zip(nbest.owners.tolist(), nbest.texts, strict=True)
    places = [seen.setdefault(pair, len(seen)) for pair in pairs]
    owners = np.array([owner for owner, _ in seen], dtype=np.int64)
    return owners, [text for _, text in seen], np.array(places, dtype=np.int64)


def _in_order(scored: Any, rounds: int, workers: int) -> Iterator[Statistics]:
    if workers <= 1:
        yield from map(scored, range(rounds))
        return
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, rounds, 4 * workers):  # what is done must not pile up
            yield from pool.map(scored, range(start, min(start + 4 * workers, rounds)))
