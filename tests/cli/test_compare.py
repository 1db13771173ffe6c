"""`deltableu compare`: a study, plain files and score tables, in every format."""

from __future__ import annotations

import json
import math
import re

import pytest

from deltableu import ComparisonPlan, compare_systems, read_study, reference_set, score_systems
from deltableu.score.registry import make_metrics
from deltableu.stats import ConfidenceInterval

TABLE = "system,item,score\n" + "".join(
    f"{system},{item},{score}\n"
    for system, scores in {"A": [3, 4, 6, 5, 7, 6], "B": [2, 2, 5, 3, 6, 4]}.items()
    for item, score in enumerate(scores)
)


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TABLE)
    return path


def test_a_study_is_compared_as_the_python_function_does(succeeds, demo):
    records = succeeds("compare", demo, "--format", "json", "--seed", 3).json
    study = read_study(demo, ratings=False)
    # delta-BLEU of one system is clamped, which the command answers with its signed twin.
    metrics = make_metrics(["delta-bleu", "bleu-2", "signed-delta-bleu"], {})
    scoring = score_systems(reference_set(study), study.outputs, metrics)
    expected = compare_systems(scoring, plan=ComparisonPlan(seed=3))
    assert [record["metric"] for record in records] == [metric.name for metric in metrics]
    for record, comparison in zip(records, expected, strict=True):
        assert record["signature"] == comparison.signature
        assert "seed:3" in record["signature"]
        for found, system in zip(record["systems"], comparison.systems, strict=True):
            assert (found["system"], found["score"]) == (system.system, system.score)
            rank = found["rank"] and tuple(found["rank"])
            assert (rank, found["letters"]) == (system.rank, system.letters)
            assert interval_of(found) == system.interval
        for found, pair in zip(record["pairs"], comparison.pairs, strict=True):
            assert found["difference"] == pair.difference
            assert found["p_values"] == given(pair.p_values)
            assert found["holm"] == given(pair.holm)
            assert found["favours"] == pair.favours
            assert interval_of(found) == pair.interval


def given(p_values):
    """As JSON has them: null for a test that could not be made."""
    return {test: None if math.isnan(value) else value for test, value in p_values.items()}


def interval_of(record):
    return record["interval"] and ConfidenceInterval(**record["interval"])


def test_threads_do_not_change_a_thing(succeeds, demo):
    tests = "studentized,randomization,bootstrap"
    command = ("compare", demo, "--tests", tests, "--interval", "bca")
    one = succeeds(*command, "--format", "json", "--threads", 1)
    assert succeeds(*command, "--format", "json", "--threads", 3) == one


def test_the_table_shows_letters_ranks_and_who_is_better(succeeds, demo):
    text = succeeds("compare", demo, "--metrics", "bleu").out
    lines = text.splitlines()
    (human,) = [line for line in lines if re.match(r"human +35\.81 a +30\.94", line)]
    assert human.endswith(" 1")
    assert any(re.match(r"human +careful-neural +9\.04 .* human$", line) for line in lines)
    assert any(re.match(r"retrieval +bland-neural +1\.43 .* -$", line) for line in lines)
    assert "letters: systems that share a letter do not differ significantly" in text


