"""Input that cannot be used: exit code 2, one sentence that says where, and no result.

`complains` (see conftest) runs `score` with and without an output file, and checks that there is
exactly one line on standard error, nothing on standard output, and no file.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BAD_BYTES = b"the cat\nyes\nno \xff clue\n"
REFS = ["--refs", "r0.txt", "r1.txt"]
WEIGHTED = [*REFS, "--weights", "w.tsv"]


# --- files that are not there, or not what they should be ---


@pytest.mark.parametrize(
    "arguments",
    [
        ["gone.txt", *REFS],
        ["sys.txt", "--refs", "r0.txt", "gone.txt"],
        ["sys.txt", *REFS, "--weights", "gone.txt"],
        ["gone.txt"],
        ["sys.txt", "gone.txt", *REFS],
    ],
    ids=["system", "reference", "weights", "study", "second system"],
)
def test_a_file_that_does_not_exist(arguments, complains, plain):
    message = complains("score", *arguments)
    assert message.startswith("gone.txt: there is no such ")


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_study_that_does_not_exist(command, complains, tmp_path):
    message = complains(command, tmp_path / "gone")
    assert message.startswith(f"{tmp_path}/gone: there is no such ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["folder", *REFS],
        ["sys.txt", "--refs", "r0.txt", "folder"],
        ["sys.txt", *REFS, "--weights", "folder"],
    ],
    ids=["system", "reference", "weights"],
)
def test_a_folder_instead_of_a_file(arguments, complains, plain):
    (plain / "folder").mkdir()
    assert complains("score", *arguments) == "folder: is a folder, but a file is needed here"


def test_a_folder_instead_of_the_items(complains, study):
    (study.path / "items.jsonl").unlink()
    (study.path / "items.jsonl").mkdir()
    message = complains("score", study.path)
    assert message == f"{study.path}/items.jsonl: is a folder, but a file is needed here"


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_file_instead_of_a_study(command, complains, plain):
    message = complains(command, "sys.txt")
    assert message.startswith("sys.txt: ")
    assert "study" in message
    assert "folder" in message


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_folder_that_is_no_study(command, complains, tmp_path):
    (tmp_path / "empty").mkdir()
    message = complains(command, tmp_path / "empty")
    assert message.startswith(f"{tmp_path}/empty: is no study: it holds no items.jsonl")


def test_a_file_instead_of_the_outputs_folder(complains, study):
    for path in (study.path / "outputs").iterdir():
        path.unlink()
    (study.path / "outputs").rmdir()
    message = complains("score", study.file("outputs", "x\n").path)
    assert message == f"{study.path}/outputs: must be a folder with one file per system"


@pytest.mark.parametrize("command", ["score", "report"])
@pytest.mark.parametrize("empty_folder", [True, False])
def test_a_study_without_outputs(empty_folder, command, complains, study):
    for path in (study.path / "outputs").iterdir():
        path.unlink()
    if not empty_folder:
        (study.path / "outputs").rmdir()
    message = complains(command, study.path)
    assert message == f"{study.path}: the study has no system outputs; put them in outputs/"


@pytest.mark.parametrize("name", ["r0.txt", "w.tsv", "sys.txt"])
def test_a_file_that_may_not_be_read(name, complains, plain):
    (plain / name).chmod(0)
    if os.access(plain / name, os.R_OK):
        pytest.skip("this user may read everything")
    message = complains("score", "sys.txt", *WEIGHTED)
    assert message == f"{name}: may not be read by this user: change its permissions"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize("name", ["r0.txt", "w.tsv", "sys.txt"])
def test_a_file_that_nobody_may_read(name, plain):
    """As root, the same in a process that has given up its rights."""
    (plain / name).chmod(0)
    script = (
        "import os, sys; from deltableu.cli.app import main; import deltableu.cli.score;"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534); main(sys.argv[1:])"
    )
    arguments = ["score", "sys.txt", *WEIGHTED]
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=plain, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    wanted = f"deltableu: {name}: may not be read by this user: change its permissions\n"
    assert done.stderr == wanted


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b"a\nb\nc\n", mtime=0)[:-9]], ids=["other", "cut"]
)
def test_a_packed_file_that_is_not_whole(content, complains, plain):
    (plain / "sys.txt.gz").write_bytes(content)
    message = complains("score", "sys.txt.gz", *REFS)
    assert message == "sys.txt.gz: is not a whole gzip file: copy or compress it again"


# --- encoding and syntax ---


@pytest.mark.parametrize("name", ["r0.txt", "r1.txt", "w.tsv", "sys.txt"])
def test_text_that_is_not_utf_8(name, complains, plain):
    (plain / name).write_bytes(BAD_BYTES)
    message = complains("score", "sys.txt", *WEIGHTED)
    assert message.startswith(f"{name}, line 3: is not valid UTF-8 (byte 0xff at position 4)")


def test_standard_input_that_is_not_utf_8(complains, plain):
    message = complains("score", *REFS, "--", "-", stdin=BAD_BYTES)
    assert message.startswith("standard input, line 3: is not valid UTF-8")


def test_items_that_are_not_utf_8(complains, study):
    lines = (study.path / "items.jsonl").read_bytes().replace(b"yes , of", b"yes \xc3( of")
    message = complains("score", study.file("items.jsonl", lines).path)
    assert message.startswith(f"{study.path}/items.jsonl, line 2: is not valid UTF-8 (byte 0xc3")


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("broken", ['{"id": "q1", ', "[1, 2]", "nothing"])
def test_broken_json_in_the_items(number, broken, complains, study):
    lines = (study.path / "items.jsonl").read_text().splitlines()
    lines[number - 1] = broken
    message = complains("score", study.lines(*lines).path)
    assert message.startswith(f"{study.path}/items.jsonl, line {number}: ")
    assert "JSON" in message


def test_broken_json_in_the_outputs(complains, study):
    study.file("outputs/sys.jsonl", '{"id": "q1", "text": "a"}\n{"id": "q2", "text": "b}\n')
    message = complains("score", study.path)
    assert message.startswith(f"{study.path}/outputs/sys.jsonl, line 2: is not valid JSON")


def test_broken_systems_file(complains, study):
    study.file("systems.toml", 'note = "x"\n[systems.sys\n')
    message = complains("score", study.path)
    assert message.startswith(f"{study.path}/systems.toml, line 2: is not valid TOML")


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("1" * 5000, "is not valid TOML: exceeds the limit (4300 digits) for integer string"),
        ("[" * 5000 + "]" * 5000, "is not usable TOML: it is nested too deeply"),
        ("1" * 400 + ".0", "systems.sys.type: must be a string"),
    ],
)
def test_a_value_of_toml_that_nobody_means(value, wrong, complains, study):
    study.file("systems.toml", f"[systems.sys]\ntype = {value}\n")
    assert wrong in complains("score", study.path)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"references": ["x"]}, "id"),
        ({"id": "", "references": ["x"]}, "id"),
        ({"id": "q2"}, "references"),
        ({"id": "q2", "references": "x"}, "references"),
        ({"id": "q2", "references": [{"weight": 1}]}, "references[0].text"),
        ({"id": "q2", "references": ["x", 5]}, "references[1]"),
        ({"id": "q2", "references": [{"text": "x", "origin": "?"}]}, "references[0].origin"),
        ({"id": "q2", "references": ["x"], "message": 3}, "message"),
        ({"id": "q2", "references": ["x"], "context": "hello"}, "context"),
        ({"id": "q2", "references": ["x"], "context": ["a", 1]}, "context[1]"),
        (
            {"id": "q2", "references": [{"id": "r", "text": "x"}, {"id": "r", "text": "y"}]},
            "references[1].id",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_of_an_item_that_is_wrong(record, field, complains, study):
    lines = (study.path / "items.jsonl").read_text().splitlines()
    study.lines(lines[0], json.dumps(record), lines[2])
    place, _, reason = complains("score", study.path).partition(": ")
    named = ", item 'q2'" if record.get("id") else ""
    assert place == f"{study.path}/items.jsonl, line 2{named}, {field}"
    assert reason


# --- items and outputs that do not belong together ---


def test_an_item_id_used_twice(complains, study, make_item):
    study.items(make_item("q1", ("a", 1)), make_item("q2", ("b", 1)), make_item("q1", ("c", 1)))
    message = complains("score", study.path)
    assert message == (
        f"{study.path}/items.jsonl, line 3, item 'q1', id: the id was used before, on line 1"
    )


def test_an_output_for_an_item_that_does_not_exist(complains, study):
    study.outputs("sys", [("q1", "a"), ("q9", "b"), ("q3", "c")])
    message = complains("score", study.path)
    assert message == (
        f"{study.path}/outputs/sys.jsonl, line 2, item 'q9', id: there is no item with this id"
    )


def test_two_outputs_for_one_item(complains, study):
    study.outputs("sys", [("q1", "a"), ("q2", "b"), ("q1", "c")])
    message = complains("score", study.path)
    assert message.startswith(f"{study.path}/outputs/sys.jsonl, line 3, item 'q1', id: ")


def test_an_item_without_output(complains, study):
    study.outputs("sys", [("q3", "c"), ("q1", "a")])
    message = complains("score", study.path)
    assert message == f"{study.path}/outputs/sys.jsonl: 1 item has no output: 'q2'"


@pytest.mark.parametrize("text", ["a\nb\n", "a\nb\nc\nd\n", ""])
def test_outputs_with_too_few_or_too_many_lines(text, complains, study):
    message = complains("score", study.file("outputs/lines.txt", text).path)
    count = text.count("\n")
    assert message.startswith(f"{study.path}/outputs/lines.txt: has {count} lines, but there are 3")


def test_an_empty_outputs_file(complains, study):
    message = complains("score", study.file("outputs/sys.jsonl", "").path)
    assert message.startswith(f"{study.path}/outputs/sys.jsonl: 3 items have no output: 'q1', 'q2'")


@pytest.mark.parametrize("text", ["a\nb\n", "a\nb\nc\nd\n", ""])
def test_a_system_file_with_too_few_or_too_many_lines(text, complains, plain):
    (plain / "sys.txt").write_text(text)
    message = complains("score", "other.txt", "sys.txt", *REFS)
    assert message.startswith(f"sys.txt: has {text.count(chr(10))} lines, but there are 3 items")


@pytest.mark.parametrize("name", ["r1.txt", "w.tsv"])
@pytest.mark.parametrize("text", ["1\t1\n" * 2, "1\t1\n" * 4, ""])
def test_reference_and_weight_files_of_different_length(name, text, complains, plain):
    (plain / name).write_text(text)
    message = complains("score", "sys.txt", *WEIGHTED)
    count = text.count("\n")
    assert message.startswith(f"{name}: has {count} lines, but r0.txt has 3: ")


# --- weights ---


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("1.5", "must lie in [-1, 1], got 1.5"),
        ("-1.0001", "must lie in [-1, 1], got -1.0001"),
        ("1e9", "must lie in [-1, 1], got "),
        ("nan", "must be a number, got 'nan'"),
        ("inf", "must be a number, got 'inf'"),
        ("good", "must be a number, got 'good'"),
        ("0,5", "must be a number, got '0,5'"),
        ("", "the weight is missing, but r0.txt has a reference on this line"),
    ],
)
def test_a_weight_that_is_none(cell, reason, complains, plain):
    (plain / "w.tsv").write_text(f"1\t0.5\n{cell}\t\n0.6\t-0.4\n")
    message = complains("score", "sys.txt", *WEIGHTED)
    assert message.startswith(f"w.tsv, line 2, column 1: {reason}")


@pytest.mark.parametrize("line", ["1", "1\t0\t1", "1 0.5", ""])
def test_a_wrong_number_of_weights(line, complains, plain):
    (plain / "w.tsv").write_text(f"{line}\n0.8\t\n0.6\t-0.4\n")
    message = complains("score", "sys.txt", *WEIGHTED)
    wanted = "w.tsv, line 1: the line must hold 2 tab-separated weights, one a reference file, got "
    assert message == wanted + str(len(line.split("\t")))


@pytest.mark.parametrize(
    ("weight", "reason"),
    [
        ("1.5", "must lie in [-1, 1], got 1.5"),
        ("-2", "must lie in [-1, 1], got -2"),
        ('"high"', "must be a number, got 'high'"),
        ("true", "must be a number, got True"),
        ("[1]", "must be a number, got [1]"),
    ],
)
def test_a_weight_in_the_items_that_is_none(weight, reason, complains, study):
    text = (study.path / "items.jsonl").read_text().replace('"weight": -0.4', f'"weight": {weight}')
    message = complains("score", study.file("items.jsonl", text).path)
    assert message == (
        f"{study.path}/items.jsonl, line 3, item 'q3', references[1].weight: {reason}"
    )


@pytest.mark.parametrize("weight", ["NaN", "Infinity", "-Infinity"])
def test_a_weight_in_the_items_that_json_does_not_know(weight, complains, study):
    text = (study.path / "items.jsonl").read_text().replace('"weight": -0.4', f'"weight": {weight}')
    message = complains("score", study.file("items.jsonl", text).path)
    assert message.startswith(f"{study.path}/items.jsonl, line 3: is not usable JSON: {weight} ")


def test_an_unrated_reference_under_delta_bleu(complains, study, make_item):
    study.items(
        make_item("q1", ("a", 1)), make_item("q2", ("b", 1), ("c", None)), make_item("q3", ("d", 1))
    )
    message = complains("score", study.path)
    assert message.startswith("item 'q2': reference 1 has no weight yet")


def test_an_unrated_reference_under_a_threshold(complains, study, make_item):
    study.items(
        make_item("q1", ("a", 1)), make_item("q2", ("b", 1), ("c", None)), make_item("q3", ("d", 1))
    )
    message = complains("score", study.path, "--metrics", "bleu", "--select", "w>=0.5")
    assert message.startswith("item 'q2': ")
    assert "not rated" in message


def test_delta_bleu_of_a_study_that_nobody_rated(complains, study, make_item):
    study.items(*(make_item(id, ("yes", None)) for id in ("q1", "q2", "q3")))
    message = complains("score", study.path, "--metrics", "delta-bleu")
    assert message.startswith("delta-bleu-2 needs a weight for every reference, and none")


@pytest.mark.parametrize("weight", [0, -0.5])
def test_an_item_without_a_positive_reference(weight, complains, study, make_item):
    study.items(
        make_item("q1", ("a", 1)), make_item("q2", ("b", weight)), make_item("q3", ("d", 1))
    )
    message = complains("score", study.path)
    assert message.startswith("1 of 3 items ")
    assert "no reference with a positive weight, which delta-BLEU needs: q2;" in message
    assert "--no-positive skip" in message


def test_an_item_without_a_positive_reference_in_files(complains, plain):
    (plain / "w.tsv").write_text("1\t0.5\n0.8\t\n0\t-0.4\n")
    message = complains("score", "sys.txt", *WEIGHTED)
    assert "delta-BLEU needs: 3;" in message


def test_an_item_without_any_but_zero_weights_under_the_signed_mean(complains, study, make_item):
    study.items(make_item("q1", ("a", 1)), make_item("q2", ("b", 0)), make_item("q3", ("d", -1)))
    message = complains("score", study.path, "--combine", "arithmetic", "--metrics", "delta-bleu")
    assert "no reference with a non-zero weight, which delta-BLEU needs: q2;" in message


def test_no_item_with_a_positive_reference_is_left_to_skip_to(complains, study, make_item):
    study.items(*(make_item(id, ("yes", -1)) for id in ("q1", "q2", "q3")))
    message = complains("score", study.path, "--no-positive", "skip")
    assert message == "no item is left: none has a positively weighted reference"


# --- nothing to score ---


def test_an_item_without_references(complains, study):
    lines = (study.path / "items.jsonl").read_text().splitlines()
    study.lines(lines[0], '{"id": "q2", "references": []}', lines[2])
    message = complains("score", study.path)
    assert message == "item 'q2': has no references"


def test_a_line_without_references_in_any_file(complains, plain):
    (plain / "r0.txt").write_text("a\n \nc\n")
    message = complains("score", "sys.txt", *REFS)
    assert message.startswith("r0.txt, line 2: no reference file has a text on this line")


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_study_without_items(command, complains, study):
    message = complains(command, study.file("items.jsonl", "").path)
    assert message.startswith(f"{study.path}/items.jsonl: holds no items")


def test_empty_reference_files(complains, plain):
    for name in ("r0.txt", "r1.txt", "sys.txt"):
        (plain / name).write_text("")
    message = complains("score", "sys.txt", *REFS)
    assert "r0.txt" in message
    assert "no items" in message or "nothing to score" in message or "is empty" in message


def test_an_empty_pipe(complains, plain):
    message = complains("score", *REFS, "--", "-")
    assert message.startswith("standard input: has 0 lines, but there are 3 items")


# --- options ---


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (
            ["--metrics", "blue"],
            "unknown metric 'blue' (deltableu metrics lists all)",
        ),
        (["--metrics", "bleu,blue"], "unknown metric 'blue'"),
        (["--metrics", ""], "no metric was named; choose from bleu, delta-bleu"),
        (["--metrics", " , "], "no metric was named"),
        (["--tokenize", "klingon"], "unknown tokenizer 'klingon'; choose one of none, 13a"),
        (["--tokenize", ""], "unknown tokenizer ''"),
        (["--bogus"], "--bogus"),
        (["--bogus", "3"], "--bogus"),
        (["-x"], "-x"),
        (["--format", "xml"], "--format"),
        (["--variant", "galley"], "--variant"),
        (["--smooth", "much"], "--smooth"),
        (
            ["--smooth", "floor", "--smooth-value", "-1"],
            "smooth_value must be a number of at least 0",
        ),
        (["--smooth", "floor", "--smooth-value", "nan"], "smooth_value must"),
        (["--combine", "harmonic"], "--combine"),
        (["--brevity", "none"], "--brevity"),
        (["--method", "bleu+2", "--metrics", "sentence-bleu"], "--method"),
        (["--normalize", "NFX"], "--normalize"),
        (["--no-positive", "maybe"], "--no-positive"),
        (["--interval", "magic"], "--interval"),
        (["--method", "moses"], "delta-bleu and bleu have no setting 'method'"),
        (["--variant", "tsuta2020", "--metrics", "bleu"], "no setting 'variant'"),
        (["--select", "best"], "must be single, all or a threshold such as w>=0.6, got 'best'"),
        (["--select", ""], "must be single, all or a threshold"),
        (["--select", "w>0.6"], "must be single, all or a threshold"),
        (["--select", "w>=x"], "must be single, all or a threshold"),
        (["--select", "w>=1.5"], "the threshold must lie in [-1, 1], got 1.5"),
        (["--order", "0"], "order must be a whole number from 1"),
        (["--order", "-1"], "order must be a whole number from 1"),
        (["--order", "65"], "order must be a whole number from 1 to 64"),
        (["--order", "two"], "--order"),
        (["--order", "1.5"], "--order"),
        (["--threads", "0"], "--threads must be at least 1, got 0"),
        (["--threads", "-2"], "--threads must be at least 1, got -2"),
        (["--threads", "many"], "--threads"),
        (["--ci", "--confidence", "0"], "confidence must lie between 0 and 1, got 0"),
        (["--ci", "--confidence", "1"], "confidence must lie between 0 and 1, got 1"),
        (["--ci", "--confidence", "95"], "confidence must lie between 0 and 1, got 95"),
        (["--ci", "--confidence", "nan"], "confidence must lie between 0 and 1, got nan"),
        (["--ci", "--confidence", "high"], "--confidence"),
        (["--ci", "--resamples", "0"], "resamples must be at least 1, got 0"),
        (["--ci", "--resamples", "-5"], "resamples must be at least 1, got -5"),
        (["--ci", "--seed", "-1"], "seed"),
        (["--ci", "--seed", "x"], "--seed"),
        (["--digits", "-1"], "digits"),
        (["--digits", "x"], "--digits"),
        (["--systems", "sys", "absent"], "there is no system 'absent'; it has other, sys"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_that_cannot_be_used(options, named, complains, study):
    assert named in complains("score", study.path, *options)


@pytest.mark.parametrize("options", [["--confidence", "95"], ["--resamples", "0"]], ids=" ".join)
def test_a_bad_interval_option_is_refused_even_where_no_interval_is_asked_for(
    options, complains, study
):
    assert options[0].removeprefix("--") in complains("score", study.path, *options)


def test_a_threshold_without_weights(complains, plain):
    message = complains("score", "sys.txt", *REFS, "--select", "w>=0.6")
    assert "a threshold needs weights, but no reference is rated" in message


def test_delta_bleu_without_weights(complains, plain):
    message = complains("score", "sys.txt", *REFS, "--metrics", "delta-bleu")
    assert message.startswith("delta-bleu-2 needs a weight for every reference, and none")


def test_a_study_together_with_references(complains, study, plain):
    message = complains("score", study.path, *REFS)
    assert message.startswith(f"{study.path}: ")
    assert "folder" in message


@pytest.mark.parametrize("with_study", [True, False])
def test_weights_without_references(with_study, complains, study, plain):
    first = study.path if with_study else "sys.txt"
    message = complains("score", first, "--weights", "w.tsv")
    assert message == "--weights goes with --refs; a study has its weights in its items"


def test_systems_by_name_together_with_references(complains, plain):
    message = complains("score", "sys.txt", *REFS, "--systems", "sys")
    assert message.startswith("--systems chooses from a study")


@pytest.mark.parametrize("arguments", [REFS, ["--refs", "r0.txt", "r1.txt", "sys.txt"], WEIGHTED])
def test_references_that_swallowed_the_system(arguments, complains, plain):
    message = complains("score", *arguments)
    assert message.startswith("no system was given: everything after --refs was read as references")
    assert "--" in message.partition(";")[2]


def test_references_without_a_file(complains, plain):
    assert "reference file" in complains("score", "sys.txt", "--refs")


def test_an_output_called_none_is_a_file(succeeds, study, tmp_path, monkeypatch):
    """Nothing but leaving the option out means that there is no file."""
    monkeypatch.chdir(tmp_path)
    assert succeeds("score", study.path, "--format", "json", "-o", "none").out == ""
    assert len(json.loads(Path("none").read_text())) == 4


def test_neither_study_nor_files(complains, plain):
    assert complains("score") == "give a study folder, or system files with --refs"


def test_two_studies(complains, study, demo):
    message = complains("score", study.path, demo)
    assert "give one study folder" in message


def test_system_files_without_references(complains, plain):
    message = complains("score", "sys.txt", "other.txt")
    assert message.startswith(
        "sys.txt: give one study folder, or system files together with --refs"
    )


@pytest.mark.parametrize(
    "arguments",
    [["--refs", "r0.txt", "-", "--", "-"], ["--refs", "r0.txt", "--", "-", "-"]],
    ids=["reference and system", "two systems"],
)
def test_standard_input_cannot_be_read_twice(arguments, complains, plain):
    message = complains("score", *arguments, stdin=b"a\nb\nc\n")
    assert message == "standard input (-) can be read only once"


def test_weights_and_system_cannot_both_be_standard_input(complains, plain):
    arguments = ["--refs", "r0.txt", "--weights", "-", "--", "-"]
    message = complains("score", *arguments, stdin=b"1\n1\n1\n")
    assert message == "standard input (-) can be read only once"


# --- where results should go ---


@pytest.mark.parametrize("command", ["score", "report"])
def test_an_output_in_a_folder_that_does_not_exist(command, run, study, refusal, tmp_path):
    path = tmp_path / "absent" / "result"
    result = run(command, study.path, "-o", path)
    refusal(result)
    assert result.err.startswith(f"deltableu: {path}: cannot be written, because its folder does")
    assert not path.parent.exists()


@pytest.mark.parametrize("command", ["score", "report"])
def test_an_output_that_is_a_folder(command, run, study, refusal, tmp_path):
    path = tmp_path / "results"
    path.mkdir()
    result = run(command, study.path, "-o", path)
    refusal(result)
    assert result.err == f"deltableu: {path}: is a folder, but a file is to be written\n"
    assert list(path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", ["score", "report"])
def test_a_full_disk_is_said_in_one_sentence(command, run, study):
    result = run(command, study.path, "-o", "/dev/full")
    assert result.code in (1, 2)
    assert result.out == ""
    assert result.err.startswith("deltableu: /dev/full")
    assert result.err.count("\n") == 1


# --- the same from a shell: nothing but the sentence, whatever Python would add ---


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], None),
        (["--bogus"], "--bogus"),
        (["scroe"], "scroe"),
        (["check"], "STUDY"),
        (["score", "gone.txt", *REFS], "gone.txt"),
        (["score", "bad.txt", *REFS], "bad.txt, line 3"),
        (["score", "sys.txt", *WEIGHTED, "-o", "absent/result"], "absent/result"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_process_ends_with_2_and_one_sentence(arguments, named, process, refusal, plain):
    (plain / "bad.txt").write_bytes(BAD_BYTES)
    before = sorted(plain.iterdir())
    result = process(*arguments)
    if named is None:
        assert result.code == 0
        assert "Usage: deltableu COMMAND" in result.out
        return
    refusal(result)
    assert named in result.err
    assert sorted(plain.iterdir()) == before


def test_a_warning_is_one_sentence_too(process, study):
    text = (study.path / "items.jsonl").read_text().replace('"message"', '"massage"')
    result = process("score", study.file("items.jsonl", text).path, "--format", "json")
    assert result.code == 0
    assert len(result.json) == 4
    lines = result.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("deltableu: ")
    assert "items.jsonl, line 1" in lines[0]
    assert "massage" in lines[0]


def test_a_system_whose_name_is_no_text(process, plain):
    """File names are bytes; a name that is not UTF-8 must not break the output."""
    path = os.fsdecode(b"\xff\xfe.txt")
    try:
        Path(path).write_text((plain / "sys.txt").read_text())
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for arguments in ([], ["-o", "result.json"]):
        options = [*REFS, "--format", "json", *arguments]
        result = process("score", path, *options, PYTHONIOENCODING="utf-8:strict")
        assert "Traceback" not in result.err
        assert result.code in (0, 2)


def test_a_reader_that_has_seen_enough_ends_the_command_quietly(study):
    command = [str(Path(sys.executable).parent / "deltableu"), "score", str(study.path)]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert done.stderr == b""
    assert done.returncode == -signal.SIGPIPE


def test_ctrl_c_ends_the_command_with_one_sentence(plain):
    script = str(Path(sys.executable).parent / "deltableu")
    command = [script, "score", "--refs", "r0.txt", "--", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as waiting:
        # It is reading standard input once it sleeps with no child to wait for.
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            time.sleep(0.1)
            where = Path(f"/proc/{waiting.pid}/wchan")
            if not where.exists() or "pipe" in where.read_text():
                break
        time.sleep(0.1)
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=20)
    assert waiting.returncode == -signal.SIGINT
    assert err == b"deltableu: stopped by SIGINT\n"
    assert out == b""
    assert b"Traceback" not in err
