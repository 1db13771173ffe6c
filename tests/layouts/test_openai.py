from __future__ import annotations

import json

import pytest


def lines(*records):
    return "".join(json.dumps(one) + "\n" for one in records)


def turn(role, content):
    return {"role": role, "content": content}


ASKED = [
    turn("system", "be kind"),
    turn("user", "hi"),
    turn("assistant", "hello"),
    turn("user", "who?"),
]


def test_conversations(bring, write):
    path = write(
        "log.jsonl",
        lines(
            {"id": "q1", "model": "m", "ideal": ["me", "I"],
             "messages": [*ASKED, turn("assistant", "me")]},
            {"id": "q2", "model": "m", "messages": [
                turn("user", [{"type": "text", "text": "what"}, {"type": "image_url"}]),
                turn("assistant", None), turn("tool", "42"),
                turn("assistant", [{"type": "text", "text": "a cat"}])]},
        ),
    )  # fmt: skip
    found = bring("openai", path, keep_all=True)
    first, second = found.items["q1"], found.items["q2"]
    assert (first.context, first.message) == (("hi", "hello"), "who?")
    assert [one.text for one in first.references] == ["me", "I"]
    assert first.meta == {"system_prompt": "be kind"}
    assert (second.context, second.message, second.references) == ((), "what", ())
    assert found.outputs == {"m": ("me", "a cat")}
    assert found.left_out == {"a part of a message is image_url": 1}


def test_a_batch(bring, write):
    body = {"model": "m", "messages": ASKED}
    asked = write(
        "in.jsonl", lines({"custom_id": "q1", "method": "POST", "body": body, "gold": "me"})
    )
    choices = [{"index": 0, "message": turn("assistant", "me!")}]
    told = write(
        "out.jsonl",
        lines(
            {"id": "batch_req_1", "custom_id": "q1", "error": None,
             "response": {"status_code": 200, "body": {"model": "m-2", "choices": choices}}},
            {"id": "batch_req_2", "custom_id": "q2", "response": None, "error": {"code": "x"}},
        ),
    )  # fmt: skip
    found = bring("openai", asked, told, columns="references=gold")
    assert found.items["q1"].references[0].text == "me"
    assert found.outputs == {"m-2": ("me!",)}
    assert found.left_out == {"the request failed": 1}


def test_the_same_words_are_the_same_item(bring, write):
    one = write(
        "a.jsonl", lines({"id": "chatcmpl-1", "messages": [*ASKED, turn("assistant", "x")]})
    )
    other = write("b.jsonl", lines({"messages": [*ASKED, turn("assistant", "y")]}))
    found = bring("openai", one, other, keep_all=True)
    assert len(found.items) == 1
    assert found.outputs == {"a": ("x",), "b": ("y",)}


def test_a_turn_after_the_last_answer(bring, write):
    """It is no part of the item in a log, and it is the question where an answer is expected."""
    found = bring(
        "openai", write("log.jsonl", lines({"id": "q", "messages": ASKED})), keep_all=True
    )
    assert (found.items["q"].message, found.outputs) == ("hi", {"log": ("hello",)})
    assert found.left_out == {"a turn follows the last answer": 1}


def test_samples_of_evals(bring, write):
    path = write("samples.jsonl", lines({"id": "q", "input": ASKED, "ideal": "me"}))
    found = bring("openai", path)
    assert (found.items["q"].message, found.outputs) == ("who?", {})


def test_responses(bring, write):
    output = [{"type": "reasoning"}, {"type": "message", "role": "assistant",
              "content": [{"type": "output_text", "text": "hey"}]}]  # fmt: skip
    body = {"model": "m", "output": output}
    path = write(
        "o.jsonl", lines({"custom_id": "1", "response": {"status_code": 200, "body": body}})
    )
    assert bring("openai", path, keep_all=True).outputs == {"m": ("hey",)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"messages": [', "log.jsonl, line 1: "),
        (lines({"messages": "hi"}), "log.jsonl, line 1, messages: must be a list of messages"),
        (lines({"text": "hi"}), "log.jsonl, line 1, messages: must be a list of messages"),
        (
            lines({"messages": [{"role": "user", "content": 3}]}),
            "log.jsonl, line 1, messages: content",
        ),
        (
            lines({"messages": [turn("assistant", "x")]}),
            "log.jsonl, line 1, messages: no user says",
        ),
        (lines({"response": {}}), "log.jsonl, line 1, custom_id: is missing"),
        (
            lines(*({"messages": [*ASKED, turn("assistant", one)]} for one in "xy")),
            "log.jsonl, line 2, item ",
        ),
    ],
)
def test_bad_files(refuse, write, text, said):
    assert refuse("openai", write("log.jsonl", text)).startswith(said)
