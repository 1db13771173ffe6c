"""Repeated rows, gaps, contents in parts, chat models' messages, and columns of other names."""

from __future__ import annotations

import json

import pytest

from deltableu.errors import InputError
from deltableu.logs import PairRules, write_pairs


def save(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def pairs_of(tmp_path, records, **settings):
    logs = save(tmp_path / "chats.jsonl", records)
    made = write_pairs(logs, tmp_path / "pairs.jsonl", **settings)
    assert made.posts == sum(made.left_out.values()) + made.in_pairs
    rows = rows_of(tmp_path / "pairs.jsonl")
    return made, [(row["utterance"], row["response"]) for row in rows]


def refused(message, logs, **settings):
    before = sorted(logs.parent.iterdir())
    with pytest.raises(InputError, match=message):
        write_pairs(logs, logs.parent / "pairs.jsonl", **settings)
    assert sorted(logs.parent.iterdir()) == before


# Repeated


@pytest.mark.parametrize("order", [(0, 1, 0), (0, 0, 1)])
def test_a_conversation_that_is_there_twice_counts_once(order, tmp_path):
    records = [{"id": 1, "turns": ["a", "b"]}, {"id": 2, "turns": ["a", "b", "c"]}]
    made, pairs = pairs_of(tmp_path, [records[n] for n in order])
    assert sorted(pairs) == [("a", "b"), ("a", "b"), ("b", "c")]
    assert dict(made.left_out) == {"duplicate": 2}
    assert made.unreadable_rows == 0


@pytest.mark.parametrize("other", [["a", "c"], ["a"], ["a", "b", "c"]])
@pytest.mark.parametrize("between", [[], [{"id": 2, "turns": ["x", "y"]}]])
def test_with_other_turns_it_is_an_error(other, between, tmp_path):
    records = [{"id": 1, "turns": ["a", "b"]}, *between, {"id": 1, "turns": other}]
    logs = save(tmp_path / "chats.jsonl", records)
    refused(f"line {len(records)}, dialog: the dialogue '1' was there before, with other", logs)
    made, _ = pairs_of(tmp_path, records, on_error="skip")
    assert made.unreadable_rows == 1


TURNS = ["a\t0\tA\tone\n", "a\t1\tB\ttwo\n", "b\t0\tA\tthree\n", "b\t1\tB\tfour\n"]


@pytest.mark.parametrize(
    ("order", "dropped"),
    [((0, 0, 1, 2, 3), 1), ((0, 1, 0, 1, 2, 3), 2), ((0, 1, 2, 3, 0, 1), 2), ((0, 1, 1, 0), 2)],
)
def test_rows_of_turns_that_are_there_twice(order, dropped, tmp_path):
    logs = tmp_path / "chat.tsv"
    logs.write_text("dialog\tturn\tspeaker\ttext\n" + "".join(TURNS[n] for n in order))
    made = write_pairs(logs, tmp_path / "pairs.jsonl", drop_overlap=False)
    assert dict(made.left_out) == {"duplicate": dropped}
    assert made.posts == len(order)
    assert made.periods[0].pairs == len(set(order)) // 2
    logs.write_text("dialog\tturn\tspeaker\ttext\n" + "".join(TURNS) + "a\t0\tA\tother\n")
    (tmp_path / "pairs.jsonl").unlink()
    refused("line 6, dialog: the dialogue 'a' was there before, with other turns", logs)


# Gaps


@pytest.mark.parametrize("gap", [None, "", " ", {"text": None}, {"text": ""}, {"text": []}])
def test_an_empty_turn_loses_nothing_but_itself(gap, tmp_path):
    records = [{"id": 1, "turns": ["a", "b", "c", gap, "d", "e", "f"]}]
    made, pairs = pairs_of(tmp_path, records)
    assert pairs == [("a", "b"), ("b", "c"), ("d", "e"), ("e", "f")]
    assert dict(made.left_out) == {"empty": 1}
    contexts = write_pairs(
        tmp_path / "chats.jsonl", tmp_path / "p.jsonl", triples=tmp_path / "t.jsonl"
    )
    assert contexts.periods[0].triples == 2
    assert [row["context"] for row in rows_of(tmp_path / "t.jsonl")] == ["a", "d"]
    assert [row["id"] for row in rows_of(tmp_path / "p.jsonl")] == ["1:1", "1:2", "1:5", "1:6"]


def test_what_is_left_beside_gaps(tmp_path):
    records = [
        {"id": 1, "turns": [None, "a", "b"]},
        {"id": 2, "turns": ["c", None, "d", "e", None]},
        {"id": 3, "turns": [None, "f", None]},
        {"id": 4, "turns": [None]},
    ]
    made, pairs = pairs_of(tmp_path, records)
    assert pairs == [("a", "b"), ("d", "e")]
    assert dict(made.left_out) == {"empty": 6, "short": 2}
    made, pairs = pairs_of(tmp_path, records, rules=PairRules(first=True))
    assert pairs == []
    assert dict(made.left_out) == {"empty": 6, "short": 2, "later": 4}


def test_rules_hold_across_gaps(tmp_path):
    speakers = [("A", "a"), ("B", "b"), ("A", None), ("B", "c"), ("A", "d"), ("C", "e")]
    turns = [{"speaker": speaker, "text": text} for speaker, text in speakers]
    made, pairs = pairs_of(tmp_path, [{"id": 1, "turns": turns}], rules=PairRules(users="two"))
    assert pairs == [("a", "b"), ("c", "d")]
    assert dict(made.left_out) == {"empty": 1, "third_user": 1}


# Messages of chat models


def say(role, content, **more):
    return {"role": role, "content": content, **more}


CHAT = [
    say("system", "Be brief."),
    say("user", "Hi?"),
    say("assistant", "Hello."),
    say("user", "Weather?"),
    say("assistant", None, tool_calls=[{"id": "1", "function": {"name": "weather"}}]),
    say("tool", "20 degrees", tool_call_id="1"),
    say("assistant", "Warm."),
    say("user", "Thanks"),
]


def test_messages_are_conversations(tmp_path):
    made, pairs = pairs_of(tmp_path, [{"messages": CHAT}])
    assert made.layout == "conversations"
    assert pairs == [
        ("Hi?", "Hello."),
        ("Hello.", "Weather?"),
        ("Weather?", "Warm."),
        ("Warm.", "Thanks"),
    ]
    assert dict(made.left_out) == {"no_speaker": 3}
    first = rows_of(tmp_path / "pairs.jsonl")[0]
    assert (first["thread"], first["id"]) == ("chats.jsonl:1", "chats.jsonl:1:2")
    assert first["user"] == "assistant"


def test_only_responses_of_one(tmp_path):
    rules = PairRules(responder="assistant")
    made, pairs = pairs_of(tmp_path, [{"id": "x", "messages": CHAT}], rules=rules)
    assert pairs == [("Hi?", "Hello."), ("Weather?", "Warm.")]
    assert dict(made.left_out) == {"no_speaker": 3, "no_responder": 1}
    rules = PairRules(roles=["system", "user"])
    made, pairs = pairs_of(tmp_path, [{"id": "x", "messages": CHAT}], rules=rules)
    assert pairs == [("Be brief.", "Hi?"), ("Hi?", "Weather?"), ("Weather?", "Thanks")]


def test_a_speaker_called_system_speaks(tmp_path):
    """Logs of services call the one who answers so."""
    turns = [{"speaker": "USER", "text": "a"}, {"speaker": "system", "text": "b"}]
    assert pairs_of(tmp_path, [{"id": 1, "turns": turns}])[1] == [("a", "b")]
    rules = PairRules(responder="system")
    assert pairs_of(tmp_path, [{"id": 1, "turns": turns}], rules=rules)[1] == [("a", "b")]


def test_contents_in_parts(tmp_path):
    parts = [{"type": "text", "text": "What is"}, {"type": "image_url", "image_url": {"url": "x"}}]
    records = [
        {
            "messages": [
                say("user", [*parts, {"type": "text", "text": "this?"}]),
                say("assistant", [{"type": "output_text", "text": "A cat."}]),
                say("user", [parts[1]]),
                say("assistant", "Another."),
                say("user", ["Fine", "so."]),
            ]
        }
    ]
    made, pairs = pairs_of(tmp_path, records)
    assert pairs == [("What is\nthis?", "A cat."), ("Another.", "Fine\nso.")]
    assert made.other_parts == 2
    assert dict(made.left_out) == {"empty": 1}
    assert made.read_facts()["parts of turns left out: no text"] == 2


def test_files_of_one_name_in_two_folders(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save(tmp_path / name / "x.jsonl", [{"messages": [say("user", name), say("bot", "ok")]}])
    write_pairs([tmp_path / "a", tmp_path / "b"], tmp_path / "pairs.jsonl")
    threads = [row["thread"] for row in rows_of(tmp_path / "pairs.jsonl")]
    assert threads == ["a/x.jsonl:1", "b/x.jsonl:1"]


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ("hello", r"line 1, messages: must be a list of turns, got 'hello'"),
        ([5], r"messages\[0\]: must be a text or an object"),
        ([{"role": "user", "body": "x"}], r"messages\[0\]: has no 'text' and no 'content', only"),
        ([say("user", 5)], r"messages\[0\].content: must be a string"),
        ([say("user", [5])], r"messages\[0\].content\[0\]: must be a text or a part of a content"),
        ([say("user", [{"type": "text"}])], r"content\[0\].text: is missing"),
        ([say(["user"], "x")], r"messages\[0\].role: must be a string"),
    ],
)
def test_messages_that_are_none(messages, message, tmp_path):
    refused(message, save(tmp_path / "chats.jsonl", [{"messages": messages}]))