def test_a_clamped_score_is_told_apart_by_its_signed_twin(succeeds, demo):
    """The test of random against phrase-smt gave p < .001 beside an interval that held 0."""
    command = ("compare", demo, "--metrics", "delta-bleu", "--systems", "random", "phrase-smt")
    command += ("--tests", "studentized,randomization,bootstrap")
    clamped, signed = succeeds(*command, "--format", "json").json
    assert (clamped["metric"], signed["metric"]) == ("delta-bleu-2", "signed-delta-bleu-2")
    (pair,) = clamped["pairs"]
    assert set(pair["p_values"].values()) == {None}
    assert (pair["interval"], pair["significant"], pair["better"]) == (None, False, None)
    assert [one["rank"] for one in clamped["systems"]] == [None, None]
    (pair,) = signed["pairs"]
    assert (pair["first"], pair["better"]) == ("random", "random")
    assert 0 < pair["interval"]["low"] < pair["difference"] < pair["interval"]["high"]
    text = succeeds(*command).out
    sentence = "the score of phrase-smt is clamped, because the matches of some order sum to"
    assert text.count(sentence) == 1
    lines = text.splitlines()
    assert lines[0].startswith(
        "No difference by delta-bleu-2 can be tested; signed-delta-bleu-2 is"
    )
    start = next(k for k, line in enumerate(lines) if line.startswith("system"))
    heading, _, first, second = lines[start : start + 4]
    metric = ["↑", "low", "high", "rank"]
    names = ["system", "delta-bleu-2", *metric, "signed-delta-bleu-2", *metric]
    assert heading.split() == names
    assert re.fullmatch(r"random +2\.05 +0\.00 +4\.73 +8\.39 a .* 1", first)
    assert re.fullmatch(r"phrase-smt +0\.00 +-4\.83 b .* 2", second)
    # Asked for by name it is not added again, and where nothing is clamped it is not there.
    twice = (*command[:3], "signed-delta-bleu,delta-bleu", *command[4:], "--format", "json")
    assert [one["metric"] for one in succeeds(*twice).json] == [
        "signed-delta-bleu-2",
        "delta-bleu-2",
    ]
    fine = (*command[:5], "random", "human", "--format", "json")
    assert [one["metric"] for one in succeeds(*fine).json] == ["delta-bleu-2"]


def test_score_compare_and_report_have_one_interval_of_a_score(run, demo, tmp_path):
    metrics = "delta-bleu,bleu,sentence-bleu,chrf,distinct-2"
    page = tmp_path / "page.html"
    scored = run("score", demo, "--ci", "--metrics", metrics, "--format", "json").json
    found = run("compare", demo, "--metrics", metrics, "--trials", 50, "--format", "json").json
    intervals = {
        (record["metric"], one["system"]): one["interval"]
        for record in found
        for one in record["systems"]
    }
    for record in scored:
        assert intervals[record["metric"], record["system"]] == record["interval"]
    assert run("report", demo, "--metrics", metrics, "--select", "all", "-o", page).code == 0
    text = page.read_text()
    for record in scored:
        low, high = (record["interval"] or {}).get("low"), (record["interval"] or {}).get("high")
        shown = "" if low is None else f"[{low:.2f}, {high:.2f}]"
        assert shown in text, record["system"]
    assert sum(record["interval"] is None for record in scored) == 2


def test_a_baseline_is_compared_with_every_other_system(succeeds, demo):
    (record,) = succeeds(
        "compare", demo, "--metrics", "bleu", "--baseline", "retrieval", "--format", "json"
    ).json
    assert record["baseline"] == "retrieval"
    assert {pair["second"] for pair in record["pairs"]} == {"retrieval"}
    assert len(record["pairs"]) == 5
    assert all(system["rank"] is None for system in record["systems"])
    text = succeeds("compare", demo, "--metrics", "bleu", "--baseline", "retrieval").out
    assert "significantly different from retrieval" in text


def test_only_some_systems(succeeds, demo):
    (record,) = succeeds(
        "compare", demo, "--metrics", "bleu", "--systems", "human", "random", "--format", "json"
    ).json
    assert [system["system"] for system in record["systems"]] == ["human", "random"]


def test_plain_files(succeeds, plain):
    command = ("compare", "sys.txt", "other.txt", "--refs", "r0.txt", "r1.txt", "--metrics", "bleu")
    (record,) = succeeds(*command, "--format", "json").json
    assert record["exact"] is True
    assert record["items"] == 3
    # Neither has a 4-gram of its references.
    assert record["pairs"][0]["p_values"] == {"studentized": None}
    (record,) = succeeds(*command, "--order", 1, "--format", "json").json
    assert record["pairs"][0]["p_values"]["studentized"] >= 0.25
    assert "3 items are too few for any difference to be significant" in record["warnings"]


def test_scores_from_elsewhere(succeeds, scores):
    (record,) = succeeds("compare", "--scores", scores, "--format", "json").json
    assert record["metric"] == "score"
    assert record["pairs"][0]["p_values"] == {"studentized": 2 / 64}
    assert record["pairs"][0]["better"] == "A"
    (turned,) = succeeds(
        "compare", "--scores", scores, "--lower-is-better", "--format", "json"
    ).json
    assert turned["pairs"][0]["better"] == "B"


