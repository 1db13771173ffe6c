"""Test items of logs: as the papers draw them, never what training data has, whatever the order."""

from __future__ import annotations

import json
import random
from hashlib import blake2b
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import check_study, read_study
from deltableu.errors import InputError
from deltableu.logs import PairRules, SamplePlan, parse_split, sample_items, write_pairs
from deltableu.mine import mine_references
from deltableu.text import text_keys

SPLIT = "train=2017..2018,test=2019"


def thread(name, year, replies, *, first=None, said=None):
    """A first post, replies to it by others, and an answer to each of them."""
    posts = [{"id": name, "user": "ann", "time": f"{year}-03-01", "text": first or f"Post {name}"}]
    for number in range(replies):
        reply = f"{name}.{number}"
        text = said[number] if said else f"Reply {reply}"
        posts += [
            {"id": reply, "user": f"u{number}", "reply_to": name, "text": text},
            {"id": f"{reply}.a", "user": "ann", "reply_to": reply, "text": f"Answer {reply}"},
        ]
    return posts


POSTS = [
    *(post for n in range(20) for post in thread(f"t{n}", 2019, 2 + n % 3)),
    *thread("one", 2019, 1),
    *thread("same", 2019, 2, said=["Yes!", "yes"]),
    *thread("leak", 2019, 2, first="Tea or coffee?", said=["Tea.", "Coffee."]),
    *thread("half", 2019, 3, first="Tea or coffee?", said=["TEA", "Both!", "Neither!"]),
    *thread("dull", 2019, 2, said=["...", "!!!"]),
    *thread("old", 2018, 2, first="tea or coffee", said=["tea", "whatever"]),
    *(post for n in range(3) for post in thread(f"o{n}", 2017, 2)),
]


def save(path, posts):
    path.write_text("".join(json.dumps(post) + "\n" for post in posts))
    return path


@pytest.fixture
def posts(tmp_path):
    return save(tmp_path / "posts.jsonl", POSTS)


def sample(posts, output, kind="upsilon", *, period="test", split=SPLIT, exclude=(), **plan):
    how = {"period": period, "split": None if split is None else parse_split(split)}
    return sample_items(posts, output, SamplePlan(kind, **plan), exclude=exclude, **how)


def test_upsilon(posts, tmp_path):
    made = sample(posts, tmp_path / "study")
    assert (made.candidates, made.fit, made.items, made.wanted) == (25, 21, 21, 100)
    assert dict(made.dropped) == {"few_replies": 1, "known_pair": 1, "length": 1, "same_reply": 1}
    assert made.posts == made.in_pairs + sum(made.left_out.values())
    study = read_study(tmp_path / "study")
    assert check_study(tmp_path / "study").problems == ()
    assert study.systems["human"].type == "human"
    texts = {post["id"]: post["text"] for post in POSTS}
    for item, human in zip(study.items, study.outputs["human"], strict=True):
        (reference,) = item.references
        assert (item.id, item.context) == (item.meta["thread"], ())
        assert item.message == texts[item.id]
        assert reference.origin == "original"
        assert reference.source.id == item.meta["response"]
        assert reference.text == texts[item.meta["response"]]
        assert human == texts[item.meta["human"]] != reference.text
        # Both are replies to the first post.
        assert {item.meta["response"].rpartition(".")[0]} == {item.id}
        assert item.meta["human"].rpartition(".")[0] == item.id
    half = next(item for item in study.items if item.id == "half")
    assert half.references[0].text != "TEA"
    assert "TEA" not in study.outputs["human"]


def test_triples(posts, tmp_path):
    made = sample(posts, tmp_path / "study", "triples", items=10)
    (study,) = (read_study(tmp_path / "study"),)
    texts = {post["id"]: post for post in POSTS}
    assert (made.items, len(study.items), len(study.outputs)) == (10, 10, 0)
    assert made.candidates == made.fit + sum(made.dropped.values())
    for item in study.items:
        response = texts[item.id]
        message = texts[response["reply_to"]]
        (context,) = item.context
        assert item.references[0].text == response["text"]
        assert item.message == message["text"]
        assert context == texts[message["reply_to"]]["text"]
        assert item.meta["thread"] == message["reply_to"]


def studies(path):
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def chat(name, *turns):
    return {"id": name, "turns": list(turns)}


CHATS = [
    *(chat(f"a{n}", f"Well {n}.", f"Who is it ({n % 7})?", f"Me {n}") for n in range(40)),
    chat("once", "Only here?", "Yes."),
    chat("twice", "Twice here", "One", "Twice here?", "Two"),
    chat("echo1", "Ready?", "YES!"),
    chat("echo2", "ready", "yes"),
    chat("dull1", "So", "..."),
    chat("dull2", "so", "!!!"),
    chat("face1", ":-)", "Ha."),
    chat("face2", ":-)", "Ho."),
]


