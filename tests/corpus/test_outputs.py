from __future__ import annotations

import gzip
import os

import pytest

from deltableu.corpus import read_outputs, write_outputs
from deltableu.errors import InputError

IDS = ("a", "b", "c", "d", "e")


def reading(path, ids=IDS):
    return lambda report: read_outputs(path, ids, report)


def test_outputs_come_in_item_order(write):
    path = write("s.jsonl", '{"id": "b", "text": "B"}\n{"text": "A", "id": "a"}\n')
    assert read_outputs(path, ("a", "b")) == ("A", "B")
    path = write("s.tsv.gz", gzip.compress(b"text\tid\nB\\nb\tb\n\ta\n"))
    assert read_outputs(path, ("a", "b")) == ("", "B\nb")


@pytest.mark.parametrize("name", ["s.txt", "s.out", "s"])
def test_plain_lines_are_in_item_order_already(write, name):
    assert read_outputs(write(name, "A\u2028\r\n\nC"), ("1", "2", "3")) == ("A\u2028", "", "C")


def test_numbers_may_be_ids(write):
    assert read_outputs(write("s.jsonl", '{"id": 1, "text": "x"}'), ("1",)) == ("x",)


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"id": "z", "text": "x"}', "id", "there is no item with this id"),
        ('{"id": "a", "text": "x"}', "id", "the id was used before, on line 1"),
        ('{"id": "b", "text": 3}', "text", "must be a string, got 3"),
        ('{"id": "b"}', "text", "is missing"),
        ('{"id": null, "text": "x"}', "id", "is missing"),
        ("{", None, None),
    ],
)
def test_wrong_lines(write, problems, line, field, message):
    path = write("s.jsonl", f'{{"id": "a", "text": "x"}}\n{line}\n')
    found = [p for p in problems(reading(path, ("a", "b"))) if "no output" not in p.message]
    assert [(p.file, p.line, p.field) for p in found] == [(str(path), 2, field)]
    assert message is None or found[0].message == message


def test_missing_outputs_are_counted_and_three_are_named(write, the_problem):
    path = write("s.jsonl", '{"id": "b", "text": "x"}')
    problem = the_problem(reading(path))
    assert problem.file == str(path)
    assert problem.message == "4 items have no output: 'a', 'c', 'd' and others"
    path = write("s.jsonl", '{"id": "b", "text": "x"}')
    assert the_problem(reading(path, ("a", "b"))).message == "1 item has no output: 'a'"
    assert read_outputs(path, ("a", "b"), lambda _: None) == ("", "x")


def test_wrong_number_of_lines_says_both_counts(write, the_problem):
    path = write("s.txt", "A\nB\n")
    problem = the_problem(reading(path))
    assert problem.file == str(path)
    assert problem.message.startswith("has 2 lines, but there are 5 items")


def test_undecodable_line_does_not_shift_the_others(write, the_problem):
    path = write("s.txt", b"A\n\xff\nC\n\xff\n")
    found = []
    assert read_outputs(path, ("1", "2", "3", "4"), found.append) == ("A", "", "C", "")
    assert [problem.line for problem in found] == [2, 4]


def test_missing_file_is_the_only_problem(tmp_path, problems):
    for name in ("s.txt", "s.jsonl", "s.tsv", "s.parquet"):
        (problem,) = problems(reading(tmp_path / name))
        assert problem.message == "there is no such file"


def test_wrong_header_is_the_only_problem(write, the_problem):
    problem = the_problem(reading(write("s.tsv", "id\na\n")))
    assert (problem.line, problem.field) == (1, "text")


def test_parquet_with_a_null(tmp_path, the_problem):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"id": [1, 2], "text": ["x", None]}), path)
    problem = the_problem(reading(path, ("1", "2")))
    assert (problem.line, problem.field, problem.message) == (2, "text", "is missing")


def test_line_breaks_do_not_fit_plain_text(tmp_path):
    for text in ("two\nlines", "ends with a return\r"):
        with pytest.raises(InputError, match="line break") as raised:
            write_outputs(tmp_path / "s.txt", ("q1", "q2"), ("fine", text))
        assert raised.value.problem.item == "q2"
        assert os.listdir(tmp_path) == []


def test_counts_must_agree_in_writing(tmp_path):
    with pytest.raises(InputError, match="1 outputs, but 2 items"):
        write_outputs(tmp_path / "s.jsonl", ("a", "b"), ("x",))
