"""The join finds what brute force finds, whatever the partitions."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import Item, Rating, RatingTable, Reference, Source, Study
from deltableu.errors import InputError
from deltableu.mine import BM25, MiningPlan, RowFilter, mine_references
from deltableu.mine.heaps import Heaps
from tests.mine.brute_force import acceptable, bm25, letters, scores_of

EVERYTHING = RowFilter(min_words=0, junk=False)

# Few words, so that there are ties, repeated texts and repeated words.
WORDS = ("a", "b", "c", "d", "e", "A", "b!", ",", "你", "don't", "x", "y", "z")
texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=40)
items = st.lists(st.tuples(texts, texts), min_size=1, max_size=6).map(
    lambda found: [
        Item(str(number), (Reference("own", response),), message=message)
        for number, (message, response) in enumerate(found)
    ]
)
similarities = st.builds(
    BM25,
    on=st.sampled_from(["both", "utterance", "response"]),
    idf=st.sampled_from(["lucene", "robertson", "atire"]),
    product=st.sampled_from(["damped", "plain"]),
    k1=st.sampled_from([0.0, 0.9, 1.5]),
    b=st.sampled_from([0.0, 0.4, 1.0]),
)


def mined(found, number):
    return [one for one in found.study.items[number].references if one.origin == "mined"]


def check(found, logs, queries, similarity, top):
    """Sums of other orders differ in the last bits, so that near ties may swap."""
    for number, item in enumerate(queries):
        got = mined(found, number)
        wanted = acceptable(item, logs, similarity)
        assert len(got) == min(top, len(wanted))
        scores = [one.source.score for one in got]
        assert scores == pytest.approx([score for score, _ in wanted[:top]], rel=1e-9)
        assert scores == sorted(scores, reverse=True)
        exact = scores_of(item, logs, similarity)
        for one in got:
            positions = [
                at
                for at, pair in enumerate(logs)
                if pair == (one.source.utterance, one.text)
                and exact[at] == pytest.approx(one.source.score, rel=1e-9)
            ]
            assert positions
        assert len({letters(one.text) for one in got}) == len(got)
        assert [one.source.rank for one in got] == list(range(1, len(got) + 1))


@settings(max_examples=150, deadline=None)
@given(
    pairs,
    items,
    similarities,
    st.integers(1, 5),
    st.sampled_from([1, 60, 10**6]),
    st.sampled_from([1, 3]),
)
def test_as_brute_force(logs, queries, similarity, top, partition_bytes, threads):
    plan = MiningPlan(similarity, top=top, rows=EVERYTHING)
    found = mine_references(
        queries, logs, plan=plan, partition_bytes=partition_bytes, threads=threads
    )
    check(found, logs, queries, similarity, top)
    whole = mine_references(queries, logs, plan=plan, threads=1)
    assert whole.study.items == found.study.items


def zipf_corpus(seed, rows, vocabulary=2000, most=20):
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, vocabulary + 1)
    names = np.array([f"w{number}" for number in range(vocabulary)])

    def text():
        return " ".join(names[rng.choice(vocabulary, rng.integers(0, most), p=share / share.sum())])

    return [(text(), text()) for _ in range(rows)]


@pytest.mark.parametrize("on", ["both", "utterance", "response"])
def test_as_brute_force_on_a_larger_log(on):
    logs = zipf_corpus(1, 3000)
    queries = [
        Item(str(number), (Reference("own", response),), message=message)
        for number, (message, response) in enumerate(zipf_corpus(2, 12))
    ]
    similarity = BM25(on=on)
    plan = MiningPlan(similarity, top=15, rows=EVERYTHING)
    found = mine_references(queries, logs, plan=plan, partition_bytes=20_000)
    check(found, logs, queries, similarity, 15)
    assert found.rows == 3000


def test_ties_go_by_position_in_the_log():
    logs = [("x", f"answer {number}") for number in range(50)]
    (item,) = [Item("1", (Reference("own", "other"),), message="x")]
    plan = MiningPlan(BM25("utterance"), top=7, rows=EVERYTHING)
    for partition_bytes in (1, 100, 10**6):
        for threads in (1, 4):
            found = mine_references(
                [item], logs, plan=plan, partition_bytes=partition_bytes, threads=threads
            )
            assert [one.text for one in mined(found, 0)] == [f"answer {at}" for at in range(7)]


def test_very_long_and_empty_texts():
    rng = random.Random(3)
    long = " ".join(rng.choice("abcdefghij") + str(rng.randrange(5000)) for _ in range(10_000))
    logs = [("", ""), (long, "long one"), ("a1 b2 c3", "short one"), ("a1", ""), ("", "b2")]
    queries = [
        Item("long", (Reference("own", long),), message=long),
        Item("short", (Reference("own", "one short"),), message="a1 c3"),
        Item("empty", (Reference("own", ""),), message=""),
    ]
    for on in ("both", "utterance", "response"):
        similarity = BM25(on)
        plan = MiningPlan(similarity, top=5, rows=EVERYTHING)
        check(mine_references(queries, logs, plan=plan), logs, queries, similarity, 5)


@pytest.mark.parametrize("idf", ["lucene", "robertson", "atire"])
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_bm25s(idf, k1, b):
    """Its tokenizer gives words to both; its scores have single precision."""
    bm25s = pytest.importorskip("bm25s")
    logs = zipf_corpus(5, 400)
    queries = [message for message, _ in zipf_corpus(6, 20) if message]
    peer = bm25s.BM25(method=idf, k1=k1, b=b)
    peer.index([utterance.split() for utterance, _ in logs], show_progress=False)
    known = {word for utterance, _ in logs for word in utterance.split()}
    plan = MiningPlan(BM25("utterance", k1=k1, b=b, idf=idf), top=400, rows=EVERYTHING)
    # Each response once, so that none is left out.
    logs = [(utterance, f"r{number}") for number, (utterance, _) in enumerate(logs)]
    found = mine_references(
        [Item(str(at), (Reference("own", "?"),), message=one) for at, one in enumerate(queries)],
        logs,
        plan=plan,
    )
    for number, query in enumerate(queries):
        words = [word for word in query.split() if word in known]
        theirs = peer.get_scores(words) if words else np.zeros(len(logs))
        mine = np.zeros(len(logs))
        for one in mined(found, number):
            mine[int(one.text[1:])] = one.source.score
        assert mine == pytest.approx(np.asarray(theirs, np.float64), abs=1e-5)


def test_the_worked_example_of_the_damped_product():
    """s_u * (.5 * s_r + .5 * .1), as the upsilon-BLEU code has it."""
    logs = [("good morning", "good day"), ("good evening", "bye"), ("what", "ever")]
    item = Item("1", (Reference("own", "day to you"),), message="good")
    found = mine_references([item], logs, plan=MiningPlan(BM25(), rows=EVERYTHING))
    s_u = bm25("good", tuple(one for one, _ in logs), BM25())
    s_r = bm25("day to you", tuple(one for _, one in logs), BM25())
    assert s_r[0] > s_r[1] == 0.0
    assert [one.source.score for one in mined(found, 0)] == pytest.approx(
        [s_u[0] * (0.5 * s_r[0] + 0.05), s_u[1] * 0.05]
    )


# --- Cleaning -------------------------------------------------------------------------------------


def test_duplicates_are_one_reference_with_the_best_source():
    logs = [
        ("hello there", "Fine, thanks!"),
        ("hello my old friend", "fine thanks"),
        ("hello", "FINE thanks"),
        ("hello you", "so so"),
    ]
    item = Item("1", (Reference("own", "well"),), message="hello")
    found = mine_references([item], logs, plan=MiningPlan(BM25("utterance")))
    assert [(one.text, one.source.utterance) for one in mined(found, 0)] == [
        ("FINE thanks", "hello"),
        ("so so", "hello you"),
    ]


def test_an_item_never_gets_its_own_pair():
    logs = [
        {"utterance": "hello", "response": "Well, hello!", "id": "7"},
        {"utterance": "hello you", "response": "by id", "id": "one"},
        {"utterance": "hello you", "response": "by source", "id": "log-3"},
        {"utterance": "hello you", "response": "by thread", "thread": "t9"},
        {"utterance": "hello you", "response": "HELLO"},
        {"utterance": "hello you", "response": "allowed", "id": "8", "thread": "t8"},
    ]
    item = Item(
        "one",
        (Reference("own", "well hello", source=Source(id="log-3")),),
        message="hello",
        meta={"thread": "t9"},
    )
    other = Item("two", (Reference("own", "else"),), message="hello")
    plan = MiningPlan(BM25("utterance"), parrot=True)
    found = mine_references([item, other], logs, plan=plan)
    assert [one.text for one in mined(found, 0)] == ["allowed"]
    assert {one.text for one in mined(found, 1)} == {
        "Well, hello!",
        "by id",
        "by source",
        "by thread",
        "allowed",
    }
    assert found.leaks == {"one": 1}


def test_leaks_are_counted_for_every_item_that_has_the_pair():
    pair = ("Do you like it?", "Yes, a lot.")
    logs = [
        ("do you like it", "yes a lot"),
        ("do you like it", "no"),
        ("DO YOU LIKE IT", "Yes a lot"),
    ]
    made = [Item(str(at), (Reference("own", pair[1]),), message=pair[0]) for at in range(2)]
    made.append(Item("2", (Reference("own", "no"),), message="else"))
    assert mine_references(made, logs).leaks == {"0": 2, "1": 2}


def test_junk_and_lengths():
    logs = [
        ("hello", "[deleted]"),
        ("hello", "deleted"),
        ("hello", "see https://example.org now"),
        ("hello", "Hello!"),
        ("hello", "..."),
        ("hello", "ok"),
        ("hello", "one two three four"),
    ]
    item = Item("1", (Reference("own", "well"),), message="hello")

    def found(rows):
        result = mine_references([item], logs, plan=MiningPlan(BM25("utterance"), rows=rows))
        return [one.text for one in mined(result, 0)], dict(result.left_out)

    kept, dropped = found(RowFilter())
    assert kept == ["deleted", "ok", "one two three four"]
    assert dropped == {
        "too short": 1,
        "a placeholder": 1,
        "with a link": 1,
        "an echo of its utterance": 1,
    }
    # A link is cut into words as well: there are five.
    kept, dropped = found(RowFilter(min_words=2, max_words=4, junk=False))
    assert kept == ["one two three four"]
    assert dropped == {"too short": 5, "too long": 1}
    assert len(found(EVERYTHING)[0]) == 6  # "deleted" and "[deleted]" are the same words


def test_diverse_references():
    logs = [("hello", f"yes I do like it {word}") for word in ["a", "b", "c", "d", "e", "f"]]
    logs += [("hello well well", "not at all"), ("hello well well well", "who knows")]
    item = Item("1", (Reference("own", "?"),), message="hello")
    plain = mine_references([item], logs, plan=MiningPlan(BM25("utterance"), top=3))
    assert all("like" in one.text for one in mined(plain, 0))
    plan = MiningPlan(BM25("utterance"), top=3, diversity=0.5)
    diverse = mined(mine_references([item], logs, plan=plan), 0)
    assert {one.text for one in diverse} > {"not at all", "who knows"}
    assert [one.source.rank for one in diverse] == [1, 2, 3]


def test_random_references():
    logs = [(f"u{number}", f"response number {number}") for number in range(300)]
    made = [Item(str(at), (Reference("own", "?"),), message=f"u{at}") for at in range(5)]
    plan = MiningPlan(BM25("utterance"), top=2, random=4)
    found = mine_references(made, logs, plan=plan, partition_bytes=500)
    chosen = [
        [one.text for one in item.references if one.origin == "random"]
        for item in found.study.items
    ]
    assert all(len(set(one)) == 4 for one in chosen)
    assert len({tuple(one) for one in chosen}) == 5
    assert found.added == {"mined": 5, "random": 20}
    # The order of items does not matter, nor what else is mined; the seed does.
    turned = mine_references(made[::-1], logs, plan=replace(plan, top=0))
    for item, wanted in zip(turned.study.items[::-1], chosen, strict=True):
        assert [one.text for one in item.references if one.origin == "random"] == wanted
    other = mine_references(made, logs, plan=replace(plan, seed=1))
    assert other.study.items != found.study.items


def test_random_references_are_never_the_items_own_pair():
    logs = [
        {"utterance": "hello you", "response": "by id", "id": "one"},
        {"utterance": "hello you", "response": "by thread", "thread": "t9"},
        {"utterance": "hello you", "response": "allowed"},
    ]
    item = Item("one", (Reference("own", "?"),), message="what", meta={"thread": "t9"})
    found = mine_references([item], logs, plan=MiningPlan(top=0, random=3))
    assert [one.text for one in found.study.items[0].references] == ["?", "allowed"]


def test_an_item_without_a_message_leaks_nothing():
    item = Item("1", (Reference("own", "yes"),))
    plan = MiningPlan(BM25("response"))
    assert mine_references([item], [("", "yes"), ("", "yes sir")], plan=plan).leaks == {}


def test_nearly_equal_settings_have_other_signatures():
    assert BM25(k1=1.5).signature != BM25(k1=1.5000001).signature
    assert "k1:1.5|b:0.75" in BM25().signature


@settings(max_examples=40, deadline=None)
@given(pairs, items, st.randoms(use_true_random=False))
def test_a_rating_never_moves_to_another_text(logs, queries, rng):
    """Mining again, in another order, with other logs and settings, keeps what ids mean."""
    plan = MiningPlan(top=3, parrot=True, random=2, rows=EVERYTHING)
    study = Study(
        tuple(queries),
        ratings=RatingTable.from_records(
            Rating("r", item.id, "reference:own", 4.0) for item in queries
        ),
    )
    first = mine_references(study, logs, plan=plan).study
    meant = {(item.id, one.id): one.text for item in first.items for one in item.references}
    assert first.ratings == study.ratings
    shuffled, order = logs[:], list(study.items)
    rng.shuffle(shuffled)
    rng.shuffle(order)
    for again in (
        mine_references(replace(study, items=tuple(order)), shuffled, plan=plan).study,
        mine_references(first, shuffled[: len(logs) // 2 + 1], plan=plan).study,
        mine_references(study, logs, plan=replace(plan, top=1, diversity=0.5, seed=3)).study,
    ):
        for item in again.items:
            ids = [one.id for one in item.references]
            assert len(set(ids)) == len(ids)
            for one in item.references:
                assert meant.get((item.id, one.id), one.text) == one.text
            assert item.references[0] == Reference("own", item.references[0].text)
    # What is there already stays as it is, in its place.
    twice = mine_references(first, logs, plan=plan).study
    for before, after in zip(first.items, twice.items, strict=True):
        assert after.references[: len(before.references)] == before.references


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([1.0, 2.0, 3.0, 4.0]), st.integers(0, 6)),
        max_size=60,
        unique=True,
    ),
    st.randoms(use_true_random=False),
)
def test_heaps_do_not_depend_on_order(candidates, rng):
    numbered = [(item, score, at, key) for at, (item, score, key) in enumerate(candidates)]

    def kept(order, parts):
        whole = Heaps.empty(3, 3)
        for part in range(parts):
            heaps = Heaps.empty(3, 3)
            chosen = order[part::parts]
            heaps.offer(
                np.array([one[0] for one in chosen], np.int32),
                np.array([one[1] for one in chosen], np.float64),
                np.array([one[2] for one in chosen], np.int64),
                np.array([b"%d" % one[3] for one in chosen], "S16"),
            )
            whole.merge(heaps)
        return [
            [
                (whole.scores[item, at], whole.positions[item, at], int(whole.keys[item, at]))
                for at in range(whole.sizes[item])
            ]
            for item in range(3)
        ]

    wanted = []
    for item in range(3):
        best = {}
        for _, score, at, key in sorted(
            (one for one in numbered if one[0] == item), key=lambda one: (-one[1], one[2])
        ):
            best.setdefault(key, (score, at, key))
        wanted.append(sorted(best.values(), key=lambda one: (-one[0], one[1]))[:3])
    assert kept(numbered, 1) == wanted
    shuffled = numbered[:]
    rng.shuffle(shuffled)
    assert kept(shuffled, rng.randint(1, 4)) == wanted


# --- Bad input ------------------------------------------------------------------------------------


def one_item(**changes):
    return replace(Item("q1", (Reference("own", "yes"),), message="hello"), **changes)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mine_references([], [("a", "b")]), "there are no items"),
        (lambda: mine_references([one_item(message=None)], [("a", "b")]), "'q1', message"),
        (lambda: mine_references([one_item(references=())], [("a", "b")]), "'q1', references"),
        (lambda: mine_references([one_item()], []), "no logs"),
        (lambda: BM25(k1=-1.0), "k1 must be 0 or more"),
        (lambda: BM25(b=1.5), "b must lie in"),
        (lambda: BM25(on="context"), "on must be one of"),
        (lambda: BM25(epsilon=float("nan")), "epsilon must be"),
        (lambda: MiningPlan(top=-1), "top must be 0 or more"),
        (lambda: MiningPlan(diversity=2.0), "diversity must lie in"),
        (lambda: RowFilter(min_words=3, max_words=2), "max_words must be at least"),
        (lambda: mine_references([one_item()], [("a", "b")], engine="spark"), "engine must be"),
        (lambda: mine_references([one_item()], [("a", "b")], threads=0), "threads must be"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()


def test_items_without_a_message_can_be_mined_on_the_response():
    plan = MiningPlan(BM25("response"))
    found = mine_references([one_item(message=None)], [("a", "yes indeed")], plan=plan)
    assert [one.text for one in mined(found, 0)] == ["yes indeed"]