def test_roles_that_nobody_has(tmp_path):
    logs = save(tmp_path / "chats.jsonl", [{"messages": CHAT}])
    rules = PairRules(responder="asistant")
    refused("no turn is by 'asistant', only by .*: did you mean assistant", logs, rules=rules)
    refused("no turn is by 'bot'", logs, rules=PairRules(roles=["user", "bot"]))
    posts = save(tmp_path / "posts.jsonl", [{"id": 1, "text": "a"}])
    refused("responder: is of turns and conversations", posts, rules=rules)
    for settings in (
        {"roles": []},
        {"roles": "user"},
        {"responder": ""},
        {"roles": ["user"], "responder": "assistant"},
    ):
        with pytest.raises(InputError, match="role"):
            PairRules(**settings)


# Columns


@pytest.mark.parametrize(
    ("record", "columns", "message"),
    [
        ({"id": 1, "body": "x"}, {}, "only id, body: did you mean --columns text=body"),
        ({"tweet_id": 1, "text": "x"}, {}, "'id', only tweet_id, text: did you mean --columns id="),
        ({"id": 1, "txet": "x"}, {}, "did you mean --columns text=txet"),
        ({"id": 1, "Content": "x"}, {}, "did you mean --columns text=Content"),
        ({"id": 1, "body": "x"}, {"text": "bdoy"}, "no column 'bdoy', only id, body: did you mean"),
        ({"id": 1, "zzz": "x"}, {}, "only id, zzz: say what it is called with --columns text=NAME"),
        ({"dialog": 1, "turn": 0, "utterance": "x"}, {}, "did you mean --columns text=utterance"),
        ({"utterance": "a", "response": "b"}, {}, "these are pairs already"),
        ({str(n): n for n in range(20)}, {}, r"'11' and 8 more: say"),
    ],
)
def test_a_missing_column(record, columns, message, tmp_path):
    logs = save(tmp_path / "posts.jsonl", [record])
    refused(message, logs, columns=columns)