def test_all_tests_side_by_side(succeeds, scores):
    tests = "permutation,studentized,randomization,bootstrap,koehn,moses,wilcoxon,t-test"
    (record,) = succeeds("compare", "--scores", scores, "--tests", tests, "--format", "json").json
    assert list(record["pairs"][0]["p_values"]) == tests.split(",")
    assert "p wilcoxon" in succeeds("compare", "--scores", scores, "--tests", tests).out


@pytest.mark.parametrize("format", ["tsv", "markdown", "latex"])
def test_other_formats_hold_the_same_numbers(succeeds, scores, format, tmp_path):
    text = succeeds("compare", "--scores", scores, "--format", format).out
    assert "1.50" in text
    assert ".031" in text
    file = tmp_path / "out"
    succeeds("compare", "--scores", scores, "--format", format, "-o", file)
    assert file.read_text() == text


def test_the_matrix_marks_the_better_row(succeeds, scores):
    text = succeeds("compare", "--scores", scores, "--tables", "matrix").out
    (line,) = [line for line in text.splitlines() if line.startswith("A  ")]
    assert line.split() == ["A", "-", ".031", ">"]


def test_one_of_several_metrics_in_a_table(succeeds, tmp_path):
    rows = [
        {"metric": metric, "system": system, "item": str(item), "score": item + number + shift}
        for shift, metric in enumerate(("comet", "judge"))
        for number, system in enumerate("AB")
        for item in range(5)
    ]
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    records = succeeds("compare", "--scores", path, "--format", "json").json
    assert [record["metric"] for record in records] == ["comet", "judge"]
    command = ("compare", "--scores", path, "--metrics", "judge", "--format", "json")
    assert [record["metric"] for record in succeeds(*command).json] == ["judge"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--metrics", "bleu", "--systems", "human"],
            "two systems: there is only 'human'",
        ),
        (["--metrics", "bleu", "--baseline", "nobody"], "there is no baseline 'nobody'"),
        (["--systems", "human", "nobody"], "there is no system 'nobody'"),
        (["--tests", "sign"], "there is no test 'sign'"),
        (["--tests", ""], "no test was asked for"),
        (["--tests", "t-test,t-test"], "a test was asked for twice"),
        (["--tests", "permutation"], "too many to try all exchanges"),
        (["--metrics", "distinct-1", "--tests", "bootstrap"], "the bootstrap is biased"),
        (["--trials", "0"], "trials must be at least 1"),
        (["--resamples", "-3"], "resamples must be at least 1"),
        (["--seed", "-1"], "seed must not be negative"),
        (["--confidence", "95"], "confidence must lie between 0 and 1"),
        (["--significance", "0"], "significance must lie between 0 and 1"),
        (["--tables", "all"], "--tables takes systems, pairs, matrix, got 'all'"),
        (["--threads", "0"], "--threads must be at least 1"),
        (["--digits", "99"], "--digits must lie between 0 and 15"),
        (["--lower-is-better"], "--lower-is-better goes with --scores"),
        (["--scores", "x.csv"], "not two of them"),
    ],
)
def test_bad_options(complains, demo, arguments, message):
    assert message in complains("compare", demo, *arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE + "A,0,1\n", "line 14, item: system 'A' and item '0' have a score already"),
        (TABLE + "A,6,nan\n", "line 14, score: must be finite"),
        (TABLE + "A,6,high\n", "line 14, score: must be a number, got 'high'"),
        (TABLE + "A,6,1\n", "system 'B' has no score for item '6'"),
        (TABLE + ",6,1\n", "line 14, system: is empty"),
        ("system,item\nA,1\n", "score"),
        ("system,item,score\n", "holds no scores"),
        ("system,item,score\nA,1,2\nA,2,3\n", "at least two systems"),
        ("system,item,score\nA,1,2\nB,1,3\n", "at least two items"),
        ("system,item,score\nA,1,2\nB,1,2\nA,2,2\nB,2,2\n", "every score of score is 2"),
    ],
)
def test_bad_tables(complains, tmp_path, text, message):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    assert message in complains("compare", "--scores", path)


