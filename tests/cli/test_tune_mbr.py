"""deltableu tune mbr and tune audit: lists in, outputs out, and what is wrong with them."""

from __future__ import annotations

import json

import pytest

from deltableu.corpus import read_nbest
from deltableu.tune import MBRPlan, minimum_bayes_risk

MOSES = """\
0 ||| yes I do ||| LM= -1 TM= -2 -3 ||| -1.5
0 ||| yes I think so ||| LM= -2 TM= -2 -3 ||| -1.0
0 ||| I think so too ||| LM= -2 TM= -2 -4 ||| -2.5
1 ||| purple ||| LM= -3 TM= -1 -1 ||| -0.5
1 ||| no way ||| LM= -1 TM= -1 -1 ||| -3.5
"""


def texts_of(path):
    return tuple(json.loads(line)["text"] for line in path.read_text().splitlines())


@pytest.fixture
def lists(write):
    return write("lists.nbest", MOSES)


def test_the_choice_is_written_and_summed_up(succeeds, lists, tmp_path):
    output = tmp_path / "out.jsonl"
    result = succeeds("tune", "mbr", lists, "-o", output)
    assert texts_of(output) == ("yes I think so", "purple")
    first, *_ = result.out.splitlines()
    assert first.startswith(
        "sentence-bleu-4 chooses another text than the first candidate for 1 of 2 items."
    )


@pytest.mark.parametrize("utility", ["bleu", "chrf", "delta-bleu", "rouge-l", "TER", "bleu-2"])
def test_it_is_what_the_library_chooses(succeeds, lists, tmp_path, utility):
    output = tmp_path / "out.jsonl"
    options = ("--utility", utility, "--probabilities", "total", "--scale", 2)
    result = succeeds("tune", "mbr", lists, *options, "-o", output, "--format", "json").json
    found = minimum_bayes_risk(read_nbest(lists), utility, MBRPlan("total", 2.0))
    assert texts_of(output) == found.texts
    assert [one["candidate"] for one in result["choices"]] == (
        found.chosen - found.lists.bounds[:-1]
    ).tolist()
    assert result["utility"] == found.utility


def test_the_fast_way_says_how_often_it_agrees(succeeds, lists, tmp_path):
    options = ("--utility", "chrf", "--aggregate", "--compare-exact")
    result = succeeds("tune", "mbr", lists, *options, "-o", tmp_path / "out.txt")
    assert "Expected counts choose the same text as all pairs for 100.0% of items" in result.out


def test_numbers_become_ids_of_a_study(succeeds, study, make_item, lists, tmp_path):
    study.items(make_item("a", ("x", 1.0)), make_item("b", ("y", 1.0)))
    output = tmp_path / "out.jsonl"
    for given in (study.path, study.path / "items.jsonl"):
        succeeds("tune", "mbr", lists, "--study", given, "-o", output, "--replace")
        ids = [json.loads(line)["id"] for line in output.read_text().splitlines()]
        assert ids == ["a", "b"]


def test_streams(run):
    result = run("tune", "mbr", "-", "-o", "-", stdin=MOSES.encode())
    assert result.code == 0
    texts = [json.loads(line)["text"] for line in result.out.splitlines()]
    assert texts == ["yes I think so", "purple"]
    assert "sentence-bleu-4 chooses" in result.err


def test_one_stream_cannot_be_two_inputs(run, refusal, tmp_path):
    result = run("tune", "mbr", "-", "--study", "-", "-o", tmp_path / "o.jsonl", stdin=b"0 ||| a\n")
    refusal(result)
    assert "cannot both be standard input" in result.err


WRONG = [
    (["--utility", "blue"], "unknown metric 'blue'"),
    (["--utility", "bleu,chrf"], "--utility takes one metric"),
    (["--utility", "ibleu"], "needs the message"),
    (["--utility", "ter", "--aggregate"], "expected counts"),
    (["--probabilities", "score"], "there is no feature 'score'"),
    (["--scale", "2"], "--scale goes with --probabilities"),
    (["--probabilities", "LM", "--scale", "nan"], "finite number"),
    (["--compare-exact"], "--compare-exact goes with --aggregate"),
    (["--judge", "x.safetensors"], "--judge is of no use here"),
    (["--utility", "chrf", "--order", "2"], "order"),
]


@pytest.mark.parametrize(("options", "said"), WRONG, ids=lambda one: str(one)[:30])
def test_mistakes_are_one_sentence(run, refusal, lists, tmp_path, options, said):
    output = tmp_path / "out.jsonl"
    result = run("tune", "mbr", lists, "-o", output, *options)
    refusal(result)
    assert said in result.err
    assert not output.exists()


