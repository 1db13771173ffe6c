"""`deltableu validate --sweep`."""

from __future__ import annotations

import pytest

from deltableu import read_study
from deltableu.validate import SweepPlan, UnitIntervalPlan, UnitPlan, sweep_metrics

FAST = ("--assignments", 20, "--draws", 10)


def test_a_study_is_swept_as_the_python_function_does(run, demo):
    result = run(
        *("validate", demo, "--sweep", "settings,order", "--format", "json", *FAST),
        *("--pairs", "human,random", "careful-neural,random", "--unit-size", 10, "--seed", 3),
    )
    assert (result.code, result.err) == (0, "")
    plan = SweepPlan(
        units=UnitPlan(size=10, assignments=20, seed=3), intervals=UnitIntervalPlan(draws=10)
    )
    pairs = [("human", "random"), ("careful-neural", "random")]
    expected = sweep_metrics(read_study(demo), sweeps=("settings", "order"), plan=plan, pairs=pairs)
    record = result.json
    assert record["verdict"][0].startswith("Highest spearman with people by settings: ")
    assert record["pairs"] == [list(pair) for pair in pairs]
    assert [one["name"] for one in record["sweeps"]] == ["settings", "order"]
    for own, sweep in zip(record["sweeps"], expected.sweeps, strict=True):
        assert [one["value"] for one in own["agreements"]] == pytest.approx(
            [one.value for one in sweep.agreements]
        )
        lows = [one["interval"]["low"] for one in own["agreements"]]
        assert lows == pytest.approx([one.interval.low for one in sweep.agreements])


def test_tables_for_people_and_programs(run, demo):
    options = ("--sweep", "unit-size", "--unit-sizes", "1,10", *FAST, "--pairs", "human,random")
    result = run("validate", demo, *options)
    assert result.code == 0
    assert "sentences per unit" in result.out
    assert "units of 20 sentences in place of 100" in result.err
    rows = run("validate", demo, *options, "--format", "tsv").out.splitlines()
    assert rows[0].split("\t")[:3] == ["sweep", "setting", "metric"]
    assert {row.split("\t")[1] for row in rows[1:]} == {"1", "10"}


def test_settings_of_metrics(run, demo):
    options = ("--sweep", "order", "--orders", "1,2", "--unit-size", 10, *FAST)
    plain = run("validate", demo, *options, "--format", "json", "--interval", "none").json
    other = run(
        *("validate", demo, *options, "--format", "json", "--interval", "none"),
        *("--tokenize", "char", "--metrics", "bleu-2,sentence-bleu-2"),
    ).json
    values = [
        {(one["metric"], one["setting"]): one["value"] for one in found["sweeps"][0]["agreements"]}
        for found in (plain, other)
    ]
    assert {metric for metric, _ in values[1]} == {"bleu", "sentence-bleu"}
    assert all(values[0][place] != value for place, value in values[1].items())
    assert all(one["interval"] is None for one in plain["sweeps"][0]["agreements"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--sweep", "thresold"), "did you mean 'threshold'?"),
        (("--sweep", ""), "sweep takes settings"),
        (("--unit-size", 10), "--unit-size is of no use with levels: it goes with --sweep"),
        (("--sweep", "order", "--levels", "item"), "--levels is of no use with --sweep"),
        (("--sweep", "order", "--no-sentinels"), "--no-sentinels is of no use with --sweep"),
        (("--sweep", "order", "--pairs", "human"), "with a comma between them, got 'human'"),
        (("--sweep", "order", "--pairs", "human,robot"), "there is no rated system 'robot'"),
        (("--sweep", "order", "--orders", "1,two"), "--orders takes whole numbers"),
        (("--sweep", "order", "--orders", "1.5"), "--orders takes whole numbers"),
        (("--sweep", "threshold", "--thresholds", "x"), "--thresholds takes numbers"),
        (("--sweep", "threshold", "--thresholds", "nan"), "thresholds must lie in [-1, 1]"),
        (("--sweep", "order", "--draws", 1), "draws must be"),
        (("--sweep", "order", "--scale", "mixed", "--human", "x.csv"), "--scale is of no use"),
    ],
)
def test_mistakes_are_one_sentence(run, demo, options, sentence):
    result = run("validate", demo, *options)
    assert result.code == 2
    assert result.out == ""
    assert sentence in result.err
    assert result.err.count("\n") == 1


def test_tables_alone_cannot_be_swept(run, tmp_path):
    result = run("validate", "--sweep", "order", "--scores", "a.csv", "--human", "b.csv")
    assert result.code == 2
    assert "--scores is of no use with --sweep" in result.err
    assert "--sweep needs a study folder" in run("validate", "--sweep", "order").err
