"""`deltableu rate check`, and `--drop-failed` of all commands that read ratings or weights."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from deltableu.corpus import read_ratings
from tests.cli.conftest import StudyFolder, item
from tests.fuzz.commands import commands

HEADER = "rater,item,target,value,scale,kind,started,finished\n"
ITEMS = 12
DIALECTS = {"csv": "excel", "tsv": "excel-tab"}


def _row(rater: str, n: int, target: str, value: float, kind: str, place: int) -> str:
    begin = 60 * place
    return f"{rater},q{n},{target},{value:g},1-5,{kind},{begin},{begin + 8}\n"


def _ratings() -> str:
    """ann and bob read what they rate; eve says 2, 3, 4, 2, 3, 4; zoe rated little."""
    rows, place = [HEADER], 0
    for rater in ("ann", "bob", "eve", "zoe"):
        for n in range(3 if rater == "zoe" else ITEMS):
            for target, good in (("reference:r0", 5), ("reference:r1", 2), ("system:A", 4),
                                 ("system:B", 3)):  # fmt: skip
                value = 2 + place % 3 if rater == "eve" else max(1, good - (n + place) % 2)
                rows.append(_row(rater, n, target, value, "item", place := place + 1))
            if rater != "zoe":
                value = 2 + place % 3 if rater == "eve" else 1 + n % 2
                rows.append(_row(rater, n, "system:A", value, "bad-reference", place := place + 1))
    return "".join(rows)


@pytest.fixture
def people(tmp_path: Path) -> StudyFolder:
    """A study with weights that are means of ratings."""
    text = _ratings()
    said: dict[tuple[str, str], list[float]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        if row["kind"] == "item":
            said.setdefault((row["item"], row["target"]), []).append(float(row["value"]))
    made = StudyFolder(tmp_path / "people")

    def weight(n: int, r: int) -> float:
        values = said[f"q{n}", f"reference:r{r}"]
        return (sum(values) / len(values) - 3) / 2

    made.items(*(
        item(f"q{n}", (f"yes it is {n} o'clock", weight(n, 0)), ("no way at all", weight(n, 1)))
        for n in range(ITEMS)
    ))  # fmt: skip
    made.outputs("A", [(f"q{n}", f"yes it is {n} or so") for n in range(ITEMS)])
    made.outputs("B", [(f"q{n}", f"no it is {n} at all") for n in range(ITEMS)])
    return made.file("ratings.csv", text)


def test_it_says_who_failed_and_why(people, run):
    result = run("rate", "check", people.path)
    assert (result.code, result.err) == (0, "")
    first, *rest = result.out.splitlines()
    assert first == "1 of 4 raters failed; 2 passed and 1 cannot be judged."
    said = " ".join(rest)
    assert "eve: Did not rate damaged texts lower than what they were made from: 12 pairs" in said
    names = [line.split()[0] for line in rest if line.split()[:1] and line.split()[0] in
             ("ann", "bob", "eve", "zoe")]  # fmt: skip
    assert names == ["eve", "zoe", "ann", "bob"]
    assert run("rate", "check", people.path / "ratings.csv").out == result.out
    text = (people.path / "ratings.csv").read_bytes()
    assert run("rate", "check", "-", stdin=text).out == result.out


@pytest.mark.parametrize("format", ["json", "tsv", "csv", "markdown", "latex"])
def test_formats_and_files(format, people, run, tmp_path):
    path = tmp_path / f"checks.{format}"
    printed = run("rate", "check", people.path, "--format", format).out
    for _ in range(2):  # what it wrote it may replace
        assert run("rate", "check", people.path, "--format", format, "-o", path).code == 0
    assert path.read_text() == printed
    if format == "json":
        found = json.loads(printed)
        assert (found["failed"], found["unknown"]) == (["eve"], ["zoe"])
        eve = next(one for one in found["raters"] if one["rater"] == "eve")
        assert eve["failed_by"] == ["bad references"]
        assert found["verdict"][0] == "1 of 4 raters failed; 2 passed and 1 cannot be judged."
    if format in ("tsv", "csv"):
        rows = list(csv.DictReader(io.StringIO(printed), dialect=DIALECTS[format]))
        words = ["failed", "cannot be judged", "passed", "passed"]
        assert [one["verdict"] for one in rows] == words
        assert "Did not rate damaged texts" in rows[0]["reasons"]


def test_thresholds_are_options(people, run):
    def failed(*options: object) -> list[str]:
        found = run("rate", "check", people.path, "--format", "json", *options)
        assert found.code == 0, found.err
        return list(json.loads(found.out)["failed"])

    assert failed("--min-seconds", 10) == ["ann", "bob", "eve", "zoe"]
    assert failed("--min-pairs", 13) == []
    assert failed("--pass-at", 1e-9) == ["ann", "bob", "eve"]
    assert failed("--rule", "rank-sum", "--evidence", "bad-references") == ["eve"]
    assert failed("--criterion", "overall") == ["eve"]


def test_ratings_of_the_others_are_written(people, run, tmp_path):
    kept = tmp_path / "kept.csv"
    result = run("rate", "check", people.path, "--kept", kept)
    assert result.err == f"deltableu: wrote 132 of 192 ratings to {kept}\n"
    assert read_ratings(kept).raters == ("ann", "bob", "zoe")
    again = run("rate", "check", people.path, "--kept", kept)
    assert (again.code, again.out) == (2, "")
    assert "is there already, and ratings are never overwritten" in again.err


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ("", "", "there are no ratings"),
        ("ann,q1,system:A,3,1-5,item,,\n", "--criterion fluency", "criterion 'fluency'"),
        ("ann,q1,system:A,nan,1-5,item,,\n", "", "ratings.csv, line 2, value"),
        ("ann,q1,system:A,3,1-5,control,,\n", "", "line 2, kind: must be one of item"),
        ("ann,q1,A,3,1-5,item,,\n", "", "line 2, target: must be system:NAME"),
        ("ann,q1,system:A,3,1-5,item,,\n", "--min-seconds nan", "min_seconds must be a number"),
        ("ann,q1,system:A,3,1-5,item,,\n", "--min-pairs 1", "min_pairs must be at least 2"),
        ("ann,q1,system:A,3,1-5,item,,\n", "--chance 2", "chance must lie between 0 and 1"),
        ("ann,q1,system:A,3,1-5,item,,\n", "--pass-at 0", "significance must lie between"),
    ],
)
def test_bad_input(rows, options, said, run, write, refusal):
    path = write("ratings.csv", HEADER + rows)
    result = run("rate", "check", path, *options.split())
    refusal(result)
    assert said in result.err


def test_no_such_file(run, refusal, tmp_path):
    result = run("rate", "check", tmp_path / "nothing.csv")
    refusal(result)
    result = run("rate", "check", tmp_path)
    refusal(result)


# --- --drop-failed --------------------------------------------------------------------------------

NOTE = "dropped 1 of 4 raters, who failed, and their 60 of 192 ratings; 1 cannot be judged"
#: What each command needs besides.
COMMANDS: dict[str, list[str]] = {
    "score": [],
    "compare": ["--trials", "50"],
    "gate": ["--baseline", "B"],
    "explain": ["--system", "A", "--item", "q1"],
    "report": [],
    "plan compare": ["--systems", "A", "B", "--items", "20", "--replicates", "5"],
    "validate": ["--resamples", "20", "--metrics", "bleu-1", "--no-sentinels"],
    "rate agree": [],
    "plan rate": ["--raters", "20"],
    "rate estimate": [],
    "rate rank": ["--resamples", "10"],
    "judge agree": [],
}
OF_CAMPAIGNS = {"rate export", "rate weights"}


def test_every_command_that_reads_ratings_has_it():
    there = {one.name for one in commands() if one.option("drop_failed") is not None}
    assert there == set(COMMANDS) | OF_CAMPAIGNS


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "rate rank"])
def test_it_drops_raters_and_says_so(name, people, run, tmp_path):
    where = [people.path, *COMMANDS[name]]
    if name == "judge agree":
        where += [people.path, "--targets", "references"]
    if name == "report":
        where += ["-o", tmp_path / "page.html"]
    plain, dropped = run(*name.split(), *where), run(*name.split(), *where, "--drop-failed")
    assert plain.code == dropped.code == (1 if name == "gate" else 0), dropped.err
    assert "dropped" not in plain.err
    new = "" if name in ("rate agree", "judge agree") else "; 24 weights are new"
    assert f"deltableu: {NOTE}{new}\n" in dropped.err
    if name == "report":
        page = (tmp_path / "page.html").read_text()
        assert "Dropped 1 of 4 raters, who failed, and their 60 of 192 ratings" in page
    elif name != "gate":  # which prints differences of BLEU
        assert plain.out != dropped.out


def test_compare_with_raters_and_suites_drop_too(people, run):
    options = ["--resample", "items,raters", "--resamples", "20", "--drop-failed"]
    result = run("compare", people.path, *options)
    assert (result.code, NOTE in result.err) == (0, True), result.err
    suite = ["--suite", people.path.parent, "--metrics", "bleu-1", "--resamples", "20"]
    result = run("validate", *suite, "--on-error", "skip", "--drop-failed")
    assert result.code == 0, result.err
    assert "dropped 1 of 4 raters, who failed" in result.err


def test_preferences_of_failed_raters_are_dropped(run, write):
    rows = [HEADER.replace("kind", "pair,position,kind")]
    for rater in ("ann", "bob", "eve"):
        for n in range(12):
            wins = n % 3 != 0
            for place, system in enumerate("AB", start=1):
                value = 1.0 if wins == (system == "A") else 0.0
                begin = n if rater == "eve" else 60 * n  # half a second for each of two texts
                rows.append(f"{rater},q{n},system:{system},{value},0-1,A vs B,{place},item,"
                            f"{begin},{begin + (1 if rater == 'eve' else 20)}\n")  # fmt: skip
    path = write("ratings.csv", "".join(rows))
    result = run("rate", "rank", path, "--resamples", "10", "--drop-failed")
    assert result.code == 0, result.err
    assert "dropped 1 of 3 raters, who failed, and their 24 of 72 ratings" in result.err


def test_where_it_is_of_no_use_it_is_refused(people, plain, run, refusal, tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text("system,item,score\n" + "".join(f"{s},{i},{i}\n" for s in "AB" for i in "12"))
    cases: tuple[tuple[list[object], str], ...] = (
        (["score", "sys.txt", "--refs", "r0.txt"], "--drop-failed needs a study"),
        (["compare", "--scores", scores], "--drop-failed is of no use with --scores"),
        (["gate", "--scores", scores, "--baseline", "A"], "--drop-failed is of no use with"),
        (["validate", people.path, "--human", scores], "--drop-failed is of no use with ready"),
    )
    for words, said in cases:
        result = run(*words, "--drop-failed")
        refusal(result)
        assert said in result.err


def test_a_study_without_ratings_is_refused(study, run, refusal):
    result = run("score", study.path, "--drop-failed")
    refusal(result)
    assert "has no ratings whose raters could be checked" in result.err
