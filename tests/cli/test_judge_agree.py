"""`deltableu judge agree`: what it prints and writes, and what it refuses in a sentence."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo"


@pytest.fixture
def model(tmp_path):
    """A model's ratings of all references and outputs, near to people's."""
    means: dict[tuple[str, str, str], list[float]] = {}
    with (DEMO / "ratings.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["kind"] == "item":
                key = row["item"], row["target"], row["scale"]
                means.setdefault(key, []).append(float(row["value"]))
    luck = random.Random(0)
    path = tmp_path / "llm.csv"
    with path.open("w") as file:
        file.write("rater,item,target,value,scale\n")
        for (item, target, scale), values in means.items():
            low, high = map(int, scale.split("-"))
            value = sum(values) / len(values) + luck.gauss(0.0, 0.1) * (high - low)
            file.write(f"llm,{item},{target},{min(high, max(low, round(value)))},{scale}\n")
    return path


@pytest.mark.parametrize("targets", ["references", "outputs"])
def test_the_answer_comes_first(targets, succeeds, model):
    shown = succeeds("judge", "agree", DEMO, model, "--targets", targets).out
    folded = " ".join(shown.split())
    assert folded.startswith("llm goes with demo by r = .")
    assert "alternative annotator test, allowance 0.15" in folded
    assert "What is good to the one is bad to the other in " in folded
    assert "systems by " in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_json_and_tidy_tables(succeeds, model):
    given = ("judge", "agree", DEMO, model, "--targets", "references")
    record = succeeds(*given, "--format", "json", "--annotators", "crowd").json
    assert record["texts"] == 543
    assert record["replacement"]["allowance"] == 0.1
    assert isinstance(record["replacement"]["passed"], bool)
    assert record["verdict"]
    for table, column in (("measures", "measure"), ("systems", "system"), ("raters", "texts")):
        shown = succeeds(*given, "--format", "csv", "--tables", table).out
        rows = list(csv.DictReader(shown.splitlines()))
        assert rows
        assert column in rows[0]


def test_a_table_of_scores(succeeds, tmp_path):
    path = tmp_path / "comet.csv"
    scored = ["human", "careful-neural", "bland-neural", "retrieval", "random", "phrase-smt"]
    rows = [
        f"{name},d{place:02},{(place * 7 + len(name)) % 13}\n"
        for name in scored
        for place in range(1, 69)
    ]
    path.write_text("system,item,score\n" + "".join(rows))
    shown = succeeds("judge", "agree", DEMO, path).out
    assert "Whether it can replace a rater was not tested: the scale of comet is not known" in (
        " ".join(shown.split())
    )


def test_two_files_need_no_study(run, model, tmp_path):
    half = tmp_path / "half.csv"
    lines = model.read_text().splitlines(keepends=True)
    half.write_text("".join([lines[0], *(line for line in lines if "reference" in line)][:300]))
    result = run("judge", "agree", half, model)
    assert result.code == 0
    assert "by llm alone are left out" in result.err
    assert "systems by" not in result.out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "both judge references and outputs: choose one of them with --targets"),
        (["--targets", "outputs", "--allowance", "2"], "allowance must be at least 0"),
        (["--targets", "outputs", "--metric", "nonsense"], "nonsense"),
        (["--targets", "outputs", "--criterion", "beauty"], "beauty"),
        (["--targets", "outputs", "--tables", "all"], "--tables takes measures"),
        (["--targets", "outputs", "--confidence", "95"], "confidence must lie"),
    ],
)
def test_mistakes(given, told, run, model):
    result = run("judge", "agree", DEMO, model, *given)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert len(result.err.strip().splitlines()) <= 2


def test_files_that_are_nothing(run, model, tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("when,what\nnow,nothing\n")
    result = run("judge", "agree", DEMO, path)
    assert result.code == 2
    assert "notes.csv" in result.err
    result = run("judge", "agree", DEMO, tmp_path / "none.csv")
    assert result.code == 2
    assert "none.csv" in result.err