def test_settings_of_metrics_are_of_no_use_with_ready_scores(complains, scores):
    assert "--order is of no use" in complains("compare", "--scores", scores, "--order", 2)
    assert "there is no metric 'x'" in complains("compare", "--scores", scores, "--metrics", "x")


def test_a_study_with_one_item(complains, study, make_item):
    study.items(make_item("q1", ("yes", 1.0)))
    study.outputs("sys", [("q1", "yes")]).outputs("other", [("q1", "no")])
    assert "at least two items, got 1" in complains("compare", study.path)


# --- Raters, and people ---------------------------------------------------------------------------


def test_raters_are_resampled_too(succeeds, demo):
    command = ("compare", demo, "--resample", "items,raters", "--resamples", 200)
    (record,) = succeeds(*command, "--format", "json").json
    assert record["metric"] == "delta-bleu-2"
    assert record["tests"] == ["items and raters"]
    assert "resample:items+raters-200" in record["signature"]
    pair = record["pairs"][0]
    assert pair["interval"]["low"] < pair["difference"] < pair["interval"]["high"]
    for one in record["systems"]:
        for number in (one, one["corrected"]):
            interval = number["interval"] or {"low": 0.0, "high": 0.0}
            assert interval["low"] <= number["score"] <= interval["high"]
    scores = [one["score"] for one in record["systems"]]
    assert scores == sorted(scores, reverse=True)
    assert 0 < pair["variance"]["rater_share"] < 1
    assert succeeds(*command, "--format", "json", "--threads", 1).json == [record]
    text = succeeds(*command).out
    assert "from raters" in text
    assert "with other raters" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metrics", "bleu"], "bleu"),
        (["--tests", "t-test"], "has its own test and interval"),
        (["--systems", "human"], "at least two systems"),
        (["--scores", "x.csv"], "needs one study with ratings"),
    ],
)
def test_bad_input_with_raters(complains, demo, arguments, message):
    assert message in complains("compare", demo, "--resample", "items,raters", *arguments)


def test_a_study_without_ratings_of_references(complains, study):
    message = complains("compare", study.path, "--resample", "items,raters")
    assert "ratings" in message


@pytest.fixture
def past(tmp_path):
    """The metric was right about all large differences and half of the small ones."""
    rows = [f"{size},{verdict}" for size in (1, 2) for verdict in (1, -1) for _ in range(5)]
    rows += [f"{size},1" for size in range(3, 43, 2)]
    path = tmp_path / "past.csv"
    path.write_text("difference,verdict\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("model", ["isotonic", "logistic"])
def test_how_probable_it_is_that_people_agree(succeeds, demo, past, model):
    command = ("compare", demo, "--metrics", "bleu", "--past", past, "--past-model", model)
    (record,) = succeeds(*command, "--format", "json").json
    chances = {(pair["first"], pair["second"]): pair["agreement"] for pair in record["pairs"]}
    small, large = chances["retrieval", "bland-neural"], chances["human", "random"]
    assert 0.4 < small["value"] < 0.8 < large["value"]
    assert large["interval"]["low"] <= large["value"] <= large["interval"]["high"]
    assert "people agree" in succeeds(*command).out


def test_past_comparisons_of_one_unnamed_metric_serve_one_metric(complains, demo, past):
    message = complains("compare", demo, "--metrics", "bleu,chrf", "--past", past)
    assert "metric" in message


def test_bad_past_comparisons(complains, demo, tmp_path):
    path = tmp_path / "past.csv"
    command = ("compare", demo, "--metrics", "bleu", "--past", path)
    assert "past.csv" in complains(*command)
    path.write_text("difference,verdict\n1,better\n")
    assert "line 2, verdict" in complains(*command)
    path.write_text("difference,verdict\n1,first\n2,second\n")
    assert "at least 10 past comparisons" in complains(*command)
    path.write_text("metric,difference,verdict\ncomet,1,first\n")
    assert "has no comparison by 'bleu-4'" in complains(*command)
