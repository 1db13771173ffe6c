"""--group in score and compare: items of a field's value are resampled together."""

from __future__ import annotations

import json

import pytest

from deltableu import compare_systems, read_study, reference_set, score_systems
from deltableu.corpus import item_groups
from deltableu.score import IntervalPlan
from deltableu.score.registry import make_metrics


@pytest.fixture
def dialogues(study, make_item):
    """Twelve items of five dialogues, the last of which has one turn."""
    turns = [("d1", 4), ("d2", 3), ("d3", 2), ("d4", 2), ("d5", 1)]
    names = [name for name, count in turns for _ in range(count)]
    items, good, bad = [], [], []
    for number, name in enumerate(names):
        text = f"well yes it is number {number} of {name}"
        items.append(
            make_item(f"q{number}", (text, 1.0), ("not at all", -0.5))
            | {"meta": {"dialogue": name}}
        )
        good.append((f"q{number}", text if number % 4 else "it is"))
        bad.append((f"q{number}", "yes it is not at all" if number % 3 else "well yes it is"))
    study.items(*items).outputs("sys", good).outputs("other", bad)
    return study


def expected(path, metrics, field):
    study = read_study(path)
    groups = item_groups(study, field)
    chosen = make_metrics(metrics.split(","), {})
    return score_systems(
        reference_set(study), study.outputs, chosen, groups=groups, intervals=IntervalPlan()
    )


@pytest.mark.parametrize("metrics", ["delta-bleu,chrf", "signed-delta-bleu,distinct-2"])
def test_score_and_compare_take_whole_groups(succeeds, dialogues, metrics):
    scoring = expected(dialogues.path, metrics, "dialogue")
    arguments = (dialogues.path, "--metrics", metrics, "--group", "dialogue", "--format", "json")
    for record, scored in zip(
        succeeds("score", *arguments, "--ci").json, scoring.scores, strict=True
    ):
        assert record["score"] == scored.score.score
        assert record["interval"]["low"] == scored.score.interval.low
    for record, found in zip(
        succeeds("compare", *arguments).json, compare_systems(scoring), strict=True
    ):
        assert (record["groups"], record["items"]) == (5, 12)
        assert record["signature"] == found.signature
        assert "|groups:5|" in record["signature"]
        assert record["pairs"][0]["p_values"] == found.pairs[0].p_values
        assert record["pairs"][0]["interval"]["low"] == found.pairs[0].interval.low
        ungrouped = compare_systems(scoring, groups=[str(k) for k in range(12)])
        assert found.pairs[0].p_values not in [one.pairs[0].p_values for one in ungrouped]


@pytest.mark.parametrize("command", ["score", "compare"])
def test_where_items_look_grouped_that_is_said(run, dialogues, command):
    options = ["--ci"] if command == "score" else []
    result = run(command, dialogues.path, "--metrics", "chrf", *options)
    assert result.code == 0
    assert result.err == (
        "deltableu: 12 items share 5 values of dialogue, but each is taken for independent: "
        "--group dialogue resamples whole groups\n"
    )
    assert (
        run(command, dialogues.path, "--metrics", "chrf", *options, "--group", "dialogue").err == ""
    )


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_field_that_an_item_lacks_is_named(complains, dialogues, command):
    options = ["--ci"] if command == "score" else []
    message = complains(command, dialogues.path, *options, "--group", "document")
    assert message == ("item 'q0', document: meta has no field to group items by; it has dialogue")
    path = dialogues.path / "items.jsonl"
    lines = path.read_text().splitlines()
    lines[7] = json.dumps(json.loads(lines[7]) | {"meta": {"dialogue": None, "user": 3}})
    path.write_text("\n".join(lines) + "\n")
    message = complains(command, dialogues.path, *options, "--group", "dialogue")
    assert message.startswith("item 'q7', dialogue: meta has no field to group items by")


def test_plain_files_have_no_fields(complains, plain, tmp_path):
    files = ("sys.txt", "other.txt", "--refs", "r0.txt")
    table = tmp_path / "scores.csv"
    table.write_text("system,item,score\nA,1,2\nA,2,3\nB,1,2\nB,2,4\n")
    for command in (["score", "--ci"], ["compare"]):
        message = complains(*command, *files, "--group", "document")
        assert message == (
            "item '1', document: meta has no field to group items by; it has nothing"
        )
    message = complains("compare", "--scores", table, "--group", "document")
    assert message == "--group needs a study, whose items have meta"


def test_one_group_cannot_be_resampled(complains, dialogues):
    path = dialogues.path / "items.jsonl"
    path.write_text(path.read_text().replace('"d2"', '"d1"').replace('"d3"', '"d1"'))
    path.write_text(path.read_text().replace('"d4"', '"d1"').replace('"d5"', '"d1"'))
    message = complains("compare", dialogues.path, "--group", "dialogue")
    assert "at least two groups of items, got 1" in message
