"""`deltableu check`: what is in a study, and everything that is wrong with it."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter

import pytest


def facts(out):
    """The two-column table at the top."""
    pairs = (re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in out.splitlines())
    return dict(pair for pair in pairs if len(pair) == 2)


def test_the_demo_study_has_nothing_wrong_and_the_right_counts(succeeds, demo):
    items = [json.loads(line) for line in (demo / "items.jsonl").read_text().splitlines()]
    references = [one for item in items for one in item["references"]]
    sizes = sorted(len(item["references"]) for item in items)
    origins = Counter(one["origin"] for one in references)
    with open(demo / "ratings.csv", newline="") as stream:
        ratings = list(csv.DictReader(stream))
    kinds = Counter(rating["kind"] for rating in ratings)
    out = succeeds("check", demo).out
    found = facts(out)
    assert found["items"].startswith(f"{len(items)} (")
    assert found["references"] == f"{len(references)} ({sizes[0]}-{sizes[-1]} per item, median 8)"
    for origin, count in origins.items():
        assert f"{count} {origin}" in found["references by origin"].split(", ")
    weights = [one["weight"] for one in references]
    assert found["references by weight"] == (
        f"{sum(w > 0 for w in weights)} positive, {sum(w == 0 for w in weights)} zero, "
        f"{sum(w < 0 for w in weights)} negative"
    )
    assert found["systems"] == "6"
    raters = {rating["rater"] for rating in ratings}
    assert found["ratings"] == f"{len(ratings)} by {len(raters)} raters"
    for kind, count in kinds.items():
        assert f"{count} {kind}" in found["ratings by kind"].split(", ")
    for path in (demo / "outputs").iterdir():
        texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
        words = sum(len(text.split()) for text in texts) / len(texts)
        row = next(line.split() for line in out.splitlines() if line.split()[:1] == [path.stem])
        assert row[2:] == ["68", "0", f"{words:.1f}", "0", "0"]
    assert "error" not in out
    assert "warning" not in out


def test_json_holds_the_same_counts(succeeds, demo):
    record = succeeds("check", demo, "--format", "json").json
    assert (record["items"], record["errors"], record["warnings"]) == (68, 0, 0)
    assert record["problems"] == []
    assert record["references"]["total"] == 543
    assert record["references"]["by_origin"] == {
        "original": 68,
        "written": 145,
        "mined": 248,
        "random": 14,
        "parrot": 68,
    }
    assert (record["references"]["least"], record["references"]["most"]) == (6, 10)
    assert (record["ratings"]["rows"], record["ratings"]["raters"]) == (5079, 30)
    assert record["ratings"]["by_target"] == {"reference": 2931, "system": 2148}
    assert [system["name"] for system in record["systems"]] == sorted(
        path.stem for path in (demo / "outputs").iterdir()
    )
    assert {system["outputs"] for system in record["systems"]} == {68}


@pytest.fixture
def planted(study, make_item):
    """A study with something wrong in every file, but every item id known."""
    good = [json.dumps(make_item(f"q{number}", (f"yes {number}", 1))) for number in range(1, 9)]
    good[1] = good[1].replace('"weight": 1', '"weight": 1.5')
    good[2] = good[2].replace('"weight": 1', '"weight": "high"')
    good[3] = '{"id": "q4", "references": []}'
    good[4] = '{"id": "q5", "references": [{"text": "x", "origin": "found"}]}'
    good[5] = '{"id": "q6", "references": [{"text": 7}], "context": "hello"}'
    good[6] = '{"id": "q7", "massage": "why?", "references": ["x"]}'
    study.lines(*good)
    ids = [f"q{number}" for number in range(1, 9)]
    study.outputs("sys", [*((id, "text") for id in ids), ("q9", "unknown"), ("q1", "again")])
    study.outputs("other", [(id, "text") for id in ids[2:]])
    study.file("outputs/lines.txt", b"1\n2\n3 \xff\n4\n5\n6\n7\n8\n")
    study.file("outputs/short.txt", "1\n2\n")
    study.file("outputs/notes.docx", "what is this")
    study.file(
        "ratings.csv",
        "rater,item,target,value\n"
        "ann,q1,system:sys,1\n"
        "ann,q77,system:sys,1\n"
        "ann,q1,system:nobody,1\n"
        "ann,q1,reference:r9,1\n"
        "ann,q1,system:sys,good\n",
    )
    study.file("systems.toml", '[systems.lost]\ntype = "neural"\n')
    return study.path


PLANTED = {
    ("items.jsonl", 2, "references[0].weight", "error"),
    ("items.jsonl", 3, "references[0].weight", "error"),
    ("items.jsonl", 4, "references", "warning"),
    ("items.jsonl", 5, "references[0].origin", "error"),
    ("items.jsonl", 6, "references[0].text", "error"),
    ("items.jsonl", 6, "context", "error"),
    ("items.jsonl", 7, "massage", "warning"),
    ("sys.jsonl", 9, "id", "error"),
    ("sys.jsonl", 10, "id", "error"),
    ("other.jsonl", None, None, "error"),
    ("lines.txt", 3, None, "error"),
    ("short.txt", None, None, "error"),
    ("notes.docx", None, None, "warning"),
    ("ratings.csv", 3, "item", "error"),
    ("ratings.csv", 4, "target", "error"),
    ("ratings.csv", 5, "target", "error"),
    ("ratings.csv", 6, "value", "error"),
    ("systems.toml", None, "systems.lost", "warning"),
}


def test_all_problems_are_listed_at_once(run, planted):
    result = run("check", planted)
    assert (result.code, result.err) == (2, "")
    lines = [line for line in result.out.splitlines() if re.match(r"\s*(error|warning) \d", line)]
    assert len(lines) == len(PLANTED)
    for file, number, field, severity in PLANTED:
        place = file + (f", line {number}" if number else "")
        assert any(
            place in line and severity in line.split()[0] and (field or "") in line
            for line in lines
        ), (file, number, field)


def test_all_problems_are_in_the_json_with_their_places(run, planted):
    result = run("check", planted, "--format", "json")
    assert (result.code, result.err) == (2, "")
    problems = result.json["problems"]
    places = {
        (one["file"].rpartition("/")[2], one["line"], one["field"], one["severity"])
        for one in problems
    }
    assert places == PLANTED
    assert len(problems) == len(PLANTED)
    severities = Counter(one["severity"] for one in problems)
    assert (result.json["errors"], result.json["warnings"]) == (
        severities["error"],
        severities["warning"],
    )
    items = {one["line"]: one["item"] for one in problems if one["file"].endswith("items.jsonl")}
    assert items == {number: f"q{number}" for number in range(2, 8)}
    assert all(one["message"] for one in problems)


def test_items_that_cannot_be_matched_do_not_hide_the_rest(run, study, make_item):
    lines = [json.dumps(make_item(f"q{n}", (f"yes {n}", 1))) for n in (1, 2, 3)]
    study.lines(lines[0], "{broken", lines[0], '{"references": ["x"]}', lines[2])
    study.file("outputs/sys.jsonl", '{"id": "q1", "text": 5}\n')
    result = run("check", study.path, "--format", "json")
    assert result.code == 2
    errors = {
        (one["file"].rpartition("/")[2], one["line"], one["field"])
        for one in result.json["problems"]
        if one["severity"] == "error"
    }
    assert errors >= {
        ("items.jsonl", 2, None),
        ("items.jsonl", 3, "id"),
        ("items.jsonl", 4, "id"),
        ("sys.jsonl", 1, "text"),
    }


def test_many_problems_of_a_kind_are_counted(run, study):
    study.outputs("sys", [(f"q{n}", "x") for n in range(1, 61)])
    result = run("check", study.path)
    assert result.code == 2
    assert result.out.count("there is no item with this id") == 20
    assert "37 more like these" in result.out
    fewer = run("check", study.path, "--most", "3")
    assert fewer.out.count("there is no item with this id") == 3
    assert "54 more like these" in fewer.out


@pytest.fixture
def leaking(study, make_item):
    """A study that can be used, but whose systems have seen the answers."""
    study.items(
        make_item("q1", ("yes", 1), ("no", -1), message="is it so ?"),
        make_item("q2", ("Is it  SO ?", 1), message="is it so ?"),
        make_item("q3", ("never", 1), message="is it so ?"),
    )
    study.outputs("sys", [("q1", "YES"), ("q2", "is it so ?"), ("q3", "fine")])
    study.outputs("other", [("q1", "a"), ("q2", "b"), ("q3", "c")])
    return study.path


def test_contamination_is_a_warning_and_not_an_error(succeeds, leaking):
    out = succeeds("check", leaking).out
    assert "error" not in out
    warnings = [line for line in out.splitlines() if line.startswith("warning ")]
    assert len(warnings) == 5
    said = "\n".join(warnings)
    assert (
        "items.jsonl, line 2, item 'q2', references[0]: the reference repeats the message" in said
    )
    assert "line 2, item 'q2': the context and message are those of item 'q1' on line 1" in said
    assert "line 3, item 'q3': the context and message are those of item 'q1' on line 1" in said
    assert "sys.jsonl: 2 of 3 outputs equal a reference of origin original" in said
    assert "sys.jsonl: 1 of 3 outputs repeat the message they answer" in said


def test_contamination_is_counted_by_system(succeeds, leaking):
    lines = succeeds("check", leaking).out.splitlines()
    rows = {line.split()[0]: line.split()[-2:] for line in lines if line.strip()}
    assert rows["sys"] == ["2", "1"]
    assert rows["other"] == ["0", "0"]


def test_contamination_in_json(succeeds, leaking):
    record = succeeds("check", leaking, "--format", "json").json
    assert (record["errors"], record["warnings"]) == (0, 5)
    assert {one["severity"] for one in record["problems"]} == {"warning"}


@pytest.mark.parametrize("kind", ["missing", "file", "empty folder", "no items"])
def test_what_is_no_study_ends_with_2(kind, run, study, tmp_path):
    path = {
        "missing": tmp_path / "gone",
        "file": study.path / "items.jsonl",
        "empty folder": tmp_path / "empty",
        "no items": study.path,
    }[kind]
    (tmp_path / "empty").mkdir()
    if kind == "no items":
        study.file("items.jsonl", "")
    result = run("check", path)
    assert result.code == 2
    assert str(path) in result.out + result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "options", [["--format", "xml"], ["--most", "x"], ["--bogus"], ["extra"]], ids=" ".join
)
def test_options_that_cannot_be_used(options, run, refusal, study):
    refusal(run("check", study.path, *options))
