"""Threads are those of a plain recursive version, whatever the logs, the limit and the buckets."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.logs import Fate, PairRules, Post
from deltableu.logs.fates import Counts
from deltableu.logs.post_logs import PostLogs
from deltableu.logs.posts import Posts
from deltableu.logs.spill import Store
from tests.logs.plain_threads import plain_pairs

MINUTE = 60_000
IDS = [str(number) for number in range(12)]

posts = st.lists(
    st.builds(
        Post,
        id=st.sampled_from(IDS),
        text=st.sampled_from(["hi", "what?", "no", "why", "well", " "]),
        user=st.sampled_from(["ann", "bob", "bob", "cem", ""]),
        time=st.none() | st.sampled_from([0, MINUTE, 2 * MINUTE, 10 * MINUTE]),
        reply_to=st.sampled_from([*IDS, "", "", "", "nowhere"]),
        repost=st.integers(0, 9).map(lambda number: number == 0),
    ),
    max_size=24,
)


def some_talk(chance):
    """Posts that mostly answer others, sometimes in impossible ways."""
    made = []
    size = chance.randrange(3, 30)
    timeless = chance.random() < 0.3
    for number in range(size):
        back = chance.choice([1, 1, 1, 1, 2, 3])
        to = str(number - back) if number >= back and chance.random() < 0.85 else ""
        user = "ab"[number % 2]
        time = None if timeless else number * MINUTE
        if chance.random() < 0.15:  # forward, so that rings come about
            to = str(chance.randrange(size))
        if chance.random() < 0.15:
            user = chance.choice(["a", "b", "c", "c", "c", ""])
        if time is not None and chance.random() < 0.15:
            time = chance.choice([None, None, 0, time - 10 * MINUTE])
        id = str(number) if chance.random() < 0.95 else str(chance.randrange(size))
        text = f"t{number}" if chance.random() < 0.97 else " "
        made.append(Post(id, text, user, time, to, chance.random() < 0.02))
    made += chance.sample(made, chance.choice([0, 0, 1]))
    if chance.random() < 0.5:
        chance.shuffle(made)
    return made


talks = st.integers(0, 2**32).map(lambda seed: some_talk(random.Random(seed)))
rules = st.builds(
    PairRules,
    min_posts=st.none() | st.integers(2, 5),
    users=st.sampled_from([None, "two", "any"]),
    own_replies=st.sampled_from([None, "drop", "keep"]),
    clock_skew=st.sampled_from([0.0, 60.0, 300.0]),
    first=st.booleans(),
)


def blocks(posts, size=7):
    """Posts as they are read: some at once."""
    return (Posts.of(posts[first : first + size]) for first in range(0, len(posts), size))


def found_pairs(posts, rules, limit=1 << 20, buckets=1):
    counts = Counts()
    with Store(limit) as store:
        logs = PostLogs(lambda: blocks(posts), rules, counts, store, buckets)
        threads = list(logs.threads())
        assert list(logs.threads()) == threads
        spilled = store.spilled
    for thread in threads:
        counts.add(Fate.KEPT, thread.posts)
    assert counts.total == len(posts) == logs.posts
    fates = Counter({fate: counts[fate] for fate in Fate if counts[fate]})
    return threads, fates, spilled


def check(posts, rules, **how):
    threads, fates, spilled = found_pairs(posts, rules, **how)
    pairs, expected = plain_pairs(posts, rules)
    assert fates == expected
    found = [
        (pair.context, pair.utterance, pair.response, pair.id, pair.time, pair.user, pair.thread)
        for thread in threads
        for pair in thread.pairs
    ]
    assert found == [
        (
            None if context is None else context.text,
            utterance.text,
            response.text,
            response.id,
            response.time,
            response.user,
            root.id,
        )
        for context, utterance, response, root in pairs
    ]
    times = {post.id: post.time for post in reversed(posts)}
    for thread in threads:
        assert thread.time == times[thread.id]
        used = [times[id] for id in (thread.id, *(pair.id for pair in thread.pairs))]
        known = [time for time in used if time is not None]
        assert thread.earliest == min(known, default=None)
        assert thread.latest == max(known, default=None)
    return spilled


how = st.tuples(st.sampled_from([1, 300, 1 << 20]), st.integers(1, 5))


@settings(max_examples=200, deadline=None)
@given(posts, rules, how)
def test_threads_are_those_of_the_plain_version(posts, rules, how):
    check(posts, rules.for_posts(), limit=how[0], buckets=how[1])


@settings(max_examples=400, deadline=None)
@given(talks, rules, how)
def test_long_threads_are_those_of_the_plain_version(posts, rules, how):
    check(posts, rules.for_posts(), limit=how[0], buckets=how[1])


def test_the_invented_posts_meet_every_fate():
    """Else the properties above would say little."""
    fates = Counter()
    for seed in range(300):
        first = PairRules(first=seed % 2 == 0, clock_skew=60.0).for_posts()
        fates += found_pairs(some_talk(random.Random(seed)), first)[1]
    others = {Fate.NO_TIME, Fate.NO_PERIOD, Fate.CROSSING}  # of periods
    others |= {Fate.NO_SPEAKER, Fate.NO_RESPONDER}  # of turns
    assert set(fates) == set(Fate) - others
    assert min(fates.values()) >= 20


@pytest.mark.parametrize(("limit", "buckets"), [(1, 3), (100_000, 16), (1 << 30, 1)])
def test_a_limit_changes_nothing_but_where_things_are_kept(limit, buckets):
    """Many posts in any order: parents after their replies, long threads, cycles, strangers."""
    chance = random.Random(1)
    made = []
    for number in range(3000):
        to = chance.choice(["", "", f"p{chance.randrange(3000)}", f"p{number - 1}", "gone"])
        user = f"u{chance.randrange(3)}"
        time = chance.choice([None, number * 1000, number * 1000 - chance.randrange(10**6)])
        made.append(Post(f"p{number}", f"text {number}", user, time, to))
    # A dialogue of 700 posts, one on a cycle of 50 and what leads into it.
    made += [Post(f"d{n}", f"d{n}", "ab"[n % 2], n, f"d{n - 1}" if n else "") for n in range(700)]
    made += [Post(f"c{n}", f"c{n}", "ab"[n % 2], None, f"c{(n + 1) % 50}") for n in range(50)]
    made += [Post(f"t{n}", "t", "ab"[n % 2], None, f"t{n - 1}" if n else "c7") for n in range(20)]
    chance.shuffle(made)
    rules = PairRules(min_posts=2, users="any", own_replies="keep").for_posts()
    spilled = check(made, rules, limit=limit, buckets=buckets)
    assert (spilled > 0) == (limit < 1 << 30)
    _, fates, _ = found_pairs(made, rules)
    assert fates[Fate.CYCLE] >= 50
    assert fates[Fate.CUT_OFF] >= 20


def fates_of(*posts, **how):
    return found_pairs(posts, PairRules(**how).for_posts())


def talk(*users, start=0):
    """A dialogue: each post answers the one before."""
    return [
        Post(str(n), f"t{n}", user, start + n * 1000, str(n - 1) if n else "")
        for n, user in enumerate(users)
    ]


def test_a_dialogue_has_three_posts():
    threads, fates, _ = fates_of(*talk("a", "b", "a"))
    assert [(pair.utterance, pair.response) for pair in threads[0].pairs] == [
        ("t0", "t1"),
        ("t1", "t2"),
    ]
    assert threads[0].pairs[1].context == "t0"
    assert fates == {Fate.KEPT: 3}
    assert fates_of(*talk("a", "b"))[1] == {Fate.SHORT: 2}
    assert fates_of(*talk("a", "b"), min_posts=2)[1] == {Fate.KEPT: 2}
    assert fates_of(*talk("a"))[1] == {Fate.LONE: 1}


def test_it_is_between_two_users():
    threads, fates, _ = fates_of(*talk("a", "b", "a", "c", "a", "c"))
    assert len(threads[0].pairs) == 2
    assert fates == {Fate.KEPT: 3, Fate.THIRD_USER: 1, Fate.CUT_OFF: 2}
    assert fates_of(*talk("a", "b", "a", "c", "a"), users="any")[1] == {Fate.KEPT: 5}
    assert fates_of(*talk("a", "b", "", "a"))[1] == {
        Fate.SHORT: 2,
        Fate.NO_USER: 1,
        Fate.CUT_OFF: 1,
    }


def test_who_answers_himself():
    assert fates_of(*talk("a", "b", "b", "a"))[1] == {
        Fate.SHORT: 2,
        Fate.OWN_REPLY: 1,
        Fate.CUT_OFF: 1,
    }
    assert fates_of(*talk("a", "b", "b", "a"), own_replies="keep")[1] == {Fate.KEPT: 4}
    assert fates_of(*talk("a", "a", "a"), own_replies="keep")[1] == {Fate.SHORT: 3}


def test_branches_share_their_pairs():
    """Two replies to the root, and two ways on from the first of them."""
    made = [Post("r", "root", "a")]
    made += [Post("b1", "b1", "b", reply_to="r"), Post("c1", "c1", "c", reply_to="r")]
    made += [Post("a2", "a2", "a", reply_to="b1"), Post("a3", "a3", "a", reply_to="b1")]
    made += [Post("a4", "a4", "a", reply_to="c1"), Post("d1", "d1", "d", reply_to="r")]
    (thread,), fates, _ = fates_of(*made)
    pairs = [(pair.utterance, pair.response) for pair in thread.pairs]
    assert pairs == [("root", "b1"), ("root", "c1"), ("b1", "a2"), ("b1", "a3"), ("c1", "a4")]
    assert fates == {Fate.KEPT: 6, Fate.SHORT: 1}
    (thread,), fates, _ = fates_of(*made, first=True)
    assert [pair.response for pair in thread.pairs] == ["b1", "c1"]
    assert fates == {Fate.KEPT: 3, Fate.LATER: 3, Fate.SHORT: 1}


def test_clocks_differ():
    made = talk("a", "b", "a")
    late = [Post("0", "t0", "a", 301_000), *made[1:]]
    assert fates_of(*late)[1] == {Fate.KEPT: 3}
    later = [Post("0", "t0", "a", 301_001), *made[1:]]
    assert fates_of(*later)[1] == {Fate.LONE: 1, Fate.EARLY: 1, Fate.CUT_OFF: 1}
    assert fates_of(*later, clock_skew=301)[1] == {Fate.KEPT: 3}


def test_the_first_of_an_id_counts():
    made = talk("a", "b", "a")
    again = Post("1", "something else", "b", 1000, "0")
    (thread,), fates, _ = fates_of(*made, made[1], again)
    assert [pair.response for pair in thread.pairs] == ["t1", "t2"]
    assert fates == {Fate.KEPT: 3, Fate.DUPLICATE: 1, Fate.CONFLICT: 1}


def test_deep_threads():
    """As deep as recursion could not go."""
    (thread,), fates, _ = found_pairs(talk(*("ab" * 3000)), PairRules().for_posts(), buckets=3)
    assert len(thread.pairs) == 5999
    assert fates == {Fate.KEPT: 6000}
