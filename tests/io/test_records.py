"""Rows of a table, whatever its form."""

from __future__ import annotations

import json

import pytest

from deltableu.errors import InputError
from deltableu.io.delimited import write_csv, write_tsv
from deltableu.io.parquet import write_rows
from deltableu.io.records import read_table_rows

COLUMNS = ("hypothesis", "reference", "score")
ROWS = [
    {"hypothesis": "yes", "reference": 'a "quoted", text', "score": "0.5"},
    {"hypothesis": "two\nlines\ttab \\ \r", "reference": "é中😀\u2028", "score": "1"},
    {"hypothesis": "", "reference": "nothing was said", "score": "0"},
]


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


WRITERS = {
    "t.csv": lambda path: write_csv(path, COLUMNS, ROWS),
    "t.csv.gz": lambda path: write_csv(path, COLUMNS, ROWS),
    "t.tsv": lambda path: write_tsv(path, COLUMNS, ROWS),
    "t.jsonl": lambda path: jsonl(path, ROWS),
    "T.JSONL": lambda path: jsonl(path, ROWS),
    "t.parquet": lambda path: write_rows(path, ROWS, dict.fromkeys(COLUMNS, "string")),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_form_gives_the_same_rows(name, tmp_path):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet files need pyarrow")
    WRITERS[name](tmp_path / name)
    assert [dict(row) for _, row in read_table_rows(tmp_path / name, COLUMNS)] == ROWS


def test_lines_are_those_of_the_file(write):
    text = 'score,hypothesis,reference\n1,"two\nlines",r\n0,h,r\n'
    assert [line for line, _ in read_table_rows(write("t.csv", text), COLUMNS)] == [2, 4]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "system,hypothesis,score,reference,note\ns,h,1,r,\n"),
        ("t.tsv", "system\thypothesis\tscore\treference\tnote\ns\th\t1\tr\t\n"),
        ("t.jsonl", '{"system": "s", "hypothesis": "h", "score": "1", "reference": "r"}\n'),
    ],
)
def test_columns_that_nobody_asked_for_are_no_problem(name, text, write, problems):
    path = write(name, text)
    assert problems(lambda report: read_table_rows(path, COLUMNS, report)) == []
    ((_, row),) = read_table_rows(path, COLUMNS)
    assert [row[column] for column in COLUMNS] == ["h", "r", "1"]


def test_numbers_in_json_stay_numbers(write):
    path = write("t.jsonl", '{"hypothesis": "h", "reference": "r", "score": 0.25}\n')
    ((_, row),) = read_table_rows(path, COLUMNS)
    assert row["score"] == 0.25


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("t.csv", "hypothesis,score\nh,1\n", 1, "'reference'"),
        ("t.csv", "hypothesis,reference,score\nh,r\n", 2, "2 cells"),
        ("t.csv", 'hypothesis,reference,score\nh,"r,1\n', 2, "never closed"),
        ("t.tsv", "hypothesis\treference\tscore\nh\tr\n", 2, "2 cells"),
        ("t.csv", "", None, "is empty"),
        ("t.jsonl", '{"hypothesis": "h", "score": 1}\n', 1, "is missing"),
        ("t.jsonl", '{"hypothesis": null, "reference": "r", "score": 1}\n', 1, "is missing"),
        ("t.jsonl", "[1]\n", 1, "JSON object"),
        ("t.jsonl", "{\n", 1, "not valid JSON"),
        ("t.parquet", "no Parquet", None, "not a readable Parquet file"),
        ("t.txt", "h r 1\n", None, "is no table"),
        ("table", "h r 1\n", None, "is no table"),
    ],
)
def test_problems_are_named(name, text, line, said, write, the_problem):
    path = write(name, text)
    problem = the_problem(lambda report: read_table_rows(path, COLUMNS, report))
    assert (problem.file, problem.line) == (str(path), line)
    assert said in problem.message


def test_bad_rows_are_left_out_and_the_others_read(write, problems):
    text = '{"hypothesis": "a"}\n{"hypothesis": "h", "reference": "r", "score": 1}\nnull\n'
    path = write("t.jsonl", text)
    heard = []
    rows = list(read_table_rows(path, COLUMNS, heard.append))
    assert [line for line, _ in rows] == [2]
    assert [problem.line for problem in heard] == [1, 3]


def test_missing_files(tmp_path):
    for name in ("t.csv", "t.tsv", "t.jsonl", "t.parquet"):
        with pytest.raises(InputError, match="no such file"):
            list(read_table_rows(tmp_path / name, COLUMNS))


def test_parquet_that_cannot_be_meant(tmp_path, the_problem):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    path = tmp_path / "t.parquet"
    twice = ["hypothesis", "reference", "reference", "score"]
    write_table(pyarrow.table([["h"], ["r"], ["s"], [1.0]], names=twice), path)
    problem = the_problem(lambda report: read_table_rows(path, COLUMNS, report))
    assert (problem.field, problem.message) == ("reference", "the column is there twice")
    never = pyarrow.array([2**62], pyarrow.timestamp("us"))
    write_table(pyarrow.table([["h"], ["r"], never], names=[*COLUMNS[:2], "score"]), path)
    problem = the_problem(lambda report: read_table_rows(path, COLUMNS, report))
    assert "is not a readable Parquet file: date value out of range" in problem.message
