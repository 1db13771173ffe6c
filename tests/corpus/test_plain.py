from __future__ import annotations

import os

import pytest

from deltableu.corpus import Item, Reference, read_plain, write_plain
from deltableu.errors import InputError


@pytest.fixture
def two_streams(write):
    return [write("r0.txt", "yes\nno\n\n"), write("r1.txt", "sure\r\n \r\nwell\u2028ok\r\n")]


def test_blank_line_is_no_reference(two_streams, write):
    weights = write("w.tsv", "1\t.5\n-1\t\nnan\t0\n")
    assert read_plain(two_streams, weights) == (
        Item("1", (Reference("r0", "yes", 1.0), Reference("r1", "sure", 0.5, "written"))),
        Item("2", (Reference("r0", "no", -1.0),)),
        Item("3", (Reference("r1", "well\u2028ok", 0.0, "written"),)),
    )
    assert read_plain(two_streams)[1] == Item("2", (Reference("r0", "no"),))


@pytest.mark.parametrize(
    ("weights", "line", "field", "message"),
    [
        ("1\n1\t1\n1\t1\n", 1, None, "the line must hold 2 tab-separated weights"),
        ("1\t1\n1\t1\t1\n1\t1\n", 2, None, "the line must hold 2 tab-separated weights"),
        ("1\t1\nx\t\n\t1\n", 2, "column 1", "must be a number, got 'x'"),
        ("1\tnan\n1\t\n\t1\n", 1, "column 2", "must be a number, got 'nan'"),
        ("1\t1.01\n1\t\n\t1\n", 1, "column 2", "must lie in [-1, 1], got 1.01"),
        ("1\t\n1\t\n\t1\n", 1, "column 2", "the weight is missing, but"),
        ("1\t1\n1\tx\n\t1\n", 2, "column 2", "must be a number or empty, got 'x'"),
    ],
)
def test_wrong_weights(two_streams, write, the_problem, weights, line, field, message):
    path = write("w.tsv", weights)
    problem = the_problem(lambda report: read_plain(two_streams, path, report))
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert problem.message.startswith(message)
    assert len(read_plain(two_streams, path, lambda _: None)) == 2


def test_different_lengths_name_both_files(two_streams, write, the_problem):
    short = write("r2.txt", "a\nb\n")
    problem = the_problem(lambda report: read_plain([*two_streams, short], None, report))
    assert problem.file == str(short)
    assert problem.message.startswith(f"has 2 lines, but {two_streams[0]} has 3")
    problem = the_problem(lambda report: read_plain(two_streams, short, report))
    assert problem.message.startswith(f"has 2 lines, but {two_streams[0]} has 3")


def test_item_without_any_reference(write, the_problem):
    streams = [write("r0.txt", "a\n\n"), write("r1.txt", "b\n\n")]
    problem = the_problem(lambda report: read_plain(streams, None, report))
    assert (problem.file, problem.line) == (str(streams[0]), 2)


def test_missing_file_and_no_file(two_streams, tmp_path, the_problem):
    none = tmp_path / "none.txt"
    for refs, weights in (
        ([*two_streams, none], None),
        ([none, *two_streams], None),
        (two_streams, none),
    ):
        problem = the_problem(lambda report, r=refs, w=weights: read_plain(r, w, report))
        assert (problem.file, problem.message) == (str(none), "there is no such file")
    assert "give at least one" in the_problem(lambda report: read_plain([], None, report)).message


def test_references_with_other_ids_stand_by_position(tmp_path):
    items = (
        Item("q1", (Reference("m7", "b", 0.5, "mined"), Reference("o", "a", 1.0))),
        Item("q2", (Reference("m8", "c", -1.0, "mined"),)),
    )
    write_plain(tmp_path / "plain", items)
    folder = tmp_path / "plain"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "r0.txt": "a\n\n",
        "r1.txt": "b\nc\n",
        "weights.tsv": "1\t0.5\n\t-1\n",
    }


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (Reference("r1", "a\nb", 1.0), "line break"),
        (Reference("r1", " ", 1.0), "is blank"),
        (Reference("r1", "a"), "has no weight"),
    ],
)
def test_what_plain_text_cannot_hold(tmp_path, reference, message):
    good = Reference("r0", "x", 1.0)
    with pytest.raises(InputError, match=message) as raised:
        write_plain(tmp_path / "plain", [Item("q1", (good,)), Item("q2", (good, reference))])
    assert raised.value.problem.item == "q2"
    assert os.listdir(tmp_path) == []
