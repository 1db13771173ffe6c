"""`deltableu logs pairs`: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest

POSTS = [
    {"id": "1", "user": "ann", "time": "2017-03-01", "text": "tea?"},
    {"id": "2", "user": "bob", "time": "2017-03-01", "reply_to": "1", "text": "yes"},
    {"id": "3", "user": "ann", "time": "2017-03-02", "reply_to": "2", "text": "fine"},
    {"id": "4", "user": "cem", "time": "2018-03-02", "reply_to": "0", "text": "what"},
]


@pytest.fixture
def posts(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(post) + "\n" for post in POSTS))
    return path


def test_pairs(succeeds, posts, tmp_path):
    out = tmp_path / "pairs.tsv"
    result = succeeds("logs", "pairs", posts, "-o", out, "--triples", tmp_path / "t.jsonl")
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert "posts left out: a reply to a post that is not in the logs 1" in lines
    assert out.read_text().splitlines() == [
        "utterance\tresponse\tid\ttime\tthread\tuser",
        "tea?\tyes\t2\t2017-03-01T00:00:00Z\t1\tbob",
        "yes\tfine\t3\t2017-03-02T00:00:00Z\t1\tann",
    ]
    (line,) = (tmp_path / "t.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "context": "tea?",
        "message": "yes",
        "response": "fine",
        "id": "3",
        "time": "2017-03-02T00:00:00Z",
        "thread": "1",
        "user": "ann",
    }


def test_json(succeeds, posts, tmp_path):
    settings = ("--split", "a=2017,b=2018..", "--form", "jsonl", "--format", "json")
    record = succeeds("logs", "pairs", posts, "-o", tmp_path / "out", *settings).json
    empty = {"utterances": 0, "with_2_responses": 0, "with_5_responses": 0}
    assert record == {
        "layout": "posts",
        "posts": 4,
        "unreadable_rows": 0,
        "unreadable_files": [],
        "other_parts": 0,
        "left_out": {"missing_parent": 1},
        "in_pairs": 3,
        "periods": [
            {"name": "a", "threads": 1, "pairs": 2, "triples": 1, **empty, "utterances": 2},
            {"name": "b", "threads": 0, "pairs": 0, "triples": 0, **empty},
        ],
        "overlap": 0,
        "overlap_left_out": 0,
        "temporary_bytes": 0,
    }
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.jsonl", "b.jsonl"]


def test_options(succeeds, posts, tmp_path):
    renamed = tmp_path / "renamed.tsv"
    lines = [f"{p['id']}\t{p['user']}\t{p.get('reply_to', '')}\t{p['text']}" for p in POSTS]
    renamed.write_text("\n".join(["n\twho\tto\ttext", *lines]) + "\n")
    options = ("--columns", "id=n, user=who, reply_to=to", "--first", "--users", "any")
    options += ("--min-posts", 2, "--own-replies", "keep", "--clock-skew", 0, "--format", "json")
    options += ("--memory", 1, "--work", tmp_path)
    record = succeeds("logs", "pairs", renamed, "-o", tmp_path / "p.tsv", *options).json
    assert record["periods"][0]["pairs"] == 1
    assert record["left_out"] == {"missing_parent": 1, "later": 1}
    assert record["temporary_bytes"] > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "p.tsv",
        "posts.jsonl",
        "renamed.tsv",
    ]


def test_what_cannot_be_read(run, posts, tmp_path):
    with posts.open("a") as file:
        file.write("{\n")
    damaged = tmp_path / "more.jsonl.gz"
    damaged.write_bytes(b"\x1f\x8b half")
    result = run("logs", "pairs", posts, "-o", tmp_path / "p.tsv")
    assert result.code == 2
    assert "posts.jsonl, line 5: is not valid JSON" in result.err
    assert not (tmp_path / "p.tsv").exists()
    skip = ("--on-error", "skip")
    result = run("logs", "pairs", posts, damaged, "-o", tmp_path / "p.tsv", *skip)
    assert result.code == 0
    assert "not to its end" in result.err
    assert "rows that could not be read" in result.out
    assert "files and folders that could not be read to their end" in result.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--split", "a=2017,b=2017"), "the periods a and b overlap"),
        (("--split", "a:0.9,b:0.2"), "the shares sum to 1.1"),
        (("--seed", "1"), "--seed needs --split"),
        (("--crossing", "keep"), "--crossing needs --split"),
        (("--drop-overlap",), "--drop-overlap needs --split"),
        (("--columns", "id"), "--columns takes such as"),
        (("--min-posts", "1"), "min_posts: must be at least 2"),
        (("--memory", "0"), "--memory takes a size such as 500MB or 8GB"),
        (("--users", "3"), "--users"),
    ],
)
def test_refusals(options, message, run, refusal, posts, tmp_path):
    result = run("logs", "pairs", posts, "-o", tmp_path / "p.tsv", *options)
    refusal(result)
    assert message in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["posts.jsonl"]


def test_no_logs(run, refusal, tmp_path):
    for files, message in (((), "name at least one file"), (("-",), "standard input")):
        result = run("logs", "pairs", *files, "-o", tmp_path / "p.tsv")
        refusal(result)
        assert message in result.err


def test_roles(succeeds, run, refusal, tmp_path):
    chats = tmp_path / "chats.jsonl"
    said = [("system", "Hm."), ("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]
    messages = [{"role": role, "content": text} for role, text in said]
    chats.write_text(json.dumps({"messages": messages}) + "\n")
    settings = ("--roles", "user, assistant", "--responder", "assistant", "--format", "json")
    record = succeeds("logs", "pairs", chats, "-o", tmp_path / "p.tsv", *settings).json
    assert record["left_out"] == {"no_speaker": 1, "no_responder": 1}
    assert (tmp_path / "p.tsv").read_text().splitlines()[1].startswith("Hi\tHello\tchats.jsonl:1:2")
    result = run("logs", "pairs", chats, "-o", tmp_path / "q.tsv", "--responder", "asistant")
    refusal(result)
    assert "did you mean assistant?" in result.err
    assert not (tmp_path / "q.tsv").exists()


BRANCHES = [
    *POSTS[:3],
    {"id": "5", "user": "cem", "time": "2017-03-01", "reply_to": "1", "text": "no"},
    {"id": "6", "user": "ann", "time": "2017-03-02", "reply_to": "5", "text": "oh"},
]


@pytest.fixture
def branches(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps(post) + "\n" for post in BRANCHES))
    return path


def test_sample(succeeds, run, branches, tmp_path):
    settings = ("--as", "upsilon", "--items", 1, "--seed", 2)
    result = succeeds("logs", "sample", branches, "-o", tmp_path / "study", *settings)
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert lines[2] == "items sampled 1"
    assert {"dialogues that fit 1", "posts in pairs 5"} <= set(lines)
    assert (tmp_path / "study" / "outputs" / "human.jsonl").exists()
    succeeds("check", tmp_path / "study")
    settings = ("--as", "triples", "--split", "a=2016,b=2017", "--period", "b", "--format", "json")
    result = run("logs", "sample", branches, "-o", tmp_path / "triples", *settings)
    assert result.code == 0
    assert result.err == "deltableu: only 2 of 100 items: no more of the logs fit\n"
    assert (result.json["items"], result.json["candidates"], result.json["dropped"]) == (2, 2, {})


def test_sample_answers(run, succeeds, tmp_path):
    chats = [["Hm.", "Tea?", "Yes."], ["So.", "tea", "No."], ["Oh.", "Cake?", "Yes."]]
    lines = [json.dumps({"id": f"c{n}", "turns": turns}) for n, turns in enumerate(chats)]
    (tmp_path / "chats.jsonl").write_text("\n".join(lines) + "\n")
    settings = ("--as", "answers", "-o", tmp_path / "study", "--format", "json")
    result = run("logs", "sample", tmp_path / "chats.jsonl", *settings)
    assert (result.code, result.json["kind"], result.json["fit"]) == (0, "answers", 1)
    assert result.json["dropped"] == {"one_dialogue": 4}
    succeeds("check", tmp_path / "study")
    (item,) = map(json.loads, (tmp_path / "study" / "items.jsonl").read_text().splitlines())
    assert item["message"] in ("Tea?", "tea")
    assert item["context"] in (["Hm."], ["So."])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--as"),
        (("--as", "rho"), "--as"),
        (("--as", "upsilon", "--items", "0"), "--items must be at least 1"),
        (("--as", "upsilon", "--seed", "-1"), "seed: must be 0 or more"),
        (("--as", "upsilon", "--split", "a=2017"), "name one of a"),
        (("--as", "upsilon", "--split", "a=2017", "--period", "b"), "period: must be one of a"),
        (("--as", "upsilon", "--period", "b"), "'b' is no date"),
        (("--as", "upsilon", "--split-seed", "1"), "--split-seed needs --split"),
        (("--as", "upsilon", "--crossing", "keep"), "--crossing needs --split"),
        (("--as", "upsilon", "--period", "1999"), "none of|no dialogue of 1999"),
        (("--as", "upsilon", "--min-bigram-count", "3"), "min_bigram_count: is of triples"),
        (("--as", "triples", "--exclude", "none.tsv"), "none.tsv: there is no such file"),
        (("--as", "triples", "--exclude", "-"), "--exclude cannot be standard input"),
        (("--as", "triples", "--max-words", "0"), "max_words: must be at least min_words"),
        (("--as", "triples", "--responder", "x"), "responder: is of turns and conversations"),
    ],
)
def test_sample_refusals(options, message, run, refusal, branches, tmp_path):
    result = run("logs", "sample", branches, "-o", tmp_path / "study", *options)
    refusal(result)
    assert re.search(message, result.err)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["posts.jsonl"]
