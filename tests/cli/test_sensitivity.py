"""`deltableu compare --sensitivity`."""

from __future__ import annotations

import pytest

CHOSEN = ("--metrics", "delta-bleu-2,bleu-2", "--systems", "human", "bland-neural", "random")


def test_what_flips_each_difference(succeeds, demo):
    records = succeeds("compare", demo, *CHOSEN, "--sensitivity", "--format", "json").json
    by_metric = {record["metric"]: record for record in records}
    for record in records:
        significant = {
            (pair["better"], pair["second"] if pair["better"] == pair["first"] else pair["first"])
            for pair in record["pairs"]
            if pair["significant"]
        }
        found = {(pair["better"], pair["worse"]) for pair in record["sensitivity"]["pairs"]}
        assert found == significant
    pairs = by_metric["delta-bleu-2"]["sensitivity"]["pairs"]
    weak = next(pair for pair in pairs if pair["worse"] == "random" and pair["better"] != "human")
    assert -0.5 < weak["shift"]["lost"]["size"] < 0.0
    assert all(pair["shift"] is None for pair in by_metric["bleu-2"]["sensitivity"]["pairs"])


def test_sentences_and_tables(succeeds, demo):
    chosen = ("--metrics", "delta-bleu", "--systems", "human", "random", "--sensitivity")
    out = succeeds("compare", demo, *chosen).out
    assert "human beats random unless all weights shift by -0." in out
    assert "the smallest change that flips each difference" in out
    assert max(len(line) for line in out.splitlines() if " beats " in line) <= 100


def test_nothing_else_changes(succeeds, demo):
    arguments = ("compare", demo, "--metrics", "bleu", "--systems", "human", "random")
    with_it = succeeds(*arguments, "--sensitivity", "--format", "json").json
    without = succeeds(*arguments, "--format", "json").json
    assert [{k: v for k, v in one.items() if k != "sensitivity"} for one in with_it] == without


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--systems", "human"), "at least two systems"),
        (("--metrics", "length"), "length uses no references"),
        (("--resample", "items,raters"), "--sensitivity is of no use with --resample"),
    ],
)
def test_bad_input(complains, demo, arguments, message):
    assert message in complains("compare", demo, "--sensitivity", *arguments)


def test_no_weights(complains, plain):
    said = complains(
        "compare",
        "sys.txt",
        "other.txt",
        "--sensitivity",
        "--metrics",
        "delta-bleu",
        "--refs",
        "r0.txt",
    )
    assert "needs a weight" in said


def test_ready_scores_have_no_references(complains, write):
    path = write("scores.csv", "system,item,score\nA,1,2\nA,2,3\nB,1,1\nB,2,1\n")
    assert "of no use with --scores" in complains("compare", "--scores", path, "--sensitivity")
