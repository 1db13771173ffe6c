"""`deltableu score --refs ...`: parallel text files, as sacreBLEU's users have them."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

import deltableu

SYS = ["the cat was on the mat", "yes", "no clue"]
OTHER = ["a dog", "of course", "no idea"]
KEYS = {"system", "metric", "score", "precisions", "brevity_penalty", "signature", "interval"}


def assert_same(record, score):
    """A JSON record holds the very numbers of the Python function's result."""
    assert record["metric"] == score.name
    assert record["score"] == score.score
    assert record["precisions"] == list(score.precisions)
    assert record["numerators"] == list(score.numerators)
    assert record["denominators"] == list(score.denominators)
    assert record["brevity_penalty"] == score.brevity_penalty
    assert record["hypothesis_length"] == score.hypothesis_length
    assert record["reference_length"] == score.reference_length
    assert record["interval"] is None


def without(signature, *keys):
    return [part for part in signature.split("|") if part.split(":")[0] not in keys]


DOCUMENTED = ["score", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv"]
DOCUMENTED += ["--metrics", "delta-bleu,bleu", "--order", "2", "--tokenize", "none"]
DOCUMENTED += ["--format", "json", "sys.txt"]


def test_the_documented_command_prints_what_python_computes(succeeds, plain, references, weights):
    records = succeeds(*DOCUMENTED).json
    assert [(r["system"], r["metric"]) for r in records] == [
        ("sys", "delta-bleu-2"),
        ("sys", "bleu-2"),
    ]
    assert all(record.keys() >= KEYS for record in records)
    delta = deltableu.delta_bleu(SYS, references, weights, order=2, tokenize="none")
    plain_bleu = deltableu.bleu(SYS, references, order=2, tokenize="none")
    assert 0 < delta.score < plain_bleu.score < 100
    assert_same(records[0], delta)
    assert_same(records[1], plain_bleu)
    assert records[1]["signature"] == str(plain_bleu.signature)
    assert without(records[0]["signature"], "weights") == without(str(delta.signature), "weights")
    assert "weights:w.tsv" in records[0]["signature"].split("|")


def test_the_documented_command_runs_as_a_process(plain, process, succeeds):
    result = process(*DOCUMENTED)
    assert (result.code, result.err) == (0, "")
    assert result.out == succeeds(*DOCUMENTED).out


def test_python_dash_m_is_the_same_command(plain, succeeds):
    module = [sys.executable, "-m", "deltableu"]
    done = subprocess.run([*module, *DOCUMENTED], capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", succeeds(*DOCUMENTED).out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["sys.txt", "other.txt", "--refs", "r0.txt", "r1.txt"],
        ["--refs", "r0.txt", "r1.txt", "--", "sys.txt", "other.txt"],
        ["sys.txt", "--refs", "r0.txt", "r1.txt", "--", "other.txt"],
        ["--refs", "r0.txt", "--refs", "r1.txt", "--order", "4", "sys.txt", "other.txt"],
        ["--refs", "r0.txt", "r1.txt", "--order=4", "sys.txt", "other.txt"],
        ["sys.txt", "other.txt", "--refs=r0.txt", "--refs=r1.txt"],
    ],
    ids=["before", "double dash", "both sides", "repeated", "after an option", "equals signs"],
)
def test_systems_and_references_are_told_apart(arguments, succeeds, plain, references):
    records = succeeds("score", "--format", "json", *arguments).json
    assert [record["system"] for record in records] == ["sys", "other"]
    assert_same(records[0], deltableu.bleu(SYS, references))
    assert_same(records[1], deltableu.bleu(OTHER, references))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--refs", "r0.txt", "r1.txt", "--order", "2", "-"],
        ["--refs", "r0.txt", "r1.txt", "--order", "2", "--", "-"],
        ["-", "--refs", "r0.txt", "r1.txt", "--order", "2"],
    ],
    ids=["after an option", "double dash", "before"],
)
def test_a_dash_is_standard_input(arguments, succeeds, plain, references):
    stdin = (plain / "sys.txt").read_bytes()
    (record,) = succeeds("score", "--format", "json", *arguments, stdin=stdin).json
    assert record["system"] == "stdin"
    assert_same(record, deltableu.bleu(SYS, references, order=2))


def test_references_can_come_from_standard_input(succeeds, plain, references):
    stdin = (plain / "r1.txt").read_bytes()
    arguments = ["score", "sys.txt", "--format", "json", "--refs", "r0.txt", "-"]
    (record,) = succeeds(*arguments, stdin=stdin).json
    assert_same(record, deltableu.bleu(SYS, references))


def test_a_pipe_is_read_by_a_real_process(process, plain, references):
    stdin = (plain / "sys.txt").read_bytes()
    result = process("score", "--format", "json", "--refs", "r0.txt", "--", "-", stdin=stdin)
    assert (result.code, result.err) == (0, "")
    assert_same(result.json[0], deltableu.bleu(SYS, [row[:1] for row in references]))