def answers(logs, output, **plan):
    return sample(logs, output, "answers", period=None, split=None, **plan)


def test_answers(tmp_path):
    logs = save(tmp_path / "chats.jsonl", CHATS)
    made = answers(logs, tmp_path / "study")
    # 40 first turns and "Only here?", "One" and "Twice here" are in one dialogue each.
    assert dict(made.dropped) == {"one_dialogue": 43, "same_reply": 1, "length": 1}
    assert (made.candidates, made.fit, made.items) == (52, 7, 7)
    assert "utterances left out: in one dialogue only" in str(list(made.table().rows))
    assert check_study(tmp_path / "study").problems == ()
    study = read_study(tmp_path / "study")
    assert study.systems["human"].type == "human"
    turns = {one["id"]: one["turns"] for one in CHATS}
    for item, human in zip(study.items, study.outputs["human"], strict=True):
        (reference,) = item.references
        other = item.meta["human"].rpartition(":")[0]
        assert item.id == item.meta["response"] == reference.source.id
        assert [*item.context, item.message, reference.text] == turns[item.meta["thread"]]
        assert human == turns[other][2] != reference.text
        assert other != item.meta["thread"]
        assert text_keys([item.message]).keys == text_keys([turns[other][1]]).keys


def test_answers_of_posts(tmp_path):
    """Replies in one thread do not make two dialogues."""
    logs = [
        *thread("t0", 2019, 2, first="Tea or coffee?", said=["Tea.", "Coffee."]),
        *thread("t1", 2019, 2, first="tea or coffee", said=["tea", "Both"]),
        *thread("t2", 2019, 2, first="Cake?", said=["Yes", "No"]),
        *thread("old", 2018, 1, first="Tea OR coffee", said=["both!"]),
    ]
    made = sample(save(tmp_path / "posts.jsonl", logs), tmp_path / "study", "answers")
    # The drinks, and "tea", which is answered in two threads.
    assert (made.candidates, made.fit, dict(made.dropped)) == (7, 2, {"one_dialogue": 5})
    study = read_study(tmp_path / "study")
    (place,) = (n for n, item in enumerate(study.items) if "offee" in item.message)
    said = [study.items[place].references[0].text, study.outputs["human"][place]]
    assert set(text_keys(said).keys.tolist()) == set(text_keys(["tea", "coffee"]).keys.tolist())


TURNS = st.lists(
    st.sampled_from(["a", "A!", "b", "c", "d d", "e e", "..."]), min_size=2, max_size=4
)


@settings(max_examples=40, deadline=None)
@given(chats=st.lists(TURNS, min_size=1, max_size=9), seed=st.integers(0, 5), data=st.data())
def test_answers_are_as_written_down(chats, seed, data, tmp_path_factory):
    """Against a literal transcription of what an item is, for any order of the rows."""
    folder = tmp_path_factory.mktemp("answers")
    rows = [chat(f"c{number}", *turns) for number, turns in enumerate(chats)]
    train = data.draw(st.lists(st.tuples(*[st.sampled_from("abc")] * 2), max_size=2))
    (folder / "train.tsv").write_text(
        "utterance\tresponse\n" + "".join(f"{one}\t{other}\n" for one, other in train)
    )
    words = lambda text: text.lower().strip("!.")  # noqa: E731
    groups = {}
    for row in rows:
        for place, (said, reply) in enumerate(pairwise(row["turns"]), 1):
            if words(said):
                pair = (row["id"], f"{row['id']}:{place}", said, reply)
                groups.setdefault(words(said), []).append(pair)
    possible = {}
    for said, pairs in groups.items():
        good = [pair for pair in pairs if words(pair[3]) and (said, words(pair[3])) not in train]
        possible[said] = {
            (one[1], other[1])
            for one in good
            for other in good
            if one[0] != other[0] and words(one[3]) != words(other[3])
        }
    wanted = {said for said, pairs in possible.items() if pairs}
    logs = save(folder / "one.jsonl", rows)
    how = {"exclude": [folder / "train.tsv"], "rules": PairRules(min_posts=2)}
    plan = SamplePlan("answers", seed=seed)
    if not wanted:
        with pytest.raises(InputError, match=r"none of|no utterance"):
            sample_items(logs, folder / "study", plan, **how)
        return
    made = sample_items(logs, folder / "study", plan, **how)
    assert (made.candidates, made.fit) == (len(groups), len(wanted))
    assert sum(made.dropped.values()) == made.candidates - made.fit
    alone = [pairs for pairs in groups.values() if len({pair[0] for pair in pairs}) == 1]
    assert made.dropped.get("one_dialogue", 0) == len(alone)
    study = read_study(folder / "study")
    assert {words(item.message) for item in study.items} == wanted
    for item in study.items:
        assert (item.id, item.meta["human"]) in possible[words(item.message)]
    # Which is told by the transcription of its ranks, too.
    rank = lambda id: int.from_bytes(  # noqa: E731
        blake2b(f"{seed}\0{id}".encode(), digest_size=16).digest(), "little"
    )
    assert {(item.id, item.meta["human"]) for item in study.items} == {
        min(possible[said], key=lambda pair: tuple(map(rank, pair))) for said in wanted
    }
    assert [item.id for item in study.items] == sorted(
        (item.id for item in study.items), key=lambda id: rank(f"{id}\0")
    )
    save(folder / "other.jsonl", data.draw(st.permutations(rows)))
    sample_items(folder / "other.jsonl", folder / "again", plan, **how)
    assert studies(folder / "study") == studies(folder / "again")


