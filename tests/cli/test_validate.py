"""`deltableu validate`: a study's ratings, tables of ready scores, and what is wrong with them."""

from __future__ import annotations

import csv
import importlib
import json
import re
import shutil

import numpy as np
import pytest

from deltableu import read_study, reference_set, score_systems
from deltableu.corpus import RatingTable
from deltableu.score.registry import make_metrics
from deltableu.validate import ValidationPlan, validate_metrics

FAST = ("--resamples", 50)


@pytest.fixture(autouse=True)
def few_shuffles(monkeypatch):
    """How people agree is tested elsewhere."""
    module = importlib.import_module("deltableu.validate.rater_summary")
    monkeypatch.setattr(module, "_SHUFFLES", 10)


def write(path, rows, columns=("system", "item", "score")):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


@pytest.fixture
def tables(tmp_path):
    """Human scores of 6 systems x 30 items, a good metric and a poor one."""
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(6, 1)) + rng.normal(size=(6, 30))
    metrics = {"good": quality + 0.4 * rng.normal(size=(6, 30)), "poor": rng.normal(size=(6, 30))}
    cells = [(s, i) for s in range(6) for i in range(30)]
    human = write(tmp_path / "human.csv", [(f"s{s}", f"i{i}", quality[s, i]) for s, i in cells])
    scores = write(
        tmp_path / "scores.csv",
        [(m, f"s{s}", f"i{i}", v[s, i]) for m, v in metrics.items() for s, i in cells],
        ("metric", "system", "item", "score"),
    )
    return human, scores, quality, metrics


def found(record, metric, level, method="pearson"):
    (one,) = [
        one
        for one in record["agreements"]
        if (one["metric"], one["level"], one["method"]) == (metric, level, method)
    ]
    return one


def test_a_study_is_validated_as_the_python_function_does(run, demo):
    result = run("validate", demo, "--metrics", "delta-bleu-2,bleu-2", "--format", "json", *FAST)
    assert result.code == 0
    advice = [one["text"] for one in result.json["advice"]]
    assert result.err == "".join(f"deltableu: {text}\n" for text in advice)
    study = read_study(demo)
    metrics = make_metrics(["delta-bleu", "bleu-2", "length", "message-overlap", "random"], {})
    metrics += make_metrics(["constant"], {})
    scoring = score_systems(reference_set(study), study.outputs, metrics)
    people = RatingTable.from_study(study)
    expected = validate_metrics(scoring, people, plan=ValidationPlan(resamples=50))
    assert result.json["signature"] == expected.signature
    assert result.json["sentinels"] == ["length", "message-overlap", "random", "constant"]
    for one in expected.agreements:
        same = found(result.json, one.metric, one.level, one.method)
        assert same["value"] == (None if np.isnan(one.value) else one.value)
        assert same["units"] == one.units
    levels = [one["level"] for one in result.json["comparisons"]]
    assert levels == ["system", "pooled", "item"]
    assert result.json["human"]["raters"]["raters"] == 18


def test_ready_scores_on_both_sides(succeeds, tables):
    human, scores, quality, metrics = tables
    record = succeeds(
        "validate", "--scores", scores, "--human", human, "--format", "json", *FAST
    ).json
    for name, values in metrics.items():
        pooled = np.corrcoef(values.ravel(), quality.ravel())[0, 1]
        assert found(record, name, "pooled")["value"] == pytest.approx(pooled)
        system = np.corrcoef(values.mean(axis=1), quality.mean(axis=1))[0, 1]
        assert found(record, name, "system")["value"] == pytest.approx(system)
        within = [np.corrcoef(values[:, i], quality[:, i])[0, 1] for i in range(30)]
        assert found(record, name, "item")["value"] == pytest.approx(np.mean(within))
    assert record["human"]["raters"] is None
    (pooled,) = [one for one in record["comparisons"] if one["level"] == "pooled"]
    assert pooled["winners"] == ["good"]


