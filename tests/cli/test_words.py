"""Words as people write them: several metrics, their case, names that are nearly right."""

from __future__ import annotations

import json

import pytest


def metrics_of(result):
    return [one["metric"] for one in result.json]


ORDERS = [
    "--metrics bleu chrf sys.txt --refs r0.txt",
    "--metrics bleu chrf -- sys.txt --refs r0.txt",
    "--refs r0.txt --metrics bleu chrf -- sys.txt",
    "--refs r0.txt --metrics bleu chrf sys.txt",
    "sys.txt --refs r0.txt --metrics bleu chrf",
    "sys.txt --metrics bleu chrf --refs r0.txt",
    "sys.txt --metrics bleu,chrf --refs r0.txt",
    "sys.txt --metrics=bleu,chrf --refs r0.txt",
    "--metrics BLEU,ChrF sys.txt --refs r0.txt",
    "--metrics bleu, chrf sys.txt --refs r0.txt",
]


@pytest.mark.parametrize("words", ORDERS)
def test_metrics_in_any_order(plain, succeeds, words):
    result = succeeds("score", "--format", "json", *words.split())
    assert metrics_of(result) == ["bleu-4", "chrf"]
    assert {one["system"] for one in result.json} == {"sys"}


def test_a_study_may_follow_the_metrics(study, succeeds):
    found = succeeds("score", "--format", "json", "--metrics", "bleu", "TER", study.path)
    assert set(metrics_of(found)) == {"bleu-4", "ter"}
    assert succeeds("score", "--format", "json", "--metrics", "bleu", study.path).json


def test_a_folder_called_as_no_metric_is_a_study(study, succeeds, monkeypatch):
    # A slip of the pen, if it were no folder.
    monkeypatch.chdir(study.path.parent)
    study.path.rename("chrff")
    found = succeeds("score", "--format", "json", "--metrics", "bleu", "chrff")
    assert set(metrics_of(found)) == {"bleu-4"}


def test_a_file_may_be_called_as_an_option(plain, succeeds):
    (plain / "--refs").write_text((plain / "sys.txt").read_text())
    found = succeeds("score", "--format", "json", "--refs", "r0.txt", "--", "--refs")
    assert [one["system"] for one in found.json] == ["--refs"]


def test_metrics_of_a_table(write, succeeds):
    rows = [
        f"{system},{item},{score + item * 7 % 3}\n"
        for score, system in enumerate("AB")
        for item in range(6)
    ]
    path = write("t.csv", "model,seg,Comet\n" + "".join(rows))
    columns = "system=model,item=seg,metrics=Comet"
    arguments = ("--columns", columns, "--trials", 100, "--format", "json")
    found = succeeds("compare", "--scores", path, *arguments, "--metrics", "comet")
    assert [one["metric"] for one in found.json] == ["Comet"]


NEARLY = [
    ("--metrics chrff++", "unknown metric 'chrff++'", "chrf++"),
    ("--metrics bleu chrff", "unknown metric 'chrff'", "chrf"),
    ("--metrics bleu,terr", "unknown metric 'terr'", "ter"),
    ("--tokenize intel", "unknown tokenizer 'intel'", "intl"),
]


@pytest.mark.parametrize(("words", "said", "meant"), NEARLY)
def test_names_that_are_nearly_right(plain, complains, words, said, meant):
    message = complains("score", "sys.txt", "--refs", "r0.txt", *words.split())
    assert message.startswith(said)
    assert message.endswith(f"; did you mean {meant!r}?")


def test_systems_that_are_nearly_right(study, complains):
    message = complains("score", study.path, "--systems", "othr")
    assert message.endswith("there is no system 'othr'; it has other, sys; did you mean 'other'?")
    message = complains("compare", study.path, "--baseline", "syss")
    assert message.endswith("; did you mean 'sys'?")
    assert complains("compare", study.path, "--tests", "wilcox").endswith("'wilcoxon'?")


def test_commands_that_are_nearly_right(run, refusal):
    result = run("scroe", "--metrics", "bleu", "x")
    refusal(result)
    assert 'Did you mean "score"?' in result.err


def test_files_of_one_name_are_told_apart_by_their_folders(plain, succeeds, complains):
    for folder in ("a", "b"):
        (plain / folder).mkdir()
        (plain / folder / "out.txt").write_text((plain / "sys.txt").read_text())
    (plain / "out.jsonl").write_text(
        "".join(json.dumps({"id": str(n), "text": "x"}) + "\n" for n in (1, 2, 3))
    )
    names = ("a/out.txt", "b/out.txt", "out.jsonl", "other.txt")
    result = succeeds("score", *names, "--refs", "r0.txt", "--format", "json")
    assert [one["system"] for one in result.json] == ["a/out", "b/out", "out", "other"]
    assert "named twice" in complains("score", "a/out.txt", "./a/out.txt", "--refs", "r0.txt")
