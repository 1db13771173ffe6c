"""`deltableu explain`: what a terminal shows, what a pipe gets, and what is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deltableu import DeltaBLEU
from deltableu.corpus import read_study, reference_set
from deltableu.score.influence import corpus_share


def explain(succeeds, *arguments: object) -> list[str]:
    return succeeds("explain", *arguments).out.splitlines()


def test_the_demo_study(succeeds, demo):
    lines = explain(succeeds, demo, "--system", "phrase-smt", "--item", "d01")
    assert lines[0] == "phrase-smt, delta-bleu-2"
    assert "item d01" in lines
    assert "  message  Terrible, the projector died right in the middle of it." in lines
    assert (
        "> the(+0.45) projector(+0.8) died(-0.7) the(+0.45) middle(-0.7) oh no(+0.9) terrible "
        "right(-0.7) of(-0.7) it(-0.3)"
    ) in lines
    assert "row     1-grams -0.5/9.9, 2-grams -2.4/9; length 11, closest reference 11 (r1)" in lines
    assert (
        "corpus  0.00; without this item 0.00 (no change); "
        "sums 1-grams -26.8/552.9, 2-grams -24.1/497.2"
    ) in lines
    cells = [line.split() for line in lines]
    assert ["1", "died", "1", "-0.7", "r9", "-0.7", "1"] in cells
    assert ["2", "projector", "died", "1", "-0.7", "r9", "-0.7", "1"] in cells
    assert "  r0  +0.9  Oh +no , did you manage to finish without +the slides ?" in lines
    assert "  r9  -0.7  Terrible , ~the -projector -died -right in -the -middle -of -it ." in lines
    assert any("Its 1-grams add up to -0.5 and its 2-grams add up to -2.4" in s for s in lines)
    assert "\x1b" not in "".join(lines)
    assert re.fullmatch(r"sig: delta-bleu-2 [0-9a-f]{8} \(in full with --signatures\)", lines[-1])


def test_the_worst_item_is_the_default(succeeds, demo):
    lines = explain(succeeds, demo, "--system", "human")
    assert lines == explain(succeeds, demo, "--system", "human", "--worst", 1)
    assert "the worst of 68 items, ranked by what the corpus score would gain" in lines[0]
    study = read_study(demo, ratings=False)
    rows = DeltaBLEU().compute(study.outputs["human"], reference_set(study))
    gains = [corpus_share(rows, index).difference for index in range(len(rows))]
    worst = study.items[gains.index(max(gains))]
    assert [line for line in lines if line.startswith("item ")] == [f"item {worst.id}"]
    assert any(f"({max(gains):+.2f})" in line for line in lines)


def test_as_many_as_asked_for(succeeds, demo):
    best = explain(succeeds, demo, "--system", "human", "--best", 3, "--metric", "bleu")
    assert best[0].startswith(
        "human, bleu-4: the 3 best of 68 items, ranked by the item's own score"
    )
    assert sum(line.startswith("item ") for line in best) == 3
    everything = explain(succeeds, demo, "--system", "human", "--worst", 100)
    assert sum(line.startswith("item ") for line in everything) == 68


def test_against_another_system(succeeds, demo):
    arguments = ("--system", "phrase-smt", "--against", "human", "--item", "d01")
    lines = explain(succeeds, demo, *arguments)
    assert lines[0] == "phrase-smt against human, delta-bleu-2"
    assert "phrase-smt  0.00" in lines
    assert "human  71.84" in lines
    assert lines.index("phrase-smt  0.00") < lines.index("human  71.84")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--order", "3"], "3-grams -0.7/8.1"),
        (["--lowercase"], "oh(+0.9)"),
        (["--combine", "arithmetic"], "phrase-smt  -"),
        (["--variant", "tsuta2020"], "let 9 penalties off"),
        (["--select", "single"], "8 of 11 tokens stand in no reference"),
        (["--metric", "bleu"], "4-grams"),
        (["--tokenize", "char"], "t(+"),
    ],
)
def test_settings_are_those_of_score(options, shown, succeeds, demo):
    command = ("explain", demo, "--system", "phrase-smt", "--item", "d01", "--signatures")
    result = succeeds(*command, *options)
    assert shown in result.out
    scored = succeeds(
        *("score", demo, "--systems", "phrase-smt", "--format", "json"),
        *[option.replace("--metric", "--metrics") for option in options],
        *([] if "--metric" in options else ["--metrics", "delta-bleu"]),
    )
    (record,) = scored.json
    assert f"corpus  {record['score']:.2f};" in result.out
    assert record["signature"] in result.out


def test_galley_names_both_references(succeeds, study, make_item):
    study.items(make_item("q1", ("no no", 0.3), ("no thanks", 0.9)))
    study.outputs("sys", [("q1", "no no no")]).outputs("other", [("q1", "")])
    lines = explain(succeeds, study.path, "--system", "sys", "--variant", "galley2019")
    cells = [line.split() for line in lines]
    assert ["1", "no", "3", "+1.8", "r1,", "clip", "r0", "+0.9", "2"] in cells
    assert any("there is no other item" in line for line in lines)
    empty = explain(succeeds, study.path, "--system", "other")
    assert "> (empty)" in empty
    assert any("The answer is empty." in line for line in empty)


def test_a_study_without_weights(succeeds, study, make_item):
    study.items(*(make_item(id, ("yes [bold]it[/bold] is", None)) for id in ("q1", "q2", "q3")))
    result = succeeds("explain", study.path, "--system", "sys", "--item", "q2")
    assert result.out.startswith("sys, bleu-4\n")
    assert "[ bold ] it [ / bold ] is" in result.out


def test_items_without_a_positive_reference(run, complains, study, make_item):
    good = [make_item(id, ("yes", 1.0)) for id in ("q1", "q3")]
    study.items(good[0], make_item("q2", ("yes", -0.5)), good[1])
    arguments = (study.path, "--system", "sys")
    assert "1 of 3 items have no reference with a positive weight" in complains(
        "explain", *arguments
    )
    result = run("explain", *arguments, "--no-positive", "skip", "--item", "q1")
    assert (result.code, result.out.count("item q1")) == (0, 1)
    assert result.err == "deltableu: left out 1 of 3 items without a positive reference\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--system", "gone"], "there is no system 'gone'; it has other, sys"),
        (["--system", "sys", "--against", "gone"], "there is no system 'gone'; it has other, sys"),
        (["--system", "sys", "--against", "sys"], "--against needs another system than 'sys'"),
        (["--system", "sys", "--item", "q9"], "there is no item 'q9'; it has q1, q2, q3"),
        (["--system", "sys", "--metric", "chrf"], "'chrf' cannot be explained; choose from"),
        (["--system", "sys", "--item", "q1", "--worst", "2"], "--item and --worst exclude each"),
        (["--system", "sys", "--worst", "1", "--best", "2"], "--worst and --best exclude each"),
        (["--system", "sys", "--worst", "0"], "--worst must be at least 1, got 0"),
        (["--system", "sys", "--best", "-1"], "--best must be at least 1, got -1"),
        (["--system", "sys", "--best", "1.5"], "--best takes a whole number, got '1.5'"),
        (["--system", "sys", "--order", "0"], "order must be a whole number"),
        (["--system", "sys", "--select", "most"], "must be single, all or a threshold"),
        (["--system", "sys", "--tokenize", "x"], "unknown tokenizer 'x'"),
        (
            ["--system", "sys", "--metric", "bleu", "--variant", "tsuta2020"],
            "bleu has no setting 'variant'",
        ),
        ([], "--system"),
    ],
)
def test_what_is_refused(options, message, complains, study):
    assert message in complains("explain", study.path, *options)


def test_an_item_that_was_left_out(run, study, make_item):
    study.items(*(make_item(f"q{n}", ("yes", (1.0, -0.5, 1.0)[n - 1])) for n in (1, 2, 3)))
    result = run("explain", study.path, "--system=sys", "--no-positive=skip", "--item=q2")
    assert (result.code, result.out) == (2, "")
    assert "item 'q2' was left out: it has no positive reference" in result.err


def test_a_study_without_outputs(complains, study):
    for file in (study.path / "outputs").iterdir():
        file.unlink()
    message = complains("explain", study.path, "--system", "sys")
    assert "the study has no system outputs; put them in outputs/" in message


def test_a_study_that_does_not_exist(complains, tmp_path):
    assert "there is no such" in complains("explain", tmp_path / "gone", "--system", "sys")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_colours_and_its_width(demo):
    import pty

    main, other = pty.openpty()
    command = [Path(sys.executable).parent / "deltableu", "explain", demo]
    command += ["--system", "phrase-smt", "--item", "d01", "--against", "human"]
    environment = os.environ | {
        "TERM": "xterm-256color",
        "COLUMNS": "170",
        "COLORTERM": "truecolor",
    }
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=other, env=environment) as running:
        os.close(other)
        parts = []
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
    os.close(main)
    assert running.returncode == 0
    text = b"".join(parts).decode()
    assert "48;2;0;114;178" in text
    assert "48;2;213;94;0" in text
    # Side by side: both systems' scores on one line.
    assert any("phrase-smt  0.00" in line and "human  71.84" in line for line in text.split("\n"))
