"""Files of posts in, threads of pairs out; the files are read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError
from deltableu.logs.dialogues import posts_in_dialogues
from deltableu.logs.fates import Counts
from deltableu.logs.links import link_posts
from deltableu.logs.posts import Posts
from deltableu.logs.rules import Rules
from deltableu.logs.spill import Array, Records, SpilledTexts, Store, changes
from deltableu.logs.thread_blocks import PairColumns, ThreadBlock
from deltableu.logs.times import NO_TIME
from deltableu.logs.types import Thread
from deltableu.text import Texts

#: Later than any time.
_LATEST = np.iinfo(np.int64).max


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
        self._texts = SpilledTexts(store, buckets, numbers=2, texts=3)
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
            chosen = own - first
            texts = [one.choose(chosen) for one in (posts.ids, posts.users, posts.texts)]
            self._texts.add(int(places["bucket"][begin]), (own, posts.times[chosen]), texts)

    def blocks(self) -> Iterator[ThreadBlock]:
        """Yield threads in the order of their roots; may be asked for again."""
        for bucket in range(self._plan.count):
            plan = self._plan.load(bucket)
            if len(plan):
                (places, times), texts = self._texts.load(bucket)
                yield _block(plan, places, times, *texts)

    def threads(self) -> Iterator[Thread]:
        """The same, one by one."""
        for block in self.blocks():
            yield from block


def _block(
    plan: Array, places: Ints, times: Ints, ids: Texts, users: Texts, texts: Texts
) -> ThreadBlock:
    """Threads of a plan, which has them in the order of roots and places."""
    order = np.argsort(plan["pos"])
    parents = _rows_of(plan["parent"], plan["pos"], order)
    known = np.argsort(places)
    of = known[np.searchsorted(places, plan["pos"], sorter=known)]
    new = changes(plan, "root")
    starts, thread = np.flatnonzero(new), np.cumsum(new) - 1
    roots = of[parents < 0]  # each thread has one
    (replies,) = np.nonzero(parents >= 0)
    above, rows = parents[replies], of[replies]
    before = parents[above]
    own_times = times[of]
    first_times = np.where(own_times == NO_TIME, _LATEST, own_times)
    earliest = np.minimum.reduceat(first_times, starts)
    return ThreadBlock(
        ids.choose(roots),
        times[roots],
        np.where(earliest == _LATEST, NO_TIME, earliest),
        np.maximum.reduceat(own_times, starts),
        np.diff(np.append(starts, len(plan))),
        np.searchsorted(thread[replies], np.arange(len(starts) + 1)),
        PairColumns(
            texts,
            of[above],
            rows,
            np.where(before < 0, -1, of[before]),
            ids.choose(rows),
            times[rows],
            ids.choose(roots[thread[replies]]),
            users.choose(rows),
        ),
    )


def _rows_of(wanted: Array, places: Array, order: Array) -> Array:
    """In which row each place is; -1 for -1."""
    found = order[np.searchsorted(places, np.maximum(wanted, 0), sorter=order) % len(places)]
    return np.where(wanted < 0, -1, found)
