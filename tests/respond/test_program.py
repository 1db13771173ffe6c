"""Programs as responders: good ones, and all that goes wrong with others."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.respond import program_responses

ITEMS = [Item(str(number), (), ("before",), f"message {number} \u2028 ü 😀") for number in range(5)]

ECHO = """
import json, sys
for line in sys.stdin:
    item = json.loads(line)
    print(json.dumps({"id": item["id"], "text": item["context"][0] + ": " + item["message"]}))
"""


@pytest.fixture
def respond(tmp_path):
    def respond(source, items=ITEMS, **settings):
        path = tmp_path / "answer.py"
        path.write_text(source)
        return program_responses(items, [sys.executable, str(path)], **settings)

    return respond


def test_a_good_program(respond):
    found = respond(ECHO)
    assert found.texts == tuple(f"before: {item.message}" for item in ITEMS)
    assert (found.missing, found.nbest) == ((), None)
    assert found.signature.startswith('program|command:["')
    assert respond(ECHO) == found


def test_it_may_answer_in_any_order_once_all_is_read_or_without_reading(respond):
    found = respond(
        "import json, sys\n"
        "items = [json.loads(line) for line in sys.stdin]\n"
        "for item in reversed(items):\n"
        "    print()\n"
        "    print(json.dumps({'id': item['id'], 'text': item['id'], 'mood': 'good'}))\n"
    )
    assert found.texts == ("0", "1", "2", "3", "4")
    unread = respond('for n in range(5): print(\'{"id": %d, "text": ""}\' % n)')
    assert unread.texts == ("",) * 5
    assert unread.missing == ()


def test_much_goes_both_ways_without_waiting(respond):
    """More than any pipe holds, in both directions and as complaints."""
    items = [Item(str(number), (), message="x" * 2000) for number in range(2000)]
    found = respond(
        "import json, sys\n"
        "sys.stderr.write('e' * 1_000_000)\n"
        "for line in sys.stdin:\n"
        "    item = json.loads(line)\n"
        "    print(json.dumps({'id': item['id'], 'text': item['message'] * 2}), flush=False)\n",
        items,
        timeout=60,
    )
    assert found.texts[-1] == "x" * 4000


def test_candidates(respond):
    found = respond(
        "for n, total in ((0, 1), (1, 5), (0, 3), (0, 3)):\n"
        '    print(\'{"id": %d, "text": "t%d", "features": {"LM": %d, "b": 2}, "total": %d}\''
        " % (n, total, -total, total))\n",
        missing="drop",
    )
    assert found.texts == ("t3", "t5", "", "", "")
    assert found.missing == ("2", "3", "4")
    assert found.nbest.item_ids == ("0", "1")
    assert found.nbest.candidates(0) == ("t1", "t3", "t3")
    assert found.nbest.names == ("LM", "b")
    assert found.nbest.features.tolist() == [[-1, 2], [-3, 2], [-3, 2], [-5, 2]]
    assert found.nbest.totals.tolist() == [1, 3, 3, 5]
    first = respond(
        "import json\n"
        "for n in range(5):\n"
        "    for text in 'ab':\n"
        "        print(json.dumps({'id': n, 'text': text, 'features': {'LM': 1}}))"
    )
    assert first.texts == ("a",) * 5
    assert first.nbest.totals is None
    totals = respond('for n in range(5): print(\'{"id": %d, "text": "", "total": 1}\' % n)')
    assert totals.nbest.names == ()


LINE = 'print(\'{"id": 0, "text": "a"%s}\')\n'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("print('hello')", "line 1: is not valid JSON"),
        ("print('[1]')", "line 1: must be a JSON object"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", "line 1: is not valid UTF-8"),
        ('print(\'{"id": 9, "text": "a"}\')', "line 1, item '9', id: there is no item"),
        ('print(\'{"text": "a"}\')', "line 1, id: is missing"),
        ("print('{\"id\": 0}')", "line 1, item '0', text: is missing"),
        (LINE % "" * 2, "line 2, item '0', id: has a response on line 1 already"),
        (LINE % "", "4 items have no response: '1', '2', '3' and others"),
        (LINE % ', \\"features\\": {}', "features: must be an object of names and numbers"),
        (LINE % ', \\"features\\": {\\"x\\": \\"y\\"}', "features.x: must be a number"),
        (LINE % ', \\"features\\": {\\"x\\": null}', "features.x: must be a finite number"),
        (LINE % ', \\"total\\": 1' + LINE % "", "line 2, item '0', total: is missing, but earlier"),
        (LINE % "" + LINE % ', \\"total\\": 1', "line 2, item '0', total: is here, but earlier"),
        (
            LINE % ', \\"features\\": {\\"x\\": 1}' + LINE % ', \\"features\\": {\\"y\\": 1}',
            "line 2, item '0', features: x is missing, which earlier lines have",
        ),
        ("raise SystemExit(3)", r"failed \(exit 3\)$"),
        ("1 / 0", r"failed \(exit 1\): ZeroDivisionError: division by zero"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        (LINE % "" + "print('{\"id\"', end='', flush=True); 1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_named(source, message, respond):
    with pytest.raises(InputError, match=message):
        respond(source)


def test_output_without_end_is_not_read_to_its_end(respond):
    started = time.monotonic()
    with pytest.raises(InputError, match="line 1: is not valid JSON"):
        respond("while True: print('x' * 1000)")
    assert time.monotonic() - started < 20


def test_a_line_without_end(respond, monkeypatch):
    monkeypatch.setenv("DELTABLEU_MAX_LINE", "1MB")
    with pytest.raises(InputError, match=r"line 1: is longer than 1 MB \(--max-line\)"):
        respond("import sys\nwhile True: sys.stdout.write('x' * 1000)")


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "import sys, time; sys.stdout.close(); time.sleep(60)",
        "import subprocess; subprocess.run(['sleep', '60'])",
    ],
)
def test_a_program_that_hangs_is_ended_with_all_it_has_started(source, respond):
    before, others = threading.active_count(), children()
    started = time.monotonic()
    with pytest.raises(InputError, match=r"has not ended after 0\.7 seconds"):
        respond(source, timeout=0.7)
    assert time.monotonic() - started < 10
    assert threading.active_count() == before
    assert children() <= others


def children() -> set[str]:
    """The processes that this thread has started and that have not ended."""
    listed = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return set(listed.read_text().split()) if listed.exists() else set()


def test_bad_settings(respond):
    for command in ([], "echo"):
        with pytest.raises(InputError, match="command must be a program and its arguments"):
            program_responses(ITEMS, command)
    with pytest.raises(InputError, match="nowhere-to-be-found: cannot be started: No such file"):
        program_responses(ITEMS, ["nowhere-to-be-found"])
    with pytest.raises(InputError, match="timeout must be a number of seconds above 0"):
        respond(ECHO, timeout=0)
    with pytest.raises(InputError, match="missing must be one of error, drop"):
        respond(ECHO, missing="empty")
