"""Several runs of a system: outputs named NAME@SEED."""

from __future__ import annotations

import pytest


@pytest.fixture
def runs(study):
    """The study with two runs of one of its systems."""
    texts = [("q1", "the cat was on the mat"), ("q2", "yes of course"), ("q3", "no clue")]
    (study.path / "outputs/sys.jsonl").unlink()
    study.outputs("sys@1", texts)
    study.outputs("sys@2", [*texts[:2], ("q3", "no idea")])
    return study


def test_runs_are_one_system(run, runs):
    result = run("compare", runs.path, "--metrics", "bleu,chrf", "--order", 1, "--format", "json")
    assert result.code == 0
    assert result.err == (
        "deltableu: --order is not heeded by chrf\n"
        "deltableu: means of several runs: sys (2); --runs off compares runs one by one\n"
    )
    for record in result.json:
        assert {one["system"] for one in record["systems"]} == {"sys", "other"}
        assert record["tests"] == ["items and runs"]
        (pair,) = record["pairs"]
        assert 0.0 <= pair["variance"]["run_share"] <= 1.0
        assert "runs:1+2" in record["signature"]
        assert any("only one run of other" in text for text in record["warnings"])


def test_the_score_is_the_mean_of_the_runs(run, runs):
    scores = run("score", runs.path, "--metrics", "bleu", "--format", "json").json
    found = {one["system"]: one["score"] for one in scores}
    assert set(found) == {"sys@1", "sys@2", "other"}
    (record,) = run("compare", runs.path, "--metrics", "bleu", "--format", "json").json
    mean = next(one["score"] for one in record["systems"] if one["system"] == "sys")
    assert mean == pytest.approx((found["sys@1"] + found["sys@2"]) / 2)


def test_runs_one_by_one(succeeds, runs):
    arguments = ("--metrics", "bleu", "--runs", "off", "--format", "json")
    (record,) = succeeds("compare", runs.path, *arguments).json
    assert {one["system"] for one in record["systems"]} == {"sys@1", "sys@2", "other"}


def test_a_system_names_its_runs(run, runs):
    scores = run("score", runs.path, "--systems", "sys", "--metrics", "bleu", "--format", "json")
    assert {one["system"] for one in scores.json} == {"sys@1", "sys@2"}
    found = run("compare", runs.path, "--systems", "sys", "other", "--baseline", "sys")
    assert found.code == 0


def test_check_knows_runs(run, runs):
    runs.file("systems.toml", '[systems.sys]\ntype = "neural"\n')
    assert "no outputs" not in run("check", runs.path).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tests", "bootstrap"), "have their own test and interval"),
        (("--resample", "items,raters"), "say --runs off"),
        (("--systems", "sys"), "there are only runs of 'sys'"),
        (("--systems", "sys", "nobody"), "there is no system 'nobody'"),
    ],
)
def test_bad_input(complains, runs, arguments, message):
    assert message in complains("compare", runs.path, *arguments)