def test_an_empty_reference_line_is_no_reference(succeeds, plain, references, weights):
    (record,) = succeeds("score", "sys.txt", "--format", "json", "--refs", "r0.txt", "r1.txt").json
    assert "refs:1-2" in record["signature"].split("|")
    wrong = [[*row, ""] if len(row) == 1 else row for row in references]
    as_text = deltableu.bleu(SYS, wrong)
    assert record["reference_length"] == 6 + 4 + 2
    assert as_text.reference_length != record["reference_length"]


@pytest.mark.parametrize("cell", ["", "0.9", "nan"])
def test_the_weight_of_an_absent_reference_is_ignored(cell, succeeds, plain, references, weights):
    (plain / "w.tsv").write_text(f"1\t0.5\n0.8\t{cell}\n0.6\t-0.4\n")
    record = succeeds(*DOCUMENTED).json[0]
    expected = deltableu.delta_bleu(SYS, references, weights, tokenize="none")
    assert_same(record, expected)


def test_packed_files_are_read_like_the_plain_ones(succeeds, plain):
    expected = succeeds(*DOCUMENTED).json
    for name in ("r0.txt", "r1.txt", "w.tsv", "sys.txt"):
        (plain / f"{name}.gz").write_bytes(gzip.compress((plain / name).read_bytes()))
    packed = [f"{a}.gz" if a.endswith((".txt", ".tsv")) else a for a in DOCUMENTED]
    records = succeeds(*packed).json
    assert records[0].pop("signature") == expected[0].pop("signature").replace("w.tsv", "w.tsv.gz")
    assert records == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.removesuffix("\n"),
    ],
    ids=["CRLF", "byte order mark", "no last newline"],
)
def test_line_ends_and_marks_of_other_systems_change_nothing(change, succeeds, plain):
    expected = succeeds(*DOCUMENTED).json
    for name in ("r0.txt", "r1.txt", "w.tsv", "sys.txt"):
        path = plain / name
        path.write_bytes(change(path.read_text()).encode())
    assert succeeds(*DOCUMENTED).json == expected


def test_systems_of_the_same_name_are_both_scored(succeeds, plain):
    (plain / "b").mkdir()
    (plain / "b" / "sys.txt").write_text((plain / "other.txt").read_text())
    arguments = ["sys.txt", "b/sys.txt", "--format", "json", "--refs", "r0.txt"]
    records = succeeds("score", *arguments).json
    assert [record["system"] for record in records] == ["sys", "b/sys"]
    assert records[0]["score"] != records[1]["score"]


@pytest.mark.parametrize("metric", ["bleu", "delta-bleu", "sentence-bleu"])
def test_an_empty_hypothesis_scores_nothing_and_its_references_still_count(metric, succeeds, plain):
    arguments = ["--metrics", metric, "--order", "1", "--segments", "--format", "json"]
    arguments += ["--tokenize", "none", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv"]
    (full,) = succeeds("score", "sys.txt", *arguments).json
    (plain / "gap.txt").write_text("the cat was on the mat\n\nno clue\n")
    (record,) = succeeds("score", "gap.txt", *arguments).json
    assert record["segment_scores"]["2"] == 0
    assert record["segment_scores"]["1"] == full["segment_scores"]["1"] > 0
    assert record["segments"] == 3
    assert record["hypothesis_length"] == full["hypothesis_length"] - 1 == 8
    assert record["reference_length"] == full["reference_length"] == 6 + 4 + 2
    assert record["brevity_penalty"] < full["brevity_penalty"]
    assert record["score"] < full["score"]


def test_a_system_that_says_nothing_at_all_scores_zero(run, plain):
    """Whose spread says nothing about other items: it has no interval, and that is said."""
    (plain / "mute.txt").write_text("\n\n\n")
    arguments = ["--format", "json", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv", "--ci"]
    result = run("score", "mute.txt", *arguments)
    assert result.code == 0
    assert result.err == (
        "deltableu: no interval for delta-bleu-2 of mute, bleu-2 of mute: the score is clamped, "
        "because the matches of some order sum to nothing or less\n"
    )
    for record in result.json:
        assert (record["score"], record["hypothesis_length"]) == (0, 0)
        assert record["reference_length"] == 6 + 4 + 2
        assert record["interval"] is None


def test_without_weights_only_bleu_is_computed(succeeds, plain):
    records = succeeds("score", "sys.txt", "--format", "json", "--refs", "r0.txt").json
    assert [record["metric"] for record in records] == ["bleu-4"]


def test_with_weights_delta_bleu_comes_first(succeeds, plain):
    arguments = ["--format", "json", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv"]
    records = succeeds("score", "sys.txt", *arguments).json
    assert [record["metric"] for record in records] == ["delta-bleu-2", "bleu-2"]