SAMPLES = ["yes I do", "yes I do", "no way", "yes I think so"]


@pytest.mark.parametrize("form", ["moses", "features", "jsonl", "empty features"])
def test_samples_need_no_features(succeeds, write, tmp_path, form):
    """Each is as probable as the others, and what is there twice counts twice."""
    if form == "moses":
        path = write("s.txt", "".join(f"0 ||| {text}\n" for text in SAMPLES))
    elif form == "features":
        path = write("s.txt", "".join(f"0 ||| {text} |||  ||| -1\n" for text in SAMPLES))
    else:
        more = {} if form == "jsonl" else {"features": {}}
        lines = [json.dumps({"id": "a", "text": text, **more}) + "\n" for text in SAMPLES]
        path = write("s.jsonl", "".join(lines))
    output = tmp_path / "out.jsonl"
    command = ("tune", "mbr", path, "-o", output, "--format", "json")
    (choice,) = succeeds(*command, "--utility", "chrf").json["choices"]
    assert (choice["text"], choice["probability"]) == ("yes I do", 0.5)


def test_samples_are_not_tuned_on(run, refusal, write, study, tmp_path):
    path = write("s.txt", "q1 ||| yes\nq1 ||| no\n")
    output = ("-o", tmp_path / "w.json")
    result = run("tune", "mert", path, "--study", study.path, *output)
    refusal(result)
    assert "must have 3 or 4 fields" in result.err


def test_empty_candidates(run, refusal, succeeds, write, tmp_path):
    path = write("s.txt", "0 ||| \n0 ||| yes\n0 ||| yes\n1 ||| \n")
    output = tmp_path / "out.jsonl"
    refusal(run("tune", "mbr", path, "-o", output))
    for utility in ("bleu", "chrf", "delta-bleu", "ter"):
        options = ("--allow-empty", "--replace", "--utility", utility)
        succeeds("tune", "mbr", path, "-o", output, *options)
        assert texts_of(output) == ("yes", "")


BAD = [
    ("0 ||| yes\n0 ||| no ||| LM= -1\n", "line 2, item '0', features: LM is here"),
    ("0 ||| no ||| LM= -1\n0 ||| yes\n", "line 2, item '0', features: LM is missing"),
    ("0\n", "must have 2 to 4 fields"),
    (MOSES.replace("0 ||| I think", "2 ||| I think"), "line 3"),
    (MOSES.replace("no way", ""), "line 5, item '1', text"),
    (MOSES.replace("-3.5", "much"), "line 5, item '1', total"),
    ("", "holds no candidates"),
]


@pytest.mark.parametrize(
    ("text", "said"), BAD, ids=["more", "less", "field", "order", "text", "total", "empty"]
)
def test_bad_lists_are_named(run, refusal, write, tmp_path, text, said):
    output = tmp_path / "out.jsonl"
    result = run("tune", "mbr", write("lists.nbest", text), "-o", output)
    refusal(result)
    assert "lists.nbest" in result.err
    assert said in result.err
    assert not output.exists()


def test_lists_without_totals_have_no_probabilities(run, refusal, write, tmp_path):
    path = write("lists.nbest", MOSES.replace(" ||| -", " @@ -").replace(" @@ -", "\n", 0))
    path.write_text("\n".join(line.rsplit(" ||| ", 1)[0] for line in MOSES.splitlines()))
    result = run("tune", "mbr", path, "--probabilities", "total", "-o", tmp_path / "o.jsonl")
    refusal(result)
    assert "have no totals" in result.err


def test_an_audit_says_the_verdict_first(succeeds, demo, tmp_path):
    options = ("--metrics", "bleu-2,delta-bleu", "--trials", 10)
    result = succeeds("tune", "audit", demo, *options)
    assert result.out.startswith("bleu-2 is gamed most easily: an attack that does not know")
    again = succeeds("tune", "audit", demo, *options)
    assert again.out == result.out
    found = succeeds("tune", "audit", demo, *options, "--format", "json", "--seed", 5).json
    assert [one["metric"] for one in found["metrics"]] == ["bleu-2", "delta-bleu-2"]
    assert found["seed"] == 5
    tidy = succeeds("tune", "audit", demo, *options, "--format", "tsv").out.splitlines()
    assert tidy[0].split("\t")[:4] == ["metric", "kind", "output", "score"]


def test_an_audit_needs_a_study(run, refusal, study, make_item, tmp_path):
    study.items(*(make_item(f"q{number}", ("x", 1.0)) for number in (1, 2, 3)))
    result = run("tune", "audit", study.path, "--metrics", "chrf")
    refusal(result)
    assert "an audit needs 4 items" in result.err
    result = run("tune", "audit", tmp_path / "nowhere")
    refusal(result)
