"""Scores and ratings in tables that were made for something else."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deltableu.corpus import RatingTargets, read_ratings, read_scores
from deltableu.errors import InputError

TARGETS = RatingTargets(frozenset({"A", "B", "r9"}), {"q1": frozenset({"r0", "r9"})})


def ratings(path, **columns):
    return [
        (one.rater, one.item, one.target, one.value)
        for one in read_ratings(path, columns=columns or None, targets=TARGETS)
    ]


# --- Scores ---------------------------------------------------------------------------------------


def test_scores_under_other_names(write):
    path = write("s.csv", "model,seg,comet,score\nA,q1,0.5,x\nB,q1,0.25,y\n")
    table = read_scores(path, columns={"system": "model", "item": "seg", "score": "comet"})
    assert (table.systems, table.items) == (("A", "B"), ("q1",))
    assert table.metrics == ("comet",)
    assert table.values.tolist() == [[[0.5], [0.25]]]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_column_for_each_metric(write, form):
    rows = [("A", "q1", 1, 0.5), ("A", "q2", 2, None), ("B", "q1", 3, 0.25), ("B", "q2", 4, 0.75)]
    names = ("system", "item", "bleu", "m_comet")
    text = ",".join(names) + "\n" + "".join(f"{a},{b},{c},{d or ''}\n" for a, b, c, d in rows)
    if form == "jsonl":
        text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    table = read_scores(write(f"s.{form}", text), columns={"metrics": "bleu+m_*"})
    assert table.metrics == ("bleu", "m_comet")
    assert table.only("bleu").tolist() == [[1, 2], [3, 4]]
    assert np.isnan(table.only("m_comet")).tolist() == [[False, True], [False, False]]


def test_totals_have_no_items(write):
    path = write("s.csv", "system,score\nA,0.5\nB,0.25\n")
    table = read_scores(path)
    assert (table.systems, table.items) == (("A", "B"), ())
    assert table.total("score").tolist() == [0.5, 0.25]
    assert not table.has_items("score")


def test_totals_join_scores_of_items(write):
    items = read_scores(write("i.csv", "system,item,score\nA,1,1\nA,2,3\nB,1,4\nB,2,4\n"))
    totals = read_scores(write("t.csv", "system,score\nB,7\nC,1\nA,9\n"), metric="da")
    for one, two in ((items, totals), (totals, items)):
        both = one.joined(two)
        assert both.items == ("1", "2")
        assert both.select(systems=["A", "B"]).total("da").tolist() == [9, 7]
        assert both.select(systems=["A", "B"]).only("score").tolist() == [[1, 3], [4, 4]]
        assert (both.has_items("score"), both.has_items("da")) == (True, False)


@pytest.mark.parametrize(
    ("name", "text", "line", "field", "said"),
    [
        (
            "s.csv",
            "system,segment,score\nA,1,1\nA,2,1\n",
            3,
            "system",
            "'A' has a score already, and no column is called item; there are segment, score",
        ),
        (
            "s.jsonl",
            '{"system": "A", "score": 1}\n{"system": "B", "item": "q", "score": 1}\n',
            2,
            "item",
            "the rows before have no item",
        ),
        (
            "s.jsonl",
            '{"system": "A", "item": "q", "score": 1}\n{"system": "B", "score": 1}\n',
            2,
            "item",
            "is missing",
        ),
    ],
)
def test_what_is_neither_totals_nor_scores_of_items(
    write, the_problem, name, text, line, field, said
):
    path = write(name, text)
    problem = the_problem(lambda report: read_scores(path, report=report).systems)
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert problem.message.startswith(said)


def test_wrong_cells_of_wide_tables_are_named_by_their_column(write, the_problem):
    path = write("s.csv", "system,item,a,b\nA,1,1,high\n")

    def read(report):
        return read_scores(path, columns={"metrics": "a+b"}, report=report).metrics

    problem = the_problem(read)
    assert (problem.line, problem.field) == (2, "b")
    assert read([].append) == ()


# --- Ratings --------------------------------------------------------------------------------------


def test_ratings_under_other_names(write):
    path = write("r.csv", "worker,id,model,stars\nann,q1,A,4\n")
    found = ratings(path, rater="worker", item="id", system="model", value="stars")
    assert found == [("ann", "q1", "system:A", 4.0)]


@pytest.mark.parametrize("raters", ["ann+bob", "*", "a*+bob"])
def test_a_column_for_each_rater(write, raters):
    path = write("r.csv", "item,target,ann,bob\nq1,A,4,\nq1,reference:r0,1,2\n")
    assert ratings(path, raters=raters) == [
        ("ann", "q1", "system:A", 4.0),
        ("ann", "q1", "reference:r0", 1.0),
        ("bob", "q1", "reference:r0", 2.0),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", 'item,target,value\nq1,A,"[4, null, 3.5]"\n'),
        ("r.jsonl", '{"item": "q1", "system": "A", "value": [4, null, 3.5]}\n'),
        ("r.tsv", "item\tsystem\tvalue\nq1\tA\t[4, null, 3.5]\n"),
    ],
)
def test_a_list_has_a_rater_for_each_place(write, name, text):
    assert ratings(write(name, text)) == [
        ("1", "q1", "system:A", 4.0),
        ("3", "q1", "system:A", 3.5),
    ]


def test_lists_in_several_columns_are_several_groups_of_raters(write):
    path = write("r.csv", 'item,target,x,y\nq1,A,"[4]","[1, 2]"\n')
    assert [one[0] for one in ratings(path, raters="x+y")] == ["x[1]", "y[1]", "y[2]"]
    assert [one[0] for one in ratings(path, raters="y")] == ["1", "2"]


def test_targets_are_found_by_their_names(write):
    path = write("r.csv", "rater,item,target,value\na,q1,A,1\na,q1,r0,2\na,q1,system:r9,3\n")
    assert [one[2] for one in ratings(path)] == ["system:A", "reference:r0", "system:r9"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("r9", "'r9' is a system and a reference of item 'q1': write system:NAME"),
        ("C", "'C' is neither a system (A, B, r9) nor a reference of item 'q1' (r0, r9)"),
    ],
)
def test_targets_that_are_not_clear(write, the_problem, target, said):
    path = write("r.csv", f"rater,item,target,value\na,q1,A,1\na,q1,{target},2\n")
    problem = the_problem(lambda report: read_ratings(path, report, targets=TARGETS))
    assert (problem.line, problem.field) == (3, "target")
    assert problem.message.startswith(said)


@pytest.mark.parametrize(
    ("text", "columns", "line", "field", "said"),
    [
        ("item,target,value\nq1,A,4\nq1,B,4\n", {}, 2, "rater", "names no column 'rater'"),
        ('rater,item,target,value\na,q1,A,"[4]"\n', {}, 2, "value", "leave out the rater"),
        ('item,target,value\nq1,A,"[4, x]"\n', {}, 2, "value", "is not valid JSON"),
        ('item,target,value\nq1,A,"[4, ""x""]"\n', {}, 2, "value[1]", "must be a number"),
        ("item,target,a,b\nq1,A,4,x\n", {"raters": "a+b"}, 2, "b", "must be a number"),
        ("item,target,a,b\nq1,,4,5\n", {"raters": "a+b"}, 2, "target", "is missing"),
        ("item,model,a\nq1,A,4\n", {"raters": "a"}, 1, "target", "no column 'target'"),
    ],
)
def test_what_is_wrong_with_shared_rows(write, the_problem, text, columns, line, field, said):
    path = write("r.csv", text)
    problem = the_problem(
        lambda report: read_ratings(path, report, columns=columns, targets=TARGETS)
    )
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert said in problem.message


def test_raters_and_values_exclude_each_other(write):
    path = write("r.csv", "item,target,a,v\nq1,A,4,4\n")
    with pytest.raises(InputError, match="raters are columns that hold their values"):
        read_ratings(path, columns={"raters": "a", "value": "v"})
