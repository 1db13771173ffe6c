"""Posts in, replies with the root of their thread out, in memory that does not grow with the logs.

A post is a record of 81 bytes: keys of its id, parent, user and content (128 bits each), its time
and its place. Records go to buckets by the id, so that all of the same id meet; replies go to the
bucket of their parent, and come out with its place. Places are then followed to the root by pointer
jumping: in every round each post learns where the one points to which it points to, so that a path
of n replies takes log2(n) rounds; what has not ended after as many as there are posts is on a cycle
or leads into one. In each step, one bucket is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deltableu._types import AnyArray, Keys
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.posts import Posts
from deltableu.logs.rules import Rules
from deltableu.logs.spill import Array, Records, Store, changes
from deltableu.logs.times import NO_TIME
from deltableu.text import blank_texts, hash_texts, key_numbers, key_order, key_places, span_keys

#: Points to a post that was dropped.
_NOWHERE = np.iinfo(np.int64).min
_ROOT = -1

_REPLY, _REPOST, _EMPTY = 1, 2, 4
_KEY = "S16"
_POST = [("pos", "<i8"), ("user", _KEY), ("time", "<i8")]
_LINK = [*_POST, ("parent", "<i8")]
_CONTENT = [("user", _KEY), ("to", _KEY), ("text", _KEY), ("time", "<i8"), ("repost", "u1")]


def _row_keys(**columns: AnyArray) -> Keys:
    """A key of each row of columns that together are what a post says."""
    rows = np.empty(len(columns["text"]), _CONTENT)
    for name, column in columns.items():
        rows[name] = column
    ends = np.arange(1, len(rows) + 1) * rows.itemsize
    return span_keys(rows.tobytes(), ends - rows.itemsize, ends)


def link_posts(
    posts: Iterable[Posts], rules: Rules, counts: Counts, store: Store, buckets: int
) -> tuple[Records, int]:
    """Find the thread of every post; posts without one are counted.

    Returns
    -------
    Records
        `root`, `pos`, `parent` (places; -1 for the parent of a root), `user` and `time` of posts
        of threads with a root; threads that begin earlier are in an earlier bucket.
    int
        All posts that were read.
    """
    found = Records(
        store, buckets, [("id", _KEY), ("to", _KEY), ("content", _KEY), *_POST, ("flags", "u1")]
    )
    read = _collect(posts, found)
    return _by_root(_links(found, rules, counts, store), read, counts, store), read


def _collect(blocks: Iterable[Posts], found: Records) -> int:
    place = 0
    for posts in blocks:
        size = len(posts)
        ids, to, user = map(hash_texts, (posts.ids, posts.reply_tos, posts.users))
        time, repost = posts.times, posts.reposts
        is_empty = blank_texts(posts.texts)
        text = hash_texts(posts.texts)
        records = found.make(
            id=ids,
            to=to,
            content=_row_keys(user=user, to=to, text=text, time=time, repost=repost),
            pos=np.arange(place, place + size),
            user=user,
            time=time,
            flags=(to != b"") * _REPLY + repost * _REPOST + is_empty * _EMPTY,
        )
        found.add(records, key_numbers(ids))
        place += size
    return place


def _links(found: Records, rules: Rules, counts: Counts, store: Store) -> Records:
    """Posts that are roots, or replies to a post that was not dropped itself."""
    size = found.count
    links = Records(store, size, _LINK)
    known = Records(store, size, [("id", _KEY), *_POST, ("dropped", "?")])
    replies = Records(store, size, [("to", _KEY), *_POST])
    for bucket in range(size):
        posts = _without_duplicates(found.take(bucket), counts)
        dropped = _drop_alone(posts, rules, counts)
        known.put(bucket, known.make(posts, dropped=dropped))
        is_reply = (posts["flags"] & _REPLY) > 0
        roots, rest = posts[~is_reply & ~dropped], posts[is_reply & ~dropped]
        links.add(links.make(roots, parent=_ROOT), roots["pos"])
        replies.add(replies.make(rest), key_numbers(rest["to"]))
    for bucket in range(size):
        kept, places = _with_parents(replies.take(bucket), known.take(bucket), rules, counts)
        links.add(links.make(kept, parent=places), kept["pos"])
    return links


def _without_duplicates(posts: Array, counts: Counts) -> Array:
    """The first of each id."""
    ordered = posts[key_order(posts["id"])]  # they came in the order of places
    first = changes(ordered, "id")
    content = ordered["content"]
    of_first = content[np.flatnonzero(first)[np.cumsum(first) - 1]] if len(ordered) else content
    same = content == of_first
    counts.add_where(Fate.DUPLICATE, ~first & same)
    counts.add_where(Fate.CONFLICT, ~first & ~same)
    return ordered[first]


def _drop_alone(posts: Array, rules: Rules, counts: Counts) -> Array:
    """Which posts are dropped for what they are themselves."""
    dropped = np.zeros(len(posts), np.bool_)
    reasons = {
        Fate.REPOST: (posts["flags"] & _REPOST) > 0,
        Fate.EMPTY: (posts["flags"] & _EMPTY) > 0,
        Fate.NO_USER: (posts["user"] == b"") & rules.two_users,
        Fate.SELF_REPLY: ((posts["flags"] & _REPLY) > 0) & (posts["id"] == posts["to"]),
    }
    for fate, wrong in reasons.items():
        counts.add_where(fate, wrong & ~dropped)
        dropped |= wrong
    return dropped


def _with_parents(
    children: Array, parents: Array, rules: Rules, counts: Counts
) -> tuple[Array, Array]:
    """Replies that keep to the rules, and the places of what they answer."""
    if len(parents) == 0:
        counts.add(Fate.MISSING_PARENT, len(children))
        return children[:0], children["pos"][:0]
    at = key_places(parents["id"], children["to"])
    there = at >= 0
    counts.add_where(Fate.MISSING_PARENT, ~there)
    children, of = children[there], parents[at[there]]
    # Both times are bounded, so the difference cannot overflow.
    timed = (children["time"] != NO_TIME) & (of["time"] != NO_TIME)
    early = timed & (children["time"] < of["time"] - np.where(timed, rules.clock_skew, 0))
    own = (children["user"] == of["user"]) & (children["user"] != b"") & rules.drop_own_replies
    counts.add_where(Fate.EARLY, early)
    counts.add_where(Fate.OWN_REPLY, own & ~early)
    below = of["dropped"] & ~early & ~own
    counts.add_where(Fate.CUT_OFF, below)
    kept = ~(early | own | below)
    return children[kept], of["pos"][kept]


def _by_root(links: Records, total: int, counts: Counts, store: Store) -> Records:
    """Follow replies to their roots, and give every thread to a bucket."""
    size = links.count
    threads = Records(store, size, [("root", "<i8"), *_LINK])
    pointers = Records(store, size, [("to", "<i8")])
    for bucket in range(size):
        posts = links.load(bucket)
        table = np.full(len(range(bucket, total, size)), _NOWHERE, np.int64)
        # A root is written as ~place, so that what is negative is where a path ends.
        ends = np.where(posts["parent"] == _ROOT, ~posts["pos"], posts["parent"])
        table[posts["pos"] // size] = ends
        pointers.put(bucket, pointers.make(to=table))
    _jump(pointers, store, total)
    on_cycle = _places_pointed_to(pointers, store)
    for bucket in range(size):
        posts = links.take(bucket)
        to = pointers.take(bucket)["to"][posts["pos"] // size]
        unending = to >= 0
        cycle = np.isin(posts["pos"], on_cycle.take(bucket)["pos"])
        counts.add_where(Fate.CYCLE, cycle)
        counts.add_where(Fate.CUT_OFF, (unending & ~cycle) | (to == _NOWHERE))
        fine = ~unending & (to != _NOWHERE)
        posts, roots = posts[fine], ~to[fine]
        threads.add(threads.make(posts, root=roots), roots * size // max(total, 1))
    return threads


def _jump(pointers: Records, store: Store, total: int) -> None:
    """Let every post point to the end of its path; posts on cycles go on pointing to posts."""
    size, steps = pointers.count, 1
    request = [("at", "<i8"), ("asker", "<i8")]
    while steps <= total:
        asked, answered = Records(store, size, request), Records(store, size, request)
        for bucket in range(size):
            to = pointers.load(bucket)["to"]
            open_ends = np.flatnonzero(to >= 0)
            at = to[open_ends]
            asked.add(asked.make(at=at, asker=open_ends * size + bucket), at)
        waiting = False
        for bucket in range(size):
            requests = asked.take(bucket)
            waiting = waiting or len(requests) > 0
            at = pointers.load(bucket)["to"][requests["at"] // size]
            answered.add(answered.make(requests, at=at), requests["asker"])
        if not waiting:
            return
        for bucket in range(size):
            answers = answered.take(bucket)
            if len(answers):
                table = pointers.load(bucket).copy()
                table["to"][answers["asker"] // size] = answers["at"]
                pointers.put(bucket, table)
        steps *= 2


def _places_pointed_to(pointers: Records, store: Store) -> Records:
    """After so many steps, paths that have not ended are on a cycle, and at every post of it."""
    size = pointers.count
    places = Records(store, size, [("pos", "<i8")])
    for bucket in range(size):
        to = pointers.load(bucket)["to"]
        to = to[to >= 0]
        places.add(places.make(pos=to), to)
    return places