def test_metrics_of_which_lower_is_better_are_turned(succeeds, tables):
    human, scores, *_ = tables
    command = ("validate", "--scores", scores, "--human", human, "--format", "json", *FAST)
    plain = succeeds(*command).json
    turned = succeeds(*command, "--lower-is-better", "poor").json
    value = found(plain, "poor", "pooled")["value"]
    assert found(turned, "poor", "pooled")["value"] == pytest.approx(-value)


def test_scores_from_elsewhere_beside_a_study(run, demo, tmp_path):
    study = read_study(demo, ratings=False)
    rows = [
        (system, item.id, len(text))
        for system, texts in study.outputs.items()
        for item, text in zip(study.items, texts, strict=True)
    ]
    path = write(tmp_path / "characters.csv", rows)
    result = run("validate", demo, "--scores", path, "--format", "json", *FAST)
    metrics = {one["metric"] for one in result.json["agreements"]}
    assert metrics == {"score", "length", "message-overlap", "random", "constant"}
    alone = run(
        "validate", demo, "--scores", path, "--no-sentinels", "--format", "json", *FAST
    ).json
    assert {one["metric"] for one in alone["agreements"]} == {"score"}
    both = run(
        "validate", demo, "--scores", path, "--metrics", "bleu", "--format", "json", *FAST
    ).json
    assert {"score", "bleu-4"} <= {one["metric"] for one in both["agreements"]}


def test_threads_and_seeds(succeeds, tables):
    human, scores, *_ = tables
    command = ("validate", "--scores", scores, "--human", human, "--format", "json", *FAST)
    one = succeeds(*command, "--threads", 1)
    assert succeeds(*command, "--threads", 3) == one
    assert succeeds(*command, "--seed", 1).json["signature"] != one.json["signature"]


def test_the_tables_show_people_metrics_and_winners(run, demo):
    text = run("validate", demo, "--metrics", "delta-bleu,bleu", *FAST).out
    assert re.search(r"human +1\.107 +85\.5 +1 +1 +68 +366", text)
    assert "Krippendorff's alpha, interval, raw" in text
    assert re.search(r"bleu-4 +\.919 +\.420 +\.991 +\.010", text)
    assert "one rater (people with people)" in text
    title = "p-values, row better than column"
    assert f"system: {title} (perm-systems, pearson, two-sided, holm)" in text
    assert f"item: {title} (perm-items, pearson, two-sided, holm)" in text


@pytest.mark.parametrize("scale", ["raw", "mixed"])
def test_other_human_scales(run, demo, scale):
    result = run("validate", demo, "--metrics", "bleu", "--scale", scale, "--format", "json", *FAST)
    assert result.code == 0
    assert f"human:{scale}-18raters" in result.json["signature"]
    assert found(result.json, "bleu-4", "system")["value"] > 0.85


@pytest.mark.parametrize("format", ["tsv", "markdown", "latex"])
def test_other_formats(succeeds, tables, format, tmp_path):
    human, scores, *_ = tables
    command = ("validate", "--scores", scores, "--human", human, "--format", format, *FAST)
    text = succeeds(*command).out
    assert "good" in text
    succeeds(*command, "-o", tmp_path / "out")
    assert (tmp_path / "out").read_text() == text


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tests", "williams", "--levels", "system,pooled"),
        ("--tests", "perm-systems", "--methods", "kendall-b,kendall-wei"),
        ("--tests", "bootstrap-items", "--correction", "holm"),
        ("--methods", "kendall-like", "--threshold", "0.5"),
    ],
)
def test_other_tests_and_measures(succeeds, tables, arguments):
    human, scores, *_ = tables
    command = ("validate", "--scores", scores, "--human", human, "--format", "json", *FAST)
    assert succeeds(*command, *arguments).json["agreements"]


