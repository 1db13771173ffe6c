"""Files of posts in, threads of pairs out; the files are read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from deltableu.errors import InputError
from deltableu.logs.dialogues import posts_in_dialogues
from deltableu.logs.fates import Counts
from deltableu.logs.links import link_posts
from deltableu.logs.posts import Posts
from deltableu.logs.rules import Rules
from deltableu.logs.spill import Array, Records, SpilledRows, Store, changes
from deltableu.logs.types import Pair, Thread


class PostLogs:
    """Logs of posts, indexed.

    Parameters
    ----------
    read : callable
        Yields the posts from the beginning, the same ones whenever it is called. The first call
        finds the dialogues, the second fetches their texts.
    buckets : int
        How many parts the work is cut into; one part is in memory at a time, whatever the limit.
    """

    def __init__(
        self,
        read: Callable[[], Iterator[Posts]],
        rules: Rules,
        counts: Counts,
        store: Store,
        buckets: int,
    ) -> None:
        threads, self.posts = link_posts(read(), rules, counts, store, buckets)
        self._plan = Records(store, buckets, [("root", "<i8"), ("pos", "<i8"), ("parent", "<i8")])
        self._texts = SpilledRows(store, buckets)
        wanted = Records(store, buckets, [("pos", "<i8"), ("bucket", "<i8")])
        for bucket in range(buckets):
            kept = posts_in_dialogues(threads.take(bucket), rules, counts)
            self._plan.put(bucket, self._plan.make(kept))
            part = kept["pos"] * buckets // max(self.posts, 1)
            wanted.add(wanted.make(kept, bucket=bucket), part)
        self._fetch(read(), wanted)

    def _fetch(self, blocks: Iterator[Posts], wanted: Records) -> None:
        """Read the posts again, and bring those of a thread together."""
        posts: Posts | None = None
        first = end = 0
        for bucket in range(wanted.count):
            # Places of a bucket come after those of the one before.
            places = wanted.take(bucket)
            places = places[np.argsort(places["pos"])]
            at = 0
            while at < len(places):
                while places["pos"][at] >= end:
                    posts = next(blocks, None)
                    if posts is None:
                        raise InputError("the logs have changed while they were read: start again")
                    first, end = end, end + len(posts)
                stop = int(np.searchsorted(places["pos"], end))
                self._add(posts, first, places[at:stop])  # type: ignore[arg-type]
                at = stop

    def _add(self, posts: Posts, first: int, places: Array) -> None:
        """Put away the posts at some places, each for the bucket that its thread is in."""
        places = places[np.argsort(places["bucket"], kind="stable")]
        bounds = np.append(np.flatnonzero(changes(places, "bucket")), len(places)).tolist()
        for begin, end in pairwise(bounds):
            own = places["pos"][begin:end]
            chosen = (own - first).tolist()
            columns = (posts.ids, posts.users, posts.times, posts.texts)
            # Columns, since a row of each post would take longer.
            values = [[column[place] for place in chosen] for column in columns]
            self._texts.add(int(places["bucket"][begin]), [(own.tolist(), *values)])

    def threads(self) -> Iterator[Thread]:
        """Yield threads in the order of their roots; may be asked for again."""
        for bucket in range(self._plan.count):
            plan = self._plan.load(bucket)
            if len(plan):
                yield from _threads(plan, *self._columns(bucket))

    def _columns(self, bucket: int) -> tuple[list[Any], ...]:
        joined: tuple[list[Any], ...] = ([], [], [], [], [])
        for columns in self._texts.load(bucket):
            for column, more in zip(joined, columns, strict=True):
                column += more
        return joined


def _threads(
    plan: Array,
    places: list[int],
    ids: list[str],
    users: list[str],
    times: list[int | None],
    texts: list[str],
) -> Iterator[Thread]:
    """Threads of a plan, which has them in the order of roots and places."""
    order = np.argsort(plan["pos"])
    parents = _rows_of(plan["parent"], plan["pos"], order)
    contexts = np.where(parents < 0, -1, parents[parents])
    known = np.argsort(np.array(places))
    of = known[np.searchsorted(np.array(places), plan["pos"], sorter=known)]
    rows = [of.tolist(), *(np.where(one < 0, -1, of[one]).tolist() for one in (parents, contexts))]
    bounds = np.append(np.flatnonzero(changes(plan, "root")), len(plan)).tolist()
    for begin, end in pairwise(bounds):
        own, above, before = (row[begin:end] for row in rows)
        root = own[above.index(-1)]
        root_id = ids[root]
        known_times = [times[row] for row in own if times[row] is not None]
        yield Thread(
            root_id,
            times[root],
            min(known_times, default=None),
            max(known_times, default=None),
            end - begin,
            tuple(
                [
                    Pair(
                        texts[utterance],
                        texts[row],
                        ids[row],
                        times[row],
                        root_id,
                        users[row],
                        texts[context] if context >= 0 else None,
                    )
                    for row, utterance, context in zip(own, above, before, strict=True)
                    if utterance >= 0
                ]
            ),
        )


def _rows_of(wanted: Array, places: Array, order: Array) -> Array:
    """In which row each place is; -1 for -1."""
    found = order[np.searchsorted(places, np.maximum(wanted, 0), sorter=order) % len(places)]
    return np.where(wanted < 0, -1, found)
