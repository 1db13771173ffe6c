"""Threads of replies in, the posts that are in dialogues out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deltableu._types import Ints
from deltableu.logs.fates import Counts, Fate
from deltableu.logs.rules import Rules
from deltableu.logs.spill import Array

_HALF = 1 << 31


def posts_in_dialogues(posts: Array, rules: Rules, counts: Counts) -> Array:
    """The posts of threads that pairs are made of, by root and place; others are counted.

    Parameters
    ----------
    posts
        Records of whole threads, with `root`, `pos`, `parent` and `user`, in any order.
    """
    posts = posts[_by_root(posts["root"], posts["pos"])]
    parents = _parents(posts)
    levels = list(_levels(parents))
    alive = parents < 0
    other = np.zeros(len(posts), posts["user"].dtype)  # the second user, once there is one
    root_user = np.zeros_like(other)
    depth = np.ones(len(posts), np.int64)
    root_user[alive] = posts["user"][alive]
    for number, level in enumerate(levels[1:], start=2):
        above, user = parents[level], posts["user"][level]
        root_user[level], depth[level] = root_user[above], number
        stranger = (user != root_user[above]) & (user != b"")
        second = other[above]
        third = stranger & (second != b"") & (user != second) & rules.two_users
        other[level] = np.where(stranger & (second == b""), user, second)
        alive[level] = alive[above] & ~third
        counts.add_where(Fate.THIRD_USER, alive[above] & third)
        counts.add_where(Fate.CUT_OFF, ~alive[above])
    # A post is in a dialogue if some dialogue that is long enough ends with it or below it.
    good = alive & (depth >= rules.min_posts)
    if rules.two_users:
        good &= other != b""
    for level in reversed(levels[1:]):
        good[parents[level[good[level]]]] = True
    lone = parents < 0
    lone[parents[parents >= 0]] = False
    counts.add_where(Fate.LONE, lone & ~good)
    counts.add_where(Fate.SHORT, alive & ~good & ~lone)
    if rules.first:
        counts.add_where(Fate.LATER, good & (depth > 2))
        good &= depth <= 2
    return posts[good]


def _by_root(roots: Ints, places: Ints) -> Ints:
    """The order by root, then by place; no two posts have the same place."""
    if len(places) and max(roots.max(), places.max()) < _HALF:
        return np.argsort(roots * _HALF + places)  # one number is sorted many times faster
    return np.lexsort((places, roots))


def _parents(posts: Array) -> Ints:
    """Where in the array the parent of each post is; -1 for roots."""
    order = np.argsort(posts["pos"])
    places = posts["pos"][order]
    found = np.searchsorted(places, posts["parent"])
    found[posts["parent"] < 0] = 0
    parents: Ints = np.where(posts["parent"] < 0, -1, order[found] if len(order) else -1)
    return parents


def _levels(parents: Ints) -> Iterator[Ints]:
    """The roots, the replies to them, the replies to these, ..."""
    by_parent = np.argsort(parents, kind="stable")
    bounds = np.searchsorted(parents[by_parent], np.arange(len(parents) + 1))
    level: Ints = np.flatnonzero(parents < 0)
    while len(level):
        yield level
        starts, sizes = bounds[level], bounds[level + 1] - bounds[level]
        before = np.cumsum(sizes) - sizes
        level = by_parent[np.repeat(starts - before, sizes) + np.arange(sizes.sum())]