def test_what_was_left_out_is_said(run, tables, tmp_path):
    human, scores, *_ = tables
    lines = human.read_text().splitlines()
    part = tmp_path / "part.csv"
    part.write_text("\n".join(line for line in lines if not line.startswith(("s0,", "s1,i3,"))))
    result = run("validate", "--scores", scores, "--human", part, "--format", "json", *FAST)
    assert result.code == 0
    assert "no human scores for system 's0': left out" in result.err
    assert "1 of 150 outputs are not rated and do not count" in result.err
    assert result.json["notes"]
    lines = scores.read_text().splitlines()
    holes = tmp_path / "holes.csv"
    holes.write_text("\n".join(line for line in lines if not line.startswith("good,s1,i3,")))
    result = run("validate", "--scores", holes, "--human", human, "--format", "json", *FAST)
    assert "good has no score for 1 rated outputs" in result.err
    assert found(result.json, "poor", "pooled")["units"] == 179


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "cosine"], "methods may hold pearson"),
        (["--methods", ""], "methods is empty"),
        (["--levels", "word"], "levels may hold system, pooled, item"),
        (["--tests", "sign"], "test must be one of auto, perm-both"),
        (["--tests", "williams", "--levels", "item"], "Williams' test compares"),
        (["--criterion", "fluency"], "fluency"),
        (["--min-raters", "0"], "--min-raters must be at least 1"),
        (["--min-raters", "99"], "no output has 99 raters or more"),
        (["--confidence", "2"], "confidence must lie between 0 and 1"),
        (["--seed", "-1"], "seed must not be negative"),
        (["--tables", "all"], "--tables takes people, agreement, matrix"),
        (["--systems", "nobody"], "there is no system 'nobody'"),
        (["--systems", "human"], "a validation needs at least 2"),
        (["--human", "none.csv"], "none.csv"),
    ],
)
def test_bad_options(complains, demo, arguments, message):
    assert message in complains("validate", demo, "--metrics", "bleu", *FAST, *arguments)


def test_a_study_without_ratings(complains, study):
    assert "no ratings of systems" in complains("validate", study.path)
    assert "give a study folder, or --scores and --human" in complains("validate")


def test_ratings_of_unknown_systems_and_items(complains, run, study):
    rows = [
        ("ann", f"q{i}", f"system:{s}", v)
        for s in ("sys", "other")
        for i, v in zip((1, 2, 3), (70, 40, 10), strict=True)
    ]
    rows += [("bob", item, target, 100 - value) for _, item, target, value in rows]
    header = "rater,item,target,value\n"

    def ratings(*more):
        text = header + "".join(",".join(map(str, row)) + "\n" for row in [*rows, *more])
        study.file("ratings.csv", text)

    ratings(("ann", "q9", "system:sys", 5))
    assert "q9" in complains("validate", study.path)
    ratings(("ann", "q1", "system:ghost", 5))
    assert "ghost" in complains("validate", study.path)


def test_a_rater_with_constant_ratings_is_left_out_and_named(process, study):
    rows = [
        (rater, f"q{i}", f"system:{s}", value + bonus)
        for rater, bonus in (("ann", 0), ("bob", 5))
        for s, shift in (("sys", 10), ("other", 0))
        for i, value in ((1, 60 + shift), (2, 40 + shift), (3, 20 + 2 * shift))
    ]
    rows += [("cid", f"q{i}", "system:sys", 50) for i in (1, 2, 3)]
    text = "rater,item,target,value\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    study.file("ratings.csv", text)
    result = process("validate", study.path, "--metrics", "bleu", "--format", "json", *FAST)
    assert result.code == 0
    assert "were dropped: 'cid' (gave the same value always)" in result.err


# --- Groups and single systems --------------------------------------------------------------------


