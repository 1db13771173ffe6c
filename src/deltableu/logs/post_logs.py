"""Files of posts in, threads of pairs out; the files are read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import Any

import numpy as np

from deltableu.errors import InputError
from deltableu.logs.dialogues import posts_in_dialogues
from deltableu.logs.fates import Counts
from deltableu.logs.links import link_posts
from deltableu.logs.posts import Post
from deltableu.logs.rules import Rules
from deltableu.logs.spill import Records, SpilledRows, Store
from deltableu.logs.types import Pair, Thread

_BATCH = 1 << 18  # characters

Values = tuple[str, str, int | None, str]


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
        read: Callable[[], Iterator[Post]],
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

    def _fetch(self, posts: Iterator[Post], wanted: Records) -> None:
        """Read the posts again, and bring those of a thread together."""
        batches: dict[int, list[tuple[Any, ...]]] = {}
        held = read = 0
        for bucket in range(wanted.count):
            # Places of a bucket come after those of the one before.
            places = wanted.take(bucket)
            for place, to in places[np.argsort(places["pos"])].tolist():
                post = next(islice(posts, place - read, None), None)
                read = place + 1
                if post is None:
                    raise InputError("the logs have changed while they were read: start again")
                row = (place, post.id, post.user, post.time, post.text)
                batches.setdefault(to, []).append(row)
                held += len(post.text) + 64
                if held > _BATCH:
                    self._add(batches)
                    held = 0
        self._add(batches)

    def _add(self, batches: dict[int, list[tuple[Any, ...]]]) -> None:
        for bucket, rows in batches.items():
            self._texts.add(bucket, rows)
        batches.clear()

    def threads(self) -> Iterator[Thread]:
        """Yield threads in the order of their roots; may be asked for again."""
        for bucket in range(self._plan.count):
            posts: dict[int, Values] = {
                place: (id, user, time, text)
                for place, id, user, time, text in self._texts.load(bucket)
            }
            plan = self._plan.load(bucket)
            for _, thread in groupby(plan.tolist(), lambda record: int(record[0])):
                yield _thread([(place, parent) for _, place, parent in thread], posts)


def _thread(links: list[tuple[int, int]], posts: dict[int, Values]) -> Thread:
    above = dict(links)
    root_id, _, root_time, _ = next(posts[place] for place, parent in links if parent < 0)
    times = [time for place, _ in links if (time := posts[place][2]) is not None]
    pairs = []
    for place, parent in links:
        if parent >= 0:
            id, user, time, text = posts[place]
            context = posts[above[parent]][3] if above[parent] >= 0 else None
            pairs.append(Pair(posts[parent][3], text, id, time, root_id, user, context))
    return Thread(
        root_id,
        root_time,
        min(times, default=None),
        max(times, default=None),
        len(links),
        tuple(pairs),
    )