def test_answers_favour_no_utterance(tmp_path):
    """One that hundreds of dialogues have is not drawn more often."""
    rows = [chat(f"c{n}", "Hello?", f"Hi {n}") for n in range(300)]
    rows += [chat(f"d{n}", f"Rare {n // 2}", f"Reply {n}") for n in range(18)]
    logs = save(tmp_path / "chats.jsonl", rows)
    drawn = 0
    for seed in range(12):
        answers(logs, tmp_path / f"{seed}", items=1, seed=seed)
        drawn += read_study(tmp_path / f"{seed}").items[0].message == "Hello?"
    assert drawn < 6


@pytest.mark.parametrize("kind", ["upsilon", "triples", "answers"])
def test_the_order_of_files_and_rows_does_not_matter(kind, tmp_path):
    asked = [post for n in range(24) for post in thread(f"s{n}", 2019, 1, first=f"Same {n // 2}")]
    posts = save(tmp_path / "posts.jsonl", POSTS + asked)
    sample(posts, tmp_path / "one", kind, items=8, seed=3)
    shuffled = random.Random(5).sample(POSTS + asked, len(POSTS + asked))
    (tmp_path / "z").mkdir()
    save(tmp_path / "z" / "a.jsonl", shuffled[:40])
    save(tmp_path / "z" / "b.jsonl", shuffled[40:])
    sample(tmp_path / "z", tmp_path / "two", kind, items=8, seed=3)
    assert studies(tmp_path / "one") == studies(tmp_path / "two")
    plan = SamplePlan(kind, items=8, seed=3)
    how = {"split": parse_split(SPLIT), "period": "test", "memory": 1, "buckets": 5}
    sample_items(posts, tmp_path / "spilled", plan, **how)
    assert studies(tmp_path / "one") == studies(tmp_path / "spilled")
    sample(posts, tmp_path / "more", kind, items=15, seed=3)
    ids = [item.id for item in read_study(tmp_path / "more").items]
    assert ids[:8] == [item.id for item in read_study(tmp_path / "one").items]
    sample(posts, tmp_path / "other", kind, items=8, seed=4)
    assert [item.id for item in read_study(tmp_path / "other").items] != ids[:8]


def test_periods(posts, tmp_path):
    """Dates alone: all else in the logs is training data."""
    named = sample(posts, tmp_path / "named")
    dates = sample(posts, tmp_path / "dates", period="2019", split=None)
    assert (dates.period, dates.fit, dates.training_pairs) == ("2019", 21, named.training_pairs)
    assert studies(tmp_path / "named") == studies(tmp_path / "dates")
    whole = sample(posts, tmp_path / "whole", period=None, split=None)
    assert (whole.candidates, whole.training_pairs, whole.period) == (29, 0, "")
    gap = sample(posts, tmp_path / "gap", split="train=2017,test=2019")
    assert gap.fit == 22  # nothing is known of 2018
    shares = sample(posts, tmp_path / "shares", split="train:0.5,test:0.5")
    assert 0 < shares.candidates < 29


def test_excluded_logs(posts, tmp_path):
    write_pairs(save(tmp_path / "some.jsonl", POSTS[:33]), tmp_path / "known.tsv")
    made = sample(posts, tmp_path / "study", exclude=[tmp_path / "known.tsv"])
    assert made.dropped["known_thread"] > 3
    known = {row.split("\t")[4] for row in (tmp_path / "known.tsv").read_text().splitlines()}
    assert not known & {item.id for item in read_study(tmp_path / "study").items}
    # The same texts in other threads are as bad.
    rows = (tmp_path / "known.tsv").read_text().splitlines()[1:]
    bare = ["\t".join(row.upper().split("\t")[:2]) for row in rows]
    (tmp_path / "bare.tsv").write_text("utterance\tresponse\n" + "\n".join(bare) + "\n")
    again = sample(posts, tmp_path / "again", exclude=[tmp_path / "bare.tsv"])
    assert again.dropped["known_pair"] == made.dropped["known_thread"] + 1