@pytest.fixture
def dialogues(demo, tmp_path):
    """The demo, whose items are now turns of dialogues."""
    folder = tmp_path / "dialogues"
    shutil.copytree(demo, folder)
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    for place, item in enumerate(items):
        item["meta"] = {"dialogue": place // 4, "turn": place % 4}
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    return folder


def test_groups_of_items(run, complains, dialogues):
    command = ("validate", dialogues, "--metrics", "delta-bleu-2,bleu-2", "--format", "json", *FAST)
    plain = run(*command)
    warning = "68 items share 17 values of dialogue, but each is taken for independent: --group"
    assert warning in plain.err
    assert warning in plain.json["notes"][0]
    grouped = run(*command, "--group", "dialogue")
    assert grouped.code == 0
    assert "taken for independent" not in grouped.err
    assert "|groups:17|" in grouped.json["signature"]
    one, two = (found(result.json, "bleu-2", "pooled") for result in (plain, grouped))
    assert one["value"] == two["value"]
    assert one["interval"] != two["interval"]
    assert two["population"] == "other groups of items"
    told = complains(*command, "--group", "topic")
    assert "item 'd01', topic: meta has no field to group items by; it has dialogue, turn" in told


def test_groups_need_a_study(complains, tables):
    human, scores, *_ = tables
    told = complains("validate", "--scores", scores, "--human", human, "--group", "dialogue")
    assert "--group names a field of a study's items" in told


def test_outputs_of_one_system(run, tables):
    human, scores, quality, metrics = tables
    command = ("validate", "--scores", scores, "--human", human, "--systems", "s2", *FAST)
    record = run(*command, "--levels", "pooled", "--format", "json").json
    expected = np.corrcoef(metrics["good"][2], quality[2])[0, 1]
    assert found(record, "good", "pooled")["value"] == pytest.approx(expected)
    assert record["comparisons"][0]["winners"] == ["good"]
    assert "good" in run(*command, "--levels", "pooled").out


def test_rated_outputs_of_one_system(run, demo):
    result = run(
        *("validate", demo, "--metrics", "bleu", "--systems", "human", "--levels", "pooled", *FAST)
    )
    assert result.code == 0
    assert "all outputs together (68 outputs)" in result.out


def test_the_custom_of_wmt_is_a_named_mode(run, demo):
    command = ("validate", demo, "--metrics", "delta-bleu,bleu", "--levels", "pooled", *FAST)
    both_ways = run(*command, "--correction", "wmt").out
    assert "p-values, row better than column (perm-items, pearson, one-sided)" in both_ways


def test_human_scores_of_several_criteria_need_a_choice(complains, succeeds, tables, tmp_path):
    human, scores, *_ = tables
    rows = [line.split(",") for line in human.read_text().splitlines()[1:]]
    both = write(
        tmp_path / "both.csv",
        [(name, *row) for name in ("fluency", "adequacy") for row in rows],
        ("metric", "system", "item", "score"),
    )
    command = ("validate", "--scores", scores, "--human", both, *FAST)
    assert "several human scores (fluency, adequacy)" in complains(*command)
    succeeds(*command, "--criterion", "adequacy")


@pytest.mark.parametrize("name", ["bins", "cases", "kinds", "facts", "consistency"])
def test_analyses_are_tables(run, complains, tables, demo, name):
    command = ("validate", demo, "--metrics", "bleu-2", "--levels", "pooled", *FAST)
    result = run(*command, "--tables", name, "--format", "tsv")
    assert result.code == 0
    header, *rows = result.out.rstrip("\n").split("\n")
    assert len(rows) > 2
    assert all(row.count("\t") == header.count("\t") for row in rows if row[0] != "#")
    assert run(*command, "--tables", name, "--format", "json").json[name]
    human, scores, *_ = tables
    if name in ("kinds", "facts", "consistency"):
        ready = ("validate", "--scores", scores, "--human", human, "--tables", name, *FAST)
        assert f"--tables {name}: needs " in complains(*ready)


def test_accuracies_are_methods(run, demo):
    methods = "spearman,pairwise-accuracy,acc-eq"
    options = ("--metrics", "delta-bleu,bleu-2", "--levels", "pooled", "--scale", "raw")
    result = run("validate", demo, *options, "--methods", methods, *FAST, "--format", "json")
    assert result.code == 0
    kinds = {one["method"] for one in result.json["measured"]}
    assert kinds == {"pairwise-accuracy", "acc-eq"}
    assert len(result.json["accuracy_comparisons"]) == 2
    text = run("validate", demo, *options, "--methods", methods, *FAST).out
    assert "how often metrics prefer what people prefer" in text
    wrong = run("validate", demo, *options, "--methods", "auc", *FAST)
    assert wrong.code == 2
    assert "need labels, good or bad" in wrong.err
