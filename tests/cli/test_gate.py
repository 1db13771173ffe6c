"""`deltableu gate`: exit codes, sentences, files for other programs, histories."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from deltableu.cli.app import main


@pytest.fixture
def gate(capsys, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["gate", *map(str, arguments)])
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out + shown.err

    return run


@pytest.fixture
def table(tmp_path):
    def write(lost: float, new: str = "v2", items: int = 40) -> Path:
        rng = np.random.default_rng(3)
        old = rng.normal(50, 5, items)
        other = old - lost + rng.normal(0, 1, items)
        path = tmp_path / "scores.jsonl"
        rows = [("v1", old), (new, other)]
        lines = [
            json.dumps({"system": name, "item": str(n), "score": float(score)})
            for name, scores in rows
            for n, score in enumerate(scores)
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_exit_codes_of_all_modes(gate, table):
    path = table(2.0)
    code, shown = gate("--scores", path, "--baseline", "v1")
    assert code == 1
    assert "v2 fails: worse than v1 by" in shown
    assert "80% power" in shown
    assert gate("--scores", path, "--baseline", "v1", "--margin", 3)[0] == 0
    non_inferior = ("--baseline", "v1", "--mode", "non-inferior", "--margin")
    assert gate("--scores", path, *non_inferior, 3)[0] == 0
    assert gate("--scores", path, *non_inferior, 1)[0] == 1
    equivalent = ("--mode", "equivalent", "--margin", 1)
    # The better system passes as no worse, and fails as not the same.
    assert gate("--scores", path, "--baseline", "v2", *equivalent)[0] == 1
    assert gate("--scores", path, "--baseline", "v2", "--mode", "worse")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--baseline", "v1", "--mode", "equivalent"), "needs a margin above 0"),
        (("--baseline", "v1", "--margin", "-1"), "margin must be a number from 0 on"),
        (("--baseline", "v1", "--sequential", "commits"), "needs --history"),
        (("--baseline", "v1", "--sequential", "items", "--history", "new.jsonl"), "need limits"),
        (("--baseline", "v1", "--limits", "0", "100"), "--limits is of no use"),
        (("--baseline", "v9"), "v9"),
        (("--baseline", "v1", "--significance", "0.7"), "between 0 and 0.5"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(gate, table, arguments, said):
    code, shown = gate("--scores", table(0.0), *arguments)
    assert code == 2
    assert said in shown
    assert "Traceback" not in shown


def test_what_cannot_be_tested_does_not_pass(gate, table):
    code, shown = gate("--scores", table(0.0, items=4), "--baseline", "v1")
    assert code == 1
    assert "cannot be tested, because 4 items are too few" in shown


def test_hostile_names_in_junit_and_summary(gate, table, tmp_path):
    name = 'v2"><script>|`@team\x01]]>'
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    code, _ = gate(
        "--scores", table(2.0, name), "--baseline", "v1", "--junit", junit, "--summary", summary
    )
    assert code == 1
    suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None
    assert suite.get("failures") == "1"
    case = suite.find("testcase")
    assert case is not None
    assert "<script>" in (case.get("classname") or "")
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("worse than v1 by")
    text = summary.read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "@team" not in text
    assert "\x01" not in text
    (row,) = (line for line in text.splitlines() if line.startswith("| v2"))
    assert row.count("|") == 9


def test_nothing_is_added_to_what_is_read(gate, table, tmp_path):
    (tmp_path / "v1.txt").write_text("a cat sat\nno\n")
    (tmp_path / "v2.txt").write_text("a cat\nno\n")
    (tmp_path / "r.txt").write_text("the cat sat\nno\n")
    plain = [tmp_path / "v1.txt", tmp_path / "v2.txt", "--refs", tmp_path / "r.txt"]
    study = tmp_path / "study"
    (study / "outputs").mkdir(parents=True)
    (study / "r0.txt").write_text("the cat sat\nno\n")
    for name in ("v1", "v2"):
        (study / "outputs" / f"{name}.txt").write_text((tmp_path / f"{name}.txt").read_text())
    for option in ("--summary", "--history"):
        for given, path in (
            (plain, tmp_path / "r.txt"),
            (plain, tmp_path / "v2.txt"),
            (["--scores", scores := table(0.0)], scores),
            ([study], study / "outputs" / "v2.txt"),
        ):
            before = path.read_text()
            code, said = gate(*given, "--baseline", "v1", option, path)
            assert (code, path.read_text()) == (2, before), said


def test_a_run_whose_results_cannot_be_written_is_no_run(gate, table, tmp_path):
    history = tmp_path / "history.jsonl"
    code, said = gate(
        "--scores", table(0.0), "--baseline", "v1", "-o", "/dev/full", "--history", history
    )
    assert (code, history.exists()) == (2, False), said


def test_a_summary_is_added_to_summaries_alone(gate, table, tmp_path):
    summary, thesis = tmp_path / "summary.md", tmp_path / "thesis.md"
    thesis.write_text("# My thesis\n", encoding="utf-8")
    command = ("--scores", table(0.0), "--baseline", "v1", "--summary")
    for times in (1, 2):
        assert gate(*command, summary)[0] == 0
        assert summary.read_text(encoding="utf-8").count("### deltableu gate passed") == times
    code, said = gate(*command, thesis)
    assert code == 2
    assert "is there already, and no such file of this tool's" in said
    assert thesis.read_text(encoding="utf-8") == "# My thesis\n"


def test_a_score_beyond_all_numbers_in_a_history(gate, table, tmp_path):
    history = tmp_path / "history.jsonl"
    assert gate("--scores", table(0.0), "--baseline", "v1", "--history", history)[0] == 0
    record = json.loads(history.read_text(encoding="utf-8"))
    record["scores"][0]["score"] = 10**400
    history.write_text(json.dumps(record) + "\n", encoding="utf-8")
    code, said = gate("history", history)
    assert (code, "line 1, score: is too large a number" in said) == (2, True), said


def test_the_summary_goes_where_github_says(gate, table, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    gate("--scores", table(0.0), "--baseline", "v1")
    assert summary.read_text(encoding="utf-8").startswith("before\n### deltableu gate passed")


def test_history_and_looks(gate, table, tmp_path):
    history = tmp_path / "history.jsonl"
    common = ("--baseline", "v1", "--history", history, "--sequential", "commits")
    common = (*common, "--limits", 0, 100)
    for commit, lost in (("aaa", 0.0), ("bbb", 0.1), ("bbb", 0.1)):
        assert gate("--scores", table(lost), *common, "--commit", commit)[0] == 0
    records = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
    # The same outputs again are the same look.
    assert [record["look"] for record in records] == [1, 2, 2]
    assert [record["commit"] for record in records] == ["aaa", "bbb", "bbb"]
    assert gate("history", history)[1].count("pass") == 3
    plot = tmp_path / "plot.svg"
    assert gate("history", history, "-o", plot)[0] == 0
    assert "<svg" in plot.read_text()
    # Other limits, or other items, make another history.
    code, shown = gate("--scores", table(0.0), *common[:-1], 90)
    assert code == 2
    assert "limits:0..100 there, limits:0..90 here" in shown
    code, shown = gate("--scores", table(0.0, items=30), *common)
    assert code == 2
    assert "take another file" in shown
    assert len(history.read_text(encoding="utf-8").splitlines()) == 3
    history.write_text("{}\n", encoding="utf-8")
    code, shown = gate("history", history)
    assert code == 2
    assert "line 1" in shown
    assert "no record of deltableu gate" in shown


def test_items_that_are_added(gate, table, tmp_path):
    history = tmp_path / "history.jsonl"
    common = ("--baseline", "v1", "--history", history, "--sequential", "items")
    common = (*common, "--limits", 0, 100)
    assert gate("--scores", table(0.0), *common)[0] == 0
    assert gate("--scores", table(0.0), *common)[0] == 0
    code, shown = gate("--scores", table(0.5), *common)
    assert code == 2
    assert "--sequential commits" in shown


def test_compare_fails_if_worse(table, capsys):
    for lost, status in ((2.0, 1), (0.0, 0)):
        arguments = ["--scores", str(table(lost)), "--baseline", "v1", "--fail-if", "worse"]
        with pytest.raises(SystemExit) as ended:
            main(["compare", *arguments])
        assert (ended.value.code or 0) == status
    assert "v2 fails: worse than v1" in capsys.readouterr().err


def test_a_summary_goes_to_standard_output_and_a_history_does_not(run, demo, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    systems = ("--baseline", "human", "--systems", "retrieval", "--metrics", "bleu")
    for spelt in (("--summary", "-"), ("--summary=-",)):
        assert "### deltableu gate" in run("gate", demo, *systems, *spelt).out
    for spelt in (("--history", "-"), ("--history=-",)):
        result = run("gate", demo, *systems, *spelt)
        assert (result.code, result.err) == (
            2,
            "deltableu: --history takes a file, because it is read too\n",
        )
    assert list(tmp_path.iterdir()) == []