def test_what_is_sampled_is_not_mined(posts, tmp_path):
    sample(posts, tmp_path / "study")
    write_pairs(posts, tmp_path / "pairs.tsv", rules=PairRules(min_posts=2))
    mined = mine_references(read_study(tmp_path / "study"), tmp_path / "pairs.tsv")
    for item in mined.study.items:
        for reference in item.references[1:]:
            assert not reference.source.id.startswith(f"{item.id}.")


def test_filters(posts, tmp_path):
    long = sample(posts, tmp_path / "long", "triples", min_words=3, max_words=3)
    assert dict(long.dropped) == {"length": 9}
    texts = [post for n in range(4) for post in thread(f"x{n}", 2019, 1, said=["so it goes"])]
    texts += thread("rare", 2019, 1, said=["never heard before"])
    logs = save(tmp_path / "some.jsonl", texts)
    made = sample(logs, tmp_path / "study", "triples", min_bigram_count=4)
    assert (made.fit, dict(made.dropped)) == (4, {"rare_words": 1})
    assert "rare.0.a" not in {item.id for item in read_study(tmp_path / "study").items}


def test_of_those_that_say_the_same_one_is_drawn(tmp_path):
    said = ["So it goes.", "Never."]
    logs = [post for n in range(9) for post in thread(f"x{n}", 2019, 2, first="Hm.", said=said)]
    drawn = {}
    for size in (1, 2, 9):
        made = sample(save(tmp_path / "some.jsonl", logs), tmp_path / f"study{size}", items=size)
        assert (made.fit, made.items) == (9, min(size, 2))
        study = read_study(tmp_path / f"study{size}")
        drawn[size] = [item.id for item in study.items]
        keys = text_keys([item.references[0].text for item in study.items]).keys
        assert len(set(keys.tolist())) == len(keys)
    assert drawn[2][:1] == drawn[1]
    assert drawn[9] == drawn[2]


def test_conversations(tmp_path):
    chats = [{"id": n, "turns": [f"a{n}", f"b{n}", f"c{n}"]} for n in range(5)]
    logs = save(tmp_path / "chats.jsonl", chats)
    made = sample(logs, tmp_path / "study", "triples", period=None, split=None, items=3)
    assert (made.candidates, made.items) == (5, 3)
    refused("the logs hold conversations", logs, tmp_path / "no", period=None, split=None)


def refused(message, logs, output, kind="upsilon", **how):
    before = sorted(output.parent.iterdir())
    with pytest.raises(InputError, match=message):
        sample(logs, output, kind, **how)
    assert sorted(output.parent.iterdir()) == before


def test_refusals(posts, tmp_path):
    out = tmp_path / "study"
    refused("name one of train, test", posts, out, period=None)
    refused("period: must be one of train, test, got 'tset'", posts, out, period="tset")
    refused("period: 'soon' is no date", posts, out, period="soon", split=None)
    refused("the logs have no dialogue of test to sample", posts, out, split="test=2003")
    refused(
        "none of 25 dialogues of test can be an item, .*too many words", posts, out, max_words=1
    )
    refused("there is no such file", posts, out, exclude=[tmp_path / "none.tsv"])
    refused("no column 'utterance'", posts, out, exclude=[save(tmp_path / "x.tsv", POSTS[:1])])
    refused("holds .*posts.jsonl, which is read here", posts, tmp_path)
    for wrong in (
        {"kind": "other"},
        {"items": 0},
        {"seed": -1},
        {"min_words": -1},
        {"max_words": 0},
        {"min_bigram_count": 2},
    ):
        with pytest.raises(InputError, match=next(iter(wrong))):
            SamplePlan(**{"kind": "upsilon", **wrong})
    with pytest.raises(InputError, match="min_bigram_count"):
        SamplePlan("answers", min_bigram_count=2)
    with pytest.raises(InputError, match="leave it out"):
        sample_items(posts, out, SamplePlan("upsilon"), rules=PairRules(first=True))


def test_real_logs(data, tmp_path):
    logs = data / "dialogue_logs" / "twitter_conv.tsv.gz"
    split = "train:0.8,test:0.2"
    made = sample(logs, tmp_path / "study", "triples", split=split, items=300, min_words=2)
    assert made.items == 300
    write_pairs(logs, tmp_path / "pairs", split=parse_split(split))
    lines = (tmp_path / "pairs" / "train.tsv").read_text().splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    known = set(
        zip(*(text_keys([row[n] for row in rows]).keys.tolist() for n in (0, 1)), strict=True)
    )
    threads = {row[4] for row in rows}
    for item in read_study(tmp_path / "study").items:
        key = tuple(text_keys([item.message, item.references[0].text]).keys.tolist())
        assert key not in known
        assert item.meta["thread"] not in threads
