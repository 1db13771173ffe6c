"""Items for which a system has no output."""

from __future__ import annotations

import json

import pytest

from deltableu import read_study
from deltableu.errors import InputError, InputWarning


@pytest.fixture
def folder(write, tmp_path):
    """B has no output for q2, and C none for q3."""
    items = [{"id": id, "references": [f"reference of {id}"]} for id in ("q1", "q2", "q3")]
    write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
    for name, ids in {"A": "123", "B": "13", "C": "12"}.items():
        lines = [json.dumps({"id": f"q{id}", "text": f"{name}{id}"}) + "\n" for id in ids]
        write(f"outputs/{name}.jsonl", "".join(lines))
    write("ratings.csv", "rater,item,target,value\na,q1,A,1\na,q2,A,2\na,q1,r0,3\n")
    return tmp_path


def test_missing_outputs_are_an_error(folder):
    with pytest.raises(InputError, match=r"B\.jsonl: 1 item has no output: 'q2'"):
        read_study(folder)


def test_missing_outputs_may_be_empty(folder):
    with pytest.warns(InputWarning, match=r"count as empty texts \(B 1, C 1 of 3\)"):
        study = read_study(folder, missing="empty")
    assert study.outputs == {"A": ("A1", "A2", "A3"), "B": ("B1", "", "B3"), "C": ("C1", "C2", "")}
    assert len(study.ratings) == 3


def test_items_may_be_dropped_with_their_ratings(folder):
    with pytest.warns(InputWarning, match=r"left out 2 of 3 items without an output \(B 1, C 1\)"):
        study = read_study(folder, missing="drop")
    assert [item.id for item in study.items] == ["q1"]
    assert study.outputs == {"A": ("A1",), "B": ("B1",), "C": ("C1",)}
    assert [one.target for one in study.ratings] == ["system:A", "reference:r0"]


def test_only_systems_that_are_asked_for_matter(folder):
    assert len(read_study(folder, systems=["A"]).items) == 3
    with pytest.warns(InputWarning, match="left out 1 of 3"):
        study = read_study(folder, systems=["A", "C"], missing="drop")
    assert list(study.outputs) == ["A", "C"]
    with pytest.raises(InputError, match=r"no system 'AA'; it has A, B, C"):
        read_study(folder, systems=["AA"])


def test_lines_of_plain_text_must_be_as_many_as_items(folder, write):
    write("outputs/D.txt", "one\ntwo\n")
    with pytest.raises(InputError, match="has 2 lines, but there are 3 items"):
        read_study(folder, systems=["D"], missing="drop")


def test_something_must_be_left(folder, write):
    write("outputs/D.jsonl", '{"id": "q2", "text": "x"}\n')
    write("outputs/E.jsonl", '{"id": "q1", "text": "x"}\n')
    with pytest.raises(InputError, match=r"no item is left.*\(D 2, E 2\)"):
        read_study(folder, systems=["D", "E"], missing="drop")


def test_nothing_missing_is_nothing_to_say(folder, recwarn):
    read_study(folder, systems=["A"], missing="drop")
    assert len(recwarn) == 0


def test_other_choices_are_refused(folder):
    with pytest.raises(InputError, match="missing must be one of error, empty, drop, got 'dorp'"):
        read_study(folder, systems=["A"], missing="dorp")
