"""`deltableu respond run`: baselines as one more system of a study."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from deltableu.corpus import read_items, read_nbest
from deltableu.respond import retrieved_responses

EXAMPLES = Path(__file__).parents[2] / "examples"
LOGS = EXAMPLES / "logs"
ECHO = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    item = json.loads(line)\n"
    "    print(json.dumps({'id': item['id'], 'text': item['message']}))\n"
)


@pytest.fixture
def study(tmp_path):
    shutil.copytree(EXAMPLES / "demo", tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def program(tmp_path):
    def program(source):
        path = tmp_path / "answer.py"
        path.write_text(source)
        return f"'{sys.executable}' '{path}'"

    return program


def written(path):
    lines = path.read_text().splitlines()
    return {record["id"]: record["text"] for record in map(json.loads, lines)}


def refused(result, message):
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("kind", ["random", "c-bm25", "c-tfidf"])
def test_a_baseline_is_one_more_system(kind, study, run, succeeds):
    output = study / "outputs" / f"new-{kind}.jsonl"
    command = ("respond", "run", study, "--kind", kind, "--logs", LOGS, "-o", output)
    said = succeeds(*command)
    assert "items without a response                      0" in said.out
    assert f"signature: {kind}|" in said.out
    texts = written(output)
    assert list(texts) == [item.id for item in read_items(study / "items.jsonl")]
    assert sorted(study.parent.iterdir()) == [study]
    scored = run("score", study, "--systems", f"new-{kind}", "--format", "json")
    assert scored.code == 0
    refused(run(*command), "is there already")
    record = succeeds(*command, "--replace", "--threads", 1, "--format", "json").json
    assert record["texts"] == list(texts.values())
    assert written(output) == texts


def test_people_who_said_something_else(study, run):
    output = study / "outputs" / "person.jsonl"
    command = ("respond", "run", study, "--kind", "human", "--logs", LOGS, "-o")
    result = run(*command, output)
    assert result.code == 0
    assert "66 of 68 items have no response and are left out (d01, d02, d03, ...)" in result.err
    assert len(written(output)) == 2
    refused(run("score", study), "66 items have no output")
    assert run("score", study, "--missing", "drop").code == 0
    refused(run(*command, study / "outputs" / "h.txt"), "plain text has a line for every item, and")
    assert not (study / "outputs" / "h.txt").exists()


def test_the_library_says_the_same(study, succeeds, tmp_path):
    command = ("respond", "run", study, "--kind", "c-tfidf", "--logs", LOGS, "--query", "context")
    outputs = (tmp_path / "found.tsv", tmp_path / "found.nbest")
    succeeds(*command, "--keep", 3, "-o", outputs[0], "--nbest-output", outputs[1])
    items = list(read_items(study / "items.jsonl"))
    wanted = retrieved_responses(items, LOGS, method="c-tfidf", query="context", keep=3)
    lists = read_nbest(outputs[1], item_ids=wanted.item_ids)
    assert lists.texts == wanted.nbest.texts
    assert lists.totals.tolist() == wanted.nbest.totals.tolist()


def test_pipes(study, run, program):
    items = (study / "items.jsonl").read_bytes()
    result = run("respond", "run", "-", "--kind", "program", "--command", program(ECHO), "-o", "-",
                 stdin=items)  # fmt: skip
    assert result.code == 0
    assert len(result.out.splitlines()) == 68
    assert json.loads(result.out.splitlines()[0])["text"].startswith("Terrible, the projector")
    assert "that equal a reference of their item: parrot" in result.err


def test_a_program_and_reranking(study, run, succeeds, program, tmp_path):
    source = (
        "import json, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    item = json.loads(line)\n"
        "    if number == 5: continue\n"
        "    for text, total in ((item['message'], 2), ('no idea', 1)):\n"
        "        print(json.dumps({'id': item['id'], 'text': text, 'total': 1,\n"
        "                          'features': {'x': total}}))\n"
    )
    first, lists = study / "outputs" / "first.jsonl", tmp_path / "lists.jsonl"
    command = ("respond", "run", study, "--kind", "program", "--command", program(source))
    refused(run(*command, "-o", first), "output of python")
    assert not first.exists()
    result = run(*command, "-o", first, "--nbest-output", lists, "--missing", "drop")
    assert result.code == 0
    assert "1 of 68 items has no response and is left out (d06)" in result.err
    assert "d06" not in written(first)

    rerank = ("respond", "run", study, "--kind", "rerank", "--nbest", lists)
    second, full = tmp_path / "second.jsonl", tmp_path / "full.jsonl"
    assert run(*rerank, "-o", second, "--nbest-output", full).code == 0
    assert set(written(second).values()) == {"no idea"}
    names = read_nbest(full).names
    assert names == ("x", "edit-distance", "cosine", "jaccard", "length-ratio", "system-total")
    weights = tmp_path / "w.json"
    weights.write_text(json.dumps(dict.fromkeys(names, 0) | {"x": 1}))
    third = tmp_path / "third.jsonl"
    assert run(*rerank, "-o", third, "--weights", weights).code == 0
    assert written(third) == written(first)
    weights.write_text('{"x": 1}')
    refused(run(*rerank, "-o", third, "--replace", "--weights", weights), "lack the feature")
    weights.write_text('{"x": "1"}')
    refused(run(*rerank, "-o", third, "--replace", "--weights", weights), "must be a number")


def test_lists_may_number_items(study, succeeds, tmp_path):
    lists = tmp_path / "lists.txt"
    lists.write_text("".join(f"{number} ||| yes ||| LM= 1\n" for number in range(68)))
    output = tmp_path / "out.txt"
    succeeds("respond", "run", study, "--kind", "rerank", "--nbest", lists, "-o", output)
    assert output.read_text() == "yes\n" * 68


def test_the_first_outputs_of_a_study(study, succeeds):
    shutil.rmtree(study / "outputs")
    output = study / "outputs" / "random.jsonl"
    succeeds("respond", "run", study, "--kind", "random", "--logs", LOGS, "-o", output)
    assert len(written(output)) == 68


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "random"], "--kind random needs --logs"),
        (["--kind", "rerank"], "--kind rerank needs --nbest"),
        (["--kind", "program"], "--kind program needs --command"),
        (["--kind", "program", "--command", " "], "--command names no program"),
        (["--kind", "program", "--command", "'a"], "--command cannot be read: No closing quot"),
        (["--kind", "program", "--command", "a", "--keep", "3"], "--keep is of no use with"),
        (["--kind", "random", "--logs", LOGS, "--keep", "3"], "--keep is of no use with --kind"),
        (["--kind", "c-bm25", "--logs", LOGS, "--seed", "3"], "--seed is of no use with --kind"),
        (["--kind", "rerank", "--nbest", "x", "--logs", LOGS], "--logs is of no use with --kind"),
        (["--kind", "rerank", "--nbest", "x"], "x: "),
        (["--kind", "c-bm25", "--logs", "nowhere"], "nowhere: "),
        (["--kind", "c-bm25", "--logs", LOGS, "--tokenize", "latin"], "tokenize must be one of"),
        (["--kind", "bm25", "--logs", LOGS], "kind"),
    ],
)
def test_mistakes(options, message, study, run, tmp_path):
    result = run("respond", "run", study, "-o", tmp_path / "out.jsonl", *options)
    refused(result, message)
    assert sorted(tmp_path.iterdir()) == [study]


def test_nothing_that_is_read_is_overwritten(study, run, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"utterance": "projector", "response": "b"}\n')
    command = ("respond", "run", study, "--kind", "random", "--logs", log, "--replace", "-o")
    for path in (study / "items.jsonl", study / "ratings.csv", log):
        refused(run(*command, path), "is read here too")
    refused(run(*command, study), "is a folder")
    both = tmp_path / "x.jsonl"
    same = ("respond", "run", study, "--kind", "c-bm25", "--logs", log, "-o", both)
    refused(run(*same, "--nbest-output", both), "is written here too")
    assert (study / "items.jsonl").read_bytes() == (EXAMPLES / "demo/items.jsonl").read_bytes()
