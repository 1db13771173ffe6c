"""Responses that are drawn: each row as likely, and the same whatever the order of files."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError
from deltableu.logs import find_partitions
from deltableu.mine import LogRows, RowFilter
from deltableu.respond import logged_responses, random_responses
from deltableu.text import WordRule, same_text
from tests.mine.brute_force import letters
from tests.mine.mining_kit import make_items, make_logs

EVERYTHING = RowFilter(min_words=0, junk=False)
RESPONDERS = [random_responses, logged_responses]
texts = st.lists(st.sampled_from(["a", "b", "B!", "c", ","]), max_size=3).map(" ".join)
rows = st.lists(st.tuples(texts, texts), min_size=1, max_size=25)


def items_of(pairs):
    return [
        Item(str(number), (Reference("own", response),), message=message)
        for number, (message, response) in enumerate(pairs)
    ]


@settings(max_examples=80, deadline=None)
@given(rows, st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.integers(0, 5))
def test_people_say_something_else_to_the_same(logs, pairs, seed):
    items = items_of(pairs)
    found = logged_responses(items, logs, seed=seed, rows=EVERYTHING)
    for item, text in zip(items, found.texts, strict=True):
        message = letters(item.message)
        wanted = {
            response
            for utterance, response in logs
            if item.message.strip()
            and letters(utterance) == message
            and not same_text(response, item.references[0].text)
        }
        assert (item.id in found.missing) == (not wanted)
        assert not wanted or text in wanted
    shuffled = random.Random(seed).sample(logs, len(logs))
    again = logged_responses(items, shuffled, seed=seed, rows=EVERYTHING, partition_bytes=1)
    assert again == found


@settings(max_examples=80, deadline=None)
@given(rows, st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.integers(0, 5))
def test_any_response_but_the_own_pair(logs, pairs, seed):
    items = items_of(pairs)
    found = random_responses(items, logs, seed=seed, rows=EVERYTHING)
    for item, text in zip(items, found.texts, strict=True):
        own = (letters(item.message), letters(item.references[0].text))
        wanted = {
            response
            for utterance, response in logs
            if not item.message or (letters(utterance), letters(response)) != own
        }
        assert (item.id in found.missing) == (not wanted)
        assert not wanted or text in wanted
    shuffled = random.Random(seed).sample(logs, len(logs))
    again = random_responses(items, shuffled, seed=seed, rows=EVERYTHING, partition_bytes=1)
    assert again == found


@pytest.mark.parametrize("respond", RESPONDERS)
def test_rows_are_equally_likely(respond):
    """Counts of 4,000 draws, within 4.5 standard deviations."""
    responses = ["one"] * 5 + ["two"] * 3 + ["three"] + [f"n{number}" for number in range(91)]
    logs = [("hi", response) for response in responses]
    items = [Item(f"i{number}", (), message="Hi!") for number in range(4000)]
    found = Counter(respond(items, logs, seed=3).texts)
    for response, times in Counter(responses).items():
        share = times / len(responses)
        spread = (4000 * share * (1 - share)) ** 0.5
        assert abs(found[response] - 4000 * share) < 4.5 * spread
    assert respond(items[:50], logs, seed=3).texts == respond(items, logs, seed=3).texts[:50]
    assert respond(items, logs, seed=4).texts != respond(items, logs, seed=3).texts


@pytest.mark.parametrize("respond", RESPONDERS)
def test_files_and_threads_change_nothing(respond, tmp_path):
    parts = make_logs(tmp_path / "logs", files=4, rows=200)
    items = make_items(30)
    found = respond(items, tmp_path / "logs", threads=1)
    assert respond(items, tmp_path / "logs", threads=3, partition_bytes=3000) == found
    assert respond(items, [row for part in reversed(parts) for row in part]) == found
    assert found.facts["rows of the logs"] == 800
    table = found.table().to_markdown()
    assert "items without a response" in table
    assert found.signature in table


def test_human_never_says_what_a_reference_says_nor_its_own_row():
    references = (Reference("a", "Fine!"), Reference("b", "so so", origin="mined"))
    item = Item("7", references, message="How are you?", meta={"thread": "t"})
    logs = [
        {"utterance": "how are YOU", "response": "fine"},
        {"utterance": "how are you", "response": "So so."},
        {"utterance": "how are you", "response": "its own", "id": "7"},
        {"utterance": "how are you", "response": "also", "thread": "t"},
        {"utterance": "how are you", "response": "[deleted]"},
        {"utterance": "how are you now", "response": "other utterance"},
    ]
    assert logged_responses([item], logs).missing == ("7",)
    logs.append({"utterance": "How are you?", "response": "ill"})
    for seed in range(5):
        found = logged_responses([item], logs, seed=seed)
        assert found.texts == ("ill",)


def test_numbers_of_rows_say_what_is_in_them():
    pairs = [("a", "b"), ("a", "c"), ("b", "a"), ("ab", ""), ("", "ab")]
    numbers = []
    for pair in pairs:
        (partition,) = find_partitions([pair])
        (block,) = partition.blocks()
        numbers += LogRows(block, WordRule()).numbers.tolist()
    assert len(set(numbers)) == len(pairs)


@pytest.mark.parametrize("respond", RESPONDERS)
def test_bad_input(respond, tmp_path):
    item = Item("1", (), message="x")
    with pytest.raises(InputError, match="seed must not be negative"):
        respond([item], [("x", "y")], seed=-1)
    with pytest.raises(InputError, match="there are no items"):
        respond([], [("x", "y")])
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"utterance": "x", "response": "y"}) + "\n{\n")
    with pytest.raises(InputError, match="line 2"):
        respond([item], path)
    found = respond([item], path, on_error="skip")
    assert found.texts == ("y",)
    assert found.facts["rows that could not be read"] == 1
    path.write_text("")
    with pytest.raises(InputError, match="the logs hold no rows"):
        respond([item], path)


def test_nothing_fit_is_nothing_drawn():
    found = random_responses(
        [Item("1", (), message="x")], [("x", "[deleted]"), ("y", "http://a.b")]
    )
    assert found.missing == ("1",)
    assert found.missing_warning() == "1 of 1 items has no response and is left out (1)"
    assert found.facts["rows left out: a placeholder"] == 1
