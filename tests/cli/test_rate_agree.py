"""`deltableu rate agree`: what it prints and writes, and what it refuses in a sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HEADER = "rater,item,target,value,scale\n"


@pytest.fixture
def small(tmp_path):
    """Three raters, twelve outputs, two criteria."""
    lines = [
        f"r{rater},i{item},system:A,{min(5, max(1, 1 + (item + rater // 2) % 5))},1-5,{criterion}\n"
        for criterion in ("fluency", "relevance")
        for rater in range(3)
        for item in range(12)
    ]
    path = tmp_path / "small.csv"
    path.write_text(HEADER.strip() + ",criterion\n" + "".join(lines))
    return path


def test_of_one_criterion_the_answer_comes_first_and_fits(succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = succeeds("rate", "agree", EXAMPLES / "demo", "--targets", "outputs").out
    assert shown.startswith("Raters agree fairly well about overall of outputs (Krippendorff's")
    folded = " ".join(shown.split())
    assert "sim-22 does not rate as the others do (r = -.07 with their mean" in folded
    assert "2 ratings per output are enough for a mean that correlates by .90" in folded
    assert "no metric can be expected to correlate with it by more than .97" in folded
    assert max(map(len, shown.splitlines())) <= 80


def test_of_several_a_summary(run, small):
    result = run("rate", "agree", small)
    assert result.code == 0
    rows = [line.split() for line in result.out.splitlines()]
    assert ["fluency", "outputs"] in [row[:2] for row in rows]
    assert ["relevance", "outputs"] in [row[:2] for row in rows]
    assert "more about one of them: --criterion" in result.err


def test_json_has_everything(succeeds, small):
    record = succeeds("rate", "agree", small, "--criterion", "fluency", "--format", "json").json
    (found,) = record["agreements"]
    assert record["criterion"] == ["fluency"]
    assert (found["raters"], found["units"], found["categories"]) == (3, 12, 5)
    assert found["alpha"] == pytest.approx(found["alpha_ordinal"], abs=0.3)
    assert found["ceiling"] == pytest.approx(found["reliability"] ** 0.5)
    assert [one["rater"] for one in found["rater_use"]] == ["r0", "r1", "r2"]
    assert len(found["intraclass"]["forms"]) == 6
    assert record["verdict"][0].startswith("Raters agree")


@pytest.mark.parametrize("table", ["measures", "enough", "raters", "summary", "icc"])
def test_tidy_tables(table, succeeds, small):
    one = ("--criterion", "fluency") if table == "icc" else ()
    shown = succeeds("rate", "agree", small, "--format", "csv", "--tables", table, *one).out
    rows = list(csv.DictReader(shown.splitlines()))
    if table != "icc":
        assert {row["criterion"] for row in rows} == {"fluency", "relevance"}
    if table == "raters":
        assert len(rows) == 6
        assert {"severity", "noise", "correlation"} <= set(rows[0])


def test_columns_of_others_and_a_list_of_raters(succeeds, tmp_path):
    path = tmp_path / "wide.csv"
    lines = [
        f"{item},system:A,{1 + item % 5},{1 + item % 4},{1 + item % 5}\n" for item in range(20)
    ]
    path.write_text("item,target,ann,bob,cem\n" + "".join(lines))
    shown = succeeds("rate", "agree", path, "--columns", "raters=ann+bob+cem").out
    assert "20 outputs" in shown
    assert "60 ratings by 3 raters" in shown


def test_a_plot_and_a_file(succeeds, small, tmp_path):
    pytest.importorskip("matplotlib")
    plot, output = tmp_path / "plot.png", tmp_path / "result.json"
    for _ in range(2):  # what this tool wrote is replaced
        succeeds(
            *("rate", "agree", small, "--criterion", "fluency", "--plot", plot),
            *("-o", output, "--format", "json"),
        )
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert json.loads(output.read_text())["agreements"][0]["raters"] == 3


def rows_of(*rows):
    return HEADER + "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (rows_of(("a", 1, "system:A", 3, "1-5"), ("a", 2, "system:A", 4, "1-5")), (), "one rater"),
        (
            rows_of(("a", 1, "system:A", 3, "1-5"), ("b", 2, "system:A", 4, "1-5")),
            (),
            "nothing was rated by two raters",
        ),
        (
            rows_of(("a", 1, "system:A", 3, "1-5"), ("b", 1, "system:A", 3, "1-5")),
            (),
            "agreement is undefined where nothing varies",
        ),
        (
            rows_of(("a", 1, "system:A", 3, "1-5"), ("b", 1, "system:A", 30, "0-100")),
            (),
            "several scales: 1-5",
        ),
        (rows_of(("a", 1, "system:A", "nan", "1-5")), (), "line 2, value: must be a number"),
        (rows_of(("a", 1, "system:A", 6, "1-5")), (), "line 2, value: must lie on its scale 1-5"),
        (rows_of(("a", 1, "A", 3, "1-5")), (), "line 2, target: must be system:NAME"),
        (rows_of(), (), "there are no ratings"),
        ("", (), "is empty"),
        ("a,b\n1,2\n", (), "the first line names no column 'rater'"),
    ],
)
def test_what_is_refused(text, options, message, run, refusal, tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    result = run("rate", "agree", path, *options)
    refusal(result)
    assert message in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--criterion", "fluencey"), "did you mean 'fluency'"),
        (("--targets", "references"), "there are no ratings of references; there are some of"),
        (("--target", "1"), "target must lie between 0 and 1"),
        (("--categories", "1"), "categories must be at least 2"),
        (("--tables", "alpha"), "--tables takes summary, measures, enough"),
        (("--tables", "correlations", "--format", "csv", "--columns", "x"), "--columns takes such"),
        (
            ("--tables", "icc", "--format", "tsv"),
            "--format tsv holds one table of icc, and there are",
        ),
        (("--plot", "plot.gif"), "--plot takes a name that ends in .svg or .png"),
    ],
)
def test_options_are_checked(options, message, run, refusal, small):
    result = run("rate", "agree", small, *options)
    refusal(result)
    assert message in result.err


def test_results_never_overwrite_the_ratings(run, refusal, small):
    before = small.read_text()
    for options in (("-o", small), ("--plot", small.with_suffix(".svg"), "-o", small)):
        refusal(run("rate", "agree", small, *options))
    assert small.read_text() == before
