"""Tables of scores computed elsewhere."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from deltableu.corpus import ScoreTable, read_scores
from deltableu.errors import InputError

HEADER = "system,item,score\n"
ROWS = [("A", "q1", 0.5), ("A", "q2", 0.25), ("B", "q1", -1.0), ("B", "q2", 3.0)]


def reading(path):
    return lambda report: read_scores(path, report=report)


def content(form: str, rows=ROWS) -> str:
    if form == "jsonl":
        names = ("system", "item", "score")
        return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
    mark = {"csv": ",", "tsv": "\t"}[form]
    lines = [("system", "item", "score"), *rows]
    return "".join(mark.join(map(str, row)) + "\n" for row in lines)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("packed", [False, True])
def test_forms(write, form, packed):
    text = content(form)
    name = f"scores.{form}" + (".gz" if packed else "")
    table = read_scores(write(name, gzip.compress(text.encode()) if packed else text))
    assert table.metrics == ("score",)
    assert table.systems == ("A", "B")
    assert table.items == ("q1", "q2")
    assert table.values.tolist() == [[[0.5, 0.25], [-1.0, 3.0]]]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(("system", "item", "score"), zip(*ROWS, strict=True), strict=True))
    path = tmp_path / "scores.parquet"
    parquet.write_table(pyarrow.table({name: list(cells) for name, cells in columns.items()}), path)
    assert read_scores(path, metric="comet").values.tolist() == [[[0.5, 0.25], [-1.0, 3.0]]]
    wrong = pyarrow.table({"system": ["A"], "item": ["q1"], "score": [float("nan")]})
    parquet.write_table(wrong, path)
    with pytest.raises(InputError, match="row 1, score: must be finite, got nan"):
        read_scores(path)


def test_columns_in_any_order_and_others_are_ignored(write):
    path = write("s.csv", "score,note,item,metric,system\n1,x,q1,comet,A\n2,,q1,,A\n")
    table = read_scores(path, metric="judge")
    assert table.metrics == ("comet", "judge")
    assert table.only("judge").tolist() == [[2.0]]


def test_rows_in_any_order_and_gaps_are_nan(write):
    rows = [("B", "q2", 3), ("A", "q1", 1), ("A", "q2", 2)]
    table = read_scores(write("s.csv", content("csv", rows)))
    assert table.systems == ("B", "A")
    assert table.items == ("q2", "q1")
    np.testing.assert_array_equal(table.values[0], [[3.0, np.nan], [2.0, 1.0]])
    assert table.first_missing() == ("score", "B", "q1")
    assert table.select(systems=["A"]).first_missing() is None


def test_numbers_may_be_texts_and_names_numbers(write):
    text = '{"system": 1, "item": 7, "score": "1e-3"}\n{"system": 2, "item": "7", "score": 4}\n'
    table = read_scores(write("s.jsonl", text))
    assert table.systems == ("1", "2")
    assert table.items == ("7",)
    assert table.values.tolist() == [[[0.001], [4.0]]]


# --- What is wrong --------------------------------------------------------------------------------

WRONG = [
    (("A", "q3", "high"), "score", "must be a number, got 'high'"),
    (("A", "q3", "1_000"), "score", "must be a number, got '1_000'"),
    (("A", "q3", "nan"), "score", "must be finite, got nan"),
    (("A", "q3", "-INF"), "score", "must be finite, got -inf"),
    (("A", "q3", ""), "score", "is missing"),
    (("", "q3", 1), "system", "is empty"),
    (("A", "", 1), "item", "is empty"),
    (("A", "q1", 1), "item", "system 'A' and item 'q1' have a score already"),
]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(("row", "field", "message"), WRONG)
def test_wrong_rows(write, the_problem, form, row, field, message):
    path = write(f"s.{form}", content(form, [*ROWS, row]))
    problem = the_problem(reading(path))
    line = 5 if form == "jsonl" else 6
    assert (problem.file, problem.line) == (str(path), line)
    assert (problem.field, problem.message) == (field, message)


@pytest.mark.parametrize(
    ("record", "field", "message"),
    [
        ({"system": "A", "item": "q3"}, "score", "is missing"),
        ({"system": "A", "item": "q3", "score": None}, "score", "is missing"),
        ({"item": "q3", "score": 1}, "system", "is missing"),
        ({"system": "A", "item": ["q3"], "score": 1}, "item", "must be a string, got ['q3']"),
        ({"system": "A", "item": "q3", "score": True}, "score", "must be a number, got True"),
        ({"system": "A", "item": "q3", "score": [1]}, "score", "must be a number, got [1]"),
        ({"system": "A", "item": "q3", "score": 10**400}, "score", None),
    ],
)
def test_wrong_records(write, the_problem, record, field, message):
    path = write("s.jsonl", content("jsonl") + json.dumps(record) + "\n")
    problem = the_problem(reading(path))
    assert (problem.line, problem.field) == (5, field)
    assert message is None or problem.message == message


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", "", "is empty: its first line must name the columns"),
        ("s.tsv", "", "is empty: its first line must name the columns"),
        ("s.jsonl", "", "holds no scores"),
        ("s.csv", HEADER, "holds no scores"),
        ("s.csv", "system,item\nA,q1\n", "the first line names no column 'score'"),
        ("s.csv", "system,item,score,score\nA,q1,1,2\n", "the column is named twice"),
        ("s.csv", HEADER + "A,q1\n", "has 2 cells, but the first line names 3"),
        ("s.xlsx", "x", "is no table: give a .csv, .tsv, .jsonl or .parquet file"),
        ("s", "x", "is no table: give a .csv, .tsv, .jsonl or .parquet file"),
        ("s.jsonl", "[1]\n", "must be a JSON object"),
        ("s.jsonl", '{"system": "A", "item": "q", "score": NaN}\n', "is not usable JSON"),
        ("s.csv", b"system,item,score\nA,q\xff,1\n", "is not valid UTF-8"),
        ("s.csv.gz", b"no gzip", "is not a whole gzip file"),
        ("s.parquet", b"no parquet", "is not a readable Parquet file"),
    ],
)
def test_wrong_files(write, the_problem, name, text, message):
    """One problem a file: what follows from it is not said as well."""
    path = write(name, text)
    problem = the_problem(reading(path))
    assert problem.file == str(path)
    assert problem.message.startswith(message)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: there is no such file"):
        read_scores(tmp_path / "none.csv")


def test_problems_can_be_collected(write, problems):
    rows = [*ROWS, ("A", "q3", "x"), ("A", "q4", 1), ("", "q5", "y")]
    path = write("s.csv", content("csv", rows))
    found = problems(reading(path))
    assert [(one.line, one.field) for one in found] == [(6, "score"), (8, "system"), (8, "score")]
    table = read_scores(path, report=[].append)
    assert table.items == ("q1", "q2", "q4")


# --- Tables in Python -----------------------------------------------------------------------------


def test_of_and_select():
    table = ScoreTable.of({"x": {"A": [1, 2], "B": [3, 4]}, "y": {"B": [5, 6]}}, ["q1", "q2"])
    assert table.values.shape == (2, 2, 2)
    assert table.first_missing() == ("y", "A", "q1")
    chosen = table.select(systems=["B"], metrics=["y", "x"])
    assert chosen.metrics == ("y", "x")
    assert chosen.values.tolist() == [[[5, 6]], [[3, 4]]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: ScoreTable.of({}), "there are no scores: give metric -> system -> scores"),
        (lambda t: ScoreTable.of({"x": {}}), "there are no scores"),
        (
            lambda t: ScoreTable.of({"x": {"A": [1, 2], "B": [1]}}),
            "system 'B' has 1 scores, but 'A' has 2; give every system one score per item",
        ),
        (
            lambda t: ScoreTable.of({"x": {"A": [1, 2]}}, ["q1"]),
            "there are 1 items, but 2 scores per system",
        ),
        (
            lambda t: ScoreTable.of({"x": {"A": [1, "high"]}}),
            "the scores of system 'A' are not all numbers",
        ),
        (
            lambda t: ScoreTable.of({"x": {"A": [[1, 2], [3, 4]]}}),
            "the scores of system 'A' must be one number per item",
        ),
        (lambda t: t.only("z"), "there is no metric 'z'; there are x"),
        (lambda t: t.select(metrics=["z"]), "there is no metric 'z'; there are x"),
        (lambda t: t.select(systems=["C"]), "there is no system 'C'; there are A, B"),
        (lambda t: t.select(systems=["A", "A"]), "system 'A' is named twice"),
        (lambda t: t.select(metrics=["x", "x"]), "metric 'x' is named twice"),
    ],
)
def test_wrong_tables(call, message):
    with pytest.raises(InputError) as raised:
        call(ScoreTable.of({"x": {"A": [1, 2], "B": [3, 4]}}))
    assert str(raised.value).startswith(message)


def test_a_score_table_marks_the_best_of_each_metric():
    scores = {"comet": {"A": [0.5, 0.7], "B": [0.9, 0.9]}, "ter": {"A": [30.0, 40.0]}}
    scores["ter"]["B"] = [60.0, 70.0]
    table = ScoreTable.of(scores, lower_is_better=["ter"]).table(digits=1)
    assert table.to_markdown().splitlines()[2:4] == [
        "| A | 0.6 | **35.0** |",
        "| B | **0.9** | 65.0 |",
    ]
    assert table.signatures == {"comet": "metric:comet", "ter": "metric:ter"}
