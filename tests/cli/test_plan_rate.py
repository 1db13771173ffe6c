"""`deltableu plan rate`: what it prints and writes, and what it refuses in a sentence."""

from __future__ import annotations

import csv
import json
import random
import shutil
from pathlib import Path

import pytest

from deltableu.rate.server.serving import read_order

DEMO = Path(__file__).parents[2] / "examples" / "demo"


@pytest.fixture
def part(tmp_path):
    """The demo study with the ratings of every fifth reference, and no weights."""
    study = tmp_path / "study"
    shutil.copytree(DEMO, study)
    items = [json.loads(line) for line in (DEMO / "items.jsonl").read_text().splitlines()]
    for item in items:
        for reference in item["references"]:
            reference["weight"] = None
    (study / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    with (DEMO / "ratings.csv").open(newline="") as lines:
        header, *rows = csv.reader(lines)
    rows = [row for row in rows if row[2].startswith("reference:")]
    targets = sorted({(row[1], row[2]) for row in rows})
    kept = set(random.Random(0).sample(targets, len(targets) // 5))
    with (study / "ratings.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *(row for row in rows if (row[1], row[2]) in kept)])
    return study


def test_the_answer_comes_first(succeeds, part):
    shown = succeeds("plan", "rate", part).out
    folded = " ".join(shown.split())
    assert folded.startswith("Go on rating: the chance is only ")
    assert "Kendall's tau of 0.95 or more with it" in folded
    assert "2 ratings per reference reach a reliability of 0.8 (one alone has 0.80)." in folded
    assert "The score of phrase-smt is clamped" in folded
    assert "systems when all ratings are given" in shown
    assert "if ratings are given in the order of their value" in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_a_study_that_is_rated_needs_no_more(succeeds):
    folded = " ".join(succeeds("plan", "rate", DEMO).out.split())
    assert folded.startswith("Nothing is left to be rated: each of the 543 references has 1 rating")


def test_before_anybody_rated(succeeds, part):
    (part / "ratings.csv").unlink()
    found = succeeds("plan", "rate", part, "--format", "json").json
    assert (found["ratings"], found["ratings_missing"], found["raters"]) == (0, 2715, 5)
    assert found["may_stop"] is False
    assert "5 ratings per reference is a guess" in " ".join(found["verdict"])


def test_the_order_is_what_a_campaign_reads(run, part, tmp_path):
    order = tmp_path / "order.csv"
    result = run("plan", "rate", part, "--order", order)
    assert result.code == 0
    assert f"wrote 870 ratings to be given to {order}" in result.err
    places = read_order(order)
    assert sum(map(len, places.values())) == 870
    assert {len(one) for one in places.values()} == {2}
    assert all(target.startswith("reference:") for _, target in places)
    assert run("plan", "rate", part, "--order", order, "--aim", "scores").code == 0
    assert read_order(order) != places


def test_one_system_has_no_ranking(succeeds, part):
    found = succeeds("plan", "rate", part, "--systems", "human", "--format", "json").json
    assert found["aim"] == "scores"
    assert "there is no ranking that could change" in found["verdict"][0]
    assert found["may_stop"] is False


def test_tidy_tables(succeeds, part):
    rows = list(csv.DictReader(succeeds("plan", "rate", part, "--format", "csv").out.splitlines()))
    assert [row["rank"] for row in rows] == list("123456")
    assert {"system", "ranks", "above the next"} <= set(rows[0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--metric", "bleu"], "does not look at weights"),
        (["--metric", "nonsense"], "nonsense"),
        (["--systems", "nobody"], "nobody"),
        (["--tau", "2"], "tau must lie between 0 and 1"),
        (["--draws", "1"], "draws must be at least 20"),
        (["--reliability", "80"], "reliability must lie"),
        (["--raters", "0"], "--raters must be at least 1"),
        (["--criterion", "beauty"], "beauty"),
        (["--order", "examples"], "examples"),
    ],
)
def test_mistakes(given, told, run, part):
    result = run("plan", "rate", part, *given)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert len(result.err.strip().splitlines()) <= 2


def test_a_study_without_outputs(run, part):
    shutil.rmtree(part / "outputs")
    result = run("plan", "rate", part)
    assert result.code == 2
    assert "the study has no system outputs" in result.err


def test_a_broken_line_is_named(run, part):
    with (part / "ratings.csv").open("a") as file:
        file.write("sim-01,d12,reference:r2,overall,9,1-5,item,,,,\n")
    lines = len((part / "ratings.csv").read_text().splitlines())
    result = run("plan", "rate", part)
    assert result.code == 2
    assert f"ratings.csv, line {lines}, value: " in result.err
