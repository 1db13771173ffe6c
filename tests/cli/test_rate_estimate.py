"""`deltableu rate estimate`: what it prints and writes, and what it refuses in a sentence."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo"


@pytest.fixture
def few(tmp_path):
    """Every fifth item's ratings of outputs; the study itself has none."""
    study = tmp_path / "study"
    shutil.copytree(DEMO, study)
    (study / "ratings.csv").unlink()
    path = tmp_path / "few.csv"
    with (DEMO / "ratings.csv").open(newline="") as lines:
        header, *rows = csv.reader(lines)
    items = sorted({row[1] for row in rows})[::3]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(row for row in rows if row[1] in items and row[2].startswith("system:"))
    return study, path


def test_the_answer_comes_first(succeeds, few):
    study, ratings = few
    shown = succeeds("rate", "estimate", study, "--ratings", ratings).out
    folded = " ".join(shown.split())
    assert folded.startswith("human is best: people would rate it higher than all 5 others.")
    assert "pairs differ significantly." in folded
    assert "mean rating of outputs on items like these, 95% intervals (stratified)" in folded
    assert "to be rated first, of" in folded
    assert max(map(len, shown.splitlines())) <= 100


def test_json_has_everything_and_intervals_hold_what_all_ratings_say(succeeds, few):
    study, ratings = few
    given = ("--ratings", ratings, "--population", "these", "--format", "json")
    some = succeeds("rate", "estimate", study, *given).json
    whole = succeeds("rate", "estimate", DEMO, "--population", "these", "--format", "json").json
    truth = {one["system"]: one["quality"]["mean"] for one in whole["systems"]}
    held = [
        one["quality"]["interval"]["low"]
        <= truth[one["system"]]
        <= one["quality"]["interval"]["high"]
        for one in some["systems"]
    ]
    assert sum(held) >= 5
    assert some["metric"] == "chrf++"
    assert some["verdict"][0].startswith("human is best")
    assert len(some["order"]) == 6 * 68 - some["rated"]
    assert "All outputs are rated" in whole["verdict"][-1]


def test_the_order_is_what_a_campaign_reads(run, few, tmp_path):
    study, ratings = few
    order = tmp_path / "next.csv"
    result = run("rate", "estimate", study, "--ratings", ratings, "--order", order)
    assert result.code == 0
    assert f"outputs to be rated to {order}" in result.err
    with order.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["item", "target", "value"]
    assert all(row["target"].startswith("system:") for row in rows)
    with ratings.open(newline="") as lines:
        known = {(row["item"], row["target"]) for row in csv.DictReader(lines)}
    assert not known & {(row["item"], row["target"]) for row in rows}
    # Its own file may be written again; a stranger's may not.
    assert run("rate", "estimate", study, "--ratings", ratings, "--order", order).code == 0
    order.write_text("mine\n")
    refused = run("rate", "estimate", study, "--ratings", ratings, "--order", order)
    assert refused.code == 2
    assert order.read_text() == "mine\n"


def test_before_anybody_rated_there_is_an_order(run, few, tmp_path):
    study, ratings = few
    ratings.write_text("rater,item,target,value,scale\nr,d01,system:human,70,0-100\n")
    result = run("rate", "estimate", study, "--ratings", ratings, "--order", tmp_path / "o.csv")
    assert result.code == 0
    assert result.out.startswith("No system has enough ratings yet")


def test_scores_from_elsewhere_and_verdicts_of_a_model(succeeds, few, tmp_path):
    study, ratings = few
    scores = tmp_path / "comet.csv"
    texts = {path.stem: path for path in (study / "outputs").iterdir()}
    items = [line.split('"')[3] for line in (study / "items.jsonl").read_text().splitlines()]
    rows = [
        f"{name},{item},{(len(name) * 7 + place * 3) % 11}\n"
        for name in texts
        for place, item in enumerate(items)
    ]
    scores.write_text("system,item,score\n" + "".join(rows))
    found = succeeds(
        "rate", "estimate", study, "--ratings", ratings, "--scores", scores, "--format", "json"
    ).json
    assert found["metric"] == "score"
    verdicts = tmp_path / "llm.csv"
    verdicts.write_text(
        "rater,item,target,value,scale\n"
        + "".join(
            f"llm,{item},system:{name},{1 + place % 5},1-5\n"
            for name in texts
            for place, item in enumerate(items)
        )
    )
    found = succeeds(
        "rate", "estimate", study, "--ratings", ratings, "--verdicts", verdicts, "--format", "json"
    ).json
    assert found["metric"] == "llm"


def test_tidy_tables(succeeds, few):
    study, ratings = few
    for name, columns in {
        "systems": {"system", "quality", "rated", "worth"},
        "pairs": {"better", "worse", "difference", "saving"},
        "order": {"item", "target", "value"},
    }.items():
        shown = succeeds(
            "rate", "estimate", study, "--ratings", ratings, "--format", "csv", "--tables", name
        ).out
        rows = list(csv.DictReader(shown.splitlines()))
        assert columns <= set(rows[0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--metric", "nonsense"], "nonsense"),
        (["--metric", "distinct-1"], "distinct-1"),
        (["--systems", "human", "nobody"], "nobody"),
        (["--baseline", "nobody"], "nobody"),
        (["--confidence", "95"], "confidence must lie"),
        (["--tables", "all"], "--tables takes systems, pairs, order"),
        (
            ["--scores", "a.csv", "--verdicts", "b.csv"],
            "--verdicts is of no use with ready --scores",
        ),
        (["--ratings", "nowhere.csv"], "nowhere.csv"),
        (["--criterion", "beauty"], "beauty"),
    ],
)
def test_mistakes(given, told, run, few):
    study, ratings = few
    own = [] if "--ratings" in given else ["--ratings", ratings]
    result = run("rate", "estimate", study, *own, *given)
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert len(result.err.strip().splitlines()) <= 2


def test_a_study_without_ratings_has_an_order(run, few, tmp_path):
    study, _ = few
    result = run("rate", "estimate", study, "--order", tmp_path / "first.csv")
    assert result.code == 0
    assert result.out.startswith("No system has enough ratings yet: rate the outputs of the order")
    assert len((tmp_path / "first.csv").read_text().splitlines()) == 1 + 6 * 68
